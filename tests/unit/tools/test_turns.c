// SPDX-License-Identifier: GPL-2.0-only
/*
 * Whose a sample is: of the sandbox of the last KVM_RUN of its thread, however the
 * records stand in the file; and when a descriptor is another sandbox's.
 */
#include <stdlib.h>
#include <string.h>

#include "filter/options/options.h"
#include "tests/kit/oom.h"
#include "tests/kit/perfdata.h"
#include "tests/kit/tap.h"
#include "tools/feed/feed.h"
#include "tools/feed/turns-read.h"

enum {
	RUN = 0xae80,
	CREATE = 0xae41,
	REGION = 0x4020ae46,
	CPUID = 0x4008ae90,
	ROUND = 68, /* PERF_RECORD_FINISHED_ROUND */
	SAMPLE = 0,
	PID = 11,
	MOST = 400
};

static struct kit_event events[2] = {
	{{.type = PERF_TYPE_SOFTWARE,
	  .sample_type = KIT_PLAIN | PERF_SAMPLE_IDENTIFIER,
	  .sample_period = 9},
	 .ids = {1},
	 .name = "cpu-clock"},
	{{.type = PERF_TYPE_TRACEPOINT,
	  .config = 77,
	  .sample_type = KIT_PLAIN | PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_RAW,
	  .sample_period = 1},
	 .ids = {2},
	 .name = "syscalls:sys_enter_ioctl"},
};

/* What happened, in the order of time, which is its place. */
struct did {
	int32_t tid;
	uint32_t cmd;
	int fd;         /* of calls; of samples the stretch, */
	unsigned whose; /* the sandbox that is expected; of CREATE the vCPU's number */
};

static uint64_t time_of(size_t i)
{
	return 1000 + 10 * i;
}

static void put(struct kit *k, const struct did *did, uint64_t time)
{
	bool call = did->cmd != SAMPLE;
	size_t start = kit_begin(k, PERF_RECORD_SAMPLE,
				 call ? PERF_RECORD_MISC_KERNEL : HLG_MODE_GUEST_USER);

	kit_u64(k, call ? 2 : 1);
	kit_u64(k, 0x4000 + did->whose);
	kit_u32(k, PID);
	kit_u32(k, (uint32_t)did->tid);
	if (events[call].attr.sample_type & PERF_SAMPLE_TIME)
		kit_u64(k, time);
	kit_u64(k, 1);
	if (call) {
		kit_u32(k, 44);
		kit_u64(k, 77); /* common fields */
		kit_u64(k, 16); /* the call's number */
		kit_u64(k, (uint64_t)did->fd);
		kit_u64(k, did->cmd);
		kit_u64(k, did->whose);
		kit_u32(k, 0);
	}
	kit_end(k, start);
}

static const char *file_of(const struct kit *records)
{
	struct kit k = {0};
	const char *path;

	kit_file(&k, events, 2, records, 0);
	path = kit_name(k.at, k.n);
	kit_free(&k);
	return path;
}

static struct hlg_turns *turns_of(const struct kit *records, const char **why)
{
	struct hlg_turns *turns;
	struct hlg_err err;
	const char *path = file_of(records);

	ck_assert_msg(hlg_turns_read(&turns, path, false, why, &err) == 0, "%s", err.msg);
	kit_unname(path);
	return turns;
}

/* Each sample is whose it is said to be, and there are as many sandboxes. */
static void check(const struct did *did, size_t n, const struct kit *records,
		  uint32_t most)
{
	const char *why;
	struct hlg_turns *turns = turns_of(records, &why);

	ck_assert_ptr_nonnull(turns);
	ck_assert_uint_eq(hlg_turns_sandboxes(turns)->n, most);
	for (size_t i = 0; i < n; i++) {
		struct hlg_sample s = {.pid = PID, .tid = did[i].tid, .time = time_of(i)};

		hlg_turns_tell(turns, &s);
		ck_assert_msg(did[i].cmd != SAMPLE || (s.sandbox == did[i].whose &&
						       (int)s.stretch == did[i].fd),
			      "%zu: %u, not %u; %u", i, s.sandbox, did[i].whose,
			      s.stretch);
	}
	hlg_turns_free(turns);
}

