// SPDX-License-Identifier: GPL-2.0-only
#include "symtab/elf/mapping-symbol.h"

#include <stdlib.h>
#include <string.h>

#include "symtab/bsearch.h"

bool hlg_mark_name(const char *name)
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

static bool get(const struct hlg_elf64 *elf, size_t i, struct hlg_mark *mark)
{
	Elf64_Sym sym;

	memcpy(&sym, (const char *)elf->syms + i * sizeof(sym), sizeof(sym));
	if (sym.st_name >= elf->strsz || !hlg_mark_name(elf->strtab + sym.st_name) ||
	    !in_code(elf, i, &sym))
		return false;
	*mark = (struct hlg_mark){sym.st_value, elf->strtab[sym.st_name + 1] == 'd'};
	return true;
}

/* Of two at one address, code counts: what is wrongly taken for it is told by decoding.
 */
static int compare(const void *a, const void *b)
{
	const struct hlg_mark *x = a, *y = b;

	if (x->addr != y->addr)
		return x->addr < y->addr ? -1 : 1;
	return (int)y->data - (int)x->data;
}

bool hlg_marks_build(struct hlg_marks *marks, const struct hlg_elf64 *elf)
{
	struct hlg_mark mark;
	size_t n = 0;

	*marks = (struct hlg_marks){0};
	if (elf->machine != EM_AARCH64)
		return true;
	for (size_t i = 0; i < elf->n_syms; i++)
		n += get(elf, i, &mark);
	if (n == 0)
		return true;
	marks->mark = calloc(n, sizeof(*marks->mark));
	if (!marks->mark)
		return false;
	for (size_t i = 0; marks->n < n; i++)
		marks->n += get(elf, i, &marks->mark[marks->n]);
	qsort(marks->mark, n, sizeof(*marks->mark), compare);
	return true;
}

bool hlg_marks_data(const struct hlg_marks *marks, uint64_t addr)
{
	size_t behind = HLG_UPTO(marks->mark, marks->n, addr, addr);

	return behind && marks->mark[behind - 1].data;
}

void hlg_marks_finish(struct hlg_marks *marks)
{
	free(marks->mark);
	*marks = (struct hlg_marks){0};
}
