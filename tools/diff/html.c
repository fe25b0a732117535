// SPDX-License-Identifier: GPL-2.0-only
/*
 * The comparison as a page: the answer, the rows side by side, what may be chance in
 * grey, and the image of each side.
 *
 * Its data is an object: rows {of each side image0, at0, image1, at1 as the side's own
 * data has them (tools/page/report-data.h); -1: not sampled}, of the first LINKED ones.
 * The sides' data are elements of their own, data-before and data-after.
 */
#include "tools/diff/html.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "symtab/plural.h"
#include "tools/diff/columns.h"
#include "tools/diff/sides.h"
#include "tools/diff/text.h"
#include "tools/page/data.h"
#include "tools/page/offsets.h"
#include "tools/page/report-page.h"
#include "tools/page/words.h"
#include "tools/svg/xml.h"

enum {
	ROWS = 500,           /* of the page */
	ROWS_BYTES = 1000000, /* and what they may take: their names may be long */
	LINKED = 20000 /* rows that are found in the images: what is not in the page can
			* be chosen there; some 25 bytes each */
};

static void write_total(FILE *f, const struct hlg_diff *diff)
{
	hlg_diff_total_tell(diff, f);
}

/* Are both sides' images called the same? */
static bool are_namesakes(const struct hlg_diff *diff)
{
	const struct hlg_space *before = diff->side[0].space,
			       *after = diff->side[1].space;
	bool same = before->n_images == after->n_images;

	for (size_t i = 0; same && i < before->n_images; i++)
		same = strcmp(hlg_image_short_name(before->images[i]),
			      hlg_image_short_name(after->images[i])) == 0;
	return same;
}

static void write_names(FILE *f, const struct hlg_diff *diff)
{
	if (!are_namesakes(diff)) {
		hlg_page_words_names(f, diff->side[0].space);
		fputs(" before, ", f);
		hlg_page_words_names(f, diff->side[1].space);
		fputs(" after", f);
		return;
	}
	hlg_page_words_names(f, diff->side[1].space);
	fputs(" before and after", f);
}

static bool write_answer(FILE *f, const struct hlg_diff *diff)
{
	char *total = hlg_diff_text_of(diff, write_total);
	char *head = hlg_diff_text_of(diff, hlg_diff_sides_head);
	char *tail = hlg_diff_text_of(diff, hlg_diff_sides_tail);
	char *details = hlg_diff_text_of(diff, hlg_diff_sides_details);
	bool ok = total && head && tail && details;

	fputs("<header id=\"answer\">\n<h1>", f);
	write_names(f, diff);
	fputs("</h1>\n", f);
	if (ok) {
		fputs("<p class=\"summary\"><strong>", f);
		total[strcspn(total, "\n")] = '\0';
		hlg_xml_text(f, total);
		fputs("</strong></p>\n", f);
		hlg_page_words_facts(f, head, NULL, NULL);
		hlg_page_words_facts(f, tail, NULL, NULL);
		hlg_page_words_folded(f, "How it was compared", details);
	}
	free(total);
	free(head);
	free(tail);
	free(details);
	return ok;
}

static void write_share(FILE *f, const struct hlg_diff_row *row, int s, double most)
{
	char percent[16];

	if (!row->n[s]) {
		fputs("<td></td><td></td>", f);
		return;
	}
	fprintf(f, "<td>%s %%</td><td>",
		hlg_interval_percent(percent, row->share[s].share));
	hlg_page_words_bar(f, &row->share[s], most);
	fputs("</td>", f);
}

