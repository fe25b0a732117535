// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which instructions run as often as each other, on functions assembled by hand, for
 * x86-64 and AArch64: lines end at branches and what control does not pass, begin at the
 * targets of direct branches of the function itself, and go on behind calls. And which
 * instruction stands behind one that may leave the guest.
 */
#include "symtab/code/line.h"

#include <string.h>

#include "config.h"
#include "tests/kit/scratch.h"
#include "tests/kit/tap.h"
#include "tests/unit/symtab/test_code_kit.h"

/* clang-format off */
static const uint8_t x86[] = {
	/* 1000 mov edx, 0x6c    */ 0xba, 0x6c, 0x00, 0x00, 0x00,
	/* 1005 out dx, eax      */ 0xef,
	/* 1006 call 1020        */ 0xe8, 0x15, 0x00, 0x00, 0x00,
	/* 100b nop              */ 0x90,
	/* 100c je 1011          */ 0x74, 0x03,
	/* 100e nop              */ 0x90,
	/* 100f cpuid            */ 0x0f, 0xa2,
	/* 1011 nop              */ 0x90,
	/* 1012 ret              */ 0xc3,
	/* 1013 hlt              */ 0xf4,
	/* 1014 jmp 1013         */ 0xeb, 0xfd,
	/* 1016 pause            */ 0xf3, 0x90,
	/* 1018 jmp 1000         */ 0xeb, 0xe6,
	/* 101a ud2              */ 0x0f, 0x0b,
	/* 101c nop              */ 0x90,
	/* 101d jmp 1021, inside */ 0xeb, 0x02,
	/* 101f out dx, eax      */ 0xef,
	/* 1020 vmcall           */ 0x0f, 0x01, 0xc1,
	/* 1023 in the next      */ 0xeb, 0xdc, /* jmp 1001 */
};

static const uint32_t a64[] = {
	/* 1000 hvc 0            */ 0xd4000002,
	/* 1004 bl 1010          */ 0x94000003,
	/* 1008 cbz x0, 1014     */ 0xb4000060,
	/* 100c wfi              */ 0xd503207f,
	/* 1010 nop              */ 0xd503201f,
	/* 1014 nop              */ 0xd503201f,
	/* 1018 ret              */ 0xd65f03c0,
	/* 101c nop              */ 0xd503201f,
	/* 1020 in the next      */ 0xd503201f,
};
/* clang-format on */

#define NEVER  HLG_LEAVE_NEVER
#define MAY    HLG_LEAVE_MAY
#define ALWAYS HLG_LEAVE_ALWAYS

static const struct {
	unsigned machine;
	const void *code;
	size_t size;
	uint64_t end; /* of the function */
	size_t n;
	struct hlg_line_insn insn[24];
} programs[] = {
	{EM_AARCH64,
	 a64,
	 sizeof(a64),
	 0x1020,
	 8,
	 {
		 {0x1000, 0, false, ALWAYS, NEVER},
		 {0x1004, 0, false, NEVER, ALWAYS},
		 {0x1008, 0, false, NEVER, NEVER},
		 {0x100c, 1, false, MAY, NEVER},
		 {0x1010, 1, false, NEVER, MAY},
		 {0x1014, 2, false, NEVER, NEVER},
		 {0x1018, 2, false, NEVER, NEVER},
		 {0x101c, 3, false, NEVER, NEVER},
	 }},
	{EM_X86_64,
	 x86,
	 sizeof(x86),
	 0x1023,
	 18,
	 {
		 {0x1000, 0, true, NEVER, NEVER},
		 {0x1005, 0, true, ALWAYS, NEVER},
		 {0x1006, 0, true, NEVER, ALWAYS},
		 {0x100b, 0, true, NEVER, NEVER},
		 {0x100c, 0, true, NEVER, NEVER},
		 {0x100e, 1, true, NEVER, NEVER},
		 {0x100f, 1, true, ALWAYS, NEVER},
		 {0x1011, 2, true, NEVER, ALWAYS},
		 {0x1012, 2, true, NEVER, NEVER},
		 {0x1013, 3, true, ALWAYS, NEVER},
		 {0x1014, 3, true, NEVER, ALWAYS},
		 {0x1016, 4, true, MAY, NEVER},
		 {0x1018, 4, true, NEVER, MAY},
		 {0x101a, 5, false, NEVER, NEVER},
		 {0x101c, 6, false, NEVER, NEVER},
		 {0x101d, 6, false, NEVER, NEVER},
		 {0x101f, 7, false, ALWAYS, NEVER},
		 {0x1020, 7, false, ALWAYS, ALWAYS},
	 }},
};

enum {
	N_PROGRAMS = HLG_HAVE_ZYDIS ? 2 : 1
};

static void load(int i)
{
	code_load_two(programs[i].code, programs[i].size, (uint16_t)programs[i].machine,
		      programs[i].end);
}

START_TEST(lines_of_a_function)
{
	struct hlg_lines lines = {0};
	struct hlg_place place;

	load(_i);
	hlg_image_lookup(code_image, TEXT + 7, &place);
	ck_assert(hlg_line_find(&lines, code, &place));
	for (size_t i = 0; i < programs[_i].n; i++) {
		const struct hlg_line_insn *want = &programs[_i].insn[i];
		const struct hlg_line_insn *have = &lines.insn[i];

		ck_assert_uint_lt(i, lines.n);
		ck_assert_uint_eq(have->addr, want->addr);
		ck_assert_msg(have->line == want->line, "0x%jx: line %u",
			      (uintmax_t)want->addr, have->line);
		ck_assert_msg(have->loops == want->loops, "0x%jx: loops",
			      (uintmax_t)want->addr);
		ck_assert_msg(have->leave == want->leave, "0x%jx: leave",
			      (uintmax_t)want->addr);
		ck_assert_msg(have->before == want->before, "0x%jx: before",
			      (uintmax_t)want->addr);
	}
	ck_assert_uint_eq(lines.n, programs[_i].n);
	hlg_line_finish(&lines);
	hlg_line_finish(&lines); /* twice does no harm */
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("line");
	TCase *tc = tap_case(suite, "line");

	tcase_add_unchecked_fixture(tc, scratch_begin, scratch_end);
	tcase_add_checked_fixture(tc, NULL, code_close_all);
	tcase_add_loop_test(tc, lines_of_a_function, 0, N_PROGRAMS);
	return tap_main(suite);
}
