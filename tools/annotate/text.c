// SPDX-License-Identifier: GPL-2.0-only
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config.h"
#include "filter/stats/interval.h"
#include "filter/view/place-name.h"
#include "filter/write/table.h"
#include "filter/write/text-details.h"
#include "filter/write/text-head.h"
#include "filter/write/text-line.h"
#include "filter/write/text-sums.h"
#include "symtab/escape.h"
#include "symtab/image/image-bases.h"
#include "symtab/name/demangle.h"
#include "symtab/plural.h"
#include "tools/annotate/annotate.h"
#include "tools/annotate/called-by.h"
#include "tools/annotate/snippet.h"
#include "tools/inputs/places.h"

enum {
	BAR = 10,       /* cells, on a terminal only, */
	BARS = 76,      /* that has so many columns */
	COUNTS = 20,    /* columns of share and samples */
	ADDRESS = 15,   /* of marks, the address, and what is behind it */
	SOURCE = 3,     /* in front of a source line, behind the counts */
	HOT_CELLS = 36, /* of an instruction in the head */
	LONGEST = 1024
};

#define EXIT "  (VM exit)"
#define NOTE "  note: "

struct writer {
	FILE *f;
	const struct hlg_report *report;
	struct hlg_called_by called;
	const struct hlg_view *view; /* of the listing before */
	struct hlg_count exits;      /* in that view */
	uint64_t listed;             /* samples */
	bool lost;                   /* something, for want of memory */
	const struct hlg_colour *colours;
	unsigned columns; /* of a line; 0: any number */
	bool bars;
	struct hlg_snippets snippets;
	size_t n_told; /* snippets.files whose problem was told, if they have one */
};

/* Cuts a text to so many cells, a byte each, at a whole character. */
static void cut(char *text, size_t cells)
{
	if (strlen(text) <= cells || cells < 3)
		return;
	cells -= 3;
	while (cells && (text[cells] & 0xc0) == 0x80)
		cells--;
	strcpy(text + cells, "...");
}

/* A line that is broken where it has no room, behind a label. */
__attribute__((format(printf, 3, 4))) static void put_wrapped(struct writer *w,
							      const char *label,
							      const char *fmt, ...)
{
	va_list ap;
	char *line;
	int rc;

	va_start(ap, fmt);
	rc = vasprintf(&line, fmt, ap);
	va_end(ap);
	w->lost |= rc < 0;
	if (rc < 0)
		return;
	hlg_text_line_wrap(w->f, &w->report->screen, label, line);
	free(line);
}

/* What the place is, and where: "function, 63 bytes at 0x12b0 of demo.elf". */
static void put_place(struct writer *w, const struct hlg_place *place)
{
	const char *kind = hlg_place_name_kind(place->kind);
	uint64_t size = place->end - place->start;
	char where[48];

	if (!place->image) {
		put_wrapped(w, "  ", "%s, guest addresses", kind);
		return;
	}
	if (hlg_image_bases_places(place->image) == 1)
		snprintf(where, sizeof(where), "guest 0x%" PRIx64,
			 hlg_lane_ip(place->start + place->image->bias));
	else
		snprintf(where, sizeof(where), "%zu bases",
			 hlg_image_bases_places(place->image));
	put_wrapped(w, "  ", "%s, %" PRIu64 " byte%s at 0x%" PRIx64 " of %s (%s)", kind,
		    size, size == 1 ? "" : "s", place->start, place->image->path, where);
}

/* Those to look for in what may be long: what they are, and of which source line. */
static void put_hottest(const struct writer *w, const struct hlg_listing *l)
{
	for (size_t i = 0; i < l->n_hot; i++) {
		const struct hlg_line *line = &l->lines[l->hot[i]];
		const char *slash = line->file ? strrchr(line->file, '/') : NULL;
		char percent[16], text[LONGEST] = "";

		if (line->text)
			hlg_escape(text, sizeof(text), line->text);
		if (w->columns)
			cut(text, HOT_CELLS);
		fprintf(w->f, "  %s %6s %%  %8" PRIx64, i ? "       " : "hottest",
			hlg_interval_percent(percent, line->share), line->addr);
		if (line->file && line->source_line > 0) {
			fprintf(w->f, "  %-*s  ", HOT_CELLS, text);
			hlg_escape_print(w->f, slash ? slash + 1 : line->file);
			fprintf(w->f, ":%d\n", line->source_line);
		} else {
			fprintf(w->f, "%s%s\n", *text ? "  " : "", text);
		}
	}
}

