// SPDX-License-Identifier: GPL-2.0-only
/* What a build has no symbol of cannot have been sampled there: it is new, or gone. */
#include <stdlib.h>
#include <string.h>

#include "tools/diff/join.h"
#include "tools/diff/key.h"

/* The names of all symbols of an image, as key.h has them, sorted. */
struct names {
	char **name;
	size_t n;
};

static int compare(const void *a, const void *b)
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
	qsort(names->name, names->n, sizeof(*names->name), compare);
	return true;
}

static void finish(struct names *names)
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
		char *key = hlg_diff_key(hlg_image_name(place->image, place->symbol));

		if (!key)
			return false;
		known = names->n &&
			bsearch(&key, names->name, names->n, sizeof(key), compare);
		free(key);
	}
	if (!known)
		row->presence = lacks ? HLG_DIFF_GONE : HLG_DIFF_NEW;
	return true;
}

/* Rows by the pair of images they are of; the last pair is none. */
struct by_pair {
	struct hlg_diff_row **row;
	size_t *end; /* where each pair's end in row */
};

static bool sort_rows(struct by_pair *by, const struct hlg_diff_rows *rows,
		      size_t n_pairs)
{
	size_t sum = 0;

	by->row = calloc(rows->n + 1, sizeof(*by->row));
	by->end = calloc(n_pairs + 1, sizeof(*by->end));
	if (!by->row || !by->end)
		return false;
	for (size_t i = 0; i < rows->n; i++)
		by->end[rows->row[i].pair]++;
	for (size_t k = 0; k <= n_pairs; k++) {
		size_t n = by->end[k];

		by->end[k] = sum;
		sum += n;
	}
	for (size_t i = 0; i < rows->n; i++)
		by->row[by->end[rows->row[i].pair]++] = &rows->row[i];
	return true;
}

/* The rows of one pair of builds that a side has no sample of. */
static bool tell_pair(const struct hlg_diff *diff, const struct by_pair *by, size_t pair,
		      int lacks)
{
	const struct hlg_image *image = diff->images.pairs[pair].image[lacks];
	struct names names = {0};
	bool ok = true;

	for (size_t i = pair ? by->end[pair - 1] : 0; ok && i < by->end[pair]; i++) {
		if (by->row[i]->row[lacks])
			continue;
		if (image && !names.name)
			ok = collect(&names, image);
		ok = ok && tell(by->row[i], lacks, &names);
	}
	finish(&names);
	return ok;
}

/* Its symbols are those that were sampled, not all there are. */
static bool is_made(const struct hlg_diff_image *pair)
{
	return (pair->image[0] && pair->image[0]->made) ||
	       (pair->image[1] && pair->image[1]->made);
}

bool hlg_diff_tell_presence(const struct hlg_diff *diff, struct hlg_diff_rows *rows)
{
	struct by_pair by = {0};
	bool ok;

	for (size_t i = 0; i < rows->n; i++) {
		struct hlg_diff_row *row = &rows->row[i];

		row->presence = row->n[0] && row->n[1] ? HLG_DIFF_BOTH
				: row->n[1]            ? HLG_DIFF_ONLY_AFTER
						       : HLG_DIFF_ONLY_BEFORE;
	}
	if (rows == &diff->regions) /* then the builds are the same */
		return true;
	ok = sort_rows(&by, rows, diff->images.n);
	for (size_t i = 0; ok && i < diff->images.n; i++)
		if (!diff->images.pairs[i].same && !is_made(&diff->images.pairs[i]))
			ok = tell_pair(diff, &by, i, 0) && tell_pair(diff, &by, i, 1);
	free(by.row);
	free(by.end);
	return ok;
}
