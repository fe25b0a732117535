/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How a report looks on a terminal: shares in colours, with bars. Elsewhere nothing of
 * it: a struct hlg_colour of zeros changes no byte.
 */
#ifndef HLG_FILTER_OUTPUT_COLOUR_H
#define HLG_FILTER_OUTPUT_COLOUR_H

#include <stdbool.h>
#include <stdio.h>

struct hlg_colour {
	bool on;     /* colours, and bars where a file has none */
	bool blocks; /* bars of U+2588 to U+258F, an eighth of a cell each; else of # */
};

/*
 * Does f show colours, and is it to? A terminal (or a pager in front of one), one that TERM says can, without NO_COLOR
 * (no-color.org: set and not empty). Looks at the environment's locale, not at the
 * program's, which is C in the command.
 */
struct hlg_colour hlg_colour_of(FILE *f);

/* The same wherever it goes. */
struct hlg_colour hlg_colour_always(void);

/*
 * Between these, what is written is in the colour of a share: red from 5 %, green from
 * 0.5 % on, as perf has it.
 */
void hlg_colour_begin(FILE *f, const struct hlg_colour *colours, double share);
void hlg_colour_end(FILE *f, const struct hlg_colour *colours, double share);

/* A bar as long as share is of most (at most that), in a column of width cells. */
void hlg_colour_bar(FILE *f, const struct hlg_colour *colours, double share, double most,
		    int width);

#endif
