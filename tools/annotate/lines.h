/* SPDX-License-Identifier: GPL-2.0-only */
/* The lines of a place before any sample is looked at. */
#ifndef HLG_TOOLS_ANNOTATE_LINES_H
#define HLG_TOOLS_ANNOTATE_LINES_H

#include "tools/annotate/listing.h"

struct hlg_lines {
	struct hlg_line *line; /* by address; they cover the place without holes */
	size_t n, room;
	const char *remark; /* as in a listing */
};

/*
 * Decodes place; code is its image's, NULL where it cannot be decoded, and without it, or
 * where there is no code, there are no lines. Returns false without memory; the caller
 * finishes *lines in any case.
 */
bool hlg_lines_build(struct hlg_lines *lines, struct hlg_code *code,
		     const struct hlg_place *place);

/* Appends a line. False without memory. */
bool hlg_lines_add(struct hlg_lines *lines, const struct hlg_line *line);

void hlg_lines_finish(struct hlg_lines *lines);

#endif
