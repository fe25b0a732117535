/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The writers of a stream that was read. They return false without memory, and where text
 * would take too much of it: a few bytes can call for a long name again and again. What
 * cannot be written stays on f, for hlg_out_commit to find. Nothing a stream holds
 * reaches f unescaped.
 */
#ifndef HLG_TOOLS_SYSPROF_WRITE_H
#define HLG_TOOLS_SYSPROF_WRITE_H

#include <stdio.h>

#include "tools/sysprof/sysprof.h"

/* What a reader wants to see, by the letters of the profiler's own modes. */
enum hlg_sysprof_mode {
	HLG_SYSPROF_CALLGRAPH, /* whole stacks */
	HLG_SYSPROF_LEAF,      /* the leaves, of Lua and of the host */
	HLG_SYSPROF_COUNTERS,  /* states only */
};

struct hlg_sysprof_style {
	enum hlg_sysprof_mode mode;
	bool by_state;    /* the state is a frame, the first */
	uint64_t top;     /* rows of stacks in text; 0: all */
	const char *path; /* of the stream */
	char *const *notes;
	size_t n_notes;
};

/* For text: the states, then stacks, those with most samples first. */
bool hlg_sysprof_text(FILE *f, const struct hlg_sysprof *s,
		      const struct hlg_sysprof_style *style);

/*
 * "frame;frame NUMBER", root first; all samples are in it. A stack without frames is its
 * state, "[INTERP]".
 */
bool hlg_sysprof_folded(FILE *f, const struct hlg_sysprof *s,
			const struct hlg_sysprof_style *style);

/* JSON: see hlguest-sysprof(1). In a build with jansson only; fails without memory. */
int hlg_sysprof_json(FILE *f, const struct hlg_sysprof *s,
		     const struct hlg_sysprof_style *style, struct hlg_err *err);

/* The name of a frame; escaped, and without the ';' that ends a frame. */
void hlg_sysprof_name(FILE *f, const struct hlg_sysprof *s,
		      const struct hlg_sysprof_frame *frame);

/* Bytes of one stack as text, and of all together; a little more is no harm. */
#define HLG_SYSPROF_MAX_LINE ((int64_t)16 << 20)
#define HLG_SYSPROF_MAX_TEXT ((uint64_t)512 << 20)

/* Text that several stacks may have, and their samples. */
struct hlg_sysprof_line {
	char *text;
	uint64_t samples;
	enum hlg_sysprof_state state; /* of all of them, if lines are parted by it */
};

/*
 * A line for each text that put(f, ctx, stack) writes for a stack; for each state its own
 * if parted. By samples, then text, then state. NULL if put returned false, or passed a
 * maximum, and without memory; else for hlg_sysprof_free_lines.
 */
struct hlg_sysprof_line *hlg_sysprof_lines(
	const struct hlg_sysprof *s, bool parted,
	bool (*put)(FILE *f, void *ctx, const struct hlg_sysprof_stack *stack), void *ctx,
	size_t *n);
void hlg_sysprof_free_lines(struct hlg_sysprof_line *lines, size_t n);

/* Ids of frames for any one stack: room for hlg_sysprof_lay. NULL without memory. */
uint32_t *hlg_sysprof_room(const struct hlg_sysprof *s);

/* Writes the frames of a stack as style wants them, ';' between; list is room. False if
 * it passed the maximum of a line. */
bool hlg_sysprof_frames(FILE *f, const struct hlg_sysprof *s,
			const struct hlg_sysprof_style *style,
			const struct hlg_sysprof_stack *stack, uint32_t *list);

#endif
