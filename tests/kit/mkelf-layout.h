/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The inside of mkelf: where each piece of a file under construction goes. Filled by
 * mkelf_layout(), read by mkelf.c, which owns the memory of the arrays.
 */
#ifndef HLG_TESTS_MKELF_LAYOUT_H
#define HLG_TESTS_MKELF_LAYOUT_H

#include "tests/kit/mkelf.h"

#define MKELF_MAX_NOTES 2
/* The null section, the notes, .symtab .strtab .dynsym .dynstr .shstrtab */
#define MKELF_MAX_ADDED (1 + MKELF_MAX_NOTES + 5)

struct mkelf_layout {
	const struct mkelf *elf;
	struct mkelf_image
		*img; /* class and byte order set; its offsets and indices filled */

	/* Room for elf->n_sections + MKELF_MAX_ADDED of each, zeroed. */
	struct mkelf_section *sec;
	uint64_t *sec_off;
	size_t n_sec;

	/* elf->n_segments of each, zeroed. */
	uint64_t *seg_off;
	uint64_t *seg_filesz;

	unsigned note[MKELF_MAX_NOTES]; /* section indices */
	unsigned n_notes;
	uint64_t end; /* of the file */
};

/* Returns 0, or -E2BIG when the file would have more than 1 GiB. */
int mkelf_layout(struct mkelf_layout *l);

/* The symbol tables (MKELF_SYMTAB, MKELF_DYNSYM) a symbol goes to. */
unsigned mkelf_tables_of(const struct mkelf *elf, const struct mkelf_sym *sym);

static inline size_t mkelf_ehdr_size(bool elf32)
{
	return elf32 ? sizeof(Elf32_Ehdr) : sizeof(Elf64_Ehdr);
}

static inline size_t mkelf_phdr_size(bool elf32)
{
	return elf32 ? sizeof(Elf32_Phdr) : sizeof(Elf64_Phdr);
}

static inline size_t mkelf_shdr_size(bool elf32)
{
	return elf32 ? sizeof(Elf32_Shdr) : sizeof(Elf64_Shdr);
}

static inline size_t mkelf_sym_size(bool elf32)
{
	return elf32 ? sizeof(Elf32_Sym) : sizeof(Elf64_Sym);
}

#endif
