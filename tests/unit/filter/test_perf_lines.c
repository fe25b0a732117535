// SPDX-License-Identifier: GPL-2.0-only
/*
 * emit=lines prints what flame graph scripts read, byte for byte: proved on written-out
 * records for each kind of place and gap policy, for everything that may not have been
 * recorded, and for names that would break a line or move a cursor.
 */
#include "filter/write/perf-lines.h"

#include <string.h>

#include "tests/kit/filter.h"
#include "tests/kit/tap.h"

static void check(const char *words, const struct hlg_sample *s, const char *event,
		  const char *comm, const char *expected)
{
	struct hlg_run run;
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);
	bool kept;

	kit_start(&run, words);
	kept = hlg_perf_lines_write(f, &run.space, &run.options, s, event, comm);
	fclose(f);
	ck_assert_str_eq(text, expected);
	ck_assert_int_eq(kept, expected[0] != '\0');
	free(text);
	hlg_run_finish(&run);
}

static struct hlg_sample sample(uint64_t addr)
{
	struct hlg_sample s = kit_sample(0, KIT_BASE + addr);

	s.tid = 17;
	s.pid = 16;
	s.cpu = 3;
	s.time = UINT64_C(12000034567);
	s.period = 250000;
	return s;
}

#define HEAD "vm:0 17 [003] 12.000034: 250000 cpu-clock: \n"

static const struct {
	uint64_t addr;
	const char *words, *expected;
} places[] = {
	{0x1060, "guest.elf", HEAD "\t            5060 compute+0x0 (guest.elf)\n\n"},
	{0x10df, "guest.elf", HEAD "\t            50df compute+0x7f (guest.elf)\n\n"},
	{0x1128, "guest.elf", HEAD "\t            5128 handler+0x8 (guest.elf)\n\n"},
	{0x10e4, "guest.elf",
	 HEAD "\t            50e4 __gap__ after compute+0x4 (guest.elf)\n\n"},
	{0x10e4, "guest.elf gaps=drop", ""},
	{0x1060, "guest.elf gaps=drop",
	 HEAD "\t            5060 compute+0x0 (guest.elf)\n\n"},
	{0x10e4, "guest.elf gaps=stretch",
	 HEAD "\t            50e4 compute+0x84 (guest.elf)\n\n"},
	{0x3004, "guest.elf", HEAD "\t            7004 [data] .data+0x4 (guest.elf)\n\n"},
	{0x100000, "guest.elf gaps=drop",
	 HEAD "\t          104000 [outside] ([unknown])\n\n"},
	{UINT64_MAX - KIT_BASE, "guest.elf",
	 HEAD "\tffffffffffffffff [outside] ([unknown])\n\n"},
};

START_TEST(place)
{
	struct hlg_sample s = sample(places[_i].addr);

	kit_guest("guest.elf");
	check(places[_i].words, &s, "cpu-clock", "vm:0", places[_i].expected);
}
END_TEST

START_TEST(not_recorded)
{
	struct hlg_sample s = sample(0x1000);

	kit_guest("guest.elf");
	s.cpu = -1;
	check("guest.elf", &s, "e", NULL,
	      ":17 17 12.000034: 250000 e: \n"
	      "\t            5000 entrypoint+0x0 (guest.elf)\n\n");
	s.time = HLG_NO_TIME;
	check("guest.elf", &s, "e", "vm",
	      "vm 17 250000 e: \n\t            5000 entrypoint+0x0 (guest.elf)\n\n");
	s.tid = -1;
	check("guest.elf", &s, "e", NULL,
	      ":-1 -1 250000 e: \n\t            5000 entrypoint+0x0 (guest.elf)\n\n");
}
END_TEST

START_TEST(times)
{
	struct hlg_sample s = sample(0x1000);

	kit_guest("guest.elf");
	s.time = 0;
	check("guest.elf", &s, "e", "vm",
	      "vm 17 [003] 0.000000: 250000 e: \n"
	      "\t            5000 entrypoint+0x0 (guest.elf)\n\n");
	s.time = UINT64_MAX - 1;
	s.cpu = 1023;
	s.period = UINT64_MAX;
	check("guest.elf", &s, "e", "vm",
	      "vm 17 [1023] 18446744073.709551: 18446744073709551615 e: \n"
	      "\t            5000 entrypoint+0x0 (guest.elf)\n\n");
}
END_TEST

START_TEST(hostile)
{
	struct hlg_sample s = sample(0x1000);
	struct mkelf_guest g;

	mkelf_guest_init(&g, 0);
	for (int i = 0; i < MKELF_N_SYMS; i++)
		if (g.syms[i].name && strcmp(g.syms[i].name, "entrypoint") == 0)
			g.syms[i].name = "a\nb\x1b[2J\xff;c";
	kit_write(&g, "gu\nest.elf");
	check("./gu\nest.elf", &s, "e\n:", "c\x1b\n",
	      "c\\x1b\\x0a 17 [003] 12.000034: 250000 e\\x0a:: \n"
	      "\t            5000 a\\x0ab\\x1b[2J\\xff;c+0x0 (./gu\\x0aest.elf)\n\n");
}
END_TEST

START_TEST(demangled)
{
	struct hlg_sample s = sample(0x1000);
	struct mkelf_guest g;

	mkelf_guest_init(&g, 0);
	for (int i = 0; i < MKELF_N_SYMS; i++)
		if (g.syms[i].name && strcmp(g.syms[i].name, "entrypoint") == 0)
			g.syms[i].name = "step.llvm.12345";
	kit_write(&g, "guest.elf");
	check("guest.elf", &s, "cpu-clock", "vm:0",
	      HEAD "\t            5000 step+0x0 (guest.elf)\n\n");
	check("guest.elf demangle=no", &s, "cpu-clock", "vm:0",
	      HEAD "\t            5000 step.llvm.12345+0x0 (guest.elf)\n\n");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("perf-lines");
	TCase *tc = tap_case(suite, "perf-lines");

	tcase_add_checked_fixture(tc, kit_enter, kit_leave);
	tcase_add_loop_test(tc, place, 0, sizeof(places) / sizeof(places[0]));
	tcase_add_test(tc, not_recorded);
	tcase_add_test(tc, times);
	tcase_add_test(tc, hostile);
	tcase_add_test(tc, demangled);
	return tap_main(suite);
}
