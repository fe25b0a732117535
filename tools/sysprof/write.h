/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The writers of a stream that was read, as struct hlg_format has them. They fail without
 * memory, and where text would take too much of it: a few bytes can call for a long name
 * again and again. What cannot be written stays on f, for hlg_out_commit to find. Nothing
 * a stream holds reaches f unescaped.
 */
#ifndef HLG_TOOLS_SYSPROF_WRITE_H
#define HLG_TOOLS_SYSPROF_WRITE_H

#include <stdio.h>

#include "filter/output/note-list.h"
#include "tools/sysprof/sysprof.h"

/* What a reader wants to see, by the letters of the profiler's own modes. */
enum hlg_sysprof_mode {
	HLG_SYSPROF_CALLGRAPH, /* whole stacks */
	HLG_SYSPROF_LEAF,      /* the leaves, of Lua and of the host */
	HLG_SYSPROF_COUNTERS,  /* states only */
};

/* Data of the writers. */
struct hlg_sysprof_output {
	const struct hlg_sysprof *s;
	enum hlg_sysprof_mode mode;
	bool by_state;    /* folded: the state is a frame, the first */
	uint64_t top;     /* rows of stacks in text; 0: all */
	const char *path; /* of the stream */
	struct hlg_note_list notes;
};

/* For people: the states, then stacks, those with most samples first. */
int hlg_sysprof_text(void *output, FILE *f, struct hlg_err *err);

/*
 * "frame;frame NUMBER", root first; all samples are in it. A stack without frames is its
 * state, "[INTERP]".
 */
int hlg_sysprof_folded(void *output, FILE *f, struct hlg_err *err);

/* JSON: see hlguest-sysprof(1). In a build with jansson only. */
int hlg_sysprof_json(void *output, FILE *f, struct hlg_err *err);

/* The name of a frame; escaped, and without the ';' that ends a frame. */
void hlg_sysprof_name(FILE *f, const struct hlg_sysprof *s,
		      const struct hlg_sysprof_frame *frame);

/* Bytes of all stacks as text, or of all frames twice; a little more is no harm. */
#define HLG_SYSPROF_MAX_TEXT ((uint64_t)512 << 20)

#endif
