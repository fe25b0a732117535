/* SPDX-License-Identifier: GPL-2.0-only */
/* What the text of hlguest exits begins with, and how it writes times. */
#ifndef HLG_TOOLS_EXITS_HEAD_H
#define HLG_TOOLS_EXITS_HEAD_H

#include <stdio.h>

#include "tools/exits/report.h"

#define HLG_EXITS_INDENT "          " /* as wide as the words in front of lines */

enum {
	HLG_EXITS_SHOWN_TIMES = 5,
	HLG_EXITS_MAX_SHOWN = HLG_EXITS_SHOWN_TIMES - 1, /* the number of `max` */
	HLG_EXITS_UNITS = 4
};

/* The times that text has, of those of a row. */
struct hlg_exits_shown_time {
	const char *name;
	size_t value;
	int width;
};

extern const struct hlg_exits_shown_time hlg_exits_shown_times[HLG_EXITS_SHOWN_TIMES];

struct hlg_exits_unit {
	const char *name;
	uint64_t ns;
};

/* From ns on, each larger than the one before. */
extern const struct hlg_exits_unit hlg_exits_units[HLG_EXITS_UNITS];

/* Of totals, and of a line: that in which the largest has five digits at most. */
struct hlg_exits_unit hlg_exits_unit_of(uint64_t most);

/* With one decimal, in every locale; of ns, which are whole, with none. */
const char *hlg_exits_time_text(char buf[static 40], uint64_t ns,
				struct hlg_exits_unit unit);

/* "guest 2094.0 us (75 %), kernel 639.0 us (25 %)", behind a label: of all pairs,
 * whichever of them rows are of. */
void hlg_exits_write_parts(FILE *f, const struct hlg_exits_report *report,
			   const struct hlg_exits_vcpu *vcpu, const char *label);

/* Of the VMM one reason is a line of the head, not a table. */
bool hlg_exits_is_line(const struct hlg_exits_table *table,
		       const struct hlg_exits_report *report);

/* That all is well takes no line of its own. */
bool hlg_exits_check_is_brief(const struct hlg_exits_report *report);

/* What text begins with, of a struct hlg_exits_report: guests, what was recorded, the
 * parts of its time, warnings. */
int hlg_exits_write_head(void *report, FILE *f, struct hlg_err *err);

#endif
