// SPDX-License-Identifier: GPL-2.0-only
/*
 * Proves what is said of whole functions (how much of one is known, its instructions in
 * order) and of whole images: areas that share a word of 64 addresses, bytes read from
 * the file that was opened and no other, and which images are refused.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "config.h"
#include "tests/kit/mkelf-guest.h"
#include "tests/kit/scratch.h"
#include "tests/kit/tap.h"
#include "tests/unit/symtab/test_code_kit.h"

#define MAX_STEPS 8

static const struct sketch x86 = {
	"x86-64",
	"?o.o....??o?o...",
	EM_X86_64,
	{NOP, 0x74, 0x05, 0xe8, 0x10, 0, 0, 0, BAD, 0, RET, NOP, 0x0f, 0x1f, 0x40, 0,
	 0xb8},
	{FUNC("f", 1, 10), LABEL("inside", 10), FUNC("cut", 12, 5)}};

static const struct sketch a64 = {
	"AArch64",
	"o...????????o...????????o...",
	EM_AARCH64,
	{A64_ADD, A64_DATA, A64_DATA, A64_RET, A64_ADD, A64_ADD, A64_RET},
	{MARK("$x", 0), FUNC("f", 0, 16), MARK("$d", 4), MARK("$x", 12),
	 FUNC("between", 22, 6)}};

static void expect_density(uint64_t addr, uint64_t starts, uint64_t bytes)
{
	struct hlg_density density;
	struct hlg_place place;

	hlg_image_lookup(code_image, addr, &place);
	density = hlg_code_density(code, &place);
	ck_assert_uint_eq(density.starts, starts);
	ck_assert_uint_eq(density.bytes, bytes);
}

/* Any address of a function will do; what is not decoded does not count. */
START_TEST(x86_densities)
{
	code_load(&x86, 16);
	expect_density(TEXT, 0, 0); /* a gap */
	expect_density(TEXT + 1, 3, 8);
	expect_density(TEXT + 10, 3, 8);
	expect_density(TEXT + 15, 1, 4);
	expect_density(TEXT + 1, 3, 8);  /* as before the one behind it was decoded */
	expect_density(TEXT + 99, 0, 0); /* outside */
}
END_TEST

START_TEST(a64_densities)
{
	code_load(&a64, 28);
	expect_density(TEXT + 9, 2, 8);
	expect_density(TEXT + 22, 1, 4);
	expect_density(TEXT + 17, 0, 0);
	code_load(&a64, 15);
	expect_density(TEXT, 1, 4);
}
END_TEST

struct steps {
	int n;
	uint64_t addr[MAX_STEPS];
	struct hlg_insn insn[MAX_STEPS];
};

static bool step(void *ctx, uint64_t addr, const struct hlg_insn *insn)
{
	struct steps *steps = ctx;

	ck_assert_int_lt(steps->n, MAX_STEPS);
	steps->addr[steps->n] = addr;
	steps->insn[steps->n++] = *insn;
	return true;
}

static bool only_one(void *ctx, uint64_t addr, const struct hlg_insn *insn)
{
	step(ctx, addr, insn);
	return false;
}

static void walk(uint64_t addr, struct steps *steps)
{
	struct hlg_place place;

	steps->n = 0;
	hlg_image_lookup(code_image, addr, &place);
	ck_assert(hlg_code_walk(code, &place, step, steps));
}

/* In order, from the first byte wherever it is asked, without what is none. */
START_TEST(x86_walk)
{
	struct steps steps;

	code_load(&x86, 16);
	walk(TEXT + 7, &steps);
	ck_assert_int_eq(steps.n, 3);
	ck_assert_uint_eq(steps.addr[0], TEXT + 1);
	ck_assert_uint_eq(steps.insn[0].length, 2);
	ck_assert_int_eq(steps.insn[0].flow, HLG_FLOW_BRANCH);
	ck_assert_uint_eq(steps.insn[0].target, TEXT + 8);
	ck_assert_uint_eq(steps.addr[1], TEXT + 3);
	ck_assert_uint_eq(steps.insn[1].length, 5);
	ck_assert_int_eq(steps.insn[1].flow, HLG_FLOW_CALL);
	ck_assert_uint_eq(steps.insn[1].target, TEXT + 0x18);
	ck_assert_uint_eq(steps.addr[2], TEXT + 10);
	ck_assert_int_eq(steps.insn[2].flow, HLG_FLOW_ON);
	walk(TEXT + 99, &steps); /* outside */
	ck_assert_int_eq(steps.n, 0);
}
END_TEST

