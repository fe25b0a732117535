/* SPDX-License-Identifier: GPL-2.0-only */
/* How a report comes from a profile: its views, whether to believe them, its notes. */
#ifndef HLG_FILTER_REPORT_BUILD_H
#define HLG_FILTER_REPORT_BUILD_H

#include "filter/report/report.h"
#include "filter/report/shift.h"

/*
 * Builds the report of a profile that has ended, in a space that is settled. All
 * arguments outlive the report; host is sorted here. shift: what was moved in the
 * profile before (assume-shift), which is marked, and not tried elsewhere again; NULL:
 * nothing. exits: what is of the border, which the report takes over; NULL: the samples
 * tell. The caller finishes *report in any case.
 */
int hlg_report_build(struct hlg_report *report, const struct hlg_options *options,
		     const struct hlg_space *space, const struct hlg_profile *profile,
		     struct hlg_host *host, const struct hlg_shift *shift,
		     struct hlg_border *exits, struct hlg_err *err);

#endif
