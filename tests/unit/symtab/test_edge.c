// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which instructions are at an edge, on functions assembled by hand whose every address
 * is written down here, for x86-64 and AArch64: entry, return points of direct and
 * indirect calls, targets of branches forwards and backwards; not the targets of indirect
 * branches, of calls, of branches into the middle of an instruction, of those out of the
 * function or into it from another. Each for no, few and more instructions than there
 * are.
 */
#include "symtab/code/edge.h"

#include <string.h>

#include "config.h"
#include "tests/kit/scratch.h"
#include "tests/kit/tap.h"
#include "tests/unit/symtab/test_code_kit.h"

enum {
	MAX = 32
};

/* clang-format off */
static const uint8_t x86[] = {
	/* 1000 nop              */ 0x90,
	/* 1001 xor eax, eax     */ 0x31, 0xc0,
	/* 1003 inc rax          */ 0x48, 0xff, 0xc0,
	/* 1006 jne 1003         */ 0x75, 0xfb,
	/* 1008 call 1010        */ 0xe8, 0x03, 0x00, 0x00, 0x00,
	/* 100d nop              */ 0x90,
	/* 100e jmp 1012         */ 0xeb, 0x02,
	/* 1010 nop              */ 0x90,
	/* 1011 nop              */ 0x90,
	/* 1012 nop              */ 0x90,
	/* 1013 call rax         */ 0xff, 0xd0,
	/* 1015 nop              */ 0x90,
	/* 1016 jmp rax          */ 0xff, 0xe0,
	/* 1018 nop              */ 0x90,
	/* 1019 jmp 100c, inside */ 0xeb, 0xf1,
	/* 101b je 100b, inside  */ 0x0f, 0x84, 0xea, 0xff, 0xff, 0xff,
	/* 1021 nop              */ 0x90,
	/* 1022 jmp 1024, end    */ 0xeb, 0x00,
	/* 1024 in the next: nop */ 0x90,
	/* 1025 jmp 1001         */ 0xeb, 0xda,
	/* 1027 ret              */ 0xc3,
};

static const uint32_t a64[] = {
	/* 1000 nop              */ 0xd503201f,
	/* 1004 bl 100c          */ 0x94000002,
	/* 1008 nop              */ 0xd503201f,
	/* 100c cbz x0, 1014     */ 0xb4000040,
	/* 1010 nop              */ 0xd503201f,
	/* 1014 b.ne 1004        */ 0x54ffff81,
	/* 1018 tbz w0, 0, 1020  */ 0x36000040,
	/* 101c br x0            */ 0xd61f0000,
	/* 1020 blr x0           */ 0xd63f0000,
	/* 1024 nop              */ 0xd503201f,
	/* 1028 b 1030           */ 0x14000002,
	/* 102c ret              */ 0xd65f03c0,
	/* 1030 nop              */ 0xd503201f,
	/* 1034 b 2000, outside  */ 0x140003f3,
	/* 1038 b 103c, end      */ 0x14000001,
	/* 103c in the next: nop */ 0xd503201f,
	/* 1040 b 1010           */ 0x17fffff4,
};
/* clang-format on */

static const struct {
	unsigned machine;
	const void *code;
	size_t size;
	uint64_t end; /* of the function */
	struct {
		uint64_t reach;
		uint64_t edges[MAX]; /* up to 0 */
	} of[6];
} programs[] = {
	{EM_AARCH64,
	 a64,
	 sizeof(a64),
	 0x103c,
	 {
		 {0, {0}},
		 {1, {0x1000, 0x1004, 0x1008, 0x1014, 0x1020, 0x1024, 0x1030}},
		 {2,
		  {0x1000, 0x1004, 0x1008, 0x100c, 0x1014, 0x1018, 0x1020, 0x1024, 0x1028,
		   0x1030, 0x1034}},
		 {3,
		  {0x1000, 0x1004, 0x1008, 0x100c, 0x1010, 0x1014, 0x1018, 0x101c, 0x1020,
		   0x1024, 0x1028, 0x102c, 0x1030, 0x1034, 0x1038}},
		 {100,
		  {0x1000, 0x1004, 0x1008, 0x100c, 0x1010, 0x1014, 0x1018, 0x101c, 0x1020,
		   0x1024, 0x1028, 0x102c, 0x1030, 0x1034, 0x1038}},
		 {UINT64_MAX,
		  {0x1000, 0x1004, 0x1008, 0x100c, 0x1010, 0x1014, 0x1018, 0x101c, 0x1020,
		   0x1024, 0x1028, 0x102c, 0x1030, 0x1034, 0x1038}},
	 }},
	{EM_X86_64,
	 x86,
	 sizeof(x86),
	 0x1024,
	 {
		 {0, {0}},
		 {1, {0x1000, 0x1003, 0x100d, 0x1012, 0x1015}},
		 {2,
		  {0x1000, 0x1001, 0x1003, 0x1006, 0x100d, 0x100e, 0x1012, 0x1013, 0x1015,
		   0x1016}},
		 {3,
		  {0x1000, 0x1001, 0x1003, 0x1006, 0x1008, 0x100d, 0x100e, 0x1010, 0x1012,
		   0x1013, 0x1015, 0x1016, 0x1018}},
		 {7,
		  {0x1000, 0x1001, 0x1003, 0x1006, 0x1008, 0x100d, 0x100e, 0x1010, 0x1011,
		   0x1012, 0x1013, 0x1015, 0x1016, 0x1018, 0x1019, 0x101b, 0x1021,
		   0x1022}},
		 {UINT64_MAX,
		  {0x1000, 0x1001, 0x1003, 0x1006, 0x1008, 0x100d, 0x100e, 0x1010, 0x1011,
		   0x1012, 0x1013, 0x1015, 0x1016, 0x1018, 0x1019, 0x101b, 0x1021,
		   0x1022}},
	 }},
};

