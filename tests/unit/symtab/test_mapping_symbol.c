// SPDX-License-Identifier: GPL-2.0-only
/*
 * Proves which symbols are mapping symbols (AAELF64, 5.5.4) and what they say: the last
 * one up to an address decides, whatever the order in the table; of two at one address
 * code counts; x86-64 has none; and entries that name nothing readable are passed over.
 */
#include "symtab/image/symbol.h"

#include <string.h>

#include "tests/kit/tap.h"

#define N(table) ((int)(sizeof(table) / sizeof((table)[0])))

/* As in hlg_elf64, one executable section 1 at 0x1000; rows of a symbol table. */
struct row {
	const char *name; /* NULL: st_name is the raw one */
	uint64_t value;
	uint16_t shndx;
	uint32_t st_name;
};

static struct hlg_section sections[2];
static struct hlg_symtab symbols;

/* The tables are allocations of their exact size; who reads the symbols takes them. */
static struct hlg_elf64 table(uint16_t machine, const struct row *rows, size_t n)
{
	Elf64_Sym *syms = calloc(n + !n, sizeof(*syms));
	char *strtab = calloc(1, 256), *exact;
	size_t names = 1;

	sections[1] = (struct hlg_section){.addr = 0x1000, .end = 0x2000, .exec = true};
	for (size_t i = 0; i < n; i++) {
		syms[i] = (Elf64_Sym){.st_name = rows[i].st_name,
				      .st_value = rows[i].value,
				      .st_shndx = rows[i].shndx};
		if (!rows[i].name)
			continue;
		syms[i].st_name = (Elf64_Word)names;
		strcpy(strtab + names, rows[i].name);
		names += strlen(rows[i].name) + 1;
	}
	/* What is read behind the end shall be noticed. */
	exact = realloc(strtab, names + 1);
	ck_assert_ptr_nonnull(exact);
	return (struct hlg_elf64){.machine = machine,
				  .sections = sections,
				  .n_sections = N(sections),
				  .syms = syms,
				  .n_syms = n,
				  .strtab = exact,
				  .strsz = names};
}

static void collect(struct hlg_elf64 *elf)
{
	struct hlg_err err;

	hlg_symbol_finish(&symbols);
	ck_assert_int_eq(hlg_symbol_from_elf(&symbols, elf, "elf", &err), 0);
}

static void build(uint16_t machine, const struct row *rows, size_t n)
{
	struct hlg_elf64 elf = table(machine, rows, n);

	collect(&elf);
}

static void teardown(void)
{
	hlg_symbol_finish(&symbols);
	ck_assert_ptr_null(symbols.mapping);
	ck_assert_uint_eq(symbols.n_mapping, 0);
}

START_TEST(names_are_known)
{
	static const char *const yes[] = {"$x",   "$d",          "$x.",   "$d.",
					  "$x.0", "$d.realdata", "$x.a.b"};
	static const char *const no[] = {"",    "$",   "x",   "d",    "$a",   "$t", "$xx",
					 "$d1", "$x_", "x$x", "$X",   "$D",   ".x", "$.x",
					 "$dx", "$ x", "$$x", "main", ".L$x", "$x$"};

	for (int i = 0; i < N(yes); i++) {
		build(EM_AARCH64, &(struct row){yes[i], 0x1000, 1, 0}, 1);
		ck_assert_msg(symbols.n_mapping == 1, "%s", yes[i]);
	}
	for (int i = 0; i < N(no); i++) {
		build(EM_AARCH64, &(struct row){no[i], 0x1000, 1, 0}, 1);
		ck_assert_msg(symbols.n_mapping == 0, "%s", no[i]);
	}
}
END_TEST

/* And it is so of all up to `until`. */
static bool is_data(uint64_t addr)
{
	uint64_t until, behind;
	bool data = hlg_symbol_is_data(&symbols, addr, &until);

	ck_assert(until > addr || until == UINT64_MAX);
	if (until != UINT64_MAX) {
		ck_assert(hlg_symbol_is_data(&symbols, until - 1, &behind) == data);
		ck_assert_uint_eq(behind, until);
	}
	return data;
}

static const struct row ordered[] = {
	{"main", 0x1000, 1, 0},     {"$x", 0x1000, 1, 0},    {"$d", 0x1010, 1, 0},
	{"$x.1", 0x1018, 1, 0},     {"thing", 0x1020, 1, 0}, {"$d.2", 0x1040, 1, 0},
	{"$d.three", 0x1048, 1, 0}, {"$x.", 0x1050, 1, 0},   {"$x.5", 0x1054, 1, 0},
	{"$d.", 0x1060, 1, 0},
};

static void expect_ordered(void)
{
	ck_assert_uint_eq(symbols.n_mapping, 8);
	for (uint64_t a = 0xff0; a < 0x1070; a++) {
		bool data = (a >= 0x1010 && a < 0x1018) || (a >= 0x1040 && a < 0x1050) ||
			    a >= 0x1060;

		ck_assert_msg(is_data(a) == data, "0x%lx", (unsigned long)a);
	}
	ck_assert(!is_data(0));
	ck_assert(is_data(UINT64_MAX));
}

START_TEST(data_lasts_until_code)
{
	build(EM_AARCH64, ordered, N(ordered));
	expect_ordered();
}
END_TEST

