/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One line of text on a screen: what has no room is left out, or goes on below. Lines
 * begin with a label, which is as wide as HLG_TEXT_INDENT.
 */
#ifndef HLG_FILTER_WRITE_TEXT_LINE_H
#define HLG_FILTER_WRITE_TEXT_LINE_H

#include <stdbool.h>
#include <stdio.h>

#include "filter/output/note-list.h"
#include "filter/output/screen.h"

#define HLG_TEXT_INDENT "          "

enum {
	HLG_TEXT_PIECES = 8,  /* that a line has at most */
	HLG_TEXT_PIECE = 256, /* bytes */
};

/* Pieces with commas in between; begins as {0}. */
struct hlg_text_line {
	char text[HLG_TEXT_PIECES][HLG_TEXT_PIECE]; /* escaped */
	int rank[HLG_TEXT_PIECES];    /* the highest is left out first; 0: stays */
	bool behind[HLG_TEXT_PIECES]; /* of the one before, without a comma */
	int n;
};

/* What is made here needs no escape. */
__attribute__((format(printf, 3, 4))) void hlg_text_line_add(struct hlg_text_line *line,
							     int rank, const char *fmt,
							     ...);

/* "before (text)", or text alone (before is NULL); it says so where it is cut. */
void hlg_text_line_add_escaped(struct hlg_text_line *line, int rank, const char *before,
			       const char *text);

/* Is there room for all pieces? */
bool hlg_text_line_fits(const struct hlg_text_line *line,
			const struct hlg_screen *screen);

/* Those that fit; where even rank 0 does not, it goes on below on a terminal. */
void hlg_text_line_write(FILE *f, const struct hlg_screen *screen, const char *label,
			 const struct hlg_text_line *line);

/* Words, escaped already, and the end of the line: broken between them where they would
 * pass so many columns (0: nowhere), to go on behind indent. column: what is on the line
 * yet. */
void hlg_text_line_words(FILE *f, size_t columns, size_t column, const char *indent,
			 const char *words);

/* The same on a terminal, and nowhere else broken; nor within a command in brackets, which
 * is to be copied: it is longer than the line, if it must. */
void hlg_text_line_fold(FILE *f, const struct hlg_screen *screen, size_t column,
			const char *indent, const char *words);

/* A label and a line of words, escaped: on a terminal it is broken between words, and
 * goes on below those of a label of ten cells. */
void hlg_text_line_wrap(FILE *f, const struct hlg_screen *screen, const char *label,
			const char *line);

/* The notes of one level, each behind its label: "warning:", "note:", or for details only
 * indented. */
void hlg_text_line_notes(FILE *f, const struct hlg_screen *screen,
			 const struct hlg_note_list *list, enum hlg_note_level level);

/* What stands behind a verb's tables: an empty line, the notes, and with verbose the
 * details; nothing if there are none. */
void hlg_text_line_notes_behind(FILE *f, const struct hlg_screen *screen,
				const struct hlg_note_list *list, bool verbose);

#endif
