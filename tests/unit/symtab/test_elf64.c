// SPDX-License-Identifier: GPL-2.0-only
/*
 * Proves that an ELF is read as it was written, and that one which cannot be used is
 * refused with the one message that says why and what to do: the whole message is
 * compared for every kind of unsuitable file. Files that lie in a single field are the
 * matter of test_elf64_hostile.c.
 */
#include "symtab/elf/elf64.h"

#include <stdio.h>
#include <string.h>

#include "symtab/elf/note.h"
#include "tests/kit/mkelf-guest.h"
#include "tests/kit/scratch.h"
#include "tests/kit/tap.h"

#define FOREIGN                                                                          \
	", and only ELFs of x86-64 and AArch64 are read (of others give the functions "  \
	"as a perf map: map:FILE)"
#define SUITED " (give the little-endian ELF64 of an x86-64 or AArch64 guest)"
#define AGAIN  " (the ELF is damaged; build or copy it again)"
#define STRIPPED                                                                         \
	"has no symbols, it was stripped (name it as it was built, or keep them: "       \
	"`strip --strip-debug`, for Rust `strip = \"debuginfo\"`)"

static struct mkelf_guest guest;
static struct hlg_elf64 elf;

static void setup(void)
{
	mkelf_guest_init(&guest, 0);
}

static void teardown(void)
{
	hlg_elf64_finish(&elf);
	mkelf_finish(&guest.img);
}

static void build(void)
{
	mkelf_finish(&guest.img);
	ck_assert_int_eq(mkelf_build(&guest.elf, &guest.img), 0);
}

static int read_image(struct hlg_err *err)
{
	hlg_elf64_finish(&elf);
	err->msg[0] = '\0';
	return hlg_elf64_read(&elf, scratch_image("guest.elf", &guest.img), err);
}

static void expect_ok(void)
{
	struct hlg_err err;
	int rc = read_image(&err);

	ck_assert_msg(rc == 0, "%s", err.msg);
}

/* The message is the path and then this, or nothing when the file is fine. */
static void expect_error(const char *what, const char *message)
{
	struct hlg_err err, full;
	int rc = read_image(&err);

	if (!message) {
		ck_assert_msg(rc == 0, "%s: %s", what, err.msg);
		return;
	}
	hlg_err_set(&full, HLG_EINPUT, "%s: %s", scratch_path("guest.elf"), message);
	ck_assert_msg(rc == HLG_EINPUT, "%s: returns %d", what, rc);
	ck_assert_msg(!strcmp(err.msg, full.msg), "%s:\n# got      %s\n# expected %s",
		      what, err.msg, full.msg);
}

static void check_loads(void)
{
	ck_assert_uint_eq(elf.n_loads, MKELF_N_SEG);
	for (size_t i = 0; i < elf.n_loads; i++) {
		const struct mkelf_segment *seg = &guest.seg[i];

		ck_assert_uint_eq(elf.loads[i].addr, seg->vaddr);
		ck_assert_uint_eq(elf.loads[i].end, seg->vaddr + seg->memsz);
		ck_assert_int_eq(elf.loads[i].exec, (seg->flags & PF_X) != 0);
	}
	ck_assert_uint_eq(elf.loads[MKELF_SEG_TEXT].filesz, MKELF_TEXT_SIZE);
	ck_assert_int_eq(memcmp(guest.img.bytes + elf.loads[MKELF_SEG_TEXT].offset,
				guest.text, MKELF_TEXT_SIZE),
			 0);
	/* .bss is in memory only */
	ck_assert_uint_eq(elf.loads[MKELF_SEG_DATA].filesz, 8);
}

static void check_sections(void)
{
	ck_assert_uint_eq(elf.n_sections, guest.img.shnum);
	for (size_t i = 0; i < MKELF_N_SEC; i++) {
		const struct hlg_section *sec = &elf.sections[MKELF_SEC(i)];

		ck_assert_str_eq(sec->name, guest.sec[i].name);
		ck_assert_uint_eq(sec->addr, guest.sec[i].addr);
		ck_assert_uint_eq(sec->end, guest.sec[i].addr + guest.sec[i].size);
		ck_assert_int_eq(sec->exec, i == MKELF_SEC_TEXT);
	}
	/* The symbol table takes no room in memory. */
	ck_assert_uint_eq(elf.sections[guest.img.symtab].addr,
			  elf.sections[guest.img.symtab].end);
}

