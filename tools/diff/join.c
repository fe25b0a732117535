// SPDX-License-Identifier: GPL-2.0-only
#include "tools/diff/join.h"

#include <stdlib.h>
#include <string.h>

#include "filter/report/rows.h"
#include "tools/diff/key.h"

/* A row or region of a side, and what makes it one with another of the other side. */
struct item {
	size_t pair;
	int sort;  /* of things that names and addresses do not tell apart */
	char *key; /* NULL: by address */
	uint64_t start, end;
	int side;
	size_t index; /* in the side's view */
};

struct items {
	struct item *item;
	size_t n;
};

static int compare_same(const struct item *x, const struct item *y)
{
	if (x->pair != y->pair)
		return x->pair < y->pair ? -1 : 1;
	if (x->sort != y->sort)
		return x->sort - y->sort;
	if (x->key && y->key)
		return strcmp(x->key, y->key);
	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->end < y->end ? -1 : x->end > y->end;
}

static int compare_items(const void *a, const void *b)
{
	const struct item *x = a, *y = b;
	int order = compare_same(x, y);

	if (order)
		return order;
	if (x->side != y->side)
		return x->side - y->side;
	return x->index < y->index ? -1 : x->index > y->index;
}

static bool init(struct items *items, struct hlg_diff_rows *rows, size_t n0, size_t n1)
{
	items->item = calloc(n0 + n1 + 1, sizeof(*items->item));
	rows->row = calloc(n0 + n1 + 1, sizeof(*rows->row));
	rows->to[0] = calloc(n0 + 1, sizeof(**rows->to));
	rows->to[1] = calloc(n1 + 1, sizeof(**rows->to));
	return items->item && rows->row && rows->to[0] && rows->to[1];
}

static void finish(struct items *items)
{
	for (size_t i = 0; items->item && i < items->n; i++)
		free(items->item[i].key);
	free(items->item);
}

/* A function of one build can be a label of the next; its name is the same. */
static bool add_row(struct items *items, const struct hlg_diff *diff, int side,
		    size_t index)
{
	const struct hlg_row *row = hlg_view_row(&diff->side[side].all, index);
	const struct hlg_place *place = &row->place;
	int border = row->border ? HLG_N_KINDS : 0;
	struct item *item = &items->item[items->n++];

	*item = (struct item){.side = side, .index = index};
	item->pair = hlg_paired_find(&diff->images, side, place->image);
	if (item->pair == diff->images.n) {
		item->start = diff->withheld ? place->start : 0;
		return true;
	}
	if (diff->images.pairs[item->pair].same) {
		item->sort = border + (int)place->kind;
		item->start = place->start;
		item->end = place->end;
		return true;
	}
	item->sort = border + (place->symbol ? HLG_FUNCTION : (int)place->kind);
	item->key = hlg_diff_key_of(place);
	return item->key;
}

/* Adds one of a side to a row; the first is the largest. */
static void put(struct hlg_diff *diff, struct hlg_diff_rows *rows,
		const struct item *item, struct hlg_diff_row *row)
{
	const struct hlg_view *view = &diff->side[item->side].all;
	struct hlg_count count;

	if (rows == &diff->regions) {
		const struct hlg_region *region = &view->regions[item->index];

		if (!row->region[item->side])
			row->region[item->side] = region;
		count = region->count;
	} else {
		const struct hlg_row *of = hlg_view_row(view, item->index);

		/* In an image without a file, one function may have several symbols. */
		if (row->row[item->side] && of->place.image && of->place.image->made)
			row->n[item->side]--;
		if (!row->row[item->side])
			row->row[item->side] = of;
		count = of->count;
	}
	if (rows == &diff->functions && diff->side[item->side].self)
		hlg_count_add(&row->self[item->side],
			      diff->side[item->side].self[item->index]);
	row->pair = item->pair;
	row->n[item->side]++;
	hlg_count_add(&row->count[item->side], count);
	rows->to[item->side][item->index] = (size_t)(row - rows->row);
}

static void fold(struct hlg_diff *diff, struct hlg_diff_rows *rows, struct items *items)
{
	qsort(items->item, items->n, sizeof(*items->item), compare_items);
	for (size_t i = 0; i < items->n; i++) {
		if (i == 0 || compare_same(&items->item[i - 1], &items->item[i]) != 0)
			rows->n++;
		put(diff, rows, &items->item[i], &rows->row[rows->n - 1]);
	}
}

size_t hlg_diff_join_n(const struct hlg_diff_side *side, const struct hlg_view *view)
{
	return view->n_rows +
	       (side->options->border == HLG_BORDER_DROP ? 0 : view->n_borders);
}

double hlg_diff_join_weight(const struct hlg_diff_side *side, const struct hlg_view *view)
{
	return (double)hlg_count_weigh(view->weight, hlg_rows_sum(&side->report, view));
}

