// SPDX-License-Identifier: GPL-2.0-only
#include "symtab/image/symbol.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "symtab/bsearch.h"
#include "symtab/grow.h"

static_assert(sizeof(struct hlg_symbol) == sizeof(Elf64_Sym), "compacted in place");

/*
 * Bytes of all names for one of both tables, and those that are free. Names share bytes
 * where one is another's end, or two symbols have one name, but few share many: whoever
 * shows names shows each of them.
 */
#define MAX_SHARING 16
#define FREE_NAMES  ((uint64_t)64 << 20)

/*
 * Bytes of all symbols for one of the file, and those that are free. Some lie within
 * others, but few deep: whoever decodes symbols decodes each of them.
 */
#define MAX_NESTING  4
#define FREE_NESTING ((uint64_t)1 << 20)

/* Where the symbols of one section index may lie; most neighbours in a table share it. */
struct home {
	uint32_t index;
	uint64_t addr, end; /* equal: no code */
};

static bool taken_name(const struct hlg_elf64 *elf, uint32_t name)
{
	const char *s;

	if (name >= elf->strsz)
		return false;
	s = elf->strtab + name;
	if (s[0] == '\0')
		return false;
	return s[0] != '.' || s[1] != 'L';
}

static bool is_mapping(const struct hlg_elf64 *elf, uint32_t name)
{
	const char *s;

	if (elf->machine != EM_AARCH64 || name >= elf->strsz)
		return false;
	s = elf->strtab + name;
	return s[0] == '$' && (s[1] == 'x' || s[1] == 'd') &&
	       (s[2] == '\0' || s[2] == '.');
}

/* The section that entry i names, if it holds code: gABI, "Symbol Table", st_shndx. */
static void find_home(const struct hlg_elf64 *elf, size_t i, uint32_t index,
		      struct home *home)
{
	uint32_t wide = index;

	*home = (struct home){.index = index};
	if (index == SHN_XINDEX && elf->shndx) {
		wide = elf->shndx[i];
		home->index = SHN_UNDEF; /* the next one may mean another section */
	} else if (index >= SHN_LORESERVE) {
		return;
	}
	if (wide == SHN_UNDEF || wide >= elf->n_sections || !elf->sections[wide].exec)
		return;
	home->addr = elf->sections[wide].addr;
	home->end = elf->sections[wide].end;
}

/* Does entry i lie in a section of code? home: that of the entry before. In a module of
 * WebAssembly its value becomes an address. */
static bool in_home(const struct hlg_elf64 *elf, size_t i, Elf64_Sym *sym,
		    struct home *home)
{
	if (sym->st_shndx != home->index || sym->st_shndx == SHN_UNDEF)
		find_home(elf, i, sym->st_shndx, home);
	if (elf->wasm)
		sym->st_value += home->addr; /* past the end: below home */
	return sym->st_value >= home->addr && sym->st_value < home->end;
}

/* 0 GLOBAL (and GNU_UNIQUE), 1 WEAK, 2 LOCAL */
static uint32_t bind_rank(unsigned char info)
{
	unsigned bind = ELF64_ST_BIND(info);

	return bind == STB_LOCAL ? 2 : bind == STB_WEAK;
}

/* Applies the rule in symbol.h to entry i, which lies in home. */
static bool take(const struct hlg_elf64 *elf, size_t i, const Elf64_Sym *sym,
		 const struct home *home, struct hlg_symbol *out)
{
	const unsigned passed_over = 1u << STT_SECTION | 1u << STT_FILE | 1u << STT_TLS;
	const unsigned functions = 1u << STT_FUNC | 1u << STT_GNU_IFUNC;
	unsigned type = 1u << ELF64_ST_TYPE(sym->st_info);
	uint64_t room = home->end - sym->st_value;

	if ((type & passed_over) || !taken_name(elf, sym->st_name))
		return false;
	out->addr = sym->st_value;
	out->end = sym->st_value + (sym->st_size < room ? sym->st_size : room);
	out->name = sym->st_name;
	out->index = (uint32_t)i & HLG_MAX_SYMBOLS;
	out->bind = bind_rank(sym->st_info) & 3;
	out->class = sym->st_size == 0  ? HLG_SYM_BARE_LABEL
		     : type & functions ? HLG_SYM_FUNCTION
					: HLG_SYM_SIZED_LABEL;
	return true;
}

static bool add_mapping(struct hlg_symtab *tab, const struct hlg_elf64 *elf,
			const Elf64_Sym *sym)
{
	if (!HLG_GROW(tab->mapping, tab->n_mapping))
		return false;
	tab->mapping[tab->n_mapping++] = (struct hlg_mapping_symbol){
		sym->st_value, elf->strtab[sym->st_name + 1] == 'd'};
	return true;
}

static int compare_mapping(const void *a, const void *b)
{
	const struct hlg_mapping_symbol *x = a, *y = b;

	if (x->addr != y->addr)
		return x->addr < y->addr ? -1 : 1;
	return (int)y->data - (int)x->data;
}

