// SPDX-License-Identifier: GPL-2.0-only
#include "symtab/code/tail-fit.h"

#include <math.h>
#include <stdlib.h>

#include "symtab/bsearch.h"

#ifndef HLG_TAIL_REACH
#define HLG_TAIL_REACH 8192
#endif

enum {
	TRIED = 2048,
	/* By lines: in steps of an instruction up to NEAR, then as functions are aligned.
	 */
	INSN_A64 = 4,
	NEAR = 512,
	ALIGNED = 16,
	QUARTERS = 4
};

/* As a base's: over chance for each that was tried, and over each other distance. */
#define ODDS_OVER_CHANCE 10000.0
#define ODDS_OVER_RIVAL  1000.0
#define RIGHT            0.95 /* on boundaries, where it is right */

/* By lines (line-fit.h), in nats: over chance, and over each other distance. In 60 draws
 * that had not moved the best distance had up to 49 and 15 nats, but never both. */
#define LINES_OVER_CHANCE 60.0
#define LINES_OVER_RIVAL  10.0
/* And for each address that would have moved, as of a base (base-find.c): samples that
 * are no execution's, as one of each fifth instruction, fit some distance a little
 * better. */
#define LINES_AN_ADDRESS 0.03

struct tail_search {
	const struct hlg_code *code;
	struct hlg_line_fit *lines; /* NULL: boundaries tell */
	double *each;               /* by lines, what each is worth where it is tried; */
	struct hlg_line_fit_samples samples;
	double *ahead; /* and how far those from any before each on may be ahead */
	const struct hlg_sampled *addrs;
	size_t n, step;      /* every step-th is tried */
	double on, off;      /* what an address adds to a score */
	double *unmoved;     /* score of those from each on, as they lie; at least 0: by
				chance */
	uint64_t start, end; /* of all functions and labels; no other address scores */
};

/* Where the score of a distance is best. */
struct best {
	int64_t shift;
	size_t from; /* of those that are tried */
	double score;
};

static double value(const struct tail_search *s, uint64_t addr)
{
	enum hlg_boundary is = hlg_code_test(s->code, addr);

	return is == HLG_BOUNDARY_ON ? s->on : is == HLG_BOUNDARY_OFF ? s->off : 0;
}

/* How many of those that are tried lie before addr? */
static size_t count_before(const struct tail_search *s, uint64_t addr)
{
	return hlg_bsearch_below(s->addrs, s->n, s->step * sizeof(*s->addrs),
				 offsetof(struct hlg_sampled, ip), addr);
}

/* What is at addr if it has moved by -shift. */
static uint64_t before_shift(uint64_t addr, int64_t shift)
{
	if (shift >= 0)
		return addr > (uint64_t)shift ? addr - (uint64_t)shift : 0;
	return addr <= UINT64_MAX - (uint64_t)-shift ? addr + (uint64_t)-shift
						     : UINT64_MAX;
}

/* From which address on is it likeliest that all have moved so far, and not that they lie
 * where they are, or anywhere? It is left as soon as it cannot score over least. */
static struct best try(const struct tail_search *s, int64_t shift, double least)
{
	size_t first = count_before(s, before_shift(s->start, shift));
	size_t i = count_before(s, before_shift(s->end, shift));
	struct best best = {.shift = shift, .score = -INFINITY};
	double score = 0;

	while (i > first && score + s->on * (double)(i - first) > least) {
		i--;
		score += value(s, s->addrs[i * s->step].ip + (uint64_t)shift);
		if (score - s->unmoved[i] > best.score) {
			best.score = score - s->unmoved[i];
			best.from = i;
		}
	}
	return best;
}

/* The same by lines. */
static struct best try_lines(const struct tail_search *s, int64_t shift, double least)
{
	struct best best = {.shift = shift, .score = -INFINITY};
	size_t i = s->n;
	double score = 0;