/* Is it said of no instruction where its source is? */
static bool has_no_source(const struct hlg_listing *l)
{
	bool any = false;

	for (size_t i = 0; i < l->n; i++) {
		if (l->lines[i].file)
			return false;
		any |= l->lines[i].text != NULL;
	}
	return any && HLG_HAVE_LIBDW;
}

/* What report says of a row, if that is something else: it leaves VM exits out. */
static void say_of_report(struct writer *w, char *to, size_t size,
			  const struct hlg_view *view, const struct hlg_row *row)
{
	struct hlg_count exits = hlg_view_exits_of(view, row, &w->report->border);
	struct hlg_count kept = view->guest, left = row->count;
	char percent[16];
	size_t n = 0;

	if (w->view != view)
		w->exits = hlg_view_exits(view, &w->report->border);
	w->view = view;
	to[0] = '\0';
	if (w->exits.samples == 0)
		return;
	hlg_count_sub(&kept, view->dropped);
	hlg_count_sub(&kept, w->exits);
	hlg_count_sub(&left, exits);
	if (exits.samples)
		n = (size_t)snprintf(to, size, ", %" PRIu64 " of them at VM exits",
				     exits.samples);
	snprintf(to + n, size - n, " (%s %% in report)",
		 hlg_interval_percent(
			 percent,
			 (double)hlg_count_weigh(view->weight, left) /
				 fmax(1, (double)hlg_count_weigh(view->weight, kept))));
}

/* Name, share, where, and the hottest lines; more only where there is something. */
static void put_head(struct writer *w, const struct hlg_listing *l,
		     const struct hlg_view *view, const char *series)
{
	const struct hlg_row *row = l->row;
	char percent[16], report[80];

	say_of_report(w, report, sizeof(report), view, row);
	put_wrapped(w, "== ", "%s: %" PRIu64 " sample%s, %s %% of the guest's%s%s%s%s",
		    row->name, row->count.samples, row->count.samples == 1 ? "" : "s",
		    hlg_interval_percent(percent, row->share.share), report,
		    series ? "  [" : "", series ? series : "", series ? "]" : "");
	put_place(w, &row->place);
	hlg_places_put_aliases(w->f, &row->place);
	put_hottest(w, l);
	w->lost |= !hlg_called_by_put(w->f, &w->called, w->report, view, row);
	if (l->remark)
		put_wrapped(w, NOTE, "%s", l->remark);
	if (has_no_source(l))
		put_wrapped(w, NOTE,
			    "no source lines: the ELF does not tell them (compile with "
			    "-g)");
	if (l->no_edges)
		put_wrapped(w, NOTE,
			    "skid: edges are known in decoded functions and labels only");
	fputc('\n', w->f);
}

/* Cells of the samples, in front of addresses. */
static size_t left(const struct writer *w)
{
	return COUNTS + (w->bars ? BAR + 1 : 0);
}

static void put_counts(const struct writer *w, const struct hlg_line *line, double most)
{
	char percent[16];

	if (line->count.samples == 0) {
		fprintf(w->f, "%*s", (int)left(w), "");
		return;
	}
	hlg_colour_begin(w->f, w->colours, line->share);
	fprintf(w->f, "%8s %%", hlg_interval_percent(percent, line->share));
	hlg_colour_end(w->f, w->colours, line->share);
	fprintf(w->f, " %9" PRIu64, line->count.samples);
	if (w->bars) {
		fputc(' ', w->f);
		hlg_colour_bar(w->f, w->colours, line->share, most, BAR);
	}
}

/* What an instruction leads to: in brackets, cut to room cells. */
static void put_target(const struct writer *w, const struct hlg_line *line, size_t room)
{
	char name[LONGEST];

	if (line->target_name)
		hlg_escape(name, sizeof(name), line->target_name);
	else
		snprintf(name, sizeof(name), "0x%" PRIx64, line->target);
	if (w->columns && room < strlen(name) + 3)
		cut(name, room > 11 ? room - 3 : 8);
	fprintf(w->f, " <%s>", name);
}

/* An instruction; on a terminal its operands go below where they have no room behind it.
 * Returns how many cells its line has by then. */
static size_t put_text(const struct writer *w, const char *text)
{
	const size_t before = left(w) + ADDRESS;
	const char *operands = strrchr(text, ' ');

	if (!w->report->screen.lines || !w->columns || !operands ||
	    before + (size_t)hlg_table_cells(text) <= w->columns) {
		hlg_escape_print(w->f, text);
		return before + strlen(text);
	}
	fprintf(w->f, "%.*s\n%*s", (int)(operands - text), text, (int)before, "");
	hlg_escape_print(w->f, operands + 1);
	return before + strlen(operands + 1);
}

