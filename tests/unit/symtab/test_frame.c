// SPDX-License-Identifier: GPL-2.0-only
/* Which functions call others, and which of these keep a frame pointer. */
#include <string.h>

#include "symtab/code/frame.h"
#include "tests/kit/scratch.h"
#include "tests/kit/tap.h"
#include "tests/unit/symtab/test_code_kit.h"

#define PUSH       0x55
#define FRAME      0x48, 0x89, 0xe5 /* mov %rsp,%rbp */
#define FRAME_CL   0x48, 0x8b, 0xec /* the same, as Microsoft's assembler has it */
#define BYTE(d, n) ((unsigned)(d) >> (n)&255)
#define CALL_TO(d) 0xe8, BYTE(d, 0), BYTE(d, 8), BYTE(d, 16), BYTE(d, 24)

struct expected {
	struct sketch sketch;
	size_t calling, framed, entered;
};

static const struct expected table[] = {
	{{"a leaf", "", EM_X86_64, {PUSH, FRAME, RET}, {FUNC("f", 0, 5)}}, 0, 0, 0},
	{{"framed",
	  "",
	  EM_X86_64,
	  {PUSH, FRAME, CALL_TO(1), RET, RET},
	  {FUNC("f", 0, 10), FUNC("g", 10, 1)}},
	 1,
	 1,
	 0},
	{{"the other move",
	  "",
	  EM_X86_64,
	  {PUSH, FRAME_CL, CALL_TO(1), RET, RET},
	  {FUNC("f", 0, 10), FUNC("g", 10, 1)}},
	 1,
	 1,
	 0},
	{{"something between",
	  "",
	  EM_X86_64,
	  {0xf3, 0x0f, 0x1e, 0xfa, PUSH, MOV, FRAME, CALL_TO(1), RET, RET},
	  {FUNC("f", 0, 19), FUNC("g", 19, 1)}},
	 1,
	 1,
	 0},
	{{"not framed",
	  "",
	  EM_X86_64,
	  {0x53, CALL_TO(1), RET, RET},
	  {FUNC("f", 0, 7), FUNC("g", 7, 1)}},
	 1,
	 0,
	 1},
	{{"the move far behind the push",
	  "",
	  EM_X86_64,
	  {PUSH, MOV, MOV, MOV, MOV, MOV, MOV, MOV, 0x90, 0x90, FRAME, CALL_TO(1), RET,
	   RET},
	  {FUNC("f", 0, 47), FUNC("g", 47, 1)}},
	 1,
	 0,
	 1},
	{{"the move just near enough",
	  "",
	  EM_X86_64,
	  {PUSH, MOV, MOV, MOV, MOV, MOV, MOV, MOV, 0x90, FRAME, CALL_TO(1), RET, RET},
	  {FUNC("f", 0, 46), FUNC("g", 46, 1)}},
	 1,
	 1,
	 0},
	{{"the move before the push",
	  "",
	  EM_X86_64,
	  {FRAME, PUSH, CALL_TO(1), RET, RET},
	  {FUNC("f", 0, 10), FUNC("g", 10, 1)}},
	 1,
	 0,
	 1},
	{{"no call: into the middle",
	  "",
	  EM_X86_64,
	  {CALL_TO(2), RET, RET, RET},
	  {FUNC("f", 0, 6), FUNC("g", 6, 2)}},
	 0,
	 0,
	 0},
	{{"backwards, outside, cut off",
	  "",
	  EM_X86_64,
	  {RET, CALL_TO(-6), RET, CALL_TO(0x100000), 0xe8, 1},
	  {FUNC("g", 0, 1), FUNC("f", 1, 6), FUNC("h", 7, 5), FUNC("i", 12, 2)}},
	 1,
	 0,
	 0},
	{{"aliases, and functions inside, count once",
	  "",
	  EM_X86_64,
	  {PUSH, FRAME, CALL_TO(1), RET, RET},
	  {FUNC("f", 0, 10), FUNC("e", 0, 10), FUNC("d", 4, 6), FUNC("g", 10, 1)}},
	 1,
	 1,
	 0},
	{{"AArch64", "", EM_AARCH64, {A64_RET}, {FUNC("f", 0, 4)}}, 0, 0, 0},
};

static struct hlg_image *load(const struct sketch *sketch)
{
	struct mkelf_simple simple;
	struct hlg_image *image;
	struct mkelf_image img;
	struct hlg_err err;
	size_t n = 0;

	while (n < MAX_SYMS && sketch->syms[n].name)
		n++;
	mkelf_simple_init(&simple, TEXT, sketch->text, MAX_TEXT, sketch->syms, n);
	simple.elf.machine = sketch->machine;
	ck_assert_int_eq(mkelf_build(&simple.elf, &img), 0);
	ck_assert_msg(
		hlg_image_open_elf(&image, scratch_image("guest.elf", &img), &err) == 0,
		"%s", err.msg);
	mkelf_finish(&img);
	return image;
}

