/* SPDX-License-Identifier: GPL-2.0-only */
/* What is said after a recording. */
#ifndef HLG_TOOLS_RECORD_TELL_H
#define HLG_TOOLS_RECORD_TELL_H

#include <stdint.h>

#include "tools/record/guest-stacks.h"
#include "tools/record/keep.h"
#include "tools/record/request.h"

/* What is in the recording, what it may lack, and what to type next. event was sampled
 * by, and perf ended with this status. Returns 0, or 1 when it cannot be read. The guests
 * are noted beside it. */
int hlg_record_tell(struct hlg_record_request *args, const char *event, int status,
		    const struct hlg_guest_stacks *stacks);

/* A recording in vain has come after a good one, which is still there. */
void hlg_record_tell_old(const struct hlg_record_keep *keep);

/* What came of the runs, of which so many are good, and what to type next. */
void hlg_record_tell_runs(const struct hlg_record_request *args, const char *out,
			  uint64_t good);

#endif