/* The order of symbol.h. */
static int compare_symbols(const void *x, const void *y, void *later_wins)
{
	const struct hlg_symbol *a = x, *b = y;

	if (a->addr != b->addr)
		return a->addr < b->addr ? -1 : 1;
	if (a->class != b->class)
		return a->class < b->class ? -1 : 1;
	if (later_wins)
		return a->index > b->index ? -1 : 1;
	if (a->end != b->end)
		return a->end < b->end ? -1 : 1;
	if (a->bind != b->bind)
		return a->bind < b->bind ? -1 : 1;
	return a->index < b->index ? -1 : a->index > b->index;
}

void hlg_symbol_sort(struct hlg_symtab *tab)
{
	if (tab->n_syms)
		qsort_r(tab->syms, tab->n_syms, sizeof(*tab->syms), compare_symbols,
			tab->later_wins ? tab : NULL);
}

/* Has every name at most len bytes? Looks at one in len of the table. */
static bool are_short(const char *names, size_t size, size_t len)
{
	while (size > len) {
		const char *end = memrchr(names, '\0', len + 1);

		if (!end)
			return false;
		size -= (size_t)(end + 1 - names);
		names = end + 1;
	}
	return true;
}

/* Are all names together in proportion to the n symbols and size bytes of both tables? */
static bool names_fit(const struct hlg_symtab *tab, const char *names, size_t size,
		      size_t n)
{
	uint64_t left = FREE_NAMES + MAX_SHARING * (size + n * sizeof(Elf64_Sym));

	if (are_short(names, size, left / (tab->n_syms + 1)))
		return true;
	for (size_t i = 0; i < tab->n_syms; i++) {
		size_t len = strlen(names + tab->syms[i].name);

		if (len > left)
			return false;
		left -= len;
	}
	return true;
}

/* Are all symbols together in proportion to the file's size? Of those that are one, one
 * counts. */
static bool sizes_fit(const struct hlg_symtab *tab, uint64_t size)
{
	uint64_t left = FREE_NESTING + MAX_NESTING * size;

	for (size_t i = 0; i < tab->n_syms; i++) {
		const struct hlg_symbol *sym = &tab->syms[i];
		uint64_t own = sym->end - sym->addr;

		if (i && sym->addr == sym[-1].addr && sym->end == sym[-1].end)
			continue;
		own = own < size ? own : size; /* no more of it is there */
		if (own > left)
			return false;
		left -= own;
	}
	return true;
}

int hlg_symbol_from_elf(struct hlg_symtab *tab, struct hlg_elf64 *elf, const char *path,
			struct hlg_err *err)
{
	const char *table = elf->syms;
	struct home home = {0};
	bool ordered = true; /* as many a linker writes them: nothing to sort */
	uint64_t next = 0;

	memset(tab, 0, sizeof(*tab));
	if (elf->n_syms > HLG_MAX_SYMBOLS)
		return hlg_err_set(err, HLG_EINPUT, "%s: has more than 2^28 symbols",
				   path);
	tab->syms = elf->syms;
	elf->syms = NULL;
	/* What is kept never overtakes what is read. */
	for (size_t i = 0; i < elf->n_syms; i++) {
		struct hlg_symbol *out = &tab->syms[tab->n_syms];
		Elf64_Sym sym;

		memcpy(&sym, table + i * sizeof(sym), sizeof(sym));
		if (!in_home(elf, i, &sym, &home))
			continue;
		if (is_mapping(elf, sym.st_name)) {
			if (!add_mapping(tab, elf, &sym))
				return hlg_err_memory(err, path);
			continue;
		}
		if (!take(elf, i, &sym, &home, out))
			continue;
		ordered &= out->addr >= next;
		next = out->addr + 1;
		tab->n_syms++;
	}
	if (tab->n_mapping)
		qsort(tab->mapping, tab->n_mapping, sizeof(*tab->mapping),
		      compare_mapping);
	if (!names_fit(tab, elf->strtab, elf->strsz, elf->n_syms))
		return hlg_err_set(err, HLG_EINPUT,
				   "%s: its symbols share too long names (the ELF is "
				   "damaged; build or copy it again)",
				   path);
	tab->names = elf->strtab;
	elf->strtab = NULL;
	if (!ordered)
		hlg_symbol_sort(tab);
	if (!sizes_fit(tab, (uint64_t)elf->id.size))
		return hlg_err_set(err, HLG_EINPUT,
				   "%s: its symbols lie within each other too often (the "
				   "ELF is damaged; build or copy it again)",
				   path);
	return 0;
}

bool hlg_symbol_is_data(const struct hlg_symtab *tab, uint64_t addr, uint64_t *until)
{
	size_t behind = HLG_BSEARCH_UPTO(tab->mapping, tab->n_mapping, addr, addr);

	*until = behind < tab->n_mapping ? tab->mapping[behind].addr : UINT64_MAX;
	return behind && tab->mapping[behind - 1].data;
}

void hlg_symbol_finish(struct hlg_symtab *tab)
{
	free(tab->mapping);
	free(tab->syms);
	free(tab->names);
	memset(tab, 0, sizeof(*tab));
}