const char *hlg_diff_join_exits(const struct hlg_diff *diff)
{
	if (diff->side[0].all.n_borders + diff->side[1].all.n_borders == 0)
		return "";
	return diff->side[0].options->border == HLG_BORDER_DROP ? ", VM exits left out"
								: ", VM exits among it";
}

bool hlg_diff_join_rows(struct hlg_diff *diff)
{
	size_t a = hlg_diff_join_n(&diff->side[0], &diff->side[0].all);
	size_t b = hlg_diff_join_n(&diff->side[1], &diff->side[1].all);
	struct items items = {0};
	bool ok = init(&items, &diff->functions, a, b);

	for (size_t i = 0; ok && i < a; i++)
		ok = add_row(&items, diff, 0, i);
	for (size_t i = 0; ok && i < b; i++)
		ok = add_row(&items, diff, 1, i);
	if (ok)
		fold(diff, &diff->functions, &items);
	finish(&items);
	return ok;
}

static void add_regions(struct items *items, const struct hlg_diff *diff, int side)
{
	const struct hlg_view *view = &diff->side[side].all;

	for (size_t i = 0; i < view->n_regions; i++)
		items->item[items->n++] =
			(struct item){.pair = hlg_paired_find(&diff->images, side,
							      view->regions[i].image),
				      .start = view->regions[i].addr,
				      .side = side,
				      .index = i};
}

bool hlg_diff_join_regions(struct hlg_diff *diff)
{
	struct items items = {0};
	bool ok = init(&items, &diff->regions, diff->side[0].all.n_regions,
		       diff->side[1].all.n_regions);

	if (ok) {
		add_regions(&items, diff, 0);
		add_regions(&items, diff, 1);
		fold(diff, &diff->regions, &items);
	}
	finish(&items);
	return ok;
}

/* What a build has no symbol of cannot have been sampled there: it is new, or gone. */

/* The names of all symbols of an image, as key.h has them, sorted. */
struct names {
	char **name;
	size_t n;
};

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool collect(struct names *names, const struct hlg_image *image)
{
	names->name = calloc(image->tab.n_syms + 1, sizeof(*names->name));
	if (!names->name)
		return false;
	for (; names->n < image->tab.n_syms; names->n++) {
		const struct hlg_symbol *symbol = &image->tab.syms[names->n];

		names->name[names->n] = hlg_diff_key(hlg_image_name(image, symbol));
		if (!names->name[names->n])
			return false;
	}
	qsort(names->name, names->n, sizeof(*names->name), compare_names);
	return true;
}

static void finish_names(struct names *names)
{
	for (size_t i = 0; names->name && i < names->n; i++)
		free(names->name[i]);
	free(names->name);
}

/* Does the build of a side (its names) lack what the other side's row is? */
static bool tell(struct hlg_diff_row *row, int lacks, const struct names *names)
{
	const struct hlg_place *place = &row->row[!lacks]->place;
	bool known = true;

	if (place->symbol) {
		char *key = hlg_diff_key_of(place);

		if (!key)
			return false;
		known = names->n &&
			bsearch(&key, names->name, names->n, sizeof(key), compare_names);
		free(key);
	}
	if (!known)
		row->presence = lacks ? HLG_DIFF_GONE : HLG_DIFF_NEW;
	return true;
}

/* The rows of one pair of builds that a side has no sample of. */
static bool tell_pair(const struct hlg_diff *diff, struct hlg_diff_rows *rows,
		      size_t pair, int lacks)
{
	const struct hlg_image *image = diff->images.pairs[pair].image[lacks];
	struct names names = {0};
	bool ok = true;

	for (size_t i = 0; ok && i < rows->n; i++) {
		if (rows->row[i].pair != pair || rows->row[i].row[lacks])
			continue;
		if (image && !names.name)
			ok = collect(&names, image);
		ok = ok && tell(&rows->row[i], lacks, &names);
	}
	finish_names(&names);
	return ok;
}

/* Its symbols are those that were sampled, not all there are. */
static bool is_made(const struct hlg_paired_image *pair)
{
	return (pair->image[0] && pair->image[0]->made) ||
	       (pair->image[1] && pair->image[1]->made);
}

bool hlg_diff_tell_presence(const struct hlg_diff *diff, struct hlg_diff_rows *rows)
{
	bool ok = true;

	for (size_t i = 0; i < rows->n; i++) {
		struct hlg_diff_row *row = &rows->row[i];

		row->presence = row->n[0] && row->n[1] ? HLG_DIFF_BOTH
				: row->n[1]            ? HLG_DIFF_ONLY_AFTER
						       : HLG_DIFF_ONLY_BEFORE;
	}
	if (rows == &diff->regions) /* then the builds are the same */
		return true;
	for (size_t i = 0; ok && i < diff->images.n; i++)
		if (!diff->images.pairs[i].same && !is_made(&diff->images.pairs[i]))
			ok = tell_pair(diff, rows, i, 0) && tell_pair(diff, rows, i, 1);
	return ok;
}
