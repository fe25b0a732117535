// SPDX-License-Identifier: GPL-2.0-only
/* A second thread changes nothing: whatever comes, in whatever order, sums are the same.
 */
#include <string.h>

#include "tools/exits/reasons.h"
#include "tools/exits/relay.h"

#include "tap.h"

#define LONG (10 * HLG_EXITS_BATCH)

static uint64_t state;

static unsigned draw(unsigned below)
{
	state = state * UINT64_C(6364136223846793005) + 1442695040888963407u;
	return (unsigned)(state >> 33) % below;
}

/* Anything a recording could have; most is written in place, as readers do. */
static void send(struct hlg_exits_relay *relay, uint64_t time)
{
	const struct hlg_exits_item item = {.time = time - draw(300),
					    .a = draw(5),
					    .b = draw(3),
					    .vcpu = draw(2),
					    .cpu = (uint16_t)draw(3),
					    .kind = (uint8_t)(1 + draw(HLG_EXITS_INSN)),
					    .c = HLG_ISA_VMX};
	uint64_t thread = (uint64_t)(7 + draw(3)) << 32 | 7;
	unsigned kind = draw(2000);

	if (kind < 2)
		hlg_exits_relay_mark(relay, HLG_EXITS_MARK_LOST, time, (uint16_t)kind);
	else if (kind < 4)
		hlg_exits_relay_mark(relay, HLG_EXITS_MARK_BAD, time, HLG_ANY_CPU);
	else if (kind < 10)
		hlg_exits_relay_mark(relay, HLG_EXITS_MARK_ROUND, 0, HLG_ANY_CPU);
	else if (kind % 16 && relay->here) {
		*hlg_exits_relay_next(relay) = (struct hlg_exits_entry){thread, item};
		hlg_exits_relay_sent(relay);
	} else
		hlg_exits_relay_send(relay, thread, &item);
}

static void run(struct hlg_exits_sums *sums, unsigned threads, uint64_t n)
{
	struct hlg_exits_order order = {0};
	struct hlg_exits_relay relay;

	state = n;
	hlg_exits_order_init(&order, sums);
	hlg_exits_relay_start(&relay, &order, threads);
	ck_assert_int_eq(relay.here != NULL, threads > 1);
	for (uint64_t i = 0; i < n; i++) {
		if (i == n / 2)
			hlg_exits_relay_mark(&relay, HLG_EXITS_MARK_RUNS, 0, HLG_ANY_CPU);
		send(&relay, 1000 + 100 * i);
	}
	ck_assert_int_eq(relay.started, threads > 1 && n + 1 >= HLG_EXITS_FIRST);
	hlg_exits_relay_finish(&relay);
	hlg_exits_order_end(&order);
	ck_assert(!sums->no_memory);
	hlg_exits_order_finish(&order);
}

static const uint64_t lengths[] = {
	0, 1, HLG_EXITS_FIRST - 2, HLG_EXITS_FIRST - 1, HLG_EXITS_FIRST, LONG};

START_TEST(threads_agree)
{
	struct hlg_exits_sums one = {0}, two = {0};

	run(&one, 1, lengths[_i]);
	run(&two, 2, lengths[_i]);
	ck_assert_uint_eq(one.n_cells, two.n_cells);
	for (size_t i = 0; i < one.n_cells; i++) {
		const struct hlg_exits_cell *a = &one.cells[i], *b = &two.cells[i];

		ck_assert_mem_eq(&a->key, &b->key, sizeof(a->key));
		ck_assert_uint_eq(a->n, b->n);
		ck_assert_uint_eq(a->total, b->total);
		ck_assert_uint_eq(a->max, b->max);
	}
	ck_assert_uint_eq(one.n_vcpus, two.n_vcpus);
	for (size_t i = 0; i < one.n_vcpus; i++)
		ck_assert_mem_eq(&one.vcpus[i], &two.vcpus[i], sizeof(one.vcpus[i]));
	ck_assert_mem_eq(&one.lone, &two.lone, sizeof(one.lone));
	if (lengths[_i] == LONG) {
		ck_assert_uint_gt(one.pairs[HLG_EXITS_GUEST], 1000);
		ck_assert_uint_gt(one.pairs[HLG_EXITS_VMM], 1000);
		ck_assert_uint_gt(one.lone.lost, 0);
		ck_assert_uint_gt(one.lone.bad, 0);
	}
	hlg_exits_sums_finish(&one);
	hlg_exits_sums_finish(&two);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("exits relay");
	TCase *tc = tap_case(suite, "threads");

	tcase_add_loop_test(tc, threads_agree, 0, sizeof(lengths) / sizeof(lengths[0]));
	return tap_main(suite);
}
