/* SPDX-License-Identifier: GPL-2.0-only */
/* The symbol table of a companion, as an ELF file holds it. */
#ifndef HLG_TOOLS_INJECT_SIZED_H
#define HLG_TOOLS_INJECT_SIZED_H

#include <elf.h>

#include "tools/inject/units.h"

struct hlg_sized {
	Elf64_Sym *syms; /* the first is the null symbol; all others are global */
	size_t n, room;
	char *names; /* strings, the first one empty */
	size_t names_size, names_room;
};

/*
 * One symbol for each unit, in the order of addresses, its name escaped (escape.h), since
 * perf shows names as they are. demangle: of gaps, which are
 * called by what is next to them; functions and labels are called as in the ELF, since
 * perf demangles them itself. False without memory; finish in any case.
 */
bool hlg_sized_build(struct hlg_sized *symbols, const struct hlg_units *units,
		     bool demangle);
void hlg_sized_finish(struct hlg_sized *symbols);

#endif