static void check_symbols(void)
{
	const Elf64_Sym *syms = elf.syms;

	ck_assert_uint_eq(elf.n_syms, MKELF_N_SYMS + 1);
	for (size_t i = 0; i < MKELF_N_SYMS; i++) {
		const char *name = guest.syms[i].name;

		ck_assert_uint_lt(syms[i + 1].st_name, elf.strsz);
		ck_assert_str_eq(elf.strtab + syms[i + 1].st_name, name ? name : "");
		ck_assert_uint_eq(syms[i + 1].st_value, guest.syms[i].value);
		ck_assert_uint_eq(syms[i + 1].st_size, guest.syms[i].size);
	}
	ck_assert_int_eq(elf.strtab[elf.strsz], '\0');
}

START_TEST(everything_is_read)
{
	static const uint64_t bases[] = {0, 0x400000, 0xffffffff80000000};

	mkelf_guest_init(&guest, bases[_i]);
	if (_i == 1) {
		guest.elf.machine = EM_AARCH64;
		guest.elf.type = ET_EXEC;
	}
	build();
	expect_ok();
	ck_assert_uint_eq(elf.machine, guest.elf.machine);
	ck_assert_uint_eq(elf.type, guest.elf.type);
	ck_assert_str_eq(elf.build_id, "b01d1dead0beef000102030405060708090a0b0c");
	ck_assert_str_eq(elf.hyperlight, "0.17.0");
	ck_assert(!elf.dynsym);
	ck_assert_ptr_null(elf.shndx);
	ck_assert_int_eq(elf.id.size, (off_t)guest.img.size);
	check_loads();
	check_sections();
	check_symbols();
}
END_TEST

START_TEST(symtab_goes_before_dynsym)
{
	guest.elf.tables = MKELF_BOTH;
	guest.syms[3].tables = MKELF_SYMTAB;
	build();
	expect_ok();
	ck_assert(!elf.dynsym);
	ck_assert_uint_eq(elf.n_syms, MKELF_N_SYMS + 1);
	guest.elf.tables = MKELF_DYNSYM;
	build();
	expect_ok();
	ck_assert(elf.dynsym);
	ck_assert_uint_eq(elf.n_syms, MKELF_N_SYMS);
	/* A symbol table with only the null symbol is none. */
	guest.elf.tables = MKELF_BOTH;
	for (size_t i = 0; i < MKELF_N_SYMS; i++)
		guest.syms[i].tables = MKELF_DYNSYM;
	build();
	expect_ok();
	ck_assert(elf.dynsym);
	ck_assert_uint_eq(elf.n_syms, MKELF_N_SYMS + 1);
}
END_TEST

START_TEST(segments_are_sorted)
{
	struct mkelf_segment seg[MKELF_N_SEG];

	for (int i = 0; i < MKELF_N_SEG; i++)
		seg[i] = guest.seg[(i + 1) % MKELF_N_SEG];
	guest.elf.segments = seg;
	build();
	expect_ok();
	check_loads();
}
END_TEST

static void check_notes(const char *build_id, const char *version)
{
	build();
	expect_ok();
	ck_assert_str_eq(elf.build_id, build_id);
	ck_assert_str_eq(elf.hyperlight, version);
}

START_TEST(notes_are_read)
{
	static const uint8_t bytes[100] = {0x0a, 0xff};
	char hex[129] = "0aff";

	guest.elf.build_id = NULL;
	guest.elf.version = NULL;
	check_notes("", "");
	guest.elf.build_id = bytes;
	guest.elf.build_id_size = 2;
	check_notes("0aff", "");
	guest.elf.build_id_size = 0;
	check_notes("", "");
	guest.elf.build_id_size = sizeof(bytes); /* the first 64 bytes of it */
	guest.elf.notes_addr = 0;
	memset(hex + 4, '0', sizeof(hex) - 5);
	check_notes(hex, "");
	guest.elf.version = "0.17.0-with-something-very-long-behind-it";
	check_notes(hex, "0.17.0-with-something-very-long");
	guest.elf.version = "";
	check_notes(hex, "");
	guest.elf.no_note_segments = true;
	guest.elf.version = "1.2.3";
	check_notes(hex, "1.2.3");
}
END_TEST

