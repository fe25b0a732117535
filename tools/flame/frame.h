/* SPDX-License-Identifier: GPL-2.0-only */
/* One frame of a flame graph. */
#ifndef HLG_TOOLS_FLAME_FRAME_H
#define HLG_TOOLS_FLAME_FRAME_H

#include "tools/flame/graph.h"

enum {
	HLG_BOX_HEIGHT = 18, /* pixels, from one depth to the next */
	HLG_GRAPH_WIDTH =
		1200, /* without a script; it makes the picture fill its window */
};

/* The colour's class; the legend's words for it. */
const char *hlg_frame_class(enum hlg_frame kind);
const char *hlg_frame_word(enum hlg_frame kind);

void hlg_frame_write(FILE *f, const struct hlg_graph *graph, const struct hlg_box *box);

#endif