static void check_in_order(const struct did *did, size_t n, uint32_t most)
{
	struct kit records = {0};

	for (size_t i = 0; i < n; i++)
		put(&records, &did[i], time_of(i));
	check(did, n, &records, most);
	kit_free(&records);
}

#define CHECK(did, most) check_in_order(did, sizeof(did) / sizeof((did)[0]), most)

/* Of what is no sample, as exits, each KVM_RUN tells. */
START_TEST(each_run_tells)
{
	static const uint32_t whose[] = {1, 1, 2, 2, 1, 1};

	for (int each = 0; each < 2; each++) {
		struct hlg_turns *turns = hlg_turns_make(each);

		ck_assert_ptr_nonnull(turns);
		for (uint64_t i = 0; i < 6; i += 2) {
			struct hlg_turns_item run = {.time = time_of(i),
						     .pid = PID,
						     .tid = 1,
						     .fd = 6 + 2 * (i == 2),
						     .cmd = HLG_TURNS_RUN};

			ck_assert(hlg_turns_take(turns, &run));
		}
		for (size_t i = 0; i < 6; i++) {
			struct hlg_sample s = {.pid = PID, .tid = 1, .time = time_of(i)};

			hlg_turns_tell(turns, &s);
			ck_assert_uint_eq(s.sandbox, each ? whose[i] : 0);
		}
		hlg_turns_free(turns);
	}
}
END_TEST

START_TEST(in_turn_on_one_thread)
{
	static const struct did did[] = {
		{1, SAMPLE, 0, 0}, {1, RUN, 6, 0},    {1, SAMPLE, 0, 1},
		{1, RUN, 8, 0},    {1, SAMPLE, 0, 2}, {1, SAMPLE, 0, 2},
		{1, RUN, 6, 0},    {1, SAMPLE, 0, 1}, {2, SAMPLE, 0, 0},
		{2, RUN, 8, 0},    {1, SAMPLE, 0, 1}, {2, SAMPLE, 0, 2},
	};

	CHECK(did, 2);
}
END_TEST

START_TEST(a_descriptor_used_again)
{
	static const struct did did[] = {
		{1, CREATE, 5, 0}, {1, RUN, 6, 0},    {1, SAMPLE, 0, 1},
		{1, CREATE, 5, 0}, {1, RUN, 6, 0},    {1, SAMPLE, 0, 2},
		{1, RUN, 6, 0},    {1, SAMPLE, 0, 2}, {1, REGION, 5, 0},
		{1, REGION, 5, 0}, {1, SAMPLE, 0, 2}, {1, RUN, 6, 0},
		{1, SAMPLE, 1, 2}, {1, RUN, 6, 0},    {1, SAMPLE, 1, 2},
	};

	CHECK(did, 2);
}
END_TEST

/* All are made first; a run of one does not make another one of the next. */
START_TEST(made_before_any_runs)
{
	static const struct did did[] = {
		{1, CREATE, 5, 0}, {1, CREATE, 7, 0}, {1, RUN, 6, 0}, {1, SAMPLE, 0, 1},
		{1, RUN, 6, 0},    {1, SAMPLE, 0, 1}, {1, RUN, 8, 0}, {1, SAMPLE, 0, 2},
		{1, RUN, 6, 0},    {1, SAMPLE, 0, 1},
	};

	CHECK(did, 2);
}
END_TEST

/* Each that runs is looked for among those that were made, of which the latest are kept.
 */