/* In a segment of alignment 8 notes begin at multiples of that. */
START_TEST(notes_of_alignment_8)
{
	const struct {
		Elf64_Nhdr first;
		char owner[12], version[8];
		Elf64_Nhdr second;
		char gnu[4];
		uint8_t id[8];
	} notes = {.first = {sizeof("Hyperlight"), 3, 1},
		   .owner = "Hyperlight",
		   .version = "1.2",
		   .second = {sizeof("GNU"), 3, NT_GNU_BUILD_ID},
		   .gnu = "GNU",
		   .id = {1, 2, 3}};
	char build_id[HLG_NOTE_BUILD_ID] = "", version[HLG_NOTE_VERSION] = "";

	hlg_note_read(build_id, version, (const unsigned char *)&notes, sizeof(notes), 8);
	ck_assert_str_eq(version, "1.2");
	ck_assert_str_eq(build_id, "010203");
}
END_TEST

/* Notes that are nearly ours, and notes that lie about their size. */
START_TEST(other_notes_are_not_ours)
{
	const unsigned type = offsetof(Elf64_Nhdr, n_type);
	const unsigned namesz = offsetof(Elf64_Nhdr, n_namesz);
	const unsigned descsz = offsetof(Elf64_Nhdr, n_descsz);
	size_t note;
	const struct {
		unsigned field;
		uint32_t value;
	} lies[] = {{type, 7},
		    {type, UINT32_MAX},
		    {namesz, 3},
		    {namesz, 0},
		    {namesz, 5},
		    {namesz, UINT32_MAX},
		    {descsz, UINT32_MAX},
		    {descsz, 0x7fffffff},
		    {descsz, 100}};

	for (size_t i = 0; i < sizeof(lies) / sizeof(lies[0]); i++) {
		build();
		for (unsigned s = 0; s < 2; s++)
			mkelf_put(&guest.img,
				  mkelf_bytes(&guest.img, s ? guest.img.version
							    : guest.img.build_id) +
					  lies[i].field,
				  4, lies[i].value);
		expect_ok();
		ck_assert_str_eq(elf.build_id, "");
		ck_assert_str_eq(elf.hyperlight, "");
	}
	build();
	note = mkelf_bytes(&guest.img, guest.img.version);
	mkelf_put(&guest.img, note + descsz, 4, 2); /* the text goes on behind it */
	expect_ok();
	ck_assert_str_eq(elf.hyperlight, "0.");
	memcpy(guest.img.bytes + note + sizeof(Elf64_Nhdr), "hyperlight", 10);
	expect_ok();
	ck_assert_str_eq(elf.hyperlight, "");
}
END_TEST

static void make_text(void)
{
	memcpy(guest.img.bytes, "#!/bin/sh\n", 10);
}

static void make_recording(void)
{
	memcpy(guest.img.bytes, "PERFILE2", 8);
}

static void make_elf32(void)
{
	guest.elf.elf32 = true;
	guest.elf.machine = EM_386;
	build();
}

static void make_big_endian(void)
{
	guest.elf.big_endian = true;
	guest.elf.machine = EM_S390;
	build();
}

static void make_ilp32(void)
{
	guest.elf.elf32 = true;
	guest.elf.machine = EM_AARCH64;
	build();
}

static void make_riscv(void)
{
	guest.elf.machine = EM_RISCV;
	build();
}

static void make_power(void)
{
	guest.elf.machine = EM_PPC64;
	build();
}

static void make_tomorrow(void)
{
	guest.elf.machine = 999;
	build();
}