START_TEST(any_order_will_do)
{
	struct row rows[N(ordered)];

	for (int turn = 1; turn < N(ordered); turn++) {
		for (int i = 0; i < N(ordered); i++)
			rows[i] = ordered[(turn + (N(ordered) - 1) * i) % N(ordered)];
		build(EM_AARCH64, rows, N(rows));
		expect_ordered();
	}
}
END_TEST

START_TEST(code_counts_at_one_address)
{
	static const struct row rows[][4] = {
		{{"$x", 0x1000, 1, 0}, {"$d", 0x1000, 1, 0}, {"$d.1", 0x1008, 1, 0}},
		{{"$d", 0x1000, 1, 0}, {"$d.1", 0x1008, 1, 0}, {"$x", 0x1000, 1, 0}},
		{{"$d.1", 0x1008, 1, 0}, {"$d", 0x1000, 1, 0}, {"$x", 0x1000, 1, 0}},
	};

	for (int i = 0; i < N(rows); i++) {
		build(EM_AARCH64, rows[i], 3);
		ck_assert_uint_eq(symbols.n_mapping, 3);
		ck_assert(!is_data(0xfff));
		ck_assert(!is_data(0x1000));
		ck_assert(!is_data(0x1007));
		ck_assert(is_data(0x1008));
	}
}
END_TEST

START_TEST(x86_has_none)
{
	build(EM_X86_64, ordered, N(ordered));
	ck_assert_uint_eq(symbols.n_mapping, 0);
	ck_assert_ptr_null(symbols.mapping);
	ck_assert(!is_data(0x1010));
}
END_TEST

START_TEST(none_is_none)
{
	static const struct row rows[] = {{"main", 0x1000, 1, 0}};

	build(EM_AARCH64, rows, 0);
	ck_assert_uint_eq(symbols.n_mapping, 0);
	build(EM_AARCH64, rows, 1);
	ck_assert_uint_eq(symbols.n_mapping, 0);
	ck_assert(!is_data(0x1000));
	ck_assert(!is_data(UINT64_MAX));
}
END_TEST

/* Names at, just before and far behind the end of the names; a symbol of no section. */
START_TEST(hostile_entries_are_passed_over)
{
	static const struct row rows[] = {
		{"$d", 0x1000, SHN_UNDEF, 0}, {NULL, 0x1004, 1, 4},
		{NULL, 0x1008, 1, 5},         {NULL, 0x100c, 1, UINT32_MAX},
		{NULL, 0x1010, 1, 3},         {NULL, 0x1014, 1, 0x80000000},
	};

	for (int good = 0; good < 2; good++) {
		struct hlg_elf64 elf = table(EM_AARCH64, rows, N(rows));

		/* "\0$d\0" and behind it, out of bounds, a NUL as it is read */
		ck_assert_uint_eq(elf.strsz, 4);
		if (good)
			((Elf64_Sym *)elf.syms)[2].st_name = 1;
		collect(&elf);
		ck_assert_uint_eq(symbols.n_mapping, good);
	}
	ck_assert(!is_data(0x1007));
	ck_assert(is_data(0x1008));
}
END_TEST

/* A string table may end inside a name: the NUL behind it is all there is. */
START_TEST(names_may_be_cut)
{
	static const struct row rows[] = {{NULL, 0x1000, 1, 1}};
	static const char *const names[] = {"\0$", "\0$d", "\0$x"};

	for (int i = 0; i < N(names); i++) {
		struct hlg_elf64 elf = table(EM_AARCH64, rows, N(rows));

		free(elf.strtab);
		elf.strsz = strlen(names[i] + 1) + 1;
		elf.strtab = malloc(elf.strsz + 1);
		memcpy(elf.strtab, names[i], elf.strsz + 1);
		collect(&elf);
		ck_assert_uint_eq(symbols.n_mapping, i != 0);
		ck_assert(is_data(0x1000) == (i == 1));
	}
}
END_TEST

/* gABI: st_shndx SHN_XINDEX, the number in a table beside. Without one it is nothing. */
START_TEST(wide_section_numbers_are_followed)
{
	static const struct row rows[] = {{"$d", 0x1010, SHN_XINDEX, 0},
					  {"$d", 0x1020, SHN_XINDEX, 0},
					  {"$d", 0x1030, SHN_ABS, 0}};
	uint32_t numbers[] = {1, 2, 1};

	for (int wide = 0; wide < 2; wide++) {
		struct hlg_elf64 elf = table(EM_AARCH64, rows, N(rows));

		elf.shndx = wide ? numbers : NULL;
		collect(&elf);
		ck_assert_uint_eq(symbols.n_mapping, wide);
		ck_assert_int_eq(is_data(0x1010), wide);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("mapping-symbol");
	TCase *tc = tap_case(suite, "mapping-symbol");

	tcase_add_checked_fixture(tc, NULL, teardown);
	tcase_add_test(tc, names_are_known);
	tcase_add_test(tc, data_lasts_until_code);
	tcase_add_test(tc, any_order_will_do);
	tcase_add_test(tc, code_counts_at_one_address);
	tcase_add_test(tc, x86_has_none);
	tcase_add_test(tc, none_is_none);
	tcase_add_test(tc, hostile_entries_are_passed_over);
	tcase_add_test(tc, names_may_be_cut);
	tcase_add_test(tc, wide_section_numbers_are_followed);
	return tap_main(suite);
}
