// SPDX-License-Identifier: GPL-2.0-only
#include "tools/page/cut.h"

#include <limits.h>
#include <math.h>

/* Sections are cut to a little less than what there is room for: the hot part of one
 * packs worse than the whole. */
static const double SPARE = 0.95;

/* What sections may have at most so that all of them have room. */
static double level_of(const size_t sizes[HLG_PAGE_SECTIONS], double room)
{
	double level = room / HLG_PAGE_SECTIONS, small;
	int large;

	/* It rises by what smaller sections leave, each of which is found once. */
	for (int i = 0; i < HLG_PAGE_SECTIONS; i++) {
		small = 0;
		large = 0;
		for (int k = 0; k < HLG_PAGE_SECTIONS; k++) {
			if ((double)sizes[k] <= level)
				small += (double)sizes[k];
			else
				large++;
		}
		if (large)
			level = (room - small) / large;
	}
	return level;
}

/* Of those that are there so many; but never none. */
static void shrink(size_t *most, size_t there, double part, size_t least)
{
	size_t wanted = (size_t)(part * (double)there);

	if (*most > there)
		*most = there;
	if (wanted < *most)
		*most = wanted > least ? wanted : least;
}

/* Slices so much longer that there are only that part of them. False: they cannot. */
static bool lengthen(struct hlg_page_cut *cut, unsigned longer, double part)
{
	if (cut->is.longest)
		return false;
	longer += (unsigned)ceil(-log2(part));
	if (longer > cut->longer)
		cut->longer = longer;
	return true;
}

void hlg_page_cut_more(struct hlg_page_cut *cut, const size_t sizes[HLG_PAGE_SECTIONS],
		       size_t room)
{
	double level = level_of(sizes, SPARE * (double)room), part[HLG_PAGE_SECTIONS];
	unsigned longer = cut->longer;

	for (int i = 0; i < HLG_PAGE_SECTIONS; i++)
		part[i] = (double)sizes[i] > level ? level / (double)sizes[i] : 1;
	if (part[HLG_PAGE_IMAGES] < 1 && cut->outlines)
		part[HLG_PAGE_ROWS] = fmin(part[HLG_PAGE_ROWS], part[HLG_PAGE_IMAGES]);
	cut->outlines |= part[HLG_PAGE_IMAGES] < 1;
	if (part[HLG_PAGE_WHERE] < 1 && !lengthen(cut, longer, part[HLG_PAGE_WHERE]))
		part[HLG_PAGE_ADDRESSES] =
			fmin(part[HLG_PAGE_ADDRESSES], part[HLG_PAGE_WHERE]);
	if (part[HLG_PAGE_STACKS] < 1 && !lengthen(cut, longer, part[HLG_PAGE_STACKS]))
		cut->stacks = true;
	if (part[HLG_PAGE_ROWS] < 1)
		shrink(&cut->rows, cut->is.kept_rows, part[HLG_PAGE_ROWS],
		       HLG_PAGE_LEAST);
	if (part[HLG_PAGE_ADDRESSES] < 1)
		shrink(&cut->addresses, cut->is.kept_addresses, part[HLG_PAGE_ADDRESSES],
		       1);
	if (part[HLG_PAGE_FLAME] < 1)
		shrink(&cut->frames, cut->is.kept_frames, part[HLG_PAGE_FLAME], 1);
}

void hlg_page_cut_least(struct hlg_page_cut *cut)
{
	cut->rows = HLG_PAGE_LEAST;
	cut->addresses = 1;
	cut->frames = 1;
	cut->outlines = true;
	cut->longer = UINT_MAX / 2;
	cut->stacks = true;
}

bool hlg_page_cut_any(const struct hlg_page_cut *cut)
{
	return cut->is.rows || cut->is.callers || cut->is.addresses || cut->is.frames ||
	       cut->is.outlines || cut->is.slice || cut->stacks;
}

const char *hlg_page_cut_below(char buf[static 32], double share)
{
	int power = 0; /* the text is of 10^-power */

	while (power < 18 && share < pow(10, -power - 1))
		power++;
	snprintf(buf, 32, "%.*f %%", power > 2 ? power - 2 : 0, pow(10, 2 - power));
	return buf;
}

static const char *sep(bool *any)
{
	const char *text = *any ? "; " : "";

	*any = true;
	return text;
}

void hlg_page_cut_words(FILE *f, const struct hlg_page_cut *cut, const char *things)
{
	char below[32];
	bool any = false;

	if (cut->is.rows)
		fprintf(f, "%s%zu %s below %s are one row", sep(&any), cut->is.rows,
			things, hlg_page_cut_below(below, cut->is.row_share));
	if (cut->is.callers)
		fprintf(f, "%s%zu callers without samples of their own have no row",
			sep(&any), cut->is.callers);
	if (cut->is.addresses)
		fprintf(f,
			"%sthe samples of %zu addresses are at the start of their "
			"function",
			sep(&any), cut->is.addresses);
	if (cut->is.outlines)
		fprintf(f, "%s%zu functions without samples have no outline", sep(&any),
			cut->is.outlines);
	if (cut->is.frames)
		fprintf(f,
			"%s%zu frames of the flame graph below %s are [smaller frames]",
			sep(&any), cut->is.frames,
			hlg_page_cut_below(below, cut->is.frame_share));
	if (cut->is.slice && cut->is.longest)
		fprintf(f, "%sfunctions are known of whole recordings only", sep(&any));
	else if (cut->is.slice)
		fprintf(f, "%sfunctions are known by slices of %.3g s", sep(&any),
			(double)cut->is.slice / 1e9);
	if (cut->stacks)
		fprintf(f, "%sthe flame graph is of all time", sep(&any));
}
