// SPDX-License-Identifier: GPL-2.0-only
#include "symtab/code/base-find.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "symtab/bsearch.h"
#include "symtab/grow.h"

enum {
	PAGE = 4096,
	VOTERS = 512,
	CANDIDATES = 48,
	LEAST = 8, /* fewer addresses cannot pass, whatever they say */
	QUARTERS = 4,
	BESIDE = 64, /* bytes */
	INSN_A64 = 4
};

/* Odds that a base must have over chance, for each candidate that was looked at, and
 * over a candidate that overlaps it. */
#define ODDS_OVER_CHANCE 10000.0
#define ODDS_OVER_RIVAL  1000.0

#define RIGHT 0.95 /* on boundaries, at the right base */

/* What a score of lines must be ahead, in nats: of each base that overlaps it, for each
 * of its addresses, of it in a quarter of the samples, and of what lies beside. With
 * another program's samples the best was ahead of the next by some 30 nats at 500, and by
 * up to a tenth of a nat an address at 2,000 samples; in none of 60 draws it was found.
 */
#define AHEAD            25.0
#define AHEAD_AN_ADDRESS 0.1
#define AHEAD_IN_QUARTER 3.0
#define AHEAD_OF_BESIDE  5.0

struct search {
	const struct hlg_code *code;
	const struct hlg_image *image;
	struct hlg_line_fit *lines; /* NULL: boundaries tell */
	double on, off;             /* what an address adds to a score */
	uint64_t size;              /* of the image */
	uint64_t *votes;
	size_t n_votes;
};

/* One base and how many votes it has. */
struct candidate {
	uint64_t base;
	size_t votes;
};

static void set_weights(struct search *s)
{
	struct hlg_density all = hlg_code_total(s->code);
	double chance = all.bytes ? (double)all.starts / (double)all.bytes : 1;

	/* Code of one-byte instructions only says nothing, and nothing is certain. */
	chance = fmin(fmax(chance, 0.01), RIGHT - 0.01 * (1 - RIGHT));
	s->on = log(RIGHT / chance);
	s->off = log((1 - RIGHT) / (1 - chance));
}

static size_t first_from(const struct hlg_sampled *addrs, size_t n, uint64_t ip)
{
	return ip ? HLG_BSEARCH_UPTO(addrs, n, ip, ip - 1) : 0;
}

static void add_addr(const struct search *s, struct hlg_fit *fit,
		     const struct hlg_sampled *at)
{
	uint64_t addr = at->ip - fit->base + s->image->first;
	enum hlg_boundary is = hlg_code_test(s->code, addr);
	struct hlg_place place;

	fit->samples += at->samples;
	if (is == HLG_BOUNDARY_ON) {
		fit->on++;
		fit->on_samples += at->samples;
		fit->score += s->on;
		return;
	}
	if (is == HLG_BOUNDARY_OFF) {
		fit->off++;
		fit->off_samples += at->samples;
		fit->score += s->off;
		return;
	}
	fit->unknown++;
	/* A gap may hold code; nothing runs in data. */
	hlg_image_lookup(s->image, addr, &place);
	if (place.kind == HLG_DATA)
		fit->score += s->off;
}

static void score(const struct search *s, const struct hlg_sampled *addrs, size_t n,
		  uint64_t base, struct hlg_fit *fit)
{
	*fit = (struct hlg_fit){.base = base};
	for (size_t i = first_from(addrs, n, base); i < n && addrs[i].ip - base < s->size;
	     i++)
		add_addr(s, fit, &addrs[i]);
}

void hlg_base_find_fit(const struct hlg_code *code, const struct hlg_image *image,
		       const struct hlg_sampled *addrs, size_t n, uint64_t base,
		       struct hlg_fit *fit)
{
	struct search s = {
		.code = code, .image = image, .size = image->end - image->first};

	set_weights(&s);
	score(&s, addrs, n, base, fit);
}

static bool add_vote(struct search *s, uint64_t base)
{
	if (!HLG_GROW(s->votes, s->n_votes))
		return false;
	s->votes[s->n_votes++] = base;
	return true;
}

/*
 * An address votes for each base that makes it a boundary, page by page of an area of
 * code. Boundaries are known of bytes in the file only: memory behind them may be as
 * large as the address space. Pages and offsets count from the image's first address,
 * so that nothing passes the end of the address space.
 */
