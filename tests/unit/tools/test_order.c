// SPDX-License-Identifier: GPL-2.0-only
/*
 * Whatever comes out of the queue is what went in, each item once; in the order of time
 * as far as rounds keep what they promise, of one time in the order of the file. A slow
 * stable sort is the measure. Few are held, and without memory none is lost.
 */
#include "tools/feed/queue.h"

#include <stdlib.h>
#include <string.h>

#include "tests/kit/oom.h"
#include "tests/kit/tap.h"

enum {
	ITEMS = 20000
};

struct item {
	uint64_t time;
	unsigned number;
	uint8_t more[12]; /* of another size than a key */
};

static uint64_t state;

static unsigned pick(unsigned n)
{
	state = state * UINT64_C(6364136223846793005) + 1442695040888963407u;
	return (unsigned)(state >> 33) % n;
}

static struct item out[ITEMS];
static unsigned n_out, fail_at;

static bool take(void *ctx, void *at)
{
	/* No memory for check's own words in without_memory. */
	if (ctx != out || n_out == ITEMS)
		abort();
	out[n_out++] = *(const struct item *)at;
	return n_out != fail_at;
}

static void begin(struct hlg_queue *q)
{
	n_out = fail_at = 0;
	hlg_queue_init(q, sizeof(struct item), take, out);
}

static bool push(struct hlg_queue *q, uint64_t time, unsigned number)
{
	struct item *item = hlg_queue_next(q);

	if (item) {
		*item = (struct item){.time = time, .number = number};
		memset(item->more, (int)number, sizeof(item->more));
		hlg_queue_pushed(q, time);
	}
	return item;
}

static void expect_whole(unsigned n)
{
	static bool seen[ITEMS];

	memset(seen, 0, sizeof(seen));
	ck_assert_uint_eq(n_out, n);
	for (unsigned i = 0; i < n; i++) {
		ck_assert(!seen[out[i].number]);
		seen[out[i].number] = true;
		for (size_t j = 0; j < sizeof(out[i].more); j++)
			ck_assert_uint_eq(out[i].more[j], (uint8_t)out[i].number);
	}
}

static void expect_order(unsigned from, unsigned to)
{
	for (unsigned i = from + 1; i < to; i++)
		ck_assert(out[i - 1].time < out[i].time ||
			  (out[i - 1].time == out[i].time &&
			   out[i - 1].number < out[i].number));
}

/* Buffers of some CPUs, each in order; what comes behind a round is at most a round old.
 */
START_TEST(buffers_in_turn)
{
	static const unsigned cpus[] = {1, 2, 3, 7, 64};
	unsigned n = cpus[_i % 5], number = 0, most = 0;
	uint64_t time = 1000, last[64];
	struct hlg_queue q;

	state = (uint64_t)_i + 1;
	begin(&q);
	for (unsigned c = 0; c < n; c++)
		last[c] = time;
	while (number + 64 * 20 < ITEMS) {
		unsigned before = number;

		for (unsigned c = 0; c < n; c++) {
			for (unsigned i = pick(20); i; i--) {
				last[c] += pick(8);
				push(&q, last[c], number++);
			}
			last[c] = last[c] > time ? last[c] : time;
		}
		for (unsigned c = 0; c < n; c++)
			time = last[c] > time ? last[c] : time;
		ck_assert(hlg_queue_round(&q));
		most = number - before > most ? number - before : most;
		ck_assert_uint_le(q.n, most);
	}
	ck_assert(hlg_queue_end(&q));
	ck_assert_uint_eq(q.n, 0);
	expect_whole(number);
	expect_order(0, number);
	hlg_queue_finish(&q);
}
END_TEST

/* Any times at all, rounds anywhere: a call gives out what it gives out in order. */
START_TEST(no_order)
{
	struct hlg_queue q;
	unsigned number = 0;

	state = (uint64_t)_i + 1;
	begin(&q);
	q.limit = _i % 2 ? 100 : HLG_QUEUE_LIMIT;
	while (number < ITEMS) {
		unsigned before = n_out;
		bool rounds = pick(300) == 0;

		if (rounds) {
			ck_assert(hlg_queue_round(&q));
			expect_order(before, n_out);
		} else
			push(&q, pick(3) ? 50 * number : pick(50 * ITEMS), number),
				number++;
		ck_assert_uint_le(q.n, q.limit);
	}
	ck_assert(hlg_queue_end(&q));
	expect_whole(number);
	hlg_queue_finish(&q);
}
END_TEST

