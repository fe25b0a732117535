// SPDX-License-Identifier: GPL-2.0-only
#include <inttypes.h>
#include <string.h>

#include "filter/stats/interval.h"
#include "filter/view/place-name.h"
#include "filter/write/text-lines.h"
#include "symtab/escape.h"
#include "tools/annotate/annotate.h"

enum {
	BAR = 10,   /* cells, on a terminal only */
	COUNTS = 38 /* columns of share, samples and period */
};

struct writer {
	FILE *f;
	const struct hlg_colour *colours;
};

static void put_aliases(FILE *f, const struct hlg_place *place)
{
	const struct hlg_symbol *first;
	const char *between = "  also called ";
	size_t n;

	if (!place->symbol)
		return;
	first = hlg_image_aliases(place->image, place->symbol, &n);
	for (size_t i = 0; i < n; i++) {
		if (&first[i] == place->symbol)
			continue;
		fputs(between, f);
		hlg_escape_print(f, hlg_image_name(place->image, &first[i]));
		between = ", ";
	}
	if (n > 1)
		fputc('\n', f);
}

/* What the place is, and where: "function, 63 bytes at 0x12b0 of demo.elf". */
static void put_place(FILE *f, const struct hlg_place *place)
{
	fprintf(f, "  %s", hlg_place_name_kind(place->kind));
	if (!place->image) {
		fputs(", guest addresses\n", f);
		return;
	}
	fprintf(f, ", %" PRIu64 " byte%s at 0x%" PRIx64, place->end - place->start,
		place->end - place->start == 1 ? "" : "s", place->start);
	if (hlg_image_n_bases(place->image) == 1)
		fprintf(f, " (guest 0x%" PRIx64 ")", place->start + place->image->bias);
	else
		fprintf(f, " (%zu bases)", hlg_image_n_bases(place->image));
	fputs(" of ", f);
	hlg_escape_print(f, place->image->path);
	fputc('\n', f);
}

static void put_hottest(FILE *f, const struct hlg_listing *l)
{
	char percent[16];

	if (l->n_hot == 0)
		return;
	fputs("  hottest", f);
	for (size_t i = 0; i < l->n_hot; i++) {
		const struct hlg_line *line = &l->lines[l->hot[i]];

		fprintf(f, "%s 0x%" PRIx64 " %s %%", i ? "," : "", line->addr,
			hlg_interval_percent(percent, line->share));
	}
	fputc('\n', f);
}

static void put_head(const struct writer *w, const struct hlg_listing *l,
		     const struct hlg_view *view, const char *series)
{
	const struct hlg_row *row = l->row;
	char percent[16], low[16], high[16];

	fputs("== ", w->f);
	hlg_escape_print(w->f, row->name);
	if (series) {
		fputs("  [", w->f);
		hlg_escape_print(w->f, series);
		fputc(']', w->f);
	}
	fputc('\n', w->f);
	put_place(w->f, &row->place);
	put_aliases(w->f, &row->place);
	fprintf(w->f,
		"  %s %% (%s - %s) of the guest's %s: %" PRIu64
		" sample%s, period %" PRIu64 "\n",
		hlg_interval_percent(percent, row->share.share),
		hlg_interval_percent(low, row->share.low),
		hlg_interval_percent(high, row->share.high),
		view->weight == HLG_WEIGHT_SAMPLES ? "samples" : "period",
		row->count.samples, row->count.samples == 1 ? "" : "s",
		row->count.period);
	put_hottest(w->f, l);
	if (l->remark)
		fprintf(w->f, "  note: %s\n", l->remark);
	if (l->no_edges)
		fputs("  note: skid: edges are known in decoded functions and labels "
		      "only\n",
		      w->f);
	fputc('\n', w->f);
}

static void put_counts(const struct writer *w, const struct hlg_line *line, double most)
{
	char percent[16];

	if (line->count.samples == 0) {
		fprintf(w->f, "%*s", COUNTS + (w->colours->on ? BAR + 1 : 0), "");
		return;
	}
	hlg_colour_begin(w->f, w->colours, line->share);
	fprintf(w->f, "%8s %%", hlg_interval_percent(percent, line->share));
	hlg_colour_end(w->f, w->colours, line->share);
	fprintf(w->f, " %10" PRIu64 " %16" PRIu64, line->count.samples,
		line->count.period);
	if (w->colours->on) {
		fputc(' ', w->f);
		hlg_colour_bar(w->f, w->colours, line->share, most, BAR);
	}
}

