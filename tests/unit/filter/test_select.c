// SPDX-License-Identifier: GPL-2.0-only
/*
 * Selection keeps a sample exactly when everything asked for is recorded and matches.
 * Proved on all combinations of a few values against a literal reading of that sentence,
 * and on the edges of the time window, which is half open.
 */
#include "filter/profile/select.h"

#include <stdlib.h>
#include <string.h>

#include "tests/kit/filter.h"
#include "tests/kit/tap.h"

/* What is asked for in words, and the same by hand. */
static const struct {
	const char *words;
	bool pid, tid, cpu, time; /* pid=7,8 tid=20-29 cpu=0 time=1.5,2 */
} asked[] = {
	{"", false, false, false, false},
	{"pid=7,8", true, false, false, false},
	{"tid=20-29", false, true, false, false},
	{"cpu=0", false, false, true, false},
	{"time=1.5,2", false, false, false, true},
	{"pid=7,8 tid=20-29", true, true, false, false},
	{"pid=7,8 tid=20-29 cpu=0 time=1.5,2", true, true, true, true},
};

static const int32_t pids[] = {-1, 0, 7, 8, 9}, tids[] = {-1, 19, 20, 29, 30},
		     cpus[] = {-1, 0, 1};
static const uint64_t times[] = {0,          1499999999, 1500000000,
				 1999999999, 2000000000, HLG_NO_TIME};

static bool literally(int i, const struct hlg_sample *s)
{
	if (asked[i].pid && s->pid != 7 && s->pid != 8)
		return false;
	if (asked[i].tid && (s->tid < 20 || s->tid > 29))
		return false;
	if (asked[i].cpu && s->cpu != 0)
		return false;
	return !asked[i].time || s->time == 1500000000 || s->time == 1999999999;
}

static bool lacking(int i, const struct hlg_sample *s)
{
	return (asked[i].pid && s->pid == -1) || (asked[i].tid && s->tid == -1) ||
	       (asked[i].cpu && s->cpu == -1) ||
	       (asked[i].time && s->time == HLG_NO_TIME);
}

START_TEST(all_combinations)
{
	struct hlg_options o;
	struct hlg_select_window w;
	struct hlg_sample s = kit_sample(0, 0);

	kit_options(&o, asked[_i].words);
	w = hlg_select_window(&o);
	ck_assert_int_eq(hlg_select_restricts(&o), _i != 0);
	for (int n = 0; n < 5 * 5 * 3 * 6; n++) {
		s.pid = pids[n % 5];
		s.tid = tids[n / 5 % 5];
		s.cpu = cpus[n / 25 % 3];
		s.time = times[n / 75];
		ck_assert_int_eq(hlg_select_keeps(&o, &w, &s), literally(_i, &s));
		ck_assert_int_eq(hlg_select_lacks(&o, &s), lacking(_i, &s));
		if (lacking(_i, &s))
			ck_assert(!hlg_select_keeps(&o, &w, &s));
	}
	hlg_options_finish(&o);
}
END_TEST

/* Relative to samples from 1000 to 11000 s. */
static const struct {
	const char *words;
	uint64_t start, stop; /* ns */
} relative[] = {
	{"time=+0,+10", 0, 1010000000000},
	{"time=+500ms,", 1000500000000, UINT64_MAX},
	{"time=,+2s", 0, 1002000000000},
	{"time=+1.5,+20us", 0, 0}, /* refused */
	{"time=+20us,+1.5", 1000000020000, 1001500000000},
	{"time=+7ns,+8", 1000000000007, 1008000000000},
	{"time=10%/2", 2000000000000, 3000000000000},
	{"time=0%-10%", 1000000000000, 2000000000000},
	{"time=50%-100%", 6000000000000, 11000000000001},
	{"time=10%/10", 10000000000000, 11000000000001},
	{"time=12.5%/1", 1000000000000, 2250000000000},
	{"time=10%/11", 0, 0},
	{"time=10%/0", 0, 0},
	{"time=20%-10%", 0, 0},
	{"time=0%-101%", 0, 0},
	{"time=%", 0, 0},
	{"time=1%", 0, 0},
	{"time=+1,5", 0, 0}, /* two clocks */
	{"time=+", 0, 0},
	{"time=+1m,+2m", 0, 0},
	{"time=10%/1,10%/2", 0, 0},
};

