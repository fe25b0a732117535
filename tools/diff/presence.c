// SPDX-License-Identifier: GPL-2.0-only
/* What a build has no symbol of cannot have been sampled there: it is new, or gone. */
#include <stdlib.h>
#include <string.h>

#include "join.h"
#include "key.h"

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
		known = bsearch(&key, names->name, names->n, sizeof(key), compare);
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
