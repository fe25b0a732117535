/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Windows written: rows as CSV and JSON, sums per function as CSV and text, a plot as
 * SVG. Write errors stay on the stream; hlg_out_commit finds them.
 */
#ifndef HLG_TOOLS_WINDOWS_WRITE_H
#define HLG_TOOLS_WINDOWS_WRITE_H

#include <stdio.h>

#include "tools/windows/rate.h"
#include "tools/windows/windows.h"

struct hlg_windows_style {
	bool rates;   /* hlg_rates behind the counts, as far as there are counters for */
	bool hpctool; /* CSV with HPCTool's header, and nothing but counts */
	bool summary; /* CSV of functions, not of windows */
};

/* What a reader of the rows should know: lines, each with a '\n'. To be freed; NULL
 * without memory. */
char *hlg_windows_notes(const struct hlg_windows *windows);

/* All are located (hlg_windows_places_locate). False without memory. */
bool hlg_windows_write_csv(FILE *f, const struct hlg_windows *windows,
			   const struct hlg_windows_style *style);
bool hlg_windows_write_text(FILE *f, const struct hlg_windows *windows,
			    const struct hlg_windows_style *style);
bool hlg_windows_write_json(FILE *f, const struct hlg_windows *windows,
			    const struct hlg_windows_style *style);
/* What is drawn over what: a panel for each column and rate. */
bool hlg_windows_write_svg(FILE *f, const struct hlg_windows *windows,
			   const struct hlg_windows_style *style);

/* Parts, shared with the pairs' writer. */

/* Each line of notes behind a prefix. */
void hlg_windows_put_lines(FILE *f, const char *lines, const char *prefix);
/* Text in a line of CSV that begins with #. */
void hlg_windows_put_comment(FILE *f, const char *text);
/* Each line behind a #; lines are freed. False if they are NULL. */
bool hlg_windows_put_comments(FILE *f, char *lines);
/* A CSV cell, quoted where it must be; a formula gets a ' in front. */
void hlg_windows_put_cell(FILE *f, const char *text);
/* Lines as a JSON array of strings. */
void hlg_windows_put_strings(FILE *f, const char *lines);
/* Seconds with nine places, as perf script has them; "" and null if not recorded. */
void hlg_windows_put_time(FILE *f, uint64_t time, const char *none);
/* "first;last", or nothing. */
void hlg_windows_put_marks(FILE *f, uint8_t marks);

#endif
