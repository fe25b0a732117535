// SPDX-License-Identifier: GPL-2.0-only
/*
 * One build works with the library of either version: the structures are laid out as both
 * headers have them, what they mean is told by their names, and another library is none.
 */
#include "config.h"
#include "tests/kit/tap.h"

#if HLG_HAVE_ZYDIS
#include <string.h>

#include "symtab/code/zydis.h"

/* As Debian's headers of 4.0.0 and 4.1.1 have them. */
#define AT(type, member, at)                                                             \
	_Static_assert(offsetof(type, member) == (at), #member " has moved")
AT(ZydisDecodedInstruction, mnemonic, 4);
AT(ZydisDecodedInstruction, length, 8);
AT(ZydisDecodedInstruction, opcode_map, 16);
AT(ZydisDecodedInstruction, opcode, 20);
AT(ZydisDecodedInstruction, operand_width, 22);
AT(ZydisDecodedInstruction, operand_count_visible, 25);
AT(ZydisDecodedInstruction, attributes, 32);
AT(ZydisDecodedInstruction, meta.category, 92);
AT(ZydisDecodedInstruction, meta.isa_ext, 100);
AT(ZydisDecodedInstruction, meta.branch_type, 104);
AT(ZydisDecodedInstruction, raw.prefix_count, 112);
AT(ZydisDecodedInstruction, raw.prefixes, 116);
AT(ZydisDecodedInstruction, raw.modrm.mod, 255);
AT(ZydisDecodedInstruction, raw.modrm.rm, 257);
AT(ZydisDecodedInstruction, raw.disp.value, 264);
AT(ZydisDecodedInstruction, raw.imm[0].is_relative, 281);
AT(ZydisDecodedInstruction, raw.imm[0].value, 288);
AT(ZydisDecodedInstruction, raw.imm[0].size, 296);
AT(ZydisDecodedOperand, encoding, 12);
AT(ZydisDecodedOperand, size, 16);
AT(ZydisDecodedOperand, element_type, 20);
AT(ZydisDecodedOperand, type, 32);
AT(ZydisDecodedOperand, reg.value, 40);
AT(ZydisDecodedOperand, imm.is_signed, 40);
AT(ZydisDecodedOperand, imm.value, 48);
AT(ZydisDecodedOperand, mem.base, 48);
AT(ZydisDecodedOperand, mem.disp, 64);
_Static_assert(sizeof(ZydisDecodedInstruction) == 328, "an instruction's size");
_Static_assert(sizeof(ZydisDecodedOperand) == 80, "an operand's size");
_Static_assert(sizeof(ZydisFormatter) == 584, "a formatter's size");
_Static_assert(ZYDIS_MAX_OPERAND_COUNT == 10, "operands");
_Static_assert(ZYDIS_ELEMENT_TYPE_INT == 3 && ZYDIS_OPERAND_TYPE_IMMEDIATE == 4 &&
		       ZYDIS_OPERAND_ENCODING_MODRM_RM == 2 &&
		       ZYDIS_BRANCH_TYPE_FAR == 3 && ZYDIS_OPCODE_MAP_0F == 1 &&
		       ZYDIS_REGISTER_RIP == 197 && ZYDIS_FORMATTER_STYLE_ATT == 0 &&
		       ZYDIS_PREFIX_TYPE_IGNORED == 0 &&
		       ZYDIS_FORMATTER_PROP_IMM_PADDING == 16,
	       "numbers of both versions");

/* Does a number of the library mean this? */
#define CHECK(list, n)                                                                   \
	do {                                                                             \
		bool is_there = false;                                                   \
		for (size_t i = 0; i < sizeof(list) / sizeof((list)[0]); i++)            \
			is_there |= (list)[i] == (n);                                    \
		ck_assert_msg(is_there, "%s", #n);                                       \
	} while (0);
#define MNEMONIC(n) CHECK(z->mnemonics, HLG_MNEMONIC_##n)
#define CATEGORY(n) CHECK(z->categories, HLG_CATEGORY_##n)
#define ISA_EXT(n)  CHECK(z->isa_exts, HLG_ISA_EXT_##n)

START_TEST(all_names_are_found)
{
	const struct hlg_zydis *z = hlg_zydis_get();

	ck_assert_ptr_nonnull(z);
	HLG_ZYDIS_MNEMONICS(MNEMONIC)
	HLG_ZYDIS_CATEGORIES(CATEGORY)
	HLG_ZYDIS_ISA_EXTS(ISA_EXT)
	/* What has no name, and what is not asked for, is nothing. */
	ck_assert_uint_eq(z->mnemonics[0], 0);
	ck_assert_uint_eq(z->mnemonics[HLG_ZYDIS_MNEMONICS_MAX - 1], 0);
}
END_TEST

START_TEST(numbers_past_the_table_are_nothing)
{
	ZydisDecodedInstruction insn = {.mnemonic = (ZydisMnemonic)0x10000};
	const struct hlg_zydis *z = hlg_zydis_get();

	insn.meta.category = (ZydisInstructionCategory)0x10000;
	insn.meta.isa_ext = (ZydisISAExt)0x10000;
	ck_assert_int_eq(hlg_zydis_mnemonic(z, &insn), 0);
	ck_assert_int_eq(hlg_zydis_category(z, &insn), 0);
	ck_assert_int_eq(hlg_zydis_isa_ext(z, &insn), 0);
}
END_TEST

/* A file that is not there; a library without its functions; one with another version,
 * which tests/unit/symtab/meson.build makes. */
START_TEST(others_are_none)
{
	static const struct {
		const char *name, *why;
	} others[] = {
		{"libZydis.so.0.0", "libZydis.so.0.0: "},
		{"libc.so.6", "libc.so.6: is not Zydis 4.0 or 4.1"},
		{FAKE_ZYDIS, "is not Zydis 4.0 or 4.1"},
	};
	static struct hlg_zydis zydis;
	struct hlg_err err;

	ck_assert(!hlg_zydis_open(&zydis, others[_i].name, &err));
	ck_assert_msg(strstr(err.msg, others[_i].why) != NULL, "%s", err.msg);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("zydis");
	TCase *tc = tap_case(suite, "zydis");

	tcase_add_test(tc, all_names_are_found);
	tcase_add_test(tc, numbers_past_the_table_are_nothing);
	tcase_add_loop_test(tc, others_are_none, 0, 3);
	return tap_main(suite);
}
#else
#include <stdio.h>

int main(void)
{
	puts("1..0 # SKIP without Zydis");
	return 0;
}
#endif
