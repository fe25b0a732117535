// SPDX-License-Identifier: GPL-2.0-only
/*
 * Proves the rule of symbol.h entry by entry: which entries of a symbol table are taken
 * and as what (one table row per clause of the rule, on both machines), how far each
 * reaches, and that the result is sorted by address and, at one address, in the order
 * that makes the canonical name the first. Sorting is checked on random addresses of
 * every magnitude, since it goes by digits of the address.
 */
#include "symtab/image/symbol.h"

#include <stdio.h>
#include <string.h>

#include "tests/kit/tap.h"

/* Sections: 0, which is none, everywhere; 1 .text [0x100, 0x200), 2 .data [0x300, 0x400),
 * 3 .init [0x500, 0x510). */
enum {
	TEXT = 1,
	DAT,
	INIT,
	N_SECTIONS
};

#define NO      UINT64_MAX
#define FN      HLG_SYM_FUNCTION
#define SIZED   HLG_SYM_SIZED_LABEL
#define BARE    HLG_SYM_BARE_LABEL
#define HUGE_SZ (UINT64_MAX - 5)

static const struct {
	const char *what, *name;
	unsigned type, bind, shndx;
	uint64_t value, size;
	uint64_t end; /* NO: passed over on x86-64 */
	unsigned class, rank;
	bool not_on_a64;
} entries[] = {
	{"function", "f", STT_FUNC, STB_GLOBAL, TEXT, 0x100, 0x10, 0x110, FN, 0, false},
	{"ifunc", "f", STT_GNU_IFUNC, STB_WEAK, TEXT, 0x100, 1, 0x101, FN, 1, false},
	{"local", "f", STT_FUNC, STB_LOCAL, INIT, 0x50f, 1, 0x510, FN, 2, false},
	{"unique", "f", STT_FUNC, STB_GNU_UNIQUE, TEXT, 0x110, 1, 0x111, FN, 0, false},
	{"notype, sized", "f", STT_NOTYPE, 0, TEXT, 0x110, 4, 0x114, SIZED, 2, false},
	{"object in code", "f", STT_OBJECT, 0, TEXT, 0x110, 4, 0x114, SIZED, 2, false},
	{"common type", "f", STT_COMMON, 0, TEXT, 0x110, 4, 0x114, SIZED, 2, false},
	{"type of an OS", "f", 12, 0, TEXT, 0x110, 4, 0x114, SIZED, 2, false},
	{"notype, no size", "f", STT_NOTYPE, 0, TEXT, 0x110, 0, 0x110, BARE, 2, false},
	{"function, no size", "f", STT_FUNC, 0, TEXT, 0x110, 0, 0x110, BARE, 2, false},
	{"ifunc, no size", "f", STT_GNU_IFUNC, 0, TEXT, 0x110, 0, 0x110, BARE, 2, false},
	{"up to the end", "f", STT_FUNC, 0, TEXT, 0x1f0, 0x10, 0x200, FN, 2, false},
	{"past the end", "f", STT_FUNC, 0, TEXT, 0x1f0, 0x11, 0x200, FN, 2, false},
	{"past all", "f", STT_FUNC, 0, TEXT, 0x1f0, UINT64_MAX, 0x200, FN, 2, false},
	{"around memory", "f", STT_NOTYPE, 0, TEXT, 0x1f0, HUGE_SZ, 0x200, SIZED, 2,
	 false},

	{"section", "f", STT_SECTION, 0, TEXT, 0x100, 4, NO, 0, 0, false},
	{"file", "f", STT_FILE, 0, TEXT, 0x100, 4, NO, 0, 0, false},
	{"tls", "f", STT_TLS, 0, TEXT, 0x100, 4, NO, 0, 0, false},
	{"undefined", "f", STT_FUNC, 0, SHN_UNDEF, 0x100, 4, NO, 0, 0, false},
	{"absolute", "f", STT_FUNC, 0, SHN_ABS, 0x100, 4, NO, 0, 0, false},
	{"common", "f", STT_FUNC, 0, SHN_COMMON, 0x100, 4, NO, 0, 0, false},
	{"xindex without table", "f", STT_FUNC, 0, SHN_XINDEX, 0x100, 4, NO, 0, 0, false},
	{"reserved", "f", STT_FUNC, 0, SHN_LORESERVE, 0x100, 4, NO, 0, 0, false},
	{"no such section", "f", STT_FUNC, 0, N_SECTIONS, 0x100, 4, NO, 0, 0, false},
	{"far no section", "f", STT_FUNC, 0, 0xfeff, 0x100, 4, NO, 0, 0, false},
	{"data section", "f", STT_FUNC, 0, DAT, 0x300, 4, NO, 0, 0, false},
	{"before its section", "f", STT_FUNC, 0, TEXT, 0xff, 4, NO, 0, 0, false},
	{"at its section's end", "f", STT_FUNC, 0, TEXT, 0x200, 4, NO, 0, 0, false},
	{"in another section", "f", STT_FUNC, 0, TEXT, 0x500, 4, NO, 0, 0, false},
	{"no name", "", STT_FUNC, 0, TEXT, 0x100, 4, NO, 0, 0, false},

	{"local label", ".L12", STT_NOTYPE, 0, TEXT, 0x100, 0, NO, 0, 0, false},
	{"shortest of them", ".L", STT_FUNC, 0, TEXT, 0x100, 4, NO, 0, 0, false},
	{"a dot", ".", STT_FUNC, 0, TEXT, 0x100, 4, 0x104, FN, 2, false},
	{"a dot and more", ".text", STT_FUNC, 0, TEXT, 0x100, 4, 0x104, FN, 2, false},
	{"small l", ".lx", STT_FUNC, 0, TEXT, 0x100, 4, 0x104, FN, 2, false},
	{"L inside", "a.L", STT_FUNC, 0, TEXT, 0x100, 4, 0x104, FN, 2, false},

	{"mapping", "$x", STT_NOTYPE, 0, TEXT, 0x100, 0, 0x100, BARE, 2, true},
	{"mapping, data", "$d", STT_NOTYPE, 0, TEXT, 0x100, 0, 0x100, BARE, 2, true},
	{"mapping, more", "$x.7", STT_NOTYPE, 0, TEXT, 0x100, 0, 0x100, BARE, 2, true},
	{"mapping, more", "$d.x", STT_NOTYPE, 0, TEXT, 0x100, 0, 0x100, BARE, 2, true},
	{"mapping-like", "$xy", STT_NOTYPE, 0, TEXT, 0x100, 0, 0x100, BARE, 2, false},
	{"mapping-like", "$t", STT_NOTYPE, 0, TEXT, 0x100, 0, 0x100, BARE, 2, false},
	{"mapping-like", "$", STT_NOTYPE, 0, TEXT, 0x100, 0, 0x100, BARE, 2, false},
	{"mapping-like", "x$d", STT_NOTYPE, 0, TEXT, 0x100, 0, 0x100, BARE, 2, false},
};

