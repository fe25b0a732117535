// SPDX-License-Identifier: GPL-2.0-only
/*
 * Who calls whom, in functions whose every byte is written down here: calls, tail calls,
 * jumps that are none, and whose address is taken by lea, as a number, in data; not by a
 * symbol table or in the middle of a function.
 */
#include "symtab/code/all-calls.h"

#include <string.h>

#include "config.h"
#include "tests/kit/scratch.h"
#include "tests/kit/tap.h"
#include "tests/unit/symtab/test_code_kit.h"

#define BYTE(d, n) ((unsigned)(d) >> (n) & 255)
#define BYTES(d)   BYTE(d, 0), BYTE(d, 8), BYTE(d, 16), BYTE(d, 24)

/* clang-format off */
static const unsigned char text[] = {
	/* 1000 a: call b (1010)      */ 0xe8, BYTES(0x1010 - 0x1005),
	/* 1005 call c+1 (1021)       */ 0xe8, BYTES(0x1021 - 0x100a),
	/* 100a jmp c                 */ 0xe9, BYTES(0x1020 - 0x100f),
	/* 100f                       */ 0x90,
	/* 1010 b: push %rbp          */ 0x55,
	/* 1011 mov %rsp,%rbp         */ 0x48, 0x89, 0xe5,
	/* 1014 je c: with its frame  */ 0x0f, 0x84, BYTES(0x1020 - 0x101a),
	/* 101a pop %rbp; jmp *%rax   */ 0x5d, 0xff, 0xe0, 0x90, 0x90, 0x90,
	/* 1020 c: lea d(%rip),%rax   */ 0x48, 0x8d, 0x05, BYTES(0x1040 - 0x1027),
	/* 1027 mov $e,%eax           */ 0xb8, BYTES(0x1050),
	/* 102c call *%rax; call b    */ 0xff, 0xd0, 0xe8, BYTES(0x1010 - 0x1033),
	/* 1033 call b; ret           */ 0xe8, BYTES(0x1010 - 0x1038), 0xc3,
	/* 1039                       */ 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90,
	/* 1040 d                     */ 0xc3, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90,
					 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90,
	/* 1050 e                     */ 0xc3, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90,
					 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90,
	/* 1060 f                     */ 0xc3,
};
/* A function, the middle of another, the third half a word on, where what is read at once
 * ends; c is nowhere. */
static const uint32_t data[] = {0x1000, 0, 0x1051, 0, 7, [16383] = 0x1060, 0, 7};
/* clang-format on */

static struct hlg_all_calls calls;

static void load(void)
{
	struct mkelf_sym syms[] = {FUNC("a", 0, 16),  FUNC("b", 16, 16),
				   FUNC("c", 32, 32), FUNC("d", 64, 16),
				   FUNC("e", 80, 16), FUNC("f", 96, 1)};
	const struct mkelf_segment segments[] = {{.type = PT_LOAD,
						  .flags = PF_R | PF_X,
						  .vaddr = TEXT,
						  .memsz = sizeof(text)},
						 {.type = PT_LOAD,
						  .flags = PF_R | PF_W,
						  .vaddr = 0x3000,
						  .memsz = sizeof(data)}};
	const struct mkelf_section sections[] = {{.name = ".text",
						  .type = SHT_PROGBITS,
						  .flags = SHF_ALLOC | SHF_EXECINSTR,
						  .addr = TEXT,
						  .size = sizeof(text),
						  .data = text},
						 {.name = ".data",
						  .type = SHT_PROGBITS,
						  .flags = SHF_ALLOC | SHF_WRITE,
						  .addr = 0x3000,
						  .size = sizeof(data),
						  .data = data}};
	const struct mkelf elf = {.type = ET_DYN,
				  .machine = EM_X86_64,
				  .segments = segments,
				  .n_segments = 2,
				  .sections = sections,
				  .n_sections = 2,
				  .syms = syms,
				  .n_syms = 6,
				  .tables = MKELF_SYMTAB};

	code_open_image(scratch_elf("calls.elf", &elf));
	code_open();
	ck_assert(hlg_all_calls_read(&calls, code, code_image));
}

static void unload(void)
{
	hlg_all_calls_finish(&calls);
	hlg_all_calls_finish(&calls); /* twice does no harm */
	code_close_all();
}

START_TEST(who)
{
	static const struct hlg_call all[] = {{0x1010, 0x1000, false},
					      {0x1010, 0x1020, false},
					      {0x1020, 0x1000, false},
					      {0x1020, 0x1000, true}};
	const struct hlg_call *found;
	size_t n;

	load();
	ck_assert_uint_eq(calls.n, 4);
	for (size_t i = 0; i < 4; i++)
		ck_assert(calls.calls[i].to == all[i].to &&
			  calls.calls[i].from == all[i].from &&
			  calls.calls[i].tail == all[i].tail);
	found = hlg_all_calls_to(&calls, 0x1010, &n);
	ck_assert(n == 2 && found == calls.calls);
	hlg_all_calls_to(&calls, 0x1020, &n);
	ck_assert_uint_eq(n, 2);
	hlg_all_calls_to(&calls, 0x1000, &n);
	ck_assert_uint_eq(n, 0);
	hlg_all_calls_to(&calls, 0, &n);
	ck_assert_uint_eq(n, 0);
	hlg_all_calls_to(&calls, UINT64_MAX, &n);
	ck_assert_uint_eq(n, 0);
}
END_TEST

START_TEST(taken)
{
	load();
	ck_assert_uint_eq(calls.n_taken, 4);
	ck_assert(hlg_all_calls_is_taken(&calls, 0x1000));
	ck_assert(!hlg_all_calls_is_taken(&calls, 0x1010));
	ck_assert(!hlg_all_calls_is_taken(&calls, 0x1020));
	ck_assert(hlg_all_calls_is_taken(&calls, 0x1040));
	ck_assert(hlg_all_calls_is_taken(&calls, 0x1050));
	ck_assert(hlg_all_calls_is_taken(&calls, 0x1060));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("all calls");
	TCase *tc = tap_case(suite, "calls");

	tcase_add_unchecked_fixture(tc, scratch_begin, scratch_end);
	tcase_add_checked_fixture(tc, NULL, unload);
	if (HLG_HAVE_ZYDIS) {
		tcase_add_test(tc, who);
		tcase_add_test(tc, taken);
	}
	return tap_main(suite);
}
