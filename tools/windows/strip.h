/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A strip of a plot in the colours of the functions that windows end in, and its legend:
 * the functions of most windows, and all others in one colour.
 */
#ifndef HLG_TOOLS_WINDOWS_STRIP_H
#define HLG_TOOLS_WINDOWS_STRIP_H

#include <stdio.h>

#include "tools/windows/windows.h"

enum {
	HLG_STRIP_COLOURS = 8
};

struct hlg_strip {
	const struct hlg_windows *w;
	uint32_t places[HLG_STRIP_COLOURS]; /* the last: one of all others */
	uint64_t windows[HLG_STRIP_COLOURS];
	uint64_t all;
	size_t n, others; /* colours in use; places of the last */
};

/* False without memory. Without located rows it is empty, of height 0. */
bool hlg_strip_make(struct hlg_strip *strip, const struct hlg_windows *windows);

/* Pixels, of the strip and the legend below it. */
unsigned hlg_strip_height(const struct hlg_strip *strip);

/* Rows are in the order of time; pixel: of a time, from 0 to width - 1. */
void hlg_strip_put(FILE *f, const struct hlg_strip *strip, unsigned x, unsigned y,
		   unsigned width, unsigned (*pixel)(const void *ctx, uint64_t time),
		   const void *ctx);

#endif
