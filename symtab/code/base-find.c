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
	VOTERS_OF_LINES = 64, /* nearly every page has code at any address */
	CANDIDATES = 48,
	LEAST = 8, /* fewer addresses cannot pass, whatever they say */
	QUARTERS = 4,
	BLOCKS = 256,
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
/* Where one hot loop has most samples, a quarter may have too few to tell: of a base that
 * is ahead so many times as far as it must be, each quarter may be behind by so much of
 * how far it is ahead. In 279 draws of other programs' samples, 500 and 5,000, the best
 * was ahead by up to 3.4 times, and if by more than 2, then behind in a quarter by a
 * third or more of that.
 */
#define FAR_AHEAD         3.0
#define BEHIND_IN_QUARTER 0.05

struct search {
	struct hlg_code *code;
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

/* Can an instruction begin at an own address? */
static bool may_begin(const struct search *s, uint64_t addr)
{
	return s->lines ? hlg_line_fit_runs(s->lines, addr)
			: hlg_code_test(s->code, addr) == HLG_BOUNDARY_ON;
}

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
	return HLG_BSEARCH_BELOW(addrs, n, ip, ip);
}

/* Of AArch64 not all is decoded: what does not need it is most. */
static enum hlg_boundary boundary_at(const struct search *s, uint64_t addr)
{
	struct hlg_place place;

	if (!s->lines)
		return hlg_code_test(s->code, addr);
	hlg_image_lookup(s->image, addr, &place);
	return place.symbol ? hlg_code_at(s->code, &place) : hlg_code_test(s->code, addr);
}

static void add_addr(const struct search *s, struct hlg_fit *fit,
		     const struct hlg_sampled *at)
{
	uint64_t addr = at->ip - fit->base + s->image->first;
	enum hlg_boundary is = boundary_at(s, addr);
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
	if (place.kind == HLG_DATA) {
		fit->data++;
		fit->score += s->off;
	}
}

