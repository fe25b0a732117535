/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Files for one test case: a directory that is new before its first test and gone after
 * its last. Both are unchecked fixtures, so they run in the parent and a crashed test
 * leaves nothing behind.
 *
 *	tcase_add_unchecked_fixture(tc, scratch_begin, scratch_end);
 */
#ifndef HLG_TESTS_SYMTAB_SCRATCH_H
#define HLG_TESTS_SYMTAB_SCRATCH_H

#include <stddef.h>

#include "tests/kit/mkelf.h"

void scratch_begin(void);
void scratch_end(void);

/* The path of a name in the directory. The last four results stay valid. */
const char *scratch_path(const char *name);

/* Writes a file, new or truncated; returns its path as scratch_path() does. */
const char *scratch_write(const char *name, const void *bytes, size_t size);
const char *scratch_image(const char *name, const struct mkelf_image *img);

/* Builds and writes in one step. */
const char *scratch_elf(const char *name, const struct mkelf *elf);

#endif
