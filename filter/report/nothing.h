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

/* Why there is no guest sample, whatever mode= says; false if there is one. */
bool hlg_nothing_why(const struct hlg_profile *profile, const char *of,
		     struct hlg_err *err);

#endif
