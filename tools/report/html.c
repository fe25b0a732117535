// SPDX-License-Identifier: GPL-2.0-only
#include "tools/report/html.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "filter/report/rows.h"
#include "filter/run.h"
#include "filter/write/text-details.h"
#include "filter/write/text-head.h"
#include "filter/write/text-sums.h"
#include "symtab/plural.h"
#include "symtab/unique.h"
#include "tools/page/report-page.h"
#include "tools/page/report-time.h"
#include "tools/page/table.h"
#include "tools/page/words.h"
#include "tools/svg/xml.h"

enum {
	FEW = 8,               /* recordings */
	MANY = 2000,           /* of them: more are not listed */
	ROWS = HLG_PAGE_LEAST, /* functions that are there without scripts */
	ROWS_BYTES = 1000000,  /* and what they may take: their names may be long */
	LINE = 64,             /* bytes of a line of the caches of x86-64 and AArch64 */
	PAGE = 4096
};

static int write_head(void *report, FILE *f, struct hlg_err *err)
{
	(void)err;
	hlg_text_head_write(f, report);
	return 0;
}

static int write_tail(void *report, FILE *f, struct hlg_err *err)
{
	return hlg_text_sums_write(f, report, err);
}

static int write_details(void *report, FILE *f, struct hlg_err *err)
{
	(void)err;
	hlg_text_details_write(f, report);
	return 0;
}

/* The answer */

/* How many recordings are listed: their names may be long. */
static size_t n_listed(const struct hlg_report *r)
{
	size_t n = 0;

	for (size_t bytes = 0; n < r->n_files && n < MANY; n++)
		if ((bytes += strlen(r->files[n].path)) > ROWS_BYTES)
			break;
	return n;
}

/* Which recordings, and what each has. Few are seen without being unfolded. */
static bool write_files(FILE *f, const struct hlg_report *r)
{
	struct hlg_report shown = *r;
	struct hlg_err err;
	int rc;

	if (r->n_files < 2)
		return true;
	fprintf(f, "<details%s><summary>%zu recordings</summary>\n",
		r->n_files > FEW ? "" : " open", r->n_files);
	shown.n_files = n_listed(r);
	hlg_page_table_begin(f, "Recordings");
	rc = hlg_text_files(f, &shown, &hlg_page_table, &err);
	hlg_page_table_end(f);
	if (r->n_files > shown.n_files)
		fprintf(f, "<p class=\"summary\">%zu more recording%s not listed.</p>\n",
			r->n_files - shown.n_files,
			hlg_plural_word(r->n_files - shown.n_files, " is", "s are"));
	fputs("</details>\n", f);
	return rc == 0;
}

/* The caller ends the header. */
static bool write_answer(FILE *f, const struct hlg_report *r)
{
	struct hlg_report plain = *r;
	char *head, *tail, *details;
	bool ok;

	plain.screen = (struct hlg_screen){0};
	head = hlg_page_words_of(write_head, &plain);
	tail = hlg_page_words_of(write_tail, &plain);
	details = hlg_page_words_of(write_details, &plain);
	ok = head && tail && details;
	fputs("<header id=\"answer\">\n<h1>", f);
	hlg_page_words_names(f, r->space);
	fputs("</h1>\n", f);
	if (ok) {
		hlg_page_words_facts(f, head, "check", hlg_page_words_verdict(r));
		ok = write_files(f, &plain);
		hlg_page_words_folded(f, "Where all samples went, and notes", tail);
		hlg_page_words_folded(f, "How it was checked", details);
	}
	free(head);
	free(tail);
	free(details);
	return ok;
}

/* Functions */

