// SPDX-License-Identifier: GPL-2.0-only
#include "tools/diff/columns.h"

#include <string.h>

#include "filter/report/rows.h"
#include "filter/view/place-name.h"
#include "tools/diff/join.h"

const char *const hlg_diff_columns_side[2] = {"before", "after"};

const struct hlg_column hlg_diff_columns_all[HLG_DIFF_COLUMNS] = {
	[HLG_DIFF_COLUMN_RECORD] = {"record", NULL, .type = HLG_VALUE_WORD},
	[HLG_DIFF_COLUMN_NAME] = {"name", "", .type = HLG_VALUE_TEXT, 2},
	[HLG_DIFF_COLUMN_SYMBOL] = {"symbol", NULL, .type = HLG_VALUE_TEXT},
	[HLG_DIFF_COLUMN_IMAGE] = {"image", NULL, .type = HLG_VALUE_TEXT},
	[HLG_DIFF_COLUMN_STATUS] = {"status", NULL, .type = HLG_VALUE_WORD},
	[HLG_DIFF_COLUMN_KIND] = {"kind", NULL, .type = HLG_VALUE_WORD},
	[HLG_DIFF_COLUMN_NAMES] = {"names_before", NULL, .type = HLG_VALUE_COUNT},
	{"names_after", NULL, .type = HLG_VALUE_COUNT},
	[HLG_DIFF_COLUMN_ADDR] = {"addr_before", NULL, .type = HLG_VALUE_ADDR},
	{"addr_after", NULL, .type = HLG_VALUE_ADDR},
	[HLG_DIFF_COLUMN_COUNTS] = {"samples_before", NULL, .type = HLG_VALUE_COUNT},
	{"period_before", NULL, .type = HLG_VALUE_COUNT},
	{"samples_after", NULL, .type = HLG_VALUE_COUNT},
	{"period_after", NULL, .type = HLG_VALUE_COUNT},
	[HLG_DIFF_COLUMN_PERCENT] = {"percent_before", "before",
				     .type = HLG_VALUE_PERCENT, 1, 8, .unit = " %",
				     .flags = HLG_COLUMN_PAINTED},
	{"percent_after", "after", .type = HLG_VALUE_PERCENT, 1, 8, .unit = " %",
	 .flags = HLG_COLUMN_PAINTED},
	[HLG_DIFF_COLUMN_POINTS] = {"points", "points", .type = HLG_VALUE_POINTS, 1, 7,
				    .flags = HLG_COLUMN_PAINTED},
	[HLG_DIFF_COLUMN_LOW] = {"low", NULL, .type = HLG_VALUE_POINTS},
	[HLG_DIFF_COLUMN_HIGH] = {"high", NULL, .type = HLG_VALUE_POINTS},
	[HLG_DIFF_COLUMN_CHANGE] = {"change", "change", .type = HLG_VALUE_GROWTH, 1, 9,
				    .flags = HLG_COLUMN_PAINTED},
	[HLG_DIFF_COLUMN_P] = {"p", NULL, .type = HLG_VALUE_PROBABILITY},
	[HLG_DIFF_COLUMN_Q] = {"q", "q", .type = HLG_VALUE_PROBABILITY, 1, 8},
	[HLG_DIFF_COLUMN_SIGNIFICANT] = {"significant", "", .type = HLG_VALUE_BOOL, 0, 1,
					 .unit = "*", .flags = HLG_COLUMN_PAINTED},
	[HLG_DIFF_COLUMN_EXACT] = {"exact", NULL, .type = HLG_VALUE_BOOL},
	[HLG_DIFF_COLUMN_SELF] = {"self_percent_before", "self before",
				  .type = HLG_VALUE_PERCENT, 2, 11, .unit = " %"},
	{"self_percent_after", "after", .type = HLG_VALUE_PERCENT, 1, 8, .unit = " %"},
	[HLG_DIFF_COLUMN_INTERVAL] = {NULL, "95 % interval", .type = HLG_VALUE_CHANGES, 2,
				      18},
	[HLG_DIFF_COLUMN_TIME] = {NULL, "time", .type = HLG_VALUE_WORD, 2, 18},
};

/* Do top= and min= leave a row? Its larger share is min or more. Rows are in order, so
 * what top= cuts off are the last. */
bool hlg_diff_columns_shows(const struct hlg_diff *diff, const struct hlg_diff_row *row,
			    size_t shown)
{
	const struct hlg_report *r = &diff->side[0].report;
	double a = row->share[0].share, b = row->share[1].share;

	return hlg_rows_shows(r, a > b ? a : b, shown);
}

const char *hlg_diff_columns_presence(enum hlg_diff_presence presence)
{
	static const char *const words[] = {"", "new", "gone", "not sampled before",
					    "not sampled after"};

	return words[presence];
}

