// SPDX-License-Identifier: GPL-2.0-only
#include <check.h>
#include <math.h>

#include "tests/kit/filter.h"

static void same(struct hlg_count a, struct hlg_count b)
{
	ck_assert_uint_eq(a.samples, b.samples);
	ck_assert_uint_eq(a.period, b.period);
}

static void check_share(const struct hlg_view *v, const struct hlg_share *share,
			struct hlg_count count)
{
	double total = (double)hlg_count_weigh(v->weight, v->kept);
	double w = (double)hlg_count_weigh(v->weight, count);

	ck_assert_double_eq_tol(share->share, total > 0 ? w / total : 0, 1e-12);
	ck_assert_double_ge(share->low, 0);
	ck_assert_double_le(share->low, share->share);
	ck_assert_double_le(share->share, share->high);
	ck_assert_double_le(share->high, 1);
}

static void check_kinds(const struct hlg_view *v)
{
	struct hlg_count sum = {0, 0}, kept = v->guest;

	for (int k = 0; k < HLG_N_KINDS; k++)
		hlg_count_add(&sum, v->kinds[k]);
	hlg_count_add(&sum, v->border);
	same(sum, v->guest);
	hlg_count_sub(&kept, v->dropped);
	hlg_count_sub(&kept, v->border);
	same(kept, v->kept);
	ck_assert_uint_le(v->padding.samples, v->kinds[HLG_GAP].samples);
	ck_assert_uint_le(v->ip_zero.samples, v->guest.samples);
}

static void check_rows(const struct hlg_view *v, bool raw)
{
	struct hlg_count sum = {0, 0}, padding = {0, 0};
	double shares = 0;
	size_t hits = 0;

	for (size_t i = 0; i < v->n_rows; i++) {
		const struct hlg_row *row = &v->rows[i];
		struct hlg_count of_hits = {0, 0};

		ck_assert_uint_gt(row->count.samples, 0);
		if (i)
			ck_assert_uint_ge(hlg_count_weigh(v->weight, row[-1].count),
					  hlg_count_weigh(v->weight, row->count));
		for (size_t k = 0; k < row->n_hits; k++)
			hlg_count_add(&of_hits, v->hits[row->first_hit + k].count);
		same(of_hits, row->count);
		check_share(v, &row->share, row->count);
		ck_assert_int_eq(row->unsure,
				 i + 1 < v->n_rows &&
					 row->share.low <= row[1].share.high);
		hlg_count_add(&sum, row->count);
		hlg_count_add(&padding, row->padding);
		shares += row->share.share;
		hits += row->n_hits;
	}
	same(sum, v->kept);
	/* Dropped and stretched gaps have no rows, but their filler counts. */
	if (raw)
		same(padding, (struct hlg_count){0, 0});
	else if (v->dropped.samples == 0 && v->stretched.samples == 0)
		same(padding, v->padding);
	else
		ck_assert_uint_ge(v->padding.samples, padding.samples);
	ck_assert_uint_le(v->padding.samples, v->kinds[HLG_GAP].samples);
	ck_assert_uint_eq(hits, v->n_hits);
	if (hlg_count_weigh(v->weight, v->kept))
		ck_assert_double_eq_tol(shares, 1, 1e-9);
}

static void check_region(const struct hlg_view *v, const struct hlg_region *region,
			 uint64_t size)
{
	struct hlg_count parts = {0, 0};

	ck_assert_uint_eq(region->addr % size, 0);
	ck_assert_uint_gt(region->n_parts, 0);
	for (size_t i = 0; i < region->n_parts; i++) {
		const struct hlg_region_part *part = &v->parts[region->first_part + i];

		ck_assert_uint_lt(part->row, v->n_rows);
		ck_assert_ptr_eq(v->rows[part->row].place.image, region->image);
		if (i)
			ck_assert_uint_ge(hlg_count_weigh(v->weight, part[-1].count),
					  hlg_count_weigh(v->weight, part->count));
		hlg_count_add(&parts, part->count);
	}
	same(parts, region->count);
	check_share(v, &region->share, region->count);
}

static void check_view(const struct hlg_view *v, uint64_t size, bool raw)
{
	struct hlg_count sum = {0, 0};

	check_kinds(v);
	check_rows(v, raw);
	for (size_t i = 0; i < v->n_regions; i++) {
		check_region(v, &v->regions[i], size);
		if (i)
			ck_assert_uint_ge(
				hlg_count_weigh(v->weight, v->regions[i - 1].count),
				hlg_count_weigh(v->weight, v->regions[i].count));
		hlg_count_add(&sum, v->regions[i].count);
	}
	if (size)
		same(sum, v->kept);
	else
		ck_assert_uint_eq(v->n_regions, 0);
}

void kit_check_view(const struct hlg_view *v, uint64_t size)
{
	check_view(v, size, false);
}

void kit_check_raw_view(const struct hlg_view *v, uint64_t size)
{
	check_view(v, size, true);
	for (size_t i = 0; i < v->n_rows; i++) {
		const struct hlg_row *row = &v->rows[i];
		char name[32];

		ck_assert_int_eq(row->place.kind, HLG_OUTSIDE);
		ck_assert_ptr_null(row->place.image);
		ck_assert_ptr_null(row->place.symbol);
		snprintf(name, sizeof(name), "0x%jx", (uintmax_t)row->place.addr);
		ck_assert_str_eq(row->name, name);
		for (size_t k = 0; k < row->n_hits; k++)
			ck_assert_uint_eq(v->hits[row->first_hit + k].ip,
					  row->place.addr);
	}
}
