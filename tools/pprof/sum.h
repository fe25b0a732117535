/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The sum of saved profiles, one after the other: each thing in it is there once, so it
 * grows by what is new in a profile, not by profiles. What is looked up is renumbered
 * first, and the sum is resolved (saved.h) when it is whole: that makes its order.
 */
#ifndef HLG_TOOLS_PPROF_SUM_H
#define HLG_TOOLS_PPROF_SUM_H

#include "filter/profile/index.h"
#include "tools/pprof/saved.h"

struct hlg_pprof_sum {
	struct hlg_saved saved;
	/* Of its lists. */
	struct hlg_index events, images, functions, inlines, stacks, cells, host_stacks,
		series, hosts, checks;
};

#define HLG_PPROF_SUM_INIT                                                               \
	{                                                                                \
		.saved = HLG_SAVED_INIT                                                  \
	}

/*
 * Adds a profile, which is good for nothing then but to be finished; samples of both are
 * split by the same keys. name: of it, for messages. After a failure the sum is good for
 * nothing.
 */
int hlg_pprof_sum_add(struct hlg_pprof_sum *sum, struct hlg_saved *one, const char *name,
		      struct hlg_err *err);

void hlg_pprof_sum_finish(struct hlg_pprof_sum *sum);

#endif
