// SPDX-License-Identifier: GPL-2.0-only
#include "filter/stats/lockstep.h"

#include <math.h>
#include <stdlib.h>

#include "filter/stats/interval.h"

#define LEVEL 1e-9 /* of each of HLG_LOCKSTEP_MOST tests */
#define ALIKE 0.05 /* Cramer's V, squared: less harms no share */
#define AHEAD 4.0  /* of what is usual: runs of samples of one row make that waver */

enum {
	PER_POINT = 4, /* times k samples at each of k points, at least: what so many
			* points do to a share is more than chance does, and clocks that
			* only nearly are in step have time to part */
	EXPECTED = 5,  /* of a row at each; rows of fewer are one */
	NEAR = 3,      /* numbers of points that are compared, to each side, */
	LEAST_NEAR = 3 /* and how many there must be */
};

struct steps {
	const uint32_t *row;
	uint64_t *tick;  /* of each sample, since the first */
	uint32_t *found; /* of each row at each point */
	uint32_t *sum;   /* of each row, and of what is in none */
	size_t n, n_rows;
	uint32_t at[HLG_LOCKSTEP_MOST]; /* samples at each point */
};

/* How rows differ between k points. */
struct test {
	unsigned k;
	double chi;
	unsigned df; /* 0: there is too little to tell */
};

/* From one sample to the next the clock is right; from first to last perf's may not be as
 * fast as it. */
static void number(struct steps *s, const uint64_t *time, uint64_t period)
{
	for (size_t i = 1; i < s->n; i++)
		s->tick[i] =
			s->tick[i - 1] + (time[i] - time[i - 1] + period / 2) / period;
}

static void count(struct steps *s, unsigned k)
{
	for (unsigned p = 0; p < k; p++)
		s->at[p] = 0;
	for (size_t i = 0; i < (s->n_rows + 1) * k; i++)
		s->found[i] = 0;
	for (size_t i = 0; i < s->n; i++) {
		const unsigned p = (unsigned)(s->tick[i] % k);

		s->found[s->row[i] * k + p]++;
		s->at[p]++;
	}
}

/* From each k points to half as many: those that are as far apart are one. */
static void fold(struct steps *s, unsigned k)
{
	const unsigned half = k / 2;

	for (unsigned p = 0; p < half; p++)
		s->at[p] += s->at[p + half];
	for (size_t i = 0; i <= s->n_rows; i++)
		for (unsigned p = 0; p < half; p++)
			s->found[i * half + p] =
				s->found[i * k + p] + s->found[i * k + p + half];
}

static double chi_of(const struct steps *s, const uint32_t *found, double sum, unsigned k)
{
	double chi = 0;

	for (unsigned p = 0; p < k; p++) {
		const double expected = sum * s->at[p] / (double)s->n;

		if (expected > 0)
			chi += (found[p] - expected) * (found[p] - expected) / expected;
	}
	return chi;
}

/* Of k points, which are counted. */
static struct test test(const struct steps *s, unsigned k)
{
	struct test t = {.k = k};
	uint32_t rest[HLG_LOCKSTEP_MOST] = {0}, rest_sum = 0;
	unsigned rows = 0;

	for (size_t i = 0; i <= s->n_rows; i++) {
		const uint32_t *found = &s->found[i * k];

		if (i < s->n_rows && s->sum[i] >= EXPECTED * k) {
			t.chi += chi_of(s, found, s->sum[i], k);
			rows++;
			continue;
		}
		for (unsigned p = 0; p < k; p++)
			rest[p] += found[p];
		rest_sum += s->sum[i];
	}
	if (rest_sum >= EXPECTED * k) {
		t.chi += chi_of(s, rest, rest_sum, k);
		rows++;
	}
	t.df = rows > 1 ? (rows - 1) * (k - 1) : 0;
	return t;
}

/* The tests of 2 to most points. Samples are counted for the larger half of these
 * numbers; the others are halves of them. */
