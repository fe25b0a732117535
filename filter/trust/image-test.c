// SPDX-License-Identifier: GPL-2.0-only
#include "filter/trust/image-test.h"

#include <stdlib.h>

int hlg_image_test_open(struct hlg_image_test *test, const struct hlg_image *image,
			struct hlg_err *err)
{
	int rc;

	*test = (struct hlg_image_test){.image = image};
	rc = hlg_code_open(&test->code, image, err);
	if (rc == HLG_ESYSTEM)
		return rc;
	test->n_bases = hlg_image_n_bases(image);
	test->bases = calloc(test->n_bases + 1, sizeof(*test->bases));
	if (!test->bases)
		return hlg_err_memory(err, "report");
	for (size_t i = 0; i < test->n_bases; i++)
		test->bases[i] = (struct hlg_image_test_base){
			.base = hlg_image_base(image, i).base,
			.tid = HLG_MANY_TIDS,
		};
	return 0;
}

void hlg_image_test_finish(struct hlg_image_test *test)
{
	hlg_code_close(test->code);
	hlg_base_find_finish(&test->found);
	free(test->bases);
	*test = (struct hlg_image_test){0};
}

static void add_to_base(struct hlg_image_test *test, const struct hlg_hit *hit)
{
	uint64_t bias = hit->ip - hit->addr;
	struct hlg_image_test_base *sum;
	size_t i = 0;

	while (hlg_image_base(test->image, i).bias != bias)
		i++;
	sum = &test->bases[i];
	if (sum->count.samples == 0)
		sum->tid = hit->tid;
	else if (sum->tid != hit->tid)
		sum->tid = HLG_MANY_TIDS;
	hlg_count_add(&sum->count, hit->count);
}

static int compare_addrs(const void *a, const void *b)
{
	const struct hlg_hit *x = *(const struct hlg_hit *const *)a;
	const struct hlg_hit *y = *(const struct hlg_hit *const *)b;

	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

/*
 * The hits of a row by own address, in place of its hits' order by series and guest
 * address; to be freed. NULL without memory.
 */
static const struct hlg_hit **by_address(const struct hlg_view *view,
					 const struct hlg_row *row)
{
	const struct hlg_hit **hits = malloc((row->n_hits + 1) * sizeof(*hits));
	bool sorted = true;

	if (!hits)
		return NULL;
	for (size_t i = 0; i < row->n_hits; i++) {
		hits[i] = &view->hits[row->first_hit + i];
		sorted &= i == 0 || hits[i - 1]->addr <= hits[i]->addr;
	}
	if (!sorted)
		qsort(hits, row->n_hits, sizeof(const struct hlg_hit *), compare_addrs);
	return hits;
}

bool hlg_image_test_row(struct hlg_tested *tested, struct hlg_code *code,
			const struct hlg_view *view, const struct hlg_row *row)
{
	const struct hlg_hit **hits = by_address(view, row);
	struct hlg_place place = row->place;

	if (!hits)
		return false;
	for (size_t i = 0, j; i < row->n_hits; i = j) {
		uint64_t samples = 0;

		place.addr = hits[i]->addr;
		for (j = i; j < row->n_hits && hits[j]->addr == place.addr; j++)
			samples += hits[j]->count.samples;
		hlg_verdict_add(tested, code, &place, hits[i]->filler, samples);
	}
	free(hits);
	return true;
}

bool hlg_image_test_add(struct hlg_image_test *test, const struct hlg_view *view,
			const struct hlg_row *row)
{
	for (size_t i = 0; i < row->n_hits; i++)
		add_to_base(test, &view->hits[row->first_hit + i]);
	return hlg_image_test_row(&test->tested, test->code, view, row);
}

struct hlg_image_test *hlg_image_test_of(struct hlg_image_test *tests, size_t n,
					 const struct hlg_image *image)
{
	if (!image || image->number >= n || tests[image->number].image != image)
		return NULL;
	return &tests[image->number];
}
