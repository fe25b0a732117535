// SPDX-License-Identifier: GPL-2.0-only
/*
 * Streams of sysprof: states, names as they change, traces, how stacks are laid into one.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/kit/tap.h"
#include "tests/unit/tools/stream.h"

static void check_folded(struct stream *stream, enum hlg_sysprof_mode mode,
			 const char *expected)
{
	struct hlg_sysprof s;
	char *made;

	stream_put(stream, 0x80);
	stream_read_good(&s, stream);
	made = stream_folded(&s, mode);
	ck_assert_str_eq(made, expected);
	free(made);
	hlg_sysprof_finish(&s);
}

/* clang-format off */
static const struct {
	const char *lua;
	uint64_t host[8];
	const char *laid, *leaves;
} stacks[] = {
	/* Lua lies on what called it, C code it called on Lua */
	{"f", {WORK, PCALL, MAIN}, "main;lua_pcall;@a.lua:7;work", "@a.lua:7;work"},
	/* a C function of both stacks stands where the host has it */
	{"wf", {WORK, PCALL, MAIN}, "main;lua_pcall;@a.lua:7;work", "work"},
	{"ffp", {WORK, PCALL, DOCALL, PMAIN, CPCALL, MAIN},
	 "main;lua_cpcall;pmain;docall;lua_pcall;@a.lua:7;@a.lua:7;work", "@a.lua:7;work"},
	/* Lua called C, which called Lua */
	{"fwf", {PCALL, WORK, PCALL, MAIN},
	 "main;lua_pcall;@a.lua:7;work;lua_pcall;@a.lua:7", "lua_pcall;@a.lua:7"},
	/* the same where the host's stack lacks the C function */
	{"fwf", {PCALL, DOCALL, PCALL, MAIN},
	 "main;lua_pcall;@a.lua:7;work;docall;lua_pcall;@a.lua:7", "lua_pcall;@a.lua:7"},
	/* and once more, where a later one of the host's is another call of it */
	{"fwfwf", {PCALL, WORK, PCALL, DOCALL, PCALL, MAIN},
	 "main;lua_pcall;@a.lua:7;work;docall;lua_pcall;@a.lua:7;work;lua_pcall;@a.lua:7",
	 "lua_pcall;@a.lua:7"},
	/* a host stack that was lost leaves Lua on top; a fast function stays in place */
	{"tfp", {MAIN}, "main;pmain;@a.lua:7;tostring", "main;tostring"},
	{"f", {0}, "@a.lua:7", "@a.lua:7"},
	{"", {WORK, MAIN}, "main;work", "work"},
	{"", {0}, "[LFUNC]", "[LFUNC]"},
};
/* clang-format on */

START_TEST(lays_stacks)
{
	for (int mode = HLG_SYSPROF_CALLGRAPH; mode <= HLG_SYSPROF_LEAF; mode++) {
		struct stream s;
		char expected[256];
		size_t n = 0;

		stream_begin(&s);
		while (n < 8 && stacks[_i].host[n])
			n++;
		stream_sample(&s, stacks[_i].lua, stacks[_i].host, n);
		snprintf(expected, sizeof(expected), "%s 1\n",
			 mode == HLG_SYSPROF_LEAF ? stacks[_i].leaves : stacks[_i].laid);
		check_folded(&s, mode, expected);
	}
}
END_TEST

START_TEST(counts_states)
{
	struct stream s;

	stream_begin(&s);
	SAMPLE(&s, "f", MAIN);
	SAMPLE(&s, "f", MAIN);
	for (unsigned state = HLG_SYSPROF_GC; state <= HLG_SYSPROF_ASM; state++) {
		stream_put(&s, state);
		stream_uleb(&s, 0);
	}
	check_folded(&s, HLG_SYSPROF_COUNTERS,
		     "[LFUNC] 2\n[ASM] 1\n[EXIT] 1\n[GC] 1\n[OPT] 1\n[RECORD] 1\n");
}
END_TEST

