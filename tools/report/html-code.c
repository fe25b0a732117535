// SPDX-License-Identifier: GPL-2.0-only
/* The hottest functions instruction by instruction, as HTML. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "filter/report/rows.h"
#include "symtab/plural.h"
#include "tools/listing/listing.h"
#include "tools/page/offsets.h"
#include "tools/page/words.h"
#include "tools/report/html.h"
#include "tools/svg/xml.h"

enum {
	FUNCTIONS = 20,
	LINES = 20000,   /* of all of them */
	BYTES = 3000000, /* and what they may take: names may be long */
	AROUND = 8       /* lines without samples that are shown beside those with some */
};

/* How hot a line is among those of its function, as page.css has colours for it. */
static int heat(const struct hlg_line *line, double most)
{
	static const double levels[] = {0, 0.05, 0.2, 0.5, 0.9};
	int level = 0;

	while (level < 5 && line->count.samples && line->share > levels[level] * most)
		level++;
	return level;
}

/* The source line, where it is another than that of the line before. */
static void write_source(FILE *f, const struct hlg_line *line,
			 const struct hlg_line *before)
{
	const char *slash;

	if (!line->file || line->kind != HLG_LINE_INSN ||
	    (before && before->source_line == line->source_line &&
	     strcmp(before->file, line->file) == 0))
		return;
	slash = strrchr(line->file, '/');
	fputs("<span class=\"source\">", f);
	hlg_xml_text(f, slash ? slash + 1 : line->file);
	if (line->source_line > 0)
		fprintf(f, ":%d", line->source_line);
	fputs("</span>", f);
}

/* in: the last line before that has bytes, or NULL. */
static void write_line(FILE *f, const struct hlg_listing *l, const struct hlg_line *line,
		       const struct hlg_line *in, double most,
		       const struct hlg_page_offsets *offsets)
{
	const struct hlg_place *place = &l->row->place;
	char percent[16];

	fprintf(f, "<span class=\"line heat%d\" data-at=\"%" PRIu64 "\"",
		heat(line, most), hlg_page_offsets_of(offsets, line->addr));
	if (line->kind == HLG_LINE_INSN && line->has_target &&
	    line->target >= place->start && line->target < place->end)
		fprintf(f, " data-to=\"%" PRIu64 "\"",
			hlg_page_offsets_of(offsets, line->target));
	fputs("><span class=\"share\">", f);
	if (line->count.samples)
		fprintf(f, "%s %%", hlg_interval_percent(percent, line->share));
	fprintf(f, "</span> %6" PRIx64 "  ", line->addr);
	if (line->text)
		hlg_xml_text(f, line->text);
	else
		hlg_listing_remark(f, line, in);
	if (line->has_target && line->target_name) {
		fputs(" &lt;", f);
		hlg_xml_text(f, line->target_name);
		fputs("&gt;", f);
	}
	fputs("</span>", f);
}

/* How many lines from the i-th on are left out: those far from any with samples. */
static size_t left_out(const struct hlg_listing *l, size_t i)
{
	size_t from = i, to;

	while (from > 0 && i - from < AROUND && !l->lines[from - 1].count.samples)
		from--;
	if (from > 0 && i - from < AROUND)
		return 0;
	for (to = i; to < l->n && !l->lines[to].count.samples; to++)
		;
	if (to < l->n)
		to = to - i > AROUND ? to - AROUND : i;
	return to - i > AROUND ? to - i : 0;
}

static void write_listing(FILE *f, const struct hlg_listing *l, size_t number)
{
	double most = l->n_hot ? l->lines[l->hot[0]].share : 0;
	const struct hlg_line *before = NULL, *in = NULL;
	struct hlg_page_offsets offsets;
	char percent[16];

	hlg_page_offsets_make(&offsets, l->row->place.image);
	fprintf(f, "<details data-row=\"%zu\"><summary>%s %% <code>", number,
		hlg_interval_percent(percent, l->row->share.share));
	hlg_xml_text(f, l->row->name);
	fputs("</code></summary>\n", f);
	if (l->remark)
		fprintf(f, "<p class=\"summary\">%s</p>\n", l->remark);
	fputs("<pre class=\"listing\" tabindex=\"0\">", f);
	for (size_t i = 0; i < l->n; i++) {
		size_t n = left_out(l, i);

		if (n) {
			fprintf(f,
				"<span class=\"source\">%zu line%s without "
				"samples</span>\n",
				n, hlg_plural_s(n));
			i += n - 1;
			before = NULL;
			continue;
		}
		write_source(f, &l->lines[i], before);
		if (l->lines[i].file)
			before = &l->lines[i];
		write_line(f, l, &l->lines[i], in, most, &offsets);
		if (l->lines[i].length)
			in = &l->lines[i];
	}
	fputs("</pre></details>\n", f);
}

struct row {
	const struct hlg_listing *listing;
	size_t number;
};

static int write_row(void *data, FILE *f, struct hlg_err *err)
{
	const struct row *row = data;

	(void)err;
	write_listing(f, row->listing, row->number);
	return 0;
}

/* Writes the listing if there is room for it, which is less then. Returns 1; 0: there is
 * none. */
static int write_if_room(FILE *f, const struct hlg_listing *l, size_t number,
			 size_t *lines, size_t *bytes, struct hlg_err *err)
{
	struct row row = {l, number};
	char *text;
	int rc;

	if (l->n > *lines)
		return 0;
	rc = hlg_page_words_write(&text, write_row, &row, err);
	if (rc < 0)
		return rc;
	rc = strlen(text) <= *bytes;
	if (rc) {
		fputs(text, f);
		*lines -= l->n;
		*bytes -= strlen(text);
	}
	free(text);
	return rc;
}

/* How many were written; less than 0: an error. */
static int write_listings(FILE *f, const struct hlg_listings *of, struct hlg_err *err)
{
	const struct hlg_view *v = &of->report->all;
	size_t lines = LINES, bytes = BYTES;
	int n = 0;

	for (size_t i = 0; i < v->n_rows && n < FUNCTIONS; i++) {
		struct hlg_listing listing;
		int rc;

		if (v->rows[i].place.kind > HLG_GAP)
			continue;
		if (!hlg_rows_shows(of->report, v->rows[i].share.share, i))
			break;
		rc = hlg_listing_build(&listing, of, v, &v->rows[i], err);
		if (rc == 0)
			rc = write_if_room(f, &listing, i, &lines, &bytes, err);
		hlg_listing_finish(&listing);
		if (rc < 0)
			return rc;
		if (rc == 0)
			break;
		n++;
	}
	return n;
}

int hlg_report_html_code(FILE *f, const struct hlg_report *report, struct hlg_err *err)
{
	struct hlg_sources sources = {0};
	const struct hlg_listings of = {
		.report = report, .sources = &sources, .syntax = HLG_SYNTAX_ATT};
	int n;

	fputs("<section id=\"code\">\n<h2>Instructions</h2>\n", f);
	n = hlg_source_open_all(&sources, report->space) ? write_listings(f, &of, err)
							 : hlg_err_memory(err, "lines");
	hlg_source_close_all(&sources);
	if (n >= 0)
		fprintf(f,
			"<p class=\"summary\">These are the hottest %d functions; "
			"<code>hlguest annotate</code> shows any.</p>\n</section>\n",
			n);
	return n < 0 ? n : 0;
}
