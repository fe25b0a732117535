// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which samples are recent: after each of many slices with random samples the window has
 * what a list of all of them says, by address, in sums, since the start and since it was
 * zeroed; and no sample is in two slices or in none.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/kit/filter.h"
#include "tests/kit/tap.h"
#include "tools/top/window.h"

enum {
	KEPT = 3,
	SLICES = 40,
	MOST = 20, /* samples of a slice */
	ADDRESSES = 7,
	TRIES = 60
};

/* All samples that ever were. */
struct sample {
	int slice;
	uint64_t ip, period;
	bool host;
};

struct trial {
	struct sample all[SLICES * MOST];
	size_t n;
	int zeroed; /* the first slice that counts */
};

static struct hlg_count expected(const struct trial *t, int from, uint64_t ip, bool host)
{
	struct hlg_count count = {0, 0};

	for (size_t i = 0; i < t->n; i++)
		if (t->all[i].slice >= from && t->all[i].slice >= t->zeroed &&
		    t->all[i].host == host && (host || t->all[i].ip == ip))
			hlg_count_add(&count, (struct hlg_count){1, t->all[i].period});
	return count;
}

static void same(struct hlg_count a, struct hlg_count b)
{
	ck_assert_uint_eq(a.samples, b.samples);
	ck_assert_uint_eq(a.period, b.period);
}

static void compare(const struct hlg_top_window *w, const struct trial *t, int slice)
{
	for (int which = 0; which < 2; which++) {
		int from = which == HLG_TOP_RECENT ? slice - KEPT + 1 : 0;
		struct hlg_top_sums sums =
			hlg_top_window_sums(w, (enum hlg_top_which)which);
		struct hlg_count guest = {0, 0}, all;

		for (uint32_t i = 0; i < w->n_cells; i++) {
			struct hlg_count is = hlg_top_window_count(
				&w->cells[i], (enum hlg_top_which)which);

			same(is, expected(t, from, w->cells[i].ip, false));
			hlg_count_add(&guest, is);
		}
		same(hlg_top_window_guest(&sums), guest);
		same(sums.host, expected(t, from, 0, true));
		all = guest;
		hlg_count_add(&all, sums.host);
		same(sums.seen, all);
	}
}

static void add(struct trial *t, struct hlg_profile *p, uint32_t event, int slice)
{
	for (int n = rand() % MOST; n > 0; n--) {
		struct sample sample = {slice, (uint64_t)(rand() % ADDRESSES),
					(uint64_t)(rand() % 5), rand() % 4 == 0};
		struct hlg_sample s = kit_sample(event, sample.ip);

		s.period = sample.period;
		if (sample.host)
			s.cpumode = 1; /* PERF_RECORD_MISC_KERNEL */
		hlg_profile_add(p, &s);
		t->all[t->n++] = sample;
	}
}

/* When a slice ends; each is longer than the one before. */
static uint64_t end_of(int slice)
{
	return (uint64_t)(slice + 1) * (uint64_t)(slice + 2);
}

/* How long the window is, and since when it counts. */
static void compare_took(const struct hlg_top_window *w, const struct trial *t, int slice)
{
	int from = slice - KEPT < t->zeroed - 1 ? t->zeroed - 1 : slice - KEPT;

	ck_assert_uint_eq(hlg_top_window_took(w, HLG_TOP_SINCE),
			  end_of(slice) - end_of(t->zeroed - 1));
	ck_assert_uint_eq(hlg_top_window_took(w, HLG_TOP_RECENT),
			  end_of(slice) - end_of(from));
}

static void try(void)
{
	struct hlg_top_window w;
	struct hlg_profile p;
	struct hlg_options options;
	struct trial t = {.n = 0};
	uint32_t event;

	kit_options(&options, "");
	ck_assert(hlg_profile_init(&p, &options));
	event = hlg_profile_event(&p, "cpu-clock", 0);
	ck_assert(hlg_top_window_begin(&w, KEPT, 0));
	for (int slice = 0; slice < SLICES; slice++) {
		add(&t, &p, event, slice);
		ck_assert(hlg_top_window_close(&w, &p, 0, end_of(slice)));
		compare(&w, &t, slice);
		compare_took(&w, &t, slice);
		if (rand() % 10 == 0) {
			hlg_top_window_zero(&w);
			t.zeroed = slice + 1;
			compare(&w, &t, slice);
		}
	}
	hlg_top_window_finish(&w);
	hlg_profile_finish(&p);
	hlg_options_finish(&options);
}