static void test_all(struct steps *s, struct test *tests, unsigned most)
{
	for (unsigned k = most / 2 + 1; k <= most; k++) {
		count(s, k);
		tests[k - 2] = test(s, k);
		for (unsigned half = k; half % 2 == 0 && half > 2; half /= 2) {
			fold(s, half);
			tests[half / 2 - 2] = test(s, half / 2);
		}
	}
}

static double ratio(const struct test *t)
{
	return t->chi / t->df;
}

static int compare(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

/* What chi-square is of numbers of points near that of the i-th test, for each degree of
 * freedom; 1 at least. */
static double usual(const struct test *tests, size_t n, size_t i)
{
	double near[2 * NEAR];
	size_t n_near = 0;

	for (size_t k = i > NEAR ? i - NEAR : 0; k < n && k <= i + NEAR; k++)
		if (k != i && tests[k].df)
			near[n_near++] = ratio(&tests[k]);
	if (n_near < LEAST_NEAR)
		return INFINITY;
	qsort(near, n_near, sizeof(*near), compare);
	return near[n_near / 2] > 1 ? near[n_near / 2] : 1;
}

/* Which of them stands out most, if any does. */
static unsigned choose(const struct test *tests, size_t n, size_t samples)
{
	unsigned every = 0;
	double most = 0;

	for (size_t i = 0; i < n; i++) {
		const struct test *t = &tests[i];
		const double alike = t->chi * (t->k - 1) / (double)samples;
		const double near = usual(tests, n, i);

		if (!t->df || alike < ALIKE * t->df || ratio(t) < AHEAD * near ||
		    ratio(t) < most ||
		    hlg_interval_chi_square(t->chi / near, t->df) >= LEVEL)
			continue;
		most = ratio(t);
		every = t->k;
	}
	return every;
}

/* Is each of k points the same at the end of the recording as at its beginning? What is
 * only nearly in step has moved on. */
static bool stays(struct steps *s, unsigned k)
{
	const size_t n = s->n;
	double alike[HLG_LOCKSTEP_MOST] = {0};
	struct steps end = *s;

	end.found = s->found + (s->n_rows + 1) * k;
	end.row += n - n / 3;
	end.tick += n - n / 3;
	s->n = end.n = n / 3;
	count(s, k);
	count(&end, k);
	s->n = n;
	for (size_t i = 0; i < (s->n_rows + 1) * k; i++) {
		const unsigned point = i % k;
		const uint32_t *row = &end.found[i - point];

		for (unsigned on = 0; on < k; on++)
			alike[on] += (double)s->found[i] * row[(point + on) % k];
	}
	for (unsigned on = 1; on < k; on++)
		if (alike[on] >= alike[0])
			return false;
	return true;
}

bool hlg_lockstep_find(unsigned *every, const uint64_t *time, const uint32_t *row,
		       size_t n, size_t n_rows, uint64_t period)
{
	struct steps s = {.row = row, .n = n, .n_rows = n_rows};
	struct test tests[HLG_LOCKSTEP_MOST];
	size_t n_tests = 0;
	bool ok;

	*every = 0;
	if (period == 0 || n < PER_POINT * (LEAST_NEAR + 2) * (LEAST_NEAR + 2))
		return true;
	s.tick = calloc(n, sizeof(*s.tick));
	s.found = calloc(2 * (n_rows + 1) * HLG_LOCKSTEP_MOST, sizeof(*s.found));
	s.sum = calloc(n_rows + 1, sizeof(*s.sum));
	ok = s.tick && s.found && s.sum;
	if (ok)
		number(&s, time, period);
	for (size_t i = 0; ok && i < n; i++)
		s.sum[row[i]]++;
	while (ok && n_tests + 2 <= HLG_LOCKSTEP_MOST &&
	       PER_POINT * (n_tests + 2) * (n_tests + 2) <= n)
		n_tests++;
	if (ok) {
		test_all(&s, tests, (unsigned)n_tests + 1);
		*every = choose(tests, n_tests, n);
	}
	if (*every && !stays(&s, *every))
		*every = 0;
	free(s.tick);
	free(s.found);
	free(s.sum);
	return ok;
}
