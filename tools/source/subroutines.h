/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The functions of a compile unit, and what was inlined into them, by address: of nested
 * ones the innermost has an address, and of those that overlap otherwise the one that
 * stands last in the DWARF. So does LLVM (DWARFUnit::updateAddressDieMap). All entries of
 * a unit are read once: to ask the tree for each address takes up to a millisecond.
 */
#ifndef HLG_TOOLS_SOURCE_SUBROUTINES_H
#define HLG_TOOLS_SOURCE_SUBROUTINES_H

#include <elfutils/libdw.h>

#include "filter/stacks/address-map.h"

/* A DW_TAG_subprogram or DW_TAG_inlined_subroutine with code. */
struct hlg_subroutine {
	Dwarf_Die die;
	uint32_t parent; /* that it stands in; HLG_SUBROUTINE_NONE */
	bool inlined;
};

#define HLG_SUBROUTINE_NONE UINT32_MAX

/* All zero: none. */
struct hlg_subroutines {
	struct hlg_address_map map; /* names are places in list */
	struct hlg_subroutine *list;
	uint32_t n;
};

/*
 * Those of a unit's tree. *room is how many ranges may be kept, and becomes less, 0 also
 * where too many entries are nested too deep; the rest is left out: entries of a damaged
 * file can share long lists of them. False without memory; finish in any case.
 */
bool hlg_subroutines_collect(struct hlg_subroutines *subroutines, Dwarf_Die *tree,
			     size_t *room);

/* The outermost max of what was inlined at addr, innermost first; how many. */
size_t hlg_subroutines_find(const struct hlg_subroutines *subroutines, uint64_t addr,
			    Dwarf_Die *inlined, size_t max);

/* The innermost one, where any was. */
bool hlg_subroutines_innermost(const struct hlg_subroutines *subroutines, uint64_t addr,
			       Dwarf_Die *inlined);

void hlg_subroutines_finish(struct hlg_subroutines *subroutines);

#endif
