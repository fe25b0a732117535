// SPDX-License-Identifier: GPL-2.0-only
#include "filter/trust/threads.h"

#include <stdlib.h>

#define FITS 0.99

static int compare_tids(const void *a, const void *b)
{
	const struct hlg_thread_test *x = a, *y = b;

	return x->tid < y->tid ? -1 : x->tid > y->tid;
}

static int compare_threads(const void *a, const void *b)
{
	const struct hlg_thread_test *x = a, *y = b;

	if (x->samples.off != y->samples.off)
		return x->samples.off > y->samples.off ? -1 : 1;
	return compare_tids(a, b);
}

/* What each hit of a row says of its thread. */
static size_t add_row(struct hlg_thread_test *list, size_t n, struct hlg_code *code,
		      const struct hlg_view *view, const struct hlg_row *row)
{
	struct hlg_place place = row->place;

	for (size_t i = 0; i < row->n_hits; i++) {
		const struct hlg_hit *hit = &view->hits[row->first_hit + i];
		enum hlg_boundary is;

		place.addr = hit->addr;
		is = hlg_verdict_at(code, &place);
		if (hit->tid < 0 || is == HLG_BOUNDARY_UNKNOWN)
			continue;
		list[n] = (struct hlg_thread_test){.tid = hit->tid};
		*(is == HLG_BOUNDARY_ON ? &list[n].samples.on : &list[n].samples.off) =
			hit->count.samples;
		n++;
	}
	return n;
}

/* Adds up what is of one thread, and keeps those that are off boundaries. */
static size_t merge(struct hlg_thread_test *list, size_t n)
{
	size_t kept = 0;

	for (size_t i = 0, j; i < n; i = j) {
		struct hlg_thread_test sum = list[i];

		for (j = i + 1; j < n && list[j].tid == sum.tid; j++) {
			sum.samples.on += list[j].samples.on;
			sum.samples.off += list[j].samples.off;
		}
		if ((double)sum.samples.on <
		    FITS * (double)(sum.samples.on + sum.samples.off))
			list[kept++] = sum;
	}
	return kept;
}

bool hlg_threads_find(struct hlg_thread_test **threads, size_t *n_threads,
		      struct hlg_image_test *tests, size_t n_tests,
		      const struct hlg_view *view)
{
	struct hlg_thread_test *list = malloc((view->n_hits + 1) * sizeof(*list));
	size_t n = 0;

	if (!list)
		return false;
	for (size_t r = 0; r < view->n_rows; r++) {
		const struct hlg_row *row = &view->rows[r];
		const struct hlg_image_test *test =
			hlg_image_test_of(tests, n_tests, row->place.image);

		if (test)
			n = add_row(list, n, test->code, view, row);
	}
	qsort(list, n, sizeof(*list), compare_tids);
	n = merge(list, n);
	qsort(list, n, sizeof(*list), compare_threads);
	*threads = list;
	*n_threads = n;
	return true;
}
