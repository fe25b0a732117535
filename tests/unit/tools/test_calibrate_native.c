// SPDX-License-Identifier: GPL-2.0-only
/*
 * Batches made up: those beside a slow probe, or where the thread lost its CPU, are set
 * aside, each for one reason, and the row is of the others; a clock that changes makes no
 * batch a shared one; too few quiet batches are not believed. Then read: the sums hold.
 */
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "tests/kit/tap.h"
#include "tools/calibrate/crossing.h"

#define BATCHES 400
#define CLOCK   2800 /* ticks of the chain */
#define WIDE    5600 /* of the other adds, alone */
#define QUIET   400  /* a reading, alone */
#define SLOW    550

static struct hlg_native *native;
static struct hlg_err err;

static void enter(void)
{
	ck_assert_int_eq(hlg_native_open(&native, &err), 0);
	native->n = BATCHES;
	for (size_t row = 0; row < HLG_NATIVE_ROWS; row++) {
		struct hlg_native_log *log = &native->logs[row];

		for (size_t i = 0; i < BATCHES; i++)
			log->batches[i] = (struct hlg_native_batch){
				.wide = WIDE, .clock = CLOCK, .why = HLG_NATIVE_QUIET};
		for (size_t i = 0; i < BATCHES * log->turns; i++)
			log->readings[i] = QUIET;
	}
}

static void leave(void)
{
	hlg_native_finish(native);
}

/* From first on, every batch of getppid is slow, and beside a probe that is. */
static void share(size_t first, uint64_t wide)
{
	struct hlg_native_log *log = &native->logs[HLG_NATIVE_GETPPID];

	for (size_t i = first; i < BATCHES; i++)
		log->batches[i].wide = wide;
	for (size_t i = first * log->turns; i < BATCHES * log->turns; i++)
		log->readings[i] = SLOW;
}

static struct hlg_batches sum(struct hlg_ticks *ticks)
{
	struct hlg_batches batches;
	uint64_t all = 0;

	hlg_native_judge(native);
	hlg_native_judge(native); /* as often as one likes */
	hlg_native_sum(native, HLG_NATIVE_GETPPID, ticks, &batches);
	for (size_t i = 0; i < HLG_NATIVE_WHYS; i++)
		all += batches.whys[i];
	ck_assert_uint_eq(all, batches.n);
	ck_assert_uint_eq(batches.n, native->n);
	return batches;
}

START_TEST(quiet)
{
	struct hlg_ticks ticks;
	struct hlg_batches batches = sum(&ticks);

	ck_assert_uint_eq(batches.whys[HLG_NATIVE_QUIET], BATCHES);
	ck_assert(batches.undisturbed);
	ck_assert_uint_eq(ticks.n, BATCHES * native->logs[HLG_NATIVE_GETPPID].turns);
	ck_assert_double_eq_tol(batches.raw, 0, 1e-9);
}
END_TEST

/* The row is of the first quarter; that the others were slower stays to be seen. */
START_TEST(shared)
{
	struct hlg_ticks ticks;
	struct hlg_batches batches;

	share(BATCHES / 4, WIDE * 104 / 100);
	batches = sum(&ticks);
	ck_assert_uint_eq(batches.whys[HLG_NATIVE_QUIET], BATCHES / 4);
	ck_assert_uint_eq(batches.whys[HLG_NATIVE_SHARED], BATCHES * 3 / 4);
	ck_assert(batches.undisturbed);
	ck_assert_uint_eq(ticks.p50, QUIET);
	ck_assert_uint_eq(ticks.max, QUIET);
	ck_assert_uint_eq(batches.quiet_most, QUIET);
	ck_assert_uint_eq(batches.least, QUIET);
	ck_assert_uint_eq(batches.most, SLOW);
	ck_assert_double_eq_tol(batches.raw, (double)(SLOW - QUIET) / SLOW, 1e-9);
}
END_TEST