static void write_row(FILE *f, const struct hlg_report *r, size_t i)
{
	const struct hlg_row *row = &r->all.rows[i];
	char percent[16], low[16], high[16];

	fprintf(f, "<tr data-row=\"%zu\"><td>%s %%</td><td>", i,
		hlg_interval_percent(percent, row->share.share));
	hlg_page_words_bar(f, &row->share, r->all.rows[0].share.high);
	fprintf(f, "</td><td>%s\u2013%s</td><td>%" PRIu64 "</td><th scope=\"row\">",
		hlg_interval_percent(low, row->share.low),
		hlg_interval_percent(high, row->share.high), row->count.samples);
	hlg_xml_text(f, row->name);
	hlg_page_words_aside(
		f, row->place.kind == HLG_LABEL && !r->suppressed ? "label" : "",
		r->space->n_images > 1 ? row->place.image : NULL);
	fputs("</th>", f);
	if (row->place.image && !r->suppressed)
		fprintf(f, "<td>%" PRIu64 "</td><td>0x%" PRIx64 "</td></tr>\n",
			row->place.end - row->place.start, row->place.start);
	else
		fputs("<td></td><td></td></tr>\n", f);
}

static void write_functions(FILE *f, const struct hlg_report *r)
{
	size_t shown = hlg_rows_shown(r, r->all.n_rows, hlg_rows_share, &r->all), n = 0;
	off_t begin = ftello(f); /* it is in memory */

	fputs("<section id=\"functions\">\n<h2>Functions</h2>\n<div "
	      "class=\"tools\"></div>\n"
	      "<div class=\"scroll\">\n<table id=\"function-table\">\n<thead><tr>"
	      "<th scope=\"col\">share</th><th scope=\"col\"><span class=\"unseen\">as a "
	      "bar</span></th>"
	      "<th scope=\"col\">95 % interval</th><th scope=\"col\">samples</th>"
	      "<th scope=\"col\">name</th>"
	      "<th scope=\"col\">bytes</th><th scope=\"col\">address</th></tr></thead>\n"
	      "<tbody>\n",
	      f);
	for (; n < shown && n < ROWS && ftello(f) - begin < ROWS_BYTES; n++)
		write_row(f, r, n);
	fputs("</tbody>\n</table>\n</div>\n", f);
	if (shown > n)
		fprintf(f, "<noscript><p>%zu more row%s scripts.</p></noscript>\n",
			shown - n, hlg_plural_word(shown - n, " needs", "s need"));
	fputs("</section>\n", f);
}

/* The image */

struct line {
	uint64_t number; /* address / LINE, of an image */
	size_t image;
	uint64_t weight;
};

static int by_place(const void *a, const void *b)
{
	const struct line *x = a, *y = b;

	if (x->image != y->image)
		return x->image < y->image ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

static void add_line(void *to, const void *from)
{
	struct line *line = to;

	line->weight += ((const struct line *)from)->weight;
}

static int by_weight(const void *a, const void *b)
{
	const struct line *x = a, *y = b;

	if (x->weight != y->weight)
		return x->weight > y->weight ? -1 : 1;
	return by_place(a, b);
}

/* All lines with samples in code, each once, to be freed; NULL without memory. */
static struct line *lines_of(const struct hlg_view *v, size_t *n, uint64_t *total)
{
	struct line *lines = calloc(v->n_hits + 1, sizeof(*lines));
	size_t all = 0;

	*total = 0;
	for (size_t i = 0; lines && i < v->n_rows; i++) {
		const struct hlg_row *row = &v->rows[i];

		for (size_t k = 0; row->place.kind <= HLG_GAP && k < row->n_hits; k++) {
			const struct hlg_hit *hit = &v->hits[row->first_hit + k];

			lines[all++] =
				(struct line){hit->addr / LINE, row->place.image->number,
					      hlg_count_weigh(v->weight, hit->count)};
		}
	}
	*n = HLG_UNIQUE(lines, all, by_place, add_line);
	for (size_t i = 0; i < *n; i++)
		*total += lines[i].weight;
	return lines;
}

static uint64_t code_bytes(const struct hlg_space *space)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < space->n_images; i++)
		for (size_t k = 0; k < space->images[i]->n_areas; k++)
			if (space->images[i]->areas[k].code)
				bytes += space->images[i]->areas[k].end -
					 space->images[i]->areas[k].start;
	return bytes;
}

