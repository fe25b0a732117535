// SPDX-License-Identifier: GPL-2.0-only
/*
 * Whose frame pointer is in rbp before each instruction, on functions whose every byte is
 * written down here: prologues and epilogues of gcc and clang, a way out before the frame
 * is set up, jump tables, ways that do not agree, rbp as a plain register. The picture
 * has a character for each instruction: c caller's, o own, ? unknown.
 */
#include "symtab/code/body.h"

#include <string.h>

#include "config.h"
#include "tests/kit/scratch.h"
#include "tests/kit/tap.h"
#include "tests/unit/symtab/test_code_kit.h"

#define PUSH        0x55             /* push %rbp */
#define SET         0x48, 0x89, 0xe5 /* mov %rsp,%rbp */
#define SET_CL      0x48, 0x8b, 0xec /* the same */
#define POP         0x5d             /* pop %rbp */
#define LEAVE       0xc9
#define PUSH_RBX    0x53
#define JE(d)       0x74, (unsigned char)(d)
#define JMP(d)      0xeb, (unsigned char)(d)
#define JMP_RAX     0xff, 0xe0
#define CALL_RAX    0xff, 0xd0
#define CALL(d)     0xe8, (unsigned char)(d), 0, 0, 0
#define MOV_EDI_EBP 0x89, 0xfd

static const struct {
	const char *what, *picture;
	bool framed;
	size_t size;
	unsigned char text[MAX_TEXT];
} table[] = {
	{"clang's", "ccoooc", true, 9, {PUSH, SET, NOP, CALL_RAX, POP, RET}},
	{"by the other move, and leave",
	 "ccooc",
	 true,
	 7,
	 {PUSH, SET_CL, NOP, LEAVE, RET}},
	{"gcc's, something between", "cccoc", true, 11, {PUSH, MOV, SET, POP, RET}},
	{"no frame", "ccc", false, 3, {PUSH_RBX, NOP, RET}},
	{"a way out before", "cccooc", true, 9, {JE(6), PUSH, SET, NOP, POP, RET}},
	{"a plain register", "c???c", false, 6, {PUSH, MOV_EDI_EBP, NOP, POP, RET}},
	{"moved, not pushed", "cccc", false, 6, {SET, NOP, NOP, RET}},
	/* The target of the jump table is behind the jump. */
	{"a jump table", "ccoooc", true, 9, {PUSH, SET, JMP_RAX, NOP, POP, RET}},
	{"ways that do not agree", "ccco??", true, 9, {JE(5), PUSH, SET, NOP, NOP, RET}},
	{"a way past the push", "cc???c", false, 9, {JE(1), PUSH, SET, NOP, POP, RET}},
	{"a loop", "ccooocc", true, 10, {PUSH, SET, NOP, JE(0xfd), POP, NOP, RET}},
	{"a tail call", "ccooc", true, 8, {PUSH, SET, NOP, POP, JMP(100)}},
};

static struct hlg_body body;

static void read_body(const void *text, size_t size)
{
	struct hlg_place place;

	code_load_two(text, size + 1, EM_X86_64, TEXT + size);
	hlg_image_lookup(code_image, TEXT + 1, &place);
	ck_assert(hlg_body_read(&body, code, &place));
}

static void close_all(void)
{
	hlg_body_finish(&body);
	hlg_body_finish(&body); /* twice does no harm */
	code_close_all();
}

START_TEST(frame_pointers)
{
	char picture[MAX_TEXT + 1] = "";

	read_body(table[_i].text, table[_i].size);
	for (size_t i = 0; i < body.n; i++)
		picture[i] = "?co"[body.insns[i].rbp];
	ck_assert_msg(strcmp(picture, table[_i].picture) == 0, "%s: %s, not %s",
		      table[_i].what, picture, table[_i].picture);
	ck_assert_int_eq(body.framed, table[_i].framed);
}
END_TEST

START_TEST(instructions)
{
	/* 1000 call 100c (the next function), 1005 call *rax, 1007 jmp 1007,
	 * 1009 jmp 100c, 100b ret */
	static const unsigned char text[] = {CALL(7), CALL_RAX, JMP(0xfe),
					     JMP(1),  RET,      RET};
	const struct hlg_body_insn *insn;

	read_body(text, sizeof(text) - 1);
	ck_assert_uint_eq(body.n, 5);
	insn = hlg_body_before(&body, TEXT + 5);
	ck_assert_ptr_nonnull(insn);
	ck_assert_int_eq(insn->flow, HLG_FLOW_CALL);
	ck_assert(insn->direct && insn->target == TEXT + 12);
	ck_assert(!hlg_body_is_tail(&body, insn));
	insn = hlg_body_before(&body, TEXT + 7);
	ck_assert(insn && insn->flow == HLG_FLOW_CALL && !insn->direct);
	ck_assert_ptr_null(hlg_body_before(&body, TEXT + 6));
	ck_assert_ptr_null(hlg_body_before(&body, TEXT));
	ck_assert_ptr_null(hlg_body_before(&body, 0));
	ck_assert_ptr_null(hlg_body_at(&body, TEXT + 1));
	ck_assert_ptr_null(hlg_body_at(&body, TEXT + 12));
	ck_assert(!hlg_body_is_tail(&body, hlg_body_at(&body, TEXT + 7)));
	ck_assert(hlg_body_is_tail(&body, hlg_body_at(&body, TEXT + 9)));
	ck_assert(!hlg_body_is_tail(&body, hlg_body_at(&body, TEXT + 11)));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("body");
	TCase *tc = tap_case(suite, "body");

	tcase_add_unchecked_fixture(tc, scratch_begin, scratch_end);
	tcase_add_checked_fixture(tc, NULL, close_all);
	if (HLG_HAVE_ZYDIS) {
		tcase_add_loop_test(tc, frame_pointers, 0, N(table));
		tcase_add_test(tc, instructions);
	}
	return tap_main(suite);
}