#define N_ENTRIES ((int)(sizeof(entries) / sizeof(entries[0])))

struct table {
	struct hlg_elf64 elf;
	struct hlg_section *sections; /* N_SECTIONS and no more, for the sanitizer */
	Elf64_Sym *syms;              /* room for 16; the symtab takes them over */
	struct hlg_symtab tab;
};

static void init(struct table *t, uint16_t machine)
{
	memset(t, 0, sizeof(*t));
	t->sections = calloc(N_SECTIONS, sizeof(*t->sections));
	t->sections[SHN_UNDEF] = (struct hlg_section){0, UINT64_MAX, true, NULL};
	t->sections[TEXT] = (struct hlg_section){0x100, 0x200, true, NULL};
	t->sections[DAT] = (struct hlg_section){0x300, 0x400, false, NULL};
	t->sections[INIT] = (struct hlg_section){0x500, 0x510, true, NULL};
	t->elf.machine = machine;
	t->elf.sections = t->sections;
	t->elf.n_sections = N_SECTIONS;
	t->elf.syms = t->syms = calloc(16, sizeof(*t->syms));
	t->elf.strtab = calloc(1, 256);
	t->elf.strsz = 1;
}

static Elf64_Sym *add(struct table *t, const char *name, unsigned type, unsigned bind,
		      uint64_t value, uint64_t size)
{
	Elf64_Sym *sym = &t->syms[t->elf.n_syms++];

	*sym = (Elf64_Sym){.st_name = (uint32_t)t->elf.strsz,
			   .st_info = (unsigned char)(bind << 4 | type),
			   .st_shndx = TEXT,
			   .st_value = value,
			   .st_size = size};
	strcpy(t->elf.strtab + t->elf.strsz, name);
	t->elf.strsz += strlen(name) + 1;
	return sym;
}

static void finish(struct table *t)
{
	hlg_symbol_finish(&t->tab);
	free(t->sections);
}

