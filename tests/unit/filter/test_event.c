// SPDX-License-Identifier: GPL-2.0-only
/*
 * What an event is, by the numbers of linux/perf_event.h, which are written as numbers
 * here; and that each kind has a word and a sentence of its own.
 */
#include "filter/profile/event.h"

#include <stdlib.h>
#include <string.h>

#include "tests/kit/tap.h"

enum {
	N_KINDS = HLG_EVENT_BREAKPOINT + 1
};

START_TEST(kinds)
{
	static const struct {
		uint32_t type;
		uint64_t config;
		enum hlg_event_kind kind;
	} c[] = {
		{0, 0, HLG_EVENT_COUNTER},  /* hardware: cycles */
		{0, 1, HLG_EVENT_COUNTER},  /* instructions */
		{1, 0, HLG_EVENT_TIMER},    /* software: cpu-clock */
		{1, 1, HLG_EVENT_TIMER},    /* task-clock */
		{1, 2, HLG_EVENT_SOFTWARE}, /* page-faults */
		{1, 3, HLG_EVENT_SOFTWARE}, /* context-switches */
		{1, 9, HLG_EVENT_SOFTWARE}, /* dummy */
		{1, 1u << 31, HLG_EVENT_SOFTWARE},
		{1, UINT64_C(1) << 32, HLG_EVENT_SOFTWARE},
		{2, 0, HLG_EVENT_TRACEPOINT},
		{2, 1, HLG_EVENT_TRACEPOINT},
		{3, 0, HLG_EVENT_COUNTER},     /* hardware cache */
		{4, 0x1c2, HLG_EVENT_COUNTER}, /* raw */
		{5, 0, HLG_EVENT_BREAKPOINT},
		{6, 0, HLG_EVENT_COUNTER}, /* a PMU of its own */
		{UINT32_MAX, 0, HLG_EVENT_COUNTER},
	};

	for (size_t i = 0; i < sizeof(c) / sizeof(c[0]); i++)
		ck_assert_msg(hlg_event_kind(c[i].type, c[i].config) == c[i].kind,
			      "type %u config %ju", c[i].type, (uintmax_t)c[i].config);
}
END_TEST

/* PERF_SAMPLE_READ is 1 << 4, PERF_FORMAT_GROUP 1 << 3; it takes both. */
START_TEST(members)
{
	ck_assert(hlg_event_member(1 << 4, 1 << 3));
	ck_assert(hlg_event_member(UINT64_MAX, UINT64_MAX));
	ck_assert(!hlg_event_member(1 << 4, 0));
	ck_assert(!hlg_event_member(0, 1 << 3));
	ck_assert(!hlg_event_member(~(UINT64_C(1) << 4), UINT64_MAX));
	ck_assert(!hlg_event_member(UINT64_MAX, ~(UINT64_C(1) << 3)));
}
END_TEST

START_TEST(words)
{
	static const char *const word[] = {"unknown",  "timer",      "counter",
					   "software", "tracepoint", "breakpoint"};

	for (int i = 0; i < N_KINDS; i++) {
		const char *of = hlg_event_meaning((enum hlg_event_kind)i, 0);

		ck_assert_str_eq(hlg_event_word((enum hlg_event_kind)i), word[i]);
		ck_assert_ptr_null(strchr(of, '\n'));
		for (int k = 0; k < i; k++)
			ck_assert_str_ne(of,
					 hlg_event_meaning((enum hlg_event_kind)k, 0));
		/* Precision is a counter's. */
		ck_assert_int_eq(
			strcmp(of, hlg_event_meaning((enum hlg_event_kind)i, 3)) != 0,
			i == HLG_EVENT_COUNTER);
		ck_assert_int_eq(strstr(of, "not time") != NULL, i >= HLG_EVENT_SOFTWARE);
	}
	ck_assert_ptr_nonnull(strstr(hlg_event_meaning(HLG_EVENT_COUNTER, 0), "skid"));
	ck_assert_ptr_nonnull(strstr(hlg_event_meaning(HLG_EVENT_COUNTER, 3), "skid"));
	ck_assert_str_eq(hlg_event_meaning(HLG_EVENT_COUNTER, 1),
			 hlg_event_meaning(HLG_EVENT_COUNTER, 3));
	ck_assert_ptr_nonnull(strstr(hlg_event_meaning(HLG_EVENT_TIMER, 0), "timer"));
}
END_TEST

START_TEST(keys)
{
	static const char *const c[][2] = {
		{"cpu-clock", "cpu-clock"},
		{"cpu-clock/freq=997/", "cpu-clock"},
		{"cpu-clock/period=100000,call-graph=fp/G", "cpu-clock"},
		{"cpu-clock:G", "cpu-clock"},
		{"cpu-clock:GH", "cpu-clock"},
		{"cycles:ppp", "cycles"},
		{"cycles:Pu", "cycles:u"},
		{"cycles/period=5/k", "cycles:k"},
		{"cycles/period=5/:k", "cycles:k"},
		{"cpu/event=0x3c,period=9,umask=1/", "cpu/event=0x3c,umask=1/"},
		{"cpu/event=0x3c/u", "cpu/event=0x3c/:u"},
		{"kvm:kvm_exit", "kvm:kvm_exit"},
		{"cpu/periods=1/", "cpu/periods=1/"},
		{"cpu/freq", "cpu/freq"},
		{"//", ""},
		{"/,/u", ":u"},
		{"", ""},
		{":", ""},
	};

	for (size_t i = 0; i < sizeof(c) / sizeof(c[0]); i++) {
		char *key = hlg_event_key(c[i][0]);

		ck_assert_str_eq(key, c[i][1]);
		free(key);
	}
}
END_TEST

START_TEST(plain_names)
{
	static const char *const c[][2] = {
		{"cpu-clock", "cpu-clock"},
		{"cpu-clock:HG", "cpu-clock:HG"},
		{"cpu-clock/freq=997/HG", "cpu-clock:HG"},
		{"cpu-clock/freq=997/:HG", "cpu-clock:HG"},
		{"cpu-clock/period=100000,call-graph=fp/", "cpu-clock"},
		{"cycles/freq=997/ppp", "cycles:ppp"},
		{"cpu/event=0x3c,period=9,umask=1/u", "cpu/event=0x3c,umask=1/u"},
		{"cpu/event=0x3c/", "cpu/event=0x3c/"},
		{"kvm:kvm_exit", "kvm:kvm_exit"},
		{"cpu/freq", "cpu/freq"},
		{"/freq=9/", "/freq=9/"},
	};

	for (size_t i = 0; i < sizeof(c) / sizeof(c[0]); i++) {
		char *plain = hlg_event_plain(c[i][0]), *again = hlg_event_plain(plain);

		ck_assert_str_eq(plain, c[i][1]);
		ck_assert_str_eq(again, plain);
		free(plain);
		free(again);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("event");
	TCase *tc = tap_case(suite, "event");

	tcase_add_test(tc, kinds);
	tcase_add_test(tc, members);
	tcase_add_test(tc, keys);
	tcase_add_test(tc, plain_names);
	tcase_add_test(tc, words);
	return tap_main(suite);
}
