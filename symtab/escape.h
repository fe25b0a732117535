/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Text from files made safe to show.
 *
 * Symbol names, paths and process names are bytes somebody else chose. Before they
 * reach a terminal or a text format, everything that could move a cursor, start an
 * escape sequence, break a line, reorder text, hide in it, or is no valid UTF-8 is
 * written as \xNN, byte by byte. The rules do not depend on the locale.
 *
 * A backslash stays as it is: what is escaped already is not escaped again (a name may
 * pass here on its way into a saved profile and out of it), and no path looks other than
 * it was typed. So this is for eyes, not to be undone: a name that spells \x1b out looks
 * like one that has that byte. Rows are told apart by address, never by this text.
 */
#ifndef HLG_SYMTAB_ESCAPE_H
#define HLG_SYMTAB_ESCAPE_H

#include <stddef.h>
#include <stdio.h>

/*
 * Length in bytes of the character at s if it may be shown as it is, 0 if its first
 * byte must be escaped. Refused: C0 and C1 controls, DEL, malformed or overlong UTF-8,
 * surrogates, line and paragraph separators, bidirectional controls, and characters
 * without a glyph: zero-width ones, joiners, fillers, variation selectors, tags,
 * noncharacters, and all that look like a blank, but the blank. What is left, XML 1.0
 * takes as well (2.2, Char). Two names that differ look different, but for letters alike.
 * s ends with NUL.
 */
size_t hlg_escape_plain(const char *s);

/*
 * Copies src into dst (size bytes, NUL included), escaped; cut at a whole character
 * when it does not fit. Returns the length the whole text needs, as snprintf does.
 */
size_t hlg_escape(char *dst, size_t size, const char *src);

/* The same, with "..." at the end of what is cut; size is 4 at least. */
void hlg_escape_cut(char *dst, size_t size, const char *src);

/* Writes src to f, escaped. */
void hlg_escape_print(FILE *f, const char *src);

/* Writes the first n bytes of src, or all (a character ends there), escaped, and instead
 * where c stands in it; '\0' is none. */
void hlg_escape_print_as(FILE *f, const char *src, size_t n, char c, const char *instead);

/* The escaped text in memory of its own, for the caller to free; NULL without memory. */
char *hlg_escape_dup(const char *src);

#endif