START_TEST(many_are_made)
{
	enum {
		N = 10000
	};
	struct did *did = calloc(2 * N + 1, sizeof(*did));

	ck_assert_ptr_nonnull(did);
	for (int i = 0; i < N; i++) {
		did[i] = (struct did){1, CREATE, 10 + i, 0};
		did[N + i] = (struct did){1, RUN, 10 + N + i, 0};
	}
	did[2 * N] = (struct did){1, SAMPLE, 0, N};
	check_in_order(did, 2 * N + 1, N);
	free(did);
}
END_TEST

/* One thread makes them, others run them, each new; the last one is moved. */
START_TEST(run_by_other_threads)
{
	static const struct did did[] = {
		{1, CREATE, 5, 0}, {2, RUN, 6, 0},    {2, SAMPLE, 0, 1},
		{1, CREATE, 5, 0}, {3, RUN, 6, 0},    {3, SAMPLE, 0, 2},
		{4, RUN, 6, 0},    {4, SAMPLE, 0, 2},
	};

	CHECK(did, 2);
}
END_TEST

/* Each on a thread of its own, which another one made; the last when the first ran. */
START_TEST(vcpus_of_one_machine)
{
	static const struct did did[] = {
		{1, CREATE, 5, 0}, {1, CREATE, 5, 1}, {2, RUN, 6, 0},
		{2, SAMPLE, 0, 1}, {3, RUN, 7, 0},    {3, SAMPLE, 0, 1},
		{2, RUN, 6, 0},    {2, SAMPLE, 0, 1}, {1, CREATE, 5, 2},
		{2, RUN, 6, 0},    {2, SAMPLE, 0, 1}, {4, RUN, 8, 0},
		{4, SAMPLE, 0, 1}, {3, RUN, 7, 0},    {3, SAMPLE, 0, 1},
	};

	CHECK(did, 1);
}
END_TEST

/* The one that made the second runs the first, which stays what it was. */
START_TEST(a_vcpu_that_makes_another)
{
	static const struct did did[] = {
		{1, CREATE, 5, 0}, {1, RUN, 6, 0},    {1, SAMPLE, 0, 1},
		{1, CREATE, 5, 1}, {1, RUN, 6, 0},    {1, SAMPLE, 0, 1},
		{2, RUN, 7, 0},    {2, SAMPLE, 0, 1}, {1, RUN, 6, 0},
		{1, SAMPLE, 0, 1},
	};

	CHECK(did, 1);
}
END_TEST

/* Two machines, all made first; then two where these were. */
START_TEST(machines_of_two)
{
	static const struct did did[] = {
		{1, CREATE, 5, 0}, {1, CREATE, 5, 1}, {1, CREATE, 8, 0},
		{1, CREATE, 8, 1}, {2, RUN, 9, 0},    {2, SAMPLE, 0, 1},
		{3, RUN, 7, 0},    {3, SAMPLE, 0, 2}, {4, RUN, 10, 0},
		{4, SAMPLE, 0, 1}, {5, RUN, 6, 0},    {5, SAMPLE, 0, 2},
		{1, CREATE, 5, 0}, {1, CREATE, 5, 1}, {6, RUN, 6, 0},
		{6, SAMPLE, 0, 3}, {7, RUN, 7, 0},    {7, SAMPLE, 0, 3},
		{2, RUN, 9, 0},    {2, SAMPLE, 0, 1},
	};

	CHECK(did, 3);
}
END_TEST

/* Memory is the machine's, whichever of its vCPUs runs first with it, and no other's. */
START_TEST(memory_of_a_machine)
{
	static const struct did did[] = {
		{1, CREATE, 5, 0}, {1, CREATE, 5, 1}, {1, CREATE, 8, 0},  {1, RUN, 6, 0},
		{1, RUN, 9, 0},    {2, RUN, 7, 0},    {1, REGION, 5, 0},  {1, RUN, 9, 0},
		{1, SAMPLE, 0, 2}, {2, RUN, 7, 0},    {2, SAMPLE, 1, 1},  {1, RUN, 6, 0},
		{1, SAMPLE, 1, 1}, {3, RUN, 30, 0},   {3, REGION, 29, 0}, {3, RUN, 30, 0},
		{3, SAMPLE, 1, 3},
	};

	CHECK(did, 3);
}
END_TEST

