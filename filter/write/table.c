// SPDX-License-Identifier: GPL-2.0-only
#include "filter/write/table.h"

#include <inttypes.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include "symtab/escape.h"

enum {
	NUMBER = 400 /* bytes, of a value that is not text: %f has up to 310 digits */
};

/* The i-th column that the table shows; NULL: it is none of the format's. */
static const struct hlg_column *column_at(const struct hlg_table *t, size_t i, bool text)
{
	const struct hlg_column *c = &t->columns[t->layout ? t->layout[i] : i];

	return (text ? c->heading : c->key) ? c : NULL;
}

static const char *decimal(char buf[static NUMBER], uint64_t n)
{
	char *at = buf + 24;

	*at = '\0';
	do
		*--at = (char)('0' + n % 10);
	while (n /= 10);
	return at;
}

/* printf's real number with a point: a program that loads the filter may have a locale. */
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

static const char *growth(char buf[static NUMBER], double change)
{
	char points[16];

	if (isinf(change))
		return "from 0";
	if (fabs(change) < 99.995)
		snprintf(buf, NUMBER, "%s %%", hlg_interval_points(points, change));
	else
		snprintf(buf, NUMBER, "%.0f x", change + 1);
	return buf;
}

static const char *shares(char buf[static NUMBER], const struct hlg_share *s)
{
	char low[16], high[16];

	snprintf(buf, NUMBER, "%6s - %6s", hlg_interval_percent(low, s->low),
		 hlg_interval_percent(high, s->high));
	return buf;
}

static const char *changes(char buf[static NUMBER], const struct hlg_share *s)
{
	char low[16], high[16];

	snprintf(buf, NUMBER, "%7s to %7s", hlg_interval_points(low, s->low),
		 hlg_interval_points(high, s->high));
	return buf;
}

/* A value that is not text, the same in text and CSV; NULL: of another type. */
static const char *number(char buf[static NUMBER], const struct hlg_column *c,
			  const struct hlg_value *cell)
{
	switch (c->type) {
	case HLG_VALUE_COUNT:
		return decimal(buf, cell->n);
	case HLG_VALUE_SIGNED:
		snprintf(buf, NUMBER, "%+.0f", cell->number);
		return buf;
	case HLG_VALUE_ADDR:
		snprintf(buf, NUMBER, "0x%" PRIx64, cell->n);
		return buf;
	case HLG_VALUE_PERCENT:
		return hlg_interval_percent(buf, cell->number);
	case HLG_VALUE_POINTS:
		return hlg_interval_points(buf, cell->number);
	case HLG_VALUE_REAL:
		snprintf(buf, NUMBER, "%.*f", c->places, cell->number);
		return pointed(buf);
	case HLG_VALUE_SECONDS:
		snprintf(buf, NUMBER, "%" PRIu64 ".%09" PRIu64, cell->n / 1000000000,
			 cell->n % 1000000000);
		return buf;
	default:
		return NULL;
	}
}

