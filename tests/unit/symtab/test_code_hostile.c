// SPDX-License-Identifier: GPL-2.0-only
#include <stdio.h>
#include <string.h>

#include "config.h"
#include "tests/kit/scratch.h"
#include "tests/kit/tap.h"
#include "tests/unit/symtab/test_code_kit.h"

/* 4: an AArch64 text whose last byte is the last but one of the address space. */
START_TEST(the_end_of_memory_is_an_end)
{
	static const unsigned char text[15] = {A64_ADD, A64_ADD, A64_ADD, 0, 4, 0};
	const uint64_t at = UINT64_C(0xfffffffffffffff0);
	const struct mkelf_sym syms[] = {
		MKELF_SYM("f", at, 15, STB_GLOBAL, STT_FUNC, MKELF_SEC(0)),
	};
	struct mkelf_simple simple;

	mkelf_simple_init(&simple, at, text, sizeof(text), syms, 1);
	simple.elf.machine = EM_AARCH64;
	code_open_image(scratch_elf("guest.elf", &simple.elf));
	code_open();
	ck_assert_int_eq(code_draw(at + 8), 'o');
	ck_assert_int_eq(code_draw(at + 12), '?');
}
END_TEST

/* `$d` of .debug_* (no address, so st_value is an offset) must not reach into .text. */
START_TEST(marks_of_other_sections_say_nothing)
{
	static const unsigned char text[16] = {A64_ADD, A64_ADD, A64_ADD, A64_RET};
	struct mkelf_section sec[2] = {
		{.name = ".text",
		 .type = SHT_PROGBITS,
		 .flags = SHF_ALLOC | SHF_EXECINSTR,
		 .addr = TEXT,
		 .size = 16,
		 .data = text,
		 .align = 4},
		{.name = ".debug_info", .type = SHT_PROGBITS, .size = 0x2000, .align = 1},
	};
	const struct mkelf_sym syms[] = {
		MKELF_SYM("$x", TEXT, 0, STB_LOCAL, STT_NOTYPE, MKELF_SEC(0)),
		MKELF_SYM("$d.1", TEXT + 6, 0, STB_LOCAL, STT_NOTYPE, MKELF_SEC(1)),
		MKELF_SYM("f", TEXT, 16, STB_GLOBAL, STT_FUNC, MKELF_SEC(0)),
	};
	struct mkelf_simple simple;

	mkelf_simple_init(&simple, TEXT, text, sizeof(text), syms, 3);
	simple.elf.machine = EM_AARCH64;
	simple.elf.sections = sec;
	simple.elf.n_sections = 2;
	code_open_image(scratch_elf("guest.elf", &simple.elf));
	code_open();
	ck_assert_int_eq(code_draw(TEXT + 4), 'o');
	ck_assert_int_eq(code_draw(TEXT + 8), 'o');
}
END_TEST

/* outer's mov ends inside inner: what inner is must not hang on who was asked first. */
START_TEST(order_does_not_matter)
{
	static const struct sketch s = {"out of step",
					"oooo....o",
					EM_X86_64,
					{NOP, NOP, 0xb8, MOV, RET},
					{FUNC("outer", 0, 9), FUNC("inner", 3, 6)}};
	char a[16] = "", b[16] = "";

	code_load(&s, 9);
	for (int i = 0; i < 9; i++)
		a[i] = code_draw(TEXT + (unsigned)i);
	code_open();
	for (int i = 8; i >= 0; i--)
		b[i] = code_draw(TEXT + (unsigned)i);
	ck_assert_str_eq(a, b);
}
END_TEST

/* What inner owns is not outer's, asked before or after it. */
START_TEST(densities_are_of_own_bytes)
{
	static const struct sketch s = {"nested",
					"oo....oo....oo",
					EM_X86_64,
					{NOP, MOV, NOP, MOV, NOP, RET},
					{FUNC("f", 0, 14), FUNC("inside", 6, 6)}};
	struct hlg_density d;
	struct hlg_place place;

	for (int turn = 0; turn < 2; turn++) {
		code_load(&s, 14);
		if (turn)
			code_draw(TEXT + 6);
		hlg_image_lookup(code_image, TEXT, &place);
		d = hlg_code_density(code, &place);
		ck_assert_uint_eq(d.starts, 4);
		ck_assert_uint_eq(d.bytes, 8);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("code hostile");
	TCase *tc = tap_case(suite, "code hostile");

	tcase_add_unchecked_fixture(tc, scratch_begin, scratch_end);
	tcase_add_checked_fixture(tc, NULL, code_close_all);
	tcase_add_test(tc, the_end_of_memory_is_an_end);
	tcase_add_test(tc, marks_of_other_sections_say_nothing);
	if (HLG_HAVE_ZYDIS) {
		tcase_add_test(tc, order_does_not_matter);
		tcase_add_test(tc, densities_are_of_own_bytes);
	}
	return tap_main(suite);
}