/* in: the last line before that has bytes, or NULL. */
static void put_line(const struct writer *w, const struct hlg_line *line,
		     const struct hlg_line *in, double most)
{
	size_t used = left(w) + ADDRESS;

	put_counts(w, line, most);
	fprintf(w->f, " %c%c %8" PRIx64, line->hottest ? '*' : ' ',
		line->edge ? 'e' : ' ', line->addr);
	if (line->kind != HLG_LINE_PLAIN || in)
		fprintf(w->f, " %c ", line->is_target ? '>' : ' ');
	if (line->text)
		used = put_text(w, line->text);
	else
		hlg_listing_remark(w->f, line, in);
	/* A branch has its target in the text, an operand only how far it is. */
	if (line->has_target) {
		used += line->exit ? strlen(EXIT) : 0;
		put_target(w, line, w->columns > used ? w->columns - used : 0);
	}
	if (line->exit)
		fputs(EXIT, w->f);
	fputc('\n', w->f);
}

/* Without tabs, and without the blanks in front. */
static void tidy(char *to, size_t size, const char *line)
{
	size_t n = 0;

	for (line += strspn(line, " \t\f"); *line && *line != '\r' && n + 1 < size;
	     line++)
		to[n++] = *line == '\t' ? ' ' : *line;
	to[n] = '\0';
}

/* "NAME (inlined)  text", either of them or none. */
static void put_line_text(struct writer *w, char *to, size_t size,
			  const struct hlg_line *line, const char *text)
{
	char *name = line->inlined ? hlg_demangle_if(w->report->options->demangle,
						     line->inlined)
				   : NULL;
	size_t n = 0;

	w->lost |= line->inlined && !name;
	to[0] = '\0';
	if (name) {
		hlg_escape(to, size, name);
		n = strlen(to);
		n += (size_t)snprintf(to + n, size - n, " (inlined)%s",
				      *text ? "  " : "");
	}
	if (n < size)
		hlg_escape(to + n, size - n, text);
	free(name);
}

