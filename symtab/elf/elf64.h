/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What an ELF file says, read once and checked.
 *
 * In: a path. Out: identity, loadable ranges, sections, notes and the raw symbol table
 * of a little-endian ELF64 for x86-64 or AArch64 (ET_EXEC or ET_DYN). The file is closed
 * when hlg_elf64_read returns, and every number in the result has been checked against
 * the file's size; what the symbols mean is decided in symbol.c. All addresses
 * are the image's own (before the bias). References: System V gABI chapters 4 and 5.
 *
 * A module of WebAssembly that wasmtime compiled (.cwasm, .aot) is an ET_REL of its own
 * OS ABI (wasmtime-environ, obj.rs) without segments or relocations, its symbols relative
 * to their sections. It runs where the whole file is mapped, so its own addresses are
 * offsets in the file, and its header and each allocated section count as a segment.
 *
 * The rule for what readers do not agree on: headers of another size than usual, tables
 * that end past the file, segments that overlap, that are larger in the file than in
 * memory or reach the last byte of memory, and compressed symbol tables are refused, as
 * is a symbol table whose link is no string table. Symbols are those of the first
 * SHT_SYMTAB; if it has none but the null symbol, of the first SHT_DYNSYM, without their
 * versions. Counts and section indices that do not fit their fields are taken from where
 * the gABI puts them.
 */
#ifndef HLG_SYMTAB_ELF_ELF64_H
#define HLG_SYMTAB_ELF_ELF64_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symtab/elf/note.h"
#include "symtab/err.h"
#include "symtab/file.h"

/* A PT_LOAD: [addr, end) in memory, its first filesz bytes from offset in the file. */
struct hlg_load {
	uint64_t addr, end;
	uint64_t offset, filesz;
	bool exec;
};

/* A section, at its ELF index; addr == end when it takes no room in memory. */
struct hlg_section {
	uint64_t addr, end;
	bool exec;
	const char *name; /* in section_names, or "": it has none, or one of over 4 KiB,
			   * which many may share */
};

struct hlg_elf64 {
	uint16_t machine, type; /* EM_X86_64 or EM_AARCH64; ET_EXEC, ET_DYN or ET_REL */
	bool wasm;              /* a compiled module of WebAssembly: ET_REL */
	uint64_t entry;         /* e_entry: where it is first entered */
	uint64_t headers;       /* bytes at the file's start that its header takes, with
				   the program headers where they follow it */
	struct hlg_file_id id;
	struct hlg_load *loads; /* at least one; sorted, disjoint, none empty */
	size_t n_loads;
	struct hlg_section *sections;
	size_t n_sections;
	char *section_names; /* of all of them, as in the file */
	void *syms;          /* n_syms of Elf64_Sym, as in the file */
	size_t n_syms;
	uint32_t *shndx; /* SHT_SYMTAB_SHNDX, n_syms long, or NULL */
	char *strtab;    /* strsz bytes and a NUL behind them */
	size_t strsz;
	bool needs_loader; /* PT_INTERP or DT_NEEDED: no guest, but a program or library
			      of this machine */
	bool dynsym;       /* the symbols are .dynsym's: no .symtab */
	bool by_name;      /* their table is the first section called .symtab, by which
			      perf looks for it */
	char *debuglink;   /* the debug file's name, of .gnu_debuglink; NULL: none */
	uint32_t debuglink_crc;            /* its CRC-32 */
	char build_id[HLG_NOTE_BUILD_ID];  /* 64 bytes in lower-case hex, empty when there
					      is none */
	char hyperlight[HLG_NOTE_VERSION]; /* version that Hyperlight's library notes, or
					      empty */
};

/* Fills *elf (finish it even after a failure). 0, HLG_EINPUT or HLG_ESYSTEM. */
int hlg_elf64_read(struct hlg_elf64 *elf, const char *path, struct hlg_err *err);

/* The same of a descriptor, which stays open, of size bytes; elf->id stays empty. */
int hlg_elf64_read_fd(struct hlg_elf64 *elf, int fd, uint64_t size, const char *path,
		      struct hlg_err *err);

/*
 * The same of a separate debug file, whose headers are those of the ELF that it was split
 * from: segments are not read, and none needs bytes here. Symbols are those of .symtab;
 * there may be none (dynsym is set, then).
 */
int hlg_elf64_read_debug(struct hlg_elf64 *elf, const char *path, struct hlg_err *err);

void hlg_elf64_finish(struct hlg_elf64 *elf);

#endif