/* An address is what it was called last; what was read before keeps its name. */
START_TEST(follows_changes)
{
	struct stream s;

	stream_begin(&s);
	SAMPLE(&s, "f", MAIN);
	stream_lua(&s, 10, FUNC, "=new");
	stream_c(&s, 11, MAIN, "start");
	SAMPLE(&s, "f", MAIN);
	stream_c(&s, 11, MAIN + 3, "nearer");
	SAMPLE(&s, "f", MAIN);
	check_folded(&s, HLG_SYSPROF_CALLGRAPH,
		     "main;@a.lua:7 1\nnearer;=new:7 1\nstart;=new:7 1\n");
}
END_TEST

START_TEST(names_traces)
{
	struct stream s;

	stream_begin(&s);
	for (uint64_t number = 1; number <= 2; number++)
		for (uint64_t addr = FUNC; addr <= FUNC + 1; addr++) {
			stream_put(&s, HLG_SYSPROF_TRACE);
			stream_uleb(&s, number);
			stream_uleb(&s, addr);
			stream_uleb(&s, 3);
			if (number == 1 && addr == FUNC) {
				stream_put(&s, 12);
				stream_uleb(&s, 2);
				stream_uleb(&s, FUNC);
				stream_uleb(&s, 9);
			}
		}
	check_folded(
		&s, HLG_SYSPROF_CALLGRAPH,
		"TRACE [1] of @a.lua:3 1\nTRACE [1] of [Lua 0x900001]:3 1\n"
		"TRACE [2] of [Lua 0x900001]:3 1\nTRACE [2] started at @a.lua:9 1\n");
}
END_TEST

/* Names that nothing is known of, and those that nobody should have. */
START_TEST(names_strangers)
{
	struct stream s;

	stream_begin(&s);
	stream_lua(&s, 10, FUNC, "return 1\nreturn 2");
	stream_c(&s, 11, WORK, "a;b\x1b[31m");
	stream_put(&s, HLG_SYSPROF_FFUNC);
	stream_put(&s, HLG_FRAME_FAST);
	stream_uleb(&s, 209);
	stream_put(&s, HLG_FRAME_FAST);
	stream_uleb(&s, 208);
	stream_lua_frame(&s, 5, 1);
	stream_lua_frame(&s, FUNC, 1);
	stream_put(&s, HLG_FRAME_C);
	stream_uleb(&s, 6);
	stream_put(&s, 0x80);
	stream_uleb(&s, WORK);
	stream_uleb(&s, 7);
	stream_uleb(&s, 0);
	check_folded(&s, HLG_SYSPROF_CALLGRAPH,
		     "[host 0x7];a:b\\x1b[31m;[C 0x6];[string \"return 1...\"]:1;"
		     "[Lua 0x5]:1;misc.memprof.stop;[fast function 209] 1\n");
}
END_TEST

START_TEST(spells_out_nul)
{
	struct stream s;

	stream_begin(&s);
	stream_put(&s, 11);
	stream_uleb(&s, WORK);
	stream_uleb(&s, 3);
	stream_put(&s, 'a');
	stream_put(&s, 0);
	stream_put(&s, 'b');
	SAMPLE(&s, "", WORK);
	check_folded(&s, HLG_SYSPROF_CALLGRAPH, "a\\x00b 1\n");
}
END_TEST

START_TEST(tells_what_is_behind)
{
	struct hlg_sysprof read;
	struct stream s;

	stream_begin(&s);
	stream_put(&s, 0x80);
	stream_text(&s, "more");
	stream_read_good(&read, &s);
	ck_assert(read.ended);
	ck_assert_uint_eq(read.behind, 5);
	hlg_sysprof_finish(&read);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("sysprof");
	TCase *tc = tap_case(suite, "read");

	tcase_add_test(tc, counts_states);
	tcase_add_test(tc, follows_changes);
	tcase_add_test(tc, names_traces);
	tcase_add_test(tc, names_strangers);
	tcase_add_test(tc, spells_out_nul);
	tcase_add_test(tc, tells_what_is_behind);
	tc = tap_case(suite, "lay");
	tcase_add_loop_test(tc, lays_stacks, 0, sizeof(stacks) / sizeof(stacks[0]));
	return tap_main(suite);
}
