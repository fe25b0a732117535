/* SPDX-License-Identifier: GPL-2.0-only */
/* What a comparison's rows have, in columns, for all formats. */
#ifndef HLG_TOOLS_DIFF_COLUMNS_H
#define HLG_TOOLS_DIFF_COLUMNS_H

#include "filter/write/table.h"
#include "tools/diff/diff.h"

/* Records have those with a key as they stand here; of both sides, before comes first. */
enum {
	HLG_DIFF_COLUMN_RECORD,
	HLG_DIFF_COLUMN_NAME,
	HLG_DIFF_COLUMN_SYMBOL,
	HLG_DIFF_COLUMN_IMAGE,
	HLG_DIFF_COLUMN_STATUS,
	HLG_DIFF_COLUMN_KIND,
	HLG_DIFF_COLUMN_NAMES,
	HLG_DIFF_COLUMN_ADDR = HLG_DIFF_COLUMN_NAMES + 2,
	HLG_DIFF_COLUMN_COUNTS =
		HLG_DIFF_COLUMN_ADDR + 2, /* samples and period of each */
	HLG_DIFF_COLUMN_PERCENT = HLG_DIFF_COLUMN_COUNTS + 4,
	HLG_DIFF_COLUMN_POINTS = HLG_DIFF_COLUMN_PERCENT + 2,
	HLG_DIFF_COLUMN_LOW,
	HLG_DIFF_COLUMN_HIGH,
	HLG_DIFF_COLUMN_CHANGE,
	HLG_DIFF_COLUMN_P,
	HLG_DIFF_COLUMN_Q,
	HLG_DIFF_COLUMN_SIGNIFICANT,
	HLG_DIFF_COLUMN_EXACT,
	HLG_DIFF_COLUMN_SELF, /* of children=, of each side */
	HLG_DIFF_COLUMN_INTERVAL = HLG_DIFF_COLUMN_SELF + 2, /* of text only, */
	HLG_DIFF_COLUMN_TIME, /* and so; set by who writes it */
	HLG_DIFF_COLUMNS
};

extern const struct hlg_column hlg_diff_columns_all[HLG_DIFF_COLUMNS];

/* "before", "after". */
extern const char *const hlg_diff_columns_side[2];

void hlg_diff_columns_set(struct hlg_value v[static HLG_DIFF_COLUMNS],
			  const struct hlg_diff *diff, const struct hlg_diff_row *row);

/* Sets the counts of both sides alone. */
void hlg_diff_columns_count(struct hlg_value v[static HLG_DIFF_COLUMNS],
			    const struct hlg_count count[2]);

/* With children=, what was sampled in a row itself, as its share is of. */
double hlg_diff_columns_self(const struct hlg_diff *diff, const struct hlg_diff_row *row,
			     int s);

/* Do top= and min= leave a row, behind so many? Its larger share is min or more. */
bool hlg_diff_columns_shows(const struct hlg_diff *diff, const struct hlg_diff_row *row,
			    size_t shown);

/* "new", "not sampled after"; "" of what both sides have. */
const char *hlg_diff_columns_presence(enum hlg_diff_presence presence);

#endif
