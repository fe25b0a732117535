/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Nothing to report: a recording without guest samples, or options that select none of
 * them, is a failure with one line that says why and what to do, not a report of zeros.
 */
#ifndef HLG_FILTER_REPORT_NOTHING_H
#define HLG_FILTER_REPORT_NOTHING_H

#include "filter/profile/profile.h"
#include "symtab/err.h"

/*
 * Is there something in the profile that the options ask for: a guest sample, with a
 * mode=host of the user's one of the host, with mode=all or stacks=counters any? Then 0,
 * else HLG_EINPUT. of stands in front of the line: "", or a side's name ("before: ").
 */
int hlg_nothing_check(const struct hlg_profile *profile, const char *of,
		      struct hlg_err *err);

/* Why there is no guest sample, whatever mode= says; false if there is one. of is NULL
 * for a note, which names options as the line `selected` of reports does. */
bool hlg_nothing_why(const struct hlg_profile *profile, const char *of,
		     struct hlg_err *err);

/* Is it a clock that samples user space only? KVM runs guests in the kernel, and a clock
 * that leaves that out leaves out guests. perf makes it one for users who may not sample
 * the kernel. */
bool hlg_nothing_is_user(const char *event);

/* What to do then. */
#define HLG_NOTHING_USER                                                                 \
	"perf leaves it out for users who may not sample it: record as root, or with "   \
	"sysctl kernel.perf_event_paranoid=1"

#endif
