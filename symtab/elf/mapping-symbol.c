// SPDX-License-Identifier: GPL-2.0-only
#include "symtab/elf/mapping-symbol.h"

#include <stdlib.h>
#include <string.h>

#include "symtab/bsearch.h"

bool hlg_mapping_symbol_is(const char *name)
{
	return name[0] == '$' && (name[1] == 'x' || name[1] == 'd') &&
	       (name[2] == '\0' || name[2] == '.');
}

/* Of code sections only: in others (.debug_*) an address may be an offset. */
static bool in_code(const struct hlg_elf64 *elf, size_t i, const Elf64_Sym *sym)
{
	uint32_t index = sym->st_shndx;
	const struct hlg_section *section;

	if (index == SHN_XINDEX && elf->shndx)
		index = elf->shndx[i];
	else if (index >= SHN_LORESERVE)
		return false;
	if (index == SHN_UNDEF || index >= elf->n_sections)
		return false;
	section = &elf->sections[index];
	return section->exec && sym->st_value >= section->addr &&
	       sym->st_value < section->end;
}

static bool get(const struct hlg_elf64 *elf, size_t i, struct hlg_mapping_symbol *symbol)
{
	Elf64_Sym sym;

	memcpy(&sym, (const char *)elf->syms + i * sizeof(sym), sizeof(sym));
	if (sym.st_name >= elf->strsz ||
	    !hlg_mapping_symbol_is(elf->strtab + sym.st_name) || !in_code(elf, i, &sym))
		return false;
	*symbol = (struct hlg_mapping_symbol){sym.st_value,
					      elf->strtab[sym.st_name + 1] == 'd'};
	return true;
}

/* Of two at one address, code counts: what is wrongly taken for it is told by decoding.
 */
static int compare(const void *a, const void *b)
{
	const struct hlg_mapping_symbol *x = a, *y = b;

	if (x->addr != y->addr)
		return x->addr < y->addr ? -1 : 1;
	return (int)y->data - (int)x->data;
}

bool hlg_mapping_symbol_collect(struct hlg_mapping_symbols *symbols,
				const struct hlg_elf64 *elf)
{
	struct hlg_mapping_symbol symbol;
	size_t n = 0;

	*symbols = (struct hlg_mapping_symbols){0};
	if (elf->machine != EM_AARCH64)
		return true;
	for (size_t i = 0; i < elf->n_syms; i++)
		n += get(elf, i, &symbol);
	if (n == 0)
		return true;
	symbols->at = calloc(n, sizeof(*symbols->at));
	if (!symbols->at)
		return false;
	for (size_t i = 0; symbols->n < n; i++)
		symbols->n += get(elf, i, &symbols->at[symbols->n]);
	qsort(symbols->at, n, sizeof(*symbols->at), compare);
	return true;
}

bool hlg_mapping_symbol_data_at(const struct hlg_mapping_symbols *symbols, uint64_t addr)
{
	size_t behind = HLG_BSEARCH_UPTO(symbols->at, symbols->n, addr, addr);

	return behind && symbols->at[behind - 1].data;
}

void hlg_mapping_symbol_finish(struct hlg_mapping_symbols *symbols)
{
	free(symbols->at);
	*symbols = (struct hlg_mapping_symbols){0};
}