static bool is_text(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

/*
 * "FILE:LINE  text", where it is another than that of the line before, or what was
 * inlined is. The folders of the file are left out where they are known from there; what
 * is too long loses its front, the text its end.
 */
static void put_source(struct writer *w, const struct hlg_line *line,
		       const struct hlg_line *shown, const struct hlg_image *image)
{
	size_t room = w->columns ? w->columns - left(w) - SOURCE : LONGEST, used,
	       skip = 0;
	bool same = shown && strcmp(shown->file, line->file) == 0;
	const char *slash = strrchr(line->file, '/'), *text;
	char path[LONGEST], source[LONGEST], number[16] = "?", raw[LONGEST];

	if (same && shown->source_line == line->source_line &&
	    is_text(shown->inlined, line->inlined))
		return;
	text = hlg_snippet_line(&w->snippets, line->file, line->source_line,
				&image->elf.id);
	tidy(raw, sizeof(raw), text ? text : "");
	put_line_text(w, source, sizeof(source), line, raw);
	hlg_escape(path, sizeof(path), same && slash ? slash + 1 : line->file);
	if (line->source_line > 0)
		snprintf(number, sizeof(number), "%d", line->source_line);
	used = strlen(number) + 1 + (source[0] ? 2 + strlen(source) : 0);
	if (w->columns && strlen(path) + used > room) {
		size_t least = room > 2 * 30 ? 30 : room / 2;
		size_t keep = room > used + least ? room - used : least;

		if (strlen(path) > keep)
			skip = strlen(path) - keep + 3;
		while (skip && (path[skip] & 0xc0) == 0x80)
			skip++;
	}
	fprintf(w->f, "%*s%s%s:%s", (int)left(w) + SOURCE, "", skip ? "..." : "",
		path + skip, number);
	used = strlen(path) - skip + (skip ? 3 : 0) + strlen(number) + 3;
	if (w->columns)
		cut(source, room > used + 8 ? room - used : 8);
	fprintf(w->f, "%s%s\n", source[0] ? "  " : "", source);
}

static void put_lines(struct writer *w, const struct hlg_listing *l)
{
	const struct hlg_line *in = NULL, *shown = NULL;
	double most = l->n_hot ? l->lines[l->hot[0]].share : 0;

	for (size_t i = 0; i < l->n; i++) {
		const struct hlg_line *line = &l->lines[i];

		if (line->file && line->kind == HLG_LINE_INSN) {
			put_source(w, line, shown, l->row->place.image);
			shown = line;
		}
		put_line(w, line, in, most);
		if (line->length)
			in = line;
	}
}

static void put_sum(const struct writer *w, const struct hlg_listing *l)
{
	const struct hlg_row *row = l->row;

	char line[160];
	int n = snprintf(line, sizeof(line), "%8s %% %9" PRIu64 "  in all",
			 row->count.samples ? "100.00" : "0.00", row->count.samples);

	if (l->inside.samples || l->plain.samples)
		snprintf(line + n, sizeof(line) - (size_t)n,
			 " (%" PRIu64 " on instructions, %" PRIu64 " inside, %" PRIu64
			 " elsewhere)",
			 l->on.samples, l->inside.samples, l->plain.samples);
	hlg_text_line_fold(w->f, &w->report->screen, 0, HLG_TEXT_INDENT, line);
	fputs("  * the hottest line; > a branch of the function leads here\n\n", w->f);
}

/* Why the text of files that were met is missing. */
static void put_problems(struct writer *w)
{
	size_t first = w->n_told;

	for (; w->n_told < w->snippets.n; w->n_told++) {
		const struct hlg_snippet_file *file = &w->snippets.files[w->n_told];

		if (!file->problem)
			continue;
		fputs("note: ", w->f);
		hlg_escape_print(w->f, file->path);
		fprintf(w->f, ": %s\n", file->problem);
		first = SIZE_MAX;
	}
	if (first == SIZE_MAX)
		fputc('\n', w->f);
}

static void put_listing(void *ctx, const struct hlg_listing *l,
			const struct hlg_view *view, const char *series)
{
	struct writer *w = ctx;

	w->listed += l->row->count.samples;
	put_head(w, l, view, series);
	fprintf(w->f, "%10s %9s", "share", "samples");
	if (w->bars)
		fprintf(w->f, " %-*s", BAR, "heat");
	fprintf(w->f, "    %8s   %s\n", "ELF addr", "instruction");
	put_lines(w, l);
	put_sum(w, l);
	put_problems(w);
}

/* What is listed and what is not are all of the guest's samples, which the sums have. */
static void put_listed(struct writer *w, bool by_name)
{
	const uint64_t all = w->report->all.guest.samples;
	const uint64_t rest = all > w->listed ? all - w->listed : 0;
	const uint64_t least = w->report->options->min;
	const bool by_top = !by_name && (least == 0 || least == HLG_UNSET);

	if (w->report->suppressed || all == 0)
		return;
	if (rest == 0)
		put_wrapped(w, "listed    ", "all %" PRIu64 " guest sample%s", all,
			    hlg_plural_s(all));
	else
		put_wrapped(w, "listed    ",
			    "%" PRIu64 " of %" PRIu64 " guest sample%s; %" PRIu64
			    " %s elsewhere%s",
			    w->listed, all, hlg_plural_s(all), rest,
			    hlg_plural_word(rest, "is", "are"),
			    by_top ? " (--top=0 lists all)" : "");
}

int hlg_annotate_text(void *annotate, FILE *f, struct hlg_err *err)
{
	const struct hlg_listings *a = annotate;
	struct hlg_report fitted = *a->report;
	struct writer w = {.f = f, .report = &fitted, .colours = &fitted.colours};
	int rc;

	if (fitted.options->wide)
		fitted.screen.columns = 0;
	w.columns = fitted.screen.columns;
	w.bars = w.colours->on && (!w.columns || w.columns >= BARS);
	hlg_text_head_write(f, &fitted);
	if (fitted.suppressed)
		put_wrapped(&w, "", "instructions are withheld, because %s%s",
			    fitted.trust.all.verdict == HLG_TRUST_MISMATCH
				    ? "the samples do not fit"
				    : "the base is only assumed",
			    fitted.unnamed ? "" : " (--force=yes shows them)");
	rc = hlg_listing_each(a, put_listing, &w, err);
	hlg_snippet_finish(&w.snippets);
	hlg_called_by_finish(&w.called);
	put_listed(&w, a->places->n);
	if (rc == 0 && w.lost)
		rc = hlg_err_memory(err, "annotate");
	if (rc == 0)
		rc = hlg_text_sums_write(f, &fitted, err);
	if (rc == 0 && fitted.options->verbose)
		hlg_text_details_write(f, &fitted);
	return rc;
}