START_TEST(counts)
{
	struct hlg_image *image = load(&table[_i].sketch);
	struct hlg_frame_count count;
	struct hlg_err err;

	ck_assert_msg(hlg_frame_count(image, &count, &err) == 0, "%s", err.msg);
	ck_assert_msg(count.calling == table[_i].calling &&
			      count.framed == table[_i].framed &&
			      count.entered == table[_i].entered,
		      "%s: %zu, %zu, %zu", table[_i].sketch.what, count.calling,
		      count.framed, count.entered);
	hlg_image_destroy(image);
}
END_TEST

START_TEST(most)
{
	ck_assert(hlg_frame_is_kept(&(struct hlg_frame_count){0, 0, 0}));
	ck_assert(hlg_frame_is_kept(&(struct hlg_frame_count){2, 1, 0}));
	ck_assert(!hlg_frame_is_kept(&(struct hlg_frame_count){3, 1, 0}));
	ck_assert(hlg_frame_is_always_kept(&(struct hlg_frame_count){3, 3, 0}));
	ck_assert(hlg_frame_is_always_kept(&(struct hlg_frame_count){3, 2, 1}));
	ck_assert(!hlg_frame_is_always_kept(&(struct hlg_frame_count){3, 2, 0}));
}
END_TEST

#define CIE      12, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0
#define FDE      8, 0, 0, 0, 20, 0, 0, 0, 0, 0, 0, 0
#define LONG_FDE 0xff, 0xff, 0xff, 0xff, 8, 0, 0, 0, 0, 0, 0, 0, 20, 0, 0, 0, 0, 0, 0, 0
#define END      0, 0, 0, 0

/* Of three functions. */
static const struct {
	const char *what, *section;
	bool most;
	size_t n;
	uint8_t bytes[64];
} tables[] = {
	{"two of three", ".eh_frame", true, 40, {CIE, FDE, FDE}},
	{"one of three", ".eh_frame", false, 28, {CIE, FDE}},
	{"two CIEs", ".eh_frame", false, 44, {CIE, FDE, CIE}},
	{"of 64 bits", ".eh_frame", true, 56, {CIE, LONG_FDE, LONG_FDE}},
	{"behind the end", ".eh_frame", false, 44, {CIE, FDE, END, FDE}},
	{"longer than the section",
	 ".eh_frame",
	 false,
	 40,
	 {CIE, 0xfe, 0xff, 0xff, 0x7f, 1}},
	{"longer than memory",
	 ".eh_frame",
	 false,
	 40,
	 {CIE, 0xff, 0xff, 0xff, 0xff, 0xf0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
	  1}},
	{"another section", ".eh_frames", false, 40, {CIE, FDE, FDE}},
	{"not looked into", ".debug_frame", true, 4, {END}},
};

START_TEST(has_tables)
{
	static const struct mkelf_sym syms[] = {FUNC("a", 0, 4), FUNC("b", 4, 4),
						FUNC("c", 8, 4)};
	static const uint8_t text[16];
	struct mkelf_section sections[2];
	struct mkelf_simple simple;
	struct hlg_image *image;
	struct mkelf_image img;
	struct hlg_err err;

	mkelf_simple_init(&simple, TEXT, text, sizeof(text), syms, N(syms));
	sections[0] = simple.text;
	sections[1] = (struct mkelf_section){.name = tables[_i].section,
					     .type = SHT_PROGBITS,
					     .flags = SHF_ALLOC,
					     .addr = TEXT + sizeof(text),
					     .size = tables[_i].n,
					     .data = tables[_i].bytes};
	simple.elf.sections = sections;
	simple.elf.n_sections = N(sections);
	simple.segment.memsz = sizeof(text) + tables[_i].n;
	ck_assert_int_eq(mkelf_build(&simple.elf, &img), 0);
	ck_assert_msg(
		hlg_image_open_elf(&image, scratch_image("guest.elf", &img), &err) == 0,
		"%s", err.msg);
	mkelf_finish(&img);
	ck_assert_msg(hlg_frame_may_have_tables(image) == tables[_i].most, "%s",
		      tables[_i].what);
	hlg_image_destroy(image);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("frame");
	TCase *tc = tap_case(suite, "frame");

	tcase_add_unchecked_fixture(tc, scratch_begin, scratch_end);
	tcase_add_loop_test(tc, counts, 0, N(table));
	tcase_add_test(tc, most);
	tcase_add_loop_test(tc, has_tables, 0, N(tables));
	return tap_main(suite);
}
