/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * AArch64's mapping symbols (AAELF64, 5.5.4): `$x` where instructions begin, `$d` where
 * data does, `$x.` and `$d.` with anything behind. They name nothing; they tell which
 * bytes of a code section are code. Addresses are the image's own.
 */
#ifndef HLG_SYMTAB_ELF_MAPPING_SYMBOL_H
#define HLG_SYMTAB_ELF_MAPPING_SYMBOL_H

#include "symtab/elf/elf64.h"

struct hlg_mapping_symbol {
	uint64_t addr;
	bool data;
};

struct hlg_mapping_symbols {
	struct hlg_mapping_symbol *at; /* sorted by address */
	size_t n;
};

/* Does a symbol of this name map? Ask only where the machine is AArch64. */
bool hlg_mapping_symbol_is(const char *name);

/* Collects the mapping symbols of elf: none unless its machine is AArch64. False without
 * memory; the caller finishes *symbols in any case. */
bool hlg_mapping_symbol_collect(struct hlg_mapping_symbols *symbols,
				const struct hlg_elf64 *elf);

/* Is addr data, as the last mapping symbol at or before it says? */
bool hlg_mapping_symbol_data_at(const struct hlg_mapping_symbols *symbols, uint64_t addr);

void hlg_mapping_symbol_finish(struct hlg_mapping_symbols *symbols);

#endif