/* Two are made before either runs, of which one is run by another thread, later. */
START_TEST(named_when_made)
{
	static const struct did did[] = {
		{1, CREATE, 5, 0}, {1, CPUID, 6, 0},  {1, RUN, 6, 0},
		{1, SAMPLE, 0, 1}, {1, CREATE, 7, 0}, {1, CPUID, 8, 0},
		{1, RUN, 8, 0},    {1, SAMPLE, 0, 2}, {1, CREATE, 5, 0},
		{1, CPUID, 6, 0},  {1, CREATE, 7, 0}, {1, CPUID, 9, 0},
		{1, RUN, 9, 0},    {1, SAMPLE, 0, 3}, {1, RUN, 8, 0},
		{1, SAMPLE, 0, 2}, {2, RUN, 8, 0},    {2, SAMPLE, 0, 2},
		{2, RUN, 6, 0},    {2, SAMPLE, 0, 4}, {1, RUN, 6, 0},
		{1, SAMPLE, 0, 4},
	};

	CHECK(did, 4);
}
END_TEST

/* Two threads make one each at once; a second vCPU of the first's machine shows whose
 * each is. */
START_TEST(named_at_once)
{
	static const struct did did[] = {
		{1, CREATE, 5, 0}, {2, CREATE, 7, 0}, {1, CPUID, 6, 0}, {2, CPUID, 8, 0},
		{1, RUN, 6, 0},    {1, SAMPLE, 0, 1}, {2, RUN, 8, 0},   {2, SAMPLE, 0, 2},
		{1, CREATE, 5, 1}, {1, CPUID, 9, 0},  {1, RUN, 9, 0},   {1, SAMPLE, 0, 1},
	};

	CHECK(did, 2);
}
END_TEST

/* As many as 64 numbers are told apart; of those behind, none is another machine's. */
START_TEST(many_vcpus_of_one_machine)
{
	static const struct did did[] = {
		{1, CREATE, 5, 0},   {1, CPUID, 6, 0},   {1, CREATE, 5, 63},
		{1, CPUID, 7, 0},    {1, CREATE, 5, 64}, {1, CPUID, 8, 0},
		{1, CREATE, 5, 200}, {1, CPUID, 9, 0},   {1, RUN, 6, 0},
		{1, SAMPLE, 0, 1},   {2, RUN, 7, 0},     {2, SAMPLE, 0, 1},
		{3, RUN, 8, 0},      {3, SAMPLE, 0, 1},  {4, RUN, 9, 0},
		{4, SAMPLE, 0, 1},
	};

	CHECK(did, 1);
}
END_TEST

/* Another thread restores it, and a third one runs it; its neighbour is left alone. */
START_TEST(filled_by_another_thread)
{
	static const struct did did[] = {
		{1, CREATE, 5, 0}, {1, CPUID, 6, 0},  {1, REGION, 5, 0},
		{1, RUN, 6, 0},    {1, SAMPLE, 0, 1}, {1, CREATE, 7, 0},
		{1, CPUID, 8, 0},  {1, REGION, 7, 0}, {1, RUN, 8, 0},
		{1, SAMPLE, 0, 2}, {2, REGION, 7, 0}, {2, REGION, 7, 0},
		{1, RUN, 6, 0},    {1, SAMPLE, 0, 1}, {3, RUN, 8, 0},
		{3, SAMPLE, 1, 2}, {3, RUN, 8, 0},    {3, SAMPLE, 1, 2},
		{2, RUN, 6, 0},    {2, SAMPLE, 0, 1},
	};

	CHECK(did, 2);
}
END_TEST

