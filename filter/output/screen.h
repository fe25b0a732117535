/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a reader of text has before him: how long its lines may be, and how many he sees
 * at once. Text is fitted to that.
 */
#ifndef HLG_FILTER_OUTPUT_SCREEN_H
#define HLG_FILTER_OUTPUT_SCREEN_H

#include <stdbool.h>
#include <stdio.h>

/* Set by what starts a pager: standard output is shown on a terminal then. */
#define HLG_SCREEN_PAGER "HLGUEST_PAGER_IN_USE"

enum {
	HLG_SCREEN_COLUMNS = 100 /* where there is no terminal */
};

struct hlg_screen {
	unsigned columns; /* cells of a line; 0: any number */
	unsigned lines;   /* 0: no terminal */
	bool ascii;       /* shows nothing else */
};

/* Is f a terminal, or standard output in front of the command's pager? */
bool hlg_screen_is_terminal(FILE *f);

/*
 * NULL is no terminal. COLUMNS and LINES of the environment, else what the terminal says. Where there is none,
 * HLG_SCREEN_COLUMNS columns and UTF-8, so that the same bytes are written everywhere.
 */
struct hlg_screen hlg_screen_of(FILE *f);

/* Is the environment's locale, which the program need not have set, one of UTF-8? */
bool hlg_screen_is_utf8(void);

#endif
