// SPDX-License-Identifier: GPL-2.0-only
#include "tools/top/frame.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "filter/output/memstream.h"
#include "filter/write/table.h"
#include "filter/write/text-line.h"
#include "symtab/escape.h"
#include "symtab/grow.h"

enum {
	HEAD_MOST = 6, /* lines of the guest and the check, and of a message, */
	HEAD_PART = 4  /* but this part of the screen */
};

/* Cuts a text to so many cells: each character takes one, as everywhere here. */
static void cut(char *text, unsigned columns)
{
	unsigned cells = 0;

	for (; *text; text++) {
		if (((unsigned char)*text & 0xc0) == 0x80)
			continue;
		if (cells++ == columns) {
			*text = '\0';
			return;
		}
	}
}

/* Takes text over. */
static void add(struct hlg_top_frame *f, const struct hlg_top_shown *shown,
		enum hlg_top_look look, double share, char *text)
{
	if (!text || !HLG_GROW(f->lines, f->n)) {
		free(text);
		f->lost = true;
		return;
	}
	cut(text, shown->screen.columns);
	f->lines[f->n++] = (struct hlg_top_line){text, look, share};
}

__attribute__((format(printf, 4, 5))) static void put(struct hlg_top_frame *f,
						      const struct hlg_top_shown *shown,
						      enum hlg_top_look look,
						      const char *fmt, ...)
{
	va_list ap;
	char *text;

	va_start(ap, fmt);
	if (vasprintf(&text, fmt, ap) < 0)
		text = NULL;
	va_end(ap);
	add(f, shown, look, 0, text);
}

/* As wide as the screen is, whatever bytes its letters take. */
static void put_title(struct hlg_top_frame *f, const struct hlg_top_shown *shown,
		      const char *text)
{
	unsigned cells = (unsigned)hlg_table_cells(text), columns = shown->screen.columns;

	put(f, shown, HLG_TOP_TITLE, "%s%*s", text,
	    columns > cells ? (int)(columns - cells) : 0, "");
}

/* What a function of text.h writes, to be freed; NULL without memory. */
static char *written(void (*write)(FILE *, const struct hlg_top_shown *),
		     const struct hlg_top_shown *shown)
{
	struct hlg_memstream m;

	if (hlg_memstream_open(&m))
		write(m.f, shown);
	return hlg_memstream_close(&m);
}

static void put_live(struct hlg_top_frame *f, const struct hlg_top_shown *shown,
		     const struct hlg_top_keys *keys)
{
	struct hlg_memstream m;
	FILE *to = hlg_memstream_open(&m);

	if (to) {
		fputs(keys->paused                    ? "PAUSED  "
		      : hlg_top_text_is_narrow(shown) ? "top  "
						      : "hlguest top  ",
		      to);
		hlg_top_text_live(to, shown);
	}
	add(f, shown, HLG_TOP_TITLE, 0, hlg_memstream_close(&m));
}

static enum hlg_top_look look_of(const char *line)
{
	return strncmp(line, "!! ", 3) == 0 || strncmp(line, "warning:", 8) == 0 ||
			       strncmp(line, "check     WRONG", 15) == 0 ||
			       strncmp(line, "check     MIXED", 15) == 0
		       ? HLG_TOP_WARNING
		       : HLG_TOP_PLAIN;
}

/* How many lines such a text may have. */
static size_t most_lines(const struct hlg_top_shown *shown)
{
	size_t most = shown->screen.lines / HEAD_PART;

	return most < HEAD_MOST ? most : HEAD_MOST;
}

/* A line behind which others have no room says so. */
static void put_cut(struct hlg_top_frame *f, const struct hlg_top_shown *shown,
		    enum hlg_top_look look, char *line)
{
	const char *more = shown->screen.ascii ? "..." : "\u2026";
	unsigned cells = (unsigned)hlg_table_cells(more), columns = shown->screen.columns;

	cut(line, columns > cells ? columns - cells : 0);
	put(f, shown, look, "%s%s", line, more);
}

