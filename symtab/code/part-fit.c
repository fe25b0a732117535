// SPDX-License-Identifier: GPL-2.0-only
#include "symtab/code/part-fit.h"

#include <math.h>

enum {
	MOST_PARTS = 20,
	INSN = 4,
	NEAR = 128,  /* in steps of INSN */
	WIDE = 1024, /* then in steps of ALIGNED */
	ALIGNED = 16,
	PAGE = 4096, /* then in steps of this */
	PAGES = HLG_LINE_FIT_FAR / PAGE
};

#define AHEAD 5.0

/*
 * Each has a twentieth of all samples, and ends where the one before it begins: *first of
 * parts + 1. From the end on: what has moved because a function before it is longer, and
 * has a twentieth, holds all of the last. What is left over is the first one's. Returns
 * how many there are; 0 is the last.
 */
static size_t cut(size_t first[static MOST_PARTS + 1], const struct hlg_sampled *addrs,
		  size_t n)
{
	uint64_t all = 0, in = 0;
	size_t parts = 0;

	for (size_t i = 0; i < n; i++)
		all += addrs[i].samples;
	first[0] = n;
	for (size_t i = n; i-- > 0;) {
		in += addrs[i].samples;
		if (in * MOST_PARTS >= all) {
			first[++parts] = i;
			in = 0;
		}
	}
	first[parts] = parts ? 0 : n;
	return parts;
}

/* The i-th distance that is tried; 0: there are no more. */
static int64_t distance(unsigned i)
{
	const unsigned near = NEAR / INSN, wide = near + (WIDE - NEAR) / ALIGNED;

	if (i < near)
		return INSN * (int64_t)(i + 1);
	if (i < wide)
		return NEAR + ALIGNED * (int64_t)(i - near + 1);
	return i < wide + PAGES ? PAGE * (int64_t)(i - wide + 1) : 0;
}

/* Of those that stand out so far. */
static void judge(struct hlg_part_fit *parts, const bool stands[static MOST_PARTS])
{
	parts->standing = 0;
	parts->all = parts->parts > 0;
	for (size_t i = 0; i < parts->parts; i++) {
		const bool before = i == 0 || stands[i - 1];

		parts->standing += stands[i];
		parts->all &= stands[i] || (before && i > 0 && i + 1 < parts->parts);
	}
	parts->all &= 4 * parts->standing >= 3 * parts->parts;
}

/* Does each stand out from all moves? Until not all do, as no more moves can change that.
 */
static void try_all(const struct hlg_line_fit *lines,
		    const struct hlg_line_fit_samples *s,
		    const size_t first[static MOST_PARTS + 1], struct hlg_part_fit *parts)
{
	double needed[MOST_PARTS];
	bool stands[MOST_PARTS];

	for (size_t i = 0; i < parts->parts; i++) {
		stands[i] = true;
		needed[i] = hlg_line_fit_part(lines, s, first[i + 1], first[i], 0,
					      (double)-INFINITY) -
			    AHEAD;
	}
	judge(parts, stands);
	for (unsigned d = 0; parts->all && distance(d); d++)
		for (int sign = -1; sign <= 1; sign += 2) {
			for (size_t i = 0; i < parts->parts; i++)
				stands[i] =
					stands[i] &&
					hlg_line_fit_part(lines, s, first[i + 1],
							  first[i], sign * distance(d),
							  needed[i]) < needed[i];
			judge(parts, stands);
		}
}

bool hlg_part_fit(struct hlg_part_fit *parts, struct hlg_line_fit *lines,
		  const struct hlg_sampled *addrs, size_t n, uint64_t move)
{
	size_t first[MOST_PARTS + 1];
	struct hlg_line_fit_samples samples;
	bool ok = hlg_line_fit_samples_begin(&samples, lines, addrs, n, move);

	*parts = (struct hlg_part_fit){0};
	if (ok) {
		parts->parts = cut(first, addrs, n);
		try_all(lines, &samples, first, parts);
	}
	hlg_line_fit_samples_finish(&samples);
	return ok;
}
