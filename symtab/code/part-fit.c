// SPDX-License-Identifier: GPL-2.0-only
#include "symtab/code/part-fit.h"

#include <math.h>
#include <stdlib.h>

enum {
	MOST_PARTS = 20,
	INSN = 4,
	NEAR = 128,  /* in steps of INSN */
	WIDE = 1024, /* then in steps of ALIGNED */
	ALIGNED = 16,
	PAGE = 4096, /* then in steps of this */
	PAGES = 8
};

#define AHEAD 5.0

/* Each has a twentieth of all samples. From the end on: what has moved because a function
 * before it is longer, and has a twentieth, holds all of the last. What is left over is
 * the first one's. Returns how many there are; 0 is the last. */
static size_t cut(unsigned char *part, const struct hlg_sampled *addrs, size_t n)
{
	uint64_t all = 0, in = 0;
	size_t parts = 0;

	for (size_t i = 0; i < n; i++)
		all += addrs[i].samples;
	for (size_t i = n; i-- > 0;) {
		part[i] = (unsigned char)parts;
		in += addrs[i].samples;
		if (in * MOST_PARTS >= all) {
			parts++;
			in = 0;
		}
	}
	for (size_t i = 0; in && parts && i < n && part[i] == parts; i++)
		part[i]--;
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

/* What parts are worth if they lie so. */
struct trial {
	struct hlg_line_fit *lines;
	const struct hlg_sampled *addrs;
	size_t n;
	const unsigned char *part;
	double *each;
};

static bool try(const struct trial *t, uint64_t move, double worth[static MOST_PARTS])
{
	double score;

	for (size_t i = 0; i < MOST_PARTS; i++)
		worth[i] = 0;
	if (!hlg_line_fit_score(t->lines, t->addrs, t->n, move, &score, t->each))
		return false;
	for (size_t i = 0; i < t->n; i++)
		worth[t->part[i]] += t->each[i];
	return true;
}

static void judge(struct hlg_part_fit *parts, const double here[static MOST_PARTS],
		  const double best[static MOST_PARTS])
{
	bool before = true;

	parts->standing = 0;
	parts->all = parts->parts > 0;
	for (size_t i = 0; i < parts->parts; i++) {
		const bool stands = here[i] - best[i] > AHEAD;

		parts->standing += stands;
		parts->all &= stands || (before && i > 0 && i + 1 < parts->parts);
		before = stands;
	}
	parts->all &= 4 * parts->standing >= 3 * parts->parts;
}

/* Against the best that any move is worth to each part; until not all stand out, as no
 * more moves can change that. */
static bool try_all(const struct trial *t, uint64_t move,
		    const double here[static MOST_PARTS], struct hlg_part_fit *parts)
{
	double worth[MOST_PARTS], best[MOST_PARTS];

	for (size_t i = 0; i < MOST_PARTS; i++)
		best[i] = -INFINITY;
	judge(parts, here, best);
	for (unsigned d = 0; parts->all && distance(d); d++)
		for (int sign = -1; sign <= 1; sign += 2) {
			if (!try(t, move + (uint64_t)(sign * distance(d)), worth))
				return false;
			for (size_t i = 0; i < MOST_PARTS; i++)
				best[i] = worth[i] > best[i] ? worth[i] : best[i];
			judge(parts, here, best);
		}
	return true;
}

bool hlg_part_fit(struct hlg_part_fit *parts, struct hlg_line_fit *lines,
		  const struct hlg_sampled *addrs, size_t n, uint64_t move)
{
	double *each = calloc(n + 1, sizeof(*each));
	unsigned char *part = calloc(n + 1, 1);
	const struct trial t = {lines, addrs, n, part, each};
	double here[MOST_PARTS];
	bool ok = each && part;

	*parts = (struct hlg_part_fit){0};
	if (ok)
		parts->parts = cut(part, addrs, n);
	ok = ok && try(&t, move, here) && try_all(&t, move, here, parts);
	free(each);
	free(part);
	return ok;
}
