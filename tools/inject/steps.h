/* SPDX-License-Identifier: GPL-2.0-only */
/* What to type, one after the other, where guests cannot be written at once. */
#ifndef HLG_TOOLS_INJECT_STEPS_H
#define HLG_TOOLS_INJECT_STEPS_H

#include "tools/inputs/given.h"

/*
 * Reads who runs which ELF, as report does: *by_sandbox, unless NULL: the recording has
 * sandboxes, to be selected by; else only threads. Fails with HLG_EINPUT where it can be
 * told of nobody, so that no step would work, or nothing can be read.
 */
int hlg_steps_check(const struct hlg_inputs *in, bool *by_sandbox, struct hlg_err *err);

/* To standard error: a command for each ELF that is named, at least two, the last of
 * which writes out; and before, of several ELFs, that which shows who runs which. */
void hlg_steps_tell(const struct hlg_inputs *in, const char *out, bool direct,
		    bool by_sandbox);

#endif