static void score(const struct search *s, const struct hlg_sampled *addrs, size_t n,
		  uint64_t base, struct hlg_fit *fit)
{
	*fit = (struct hlg_fit){.base = base};
	for (size_t i = first_from(addrs, n, base); i < n && addrs[i].ip - base < s->size;
	     i++)
		add_addr(s, fit, &addrs[i]);
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

		if (off >= start && off <= last && may_begin(s, s->image->first + off) &&
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

/* How many addresses from the first on lie inside at a base. */
static size_t count_inside(const struct search *s, const struct hlg_sampled *addrs,
			   size_t n, uint64_t base, size_t *first)
{
	size_t to = *first = first_from(addrs, n, base);

	while (to < n && addrs[to].ip - base < s->size)
		to++;
	return to - *first;
}

/* The score of lines, of those inside at a base. */
static bool score_lines(const struct search *s, const struct hlg_sampled *addrs, size_t n,
			uint64_t base, int64_t beside, double *score)
{
	size_t first, inside = count_inside(s, addrs, n, base, &first);

	return hlg_line_fit_score(s->lines, addrs + first, inside,
				  s->image->first - base + (uint64_t)beside, score, NULL);
}

/*
 * Addresses in blocks, of a 256th of the samples or what one address has, and how much of
 * each base's score is in each block: to compare bases by parts of the samples that are
 * not known before the best is.
 */
struct blocks {
	unsigned char *of; /* of each address */
	double *each;      /* room for the score of each */
	float *score;      /* BLOCKS of each base */
};

static bool begin_blocks(struct blocks *b, const struct hlg_sampled *addrs, size_t n,
			 size_t n_bases)
{
	uint64_t all = 0, before = 0;

	b->of = calloc(n + 1, sizeof(*b->of));
	b->each = calloc(n + 1, sizeof(*b->each));
	b->score = calloc(n_bases * BLOCKS + 1, sizeof(*b->score));
	if (!b->of || !b->each || !b->score)
		return false;
	for (size_t i = 0; i < n; i++)
		all += addrs[i].samples;
	for (size_t i = 0; i < n; i++) {
		b->of[i] = (unsigned char)((double)before / (double)all * BLOCKS);
		before += addrs[i].samples;
	}
	return true;
}

static void finish_blocks(struct blocks *b)
{
	free(b->of);
	free(b->each);
	free(b->score);
}

/* The score of lines of the i-th base, which goes into its blocks, too. */
static bool score_blocks(const struct search *s, const struct hlg_sampled *addrs,
			 size_t n, size_t i, struct blocks *b, double *score)
{
	size_t first, inside = count_inside(s, addrs, n, s->votes[i], &first);

	if (!hlg_line_fit_score(s->lines, addrs + first, inside,
				s->image->first - s->votes[i], score, b->each))
		return false;
	for (size_t k = 0; k < inside; k++)
		b->score[i * BLOCKS + b->of[first + k]] += (float)b->each[k];
	return true;
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

		if (!score_lines(s, addrs, n, best->base, beside, &score))
			return false;
		*ahead = beside == 0 || best->score - score > AHEAD_OF_BESIDE;
	}
	return true;
}

/* Is a base ahead of all that overlap it, by more than `least`, in each quarter of its
 * samples, by blocks? */
static bool is_ahead_in_quarters(const struct search *s, const struct hlg_sampled *addrs,
				 size_t n, const struct hlg_fit *fits, size_t n_bases,
				 size_t best, const struct blocks *b, double least)
{
	size_t first, inside = count_inside(s, addrs, n, fits[best].base, &first);
	const size_t from = b->of[first], blocks = b->of[first + inside - 1] + 1 - from;

	for (size_t i = 0; i < n_bases; i++) {
		double ahead[QUARTERS] = {0};

		if (i == best || (fits[i].base - fits[best].base >= s->size &&
				  fits[best].base - fits[i].base >= s->size))
			continue;
		for (size_t k = 0; k < blocks; k++)
			ahead[k * QUARTERS / blocks] +=
				b->score[best * BLOCKS + from + k] -
				b->score[i * BLOCKS + from + k];
		for (int q = 0; q < QUARTERS; q++)
			if (ahead[q] <= least)
				return false;
	}
	return true;
}

static size_t place_of(const struct hlg_fit *fits, size_t n, uint64_t base)
{
	size_t i = 0;

	while (i < n && fits[i].base != base)
		i++;
	return i;
}

/* Fills what boundaries say of a fit by lines. */
static void count_boundaries(const struct search *s, const struct hlg_sampled *addrs,
			     size_t n, struct hlg_fit *fit)
{
	const double by_lines = fit->score;

	if (isinf(by_lines))
		return;
	score(s, addrs, n, fit->base, fit);
	fit->score = by_lines;
}

/* Does the best of the bases stand out, by their scores in all and in quarters? */
static bool is_ahead(const struct search *s, const struct hlg_sampled *addrs, size_t n,
		     const struct hlg_fit *fits, size_t n_bases,
		     const struct hlg_fit *best, const struct hlg_fit *rival,
		     const struct blocks *b)
{
	const double ahead = best->score - fmax(rival->score, 0);
	const double needed = AHEAD + AHEAD_AN_ADDRESS * (double)(best->on + best->off);
	const double least = ahead > FAR_AHEAD * needed ? -BEHIND_IN_QUARTER * ahead
							: AHEAD_IN_QUARTER;

	return n_bases && ahead > needed &&
	       is_ahead_in_quarters(s, addrs, n, fits, n_bases,
				    place_of(fits, n_bases, best->base), b, least);
}

/* A round by lines. */
static bool search_lines(struct search *s, const struct hlg_sampled *addrs, size_t n,
			 struct hlg_fit *best, struct hlg_fit *rival, bool *clear)
{
	const size_t n_bases = keep_all(s);
	struct hlg_fit *fits = calloc(n_bases + 1, sizeof(*fits));
	struct blocks blocks;
	bool ok = begin_blocks(&blocks, addrs, n, n_bases) && fits;

	for (size_t i = 0; ok && i < n_bases; i++) {
		fits[i].base = s->votes[i];
		ok = score_blocks(s, addrs, n, i, &blocks, &fits[i].score);
	}
	if (ok) {
		choose(s, fits, n_bases, best, rival);
		count_boundaries(s, addrs, n, best);
		count_boundaries(s, addrs, n, rival);
	}
	*clear = ok && is_ahead(s, addrs, n, fits, n_bases, best, rival, &blocks);
	finish_blocks(&blocks);
	free(fits);
	return ok && (!*clear || is_ahead_of_beside(s, addrs, n, best, clear));
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
	const size_t most = s->lines ? VOTERS_OF_LINES : VOTERS;
	const size_t voters = n < most ? n : most;

	s->n_votes = 0;
	for (size_t i = 0; i < voters; i++)
		if (!vote(s, addrs[i * n / voters].ip))
			return false;
	if (s->lines)
		return search_lines(s, addrs, n, best, rival, clear);
	search_boundaries(s, addrs, n, best, rival, clear);
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

static int compare_fits(const void *a, const void *b)
{
	const struct hlg_fit *x = a, *y = b;

	if (x->samples != y->samples)
		return x->samples > y->samples ? -1 : 1;
	return x->base < y->base ? -1 : x->base > y->base;
}

/* One more base. What will be the first stays in front: its rival is the one that is
 * told. */
static bool take_fit(struct hlg_found *found, const struct hlg_fit *fit,
		     const struct hlg_fit *rival)
{
	if (!HLG_GROW(found->fits, found->n))
		return false;
	found->fits[found->n++] = *fit;
	if (compare_fits(fit, found->fits) <= 0) {
		found->fits[found->n - 1] = found->fits[0];
		found->fits[0] = *fit;
		found->rival = rival->on ? *rival : (struct hlg_fit){0};
	}
	return true;
}

/* All bases of a cluster that do not overlap; addrs is used up. */
static bool search_cluster(struct search *s, struct hlg_sampled *addrs, size_t n,
			   struct hlg_found *found, struct hlg_fit *rival)
{
	while (n >= LEAST) {
		struct hlg_fit best;
		bool clear;

		if (!search_round(s, addrs, n, &best, rival, &clear))
			return false;
		if (clear && is_free(s, found, best.base)) {
			if (!take_fit(found, &best, rival))
				return false;
		} else if (best.on && best.score > found->best.score) {
			found->best = best;
		}
		if (!clear)
			break;
		n = peel(s, addrs, n, best.base);
	}
	return true;
}

void hlg_base_find_sort(struct hlg_found *found)
{
	if (found->n)
		qsort(found->fits, found->n, sizeof(*found->fits), compare_fits);
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
	if (ok && n >= LEAST && hlg_line_fit_applies(image)) {
		s.lines = hlg_line_fit_of(code, image);
		ok = s.lines;
		hlg_code_find_padding(code);
	} else {
		hlg_code_decode_all(code);
		set_weights(&s);
	}
	if (ok && n)
		memcpy(left, addrs, n * sizeof(*left));
	for (size_t i = 0, j; ok && i < n; i = j) {
		for (j = i + 1; j < n && addrs[j].ip - addrs[j - 1].ip < s.size; j++)
			;
		ok = search_cluster(&s, left + i, j - i, found, &rival);
	}
	hlg_base_find_sort(found);
	free(s.votes);
	free(left);
	return ok;
}

void hlg_base_find_finish(struct hlg_found *found)
{
	free(found->fits);
	*found = (struct hlg_found){0};
}

void hlg_base_find_fit(struct hlg_code *code, const struct hlg_image *image,
		       const struct hlg_sampled *addrs, size_t n, uint64_t base,
		       struct hlg_fit *fit)
{
	const struct search s = {
		.code = code, .image = image, .size = image->end - image->first};

	score(&s, addrs, n, base, fit);
}