static const char *kind_of(const struct hlg_diff *diff, const struct hlg_diff_row *row)
{
	int s = row->n[1] ? 1 : 0;
	const struct hlg_place *place = hlg_diff_place(row, s);

	return diff->withheld                 ? "address"
	       : place && row->row[s]->border ? HLG_PLACE_NAME_BORDER
	       : place                        ? hlg_place_name_kind(place->kind)
					      : "region";
}

/* The region's most sampled row names it. */
static const char *region_name(const struct hlg_diff *diff,
			       const struct hlg_diff_row *row)
{
	int s = row->n[1] ? 1 : 0;
	const struct hlg_view *view = &diff->side[s].all;

	return view->rows[view->parts[row->region[s]->first_part].row].name;
}

double hlg_diff_columns_self(const struct hlg_diff *diff, const struct hlg_diff_row *row,
			     int s)
{
	const struct hlg_view *view = &diff->side[s].all;
	double total = hlg_diff_join_weight(&diff->side[s], view);

	return total > 0 ? (double)hlg_count_weigh(view->weight, row->self[s]) / total
			 : 0;
}

static void set_places(struct hlg_value *v, const struct hlg_diff_row *row)
{
	for (int s = 0; s < 2; s++)
		if (row->row[s] && row->row[s]->place.image)
			v[HLG_DIFF_COLUMN_ADDR + s] =
				hlg_table_count_value(row->row[s]->place.start);
		else if (row->region[s])
			v[HLG_DIFF_COLUMN_ADDR + s] =
				hlg_table_count_value(row->region[s]->addr);
}

void hlg_diff_columns_count(struct hlg_value v[static HLG_DIFF_COLUMNS],
			    const struct hlg_count count[2])
{
	for (int s = 0; s < 2; s++) {
		v[HLG_DIFF_COLUMN_COUNTS + 2 * s] =
			hlg_table_count_value(count[s].samples);
		v[HLG_DIFF_COLUMN_COUNTS + 2 * s + 1] =
			hlg_table_count_value(count[s].period);
	}
}

void hlg_diff_columns_set(struct hlg_value v[static HLG_DIFF_COLUMNS],
			  const struct hlg_diff *diff, const struct hlg_diff_row *row)
{
	const struct hlg_compared *c = &row->compared;
	const struct hlg_place *place = hlg_diff_place(row, row->n[1] ? 1 : 0);
	const struct hlg_region *region = row->region[row->n[1] ? 1 : 0];
	const struct hlg_image *image = place ? place->image : region->image;

	memset(v, 0, HLG_DIFF_COLUMNS * sizeof(*v));
	v[HLG_DIFF_COLUMN_RECORD] = hlg_table_text_value(place ? "function" : "region");
	v[HLG_DIFF_COLUMN_NAME] =
		hlg_table_text_value(place ? hlg_diff_name(row) : region_name(diff, row));
	if (place && place->symbol && !hlg_diff_is_misfit(row))
		v[HLG_DIFF_COLUMN_SYMBOL] =
			hlg_table_text_value(hlg_image_name(place->image, place->symbol));
	v[HLG_DIFF_COLUMN_IMAGE] =
		hlg_table_text_value(image ? hlg_image_word(image) : NULL);
	v[HLG_DIFF_COLUMN_STATUS] =
		hlg_table_text_value(hlg_diff_columns_presence(row->presence));
	v[HLG_DIFF_COLUMN_KIND] =
		hlg_table_text_value(place ? kind_of(diff, row) : "region");
	for (int s = 0; s < 2; s++) {
		v[HLG_DIFF_COLUMN_NAMES + s] = hlg_table_count_value(row->n[s]);
		v[HLG_DIFF_COLUMN_PERCENT + s] =
			hlg_table_number_value(row->share[s].share);
		if (diff->side[s].self)
			v[HLG_DIFF_COLUMN_SELF + s] = hlg_table_number_value(
				hlg_diff_columns_self(diff, row, s));
	}
	set_places(v, row);
	hlg_diff_columns_count(v, row->count);
	v[HLG_DIFF_COLUMN_POINTS] = hlg_table_number_value(c->diff);
	v[HLG_DIFF_COLUMN_LOW] = hlg_table_number_value(c->low);
	v[HLG_DIFF_COLUMN_HIGH] = hlg_table_number_value(c->high);
	v[HLG_DIFF_COLUMN_INTERVAL] =
		hlg_table_share_value((struct hlg_share){.low = c->low, .high = c->high});
	v[HLG_DIFF_COLUMN_CHANGE] = hlg_table_number_value(hlg_diff_growth(row));
	v[HLG_DIFF_COLUMN_P] = hlg_table_number_value(c->p);
	v[HLG_DIFF_COLUMN_Q] = hlg_table_number_value(row->q);
	v[HLG_DIFF_COLUMN_SIGNIFICANT] = hlg_table_count_value(row->significant);
	v[HLG_DIFF_COLUMN_EXACT] = hlg_table_count_value(c->exact);
}
