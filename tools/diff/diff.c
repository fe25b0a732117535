// SPDX-License-Identifier: GPL-2.0-only
#include "tools/diff/diff.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void finish_rows(struct hlg_diff_rows *rows)
{
	free(rows->row);
	free(rows->to[0]);
	free(rows->to[1]);
	memset(rows, 0, sizeof(*rows));
}

void hlg_diff_finish(struct hlg_diff *diff)
{
	finish_rows(&diff->functions);
	finish_rows(&diff->regions);
	hlg_note_list_finish(&diff->notes);
	free(diff->matched);
	free(diff->shares);
	free(diff->test);
	hlg_diff_images_finish(&diff->images);
	hlg_diff_side_finish(&diff->side[0]);
	hlg_diff_side_finish(&diff->side[1]);
}

double hlg_diff_growth(const struct hlg_diff_row *row)
{
	double before = row->share[0].share, after = row->share[1].share;

	if (before > 0)
		return after / before - 1;
	return after > 0 ? INFINITY : 0;
}

const struct hlg_diff_row *hlg_diff_grown(const struct hlg_diff *diff, double least)
{
	for (size_t i = 0; i < diff->functions.n; i++) {
		const struct hlg_diff_row *row = &diff->functions.row[i];

		if (row->significant && hlg_diff_growth(row) > least &&
		    row->compared.diff > 0)
			return row;
	}
	return NULL;
}

const char *hlg_diff_name(const struct hlg_diff_row *row)
{
	int s = row->n[1] ? 1 : 0;

	return row->row[s] ? row->row[s]->name : "";
}

const struct hlg_place *hlg_diff_place(const struct hlg_diff_row *row, int side)
{
	return row->row[side] ? &row->row[side]->place : NULL;
}

const char *hlg_diff_presence_word(enum hlg_diff_presence presence)
{
	static const char *const words[] = {"", "new", "gone", "not sampled before",
					    "not sampled after"};

	return words[presence];
}