	while (i > 0 && (s->samples.odd || score + s->ahead[i] > least)) {
		const size_t first =
			hlg_line_fit_each(s->lines, &s->samples, i - 1, shift, s->each);

		while (i > first) {
			score += s->each[--i];
			if (score - s->unmoved[i] > best.score) {
				best.score = score - s->unmoved[i];
				best.from = i;
			}
		}
	}
	return best;
}

/* What samples from a place on are worth in each quarter, if they have moved so far.
 * False without memory. */
static bool score_quarters(const struct tail_search *s, size_t from, int64_t shift,
			   double quarters[static QUARTERS])
{
	uint64_t all = 0, before = 0;
	double score;

	for (int q = 0; q < QUARTERS; q++)
		quarters[q] = 0;
	if (!hlg_line_fit_score(s->lines, s->addrs, s->n, (uint64_t)shift, &score,
				s->each))
		return false;
	for (size_t i = from; i < s->n; i++)
		all += s->addrs[i].samples;
	for (size_t i = from; i < s->n; i++) {
		quarters[before * QUARTERS / all] += s->each[i];
		before += s->addrs[i].samples;
	}
	return true;
}

/* Is a tail ahead where it would have moved from without the quarter of it that is ahead
 * most, too? One hot line fits some longer one by chance. False without memory. */
static bool is_ahead_without_best(const struct tail_search *s, const struct best *best,
				  bool *ahead)
{
	double here[QUARTERS], moved[QUARTERS], sum = 0, most = -INFINITY;

	if (!score_quarters(s, best->from, 0, here) ||
	    !score_quarters(s, best->from, best->shift, moved))
		return false;
	for (int q = 0; q < QUARTERS; q++) {
		const double lead = moved[q] - fmax(here[q], 0);

		sum += lead;
		most = fmax(most, lead);
	}
	*ahead = sum - most > LINES_OVER_RIVAL;
	return true;
}

static bool score_unmoved(struct tail_search *s)
{
	double score = 0;

	s->unmoved = calloc(s->n, sizeof(*s->unmoved));
	if (!s->unmoved)
		return false;
	if (s->lines && !hlg_line_fit_score(s->lines, s->addrs, s->n, 0, &score, s->each))
		return false;
	score = 0;
	for (size_t i = s->n; i-- > 0;) {
		score += s->lines ? s->each[i] : value(s, s->addrs[i * s->step].ip);
		s->unmoved[i] = fmax(score, 0);
	}
	return true;
}

/* Of those before each the best start of a tail, if all up to there fit. False without
 * memory. */
static bool find_ahead(struct tail_search *s)
{
	double most = -INFINITY;

	s->ahead = calloc(s->n + 1, sizeof(*s->ahead));
	if (!s->ahead)
		return false;
	for (size_t i = 0; i <= s->n; i++) {
		s->ahead[i] = most + HLG_LINE_FIT_MOST * (double)i;
		if (i < s->n)
			most = fmax(most, -s->unmoved[i] - HLG_LINE_FIT_MOST * (double)i);
	}
	return true;
}

static void set_extent(struct tail_search *s, const struct hlg_spans *spans)
{
	s->start = UINT64_MAX;
	for (size_t i = 0; i + 1 < spans->n; i++) {
		const struct hlg_span *span = &spans->span[i];

		if (span->kind != HLG_FUNCTION && span->kind != HLG_LABEL)
			continue;
		if (s->start == UINT64_MAX)
			s->start = span->start;
		s->end = span[1].start;
	}
}

static void set_values(struct tail_search *s)
{
	struct hlg_density all = hlg_code_total(s->code);
	double chance = all.bytes ? (double)all.starts / (double)all.bytes : 1;

	chance = fmin(fmax(chance, 0.01), RIGHT - 0.01);
	s->on = log(RIGHT / chance);
	s->off = log((1 - RIGHT) / (1 - chance));
}

static void fill(const struct tail_search *s, const struct best *best, size_t n,
		 struct hlg_tail *tail)
{
	size_t from = best->from * s->step;

