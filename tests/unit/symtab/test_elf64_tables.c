// SPDX-License-Identifier: GPL-2.0-only
/* Which tables of an ELF the symbols are read from (symtab/elf/elf64.h). */
#include <check.h>
#include <string.h>

#include "symtab/elf/elf64.h"
#include "tests/kit/mkelf-guest.h"
#include "tests/kit/scratch.h"
#include "tests/kit/tap.h"

static struct mkelf_guest guest;
static struct mkelf_section sec[MKELF_N_SEC + 1];
static struct hlg_elf64 elf;
static struct hlg_err err;

static void setup(void)
{
	mkelf_guest_init(&guest, 0);
	memcpy(sec, guest.sec, sizeof(guest.sec));
	guest.elf.sections = sec;
	guest.elf.n_sections = MKELF_N_SEC + 1;
}

static void teardown(void)
{
	mkelf_finish(&guest.img);
}

static void build(void)
{
	mkelf_finish(&guest.img);
	ck_assert_int_eq(mkelf_build(&guest.elf, &guest.img), 0);
}

/* To be finished, also after a failure. */
static int try_image(void)
{
	return hlg_elf64_read(&elf, scratch_image("guest.elf", &guest.img), &err);
}

/* gABI allows one of a kind; of several the first is read, as by nm. */
START_TEST(first_symbol_table_counts)
{
	const Elf64_Sym one[2] = {{.st_name = 0}, {.st_value = 0x1234}};
	Elf64_Sym sym;

	sec[MKELF_N_SEC] = (struct mkelf_section){.name = ".symtab",
						  .type = SHT_SYMTAB,
						  .size = sizeof(one),
						  .data = one,
						  .align = 8,
						  .entsize = sizeof(Elf64_Sym)};
	build();
	sec[MKELF_N_SEC].link = guest.img.strtab;
	build();
	ck_assert_msg(try_image() == 0, "%s", err.msg);
	ck_assert_uint_eq(elf.n_syms, 2);
	memcpy(&sym, (const char *)elf.syms + sizeof(sym), sizeof(sym));
	ck_assert_uint_eq(sym.st_value, 0x1234);
	hlg_elf64_finish(&elf);
}
END_TEST

/* Is the table the first .symtab, if there is a section of that name behind or before? */
static bool found_by_name(const char *name, uint32_t type, unsigned int tables)
{
	bool by_name;

	sec[MKELF_N_SEC] = (struct mkelf_section){.name = name, .type = type, .align = 1};
	guest.elf.tables = tables;
	build();
	ck_assert_msg(try_image() == 0, "%s", err.msg);
	by_name = elf.by_name;
	hlg_elf64_finish(&elf);
	return by_name;
}

START_TEST(table_is_found_by_name)
{
	ck_assert(found_by_name(".other", SHT_PROGBITS, MKELF_SYMTAB));
	ck_assert(!found_by_name(".symtab", SHT_PROGBITS, MKELF_SYMTAB));
	ck_assert(!found_by_name(".other", SHT_PROGBITS, MKELF_DYNSYM));
	ck_assert(!found_by_name(".symtab", SHT_PROGBITS, MKELF_DYNSYM));
}
END_TEST

/* Symbols in .dynsym, and a table of section numbers that says to be of one of both. */
static int try_numbers(bool dynsym, const uint32_t *numbers, size_t n)
{
	int rc;

	sec[MKELF_N_SEC] = (struct mkelf_section){.name = ".symtab_shndx",
						  .type = SHT_SYMTAB_SHNDX,
						  .size = n * sizeof(*numbers),
						  .data = numbers,
						  .align = 4,
						  .entsize = 4};
	guest.elf.tables = MKELF_BOTH;
	for (size_t i = 0; i < MKELF_N_SYMS; i++)
		guest.syms[i].tables = MKELF_DYNSYM;
	build();
	sec[MKELF_N_SEC].link = dynsym ? guest.img.dynsym : guest.img.symtab;
	build();
	rc = try_image();
	ck_assert_int_eq(rc == 0 && elf.shndx != NULL, rc == 0 && dynsym);
	if (elf.shndx)
		ck_assert_mem_eq(elf.shndx, numbers, n * sizeof(*numbers));
	hlg_elf64_finish(&elf);
	return rc;
}

START_TEST(numbers_belong_to_one_table)
{
	uint32_t numbers[MKELF_N_SYMS + 1] = {0};

	/* Those of .symtab are not asked for, so there may be too few. */
	ck_assert_msg(try_numbers(false, numbers, 1) == 0, "%s", err.msg);
	ck_assert_int_eq(try_numbers(true, numbers, MKELF_N_SYMS), HLG_EINPUT);
	ck_assert_ptr_nonnull(strstr(err.msg, "has a short section index table"));
	for (size_t i = 0; i < MKELF_N_SYMS; i++)
		numbers[i + 1] = guest.syms[i].shndx;
	ck_assert_msg(try_numbers(true, numbers, MKELF_N_SYMS + 1) == 0, "%s", err.msg);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("elf64-tables");
	TCase *tc = tap_case(suite, "elf64-tables");

	tcase_add_unchecked_fixture(tc, scratch_begin, scratch_end);
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, first_symbol_table_counts);
	tcase_add_test(tc, table_is_found_by_name);
	tcase_add_test(tc, numbers_belong_to_one_table);
	return tap_main(suite);
}