static void write_row(FILE *f, const struct hlg_diff *diff, size_t i, double most)
{
	const struct hlg_diff_row *row = &diff->functions.row[i];
	const struct hlg_place *place = hlg_diff_place(row, row->n[1] ? 1 : 0);
	struct hlg_value v[HLG_DIFF_COLUMNS];
	char number[HLG_TABLE_NUMBER];
	static const struct {
		unsigned char column;
		const char *kind; /* "wide" goes first where there is little room */
	} last[] = {{HLG_DIFF_COLUMN_POINTS, "wide"},
		    {HLG_DIFF_COLUMN_LOW, "limit"},
		    {HLG_DIFF_COLUMN_HIGH, "limit"},
		    {HLG_DIFF_COLUMN_Q, "wide"}};

	hlg_diff_columns_set(v, diff, row);
	fprintf(f, "<tr data-row=\"%zu\" class=\"%s\"><td>%s</td>", i,
		!row->significant        ? "chance"
		: row->compared.diff > 0 ? "grew"
					 : "shrank",
		hlg_table_number(number, &hlg_diff_columns_all[HLG_DIFF_COLUMN_CHANGE],
				 &v[HLG_DIFF_COLUMN_CHANGE]));
	for (int s = 0; s < 2; s++)
		write_share(f, row, s, most);
	for (size_t k = 0; k < sizeof(last) / sizeof(last[0]); k++) {
		const unsigned char column = last[k].column;

		fprintf(f, "<td class=\"%s\">", last[k].kind);
		hlg_xml_text(f, hlg_table_number(number, &hlg_diff_columns_all[column],
						 &v[column]));
		fputs("</td>", f);
	}
	fputs("<th scope=\"row\">", f);
	hlg_xml_text(f, hlg_diff_name(row));
	hlg_page_words_aside(f, hlg_diff_columns_presence(row->presence),
			     diff->images.n > 1 ? place->image : NULL);
	fputs("</th></tr>\n", f);
}

static double most_of(const struct hlg_diff *diff)
{
	double most = 0;

	for (size_t i = 0; i < diff->functions.n; i++)
		for (int s = 0; s < 2; s++)
			if (diff->functions.row[i].share[s].high > most &&
			    diff->functions.row[i].n[s])
				most = diff->functions.row[i].share[s].high;
	return most;
}

static void write_rows(FILE *f, const struct hlg_diff *diff)
{
	double most = most_of(diff);
	off_t begin = ftello(f); /* it is in memory */
	size_t n = 0;

	fprintf(f,
		"<section id=\"functions\">\n<h2>%s</h2>\n<p class=\"summary\">"
		"%zu of %zu %s; the others, in grey, may be chance. "
		"From and to: the 95 %% interval of after less before, in points."
		"</p>\n<div class=\"tools\"></div>\n<div class=\"scroll\" "
		"tabindex=\"0\">\n"
		"<table id=\"function-table\" class=\"compared\">\n<thead><tr><th "
		"scope=\"col\">change</th>"
		"<th scope=\"col\">before</th><th scope=\"col\"><span "
		"class=\"unseen\">before, as "
		"a bar</span></th><th scope=\"col\">after</th><th scope=\"col\"><span "
		"class=\"unseen\">after, as a bar</span></th><th "
		"scope=\"col\" class=\"wide\">points</th>"
		"<th scope=\"col\" class=\"limit\">from</th><th scope=\"col\" "
		"class=\"limit\">to</th><th "
		"scope=\"col\" class=\"wide\">q</th>"
		"<th scope=\"col\" class=\"name\">name</th></tr></thead>\n<tbody>\n",
		diff->withheld       ? "Guest addresses"
		: diff->side[0].self ? "Functions, with what they call"
				     : "Functions",
		diff->functions.n_significant, diff->functions.n,
		diff->by_runs ? "changed significantly" : "differ between these runs");
	for (size_t i = 0;
	     i < diff->functions.n && n < ROWS && ftello(f) - begin < ROWS_BYTES; i++)
		if (hlg_diff_columns_shows(diff, &diff->functions.row[i], n)) {
			write_row(f, diff, i, most);
			n++;
		}
	fputs("</tbody>\n</table>\n</div>\n", f);
	if (n < diff->functions.n)
		fprintf(f, "<p class=\"summary\">%zu more row%s not here.</p>\n",
			diff->functions.n - n,
			hlg_plural_word(diff->functions.n - n, " is", "s are"));
	fputs("</section>\n", f);
}