static bool vote_in(struct search *s, const struct hlg_area *area, uint64_t ip)
{
	uint64_t stored = hlg_image_stored(s->image, area->start);
	uint64_t size = area->end - area->start;
	uint64_t start = area->start - s->image->first;
	uint64_t last = start + (size < stored ? size : stored) - 1;
	uint64_t in_page = ip % PAGE, page = ip - in_page;

	if (stored == 0)
		return true;
	for (uint64_t k = start / PAGE; k <= last / PAGE && k <= page / PAGE; k++) {
		uint64_t off = k * PAGE + in_page;

		if (off >= start && off <= last &&
		    hlg_code_test(s->code, s->image->first + off) == HLG_BOUNDARY_ON &&
		    !add_vote(s, page - k * PAGE))
			return false;
	}
	return true;
}

static bool vote(struct search *s, uint64_t ip)
{
	const struct hlg_image *image = s->image;

	for (size_t i = 0; i < image->n_areas; i++)
		if (image->areas[i].code && !vote_in(s, &image->areas[i], ip))
			return false;
	return true;
}

/* Keeps c if it is among the CANDIDATES with most votes; of equal ones the lower base. */
static void keep(struct candidate *best, size_t *n, struct candidate c)
{
	size_t i = *n;

	if (i == CANDIDATES && best[i - 1].votes >= c.votes)
		return;
	if (i == CANDIDATES)
		i--;
	else
		++*n;
	for (; i && best[i - 1].votes < c.votes; i--)
		best[i] = best[i - 1];
	best[i] = c;
}

/* Counts the votes; returns how many bases have any, the best of them in best. */
static size_t count_votes(struct search *s, struct candidate *best, size_t *n_best)
{
	size_t n = 0;

	*n_best = 0;
	if (s->n_votes)
		qsort(s->votes, s->n_votes, sizeof(*s->votes), hlg_bsearch_compare);
	for (size_t i = 0, j; i < s->n_votes; i = j, n++) {
		for (j = i + 1; j < s->n_votes && s->votes[j] == s->votes[i]; j++)
			;
		keep(best, n_best, (struct candidate){s->votes[i], j - i});
	}
	return n;
}

/* The best fit and the best that overlaps it. */
static void choose(const struct search *s, const struct hlg_fit *fits, size_t n,
		   struct hlg_fit *best, struct hlg_fit *rival)
{
	*best = *rival = (struct hlg_fit){.score = -INFINITY};
	for (size_t i = 0; i < n; i++)
		if (fits[i].score > best->score)
			*best = fits[i];
	for (size_t i = 0; i < n; i++) {
		uint64_t apart = fits[i].base > best->base ? fits[i].base - best->base
							   : best->base - fits[i].base;

		if (apart && apart < s->size && fits[i].score > rival->score)
			*rival = fits[i];
	}
}

/* The score of lines, of those inside at a base, and of each if it is not NULL. */
static bool score_lines(const struct search *s, const struct hlg_sampled *addrs, size_t n,
			uint64_t base, int64_t beside, double *score, double *each)
{
	size_t from = first_from(addrs, n, base), to = from;

	while (to < n && addrs[to].ip - base < s->size)
		to++;
	return hlg_line_fit_score(s->lines, addrs + from, to - from,
				  s->image->first - base + (uint64_t)beside, score, each);
}

/* What is left of votes: bases that a quarter as many vote for as for the best. */
static size_t keep_all(struct search *s)
{
	size_t most = 0, n = 0;

	if (s->n_votes)
		qsort(s->votes, s->n_votes, sizeof(*s->votes), hlg_bsearch_compare);
	for (size_t i = 0, j; i < s->n_votes; i = j) {
		for (j = i; j < s->n_votes && s->votes[j] == s->votes[i]; j++)
			;
		most = j - i > most ? j - i : most;
	}
	for (size_t i = 0, j; i < s->n_votes; i = j) {
		for (j = i; j < s->n_votes && s->votes[j] == s->votes[i]; j++)
			;
		if (j - i >= most / 4)
			s->votes[n++] = s->votes[i];
	}
	return n;
}