static void put_head(struct hlg_top_frame *f, const struct hlg_top_shown *shown)
{
	char *head = written(hlg_top_text_head, shown), *rest = head, *line;
	size_t most = most_lines(shown);

	for (size_t n = 1; n <= most && (line = strsep(&rest, "\n")) && *line; n++) {
		if (n == most && rest && *rest)
			put_cut(f, shown, look_of(line), line);
		else
			add(f, shown, look_of(line), 0, strdup(line));
	}
	free(head);
}

static void put_row(struct hlg_top_frame *f, const struct hlg_top_shown *shown,
		    const struct hlg_top_row *row, bool at_cursor)
{
	struct hlg_memstream m;

	if (hlg_memstream_open(&m))
		hlg_top_text_row(m.f, shown, row);
	add(f, shown, at_cursor ? HLG_TOP_CURSOR : HLG_TOP_SHARE,
	    row->recent ? row->recent->share.share : 0, hlg_memstream_close(&m));
}

static void put_rows(struct hlg_top_frame *f, const struct hlg_top_shown *shown,
		     struct hlg_top_keys *keys, size_t room)
{
	const struct hlg_top_rows *rows = shown->rows;

	hlg_top_keys_fit(keys, rows ? rows->n : 0, room);
	if (!rows)
		return;
	for (size_t i = keys->first; i < keys->n && i < keys->first + room; i++)
		put_row(f, shown, &rows->rows[i], i == keys->cursor);
}

/* The headings, and which rows stand below them in what order, if not all by what is
 * recent. */
static char *headings_of(const struct hlg_top_shown *shown,
			 const struct hlg_top_keys *keys)
{
	static const char *const sorts[] = {"", "by all since the start", "by name"};
	const char *sort = sorts[keys->sort];
	char filter[4 * HLG_TOP_FILTER_MAX];
	struct hlg_memstream m;
	FILE *to = hlg_memstream_open(&m);

	if (to) {
		hlg_top_text_headings(to, shown);
		hlg_escape(filter, sizeof(filter), keys->filter);
		if (filter[0])
			fprintf(to, " with \"%s\" (%zu)", filter, keys->n);
		if (sort[0])
			fprintf(to, "%s %s", filter[0] ? "," : "", sort);
	}
	return hlg_memstream_close(&m);
}

static void put_table(struct hlg_top_frame *f, const struct hlg_top_shown *shown,
		      struct hlg_top_keys *keys)
{
	char *headings = headings_of(shown, keys);
	size_t lines = shown->screen.lines;

	put_live(f, shown, keys);
	if (lines > 4)
		put_head(f, shown);
	if (lines > 3)
		put_title(f, shown, headings ? headings : "");
	free(headings);
	put_rows(f, shown, keys, lines > f->n + 1 ? lines - f->n - 1 : 0);
}

static void put_pane(struct hlg_top_frame *f, const struct hlg_top_shown *shown,
		     struct hlg_top_keys *keys, const struct hlg_top_pane *pane)
{
	size_t room = shown->screen.lines > 2 ? shown->screen.lines - 2 : 0;

	hlg_top_keys_fit_text(keys, pane->n, room);
	put_title(f, shown, pane->title);
	for (size_t i = keys->line; i < pane->n && i < keys->line + room; i++)
		put(f, shown, look_of(pane->lines[i]), "%s", pane->lines[i]);
}

/* The first that fits. */
static const char *fitting(unsigned columns, const char *const *texts)
{
	while (texts[1] && (unsigned)hlg_table_cells(texts[0]) > columns)
		texts++;
	return texts[0];
}

static void put_keys(struct hlg_top_frame *f, const struct hlg_top_shown *shown,
		     bool filtered)
{
	static const char all[] = "q end  space pause  z zero  / filter  s sort  Enter "
				  "annotate  c callers  "
				  "w save  h help";
	static const char *const of_table[] = {
		all,
		"q end  space pause  z zero  / filter  s sort  Enter annotate  h help",
		"q end  space pause  Enter annotate  h help", "q end  h help", NULL};
	static const char escape[] = "Escape all functions  ";
	unsigned columns = shown->screen.columns;
	unsigned used = filtered && columns > 2 * sizeof(escape) ? sizeof(escape) - 1 : 0;

	put(f, shown, HLG_TOP_KEYS, "%s%s", used ? escape : "",
	    fitting(columns - used, of_table));
}

