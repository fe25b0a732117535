// SPDX-License-Identifier: GPL-2.0-only
#include "tools/page/table.h"

#include <stdlib.h>

#include "filter/output/memstream.h"
#include "tools/svg/xml.h"

void hlg_page_table_begin(FILE *f, const char *label)
{
	fprintf(f,
		"<div class=\"scroll\" tabindex=\"0\"><table class=\"values\" "
		"aria-label=\"%s\">",
		label);
}

static void put_head(FILE *f, const struct hlg_table *t)
{
	fputs("<thead><tr>", f);
	for (size_t i = 0; i < t->n; i++) {
		if (!t->columns[i].heading)
			continue;
		fprintf(f, "<th scope=\"col\"%s>",
			t->columns[i].type == HLG_VALUE_TEXT ? " class=\"name\"" : "");
		hlg_xml_text(f, t->columns[i].heading);
		fputs("</th>", f);
	}
	fputs("</tr></thead>\n<tbody>\n", f);
}

/* A tail is written for text. False without memory. */
static bool put_tail(FILE *f, const struct hlg_value *cell)
{
	struct hlg_memstream m;
	char *text;

	if (!cell->tail)
		return true;
	if (hlg_memstream_open(&m))
		cell->tail(m.f, cell->of);
	text = hlg_memstream_close(&m);
	if (!text)
		return false;
	hlg_xml_text(f, text);
	free(text);
	return true;
}

static bool put_row(FILE *f, const struct hlg_table *t, const struct hlg_value *cells,
		    double share)
{
	bool whole = true;

	(void)share;
	fputs("<tr>", f);
	for (size_t i = 0; i < t->n; i++) {
		const struct hlg_column *c = &t->columns[i];
		bool name = c->type == HLG_VALUE_TEXT;
		char buf[HLG_TABLE_NUMBER];

		if (!c->heading)
			continue;
		fputs(name ? "<th scope=\"row\">" : "<td>", f);
		if (!cells[i].is)
			hlg_xml_text(f, c->none ? c->none : "");
		else
			hlg_xml_text(f, name || c->type == HLG_VALUE_WORD
						? cells[i].text
						: hlg_table_number(buf, c, &cells[i]));
		if (cells[i].is && c->unit)
			hlg_xml_text(f, c->unit);
		whole &= put_tail(f, &cells[i]);
		fputs(name ? "</th>" : "</td>", f);
	}
	fputs("</tr>\n", f);
	return whole;
}

const struct hlg_table_sink hlg_page_table = {put_head, put_row};

void hlg_page_table_end(FILE *f)
{
	fputs("</tbody></table></div>\n", f);
}