START_TEST(a64_walk)
{
	struct steps steps;

	code_load(&a64, 28);
	walk(TEXT + 5, &steps);
	ck_assert_int_eq(steps.n, 2);
	ck_assert_uint_eq(steps.addr[0], TEXT);
	ck_assert_uint_eq(steps.addr[1], TEXT + 12);
	ck_assert_uint_eq(steps.insn[1].length, 4);
	walk(TEXT + 22, &steps);
	ck_assert_int_eq(steps.n, 1);
	ck_assert_uint_eq(steps.addr[0], TEXT + 24);
}
END_TEST

START_TEST(walk_until_told)
{
	struct steps steps = {0};
	struct hlg_place place;

	code_load(&a64, 28);
	hlg_image_lookup(code_image, TEXT, &place);
	ck_assert(!hlg_code_walk(code, &place, only_one, &steps));
	ck_assert_int_eq(steps.n, 1);
}
END_TEST

/*
 * Code, data, code and, in a segment of its own, code again: the first two share the 64
 * addresses from 0x1000 on, the last two those from 0x1080 on.
 */
static void load_areas(void)
{
	static unsigned char text[0x140];
	static const struct mkelf_sym syms[] = {
		MKELF_SYM("a", 0x1000, 0x14, STB_GLOBAL, STT_FUNC, MKELF_SEC(0)),
		MKELF_SYM("b", 0x1020, 0x68, STB_GLOBAL, STT_FUNC, MKELF_SEC(2)),
		MKELF_SYM("c", 0x1088, 0xb8, STB_GLOBAL, STT_FUNC, MKELF_SEC(3)),
	};
	struct mkelf_section sec[] = {
		{.addr = 0x1000, .size = 0x14, .flags = SHF_EXECINSTR},
		{.addr = 0x1014, .size = 0xc},
		{.addr = 0x1020, .size = 0x68, .flags = SHF_EXECINSTR},
		{.addr = 0x1088, .size = 0xb8, .flags = SHF_EXECINSTR},
	};
	const struct mkelf_segment seg[] = {
		{.type = PT_LOAD, .flags = PF_R | PF_X, .vaddr = 0x1000, .memsz = 0x88},
		{.type = PT_LOAD, .flags = PF_R | PF_X, .vaddr = 0x1088, .memsz = 0xb8},
	};
	struct mkelf elf = {.type = ET_DYN,
			    .machine = EM_AARCH64,
			    .segments = seg,
			    .n_segments = 2,
			    .sections = sec,
			    .n_sections = N(sec),
			    .syms = syms,
			    .n_syms = 3,
			    .tables = MKELF_SYMTAB};

	memset(text, 0x91, sizeof(text)); /* some add immediate */
	for (int i = 0; i < N(sec); i++) {
		sec[i].name = "";
		sec[i].type = SHT_PROGBITS;
		sec[i].flags |= SHF_ALLOC;
		sec[i].data = text;
	}
	code_open_image(scratch_elf("guest.elf", &elf));
	code_open();
}

static bool covered(uint64_t addr)
{
	return (addr >= 0x1000 && addr < 0x1014) || (addr >= 0x1020 && addr < 0x1140);
}