/* Who runs one gives memory to the next, whose vCPU is not made yet. */
START_TEST(memory_of_the_next)
{
	static const struct did did[] = {
		{1, CREATE, 5, 0}, {1, CPUID, 6, 0},  {1, REGION, 5, 0},
		{1, RUN, 6, 0},    {1, SAMPLE, 0, 1}, {1, REGION, 7, 0},
		{1, RUN, 6, 0},    {1, SAMPLE, 0, 1}, {1, CREATE, 7, 0},
		{1, CPUID, 8, 0},  {1, RUN, 8, 0},    {1, SAMPLE, 0, 2},
		{1, RUN, 6, 0},    {1, SAMPLE, 0, 1},
	};

	CHECK(did, 2);
}
END_TEST

/* As perf writes them: what each CPU has, one after the other, round by round. */
START_TEST(whatever_stands_where)
{
	enum {
		CPUS = 3,
		THREADS = 4
	};
	static struct did did[MOST];
	uint32_t now[THREADS] = {0}, numbers[8] = {0}, most = 0;
	struct kit records = {0};

	srand((unsigned)_i + 1);
	for (size_t i = 0; i < MOST; i++) {
		int tid = rand() % THREADS, fd = rand() % 8;

		did[i] = (struct did){100 + tid, SAMPLE, 0, now[tid]};
		if (rand() % 2)
			continue;
		did[i] = (struct did){100 + tid, RUN, fd, 0};
		if (!numbers[fd])
			numbers[fd] = ++most;
		now[tid] = numbers[fd];
	}
	for (size_t from = 0, to; from < MOST; from = to) {
		to = from + (size_t)(rand() % 60) + 1;
		to = to < MOST ? to : MOST;
		for (int cpu = 0; cpu < CPUS; cpu++)
			for (size_t i = from; i < to; i++)
				if ((did[i].tid * 7 + (int)i / 5) % CPUS == cpu)
					put(&records, &did[i], time_of(i));
		kit_end(&records, kit_begin(&records, ROUND, 0));
	}
	check(did, MOST, &records, most);
	kit_free(&records);
}
END_TEST

/* Counted so, with and without a report by them; and with nothing to tell them by. */
START_TEST(a_profile_counts_them)
{
	static const struct did did[] = {
		{1, SAMPLE, 0, 0}, {1, RUN, 6, 0},    {1, SAMPLE, 0, 1},
		{1, RUN, 8, 0},    {1, SAMPLE, 0, 2}, {1, SAMPLE, 0, 2},
		{1, RUN, 6, 0},    {1, SAMPLE, 0, 1}, {1, SAMPLE, 0, 1},
	};
	const struct hlg_feed_how how = {.threads = 1};
	char word[] = "by=sandbox", *argv[] = {word};
	struct hlg_recording_sums sums;
	struct hlg_profile profile;
	struct hlg_options options;
	struct kit records = {0};
	struct hlg_err err;
	const char *path;

	for (size_t i = 0; i < sizeof(did) / sizeof(did[0]); i++)
		put(&records, &did[i], time_of(i));
	path = file_of(&records);
	ck_assert_int_eq(hlg_options_parse(&options, _i, argv, &err), 0);
	ck_assert(hlg_profile_init(&profile, &options));
	ck_assert_int_eq(hlg_feed_read(path, &how, &profile, NULL, &sums, &err), 0);
	ck_assert_uint_eq(profile.sandboxes.n, 2);
	ck_assert_uint_eq(profile.sandboxes.at[0].count.samples, 3);
	ck_assert_uint_eq(profile.sandboxes.at[1].count.samples, 2);
	ck_assert_int_eq(profile.sandboxes.at[1].fd, 8);
	ck_assert_int_eq(profile.sandboxes.at[1].pid, PID);
	/* Of each sandbox the address tells whose it is, and the host is one more. */
	ck_assert_uint_eq(profile.n_cells, 3);
	for (size_t i = 0; _i && i < hlg_profile_room(&profile); i++) {
		const struct hlg_cell *cell = &profile.cells[i];
		int32_t of;

		if (!cell->count.samples)
			continue;
		of = profile.series[cell->series].sandbox;
		ck_assert_int_eq(of,
				 cell->ip == 0x4000 ? -1 : (int32_t)cell->ip - 0x4000);
		/* Of a thread where no sandbox is known. */
		ck_assert_int_eq(cell->tid, of < 0 ? 1 : HLG_MANY_TIDS - of);
		ck_assert_int_eq(hlg_profile_sandbox_of(cell->tid), of < 0 ? -3 : of);
	}
	hlg_profile_finish(&profile);
	hlg_options_finish(&options);
	kit_unname(path);
	kit_free(&records);
}
END_TEST