/* The names in order, one blank behind each. */
static void expect(struct table *t, const char *names)
{
	struct hlg_err err;
	char got[256] = "";

	memset(&t->tab, 0xa5, sizeof(t->tab)); /* whatever it was */
	ck_assert_int_eq(hlg_symbol_from_elf(&t->tab, &t->elf, "x", &err), 0);
	ck_assert_ptr_null(t->elf.strtab);
	ck_assert_ptr_null(t->elf.syms);
	for (size_t i = 0; i < t->tab.n_syms; i++)
		sprintf(got + strlen(got), "%s ", t->tab.names + t->tab.syms[i].name);
	ck_assert_str_eq(got, names);
	finish(t);
}

static void check_entry(int i, uint16_t machine, bool taken)
{
	struct table t;
	struct hlg_err err;
	const struct hlg_symbol *s;

	init(&t, machine);
	add(&t, entries[i].name, entries[i].type, entries[i].bind, entries[i].value,
	    entries[i].size)
		->st_shndx = (uint16_t)entries[i].shndx;
	ck_assert_int_eq(hlg_symbol_from_elf(&t.tab, &t.elf, "x", &err), 0);
	ck_assert_msg(t.tab.n_syms == taken, "%s %s: taken %zu times", entries[i].what,
		      entries[i].name, t.tab.n_syms);
	s = t.tab.syms;
	if (taken)
		ck_assert_msg(s->addr == entries[i].value && s->end == entries[i].end &&
				      s->class == entries[i].class &&
				      s->bind == entries[i].rank && s->index == 0 &&
				      !strcmp(t.tab.names + s->name, entries[i].name),
			      "%s: [%#lx, %#lx) class %u bind %u", entries[i].what,
			      (unsigned long)s->addr, (unsigned long)s->end, s->class,
			      s->bind);
	finish(&t);
}

START_TEST(entries_are_taken_by_the_rule)
{
	bool taken = entries[_i].end != NO;

	check_entry(_i, EM_X86_64, taken);
	check_entry(_i, EM_AARCH64, taken && !entries[_i].not_on_a64);
}
END_TEST

START_TEST(wild_names_are_no_names)
{
	struct table t;

	init(&t, EM_X86_64);
	add(&t, "good", STT_FUNC, STB_GLOBAL, 0x100, 1);
	add(&t, "tail", STT_FUNC, STB_GLOBAL, 0x101, 1);
	t.elf.strsz -= 1; /* its NUL is the one behind the table */
	add(&t, "", STT_FUNC, STB_GLOBAL, 0x102, 1)->st_name = (uint32_t)t.elf.strsz;
	add(&t, "", STT_FUNC, STB_GLOBAL, 0x103, 1)->st_name = UINT32_MAX;
	t.elf.strsz = strlen("_good_tail");
	t.syms[2].st_name = (uint32_t)t.elf.strsz;
	expect(&t, "good tail ");
}
END_TEST

START_TEST(wide_section_numbers_are_followed)
{
	uint32_t shndx[] = {TEXT, DAT, 0, N_SECTIONS, UINT32_MAX, INIT, DAT, TEXT, 0};
	static const char *const names[] = {"a", "b", "c", "d", "e", "f", "g", "h", "i"};
	struct table t;

	init(&t, EM_X86_64);
	for (int i = 0; i < 9; i++)
		add(&t, names[i], STT_FUNC, STB_GLOBAL, i == 5 ? 0x500 : 0x100, 1)
			->st_shndx = SHN_XINDEX;
	t.syms[6].st_shndx = TEXT;      /* says itself where it is */
	t.syms[8].st_shndx = SHN_UNDEF; /* is not where the one before it is */
	t.elf.shndx = shndx;
	expect(&t, "a g h f ");
}
END_TEST

/* With so many sections that the escape value is the number of one of them. */
START_TEST(escape_value_is_no_section)
{
	enum {
		MANY = SHN_XINDEX + 10
	};
	struct hlg_section *sections = calloc(MANY, sizeof(*sections));
	uint32_t shndx[] = {SHN_XINDEX, SHN_XINDEX + 1};

	for (int i = 0; i < MANY; i++)
		sections[i] = (struct hlg_section){0x100, 0x200, true, NULL};
	for (int with_table = 0; with_table < 2; with_table++) {
		struct table t;

		init(&t, EM_X86_64);
		t.elf.sections = sections;
		t.elf.n_sections = MANY;
		t.elf.shndx = with_table ? shndx : NULL;
		add(&t, "a", STT_FUNC, STB_GLOBAL, 0x100, 1)->st_shndx = SHN_XINDEX;
		add(&t, "b", STT_FUNC, STB_GLOBAL, 0x101, 1)->st_shndx = SHN_XINDEX;
		add(&t, "abs", STT_FUNC, STB_GLOBAL, 0x102, 1)->st_shndx = SHN_ABS;
		expect(&t, with_table ? "a b " : "");
	}
	free(sections);
}
END_TEST

