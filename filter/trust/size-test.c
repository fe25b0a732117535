// SPDX-License-Identifier: GPL-2.0-only
#include "filter/trust/size-test.h"

#include <stdlib.h>

#include "symtab/grow.h"
#include "symtab/unique.h"

enum {
	LEAST_EXPECTED = 5
};

/* What a symbol has in the region. */
struct share {
	const struct hlg_symbol *symbol;
	uint64_t bytes, samples;
};

struct shares {
	struct share *share;
	size_t n;
};

static bool add(struct shares *shares, const struct hlg_symbol *symbol, uint64_t bytes,
		uint64_t samples)
{
	if (!HLG_GROW(shares->share, shares->n))
		return false;
	shares->share[shares->n++] = (struct share){symbol, bytes, samples};
	return true;
}

/* The bytes that functions and labels own in [start, start + size). */
static bool add_bytes(struct shares *shares, const struct hlg_image *image,
		      uint64_t start, uint64_t size)
{
	const struct hlg_spans *spans = &image->spans;
	size_t i = hlg_span_find(spans, start);

	/* The last span is outside and has no end. */
	for (i = i == SIZE_MAX ? 0 : i; i + 1 < spans->n; i++) {
		const struct hlg_span *span = &spans->span[i];
		uint64_t from = span->start < start ? start : span->start;
		uint64_t to = span[1].start;

		if (from - start >= size)
			break;
		if (to - start > size)
			to = start + size;
		if ((span->kind == HLG_FUNCTION || span->kind == HLG_LABEL) &&
		    !add(shares, &image->tab.syms[span->index], to - from, 0))
			return false;
	}
	return true;
}

static bool add_samples(struct shares *shares, const struct hlg_view *view,
			const struct hlg_region *region)
{
	for (size_t i = 0; i < region->n_parts; i++) {
		const struct hlg_region_part *part = &view->parts[region->first_part + i];
		const struct hlg_row *row = &view->rows[part->row];

		if (row->place.symbol &&
		    !add(shares, row->place.symbol, 0, part->count.samples))
			return false;
	}
	return true;
}

static int compare_shares(const void *a, const void *b)
{
	const struct share *x = a, *y = b;

	return x->symbol < y->symbol ? -1 : x->symbol > y->symbol;
}

static void add_share(void *to, const void *from)
{
	struct share *sum = to;
	const struct share *share = from;

	sum->bytes += share->bytes;
	sum->samples += share->samples;
}

static void add_class(struct hlg_size_test *sizes, double samples, double expected)
{
	sizes->chi_square += (samples - expected) * (samples - expected) / expected;
	sizes->df++; /* one too many, until the end */
}

/* Pearson's sum. Returns false when there are not two classes to compare. */
static bool test(struct hlg_size_test *sizes, const struct shares *shares)
{
	double bytes = 0, rest = 0, rest_expected = 0;

	sizes->samples = 0;
	sizes->chi_square = 0;
	sizes->df = 0;
	sizes->functions = shares->n;
	for (size_t i = 0; i < shares->n; i++) {
		bytes += (double)shares->share[i].bytes;
		sizes->samples += shares->share[i].samples;
	}
	for (size_t i = 0; i < shares->n; i++) {
		double samples = (double)shares->share[i].samples;
		double expected =
			(double)sizes->samples * (double)shares->share[i].bytes / bytes;

		if (expected >= LEAST_EXPECTED) {
			add_class(sizes, samples, expected);
		} else {
			rest += samples;
			rest_expected += expected;
		}
	}
	if (rest_expected >= LEAST_EXPECTED)
		add_class(sizes, rest, rest_expected);
	if (sizes->df < 2)
		return false;
	sizes->p = hlg_interval_chi_square(sizes->chi_square, --sizes->df);
	return true;
}

bool hlg_size_test_view(struct hlg_size_test *sizes, const struct hlg_view *view,
			uint64_t region_size)
{
	struct shares shares = {0};
	bool ok = true, done = false;

	*sizes = (struct hlg_size_test){0};
	for (size_t i = 0; ok && !done && i < view->n_regions; i++) {
		const struct hlg_region *region = &view->regions[i];

		shares.n = 0;
		if (!region->image)
			continue;
		ok = add_bytes(&shares, region->image, region->addr, region_size) &&
		     add_samples(&shares, view, region);
		if (!ok)
			break;
		shares.n = HLG_UNIQUE(shares.share, shares.n, compare_shares, add_share);
		done = test(sizes, &shares);
		sizes->region = done ? region : NULL;
	}
	free(shares.share);
	return ok;
}
