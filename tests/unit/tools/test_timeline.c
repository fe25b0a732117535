// SPDX-License-Identifier: GPL-2.0-only
/*
 * Host samples are named by what was mapped at their time, in whatever order buffers come
 * into the file, as long as rounds keep what they promise. What a slow reading in the
 * order of time says is the measure. Each sample counts once, also without memory.
 */
#include "tools/feed/timeline.h"

#include <linux/perf_event.h>
#include <string.h>

#include "tests/kit/oom.h"
#include "tests/kit/tap.h"

enum {
	EVENTS = 2000,
	CPUS = 4
};

static uint64_t state;

static unsigned pick(unsigned n)
{
	state = state * UINT64_C(6364136223846793005) + 1442695040888963407u;
	return (unsigned)(state >> 33) % n;
}

static struct hlg_perfdata_task mapping(uint64_t time, unsigned what)
{
	static const char *const names[] = {"/a", "/b", "/c", "/d"};

	return (struct hlg_perfdata_task){.type = PERF_RECORD_MMAP2,
					  .pid = 7,
					  .tid = 7,
					  .time = time,
					  .start = 0x1000,
					  .size = 0x1000,
					  .cpumode = PERF_RECORD_MISC_USER,
					  .name = names[what % 4]};
}

static struct hlg_sample sample(uint64_t time)
{
	return (struct hlg_sample){.ip = 0x1800,
				   .period = 3,
				   .time = time,
				   .pid = 7,
				   .tid = 7,
				   .cpumode = PERF_RECORD_MISC_USER};
}

static uint64_t samples_of(const struct hlg_host *host, uint32_t series, const char *dso)
{
	uint64_t n = 0;

	for (size_t i = 0; i < host->n_rows; i++)
		if (host->rows[i].series == series && !strcmp(host->rows[i].dso, dso))
			n += host->rows[i].count.samples;
	return n;
}

/* What the one stack of a series ends in. */
static const char *leaf_of(const struct hlg_stacks *stacks, uint32_t series)
{
	const struct hlg_tree *tree = &stacks->tree;
	const char *name = NULL;

	for (uint32_t i = 0; i < stacks->n_stacks; i++) {
		if (stacks->stacks[i].series != series)
			continue;
		ck_assert_ptr_null(name);
		name = hlg_tree_name(tree, &tree->nodes[stacks->stacks[i].node]);
	}
	return name;
}

/*
 * Times 1 to EVENTS, a mapping every few; each happens on a CPU. Buffers are emptied one
 * after the other, and what happens meanwhile on those emptied already waits a round.
 */
static void feed(struct hlg_timeline *timeline, const int *map, const uint8_t *cpu)
{
	unsigned done[CPUS] = {0}, now = 0;

	while (now < EVENTS) {
		for (unsigned c = 0; c < CPUS; c++) {
			now += pick(30);
			now = now > EVENTS ? EVENTS : now;
			for (; done[c] < now; done[c]++) {
				unsigned i = done[c];
				struct hlg_perfdata_task task;
				struct hlg_sample s = sample(i + 1);

				if (cpu[i] != c)
					continue;
				task = mapping(i + 1, (unsigned)map[i]);
				if (map[i] < 0)
					hlg_timeline_add(timeline, &s, i, HLG_NO_CHAIN,
							 HLG_TIMELINE_ROW |
								 HLG_TIMELINE_STACK);
				else
					ck_assert(hlg_timeline_task(timeline, &task));
			}
		}
		ck_assert(hlg_queue_round(&timeline->queue));
		ck_assert_uint_le(timeline->queue.n, CPUS * CPUS * 30 * 2);
	}
}

START_TEST(rounds)
{
	static int map[EVENTS];
	static uint8_t cpu[EVENTS];
	const char *mapped = "[unknown]";
	const struct hlg_options options = {0};
	struct hlg_stacks stacks = {0};
	struct hlg_timeline timeline;
	struct hlg_host host = {0};
	char leaf[16];

	state = (uint64_t)_i + 1;
	for (unsigned i = 0; i < EVENTS; i++) {
		map[i] = pick(5) ? -1 : (int)pick(4);
		cpu[i] = (uint8_t)pick(CPUS);
	}
	ck_assert(hlg_timeline_init(&timeline, &host));
	ck_assert(hlg_stacks_init(&stacks, &options));
	timeline.stacks = &stacks;
	feed(&timeline, map, cpu);
	ck_assert(hlg_queue_end(&timeline.queue));
	for (unsigned i = 0; i < EVENTS; i++) {
		if (map[i] >= 0) {
			mapped = mapping(0, (unsigned)map[i]).name;
		} else if (i < EVENTS - 200) { /* which all CPUs have told */
			ck_assert_uint_eq(samples_of(&host, i, mapped), 1);
			ck_assert_str_eq(leaf_of(&stacks, i),
					 hlg_stacks_dso_name(leaf, sizeof(leaf), mapped));
		}
	}
	hlg_stacks_finish(&stacks);
	hlg_timeline_finish(&timeline);
	hlg_host_finish(&host);
}
END_TEST