/* What a line has in the place of an instruction. */
static void put_remark(FILE *f, const struct hlg_line *line, const struct hlg_line *in)
{
	bool padding = in && in->kind == HLG_LINE_PADDING;

	switch (line->kind) {
	case HLG_LINE_INSIDE:
		fprintf(f, "(inside of the instruction at 0x%" PRIx64 ")", in->addr);
		break;
	case HLG_LINE_PADDING:
		fprintf(f, "(padding, %" PRIu64 " bytes)", line->length);
		break;
	case HLG_LINE_OTHER:
		fprintf(f, "(%" PRIu64 " bytes of another symbol)", line->length);
		break;
	case HLG_LINE_BYTES:
		fprintf(f, "(%" PRIu64 " bytes that are no instruction)", line->length);
		break;
	case HLG_LINE_PLAIN:
		fputs(padding ? "(in padding)" : in ? "(no instruction)" : "", f);
		break;
	default:
		fputs("(not disassembled)", f);
	}
}

/* in: the last line before that has bytes, or NULL. */
static void put_line(const struct writer *w, const struct hlg_line *line,
		     const struct hlg_line *in, double most)
{
	put_counts(w, line, most);
	fprintf(w->f, " %c%c %8" PRIx64, line->hottest ? '*' : ' ',
		line->edge ? 'e' : ' ', line->addr);
	if (line->kind != HLG_LINE_PLAIN || in)
		fprintf(w->f, " %c ", line->is_target ? '>' : ' ');
	if (line->text)
		hlg_escape_print(w->f, line->text);
	else
		put_remark(w->f, line, in);
	/* A branch has its target in the text, an operand only how far it is. */
	if (line->target_name) {
		fputs("  <", w->f);
		hlg_escape_print(w->f, line->target_name);
		fputc('>', w->f);
	} else if (line->has_target) {
		fprintf(w->f, "  <0x%" PRIx64 ">", line->target);
	}
	fputc('\n', w->f);
}

/* The source line, where it is another than that of the line before. */
static void put_source(const struct writer *w, const struct hlg_line *line,
		       const struct hlg_line *shown)
{
	if (shown && strcmp(shown->file, line->file) == 0 &&
	    shown->source_line == line->source_line)
		return;
	fprintf(w->f, "%*s", COUNTS + (w->colours->on ? BAR + 1 : 0) + 4, "");
	hlg_escape_print(w->f, line->file);
	if (line->source_line > 0)
		fprintf(w->f, ":%d\n", line->source_line);
	else
		fputs(":?\n", w->f);
}

static void put_lines(const struct writer *w, const struct hlg_listing *l)
{
	const struct hlg_line *in = NULL, *shown = NULL;
	double most = l->n_hot ? l->lines[l->hot[0]].share : 0;

	for (size_t i = 0; i < l->n; i++) {
		const struct hlg_line *line = &l->lines[i];

		if (line->file && line->kind == HLG_LINE_INSN) {
			put_source(w, line, shown);
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

	fprintf(w->f,
		"%10s %10" PRIu64 " %16" PRIu64
		"    sum, as in the report's row: %" PRIu64
		" where instructions begin, %" PRIu64 " inside of one, %" PRIu64
		" elsewhere\n\n",
		row->count.samples ? "100.00 %" : "0.00 %", row->count.samples,
		row->count.period, l->on.samples, l->inside.samples, l->plain.samples);
}

static void put_listing(void *ctx, const struct hlg_listing *l,
			const struct hlg_view *view, const char *series)
{
	const struct writer *w = ctx;

	put_head(w, l, view, series);
	fprintf(w->f, "%10s %10s %16s ", "share", "samples", "period");
	if (w->colours->on)
		fprintf(w->f, "%-*s ", BAR, "heat");
	fprintf(w->f, "   %8s   %s\n", "address", "instruction");
	put_lines(w, l);
	put_sum(w, l);
}

int hlg_annotate_text(void *annotate, FILE *f, struct hlg_err *err)
{
	const struct hlg_annotate *a = annotate;
	struct writer w = {f, &a->report->colours};

	hlg_text_lines_head(f, a->report);
	if (a->report->suppressed)
		fputs("instructions are withheld, because the samples do not fit "
		      "(force=yes shows them)\n",
		      f);
	return hlg_listing_each(a, put_listing, &w, err);
}