/* A message in lines as wide as the screen, to be freed; NULL without memory. */
static char *lines_of(const struct hlg_top_shown *shown, const char *message)
{
	struct hlg_memstream m;

	if (hlg_memstream_open(&m))
		hlg_text_line_words(m.f, shown->screen.columns, 0, "", message);
	return hlg_memstream_close(&m);
}

/* How many of these lines are shown: one at least. */
static size_t count_lines(const struct hlg_top_shown *shown, const char *lines)
{
	size_t n = 0, most = most_lines(shown);

	for (; lines && (lines = strchr(lines, '\n')); lines++)
		n++;
	n = n < most ? n : most;
	return n ? n : 1;
}

/* A message of so many lines; how to be helped stays there, if it fits. */
static void put_message(struct hlg_top_frame *f, const struct hlg_top_shown *shown,
			const struct hlg_top_keys *keys, char *lines, size_t n)
{
	static const char help[] = "  h help";
	unsigned columns = shown->screen.columns, cells;
	char *line;

	while (n-- && (line = strsep(&lines, "\n"))) {
		cells = (unsigned)hlg_table_cells(line);
		if (n == 0 && lines && *lines)
			put_cut(f, shown, HLG_TOP_KEYS, line);
		else if (n == 0 && keys->mode == HLG_TOP_TABLE &&
			 cells + sizeof(help) - 1 <= columns)
			put(f, shown, HLG_TOP_KEYS, "%s%*s%s", line,
			    (int)(columns - cells - (sizeof(help) - 1)), "", help);
		else
			put(f, shown, HLG_TOP_KEYS, "%s", line);
	}
}

static void put_last(struct hlg_top_frame *f, const struct hlg_top_shown *shown,
		     const struct hlg_top_keys *keys, char *message, size_t n)
{
	char filter[4 * HLG_TOP_FILTER_MAX];

	hlg_escape(filter, sizeof(filter), keys->filter);
	if (keys->mode == HLG_TOP_FILTER)
		put(f, shown, HLG_TOP_KEYS, "/%s", filter);
	else if (message)
		put_message(f, shown, keys, message, n);
	else if (keys->mode == HLG_TOP_TEXT)
		put(f, shown, HLG_TOP_KEYS,
		    "q back  arrows, Page Up, Page Down  (%zu of %zu)",
		    keys->n_lines ? keys->line + 1 : 0, keys->n_lines);
	else
		put_keys(f, shown, filter[0]);
}

void hlg_top_frame_build(struct hlg_top_frame *f, const struct hlg_top_shown *shown,
			 struct hlg_top_keys *keys, const struct hlg_top_pane *pane,
			 const char *message)
{
	const bool told = message && keys->mode != HLG_TOP_FILTER;
	char *last = told ? lines_of(shown, message) : NULL;
	size_t lines = shown->screen.lines, n = count_lines(shown, last);
	struct hlg_top_shown above = *shown; /* what is not of the message, and a line */

	above.screen.lines -= (unsigned)(n - 1);
	*f = (struct hlg_top_frame){.lost = told && !last};
	if (keys->mode == HLG_TOP_TEXT && pane)
		put_pane(f, &above, keys, pane);
	else
		put_table(f, &above, keys);
	while (f->n + n < lines && !f->lost)
		put(f, shown, HLG_TOP_PLAIN, "%s", "");
	while (f->n && f->n + n > lines)
		free(f->lines[--f->n].text);
	put_last(f, shown, keys, last, n);
	free(last);
}

void hlg_top_frame_finish(struct hlg_top_frame *f)
{
	for (size_t i = 0; i < f->n; i++)
		free(f->lines[i].text);
	free(f->lines);
	*f = (struct hlg_top_frame){.n = 0};
}