/* Is a base ahead of a few instructions beside it? */
static bool is_ahead_of_beside(const struct search *s, const struct hlg_sampled *addrs,
			       size_t n, const struct hlg_fit *best, bool *ahead)
{
	*ahead = true;
	for (int64_t beside = -BESIDE; *ahead && beside <= BESIDE; beside += INSN_A64) {
		double score;

		if (!score_lines(s, addrs, n, best->base, beside, &score, NULL))
			return false;
		*ahead = beside == 0 || best->score - score > AHEAD_OF_BESIDE;
	}
	return true;
}

/* Adds what each is worth to the quarter of the samples that it is in. */
static void add_quarters(const struct hlg_sampled *addrs, size_t n, uint64_t samples,
			 const double *each, double quarters[static QUARTERS])
{
	uint64_t before = 0;

	memset(quarters, 0, QUARTERS * sizeof(*quarters));
	for (size_t i = 0; i < n; i++) {
		quarters[before * QUARTERS / samples] += each[i];
		before += addrs[i].samples;
	}
}

/* Is a base ahead of all that overlap it in each quarter of its samples? */
static bool is_ahead_in_quarters(const struct search *s, const struct hlg_sampled *addrs,
				 size_t n, const struct hlg_fit *best, size_t n_bases,
				 bool *ahead)
{
	size_t from = first_from(addrs, n, best->base), inside = 0;
	double mine[QUARTERS], theirs[QUARTERS], score;
	double *each = calloc(n + 1, sizeof(*each));
	bool ok = each;

	while (from + inside < n && addrs[from + inside].ip - best->base < s->size)
		inside++;
	addrs += from;
	ok = ok && hlg_line_fit_score(s->lines, addrs, inside,
				      s->image->first - best->base, &score, each);
	if (ok)
		add_quarters(addrs, inside, best->samples, each, mine);
	for (size_t i = 0; ok && *ahead && i < n_bases; i++) {
		const uint64_t base = s->votes[i];

		if (base == best->base ||
		    (base - best->base >= s->size && best->base - base >= s->size))
			continue;
		ok = hlg_line_fit_score(s->lines, addrs, inside, s->image->first - base,
					&score, each);
		for (size_t k = 0; ok && k < inside; k++)
			if (addrs[k].ip - base >= s->size)
				each[k] = 0;
		if (ok)
			add_quarters(addrs, inside, best->samples, each, theirs);
		for (int q = 0; ok && q < QUARTERS; q++)
			*ahead &= mine[q] - theirs[q] > AHEAD_IN_QUARTER;
	}
	free(each);
	return ok;
}

/* A round by lines. */
static bool search_lines(struct search *s, const struct hlg_sampled *addrs, size_t n,
			 struct hlg_fit *best, struct hlg_fit *rival, bool *clear)
{
	const size_t n_bases = keep_all(s);
	struct hlg_fit *fits = calloc(n_bases + 1, sizeof(*fits));
	bool ok = fits;

	for (size_t i = 0; ok && i < n_bases; i++) {
		score(s, addrs, n, s->votes[i], &fits[i]);
		ok = score_lines(s, addrs, n, s->votes[i], 0, &fits[i].score, NULL);
	}
	if (ok)
		choose(s, fits, n_bases, best, rival);
	*clear = ok && n_bases &&
		 best->score - fmax(rival->score, 0) >
			 AHEAD + AHEAD_AN_ADDRESS * (double)(best->on + best->off);
	free(fits);
	return ok && (!*clear || is_ahead_of_beside(s, addrs, n, best, clear)) &&
	       (!*clear || is_ahead_in_quarters(s, addrs, n, best, n_bases, clear));
}

/* A round by boundaries. */
static void search_boundaries(struct search *s, const struct hlg_sampled *addrs, size_t n,
			      struct hlg_fit *best, struct hlg_fit *rival, bool *clear)
{
	struct candidate candidates[CANDIDATES];
	struct hlg_fit fits[CANDIDATES];
	size_t n_best, n_bases = count_votes(s, candidates, &n_best);

	for (size_t i = 0; i < n_best; i++)
		score(s, addrs, n, candidates[i].base, &fits[i]);
	choose(s, fits, n_best, best, rival);
	*clear = best->score > log(ODDS_OVER_CHANCE * (double)(n_bases + 1)) &&
		 best->score - rival->score > log(ODDS_OVER_RIVAL);
}

