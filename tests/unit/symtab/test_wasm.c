// SPDX-License-Identifier: GPL-2.0-only
/*
 * Proves that a module of WebAssembly, as wasmtime compiles it, is an image whose own
 * addresses are offsets in its file: its segments, sections, symbols and bytes; where it
 * is taken to lie if nothing says so; and that what lies in its fields is refused or left
 * out. Another object file is none.
 */
#include <stdio.h>
#include <string.h>

#include "symtab/image/base.h"
#include "tests/kit/mkelf.h"
#include "tests/kit/scratch.h"
#include "tests/kit/tap.h"

#define AGAIN " (the ELF is damaged; build or copy it again)"

enum {
	ENGINE,
	TEXT,
	INFO,
	EMPTY,
	N_SECTIONS,
	WASMTIME = 200 /* its ELFOSABI_ */
};

static const uint8_t code[0x40] = {0x55, 0x48, 0x89, 0xe5, 0x5d, 0xc3, 0x90, 0x90, 0xc3};
static const struct mkelf_section usual[N_SECTIONS] = {
	{.name = ".wasmtime.engine",
	 .type = SHT_PROGBITS,
	 .flags = SHF_ALLOC,
	 .size = 0x20,
	 .fill = 0xee},
	{.name = ".text",
	 .type = SHT_PROGBITS,
	 .flags = SHF_ALLOC | SHF_EXECINSTR,
	 .size = sizeof(code),
	 .data = code,
	 .align = 0x1000},
	{.name = ".wasmtime.info",
	 .type = SHT_PROGBITS,
	 .flags = SHF_ALLOC,
	 .size = 0x10,
	 .fill = 0xdd},
	{.name = ".rodata.wasm", .type = SHT_PROGBITS, .flags = SHF_ALLOC},
};
static const struct mkelf_sym usual_syms[] = {
	MKELF_SYM("wasm[0]::function[0]::fib", 0, 6, STB_LOCAL, STT_FUNC,
		  MKELF_SEC(TEXT)),
	MKELF_SYM("wasm[0]::function[1]", 8, 0x100, STB_LOCAL, STT_FUNC, MKELF_SEC(TEXT)),
	MKELF_SYM("behind", 0x40, 1, STB_LOCAL, STT_FUNC, MKELF_SEC(TEXT)),
	MKELF_SYM("wraps", UINT64_MAX - 0xff0, 1, STB_LOCAL, STT_FUNC, MKELF_SEC(TEXT)),
	MKELF_SYM("data", 0, 1, STB_LOCAL, STT_OBJECT, MKELF_SEC(INFO)),
};

static struct mkelf_section sections[N_SECTIONS];
static struct mkelf_sym syms[sizeof(usual_syms) / sizeof(usual_syms[0])];
static struct mkelf module;
static struct mkelf_image img;
static struct hlg_image *image;
static struct hlg_err err;

static void setup(void)
{
	memcpy(sections, usual, sizeof(usual));
	memcpy(syms, usual_syms, sizeof(syms));
	module = (struct mkelf){.osabi = WASMTIME,
				.type = ET_REL,
				.machine = EM_X86_64,
				.sections = sections,
				.n_sections = N_SECTIONS,
				.syms = syms,
				.n_syms = sizeof(syms) / sizeof(syms[0]),
				.tables = MKELF_SYMTAB};
	ck_assert_int_eq(mkelf_build(&module, &img), 0);
}

static void teardown(void)
{
	hlg_image_destroy(image);
	image = NULL;
	mkelf_finish(&img);
}

static int load(void)
{
	hlg_image_destroy(image);
	err.msg[0] = '\0';
	return hlg_image_open_guest(&image, scratch_image("module.aot", &img), 0, &err);
}

static void expect_ok(void)
{
	ck_assert_msg(load() == 0, "%s", err.msg);
}

static void expect_error(const char *what)
{
	struct hlg_err full;

	hlg_err_set(&full, HLG_EINPUT, "%s: %s", scratch_path("module.aot"), what);
	ck_assert_int_eq(load(), HLG_EINPUT);
	ck_assert_str_eq(err.msg, full.msg);
}

/* Sets a field of a section header, of 8 bytes. */
static void put(unsigned section, size_t field, uint64_t value)
{
	mkelf_put(&img, mkelf_shdr(&img, MKELF_SEC(section)) + field, 8, value);
}