START_TEST(canonical_names_come_first)
{
	struct table t;

	init(&t, EM_X86_64);
	add(&t, "bare-local", STT_NOTYPE, STB_LOCAL, 0x100, 0);
	add(&t, "later", STT_FUNC, STB_GLOBAL, 0x104, 1);
	add(&t, "bare-global", STT_NOTYPE, STB_GLOBAL, 0x100, 0);
	add(&t, "sized", STT_NOTYPE, STB_GLOBAL, 0x100, 1);
	add(&t, "long", STT_FUNC, STB_GLOBAL, 0x100, 9);
	add(&t, "local", STT_FUNC, STB_LOCAL, 0x100, 8);
	add(&t, "weak", STT_FUNC, STB_WEAK, 0x100, 8);
	add(&t, "second", STT_FUNC, STB_GLOBAL, 0x100, 8);
	add(&t, "third", STT_FUNC, STB_GLOBAL, 0x100, 8);
	add(&t, "unique", STT_FUNC, STB_GNU_UNIQUE, 0x100, 8);
	add(&t, "short", STT_FUNC, STB_LOCAL, 0x100, 2);
	/* Cut at the section's end these two are equally long. */
	add(&t, "cut-weak", STT_FUNC, STB_WEAK, 0x1f0, 0x10);
	add(&t, "cut-global", STT_FUNC, STB_GLOBAL, 0x1f0, 0x1000);
	expect(&t, "short second third unique weak local long sized bare-global "
		   "bare-local later cut-global cut-weak ");
}
END_TEST

START_TEST(no_symbols_are_no_failure)
{
	struct hlg_symtab tab = {.syms = NULL};
	struct table t;

	init(&t, EM_X86_64);
	expect(&t, "");
	hlg_symbol_sort(&tab);
	ck_assert_uint_eq(tab.n_syms, 0);
	hlg_symbol_finish(&tab);
}
END_TEST

/* Random addresses of at most `bits` bits, below or at the top of memory. */
START_TEST(sorting_keeps_every_symbol)
{
	enum {
		N = 1000
	};
	static bool seen[N];
	unsigned seed = (unsigned)_i;
	struct hlg_symtab tab = {.syms = calloc(N, sizeof(*tab.syms)), .n_syms = N};

	for (uint32_t i = 0; i < N; i++) {
		uint64_t r = (uint64_t)rand_r(&seed) << 40 ^
			     (uint64_t)rand_r(&seed) << 20 ^ (uint64_t)rand_r(&seed);

		r = _i ? r << 13 >> (64 - _i) : 0;
		tab.syms[i].addr = tab.syms[i].end = i & 1 && _i == 64 ? ~r : r;
		tab.syms[i].name = tab.syms[i].index = i;
		tab.syms[i].bind = (uint32_t)(r >> 3) % 3;
	}
	hlg_symbol_sort(&tab);
	memset(seen, 0, sizeof(seen));
	for (uint32_t i = 0; i < N; i++) {
		const struct hlg_symbol *b = &tab.syms[i], *a = i ? b - 1 : NULL;

		ck_assert(!seen[b->name]);
		seen[b->name] = true;
		if (!a)
			continue;
		ck_assert_uint_le(a->addr, b->addr);
		if (a->addr == b->addr)
			ck_assert(a->bind < b->bind ||
				  (a->bind == b->bind && a->name < b->name));
	}
	hlg_symbol_finish(&tab);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("symbol");
	TCase *tc = tap_case(suite, "symbol");

	tcase_add_loop_test(tc, entries_are_taken_by_the_rule, 0, N_ENTRIES);
	tcase_add_test(tc, wild_names_are_no_names);
	tcase_add_test(tc, wide_section_numbers_are_followed);
	tcase_add_test(tc, escape_value_is_no_section);
	tcase_add_test(tc, canonical_names_come_first);
	tcase_add_test(tc, no_symbols_are_no_failure);
	tcase_add_loop_test(tc, sorting_keeps_every_symbol, 0, 65);
	return tap_main(suite);
}
