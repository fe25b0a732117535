// SPDX-License-Identifier: GPL-2.0-only
/* Where this build has no libdw. */
#include "tools/callers/unwind.h"

int hlg_callers_unwind_open(struct hlg_callers_unwind **unwind,
			    const struct hlg_image *image, struct hlg_err *err)
{
	*unwind = NULL;
	return hlg_err_set(err, HLG_EINPUT,
			   "%s: its unwind tables cannot be read: this hlguest was built "
			   "without libdw (install libdw-dev, and build it again)",
			   image->path);
}

void hlg_callers_unwind_close(struct hlg_callers_unwind *unwind)
{
	(void)unwind;
}

void hlg_callers_unwind_count(struct hlg_callers_unwind *unwind,
			      struct hlg_callers_unwind_count *count)
{
	(void)unwind;
	*count = (struct hlg_callers_unwind_count){0};
}

enum hlg_walk_end hlg_callers_unwind_stack(struct hlg_callers_unwind *unwind,
					   uint64_t bias,
					   const struct hlg_callers_copy *copy,
					   uint64_t callers[static HLG_WALK_ROOM],
					   uint32_t *n)
{
	(void)unwind;
	(void)bias;
	(void)copy;
	(void)callers;
	*n = 0;
	return HLG_WALK_NO_CFI;
}