START_TEST(areas_share_words)
{
	struct hlg_density total;

	load_areas();
	hlg_code_decode_all(code);
	for (uint64_t a = 0xf80; a < 0x1200; a++) {
		char want = !covered(a) ? '?' : a % 4 ? '.' : 'o';

		ck_assert_msg(code_draw_decoded(a) == want, "0x%lx", (unsigned long)a);
		ck_assert_msg(code_draw(a) == want, "0x%lx", (unsigned long)a);
	}
	ck_assert_int_eq(code_draw_decoded(0), '?');
	ck_assert_int_eq(code_draw_decoded(UINT64_MAX), '?');
	total = hlg_code_total(code);
	ck_assert_uint_eq(total.bytes, 0x14 + 0x68 + 0xb8);
	ck_assert_uint_eq(total.starts, total.bytes / 4);
}
END_TEST

/* Of one of them alone, nothing is said of the others. */
START_TEST(areas_are_decoded_apart)
{
	load_areas();
	ck_assert_int_eq(code_draw(0x1020), 'o');
	ck_assert_uint_eq(hlg_code_total(code).bytes, 0x68);
	ck_assert_int_eq(code_draw_decoded(0x1000), '?');
	ck_assert_int_eq(code_draw_decoded(0x1084), 'o');
	ck_assert_int_eq(code_draw_decoded(0x1088), '?');
	ck_assert_int_eq(code_draw(0x1004), 'o');
	ck_assert_uint_eq(hlg_code_total(code).bytes, 0x68 + 0x14);
	ck_assert_int_eq(code_draw_decoded(0x1000), 'o');
}
END_TEST

/* A function of 2^40 bytes of which the file has 28: room only for those. */
START_TEST(only_what_is_stored_takes_room)
{
	const uint64_t size = UINT64_C(1) << 60;
	struct sketch big = a64;
	struct mkelf_simple simple;
	struct mkelf_image img;

	big.syms[1].size = UINT64_C(1) << 40;
	mkelf_simple_init(&simple, TEXT, big.text, 28, big.syms, 2);
	simple.elf.machine = EM_AARCH64;
	ck_assert_int_eq(mkelf_build(&simple.elf, &img), 0);
	mkelf_put(&img, mkelf_phdr(&img, 0) + offsetof(Elf64_Phdr, p_memsz), 8, size);
	mkelf_put(&img, mkelf_shdr(&img, 1) + offsetof(Elf64_Shdr, sh_type), 4,
		  SHT_NOBITS);
	mkelf_put(&img, mkelf_shdr(&img, 1) + offsetof(Elf64_Shdr, sh_size), 8, size);
	code_open_image(scratch_image("guest.elf", &img));
	mkelf_finish(&img);
	code_open();
	ck_assert_int_eq(code_draw(TEXT + 24), 'o');
	ck_assert_int_eq(code_draw(TEXT + 28), '?');
	ck_assert_int_eq(code_draw(TEXT + (UINT64_C(1) << 36)), '?');
	ck_assert_int_eq(code_draw_decoded(TEXT + (UINT64_C(1) << 36)), '?');
	expect_density(TEXT + (UINT64_C(1) << 36), 7, 28);
}
END_TEST

/* A guest with one of everything: what code_at says goes with the kind of the place. */
START_TEST(kinds_without_a_symbol_are_unknown)
{
	static struct mkelf_guest guest;

	mkelf_guest_init(&guest, 0);
	guest.elf.machine = EM_AARCH64;
	mkelf_guest_code(&guest);
	code_open_image(scratch_elf("guest.elf", &guest.elf));
	code_open();
	for (uint64_t a = 0; a < 0x4000; a++) {
		struct hlg_place place;
		char want = a % 4 ? '.' : 'o';

		hlg_image_lookup(code_image, a, &place);
		if (place.kind != HLG_FUNCTION && place.kind != HLG_LABEL)
			want = '?';
		ck_assert_msg(code_draw(a) == want, "0x%lx", (unsigned long)a);
	}
}
END_TEST

static void refuse(const char *problem)
{
	struct hlg_code *refused = (struct hlg_code *)&problem;
	struct hlg_err err;
	char want[1024];

	snprintf(want, sizeof(want), "%s: %s", code_image->path, problem);
	ck_assert_int_eq(hlg_code_open(&refused, code_image, &err), HLG_EINPUT);
	ck_assert_ptr_null(refused);
	ck_assert_str_eq(err.msg, want);
}

