/* SPDX-License-Identifier: GPL-2.0-only */
/* The tables of an ELF: its notes, its symbols and what belongs to them. */
#ifndef HLG_SYMTAB_ELF_ELF64_TABLES_H
#define HLG_SYMTAB_ELF_ELF64_TABLES_H

#include "symtab/elf/elf64-reader.h"

/*
 * Reads what elf64.h says of symbols and notes into r->elf, whose sections are read.
 * Fails if there are no symbols, or something of them cannot be read as it is meant.
 */
int hlg_elf64_tables_read(struct hlg_elf64_reader *r);

#endif