/* Of a recording that lost some it is known how often, not how long. */
START_TEST(uses)
{
	struct hlg_turns_item items[] = {
		{.time = 10, .fd = 5, .cmd = HLG_TURNS_RUN},
		{.time = 20, .cmd = HLG_TURNS_ENTRY, .value = 0x4000},
		{.time = 30, .cmd = HLG_TURNS_EXIT},
		{.time = 31, .cmd = HLG_TURNS_OUT, .value = HLG_PORT_NOTIFY},
		{.time = 40, .cmd = HLG_TURNS_ENTRY, .value = 0x5000},
		{.time = 55, .cmd = HLG_TURNS_EXIT},
		{.time = 56, .cmd = HLG_TURNS_OUT, .value = HLG_PORT_CALL},
		{.time = 75, .cmd = HLG_TURNS_ENTRY, .value = 0x6000},
	};
	const uint64_t whole = (uint64_t)_i;
	const struct hlg_ports right = {.calls = 1,
					.notifies = 1,
					.guest_ns = 25 * whole,
					.exits_ns = 30 * whole,
					.calls_ns = 20 * whole,
					.notifies_ns = 10 * whole};
	struct hlg_turns *turns = hlg_turns_make(false);
	struct hlg_profile profile = {0};

	for (size_t i = 0; i < sizeof(items) / sizeof(items[0]); i++) {
		items[i].pid = PID;
		items[i].tid = 1;
		ck_assert(hlg_turns_take(turns, &items[i]));
	}
	ck_assert(hlg_sandboxes_add(&profile.sandboxes, PID, 5));
	hlg_turns_use(turns, _i, &profile);
	ck_assert_mem_eq(&profile.sandboxes.at[0].ports, &right, sizeof(right));
	ck_assert_uint_eq(profile.sandboxes.at[0].entered, 0x4000);
	/* Exits at ports are the feed's to count. */
	ck_assert_uint_eq(profile.transits.ports.calls, 0);
	ck_assert_uint_eq(profile.transits.ports.notifies, 0);
	ck_assert_uint_eq(profile.transits.ports.guest_ns, 25 * whole);
	hlg_sandboxes_finish(&profile.sandboxes);
	hlg_turns_free(turns);
}
END_TEST

/* Whose a sample is only times tell. */
START_TEST(without_times)
{
	static const struct did did[] = {{1, RUN, 6, 0}, {1, SAMPLE, 0, 1}};
	const uint64_t types[2] = {events[0].attr.sample_type,
				   events[1].attr.sample_type};
	struct kit records = {0};
	const char *why;

	for (unsigned i = 0; i < 2; i++)
		events[i].attr.sample_type &= ~(uint64_t)PERF_SAMPLE_TIME;
	put(&records, &did[0], 900);
	put(&records, &did[1], 1000);
	ck_assert_ptr_null(turns_of(&records, &why));
	for (unsigned i = 0; i < 2; i++)
		events[i].attr.sample_type = types[i];
	kit_free(&records);
}
END_TEST