static void write_images(FILE *f, const struct hlg_diff *diff)
{
	fputs("<div class=\"sides\">\n", f);
	for (int s = 0; s < 2; s++) {
		fprintf(f, "<section id=\"image-%s\">\n<h2>Image %s: ",
			hlg_diff_columns_side[s], hlg_diff_columns_side[s]);
		hlg_page_words_names(f, diff->side[s].space);
		fputs("</h2>\n<div class=\"view\"></div>\n<noscript><p>This picture "
		      "needs scripts.</p></noscript>\n</section>\n",
		      f);
	}
	fputs("</div>\n", f);
}

/* Where a row is on a side, as the side's data has it. */
static void put_place(struct hlg_page_data *d, const struct hlg_diff *diff, int s,
		      bool image)
{
	const struct hlg_image *last = NULL;
	struct hlg_page_offsets offsets;
	char key[8];

	snprintf(key, sizeof(key), "%s%d", image ? "image" : "at", s);
	hlg_page_data_open(d, key, '[');
	for (size_t i = 0; i < diff->functions.n && i < LINKED; i++) {
		const struct hlg_place *place =
			hlg_diff_place(&diff->functions.row[i], s);
		const struct hlg_image *of = place ? place->image : NULL;

		/* Most rows are of the image that the one before is of. */
		if (of && of != last)
			hlg_page_offsets_make(&offsets, of);
		last = of ? of : last;
		if (!of)
			hlg_page_data_signed(d, NULL, -1);
		else if (image)
			hlg_page_data_number(d, NULL, of->number);
		else
			hlg_page_data_number(d, NULL,
					     hlg_page_offsets_of(&offsets, place->start));
	}
	hlg_page_data_close(d, ']');
}

static int write_data(FILE *f, const struct hlg_diff *diff, struct hlg_err *err)
{
	struct hlg_page_data d;
	int rc = hlg_page_data_begin(&d, err);

	if (rc == 0) {
		hlg_page_data_open(&d, "rows", '{');
		for (int s = 0; s < 2; s++) {
			put_place(&d, diff, s, true);
			put_place(&d, diff, s, false);
		}
		hlg_page_data_close(&d, '}');
		rc = hlg_page_data_end(&d, f, "data", err);
	}
	hlg_page_data_finish(&d);
	return rc;
}

static bool has_images(const struct hlg_diff *diff)
{
	return !diff->withheld && !diff->incomparable;
}

static int write_header(void *data, FILE *f, struct hlg_err *err)
{
	return write_answer(f, data) ? 0 : hlg_err_memory(err, "page");
}

static int write_main(void *data, FILE *f, struct hlg_err *err)
{
	const struct hlg_diff *diff = data;

	fputs("</header>\n<main>\n", f);
	if (!diff->incomparable)
		write_rows(f, diff);
	if (has_images(diff))
		write_images(f, diff);
	fputs("</main>\n", f);
	return has_images(diff) ? write_data(f, diff, err) : 0;
}

static int write_page(void *data, FILE *f, struct hlg_err *err)
{
	struct hlg_diff *diff = data;
	/* Only their images are drawn; of what the rows are of. */
	const bool exits = diff->side[0].options->border != HLG_BORDER_DROP;
	struct hlg_report sides[2] = {diff->side[0].report, diff->side[1].report};
	struct hlg_page_element elements[2] = {
		{.id = "data-before",
		 .of = "before",
		 .report = &sides[0],
		 .exits = exits},
		{.id = "data-after", .of = "after", .report = &sides[1], .exits = exits}};
	const struct hlg_page_parts parts = {.kind = &hlg_page_diff,
					     .title = "Before and after \u2013 hlguest",
					     .header = write_header,
					     .rest = write_main,
					     .ctx = diff,
					     .things = "functions",
					     .verb = "diff",
					     .elements = elements,
					     .n = has_images(diff) ? 2 : 0};

	diff->screen = (struct hlg_screen){0};
	sides[0].stacks = sides[1].stacks = NULL;
	/* With children= rows are of other things than the image. */
	for (int s = 0; s < 2 && !diff->side[0].self; s++)
		sides[s].all = diff->side[s].all;
	return hlg_page_report_page(f, &parts, err);
}

const struct hlg_format hlg_diff_html_format = {.name = "html",
						.file = "diff.html",
						.stacks = true,
						.notes = true,
						.reader = true,
						.write = write_page};
