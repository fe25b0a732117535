// SPDX-License-Identifier: GPL-2.0-only
#include "filter/output/colour.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "filter/output/screen.h"

struct hlg_colour hlg_colour_of(FILE *f)
{
	const char *no = getenv("NO_COLOR"), *term = getenv("TERM");
	struct hlg_colour colours = {0};

	colours.on = !(no && no[0]) && term && term[0] && strcmp(term, "dumb") != 0 &&
		     hlg_screen_is_terminal(f);
	colours.blocks = colours.on && hlg_screen_is_utf8();
	return colours;
}

struct hlg_colour hlg_colour_always(void)
{
	return (struct hlg_colour){.on = true, .blocks = hlg_screen_is_utf8()};
}

/* ECMA-48, 8.3.117; NULL for what is too little to be marked. */
static const char *colour(double share)
{
	return share >= 0.05 ? "\033[31m" : share >= 0.005 ? "\033[32m" : NULL;
}

void hlg_colour_begin(FILE *f, const struct hlg_colour *colours, double share)
{
	const char *begin = colours->on ? colour(share) : NULL;

	if (begin)
		fputs(begin, f);
}

void hlg_colour_end(FILE *f, const struct hlg_colour *colours, double share)
{
	if (colours->on && colour(share))
		fputs("\033[m", f);
}

/* Rounded up: what has a share at all shows. */
static int length(double share, double most, int of)
{
	return most > 0 ? (int)fmin(ceil(of * share / most), of) : 0;
}

/* Whole cells, then one that is filled from the left by eighths. */
static int write_blocks(FILE *f, int eighths)
{
	for (int i = 0; i < eighths / 8; i++)
		fputs("\u2588", f);
	if (eighths % 8) /* U+258F is one eighth, U+2589 seven */
		fprintf(f, "\xe2\x96%c", 0x90 - eighths % 8);
	return (eighths + 7) / 8;
}

static int write_signs(FILE *f, int n)
{
	for (int i = 0; i < n; i++)
		fputc('#', f);
	return n;
}

void hlg_colour_bar(FILE *f, const struct hlg_colour *colours, double share, double most,
		    int width)
{
	int used;

	hlg_colour_begin(f, colours, share);
	used = colours->blocks ? write_blocks(f, length(share, most, 8 * width))
			       : write_signs(f, length(share, most, width));
	hlg_colour_end(f, colours, share);
	fprintf(f, "%*s", width - used, "");
}
