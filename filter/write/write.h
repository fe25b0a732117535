/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the writers of all formats share: which views and rows are asked for, and how
 * numbers and text are put. Write errors stay on the stream; hlg_out_commit finds them.
 */
#ifndef HLG_FILTER_WRITE_WRITE_H
#define HLG_FILTER_WRITE_WRITE_H

#include <stdio.h>

#include "filter/report/report.h"

/*
 * Calls view for what mode= and by= ask for: the whole report, or each group with its
 * series' name (not escaped), or nothing. to is handed on.
 */
int hlg_write_views(void *to, const struct hlg_report *report,
		    void (*view)(void *to, const struct hlg_report *report,
				 const struct hlg_view *view, const char *series),
		    struct hlg_err *err);

/*
 * The same for the host's rows: those that mode= and top= ask for, each with its share of
 * the host's weight.
 */
int hlg_write_host(void *to, const struct hlg_report *report,
		   void (*row)(void *to, const struct hlg_host_row *row, uint64_t weight,
			       double share, const char *series),
		   struct hlg_err *err);
size_t hlg_write_host_shown(const struct hlg_report *report);

/* Percent of a share with two decimals ("12.34"), the same in every locale. */
const char *hlg_write_percent(char buf[static 16], double share);

/* Writes text escaped (escape.h), each c in it as instead. Needs no memory to do so. */
void hlg_write_escaped(FILE *f, const char *text, char c, const char *instead);

/*
 * Text as a cell of CSV (RFC 4180): in quotes, escaped, and behind a ' if a spreadsheet
 * would take it for a formula. begin writes what is in front of a cell's text, when that
 * is put together from several.
 */
bool hlg_write_is_formula(const char *text);
void hlg_write_cell(FILE *f, const char *text);
void hlg_write_cell_begin(FILE *f, const char *text);

/* Text as a string of JSON, escaped. */
void hlg_write_string(FILE *f, const char *text);

/*
 * Text as a frame of folded stacks, escaped. What ends a frame, ';', becomes ':'; and of
 * a name that ends like a count, as "pass 2", the last blank is written as \x20:
 * flamegraph.pl takes a number behind a blank for a second count, and cuts it off.
 */
void hlg_write_frame(FILE *f, const char *name);

/* "function", "label", "gap", "data", "outside". */
const char *hlg_write_kind(enum hlg_kind kind);

/* "guest kernel", "guest user", "host kernel", "host user", "hypervisor", "other". */
const char *hlg_write_state(enum hlg_state state);

#endif
