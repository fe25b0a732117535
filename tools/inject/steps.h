/* SPDX-License-Identifier: GPL-2.0-only */
/* What to type, one after the other, where guests cannot be written at once. */
#ifndef HLG_TOOLS_INJECT_STEPS_H
#define HLG_TOOLS_INJECT_STEPS_H

#include "tools/inputs/given.h"

/* To standard error: a command for each ELF that is named, at least two, the last of
 * which writes out; and before, of several ELFs, that which shows who runs which. */
void hlg_steps_tell(const struct hlg_inputs *in, const char *out, bool direct);

#endif
