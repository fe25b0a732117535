/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which entries of a symbol table name code, and in what order.
 *
 * The rule for an ELF symbol:
 *  - Taken: any type but SECTION, FILE and TLS, with a name, in an executable section,
 *    its value inside that section. Passed over: undefined, common and absolute symbols
 *    (they are in no section), section symbols, local labels (`.L`), on AArch64 the
 *    mapping symbols, which are kept aside.
 *  - FUNC and GNU_IFUNC with a size are functions. Any other type with a size is a sized
 *    label (hand-written assembly often leaves NOTYPE). Anything without a size is a
 *    bare label.
 *  - A size that passes the section's end is cut there.
 *
 * Order: address; then functions, sized labels, bare labels; then the shorter; then
 * GLOBAL before WEAK before LOCAL; then the table's order. So the first symbol of an
 * address is its canonical name, and all the others at that address are its aliases. In a
 * perf map a later line goes before all but the class.
 *
 * AArch64's mapping symbols (AAELF64, 5.5.4) name nothing; they tell which bytes of a
 * code section are code: `$x` stands where instructions begin, `$d` where data does,
 * `$x.` and `$d.` may have anything behind. Of two at one address code counts: what is
 * wrongly taken for it is told by decoding.
 */
#ifndef HLG_SYMTAB_IMAGE_SYMBOL_H
#define HLG_SYMTAB_IMAGE_SYMBOL_H

#include "symtab/elf/elf64.h"

enum hlg_symbol_class {
	HLG_SYM_FUNCTION,
	HLG_SYM_SIZED_LABEL,
	HLG_SYM_BARE_LABEL
};

/* As large as an Elf64_Sym: a table is read into place and turned into these there. */
struct hlg_symbol {
	uint64_t addr, end;  /* own addresses, half open; end == addr for a bare label */
	uint32_t name;       /* offset into names */
	uint32_t index : 28; /* in the table, or the line of a perf map */
	uint32_t class : 2;  /* enum hlg_symbol_class */
	uint32_t bind : 2;   /* 0 GLOBAL, 1 WEAK, 2 LOCAL */
};

struct hlg_mapping_symbol {
	uint64_t addr;
	bool data;
};

#define HLG_MAX_SYMBOLS ((UINT32_C(1) << 28) - 1)

struct hlg_symtab {
	struct hlg_symbol *syms; /* in the order that stands at the top */
	size_t n_syms;
	struct hlg_mapping_symbol *mapping; /* sorted by address; none but of AArch64 */
	size_t n_mapping;
	char *names;     /* NUL-terminated strings */
	bool later_wins; /* a perf map: a later line owns before an earlier one */
};

/* Takes elf's symbol and string tables over. The caller finishes *tab, also after a
 * failure. */
int hlg_symbol_from_elf(struct hlg_symtab *tab, struct hlg_elf64 *elf, const char *path,
			struct hlg_err *err);

/* Sorts what a caller filled in by hand. */
void hlg_symbol_sort(struct hlg_symtab *tab);

/* Is addr data, as the last mapping symbol at or before it says? And so are all behind it
 * below *until. */
bool hlg_symbol_is_data(const struct hlg_symtab *tab, uint64_t addr, uint64_t *until);

void hlg_symbol_finish(struct hlg_symtab *tab);

#endif
