/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Windows written: rows as records (CSV) and JSON, sums per function as records and text,
 * a plot as SVG. Write errors stay on the stream; hlg_out_commit finds them.
 */
#ifndef HLG_TOOLS_WINDOWS_WRITE_H
#define HLG_TOOLS_WINDOWS_WRITE_H

#include <stdio.h>

#include "filter/write/format.h"
#include "filter/write/table.h"
#include "tools/windows/rate.h"
#include "tools/windows/windows.h"

struct hlg_windows_style {
	bool rates;   /* hlg_rates behind the counts, as far as there are counters for */
	bool hpctool; /* records with HPCTool's columns, and nothing but counts */
	bool summary; /* records of functions, not of windows */
	const char *guest, *recording; /* files, for the plot's title; NULL: no word */
	bool in_page;                  /* the plot is in a page, which has its style */
	bool pairs;                    /* the plot's rows are pairs between markers */
	struct hlg_screen screen;      /* of text */
	bool verbose;                  /* text: all notes */
	const char *selection;         /* what chose the rows; NULL: nothing */
};

/* All are located (hlg_windows_places_locate). They fail without memory. */
int hlg_windows_records(struct hlg_records *to, const struct hlg_windows *windows,
			const struct hlg_windows_style *style, struct hlg_err *err);
/* The sums by function, so many at most; columns are left out for what the screen has no
 * room for. False without memory. */
bool hlg_windows_sums(FILE *f, const struct hlg_windows *windows,
		      const struct hlg_screen *screen, size_t shown,
		      const struct hlg_table_sink *sink);
int hlg_windows_text(FILE *f, const struct hlg_windows *windows,
		     const struct hlg_windows_style *style, struct hlg_err *err);
int hlg_windows_json(FILE *f, const struct hlg_windows *windows,
		     const struct hlg_windows_style *style, struct hlg_err *err);
/* What is drawn over what: a panel for each column and rate. */
int hlg_windows_svg(FILE *f, const struct hlg_windows *windows,
		    const struct hlg_windows_style *style, struct hlg_err *err);

/* "demo.elf: 41 windows of perf.data", as XML. */
void hlg_windows_svg_what(FILE *f, const struct hlg_windows *windows,
			  const struct hlg_windows_style *style);

#endif