enum {
	N_PROGRAMS = HLG_HAVE_ZYDIS ? 2 : 1
};

static struct hlg_edges edges;

static void load(int i)
{
	code_load_two(programs[i].code, programs[i].size, (uint16_t)programs[i].machine,
		      programs[i].end);
}

static void unload(void)
{
	hlg_edge_finish(&edges);
	hlg_edge_finish(&edges); /* twice does no harm */
	code_close_all();
}

/* Looks from an address in the middle of the function, which must not matter. */
static void find(uint64_t addr, uint64_t reach)
{
	struct hlg_place place;

	hlg_image_lookup(code_image, addr, &place);
	ck_assert_ptr_nonnull(place.symbol);
	hlg_edge_finish(&edges);
	ck_assert(hlg_edge_find(&edges, code, &place, reach));
}

static void expect(const uint64_t *want)
{
	size_t n = 0;

	for (uint64_t a = TEXT - 4; a < TEXT + 0x80; a++) {
		bool have = want[n] == a;

		ck_assert_msg(hlg_edge_has(&edges, a) == have, "0x%jx is %s edge",
			      (uintmax_t)a, have ? "no" : "an");
		n += have;
	}
	ck_assert_uint_eq(want[n], 0);
	ck_assert_uint_eq(edges.n, n);
	ck_assert(!hlg_edge_has(&edges, 0));
	ck_assert(!hlg_edge_has(&edges, UINT64_MAX));
}

START_TEST(edges_of_a_function)
{
	load(_i / 6);
	find(TEXT + 7, programs[_i / 6].of[_i % 6].reach);
	expect(programs[_i / 6].of[_i % 6].edges);
}
END_TEST

/* The branch of the next function is not asked about here, nor this one's there. */
START_TEST(functions_do_not_mix)
{
	uint64_t end = programs[_i].end;

	load(_i);
	find(end + 1, 1);
	expect((uint64_t[]){end, 0});
}
END_TEST

/* A bare label begins where it stands, though its symbol has no size. */
START_TEST(edges_of_a_label)
{
	static const uint32_t text[] = {0xd503201f, 0xd503201f, 0x17ffffff, 0xd65f03c0};
	struct mkelf_sym syms[] = {
		MKELF_SYM("f", TEXT, 4, STB_GLOBAL, STT_FUNC, MKELF_SEC(0)),
		MKELF_SYM("label", TEXT + 4, 0, STB_GLOBAL, STT_NOTYPE, MKELF_SEC(0)),
	};

	code_load_text(text, sizeof(text), EM_AARCH64, syms, 2);
	find(TEXT + 8, 1);
	expect((uint64_t[]){TEXT + 4, 0});
	find(TEXT + 12, 2);
	expect((uint64_t[]){TEXT + 4, TEXT + 8, 0});
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("edge");
	TCase *tc = tap_case(suite, "edge");

	tcase_add_unchecked_fixture(tc, scratch_begin, scratch_end);
	tcase_add_checked_fixture(tc, NULL, unload);
	tcase_add_loop_test(tc, edges_of_a_function, 0, 6 * N_PROGRAMS);
	tcase_add_loop_test(tc, functions_do_not_mix, 0, N_PROGRAMS);
	tcase_add_test(tc, edges_of_a_label);
	return tap_main(suite);
}