/* Of one time, the file's order; without a time, at once. */
START_TEST(ties)
{
	static const uint64_t times[] = {5, 0, HLG_NO_TIME};

	for (unsigned i = 0; i < 3; i++) {
		struct hlg_perfdata_task a = mapping(times[i], 0);
		struct hlg_perfdata_task b = mapping(times[i], 1);
		struct hlg_sample s = sample(times[i]);
		struct hlg_host host = {0};
		struct hlg_timeline timeline;

		ck_assert(hlg_timeline_init(&timeline, &host));
		hlg_timeline_add(&timeline, &s, 0, HLG_NO_CHAIN, HLG_TIMELINE_ROW);
		ck_assert(hlg_timeline_task(&timeline, &a));
		hlg_timeline_add(&timeline, &s, 1, HLG_NO_CHAIN, HLG_TIMELINE_ROW);
		ck_assert(hlg_timeline_task(&timeline, &b));
		hlg_timeline_add(&timeline, &s, 2, HLG_NO_CHAIN, HLG_TIMELINE_ROW);
		ck_assert_uint_eq(host.n_rows, i ? 3 : 0);
		ck_assert(hlg_queue_end(&timeline.queue));
		ck_assert_uint_eq(samples_of(&host, 0, "[unknown]"), 1);
		ck_assert_uint_eq(samples_of(&host, 1, "/a"), 1);
		ck_assert_uint_eq(samples_of(&host, 2, "/b"), 1);
		hlg_timeline_finish(&timeline);
		hlg_host_finish(&host);
	}
}
END_TEST

/* What is of the round before the last is named; what is newer waits for its mapping. */
START_TEST(one_round_waits)
{
	struct hlg_perfdata_task late = mapping(15, 2);
	struct hlg_sample early = sample(10), later = sample(20);
	struct hlg_host host = {0};
	struct hlg_timeline timeline;

	ck_assert(hlg_timeline_init(&timeline, &host));
	hlg_timeline_add(&timeline, &early, 0, HLG_NO_CHAIN, HLG_TIMELINE_ROW);
	ck_assert(hlg_queue_round(&timeline.queue));
	ck_assert_uint_eq(host.n_rows, 0);
	hlg_timeline_add(&timeline, &later, 1, HLG_NO_CHAIN, HLG_TIMELINE_ROW);
	ck_assert(hlg_queue_round(&timeline.queue));
	ck_assert_uint_eq(host.n_rows, 1);
	ck_assert(hlg_timeline_task(&timeline, &late));
	ck_assert(hlg_queue_round(&timeline.queue));
	ck_assert_uint_eq(host.n_rows, 2);
	ck_assert_uint_eq(samples_of(&host, 0, "[unknown]"), 1);
	ck_assert_uint_eq(samples_of(&host, 1, "/c"), 1);
	hlg_timeline_finish(&timeline);
	hlg_host_finish(&host);
}
END_TEST

/* No rounds, and more than is kept. */
START_TEST(too_many)
{
	struct hlg_host host = {0};
	struct hlg_timeline timeline;

	ck_assert(hlg_timeline_init(&timeline, &host));
	for (uint64_t i = 0; i < HLG_QUEUE_LIMIT + 10; i++) {
		struct hlg_sample s = sample(HLG_QUEUE_LIMIT * 2 - i);

		hlg_timeline_add(&timeline, &s, 0, HLG_NO_CHAIN, HLG_TIMELINE_ROW);
	}
	ck_assert_uint_eq(timeline.queue.n, HLG_QUEUE_LIMIT / 2 + 10);
	ck_assert(hlg_queue_end(&timeline.queue));
	ck_assert_uint_eq(samples_of(&host, 0, "[unknown]"), HLG_QUEUE_LIMIT + 10);
	hlg_timeline_finish(&timeline);
	hlg_host_finish(&host);
}
END_TEST

START_TEST(without_memory)
{
	bool struck = true;

	for (unsigned n = 1; struck; n++) {
		struct hlg_host host = {0};
		struct hlg_timeline timeline;
		uint64_t sum, given = 0;
		bool ok;

		oom_arm(n, _i);
		ok = hlg_timeline_init(&timeline, &host);
		for (unsigned i = 1; ok && i < 600; i++) {
			struct hlg_perfdata_task task = mapping(i * 3 % 97, i);
			struct hlg_sample s = sample(i % 89);

			task.pid = task.tid = (int32_t)(i % 50);
			ok = hlg_timeline_task(&timeline, &task);
			hlg_timeline_add(&timeline, &s, 0, HLG_NO_CHAIN,
					 HLG_TIMELINE_ROW);
			given++;
			ok = ok && (i % 100 || hlg_queue_round(&timeline.queue));
		}
		ok = ok && hlg_queue_end(&timeline.queue);
		struck = oom_disarm();
		sum = host.unnamed.samples;
		for (size_t i = 0; i < host.n_rows; i++)
			sum += host.rows[i].count.samples;
		if (ok)
			ck_assert_uint_eq(sum, given);
		ck_assert(ok || struck);
		hlg_timeline_finish(&timeline);
		hlg_host_finish(&host);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("timeline");
	TCase *tc = tap_case(suite, "timeline");

	tcase_add_loop_test(tc, rounds, 0, 10);
	tcase_add_test(tc, ties);
	tcase_add_test(tc, one_round_waits);
	tcase_add_test(tc, too_many);
	tcase_add_loop_test(tc, without_memory, 0, 2);
	return tap_main(suite);
}
