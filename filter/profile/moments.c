// SPDX-License-Identifier: GPL-2.0-only
#include "filter/profile/moments.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "symtab/grow.h"

/* Keeps one of twice as many samples. */
static void halve(struct hlg_moments *m)
{
	size_t n = 0;

	m->halved++;
	for (size_t i = 0; i < m->n; i++)
		if (hlg_moments_hash(m->at[i].time) < hlg_moments_below(m))
			m->at[n++] = m->at[i];
	m->n = n;
}

void hlg_moments_keep(struct hlg_moments *m, uint64_t time, uint64_t ip, uint32_t series)
{
	if (m->lost || !HLG_GROW(m->at, m->n)) {
		m->lost = true;
		return;
	}
	m->at[m->n++] = (struct hlg_moment){time, ip, series};
	while (m->n > HLG_MOMENTS_MOST)
		halve(m);
}

void hlg_moments_merge(struct hlg_moments *to, const struct hlg_moments *from,
		       const uint32_t *series, const uint64_t *moves)
{
	to->lost |= from->lost;
	while (to->halved < from->halved)
		halve(to);
	for (size_t i = 0; i < from->n && !to->lost; i++) {
		const struct hlg_moment *m = &from->at[i];

		/* Its series was not there for want of memory. */
		if (series[m->series] == UINT32_MAX)
			to->lost = true;
		else
			hlg_moments_add(to, m->time,
					m->ip + (moves ? moves[m->series] : 0),
					series[m->series]);
	}
}

static int compare(const void *a, const void *b)
{
	const struct hlg_moment *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return x->ip < y->ip ? -1 : x->ip > y->ip;
}

bool hlg_moments_of_all(size_t n, unsigned halved, uint64_t samples)
{
	double expected = ldexp((double)samples, -(int)halved);

	if (halved == 0)
		return n == samples;
	if (halved >= HLG_MOMENTS_HALVED)
		return false;
	return (double)n > expected - 6 * sqrt(expected);
}

struct hlg_moment *hlg_moments_sorted(const struct hlg_moments *m, uint64_t samples,
				      size_t *n)
{
	struct hlg_moment *sorted = malloc((m->n + 1) * sizeof(*sorted));

	*n = sorted && hlg_moments_of_all(m->n, m->halved, samples) ? m->n : 0;
	if (*n)
		memcpy(sorted, m->at, *n * sizeof(*sorted));
	for (size_t i = 1; i < *n; i++) /* of one CPU they are in order */
		if (compare(&sorted[i - 1], &sorted[i]) > 0) {
			qsort(sorted, *n, sizeof(*sorted), compare);
			break;
		}
	return sorted;
}

void hlg_moments_finish(struct hlg_moments *m)
{
	free(m->at);
	*m = (struct hlg_moments){0};
}
