// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where records were lost, against a slow and literal reading of the rule: gaps in any
 * order, asked for at any moment, with times so few that all of them meet.
 */
#include "tools/exits/gaps.h"

#include "tests/kit/tap.h"

#define N_GAPS 300

struct loss {
	uint64_t start, end;
	uint16_t cpu;
};

static uint64_t state;

/* Knuth's MMIX generator; below n. */
static uint64_t any(uint64_t n)
{
	state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (state >> 33) % n;
}

static uint16_t any_cpu(void)
{
	static const uint16_t cpus[] = {0, 1, 2, 7, HLG_ANY_CPU - 1, HLG_ANY_CPU};

	return cpus[any(sizeof(cpus) / sizeof(cpus[0]))];
}

static bool is_torn(const struct loss *all, int n, uint64_t from, uint16_t from_cpu,
		    uint64_t to, uint16_t to_cpu)
{
	for (int i = 0; i < n; i++) {
		const struct loss *l = &all[i];
		/* (start, end] */
		bool between = l->start < to && l->end > from;
		bool of_either = l->cpu == from_cpu || l->cpu == to_cpu;

		if (between && (of_either || l->cpu == HLG_ANY_CPU || from_cpu != to_cpu))
			return true;
	}
	return false;
}

/* False where the answer is wrong: an assertion costs more than the question. */
static bool ask(const struct hlg_exits_gaps *gaps, const struct loss *all, int n,
		uint64_t times)
{
	uint64_t from = any(times), to = from + any(3) * any(times / 4 + 1);
	uint16_t from_cpu = any_cpu(), to_cpu = any(2) ? from_cpu : any_cpu();

	return hlg_exits_is_torn(gaps, from, from_cpu, to, to_cpu) ==
	       is_torn(all, n, from, from_cpu, to, to_cpu);
}

/* way 0: by end; 1: backward; 2: in any order; 3: mostly in order. */
static uint64_t any_end(int way, int i, uint64_t times)
{
	uint64_t near = (uint64_t)i * times / N_GAPS;

	switch (way) {
	case 0:
		return near;
	case 1:
		return times - near;
	case 2:
		return any(times);
	default:
		return near + any(times / 20 + 2);
	}
}

START_TEST(the_rule_is_kept)
{
	static const uint64_t times[] = {12, 60, 500, 20000};
	static struct loss all[N_GAPS];

	state = (uint64_t)_i;
	for (int round = 0; round < 16; round++) {
		struct hlg_exits_gaps gaps = {0};
		uint64_t n = times[any(4)], longest = 1 + any(n / (1 + any(50)) + 1);
		bool right = true;

		for (int i = 0; i < N_GAPS; i++) {
			struct loss *l = &all[i];

			l->end = any_end(_i % 4, i, n);
			l->cpu = any_cpu();
			/* Some begin behind their end: then they are empty, at it. */
			l->start = any(30) ? l->end - any(longest) : l->end + any(9);
			l->start = any(90) ? l->start : 0;
			if (l->start > l->end && any(2))
				l->start = l->end;
			right &= hlg_exits_gap(&gaps, l->start, l->end, l->cpu);
			l->start = l->start < l->end ? l->start : l->end;
			for (int k = 0; k < 8; k++)
				right &= ask(&gaps, all, i + 1, n);
		}
		for (int k = 0; k < 500; k++)
			right &= ask(&gaps, all, N_GAPS, n);
		ck_assert(right);
		hlg_exits_gaps_finish(&gaps);
	}
}
END_TEST

/* What lies within a later one is forgotten. */
START_TEST(nested_gaps_take_no_room)
{
	struct hlg_exits_gaps gaps = {0};

	for (uint64_t end = 1; end <= 1000; end++)
		ck_assert(hlg_exits_gap(&gaps, 0, end, 3));
	ck_assert_uint_eq(gaps.all.n, 1);
	ck_assert_uint_eq(gaps.cpu[3].n, 1);
	ck_assert(hlg_exits_is_torn(&gaps, 999, 3, 1000, 3));
	ck_assert(!hlg_exits_is_torn(&gaps, 1000, 3, 1001, 3));
	hlg_exits_gaps_finish(&gaps);
}
END_TEST

/* Of no more CPUs there are lists than up to the highest that lost something. */
START_TEST(only_cpus_that_lost_some_take_room)
{
	struct hlg_exits_gaps gaps = {0};

	ck_assert(hlg_exits_gap(&gaps, 5, 9, HLG_ANY_CPU));
	ck_assert_uint_eq(gaps.n_cpus, 0);
	ck_assert(hlg_exits_gap(&gaps, 0, 3, 6));
	ck_assert(hlg_exits_gap(&gaps, 0, 3, 2));
	ck_assert_uint_eq(gaps.n_cpus, 7);
	ck_assert(hlg_exits_is_torn(&gaps, 5, 8, 9, 8));
	ck_assert(hlg_exits_is_torn(&gaps, 0, 6, 3, 6));
	ck_assert(!hlg_exits_is_torn(&gaps, 0, 5, 3, 5));
	hlg_exits_gaps_finish(&gaps);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("exits gaps");
	TCase *tc = tap_case(suite, "gaps");

	tcase_add_loop_test(tc, the_rule_is_kept, 0, 32);
	tcase_add_test(tc, nested_gaps_take_no_room);
	tcase_add_test(tc, only_cpus_that_lost_some_take_room);
	return tap_main(suite);
}
