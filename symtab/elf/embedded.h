/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ELF files inside another file: guests that a host program carries with it, as Rust's
 * include_bytes! puts them there.
 *
 * In: a path. Out: where each ELF begins, at any offset but 0, and how many bytes it has:
 * up to where the last of its header, tables, segments and sections ends (System V gABI,
 * chapter 4). What ends past the file, and what hlg_elf64_read() refuses, is none. What
 * lies inside of one is not looked at.
 */
#ifndef HLG_SYMTAB_ELF_EMBEDDED_H
#define HLG_SYMTAB_ELF_EMBEDDED_H

#include <stdio.h>

#include "symtab/elf/elf64.h"

struct hlg_embedded {
	uint64_t offset, size; /* bytes, in the file */
	uint32_t crc;          /* of them, as of .gnu_debuglink */
	struct hlg_elf64 elf;  /* what it says; its id is of no use */
};

struct hlg_embedded_list {
	struct hlg_embedded *at; /* by offset */
	size_t n;
	struct hlg_err refused; /* why the first was, whose headers are whole; or empty */
};

/* Fails if the file cannot be read, if so many seem to overlap in it that each byte would
 * be read several times, and without memory; finish the list in any case. */
int hlg_embedded_find(struct hlg_embedded_list *list, const char *path,
		      struct hlg_err *err);
void hlg_embedded_finish(struct hlg_embedded_list *list);

/*
 * Which of these a host runs as its guests: those with Hyperlight's note; of those that
 * are the same bytes the first. Returns the first of them whose place in the list is from
 * or behind it; list->n: there is none.
 */
size_t hlg_embedded_guest(const struct hlg_embedded_list *list, size_t from);

/* A copy in memory of an ELF of path, which is open at fd: a descriptor, for the caller
 * to close. */
int hlg_embedded_open(const struct hlg_embedded *embedded, int fd, const char *path,
		      struct hlg_err *err);

/* Writes the bytes of an ELF of path to `to`, whose errors stay on the stream; errno then
 * says why. */
int hlg_embedded_copy(const struct hlg_embedded *embedded, const char *path, FILE *to,
		      struct hlg_err *err);

#endif
