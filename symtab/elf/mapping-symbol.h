/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * AArch64's mapping symbols (AAELF64, 5.5.4): `$x` where instructions begin, `$d` where
 * data does, `$x.` and `$d.` with anything behind. They name nothing; they tell which
 * bytes of a code section are code. Addresses are the image's own.
 */
#ifndef HLG_SYMTAB_ELF_MAPPING_SYMBOL_H
#define HLG_SYMTAB_ELF_MAPPING_SYMBOL_H

#include "symtab/elf/elf64.h"

struct hlg_mark {
	uint64_t addr;
	bool data;
};

struct hlg_marks {
	struct hlg_mark *mark; /* by address */
	size_t n;
};

/* Is a symbol of this name one? Only where the machine is AArch64. */
bool hlg_mark_name(const char *name);

/* Collects those of elf's table. Returns false without memory; finish marks always. */
bool hlg_marks_build(struct hlg_marks *marks, const struct hlg_elf64 *elf);

/* Does the last mark up to addr say data? */
bool hlg_marks_data(const struct hlg_marks *marks, uint64_t addr);

void hlg_marks_finish(struct hlg_marks *marks);

#endif