START_TEST(addresses_are_offsets_in_the_file)
{
	const struct hlg_load *loads;

	expect_ok();
	ck_assert(image->elf.wasm);
	ck_assert_uint_eq(image->elf.n_loads, 4);
	loads = image->elf.loads;
	ck_assert_uint_eq(loads[0].addr, 0);
	ck_assert_uint_eq(loads[0].end, sizeof(Elf64_Ehdr));
	ck_assert(!loads[0].exec);
	for (unsigned i = 0; i < EMPTY; i++) {
		uint64_t at = mkelf_bytes(&img, MKELF_SEC(i));

		ck_assert_uint_eq(loads[i + 1].addr, at);
		ck_assert_uint_eq(loads[i + 1].offset, at);
		ck_assert_uint_eq(loads[i + 1].end, at + sections[i].size);
		ck_assert_uint_eq(loads[i + 1].filesz, sections[i].size);
		ck_assert_int_eq(loads[i + 1].exec, i == TEXT);
		ck_assert_uint_eq(image->elf.sections[MKELF_SEC(i)].addr, at);
	}
	ck_assert_uint_eq(image->first, 0);
}
END_TEST

START_TEST(symbols_are_relative_to_their_section)
{
	uint64_t text = mkelf_bytes(&img, MKELF_SEC(TEXT));
	struct hlg_place place;
	uint8_t bytes[4];

	expect_ok();
	ck_assert_uint_eq(text, 0x1000);
	ck_assert_uint_eq(image->tab.n_syms, 2);
	hlg_image_lookup(image, text + 5, &place);
	ck_assert_int_eq(place.kind, HLG_FUNCTION);
	ck_assert_str_eq(hlg_image_name(image, place.symbol),
			 "wasm[0]::function[0]::fib");
	ck_assert_uint_eq(place.start, text);
	hlg_image_lookup(image, text + 0x3f, &place);
	ck_assert_uint_eq(place.start, text + 8);
	ck_assert_uint_eq(place.end, text + sizeof(code)); /* cut at the section's end */
	hlg_image_lookup(image, text + 6, &place);
	ck_assert_int_eq(place.kind, HLG_GAP);
	hlg_image_lookup(image, 0x80, &place);
	ck_assert_ptr_null(place.image); /* between two sections */
	ck_assert_uint_eq(hlg_image_read(image, text, bytes, sizeof(bytes)), 4);
	ck_assert_mem_eq(bytes, code, sizeof(bytes));
}
END_TEST

START_TEST(it_is_taken_to_lie_where_hyperlight_wasm_maps_it)
{
	expect_ok();
	ck_assert_int_eq(hlg_base_read(image, &err), 0);
	ck_assert_int_eq(image->from, HLG_BASE_NONE);
	ck_assert_int_eq(hlg_base_decide(image, &err), 0);
	ck_assert_int_eq(image->from, HLG_BASE_DEFAULT);
	ck_assert_uint_eq(image->base, 0x100000000);
	ck_assert_uint_eq(image->bias, 0x100000000);
}
END_TEST

START_TEST(others_are_object_files)
{
	img.bytes[EI_OSABI] = ELFOSABI_GNU;
	expect_error("is an object file, not linked yet (give the little-endian ELF64 of "
		     "an x86-64 or AArch64 guest)");
	memcpy(img.bytes, "\0asm\1\0\0\0", 8);
	expect_error("is WebAssembly, not compiled yet (give what runs in the guest, the "
		     ".aot or .cwasm made of it)");
}
END_TEST

START_TEST(sections_that_cannot_be_are_refused)
{
	char past[128];

	snprintf(past, sizeof(past),
		 "is truncated: a section ends past its %zu bytes (copy it again)",
		 img.size);
	put(INFO, offsetof(Elf64_Shdr, sh_size), img.size);
	expect_error(past);
	put(INFO, offsetof(Elf64_Shdr, sh_size), UINT64_MAX);
	expect_error(past);
	put(INFO, offsetof(Elf64_Shdr, sh_size), 1);
	put(INFO, offsetof(Elf64_Shdr, sh_offset), UINT64_MAX);
	expect_error(past);
	put(INFO, offsetof(Elf64_Shdr, sh_offset), mkelf_bytes(&img, MKELF_SEC(TEXT)));
	expect_error("has segments that overlap" AGAIN);
	put(INFO, offsetof(Elf64_Shdr, sh_offset), 0); /* the ELF header */
	expect_error("has segments that overlap" AGAIN);
	mkelf_put(&img, mkelf_shdr(&img, MKELF_SEC(INFO)) + offsetof(Elf64_Shdr, sh_type),
		  4, SHT_NOBITS);
	expect_error("has a section without bytes to load" AGAIN);
	put(INFO, offsetof(Elf64_Shdr, sh_flags), 0);
	expect_ok();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("wasm");
	TCase *tc = tap_case(suite, "wasm");

	tcase_add_unchecked_fixture(tc, scratch_begin, scratch_end);
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, addresses_are_offsets_in_the_file);
	tcase_add_test(tc, symbols_are_relative_to_their_section);
	tcase_add_test(tc, it_is_taken_to_lie_where_hyperlight_wasm_maps_it);
	tcase_add_test(tc, others_are_object_files);
	tcase_add_test(tc, sections_that_cannot_be_are_refused);
	return tap_main(suite);
}