START_TEST(slices)
{
	srand(1);
	for (int i = 0; i < TRIES; i++)
		try();
}
END_TEST

static void add_one(struct hlg_profile *p, uint32_t event, int32_t tid, uint64_t period)
{
	struct hlg_sample s = kit_sample(event, 5);

	s.tid = tid;
	s.period = period;
	if (event)
		s.cpumode = 1; /* of the host, as KVM's marks are */
	hlg_profile_add(p, &s);
}

/* Two threads at one address, marks of two kinds, and losses, as the kernel sums them. */
START_TEST(of_several)
{
	struct hlg_top_window w;
	struct hlg_profile p;
	struct hlg_options options;
	const uint64_t squares = 2 * 2 + 3 * 3;

	kit_options(&options, "by=tid");
	ck_assert(hlg_profile_init(&p, &options));
	ck_assert_uint_eq(hlg_profile_event(&p, "cpu-clock", 0), 0);
	ck_assert_uint_eq(hlg_profile_event(&p, "kvm:kvm_exit", 0), 1);
	ck_assert_uint_eq(hlg_profile_event(&p, "kvm:kvm_userspace_exit", 0), 2);
	ck_assert(hlg_top_window_begin(&w, KEPT, 0));
	for (uint64_t slice = 1; slice < 6; slice++) {
		add_one(&p, 0, 1, 2);
		add_one(&p, 0, 2, 3);
		add_one(&p, 1, 1, 1);
		add_one(&p, 2, 1, 1);
		add_one(&p, 2, 1, 1);
		ck_assert(hlg_top_window_close(&w, &p, 7 * slice, 10 * slice));
	}
	ck_assert_uint_eq(w.n_cells, 2);
	for (int which = 0; which < 2; which++) {
		uint64_t n = which == HLG_TOP_RECENT ? KEPT : 5;
		struct hlg_top_sums sums =
			hlg_top_window_sums(&w, (enum hlg_top_which)which);

		ck_assert_uint_eq(sums.lost, 7 * n);
		ck_assert_uint_eq(sums.exits, n);
		ck_assert_uint_eq(sums.vmm_exits, 2 * n);
		ck_assert_double_eq((double)sums.squares, (double)(squares * n));
		for (uint32_t i = 0; i < 2; i++)
			same(hlg_top_window_count(&w.cells[i], (enum hlg_top_which)which),
			     (struct hlg_count){n, n * (w.cells[i].series ? 3 : 2)});
	}
	hlg_top_window_finish(&w);
	hlg_profile_finish(&p);
	hlg_options_finish(&options);
}
END_TEST

/* Memory goes by addresses: a slice without new ones takes none. */
START_TEST(bounds)
{
	struct hlg_top_window w;
	struct hlg_profile p;
	struct hlg_options options;
	uint32_t event;

	kit_options(&options, "");
	ck_assert(hlg_profile_init(&p, &options));
	event = hlg_profile_event(&p, "cpu-clock", 0);
	ck_assert(hlg_top_window_begin(&w, KEPT, 0));
	for (uint64_t i = 0; i < 100000; i++) {
		struct hlg_sample s = kit_sample(event, i % ADDRESSES);

		hlg_profile_add(&p, &s);
		if (i % 100 == 99)
			ck_assert(hlg_top_window_close(&w, &p, 0, i));
	}
	ck_assert_uint_eq(w.n_cells, ADDRESSES);
	hlg_top_window_finish(&w);
	hlg_profile_finish(&p);
	hlg_options_finish(&options);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("top window");
	TCase *tc = tap_case(suite, "slices");

	tcase_add_test(tc, slices);
	tcase_add_test(tc, of_several);
	tcase_add_test(tc, bounds);
	return tap_main(suite);
}
