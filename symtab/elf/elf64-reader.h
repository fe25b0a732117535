/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * An ELF that is being read, and what all of its reading needs: elf64.c and
 * elf64-tables.c only. Errors name the file, and are returned as hlg_elf64_read returns
 * them. errno is 0 whenever libelf is asked: it says only there why it could not read.
 */
#ifndef HLG_SYMTAB_ELF_ELF64_READER_H
#define HLG_SYMTAB_ELF_ELF64_READER_H

#include <gelf.h>

#include "symtab/elf/elf64.h"

struct hlg_elf64_reader {
	const char *path;
	int fd;
	Elf *libelf;
	uint64_t size;
	uint64_t names_size; /* of elf->section_names */
	uint64_t notes;      /* bytes of them that were read */
	struct hlg_elf64 *elf;
	struct hlg_err *err;
};

/* The system's reason, if it has one. */
int hlg_elf64_reader_unread(struct hlg_elf64_reader *r);

/* What is wrong with the file; or libelf could not read it. */
int hlg_elf64_reader_damaged(struct hlg_elf64_reader *r, const char *what);

/* What ends past the end of the file, with its verb. */
int hlg_elf64_reader_truncated(struct hlg_elf64_reader *r, const char *what);

bool hlg_elf64_reader_in_file(const struct hlg_elf64_reader *r, uint64_t off,
			      uint64_t len);

/* Memory, the caller's, for, and bytes of, a section that is in the file, with a zero
 * behind them. After an error there may be memory, too. */
int hlg_elf64_reader_contents(struct hlg_elf64_reader *r, const GElf_Shdr *sh,
			      void **out);

#endif