	*tail = (struct hlg_tail){.from = s->addrs[from].ip, .shift = best->shift};
	/* Those that were not tried, up to the first that does not fit so. */
	while (!s->lines && from > 0 && value(s, s->addrs[from - 1].ip) <= 0 &&
	       value(s, s->addrs[from - 1].ip + (uint64_t)best->shift) > 0)
		tail->from = s->addrs[--from].ip;
	tail->last = from ? s->addrs[from - 1].ip : tail->from;
	for (; from < n; from++)
		tail->samples += s->addrs[from].samples;
}

static void keep(struct best *best, struct best *rival, const struct best *now)
{
	if (now->shift && now->score > best->score) {
		*rival = *best;
		*best = *now;
	} else if (now->shift && now->score > rival->score) {
		*rival = *now;
	}
}

/* The best distance by boundaries; true if it counts. */
static bool search(const struct tail_search *s, struct best *best)
{
	const double needed = log(ODDS_OVER_CHANCE * 2.0 * HLG_TAIL_REACH * (double)s->n);
	struct best rival = *best;

	for (int64_t shift = -HLG_TAIL_REACH; shift <= HLG_TAIL_REACH; shift++) {
		/* What scores less is neither the best nor a rival that counts. */
		double least = fmax(needed, best->score) - log(ODDS_OVER_RIVAL);
		struct best now = try(s, shift, least);

		keep(best, &rival, &now);
	}
	return best->score > needed && best->score - rival.score > log(ODDS_OVER_RIVAL);
}

/* The same by lines. False without memory. */
static bool search_lines(struct tail_search *s, struct best *best, bool *counts)
{
	struct best rival = *best;
	/* A part of a line may be a little more than its addresses are at most. */
	double more = 2 * LINES_OVER_RIVAL + LINES_AN_ADDRESS * (double)s->n;

	if (!find_ahead(s) ||
	    !hlg_line_fit_samples_begin(&s->samples, s->lines, s->addrs, s->n, 0))
		return false;
	for (int64_t shift = -HLG_TAIL_REACH; shift <= HLG_TAIL_REACH;
	     shift += shift < -NEAR || shift >= NEAR ? ALIGNED : INSN_A64) {
		double least = fmax(LINES_OVER_CHANCE, best->score) - more;
		struct best now = try_lines(s, shift, least);

		keep(best, &rival, &now);
	}
	more = LINES_AN_ADDRESS * (double)(s->n - best->from);
	*counts = best->score > LINES_OVER_CHANCE + more &&
		  best->score - rival.score > LINES_OVER_RIVAL + more;
	return !*counts || is_ahead_without_best(s, best, counts);
}

bool hlg_tail_fit(struct hlg_tail *tail, struct hlg_code *code,
		  const struct hlg_image *image, const struct hlg_sampled *addrs,
		  size_t n)
{
	struct tail_search s = {.code = code, .addrs = addrs};
	struct best best = {.score = -INFINITY};
	bool ok = true, counts = false;

	*tail = (struct hlg_tail){0};
	if (n == 0)
		return true;
	s.step = (n + TRIED - 1) / TRIED;
	if (hlg_line_fit_applies(image)) {
		s.step = 1;
		s.lines = hlg_line_fit_of(code, image);
		s.each = calloc(n, sizeof(*s.each));
		ok = s.lines && s.each;
	} else {
		hlg_code_decode_all(code);
		set_values(&s);
		set_extent(&s, &image->spans);
	}
	s.n = n / s.step;
	ok = ok && score_unmoved(&s);
	if (ok && s.lines)
		ok = search_lines(&s, &best, &counts);
	else if (ok)
		counts = search(&s, &best);
	if (ok && counts)
		fill(&s, &best, n, tail);
	hlg_line_fit_samples_finish(&s.samples);
	free(s.each);
	free(s.ahead);
	free(s.unmoved);
	return ok;
}
