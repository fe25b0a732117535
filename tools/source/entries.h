/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Is what debug information says of its entries in proportion to how many there are?
 *
 * An entry (DWARF 5, 2.1) has the attributes that its abbreviation lists, in
 * .debug_abbrev. libdw goes through them each time that it asks an entry for one or steps
 * over it, and reads a unit's table of abbreviations anew, to its end if it must. So a
 * small file can say that all its entries have a hundred thousand attributes that take no
 * bytes, or that all its units have one long table. Compilers list up to some 20
 * attributes; units share tables where they were linked as one (LTO), of a few KB.
 * Lines and lists of ranges are likewise (line-head.h, range-lists.h).
 */
#ifndef HLG_TOOLS_SOURCE_ENTRIES_H
#define HLG_TOOLS_SOURCE_ENTRIES_H

#include <elfutils/libdw.h>
#include <stdbool.h>

#include "symtab/err.h"

/* False if not: *err says so of the file at path. To be asked before any entry of dwarf
 * is looked at. */
bool hlg_entries_vet(Dwarf *dwarf, const char *path, struct hlg_err *err);

#endif
