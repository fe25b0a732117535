/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The straight lines of a whole image of AArch64, and where each leads.
 *
 * A line is a run of instructions that control enters at the first only and leaves behind
 * the last only (line.h). Here it begins at each symbol, at each target of a direct
 * branch or call, wherever that stands, and behind each branch. What is padding of a gap,
 * data
 * ($d) or undefined is in none. The code is read once, from its first byte to its last.
 *
 * Words are four bytes, counted from `start`, an own address. Memory: 4 bytes for each
 * word, and some 40 for each line.
 */
#ifndef HLG_SYMTAB_CODE_ALL_LINES_H
#define HLG_SYMTAB_CODE_ALL_LINES_H

#include "symtab/image/image.h"

#define HLG_NO_LINE (-1)

/* Numbers of lines are HLG_NO_LINE where there is none. */
struct hlg_run_line {
	uint32_t start, length; /* words */
	int32_t target, next;   /* where it leads behind its last: by a branch, or on */
	uint32_t calls, calls_end;     /* places in the list: lines that it calls, */
	uint32_t callers, callers_end; /* and those that call it or branch to it */
};

struct hlg_all_lines {
	uint64_t start;
	size_t n_words, n;
	int32_t *of; /* of each word its line */
	struct hlg_run_line *at;
	int32_t *calls, *callers;
	size_t n_calls;
};

/* Has an image lines? One of AArch64 whose code is not larger than a kernel's. */
bool hlg_all_lines_applies(const struct hlg_image *image);

/*
 * Reads those of an image that applies; there are none if its file cannot be read again.
 * False without memory; the caller finishes *lines in any case.
 */
bool hlg_all_lines_read(struct hlg_all_lines *lines, const struct hlg_image *image);
void hlg_all_lines_finish(struct hlg_all_lines *lines);

/* The line at an own address. */
static inline int32_t hlg_all_lines_find(const struct hlg_all_lines *lines, uint64_t addr)
{
	const uint64_t word = (addr - lines->start) / 4;

	return addr >= lines->start && word < lines->n_words ? lines->of[word]
							     : HLG_NO_LINE;
}

#endif