static void make_relocatable(void)
{
	guest.elf.type = ET_REL;
	guest.elf.n_segments = 0;
	build();
}

static void make_core(void)
{
	guest.elf.type = ET_CORE;
	build();
}

static void make_no_segments(void)
{
	guest.elf.n_segments = 0;
	build();
}

static void make_stripped(void)
{
	guest.elf.tables = 0;
	build();
}

static void make_empty_tables(void)
{
	guest.elf.tables = MKELF_BOTH;
	guest.elf.n_syms = 0;
	build();
}

static void make_headless(void)
{
	guest.elf.no_section_headers = true;
	build();
}

static const struct {
	const char *what;
	void (*make)(void); /* NULL: cut to size */
	size_t size;
	const char *message;
} unsuitable[] = {
	{"no bytes", NULL, 0, "is empty" SUITED},
	{"a recording", make_recording, 0, "is perf's recording, not an ELF file" SUITED},
	{"a script", make_text, 0, "is not an ELF file" SUITED},
	{"15 bytes", NULL, 15, "is not an ELF file" SUITED},
	{"16 bytes", NULL, 16, "ends inside its header" AGAIN},
	{"63 bytes", NULL, 63, "ends inside its header" AGAIN},
	{"32 bits", make_elf32, 0, "is for i386" FOREIGN},
	{"big-endian", make_big_endian, 0, "is for s390x" FOREIGN},
	{"32 bits of AArch64", make_ilp32, 0, "is for arm64ilp32" FOREIGN},
	{"RISC-V", make_riscv, 0, "is for riscv64" FOREIGN},
	{"Power", make_power, 0, "is for ppc64le" FOREIGN},
	{"a machine of tomorrow", make_tomorrow, 0,
	 "is for machine 999, 64 bits, little-endian" FOREIGN},
	{"19 bytes", NULL, 19, "ends inside its header" AGAIN},
	{"20 bytes", NULL, 20, "ends inside its header" AGAIN},
	{"object", make_relocatable, 0, "is an object file, not linked yet" SUITED},
	{"core", make_core, 0, "is a core dump, not a program" SUITED},
	{"no segments", make_no_segments, 0, "has nothing to load" AGAIN},
	{"stripped", make_stripped, 0, STRIPPED},
	{"nothing but null symbols", make_empty_tables, 0, STRIPPED},
	{"no sections", make_headless, 0, STRIPPED},
};

#define N_UNSUITABLE ((int)(sizeof(unsuitable) / sizeof(unsuitable[0])))

START_TEST(unsuitable_files_are_refused)
{
	build();
	if (unsuitable[_i].make)
		unsuitable[_i].make();
	else
		guest.img.size = unsuitable[_i].size;
	expect_error(unsuitable[_i].what, unsuitable[_i].message);
}
END_TEST

START_TEST(truncated_files_are_refused)
{
	char message[128];
	size_t text;

	build();
	text = mkelf_bytes(&guest.img, MKELF_SEC(MKELF_SEC_TEXT));
	guest.img.size = guest.img.shoff + 100;
	sprintf(message,
		"is truncated: its section headers end past its %zu bytes (copy "
		"it again)",
		guest.img.size);
	expect_error("cut headers", message);
	guest.img.size = text + 10;
	sprintf(message,
		"is truncated: a segment ends past its %zu bytes (copy it again)",
		guest.img.size);
	expect_error("cut code", message);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("elf64");
	TCase *tc = tap_case(suite, "elf64");

	tcase_add_unchecked_fixture(tc, scratch_begin, scratch_end);
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_loop_test(tc, everything_is_read, 0, 3);
	tcase_add_test(tc, symtab_goes_before_dynsym);
	tcase_add_test(tc, segments_are_sorted);
	tcase_add_test(tc, notes_are_read);
	tcase_add_test(tc, notes_of_alignment_8);
	tcase_add_test(tc, other_notes_are_not_ours);
	tcase_add_loop_test(tc, unsuitable_files_are_refused, 0, N_UNSUITABLE);
	tcase_add_test(tc, truncated_files_are_refused);
	return tap_main(suite);
}
