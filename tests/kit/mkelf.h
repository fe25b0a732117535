/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * mkelf: ELF files for tests, written byte by byte.
 *
 * No ELF library takes part, so that what is under test is never compared with
 * itself, and so that files no library would write can be made: the description
 * is obeyed, not checked, and mkelf_put() breaks whatever the description cannot.
 *
 * A file is: ELF header, program headers, the segments' bytes, the sections that
 * are in no segment, section headers. Section indices: 0 the null section, then
 * the caller's sections in order (MKELF_SEC), then those mkelf adds.
 *
 *	struct mkelf_sym syms[] = {
 *		MKELF_SYM("hot", 0x1000, 0x20, STB_GLOBAL, STT_FUNC, MKELF_SEC(0)),
 *	};
 *	struct mkelf_image img;
 *
 *	mkelf_simple(&img, 0x1000, text, sizeof(text), syms, 1);
 *	mkelf_write(&img, "guest.elf");
 *	mkelf_finish(&img);
 *
 * Ownership: a description and all it points to stay the caller's and are only read
 * while mkelf_build() runs. An image's bytes are malloc'd and given back by
 * mkelf_finish(). Addresses and sizes are in bytes. Failures are negative errno
 * values; nothing is printed.
 */
#ifndef HLG_TESTS_MKELF_H
#define HLG_TESTS_MKELF_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The section index (st_shndx) of the caller's section i, counted from 0. */
#define MKELF_SEC(i) ((uint16_t)((i) + 1))

/* Symbol tables, as a set. */
#define MKELF_SYMTAB  1u
#define MKELF_DYNSYM  2u
#define MKELF_BOTH    (MKELF_SYMTAB | MKELF_DYNSYM)
#define MKELF_INHERIT 0u

struct mkelf_sym {
	const char *name; /* NULL: no name (st_name 0) */
	uint64_t value;
	uint64_t size;
	uint8_t bind;     /* STB_ */
	uint8_t type;     /* STT_ */
	uint16_t shndx;   /* MKELF_SEC(i), SHN_, or any raw value */
	uint8_t tables;   /* tables it goes to; MKELF_INHERIT: the file's */
	uint8_t other;    /* st_other */
	uint32_t st_name; /* not 0: this raw offset in place of the name's */
};

/* The six fields that matter, as an initializer. */
#define MKELF_SYM(name_, value_, size_, bind_, type_, shndx_)                            \
	{                                                                                \
		.name = (name_), .value = (value_), .size = (size_), .bind = (bind_),    \
		.type = (type_), .shndx = (shndx_)                                       \
	}

struct mkelf_section {
	const char *name;
	uint32_t type;  /* SHT_; NOBITS has no bytes in the file */
	uint64_t flags; /* SHF_; ALLOC inside a PT_LOAD: its bytes are the segment's */
	uint64_t addr;
	uint64_t size;
	const void *data; /* size bytes; NULL: size times fill */
	uint8_t fill;     /* 0 leaves what a segment around it has there */
	uint64_t align;   /* sh_addralign, and of the file offset outside segments */
	uint32_t link;
	uint32_t info;
	uint64_t entsize;
};

/*
 * A program header. A PT_LOAD's bytes in the file are data (filesz of them) or
 * zeroes, overlaid with the sections inside [vaddr, vaddr + memsz), and reach to
 * filesz or the end of the last such section, whichever is more. Other types have
 * no bytes of their own without data: they point into the PT_LOAD around vaddr.
 */
struct mkelf_segment {
	uint32_t type;  /* PT_ */
	uint32_t flags; /* PF_ */
	uint64_t vaddr;
	uint64_t memsz; /* 0: as many as in the file */
	uint64_t filesz;
	const void *data;
	uint64_t align; /* p_align; file offset = vaddr modulo align; 0 or 1: none */
};

struct mkelf {
	bool elf32;
	bool big_endian;
	bool no_section_headers; /* their bytes are there, the headers are not */
	bool no_note_segments;   /* no PT_NOTE for the notes below */
	uint8_t osabi;           /* ELFOSABI_; IFUNC belongs to ELFOSABI_GNU */
	uint16_t type;           /* ET_ */
	uint16_t machine;        /* EM_ */
	uint32_t flags;
	uint64_t entry;

	const struct mkelf_segment *segments;
	size_t n_segments;
	const struct mkelf_section *sections;
	size_t n_sections;

	/*
	 * In this order, which is also the order in the tables: a well-formed file
	 * wants locals first. The null symbol comes before them. A table named in
	 * `tables` is written even when no symbol goes there.
	 */
	const struct mkelf_sym *syms;
	size_t n_syms;
	unsigned tables; /* MKELF_SYMTAB, MKELF_DYNSYM, MKELF_BOTH or 0 */

	const void *build_id; /* NULL: none */
	size_t build_id_size;
	const char *version; /* of .note.hyperlight-version; NULL: none */
	/*
	 * Where the notes are in memory, in the order above, each 8-aligned, inside
	 * a PT_LOAD with room for them. 0: in the file only (no SHF_ALLOC).
	 */
	uint64_t notes_addr;
};

struct mkelf_image {
	uint8_t *bytes;
	size_t size;
	bool elf32;
	bool big_endian;
	/* File offsets of the tables of headers; 0: none. */
	size_t phoff;
	size_t shoff;
	unsigned phnum;
	unsigned shnum;
	/* Section indices of what mkelf added; 0: not there. */
	unsigned symtab, strtab, dynsym, dynstr, shstrtab, build_id, version;
};

/*
 * Builds the file described into *out.
 * Returns 0; -ENOMEM; -E2BIG for more than 1 GiB; -EINVAL for 0xff00 sections or
 * more. After a failure *out needs no mkelf_finish(), which is harmless all the same.
 */
int mkelf_build(const struct mkelf *elf, struct mkelf_image *out);

/* Frees the bytes; *img is then empty. */
void mkelf_finish(struct mkelf_image *img);

/* Writes the bytes to path, new or truncated. Returns 0 or -errno. */
int mkelf_write(const struct mkelf_image *img, const char *path);

/*
 * Overwrites `width` bytes (1, 2, 4 or 8) at file offset `off` with `value`, in the
 * file's byte order. Asserts that they are inside the file.
 */
void mkelf_put(struct mkelf_image *img, size_t off, unsigned width, uint64_t value);

/*
 * File offsets of section header and program header i, for mkelf_put() with
 * offsetof(Elf64_Shdr, ...); and of the bytes of section i (its sh_offset).
 */
size_t mkelf_shdr(const struct mkelf_image *img, unsigned i);
size_t mkelf_phdr(const struct mkelf_image *img, unsigned i);
size_t mkelf_bytes(const struct mkelf_image *img, unsigned i);

/*
 * The usual small file: ELF64 little-endian x86-64 ET_DYN, one R-X PT_LOAD at vaddr,
 * one .text (section 1) of text_size bytes in it, the symbols in .symtab.
 * mkelf_simple_init() leaves the description open to changes before mkelf_build() of
 * s->elf (s points into itself: do not copy it); mkelf_simple() does both.
 */
struct mkelf_simple {
	struct mkelf elf;
	struct mkelf_segment segment;
	struct mkelf_section text;
};

void mkelf_simple_init(struct mkelf_simple *s, uint64_t vaddr, const void *text,
		       size_t text_size, const struct mkelf_sym *syms, size_t n_syms);
int mkelf_simple(struct mkelf_image *out, uint64_t vaddr, const void *text,
		 size_t text_size, const struct mkelf_sym *syms, size_t n_syms);

#endif