static const char *text_number(char buf[static NUMBER], const struct hlg_column *c,
			       const struct hlg_value *cell)
{
	switch (c->type) {
	case HLG_VALUE_GROWTH:
		return growth(buf, cell->number);
	case HLG_VALUE_PROBABILITY:
		if (cell->number < 0.0001)
			return "<0.0001";
		snprintf(buf, NUMBER, "%.4f", cell->number);
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

static void blanks(FILE *f, long n)
{
	for (; n > 0; n--)
		fputc(' ', f);
}

/* Cells that escaped text takes, if each character takes one. */
static long cells_of(const char *text)
{
	long n = 0;

	while (*text) {
		size_t plain = hlg_escape_plain(text);

		n += plain ? 1 : 4; /* \xNN */
		text += plain ? plain : 1;
	}
	return n;
}

/* Text, escaped, to the side of a column that its width says. */
static void put_text(FILE *f, const struct hlg_column *c, const char *text)
{
	long n = c->width ? cells_of(text) : 0;

	blanks(f, c->width - n);
	hlg_escape_print(f, text);
	blanks(f, -c->width - n);
}

/* The same of what needs no escape, with the column's unit. */
static void put_number(FILE *f, const struct hlg_column *c, const char *text)
{
	size_t n = strlen(text), unit = c->unit ? strlen(c->unit) : 0;

	blanks(f, c->width - (long)(n + unit));
	fwrite(text, 1, n, f);
	if (unit)
		fwrite(c->unit, 1, unit, f);
	blanks(f, -c->width - (long)(n + unit));
}

static void put_list(FILE *f, const struct hlg_value *cell, const char *between,
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

static void put_text_cell(FILE *f, const struct hlg_table *t, const struct hlg_column *c,
			  const struct hlg_value *cell)
{
	char buf[NUMBER];

	if (!cell->is)
		put_text(f, c, c->none ? c->none : "");
	else if (c->type == HLG_VALUE_TEXT || c->type == HLG_VALUE_WORD)
		put_text(f, c, cell->text);
	else if (c->type == HLG_VALUE_BOOL)
		put_text(f, c, cell->n ? c->unit : "");
	else if (c->type == HLG_VALUE_LIST)
		put_list(f, cell, ", ", hlg_escape_print);
	else if (c->type == HLG_VALUE_BAR)
		hlg_colour_bar(f, &t->colours, cell->share.share, cell->share.high,
			       abs(c->width));
	else
		put_number(f, c, text_number(buf, c, cell));
	if (cell->tail)
		cell->tail(f, cell->of);
}

void hlg_table_text_head(FILE *f, const struct hlg_table *t)
{
	for (size_t i = 0; i < t->n; i++) {
		const struct hlg_column *c = column_at(t, i, true);

		if (!c)
			continue;
		blanks(f, c->gap);
		put_text(f, c, c->heading);
	}
	fputc('\n', f);
}

void hlg_table_text_row(FILE *f, const struct hlg_table *t, const struct hlg_value *cells,
			double share)
{
	bool painted = false;

	for (size_t i = 0; i < t->n; i++) {
		const struct hlg_column *c = column_at(t, i, true);
		bool paint = c && c->flags & HLG_COLUMN_PAINTED;

		if (!c)
			continue;
		if (paint && !painted)
			hlg_colour_begin(f, &t->colours, share);
		if (!paint && painted)
			hlg_colour_end(f, &t->colours, share);
		painted = paint;
		blanks(f, c->gap);
		put_text_cell(f, t, c, &cells[c - t->columns]);
	}
	if (painted)
		hlg_colour_end(f, &t->colours, share);
	fputc('\n', f);
}

/*
 * OWASP's list of what begins a formula (CSV Injection), among it the full-width forms of
 * =+-@ that some locales' spreadsheets take for the same. Tabs and line ends are escaped.
 */
static bool is_formula(const char *text)
{
	static const char *const wide[] = {"\xef\xbc\x9d", "\xef\xbc\x8b", "\xef\xbc\x8d",
					   "\xef\xbc\xa0"};

	for (size_t i = 0; i < sizeof(wide) / sizeof(wide[0]); i++)
		if (strncmp(text, wide[i], strlen(wide[i])) == 0)
			return true;
	return text[0] && strchr("=+-@", text[0]);
}

/* Inside quotes. */
static void put_quoted(FILE *f, const char *text)
{
	hlg_escape_print_as(f, text, SIZE_MAX, '"', "\"\"");
}

static void put_cell(FILE *f, const char *text)
{
	fputs(is_formula(text) ? "\"'" : "\"", f);
	put_quoted(f, text);
	fputc('"', f);
}

static void put_word(FILE *f, const char *text)
{
	if (is_formula(text) || text[0] == ' ' || text[strcspn(text, "\",")])
		put_cell(f, text);
	else
		hlg_escape_print(f, text);
}

static void put_csv_list(FILE *f, const struct hlg_column *c,
			 const struct hlg_value *cell)
{
	size_t i = 0;
	const char *first = cell->list.next(cell->list.of, &i);

	if (!first)
		return;
	fputs(is_formula(first) ? "\"'" : "\"", f);
	put_list(f, cell, c->between ? c->between : ";", put_quoted);
	fputc('"', f);
}

static void put_csv_cell(FILE *f, const struct hlg_column *c,
			 const struct hlg_value *cell)
{
	char buf[NUMBER];

	switch (c->type) {
	case HLG_VALUE_TEXT:
		put_cell(f, cell->text);
		break;
	case HLG_VALUE_WORD:
		put_word(f, cell->text);
		break;
	case HLG_VALUE_LIST:
		put_csv_list(f, c, cell);
		break;
	case HLG_VALUE_BOOL:
		fputc(cell->n ? '1' : '0', f);
		break;
	case HLG_VALUE_NS:
		fputs(decimal(buf, cell->n), f);
		break;
	case HLG_VALUE_PROBABILITY:
		snprintf(buf, NUMBER, "%.4g", cell->number);
		fputs(pointed(buf), f);
		break;
	case HLG_VALUE_GROWTH:
		if (!isfinite(cell->number))
			break;
		snprintf(buf, NUMBER, "%+.2f", 100 * cell->number);
		fputs(pointed(buf), f);
		break;
	default:
		fputs(number(buf, c, cell), f);
	}
}

void hlg_table_csv_head(FILE *f, const struct hlg_table *t)
{
	const char *comma = "";

	for (size_t i = 0; i < t->n; i++) {
		const struct hlg_column *c = column_at(t, i, false);

		if (!c)
			continue;
		fputs(comma, f);
		put_word(f, c->key);
		comma = ",";
	}
	fputc('\n', f);
}

void hlg_table_csv_row(FILE *f, const struct hlg_table *t, const struct hlg_value *cells)
{
	bool any = false;

	for (size_t i = 0; i < t->n; i++) {
		const struct hlg_column *c = column_at(t, i, false);

		if (!c)
			continue;
		if (any)
			fputc(',', f);
		any = true;
		if (cells[c - t->columns].is)
			put_csv_cell(f, c, &cells[c - t->columns]);
	}
	fputc('\n', f);
}