/* How many bytes of lines, sorted by place, are code: at its ends a line has others. */
static uint64_t code_in(const struct hlg_space *space, const struct line *lines, size_t n)
{
	uint64_t bytes = 0;
	size_t k = 0; /* areas in front of it end before the line */

	for (size_t i = 0; i < n; i++) {
		const struct hlg_image *image = space->images[lines[i].image];
		uint64_t start = lines[i].number * LINE, last = start + LINE - 1;

		k = i && lines[i].image == lines[i - 1].image ? k : 0;
		while (k < image->n_areas && image->areas[k].end <= start)
			k++;
		for (size_t j = k; j < image->n_areas && image->areas[j].start <= last;
		     j++) {
			const struct hlg_area *a = &image->areas[j];

			if (a->code)
				bytes += (a->end - 1 < last ? a->end - 1 : last) -
					 (a->start > start ? a->start : start) + 1;
		}
	}
	return bytes;
}

static void write_size(FILE *f, uint64_t bytes)
{
	const char *unit = bytes < 1024 * 1024 ? "KiB" : "MiB";
	uint64_t tenths = bytes * 10 / (bytes < 1024 * 1024 ? 1024 : 1024 * 1024);

	if (bytes < 1024)
		fprintf(f, "%" PRIu64 " bytes", bytes);
	else if (tenths < 100)
		fprintf(f, "%" PRIu64 ".%" PRIu64 " %s", tenths / 10, tenths % 10, unit);
	else
		fprintf(f, "%" PRIu64 " %s", tenths / 10, unit);
}

/* How little code nine tenths of the time in code are in. */
static bool write_hot(FILE *f, const struct hlg_report *r)
{
	uint64_t total, sum = 0;
	size_t n, hot = 0, pages = 0;
	struct line *lines = lines_of(&r->all, &n, &total);

	if (!lines)
		return false;
	qsort(lines, n, sizeof(*lines), by_weight);
	while (hot < n && sum < total - total / 10)
		sum += lines[hot++].weight;
	qsort(lines, hot, sizeof(*lines), by_place);
	for (size_t i = 0; i < hot; i++)
		pages += i == 0 || lines[i].image != lines[i - 1].image ||
			 lines[i].number / (PAGE / LINE) !=
				 lines[i - 1].number / (PAGE / LINE);
	if (hot) {
		fputs("<p class=\"summary\">90 % of the time in code is in ", f);
		write_size(f, code_in(r->space, lines, hot));
		fputs(" of ", f);
		write_size(f, code_bytes(r->space));
		fprintf(f,
			": %zu cache line%s of %d bytes, on %zu page%s of 4 KiB; side by "
			"side they would take %zu.</p>\n",
			hot, hot > 1 ? "s" : "", LINE, pages, pages > 1 ? "s" : "",
			(hot * LINE + PAGE - 1) / PAGE);
	}
	free(lines);
	return true;
}

/* What scripts draw in, and the end of its section. */
static void end_view(FILE *f)
{
	fputs("<div class=\"view\"></div>\n<noscript><p>This picture needs "
	      "scripts.</p></noscript>\n</section>\n",
	      f);
}

static void write_view(FILE *f, const char *id, const char *heading)
{
	fprintf(f, "<section id=\"%s\">\n<h2>%s</h2>\n", id, heading);
	end_view(f);
}

static void write_time(FILE *f, const struct hlg_report *r)
{
	const struct hlg_slices *guests = &r->profile->by_address;
	uint64_t guest = guests->untimed, host = r->profile->by_thread.untimed - guest;

	fputs("<section id=\"time\">\n<h2>Time</h2>\n", f);
	if (guest || host)
		fprintf(f,
			"<p class=\"summary\">Without a time: %" PRIu64
			" guest and %" PRIu64
			" host samples. They count in the whole only.</p>\n",
			guest, host);
	if (guests->halved)
		fprintf(f,
			"<p class=\"summary\">The saved profile has the times of one in "
			"%llu samples: what is counted in a chosen time is an estimate "
			"from these.</p>\n",
			1ULL << guests->halved);
	end_view(f);
}

/* Where shares are of more than the rows'. */
static void write_flame(FILE *f, const struct hlg_report *r)
{
	bool exits = r->all.border.samples && r->options->border != HLG_BORDER_DROP;
	bool host = r->options->mode == HLG_SHOW_ALL;

	fputs("<section id=\"flame\">\n<h2>Flame graph</h2>\n", f);
	if (exits || host)
		fprintf(f,
			"<p class=\"summary\">Its shares are of all samples, those "
			"%s%s%s "
			"among them; the table's are of the guest's%s.</p>\n",
			exits ? "at VM exits" : "", exits && host ? " and " : "",
			host ? "of the host" : "", exits ? " without VM exits" : "");
	end_view(f);
}