/*
 * One round over a cluster: the base that fits best, and whether it stands out. Returns
 * false without memory.
 */
static bool search_round(struct search *s, const struct hlg_sampled *addrs, size_t n,
			 struct hlg_fit *best, struct hlg_fit *rival, bool *clear)
{
	size_t voters = n < VOTERS ? n : VOTERS;

	s->n_votes = 0;
	for (size_t i = 0; i < voters; i++)
		if (!vote(s, addrs[i * n / voters].ip))
			return false;
	if (s->lines)
		return search_lines(s, addrs, n, best, rival, clear);
	search_boundaries(s, addrs, n, best, rival, clear);
	return true;
}

static bool add_fit(struct hlg_found *found, const struct hlg_fit *fit)
{
	if (!HLG_GROW(found->fits, found->n))
		return false;
	found->fits[found->n++] = *fit;
	return true;
}

/* Does a base overlap one that was taken before? */
static bool is_free(const struct search *s, const struct hlg_found *found, uint64_t base)
{
	for (size_t i = 0; i < found->n; i++)
		if (base - found->fits[i].base < s->size ||
		    found->fits[i].base - base < s->size)
			return false;
	return true;
}

/* Removes the addresses inside the image at base. */
static size_t peel(const struct search *s, struct hlg_sampled *addrs, size_t n,
		   uint64_t base)
{
	size_t from = first_from(addrs, n, base), to = from;

	while (to < n && addrs[to].ip - base < s->size)
		to++;
	memmove(addrs + from, addrs + to, (n - to) * sizeof(*addrs));
	return n - (to - from);
}

/* All bases of a cluster; addrs is used up. */
static bool search_cluster(struct search *s, struct hlg_sampled *addrs, size_t n,
			   struct hlg_found *found, struct hlg_fit *rival)
{
	while (n >= LEAST) {
		struct hlg_fit best;
		bool clear;

		if (!search_round(s, addrs, n, &best, rival, &clear))
			return false;
		if (!clear || !is_free(s, found, best.base)) {
			if (best.on && best.score > found->best.score)
				found->best = best;
			return true;
		}
		if (found->n == 0 || best.samples > found->fits[0].samples)
			found->rival = rival->on ? *rival : (struct hlg_fit){0};
		if (!add_fit(found, &best))
			return false;
		/* The largest stays in front: its rival is the one that is told. */
		if (best.samples > found->fits[0].samples) {
			found->fits[found->n - 1] = found->fits[0];
			found->fits[0] = best;
		}
		n = peel(s, addrs, n, best.base);
	}
	return true;
}

static int compare_fits(const void *a, const void *b)
{
	const struct hlg_fit *x = a, *y = b;

	if (x->samples != y->samples)
		return x->samples > y->samples ? -1 : 1;
	return x->base < y->base ? -1 : x->base > y->base;
}

bool hlg_base_find_all(struct hlg_code *code, const struct hlg_image *image,
		       const struct hlg_sampled *addrs, size_t n, struct hlg_found *found)
{
	struct search s = {
		.code = code, .image = image, .size = image->end - image->first};
	struct hlg_sampled *left = malloc((n + 1) * sizeof(*left));
	struct hlg_fit rival;
	bool ok = left != NULL;

	*found = (struct hlg_found){.best = {.score = -INFINITY}};
	hlg_code_decode_all(code);
	set_weights(&s);
	if (ok && n >= LEAST && hlg_line_fit_applies(image)) {
		s.lines = hlg_line_fit_open(code, image);
		ok = s.lines;
	}
	if (ok && n)
		memcpy(left, addrs, n * sizeof(*left));
	for (size_t i = 0, j; ok && i < n; i = j) {
		for (j = i + 1; j < n && addrs[j].ip - addrs[j - 1].ip < s.size; j++)
			;
		ok = search_cluster(&s, left + i, j - i, found, &rival);
	}
	if (found->n)
		qsort(found->fits, found->n, sizeof(*found->fits), compare_fits);
	hlg_line_fit_close(s.lines);
	free(s.votes);
	free(left);
	return ok;
}

void hlg_base_find_finish(struct hlg_found *found)
{
	free(found->fits);
	*found = (struct hlg_found){0};
}
