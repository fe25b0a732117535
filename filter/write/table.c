// SPDX-License-Identifier: GPL-2.0-only
#include "filter/write/table.h"

#include <inttypes.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include "filter/output/memstream.h"
#include "symtab/escape.h"

static const struct hlg_column *column_at(const struct hlg_table *t, size_t i)
{
	return &t->columns[t->layout ? t->layout[i] : i];
}

const struct hlg_column *hlg_table_key_column(const struct hlg_table *t, size_t i)
{
	const struct hlg_column *c = column_at(t, i);

	return c->key ? c : NULL;
}

static const struct hlg_column *text_column(const struct hlg_table *t, size_t i)
{
	const struct hlg_column *c = column_at(t, i);

	return c->heading ? c : NULL;
}

static const char *decimal(char buf[static HLG_TABLE_NUMBER], uint64_t n)
{
	char *at = buf + 24;

	*at = '\0';
	do
		*--at = (char)('0' + n % 10);
	while (n /= 10);
	return at;
}

/* printf's real number with a point: a program that loads the filter may have a locale.
 */
static const char *pointed(char *text)
{
	const char *point = localeconv()->decimal_point;
	size_t n = strlen(point);
	char *at = n ? strstr(text, point) : NULL;

	if (at && strcmp(point, ".") != 0) {
		*at = '.';
		memmove(at + 1, at + n, strlen(at + n) + 1);
	}
	return text;
}

const char *hlg_table_ns(char buf[static 24], uint64_t ns)
{
	static const char *const units[] = {"ns", "us", "ms", "s"};
	double value = (double)ns;
	int unit = 0;

	while (value >= 10000 && unit < 3) {
		value /= 1000;
		unit++;
	}
	snprintf(buf, 24, "%.*f %s", unit ? 1 : 0, value, units[unit]);
	return pointed(buf);
}

static const char *growth(char buf[static HLG_TABLE_NUMBER], double change)
{
	char points[16];

	if (isinf(change))
		return "from 0";
	if (fabs(change) < 99.995)
		snprintf(buf, HLG_TABLE_NUMBER, "%s %%",
			 hlg_interval_points(points, change));
	else
		snprintf(buf, HLG_TABLE_NUMBER, "%.0f x", change + 1);
	return buf;
}

static const char *shares(char buf[static HLG_TABLE_NUMBER], const struct hlg_share *s)
{
	char low[16], high[16];

	snprintf(buf, HLG_TABLE_NUMBER, "%6s - %6s", hlg_interval_percent(low, s->low),
		 hlg_interval_percent(high, s->high));
	return buf;
}

static const char *changes(char buf[static HLG_TABLE_NUMBER], const struct hlg_share *s)
{
	char low[16], high[16];

	snprintf(buf, HLG_TABLE_NUMBER, "%7s to %7s", hlg_interval_points(low, s->low),
		 hlg_interval_points(high, s->high));
	return buf;
}

/* A value that is not text and is written alike in all formats; NULL: of another type. */
static const char *number(char buf[static HLG_TABLE_NUMBER], const struct hlg_column *c,
			  const struct hlg_value *cell)
{
	switch (c->type) {
	case HLG_VALUE_COUNT:
		return decimal(buf, cell->n);
	case HLG_VALUE_SIGNED:
		snprintf(buf, HLG_TABLE_NUMBER, "%+.0f", cell->number);
		return buf;
	case HLG_VALUE_ADDR:
		snprintf(buf, HLG_TABLE_NUMBER, "0x%" PRIx64, cell->n);
		return buf;
	case HLG_VALUE_PERCENT:
		return hlg_interval_percent(buf, cell->number);
	case HLG_VALUE_POINTS:
		return hlg_interval_points(buf, cell->number);
	case HLG_VALUE_REAL:
		snprintf(buf, HLG_TABLE_NUMBER, "%.*f", c->places, cell->number);
		return pointed(buf);
	case HLG_VALUE_SECONDS:
		snprintf(buf, HLG_TABLE_NUMBER, "%" PRIu64 ".%09" PRIu64,
			 cell->n / 1000000000, cell->n % 1000000000);
		return buf;
	default:
		return NULL;
	}
}