static int write_sections(FILE *f, const struct hlg_report *r, struct hlg_err *err)
{
	bool image = !r->suppressed && r->space->n_images;
	int rc = 0;
	const char *why;

	write_functions(f, r);
	if (image) {
		fputs("<section id=\"image\">\n<h2>Image</h2>\n", f);
		if (!write_hot(f, r))
			return hlg_err_memory(err, "page");
		end_view(f);
	}
	if (hlg_page_time_has(r, &why)) {
		write_time(f, r);
		write_view(f, "threads", "Threads");
	} else {
		fprintf(f,
			"<section "
			"id=\"no-time\">\n<h2>Time</h2>\n<p>%s</p>\n</section>\n",
			why);
	}
	if (image)
		rc = hlg_report_html_code(f, r, err);
	if (r->stacks)
		write_flame(f, r);
	return rc;
}

static void write_nav(FILE *f, const struct hlg_report *r)
{
	const char *why;

	fputs("<nav aria-label=\"Sections\"><a href=\"#functions\">Functions</a>", f);
	if (!r->suppressed && r->space->n_images)
		fputs("<a href=\"#image\">Image</a>", f);
	if (hlg_page_time_has(r, &why))
		fputs("<a href=\"#time\">Time</a><a href=\"#threads\">Threads</a>", f);
	if (!r->suppressed && r->space->n_images)
		fputs("<a href=\"#code\">Instructions</a>", f);
	if (r->stacks)
		fputs("<a href=\"#flame\">Flame graph</a>", f);
	fputs("</nav>\n", f);
}

/* The page */

static int write_header(void *data, FILE *f, struct hlg_err *err)
{
	return write_answer(f, data) ? 0 : hlg_err_memory(err, "page");
}

static int write_main(void *data, FILE *f, struct hlg_err *err)
{
	int rc;

	fputs("</header>\n", f);
	write_nav(f, data);
	fputs("<main>\n", f);
	rc = write_sections(f, data, err);
	fputs("</main>\n", f);
	return rc;
}

static int write_page(void *data, FILE *f, struct hlg_err *err)
{
	const struct hlg_report *r = data;
	const char *name =
		r->space->n_images ? hlg_image_file_name(r->space->images[0]) : "guest";
	struct hlg_page_element element = {.id = "data", .report = r};
	struct hlg_page_parts parts = {.kind = &hlg_page_report,
				       .header = write_header,
				       .rest = write_main,
				       .ctx = data,
				       .things =
					       r->suppressed ? "addresses" : "functions",
				       .verb = "report",
				       .elements = &element,
				       .n = 1};
	char *title;
	int rc;

	if (r->profile->by_thread.lost || r->profile->by_address.lost ||
	    asprintf(&title, "%s \u2013 hlguest", name) < 0)
		return hlg_err_memory(err, "page");
	parts.title = title;
	rc = hlg_page_report_page(f, &parts, err);
	free(title);
	return rc;
}

static int prepare(struct hlg_run *run, struct hlg_err *err)
{
	const char *word = run->options.by ? "by" : "mode=host";

	if (run->options.by & HLG_BY_SANDBOX)
		return hlg_err_set(err, HLG_EINPUT,
				   "--format=html: a page does not show sandboxes apart "
				   "(make one of each: --sandbox=1; without "
				   "--format=html, --by=sandbox lists them)");
	if (run->options.by || run->options.mode == HLG_SHOW_HOST)
		return hlg_err_set(err, HLG_EINPUT,
				   "--format=html: does not show --%s (leave it out; the "
				   "page shows threads and the host's time)",
				   word);
	run->options.slices = true;
	run->options.verbose = 1;
	return 0;
}

const struct hlg_format hlg_report_html_format = {
	.name = "html",
	.file = "report.html",
	.stacks = true,
	.whole = true,
	.notes = true,
	.remarks = true,
	.files = true,
	.one_table = true,
	.reader = true,
	.prepare = prepare,
	.write = write_page,
};
