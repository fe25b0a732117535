/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How periods are shown: as time, where they are nanoseconds (of a timer), else by
 * thousands; alike in all rows of a table, by its largest.
 */
#ifndef HLG_FILTER_WRITE_TEXT_SCALE_H
#define HLG_FILTER_WRITE_TEXT_SCALE_H

#include "filter/report/report.h"

struct hlg_text_scale {
	bool time;
	double unit; /* periods of one; 0: as they are */
	const char *name;
};

/* The event of the samples of report->all, or of a group's view; UINT32_MAX: there are
 * several, or none. */
uint32_t hlg_text_scale_event(const struct hlg_report *report,
			      const struct hlg_view *view);

struct hlg_text_scale hlg_text_scale_for(const struct hlg_report *report, uint32_t event,
					 uint64_t largest);

/* "3.280 s", "1.200 G", in every locale. */
const char *hlg_text_scale_period(char buf[static 32], const struct hlg_text_scale *scale,
				  uint64_t period);

/* How long was recorded, in nanoseconds: from the first sample to the last, of host and
 * guest, in the time that time= selects, whatever else was selected. 0: not known, or of several recordings. */
uint64_t hlg_text_scale_ns(const struct hlg_report *report);

/* The same as text, "4.0 s"; false where it is 0. */
bool hlg_text_scale_span(char buf[static 32], const struct hlg_report *report);

#endif