const char *hlg_table_number(char buf[static HLG_TABLE_NUMBER],
			     const struct hlg_column *c, const struct hlg_value *cell)
{
	switch (c->type) {
	case HLG_VALUE_GROWTH:
		return growth(buf, cell->number);
	case HLG_VALUE_PROBABILITY:
		if (cell->number < 0.0001)
			return "<0.0001";
		snprintf(buf, HLG_TABLE_NUMBER, "%.4f", cell->number);
		return pointed(buf);
	case HLG_VALUE_NS:
		return hlg_table_ns(buf, cell->n);
	case HLG_VALUE_SHARES:
		return shares(buf, &cell->share);
	case HLG_VALUE_CHANGES:
		return changes(buf, &cell->share);
	default:
		return number(buf, c, cell);
	}
}

const char *hlg_table_plain(char buf[static HLG_TABLE_NUMBER], const struct hlg_column *c,
			    const struct hlg_value *cell)
{
	switch (c->type) {
	case HLG_VALUE_BOOL:
		return cell->n ? "1" : "0";
	case HLG_VALUE_NS:
		return decimal(buf, cell->n);
	case HLG_VALUE_PROBABILITY:
		snprintf(buf, HLG_TABLE_NUMBER, "%.4g", cell->number);
		return pointed(buf);
	case HLG_VALUE_GROWTH:
		if (!isfinite(cell->number))
			return "";
		/* A tie as JSON has it, not to even. */
		snprintf(buf, HLG_TABLE_NUMBER, "%+.2f",
			 round(10000 * cell->number) / 100);
		return pointed(buf);
	default:
		return number(buf, c, cell);
	}
}

static void blanks(FILE *f, long n)
{
	for (; n > 0; n--)
		fputc(' ', f);
}

size_t hlg_table_front(const struct hlg_table *table)
{
	size_t n = 0;

	for (size_t i = 0; i < table->n; i++) {
		const struct hlg_column *column = &table->columns[table->layout[i]];

		n += column->gap + (i + 1 < table->n ? (size_t)abs(column->width) : 0);
	}
	return n;
}

bool hlg_table_leave_out(struct hlg_table *table, unsigned char *layout,
			 unsigned char column)
{
	size_t n = 0, before = table->n;

	for (size_t i = 0; i < before; i++)
		if (layout[i] != column)
			layout[n++] = layout[i];
	table->n = n;
	return n < before;
}

long hlg_table_cells(const char *text)
{
	long n = 0;

	while (*text) {
		size_t plain = hlg_escape_plain(text);

		n += plain ? 1 : 4; /* \xNN */
		text += plain ? plain : 1;
	}
	return n;
}

size_t hlg_table_folder(const char *a, const char *b)
{
	size_t folder = 0;

	for (size_t i = 0; a[i] && a[i] == b[i]; i++)
		if (i && a[i] == '/')
			folder = i + 1;
	return folder;
}

/* Text, escaped, to the side of a column that its width says. Returns its cells. */
static long put_text(FILE *f, const struct hlg_column *c, const char *text)
{
	long n = hlg_table_cells(text);

	blanks(f, c->width - n);
	hlg_escape_print(f, text);
	blanks(f, -c->width - n);
	return n > labs(c->width) ? n : labs(c->width);
}

/* The same of what needs no escape, with the column's unit. */
static long put_number(FILE *f, const struct hlg_column *c, const char *text)
{
	long n = hlg_table_cells(text) + (c->unit ? (long)strlen(c->unit) : 0);

	blanks(f, c->width - n);
	fputs(text, f);
	if (c->unit)
		fputs(c->unit, f);
	blanks(f, -c->width - n);
	return n > labs(c->width) ? n : labs(c->width);
}

/* Bytes of the characters of text that fit into so many cells. */
static size_t head_of(const char *text, long cells)
{
	size_t at = 0;

	while (text[at]) {
		size_t plain = hlg_escape_plain(text + at);

		cells -= plain ? 1 : 4;
		if (cells < 0)
			break;
		at += plain ? plain : 1;
	}
	return at;
}

long hlg_table_cut(FILE *f, const char *text, long cells, bool ascii)
{
	long n = hlg_table_cells(text), left = cells - (ascii ? 2 : 1), used;
	size_t head, tail = 0;

	if (n <= cells || left < 2) {
		hlg_escape_print(f, text);
		return n;
	}
	head = head_of(text, left - left / 3); /* what a name begins with says more */
	hlg_escape_print_as(f, text, head, '\0', NULL);
	fputs(ascii ? ".." : "\u2026", f);
	for (used = n; used > left / 3;) {
		size_t plain = hlg_escape_plain(text + tail);

		used -= plain ? 1 : 4;
		tail += plain ? plain : 1;
	}
	hlg_escape_print(f, text + tail);
	return hlg_table_cells(text) - hlg_table_cells(text + head) + (ascii ? 2 : 1) +
	       used;
}

