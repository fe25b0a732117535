/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the head of a table of lines (DWARF 5, 6.2.4) says of paths.
 *
 * libdw writes the whole path of each file when it reads a table: the folder that the
 * unit was compiled in, the file's folder, and its name. So a small file can say that
 * 100,000 files are in one folder whose name has 300,000 letters.
 */
#ifndef HLG_TOOLS_SOURCE_LINE_HEAD_H
#define HLG_TOOLS_SOURCE_LINE_HEAD_H

#include <libelf.h>
#include <stdbool.h>
#include <stdint.h>

/* What is left of a table. */
struct hlg_line_bytes {
	const unsigned char *at, *end;
};

/* Takes a LEB128; 0 at the end. Of a signed one the value is of no interest. */
uint64_t hlg_line_head_number(struct hlg_line_bytes *bytes);

/* Where tables and their strings are; NULL: nowhere. */
struct hlg_line_sections {
	const Elf_Data *line, *line_str, *str;
};

struct hlg_line_head {
	uint64_t size;   /* of the table, as far as it is there */
	uint64_t files;  /* at most */
	uint64_t folder; /* letters of the longest */
	uint64_t names;  /* letters of all files' names */
};

/* The head of the table at an offset of sections->line. False if one of its paths is
 * longer than any, or if it is of a kind that no compiler writes. What is cut has what is
 * there. */
bool hlg_line_head_read(const struct hlg_line_sections *sections, uint64_t at,
			struct hlg_line_head *head);

/* Letters of all its paths, where the unit was compiled in a folder with so many. */
uint64_t hlg_line_head_paths(const struct hlg_line_head *head, uint64_t compiled_in);

#endif
