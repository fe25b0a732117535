// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a fit counts, address by address, on the small guest of mkelf-guest.h, of
 * instructions of four bytes: boundaries and what is between them, gaps, data,
 * what lies outside; and its score, by the formula of find.h. Then which base is a rival.
 */
#include "symtab/code/base-find.h"

#include <elf.h>
#include <math.h>
#include <stdio.h>

#include "config.h"
#include "tests/kit/mkelf-guest.h"
#include "tests/kit/sampling.h"
#include "tests/kit/scratch.h"
#include "tests/kit/tap.h"

#define SIZE UINT64_C(0x3110) /* of the guest */

static struct sampling guest;
static struct sampled_set set;
static struct hlg_fit fit;

static void setup(void)
{
	struct mkelf_guest g;

	mkelf_guest_init(&g, 0x400000);
	mkelf_guest_words(&g, true);
	ck_assert(sampling_open(&guest, scratch_elf("guest.elf", &g.elf)));
	set = (struct sampled_set){0};
}

static void teardown(void)
{
	sampled_finish(&set);
	sampling_finish(&guest);
}

/* All boundaries of the guest at a base but that of one own address, from its first. */
static void add_boundaries(uint64_t base, uint64_t without)
{
	sampled_finish(&set);
	for (size_t i = 0; i < guest.n_on; i++)
		if (guest.on[i] - guest.image->first != without)
			sampled_add(&set, base + guest.on[i] - guest.image->first, 1);
}

/* How the set lies at the base, which is the one that is found. */
static struct hlg_fit find(uint64_t base)
{
	struct hlg_found found;
	struct hlg_fit best;

	sampled_sort(&set);
	ck_assert(hlg_base_find_all(guest.code, guest.image, set.at, set.n, &found));
	ck_assert_uint_eq(found.n, 1);
	best = found.fits[0];
	ck_assert_uint_eq(best.base, base);
	hlg_base_find_finish(&found);
	return best;
}

/* By how much fit has more than before. */
static void expect(const struct hlg_fit *before, uint64_t on, uint64_t off,
		   uint64_t unknown, uint64_t on_samples, uint64_t off_samples,
		   uint64_t samples)
{
	ck_assert_uint_eq(fit.on - before->on, on);
	ck_assert_uint_eq(fit.off - before->off, off);
	ck_assert_uint_eq(fit.unknown - before->unknown, unknown);
	ck_assert_uint_eq(fit.on_samples - before->on_samples, on_samples);
	ck_assert_uint_eq(fit.off_samples - before->off_samples, off_samples);
	ck_assert_uint_eq(fit.samples - before->samples, samples);
}

/* on addresses speak for the base; off ones, and those in data, against it. */
static void expect_score(const struct hlg_fit *before, double on, double against)
{
	ck_assert_double_eq_tol(fit.score - before->score,
				on * log(0.95 / 0.25) + against * log(0.05 / 0.75), 1e-9);
}

/* The list of mkelf-guest.h; own addresses from its first. */
static const struct {
	uint64_t addr;
	unsigned on, off, unknown, data;
} places[] = {
	{0x0, 0, 0, 1, 1},    {0x1ff, 0, 0, 1, 1},  {0x200, 0, 0, 1, 0},
	{0xfff, 0, 0, 1, 0},  {0x1000, 1, 0, 0, 0}, {0x1001, 0, 1, 0, 0},
	{0x1003, 0, 1, 0, 0}, {0x101c, 1, 0, 0, 0}, {0x1050, 1, 0, 0, 0},
	{0x1054, 0, 0, 1, 0}, {0x1060, 1, 0, 0, 0}, {0x10e0, 0, 0, 1, 0},
	{0x111f, 0, 0, 1, 0}, {0x1120, 1, 0, 0, 0}, {0x117f, 0, 1, 0, 0},
	{0x11dc, 1, 0, 0, 0}, {0x11e0, 0, 0, 1, 0}, {0x121c, 1, 0, 0, 0},
	{0x123f, 0, 0, 1, 0}, {0x1240, 0, 0, 1, 0}, {0x3000, 0, 0, 1, 1},
	{0x310f, 0, 0, 1, 1}, {0x3110, 0, 0, 0, 0},
};

enum {
	PLACES = sizeof(places) / sizeof(places[0])
};