/* Of few that seem quiet too many only seem so. */
START_TEST(hardly_ever_quiet)
{
	struct hlg_ticks ticks;
	struct hlg_batches batches;

	for (size_t i = 0; i < 2; i++) {
		size_t need = i ? HLG_NATIVE_FEW : BATCHES / HLG_NATIVE_SHARE;

		native->n = i ? BATCHES / 4 : BATCHES;
		share(need, WIDE * 2);
		batches = sum(&ticks);
		ck_assert(batches.undisturbed);
		share(need - 1, WIDE * 2);
		batches = sum(&ticks);
		ck_assert(!batches.undisturbed);
		share(0, WIDE);
	}
	ck_assert_uint_eq(ticks.n, native->n * native->logs[HLG_NATIVE_GETPPID].turns);
	ck_assert_uint_eq(ticks.p50, SLOW);
}
END_TEST

/* Mostly at half the clock: everything takes twice as long, nobody shares. */
START_TEST(slower_clock)
{
	struct hlg_ticks ticks;
	struct hlg_clock clock;
	struct hlg_batches batches;

	for (size_t row = 0; row < HLG_NATIVE_ROWS; row++)
		for (size_t i = BATCHES / 4; i < BATCHES; i++) {
			native->logs[row].batches[i].wide *= 2;
			native->logs[row].batches[i].clock *= 2;
		}
	batches = sum(&ticks);
	ck_assert_uint_eq(batches.whys[HLG_NATIVE_QUIET], BATCHES);
	hlg_native_clock(native, &clock);
	ck_assert_double_eq_tol(clock.low, (double)CLOCK / HLG_NATIVE_CHAIN, 1e-9);
	ck_assert_double_eq_tol(clock.ticks, 2.0 * CLOCK / HLG_NATIVE_CHAIN, 1e-9);
	ck_assert_double_eq_tol(clock.high, 2.0 * CLOCK / HLG_NATIVE_CHAIN, 1e-9);
	ck_assert_double_eq_tol(clock.width,
				(double)HLG_NATIVE_WIDE / HLG_NATIVE_CHAIN * CLOCK / WIDE,
				1e-9);
}
END_TEST

/* What was lost otherwise stays lost, however fast the probes are. */
START_TEST(lost)
{
	struct hlg_native_batch *batches = native->logs[HLG_NATIVE_GETPPID].batches;
	struct hlg_batches found;
	struct hlg_ticks ticks;

	batches[3].why = HLG_NATIVE_SWITCHED;
	batches[3].wide = WIDE * 3;
	batches[4].why = batches[5].why = HLG_NATIVE_STOLEN;
	found = sum(&ticks);
	ck_assert_uint_eq(found.whys[HLG_NATIVE_SWITCHED], 1);
	ck_assert_uint_eq(found.whys[HLG_NATIVE_STOLEN], 2);
	ck_assert_uint_eq(found.whys[HLG_NATIVE_SHARED], 0);
}
END_TEST

static bool switches; /* whenever somebody looks */

/* In place of the system's. */
int getrusage(__rusage_who_t who, struct rusage *usage)
{
	static long n;

	(void)who;
	n += switches;
	*usage = (struct rusage){.ru_nivcsw = n};
	return 0;
}

/* Of /proc/stat one whose CPU was stolen since the last time. */
FILE *fopen(const char *path, const char *mode)
{
	static unsigned stolen;
	FILE *f;
	int fd;

	(void)mode;
	if (strcmp(path, "/proc/stat") != 0) {
		fd = open(path, O_RDONLY | O_CLOEXEC);
		return fd < 0 ? NULL : fdopen(fd, "r");
	}
	f = tmpfile();
	ck_assert_ptr_nonnull(f);
	fprintf(f, "cpu  1 1 1 1 1 1 1 1\ncpu%d 1 1 1 1 1 1 1 %u\n", sched_getcpu(),
		++stolen);
	rewind(f);
	return f;
}

/* What the hypervisor took is no reason where another thread ran. */
START_TEST(lost_twice)
{
	native->n = 0;
	switches = _i;
	hlg_native_visit(native);
	ck_assert_uint_gt(native->n, 0);
	for (size_t row = 0; row < HLG_NATIVE_ROWS; row++)
		for (size_t i = 0; i < native->n; i++)
			ck_assert_int_eq(native->logs[row].batches[i].why,
					 _i ? HLG_NATIVE_SWITCHED : HLG_NATIVE_STOLEN);
}
END_TEST