/* An item that breaks the promise of a round is late; each is, until a newer one. */
START_TEST(late_ones)
{
	static const uint64_t times[] = {10, 20, 30, 0, 0, 20, 15, 31, 0, 30, 31};
	struct hlg_queue q;

	begin(&q);
	for (unsigned i = 0; i < sizeof(times) / sizeof(times[0]); i++)
		ck_assert(times[i] ? push(&q, times[i], i) : hlg_queue_round(&q));
	ck_assert(hlg_queue_end(&q));
	/* 20 and 15 came when 30 had gone; 30 is not, as 31 waits for its round. */
	ck_assert_uint_eq(q.late, 2);
	hlg_queue_finish(&q);
}
END_TEST

/* Without rounds all comes out at the end, sorted; if there is a limit, in parts. */
START_TEST(one_sort)
{
	struct hlg_queue q;

	begin(&q);
	for (unsigned i = 0; i < ITEMS; i++)
		push(&q, _i ? ITEMS - i : i / 3, i);
	ck_assert_uint_eq(n_out, 0);
	ck_assert(hlg_queue_end(&q));
	expect_whole(ITEMS);
	expect_order(0, ITEMS);
	hlg_queue_finish(&q);
}
END_TEST

/* At the limit the older half goes out; all of it, if all is of one time. */
START_TEST(too_many)
{
	struct hlg_queue q;

	begin(&q);
	q.limit = 1000;
	for (unsigned i = 0; i < 1010; i++)
		push(&q, 5000 - i, i);
	ck_assert_uint_eq(n_out, 500);
	expect_order(0, 500);
	ck_assert_uint_eq(out[499].time, 5000 - 500);
	ck_assert_uint_eq(q.n, 510);
	hlg_queue_finish(&q);
	begin(&q);
	q.limit = 1000;
	for (unsigned i = 0; i < 1001; i++)
		push(&q, 7, i);
	ck_assert_uint_eq(n_out, 1000);
	expect_order(0, 1000);
	hlg_queue_finish(&q);
}
END_TEST

/* Nothing is taken after a failure, and what was not taken is still there, once. */
START_TEST(take_fails)
{
	struct hlg_queue q;

	begin(&q);
	fail_at = 3;
	for (unsigned i = 0; i < 10; i++)
		push(&q, _i ? 10 - i : i, i);
	ck_assert(!hlg_queue_end(&q));
	ck_assert(!hlg_queue_end(&q));
	ck_assert(!hlg_queue_round(&q));
	ck_assert_uint_eq(n_out, 3);
	for (size_t i = 0; i < q.n; i++)
		out[n_out++] = *(const struct item *)hlg_queue_item(&q, i);
	expect_whole(10);
	hlg_queue_finish(&q);
}
END_TEST

START_TEST(without_memory)
{
	bool struck = true;

	for (unsigned n = 1; struck; n++) {
		struct hlg_queue q;
		unsigned in = 0;
		bool ok = true;

		begin(&q);
		oom_arm(n, _i);
		for (unsigned i = 0; ok && i < 3000; i++) {
			ok = push(&q, i * 7 % 1000, in);
			in += ok;
			ok = ok && (i % 500 || hlg_queue_round(&q));
		}
		ok = ok && hlg_queue_end(&q);
		struck = oom_disarm();
		ck_assert(ok || struck);
		ck_assert_uint_eq(n_out + q.n, in);
		hlg_queue_finish(&q);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("order");
	TCase *tc = tap_case(suite, "order");

	tcase_add_loop_test(tc, buffers_in_turn, 0, 10);
	tcase_add_loop_test(tc, no_order, 0, 4);
	tcase_add_test(tc, late_ones);
	tcase_add_loop_test(tc, one_sort, 0, 2);
	tcase_add_test(tc, too_many);
	tcase_add_loop_test(tc, take_fails, 0, 2);
	tcase_add_loop_test(tc, without_memory, 0, 2);
	return tap_main(suite);
}
