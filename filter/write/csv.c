// SPDX-License-Identifier: GPL-2.0-only
/*
 * Records as CSV (RFC 4180, with '\n'): a header, then a line each. A cell that a
 * spreadsheet would take for a formula gets a ' in front; text is escaped (escape.h).
 */
#include <string.h>

#include "filter/write/format.h"
#include "filter/write/table.h"
#include "symtab/escape.h"

/*
 * OWASP's list of what begins a formula (CSV Injection), among it the full-width forms of
 * =+-@ that some locales' spreadsheets take for these. Tabs and line ends are escaped.
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

static void put_text(FILE *f, const char *text)
{
	fputs(is_formula(text) ? "\"'" : "\"", f);
	put_quoted(f, text);
	fputc('"', f);
}

static void put_word(FILE *f, const char *text)
{
	if (is_formula(text) || text[0] == ' ' || text[strcspn(text, "\",")])
		put_text(f, text);
	else
		hlg_escape_print(f, text);
}

static void put_list(FILE *f, const struct hlg_column *c, const struct hlg_value *cell)
{
	size_t i = 0;
	const char *first = cell->list.next(cell->list.of, &i);

	if (!first)
		return;
	fputs(is_formula(first) ? "\"'" : "\"", f);
	hlg_table_list(f, cell, c->between ? c->between : ";", put_quoted);
	fputc('"', f);
}

static void put_cell(FILE *f, const struct hlg_column *c, const struct hlg_value *cell)
{
	char buf[HLG_TABLE_NUMBER];

	if (c->type == HLG_VALUE_TEXT)
		put_text(f, cell->text);
	else if (c->type == HLG_VALUE_WORD)
		put_word(f, cell->text);
	else if (c->type == HLG_VALUE_LIST)
		put_list(f, c, cell);
	else
		fputs(hlg_table_plain(buf, c, cell), f);
}

static void write_head(FILE *f, const struct hlg_table *t)
{
	const char *comma = "";

	for (size_t i = 0; i < t->n; i++) {
		const struct hlg_column *c = hlg_table_key_column(t, i);

		if (!c)
			continue;
		fputs(comma, f);
		put_word(f, c->key);
		comma = ",";
	}
	fputc('\n', f);
}

static void write_record(FILE *f, const struct hlg_table *t,
			 const struct hlg_value *cells)
{
	bool any = false;

	for (size_t i = 0; i < t->n; i++) {
		const struct hlg_column *c = hlg_table_key_column(t, i);

		if (!c)
			continue;
		if (any)
			fputc(',', f);
		any = true;
		if (cells[c - t->columns].is)
			put_cell(f, c, &cells[c - t->columns]);
	}
	fputc('\n', f);
}

const struct hlg_format hlg_csv_format = {.name = "csv",
					  .stacks = true,
					  .notes = true,
					  .remarks = true,
					  .head = write_head,
					  .record = write_record};