START_TEST(nothing_tells)
{
	static const struct did did[] = {{1, RUN, 6, 0}, {1, SAMPLE, 0, 1}};
	struct kit records = {0};
	struct hlg_turns *turns;
	struct hlg_err err;
	const char *why;

	put(&records, &did[1], 1000);
	ck_assert_ptr_null(turns_of(&records, &why));
	ck_assert_ptr_nonnull(strstr(why, "has no KVM_RUN"));
	put(&records, &did[0], 900);
	turns = turns_of(&records, &why);
	ck_assert_ptr_nonnull(turns);
	hlg_turns_free(turns);
	events[1].attr.sample_period = 4000;
	ck_assert_ptr_null(turns_of(&records, &why));
	ck_assert_ptr_nonnull(strstr(why, "has only some of its KVM_RUNs"));
	ck_assert_int_eq(hlg_turns_read(&turns, "-", false, &why, &err), 0);
	ck_assert_ptr_null(turns);
	ck_assert_ptr_nonnull(strstr(why, "through a pipe"));
	kit_free(&records);
}
END_TEST

/* What could not be had is not half there: the same machine may be made again. */
START_TEST(without_memory)
{
	bool struck = true;

	for (unsigned n = 1; struck; n++) {
		struct hlg_turns_item item = {
			.pid = 1, .tid = 1, .fd = 3, .cmd = HLG_TURNS_CREATE_VCPU};
		struct hlg_turns *t = hlg_turns_make(false);
		bool ok = true;

		ck_assert(t);
		oom_arm(n, false);
		for (unsigned i = 0; i < 6; i++) {
			item.time = 1 + i;
			item.value = i % 2;
			ok &= hlg_turns_take(t, &item);
		}
		struck = oom_disarm();
		ck_assert_int_eq(ok, !struck);
		hlg_turns_free(t);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("turns");

	tcase_add_test(tap_case(suite, "each_run_tells"), each_run_tells);
	tcase_add_test(tap_case(suite, "in_turn_on_one_thread"), in_turn_on_one_thread);
	tcase_add_test(tap_case(suite, "a_descriptor_used_again"),
		       a_descriptor_used_again);
	tcase_add_test(tap_case(suite, "made_before_any_runs"), made_before_any_runs);
	tcase_add_test(tap_case(suite, "many_are_made"), many_are_made);
	tcase_add_test(tap_case(suite, "run_by_other_threads"), run_by_other_threads);
	tcase_add_test(tap_case(suite, "vcpus_of_one_machine"), vcpus_of_one_machine);
	tcase_add_test(tap_case(suite, "a_vcpu_that_makes_another"),
		       a_vcpu_that_makes_another);
	tcase_add_test(tap_case(suite, "machines_of_two"), machines_of_two);
	tcase_add_test(tap_case(suite, "memory_of_a_machine"), memory_of_a_machine);
	tcase_add_test(tap_case(suite, "named_when_made"), named_when_made);
	tcase_add_test(tap_case(suite, "named_at_once"), named_at_once);
	tcase_add_test(tap_case(suite, "many_vcpus_of_one_machine"),
		       many_vcpus_of_one_machine);
	tcase_add_test(tap_case(suite, "filled_by_another_thread"),
		       filled_by_another_thread);
	tcase_add_test(tap_case(suite, "memory_of_the_next"), memory_of_the_next);
	tcase_add_loop_test(tap_case(suite, "whatever_stands_where"),
			    whatever_stands_where, 0, 50);
	tcase_add_loop_test(tap_case(suite, "a_profile_counts_them"),
			    a_profile_counts_them, 0, 2);
	tcase_add_loop_test(tap_case(suite, "uses"), uses, 0, 2);
	tcase_add_test(tap_case(suite, "without_times"), without_times);
	tcase_add_test(tap_case(suite, "nothing_tells"), nothing_tells);
	tcase_add_test(tap_case(suite, "without_memory"), without_memory);
	return tap_main(suite);
}
