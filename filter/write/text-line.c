// SPDX-License-Identifier: GPL-2.0-only
#include "filter/write/text-line.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "filter/write/table.h"
#include "symtab/escape.h"

#define COMMAND "hlguest "

void hlg_text_line_add(struct hlg_text_line *p, int rank, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(p->text[p->n], HLG_TEXT_PIECE, fmt, ap);
	va_end(ap);
	p->behind[p->n] = false;
	p->rank[p->n++] = rank;
}

void hlg_text_line_add_escaped(struct hlg_text_line *p, int rank, const char *before,
			       const char *text)
{
	char *to = p->text[p->n];
	size_t n = before ? (size_t)snprintf(to, HLG_TEXT_PIECE, "%s (", before) : 0;

	hlg_escape_cut(to + n, HLG_TEXT_PIECE - n - 1, text);
	if (before)
		strcat(to, ")");
	p->behind[p->n] = false;
	p->rank[p->n++] = rank;
}

static size_t length(const struct hlg_text_line *p, int below)
{
	size_t n = strlen(HLG_TEXT_INDENT) - strlen(", ");

	for (int i = 0; i < p->n; i++)
		if (p->rank[i] < below)
			n += (size_t)hlg_table_cells(p->text[i]) +
			     strlen(p->behind[i] ? " " : ", ");
	return n;
}

bool hlg_text_line_fits(const struct hlg_text_line *line, const struct hlg_screen *screen)
{
	return !screen->columns || length(line, HLG_TEXT_PIECES) <= screen->columns;
}

void hlg_text_line_write(FILE *f, const struct hlg_screen *screen, const char *label,
			 const struct hlg_text_line *p)
{
	const char *comma = "";
	size_t column = strlen(HLG_TEXT_INDENT);
	int below = HLG_TEXT_PIECES;

	while (below > 1 && screen->columns && length(p, below) > screen->columns)
		below--;
	fprintf(f, "%-*s", (int)strlen(HLG_TEXT_INDENT), label);
	for (int i = 0; i < p->n; i++) {
		const size_t cells = (size_t)hlg_table_cells(p->text[i]);
		const char *before = p->behind[i] ? " " : comma;

		if (p->rank[i] >= below)
			continue;
		if (screen->lines && screen->columns && *comma &&
		    column + strlen(before) + cells + (i + 1 < p->n) > screen->columns) {
			fprintf(f, "%s\n%s", p->behind[i] ? "" : ",", HLG_TEXT_INDENT);
			column = strlen(HLG_TEXT_INDENT);
			before = "";
		}
		fprintf(f, "%s%s", before, p->text[i]);
		column += strlen(before) + cells;
		comma = ", ";
	}
	fputc('\n', f);
}

/* The length of what comes next and is not broken: a word, or within brackets a command,
 * which is to be copied whole. *open: a bracket is, before and behind it. */
static size_t piece(const char *at, bool *open)
{
	const size_t bracket = strspn(at, "(");
	size_t n = strcspn(at, " ");

	*open |= bracket > 0;
	if (*open && strncmp(at + bracket, COMMAND, strlen(COMMAND)) == 0) {
		n = strcspn(at, ");");
		n += strcspn(at + n, " ");
	}
	for (size_t i = 0; i < n; i++)
		if (at[i] == '(' || at[i] == ')')
			*open = at[i] == '(';
	return n;
}

/* whole: commands are not broken. */
static void put_words(FILE *f, size_t columns, size_t column, const char *indent,
		      const char *at, bool whole)
{
	size_t gap = 0; /* blanks in front of the next word */
	bool open = false;

	while (*at) {
		size_t n = whole ? piece(at, &open) : strcspn(at, " "), cells;
		const size_t blanks = strspn(at + n, " ");
		char word[1024];

		snprintf(word, sizeof(word), "%.*s", (int)n, at);
		cells = (size_t)hlg_table_cells(word);
		if (columns && column > strlen(indent) &&
		    column + gap + cells > columns) {
			fprintf(f, "\n%s", indent);
			column = strlen(indent);
			gap = 0;
		}
		fprintf(f, "%*s%.*s", (int)gap, "", (int)n, at);
		column += gap + cells;
		gap = blanks;
		at += n + blanks;
	}
	fprintf(f, "%*s\n", (int)gap, "");
}

void hlg_text_line_words(FILE *f, size_t columns, size_t column, const char *indent,
			 const char *words)
{
	put_words(f, columns, column, indent, words, false);
}

void hlg_text_line_fold(FILE *f, const struct hlg_screen *screen, size_t column,
			const char *indent, const char *words)
{
	put_words(f, screen->lines ? screen->columns : 0, column, indent, words, true);
}

void hlg_text_line_wrap(FILE *f, const struct hlg_screen *screen, const char *label,
			const char *line)
{
	char *escaped = hlg_escape_dup(line);

	fputs(label, f);
	if (!escaped) /* without memory */
		hlg_escape_print(f, line);
	hlg_text_line_fold(f, screen, strlen(label), HLG_TEXT_INDENT,
			   escaped ? escaped : "");
	free(escaped);
}

void hlg_text_line_notes(FILE *f, const struct hlg_screen *screen,
			 const struct hlg_note_list *list, enum hlg_note_level level)
{
	static const char *const labels[] = {[HLG_NOTE_PLAIN] = "note:     ",
					     [HLG_NOTE_WARNING] = "warning:  ",
					     [HLG_NOTE_DETAIL] = HLG_TEXT_INDENT};

	for (size_t i = 0; i < list->n; i++)
		if (list->level[i] == level)
			hlg_text_line_wrap(f, screen, labels[level], list->line[i]);
}

void hlg_text_line_notes_behind(FILE *f, const struct hlg_screen *screen,
				const struct hlg_note_list *list, bool verbose)
{
	bool any = false;

	for (size_t i = 0; i < list->n; i++)
		any |= list->level[i] == HLG_NOTE_PLAIN ||
		       (verbose && list->level[i] == HLG_NOTE_DETAIL);
	if (any)
		fputc('\n', f);
	hlg_text_line_notes(f, screen, list, HLG_NOTE_PLAIN);
	if (verbose)
		hlg_text_line_notes(f, screen, list, HLG_NOTE_DETAIL);
}
