/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What pprof's format has no field for: words `KEY=VALUES`, the values separated by
 * commas. In them, %XX stands for a byte that is no plain character.
 *
 * The totals are one comment, which pprof's programs print: `hlguest: ` and words with a
 * blank between two. What is 0 or nothing is left out.
 *
 *   version=2                  the first; a change that old readers miss gets a new one
 *   by=pid,tid,cpu             which labels every sample has
 *   seen=SAMPLES,PERIOD        and deselected, host, guest, unnamed; then single numbers
 *
 * The others can be many, one or two for every thread. Each is a row, a string in a field
 * that only hlguest knows (pprof.proto).
 *
 *   event=PRECISE,KIND,MEMBER,NAME   the first is that of the first two value types, and
 *                              so on; enum hlg_event_kind, and 0 or 1
 *   image=elf|map,BASE,BIAS    the first is that of the first mapping, and so on
 *   series=EVENT,PID,TID,CPU,SQUARES   the sum of period^2, hexadecimal
 *   hostrow=EVENT,PID,TID,CPU,SAMPLES,PERIOD,DSO,PROCESS
 */
#ifndef HLG_TOOLS_PPROF_COMMENT_H
#define HLG_TOOLS_PPROF_COMMENT_H

#include <stdio.h>

#include "tools/pprof/saved.h"

/* Writes the comment, then the rows, each with '\n' behind it. */
void hlg_comment_write(FILE *f, const struct hlg_saved *saved);

/* What is being read. */
struct hlg_comments {
	struct hlg_saved *saved;
	uint32_t n_images; /* image lines so far; their mappings exist */
	uint32_t given;    /* bit i: number i of the totals; above them by */
	bool version;
};

/*
 * Reads one comment; one that is not ours is passed over. Returns NULL, or what is wrong
 * with it ("out of memory" too).
 */
const char *hlg_comment_read(struct hlg_comments *comments, const char *text);

/* The same for a row, after the comments. */
const char *hlg_comment_read_row(struct hlg_comments *comments, const char *text);

/* The same for all of them together, after the last. */
const char *hlg_comment_check(const struct hlg_comments *comments);

#endif