START_TEST(relative_times)
{
	char *argv[] = {strdup(relative[_i].words)};
	struct hlg_select_window w;
	struct hlg_options o;
	struct hlg_err err;
	int rc = hlg_options_parse(&o, 1, argv, &err);

	ck_assert_int_eq(rc, relative[_i].stop ? 0 : HLG_EINPUT);
	if (rc == 0) {
		ck_assert(hlg_select_window(&o).open);
		w = hlg_select_window_of(&o, 1000000000000, 11000000000000);
		ck_assert_uint_eq(w.start, relative[_i].start);
		ck_assert_uint_eq(w.stop, relative[_i].stop);
		ck_assert(!w.open && hlg_select_restricts(&o));
	}
	hlg_options_finish(&o);
	free(argv[0]);
}
END_TEST

static bool keeps_time(const char *words, uint64_t time)
{
	struct hlg_options o;
	struct hlg_sample s = kit_sample(0, 0);
	struct hlg_select_window w;
	bool keeps;

	kit_options(&o, words);
	w = hlg_select_window(&o);
	s.time = time;
	keeps = hlg_select_keeps(&o, &w, &s);
	hlg_options_finish(&o);
	return keeps;
}

START_TEST(open_windows)
{
	ck_assert(!keeps_time("time=1,", 999999999));
	ck_assert(keeps_time("time=1,", 1000000000));
	ck_assert(keeps_time("time=1,", UINT64_MAX - 1));
	ck_assert(!keeps_time("time=1,", HLG_NO_TIME));
	ck_assert(keeps_time("time=,1", 0));
	ck_assert(keeps_time("time=,1", 999999999));
	ck_assert(!keeps_time("time=,1", 1000000000));
	ck_assert(keeps_time("", HLG_NO_TIME));
}
END_TEST

START_TEST(events)
{
	static const struct {
		const char *words, *name;
		bool kept;
	} c[] = {
		{"", "anything", true},
		{"", "", true},
		{"event=cycles", "cycles", true},
		{"event=cycles", "cycles:G", false},
		{"event=cycles*", "cycles:G", true},
		{"event=cycles:[GH]", "cycles:G", true},
		{"event=cycles:[GH]", "cycles:u", false},
		{"event=*", "cpu/event=0x3c/G", true},
		{"event=?", "ab", false},
		{"event=CYCLES", "cycles", false},
		{"event=cpu-clock/freq=997/HG", "cpu-clock:HG", true},
		{"event=cpu-clock/freq=997/", "cpu-clock:HG", false},
		{"event=c*/freq=9/", "cycles", true},
		{"event=cpu-clock:HG", "cpu-clock/freq=997/HG", true},
		{"event=cpu-clock*", "cpu-clock/freq=997/", true},
		{"event=cpu-clock", "cpu-clock//", true},
		{"event=*997*", "cpu-clock/freq=997/", true},
		{"event=cpu-clock/freq=97/", "cpu-clock/freq=997/", false},
		{"event=cpu-clock/freq=97/", "cpu-clock//", false},
	};

	for (size_t i = 0; i < sizeof(c) / sizeof(c[0]); i++) {
		struct hlg_options o;

		kit_options(&o, c[i].words);
		ck_assert_msg(hlg_select_event(&o, c[i].name) == c[i].kept, "%s %s",
			      c[i].words, c[i].name);
		ck_assert(!hlg_select_restricts(&o));
		hlg_options_finish(&o);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("select");
	TCase *tc = tap_case(suite, "select");

	tcase_add_loop_test(tc, relative_times, 0,
			    sizeof(relative) / sizeof(relative[0]));
	tcase_add_loop_test(tc, all_combinations, 0, sizeof(asked) / sizeof(asked[0]));
	tcase_add_test(tc, open_windows);
	tcase_add_test(tc, events);
	return tap_main(suite);
}