static struct hlg_crossings crossings(double raw, double drift)
{
	struct hlg_crossings c = {.clock = {.width = 4}};

	for (size_t i = 0; i < HLG_NATIVE_ROWS; i++) {
		c.batches[i].n = 100;
		c.batches[i].whys[HLG_NATIVE_QUIET] = 25;
		c.batches[i].undisturbed = true;
	}
	c.batches[HLG_NATIVE_FAULT].raw = raw;
	c.rows[HLG_CROSS_GETPPID].ticks.drift = drift;
	return c;
}

START_TEST(verdicts)
{
	struct hlg_crossings c = crossings(0.05, 0.05);

	ck_assert_str_eq(hlg_crossing_verdict(&c), "");
	ck_assert_double_eq_tol(hlg_crossing_quiet(&c), 0.25, 1e-9);
	c.clock.width = 5.9;
	ck_assert_str_eq(hlg_crossing_verdict(&c), "");
	c.clock.width = 3.3; /* of 4: never alone */
	ck_assert_str_eq(hlg_crossing_verdict(&c), "not idle: measure again");
	c.clock.width = 2;
	ck_assert_str_eq(hlg_crossing_verdict(&c), "not idle: measure again");
	c = crossings(0.3, 0.05);
	ck_assert_str_eq(hlg_crossing_verdict(&c), "not idle");
	c = crossings(0.3, 0.2);
	ck_assert_str_eq(hlg_crossing_verdict(&c), "not idle: measure again");
	for (size_t i = 0; i < HLG_NATIVE_ROWS; i++) {
		c = crossings(0.05, 0.05);
		c.batches[i].undisturbed = false;
		ck_assert_str_eq(hlg_crossing_verdict(&c), "not idle: measure again");
	}
}
END_TEST

/* Really: every row has all its batches, and the thread is where it may be again. */
START_TEST(visits)
{
	cpu_set_t before = native->allowed, meanwhile, after;

	hlg_native_finish(native);
	ck_assert_int_eq(hlg_native_open(&native, &err), 0);
	ck_assert_int_eq(sched_getaffinity(0, sizeof(meanwhile), &meanwhile), 0);
	ck_assert_int_eq(CPU_COUNT(&meanwhile), 1);
	for (size_t i = 0; i < HLG_NATIVE_MOST; i++)
		hlg_native_visit(native);
	ck_assert_uint_le(native->n, HLG_NATIVE_MOST);
	for (size_t row = 0; row < HLG_NATIVE_ROWS; row++) {
		const struct hlg_native_log *log = &native->logs[row];

		for (size_t i = 0; i < native->n; i++) {
			ck_assert_uint_gt(log->batches[i].wide, 0);
			ck_assert_uint_gt(log->batches[i].clock, 0);
		}
		for (size_t i = 0; i < native->n * log->turns; i++)
			ck_assert_uint_gt(log->readings[i], 0);
	}
	ck_assert_double_gt(hlg_native_rate(native), 1e8);
	hlg_native_finish(native);
	ck_assert_int_eq(sched_getaffinity(0, sizeof(after), &after), 0);
	ck_assert(CPU_EQUAL(&before, &after));
	ck_assert_int_eq(hlg_native_open(&native, &err), 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("calibrate native");
	TCase *tc = tap_case(suite, "batches");

	tcase_add_checked_fixture(tc, enter, leave);
	tcase_add_test(tc, quiet);
	tcase_add_test(tc, shared);
	tcase_add_test(tc, hardly_ever_quiet);
	tcase_add_test(tc, slower_clock);
	tcase_add_test(tc, lost);
	tcase_add_loop_test(tc, lost_twice, 0, 2);
	tcase_add_test(tc, verdicts);
	tcase_add_test(tc, visits);
	return tap_main(suite);
}