START_TEST(each_place_counts_as_what_it_is)
{
	for (size_t i = 0; i < PLACES; i++) {
		const uint64_t in = places[i].addr < SIZE ? 5 : 0;
		struct hlg_fit before;

		add_boundaries(0x9000, places[i].addr);
		before = find(0x9000);
		sampled_add(&set, 0x9000 + places[i].addr, 5);
		fit = find(0x9000);
		expect(&before, places[i].on, places[i].off, places[i].unknown,
		       places[i].on ? 5 : 0, places[i].off ? 5 : 0, in);
		expect_score(&before, places[i].on, places[i].off + places[i].data);
	}
}
END_TEST

/* All at once, with what lies before and behind; from 0x20 + 0x34 + 0x80 + 0x60 + 0x40 +
 * 0x20 + 0x20 bytes that are decoded on. */
START_TEST(all_are_summed)
{
	static const uint64_t base[] = {0, 0x1000, UINT64_C(1) << 47, -UINT64_C(0x4000)};
	const struct hlg_fit none = {0};

	for (int b = 0; b < 4; b++) {
		uint64_t on = 0x1b4 / 4, off = 0, unknown = 0, data = 0, twice = 0;

		add_boundaries(base[b], UINT64_MAX);
		for (size_t i = 0; i < PLACES; i++) {
			sampled_add(&set, base[b] + places[i].addr,
				    places[i].addr < SIZE ? 2 : 1000);
			off += places[i].off;
			unknown += places[i].unknown;
			data += places[i].data;
			twice += places[i].on;
		}
		sampled_add(&set, base[b] - 1, 1000);
		fit = find(base[b]);
		expect(&none, on, off, unknown, on + 2 * twice, 2 * off,
		       on + 2 * (twice + off + unknown));
		expect_score(&none, (double)on, (double)(off + data));
	}
}
END_TEST

/* One page to the side 15 of 16 addresses fit as well: the rival, and not enough. */
START_TEST(the_rival_is_the_next_best)
{
	struct hlg_found found;

	sampling_finish(&guest);
	ck_assert(sampling_open(&guest,
				sampling_write("words", EM_X86_64, 0, SAMPLING_CODE, 4)));
	for (uint64_t a = 0; a < SAMPLING_CODE; a += 64)
		sampled_add(&set, 0x40000 + a, 3);
	ck_assert(hlg_base_find_all(guest.code, guest.image, set.at, set.n, &found));
	ck_assert_uint_eq(found.n, 1);
	ck_assert_uint_eq(found.fits[0].base, 0x40000);
	ck_assert_uint_eq(found.fits[0].on, SAMPLING_CODE / 64);
	ck_assert_uint_eq(found.rival.base, 0x3f000);
	ck_assert_uint_eq(found.rival.on, SAMPLING_CODE / 64 * 15 / 16);
	hlg_base_find_finish(&found);
}
END_TEST

/* A rival must be beaten by a factor of 1000: six addresses at chance 1/4, not five. */
START_TEST(rivals_must_be_beaten)
{
	struct hlg_found found;

	sampling_finish(&guest);
	ck_assert(sampling_open(&guest,
				sampling_write("words", EM_X86_64, 0, SAMPLING_CODE, 4)));
	for (uint64_t i = 0; i < 100; i++)
		sampled_add(&set, 0x40000 + 0x1000 + i * 500 / 4 * 4, 1);
	for (uint64_t i = 0; i < 5 + (uint64_t)_i; i++) {
		sampled_add(&set, 0x40000 + 8 * i, 1);
		sampled_add(&set, 0x40000 + SAMPLING_CODE - 8 * (i + 1), 1);
	}
	sampled_sort(&set);
	ck_assert(hlg_base_find_all(guest.code, guest.image, set.at, set.n, &found));
	ck_assert_uint_eq(found.n, _i);
	if (_i)
		ck_assert_uint_eq(found.fits[0].base, 0x40000);
	else
		ck_assert_uint_eq(found.best.base, 0x40000);
	hlg_base_find_finish(&found);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("base-find-fit");
	TCase *tc = tap_case(suite, "base-find-fit");

	tcase_add_unchecked_fixture(tc, scratch_begin, scratch_end);
	if (!HLG_HAVE_ZYDIS) {
		puts("1..0 # SKIP without Zydis");
		return 0;
	}
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, each_place_counts_as_what_it_is);
	tcase_add_test(tc, all_are_summed);
	tcase_add_test(tc, the_rival_is_the_next_best);
	tcase_add_loop_test(tc, rivals_must_be_beaten, 0, 2);
	return tap_main(suite);
}