START_TEST(maps_are_refused)
{
	static const char map[] = "1000 20 f\n";
	struct hlg_err err;

	ck_assert_int_eq(hlg_image_open_map(&code_image,
					    scratch_write("perf.map", map, strlen(map)),
					    &err),
			 0);
	refuse("its instructions cannot be decoded (a perf map has none)");
}
END_TEST

START_TEST(files_without_code_are_refused)
{
	code_load_image(&a64, 0);
	refuse("holds no code, as debug files do (name the ELF that ran)");
}
END_TEST

START_TEST(x86_wants_the_decoder)
{
	static struct mkelf_guest guest;

	mkelf_guest_init(&guest, 0);
	code_open_image(scratch_elf("guest.elf", &guest.elf));
	if (HLG_HAVE_ZYDIS)
		code_open();
	else
		refuse("its instructions cannot be decoded (this is a build without "
		       "Zydis)");
}
END_TEST

START_TEST(changed_files_are_refused)
{
	static const char changed[] = "has changed since it was opened (start again)";
	struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}, {.tv_sec = 1000}};

	code_load(&a64, 28);
	ck_assert_int_eq(utimensat(AT_FDCWD, code_image->path, times, 0), 0);
	refuse(changed);
	code_load(&a64, 28);
	ck_assert_int_eq(truncate(code_image->path, code_image->elf.id.size + 1), 0);
	refuse(changed);
	code_load(&a64, 28);
	ck_assert_int_eq(rename(scratch_write("other", "x", 1), code_image->path), 0);
	refuse(changed);
	code_load(&a64, 28);
	ck_assert_int_eq(unlink(code_image->path), 0);
	refuse("no such file (check the path)");
}
END_TEST

/* What was opened is read on, whatever its name means later. */
START_TEST(the_opened_file_is_kept)
{
	code_load(&a64, 28);
	ck_assert_int_eq(rename(scratch_write("other", "x", 1), code_image->path), 0);
	for (size_t i = 0; i < strlen(a64.picture); i++)
		ck_assert_int_eq(code_draw(TEXT + i), a64.picture[i]);
}
END_TEST

START_TEST(what_is_cut_off_later_is_unknown)
{
	code_load(&a64, 28);
	ck_assert_int_eq(truncate(code_image->path, 0), 0);
	for (size_t i = 0; i < strlen(a64.picture); i++)
		ck_assert_int_eq(code_draw(TEXT + i), '?');
	expect_density(TEXT, 0, 0);
	hlg_code_decode_all(code);
	ck_assert_uint_eq(hlg_code_total(code).bytes, 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("code image");
	TCase *tc = tap_case(suite, "code image");

	tcase_add_unchecked_fixture(tc, scratch_begin, scratch_end);
	tcase_add_checked_fixture(tc, NULL, code_close_all);
	tcase_add_loop_test(tc, x86_densities, 0, HLG_HAVE_ZYDIS);
	tcase_add_test(tc, a64_densities);
	tcase_add_loop_test(tc, x86_walk, 0, HLG_HAVE_ZYDIS);
	tcase_add_test(tc, a64_walk);
	tcase_add_test(tc, walk_until_told);
	tcase_add_test(tc, areas_share_words);
	tcase_add_test(tc, areas_are_decoded_apart);
	tcase_add_test(tc, only_what_is_stored_takes_room);
	tcase_add_test(tc, kinds_without_a_symbol_are_unknown);
	tcase_add_test(tc, maps_are_refused);
	tcase_add_test(tc, files_without_code_are_refused);
	tcase_add_test(tc, x86_wants_the_decoder);
	tcase_add_test(tc, changed_files_are_refused);
	tcase_add_test(tc, the_opened_file_is_kept);
	tcase_add_test(tc, what_is_cut_off_later_is_unknown);
	return tap_main(suite);
}
