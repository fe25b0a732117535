/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a page leaves out so that it has at most HLG_PAGE_BYTES: browsers open more, but
 * slowly, and mail does not take it. Pages of nearly all guests are far below and leave
 * out nothing.
 *
 * The data have sections. Where they are too large, the largest are cut, down to one
 * level at which all have room; the small ones stay whole. What is cut is what has the
 * least samples, and these are added to something that says so: every sample is there
 * once. How large the packed data become is not known before, so it is tried, again and
 * again if need be.
 */
#ifndef HLG_TOOLS_PAGE_CUT_H
#define HLG_TOOLS_PAGE_CUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum {
	HLG_PAGE_BYTES = 10000000,
	HLG_PAGE_LEAST = 200 /* rows are never fewer: those that are there without scripts
			      */
};

/* In the order in which they stand in the data. */
enum hlg_page_section {
	HLG_PAGE_IMAGES,
	HLG_PAGE_ROWS,
	HLG_PAGE_ADDRESSES,
	HLG_PAGE_FLAME,
	HLG_PAGE_THREADS, /* what ran, by time; bounded (filter/profile/slices.h) */
	HLG_PAGE_WHERE,
	HLG_PAGE_STACKS,
	HLG_PAGE_SECTIONS
};

/* SIZE_MAX, false and 0: all is there. */
struct hlg_page_cut {
	size_t rows;      /* the hottest; the others are one. As many callers, too */
	size_t addresses; /* the hottest; others are at the start of their row */
	size_t frames;    /* the widest, of the flame graph; others are one on each */
	bool outlines;    /* functions without samples are one where they are side by
			     side */
	unsigned longer;  /* slices by address and stack: doubled so often more */
	bool stacks;      /* there are none by time */
	struct {          /* what that made of the page */
		size_t rows, callers, addresses, frames, outlines; /* not by themselves */
		double row_share, frame_share; /* the largest of these */
		size_t kept_rows, kept_addresses, kept_frames;
		unsigned long long slice; /* ns: of where, if they are longer */
		bool longest;             /* they cannot be longer */
	} is;
};

#define HLG_PAGE_CUT_NONE                                                                \
	{                                                                                \
		.rows = SIZE_MAX, .addresses = SIZE_MAX, .frames = SIZE_MAX              \
	}

/* Cuts more, where sections of these sizes (packed bytes) have to go into so many. */
void hlg_page_cut_more(struct hlg_page_cut *cut, const size_t sizes[HLG_PAGE_SECTIONS],
		       size_t room);

/* Cuts all that grows with samples, addresses, functions and stacks: no page can have
 * less. Names, and recordings, it has as many as there are. */
void hlg_page_cut_least(struct hlg_page_cut *cut);

/* Is anything left out? */
bool hlg_page_cut_any(const struct hlg_page_cut *cut);

/* "12345 functions below 0.01 % are one row; ...", what is left out. things: what rows
 * are. */
void hlg_page_cut_words(FILE *f, const struct hlg_page_cut *cut, const char *things);

/* The share as text that it is below: a power of ten, "0.01 %". */
const char *hlg_page_cut_below(char buf[static 32], double share);

#endif