void hlg_table_list(FILE *f, const struct hlg_value *cell, const char *between,
		    void (*put)(FILE *f, const char *text))
{
	const char *text;
	size_t i = 0;

	for (bool any = false; (text = cell->list.next(cell->list.of, &i)); any = true) {
		if (any)
			fputs(between, f);
		put(f, text);
	}
}

/* Returns the cells it took. */
static long put_value(FILE *f, const struct hlg_table *t, const struct hlg_column *c,
		      const struct hlg_value *cell)
{
	char buf[HLG_TABLE_NUMBER];

	if (!cell->is)
		return put_text(f, c, c->none ? c->none : "");
	switch (c->type) {
	case HLG_VALUE_TEXT:
	case HLG_VALUE_WORD:
		return put_text(f, c, cell->text);
	case HLG_VALUE_BOOL:
		return put_text(f, c, cell->n ? c->unit : "");
	case HLG_VALUE_LIST:
		hlg_table_list(f, cell, ", ", hlg_escape_print);
		return 0;
	case HLG_VALUE_BAR:
		hlg_colour_bar(f, &t->colours, cell->share.share, cell->share.high,
			       abs(c->width));
		return abs(c->width);
	default:
		return put_number(f, c, hlg_table_number(buf, c, cell));
	}
}

/* What is behind a text, escaped already, in the cells that are left. */
static void put_tail(FILE *f, const char *tail, long left, bool ascii)
{
	const long more = ascii ? 2 : 1;
	const bool whole = hlg_table_cells(tail) <= left;

	if (left < more)
		return;
	fwrite(tail, 1, head_of(tail, whole ? left : left - more), f);
	if (!whole)
		fputs(ascii ? ".." : "\u2026", f);
}

/* The last cell of a line, with its tail, in the cells that are left. Where it is too
 * long the text is cut first, but some of it stays. False without memory. */
static bool put_fitted(FILE *f, const struct hlg_table *t, const struct hlg_column *c,
		       const struct hlg_value *cell, long left)
{
	enum {
		LEAST = 16
	};
	const char *text = cell->is ? cell->text : c->none;
	char *tail = NULL;
	struct hlg_memstream m;
	long room;

	if (cell->tail) {
		if (hlg_memstream_open(&m))
			cell->tail(m.f, cell->of);
		tail = hlg_memstream_close(&m);
		if (!tail)
			return false;
	}
	room = left - (tail ? hlg_table_cells(tail) : 0);
	if (text)
		left -= hlg_table_cut(f, text, room > LEAST ? room : LEAST,
				      t->screen.ascii);
	if (tail)
		put_tail(f, tail, left, t->screen.ascii);
	free(tail);
	return true;
}

void hlg_table_text_head(FILE *f, const struct hlg_table *t)
{
	for (size_t i = 0; i < t->n; i++) {
		const struct hlg_column *c = text_column(t, i);

		if (!c)
			continue;
		blanks(f, c->gap);
		put_text(f, c, c->heading);
	}
	fputc('\n', f);
}

bool hlg_table_text_row(FILE *f, const struct hlg_table *t, const struct hlg_value *cells,
			double share)
{
	bool painted = false, whole = true;
	long used = 0;

	for (size_t i = 0; i < t->n; i++) {
		const struct hlg_column *c = text_column(t, i);
		bool paint = c && c->flags & HLG_COLUMN_PAINTED;
		const struct hlg_value *cell;

		if (!c)
			continue;
		if (paint && !painted)
			hlg_colour_begin(f, &t->colours, share);
		if (!paint && painted)
			hlg_colour_end(f, &t->colours, share);
		painted = paint;
		blanks(f, c->gap);
		cell = &cells[c - t->columns];
		used += c->gap;
		if (t->screen.columns && i == t->n - 1 && c->type == HLG_VALUE_TEXT) {
			whole = put_fitted(f, t, c, cell, (long)t->screen.columns - used);
			continue;
		}
		used += put_value(f, t, c, cell);
		if (cell->tail)
			cell->tail(f, cell->of);
	}
	if (painted)
		hlg_colour_end(f, &t->colours, share);
	fputc('\n', f);
	return whole;
}

const struct hlg_table_sink hlg_table_text = {hlg_table_text_head, hlg_table_text_row};
