/* SPDX-License-Identifier: GPL-2.0-only */
/* record -g: the host's stacks and the callers inside the guest, as far as both can be
 * had. */
#ifndef HLG_TOOLS_RECORD_BOTH_H
#define HLG_TOOLS_RECORD_BOTH_H

#include "tools/record/guest-stacks.h"
#include "tools/record/tracing.h"

/* May a recording, out, have guest stacks? If it is a file, as it is written twice. If
 * not, a line says why. */
bool hlg_record_both_callers(const char *out);

/*
 * Can the host's stacks be recorded, as how says? If not, and guest stacks can be, a line
 * says so, and it is 0. 1: they can. Fails where neither can be had, and a line says why
 * not guest stacks; and for what makes no sense.
 */
int hlg_record_both_host(const struct hlg_record_tracing *how,
			 const struct hlg_guest_stacks *stacks, struct hlg_err *err);

#endif
