// SPDX-License-Identifier: GPL-2.0-only
/* The report for people: function and region tables, files, the host, behind its head. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "filter/write/callgraph-sums.h"
#include "filter/write/format.h"
#include "filter/write/text-head.h"
#include "filter/write/write.h"
#include "symtab/escape.h"

/* Cells; of rows on a terminal only. */
enum {
	REGION_BAR = 20,
	ROW_BAR = 10
};

static void write_share(FILE *f, const struct hlg_colour *colours,
			const struct hlg_share *share, bool unsure)
{
	char percent[16], low[16], high[16];

	hlg_colour_begin(f, colours, share->share);
	fprintf(f, "%8s %%", hlg_write_percent(percent, share->share));
	hlg_colour_end(f, colours, share->share);
	fprintf(f, " %c%6s - %6s", unsure ? '~' : ' ', hlg_write_percent(low, share->low),
		hlg_write_percent(high, share->high));
}

static void write_aliases(FILE *f, const struct hlg_report *r,
			  const struct hlg_place *place)
{
	size_t n;
	const struct hlg_symbol *first =
		hlg_image_aliases(place->image, place->symbol, &n);

	if (!r->options->aliases) {
		if (n > 1)
			fprintf(f, "  (+%zu alias%s)", n - 1, n > 2 ? "es" : "");
		return;
	}
	for (size_t i = 0; i < n; i++) {
		if (&first[i] == place->symbol)
			continue;
		fputs(" = ", f);
		hlg_escape_print(f, hlg_image_name(place->image, &first[i]));
	}
}

/* What the name alone does not say. */
static void write_remark(FILE *f, const struct hlg_report *r, const struct hlg_row *row)
{
	if (row->place.symbol)
		write_aliases(f, r, &row->place);
	if (row->place.kind == HLG_LABEL)
		fputs("  (label)", f);
	if (row->place.kind == HLG_GAP && row->padding.samples == 0)
		fputs("  (unlabelled code)", f);
	else if (row->place.kind == HLG_GAP && row->padding.samples == row->count.samples)
		fputs("  (padding)", f);
	else if (row->place.kind == HLG_GAP)
		fprintf(f, "  (%" PRIu64 " in padding)", row->padding.samples);
	if (r->space->n_images > 1 && row->place.image) {
		fputs("  [", f);
		hlg_escape_print(f, row->place.image->path);
		fputc(']', f);
	}
}

static void write_edge(FILE *f, const struct hlg_row *row)
{
	double samples = (double)row->count.samples;
	char percent[16];

	if (row->edge_known)
		fprintf(f, "%6s  ",
			hlg_write_percent(percent, (double)row->edge / samples));
	else
		fprintf(f, "%6s  ", "-");
}

/* most is the largest share of a row, for the bar. */
static void write_row(FILE *f, const struct hlg_report *r, const struct hlg_row *row,
		      double most)
{
	write_share(f, &r->colours, &row->share, row->unsure);
	fprintf(f, " %10" PRIu64 " %16" PRIu64, row->count.samples, row->count.period);
	if (row->place.kind == HLG_OUTSIDE)
		fprintf(f, " %8s  ", "-");
	else
		fprintf(f, " %8" PRIu64 "  ", row->place.end - row->place.start);
	if (r->options->skid)
		write_edge(f, row);
	if (r->colours.on) {
		hlg_colour_bar(f, &r->colours, row->share.share, most, ROW_BAR);
		fputs("  ", f);
	}
	hlg_escape_print(f, row->name);
	write_remark(f, r, row);
	fputc('\n', f);
}

/* "... and 12 more, 1.03 %" for what top= and min= cut off. */
static void write_rest(FILE *f, size_t n, double rest)
{
	char percent[16];

	if (n)
		fprintf(f, "     ... and %zu more, %s %%\n", n,
			hlg_write_percent(percent, rest));
}

static void write_rows(FILE *f, const struct hlg_report *r, const struct hlg_view *v)
{
	size_t shown = hlg_report_shown(r, v->n_rows, hlg_report_row_share, v);
	bool unsure = false;
	double rest = 0;

	fprintf(f, "%10s  %15s %10s %16s %8s  ", "overhead", "95 % interval", "samples",
		"period", "size");
	if (r->options->skid)
		fputs("edge %  ", f);
	if (r->colours.on)
		fprintf(f, "%-*s  ", ROW_BAR, "heat");
	fprintf(f, "%s\n", r->suppressed ? "guest address" : "function");
	for (size_t i = 0; i < shown; i++) {
		write_row(f, r, &v->rows[i], v->rows[0].share.share);
		unsure |= v->rows[i].unsure;
	}
	for (size_t i = shown; i < v->n_rows; i++)
		rest += v->rows[i].share.share;
	write_rest(f, v->n_rows - shown, rest);
	if (unsure)
		fputs("         ~ the order of this row and the next is not "
		      "established\n",
		      f);
	fputc('\n', f);
}

static void write_parts(FILE *f, const struct hlg_view *v,
			const struct hlg_region *region)
{
	enum {
		SHOWN = 3
	};
	double total = (double)hlg_count_weigh(v->weight, region->count);

	for (size_t i = 0; i < region->n_parts && i < SHOWN; i++) {
		const struct hlg_region_part *part = &v->parts[region->first_part + i];
		double w = (double)hlg_count_weigh(v->weight, part->count);

		fputs(i ? ", " : "", f);
		hlg_escape_print(f, v->rows[part->row].name);
		fprintf(f, " %ld%%", total > 0 ? lround(100 * w / total) : 0);
	}
	if (region->n_parts > SHOWN)
		fprintf(f, ", %zu more", region->n_parts - SHOWN);
}

static void write_region(FILE *f, const struct hlg_report *r, const struct hlg_view *v,
			 const struct hlg_region *region)
{
	write_share(f, &r->colours, &region->share, false);
	fprintf(f, " %10" PRIu64 "  ", region->count.samples);
	hlg_colour_bar(f, &r->colours, region->share.share, v->regions[0].share.share,
		       REGION_BAR);
	fprintf(f, "  0x%" PRIx64 "-0x%" PRIx64 "  ", region->addr,
		region->addr + (r->options->region - 1));
	if (r->space->n_images > 1 && region->image) {
		fputc('[', f);
		hlg_escape_print(f, region->image->path);
		fputs("] ", f);
	}
	write_parts(f, v, region);
	fputc('\n', f);
}

static void write_regions(FILE *f, const struct hlg_report *r, const struct hlg_view *v)
{
	size_t shown = hlg_report_shown(r, v->n_regions, hlg_report_region_share, v);
	double rest = 0;

	if (!v->n_regions)
		return;
	fprintf(f, "%10s  %15s %10s  %-*s  region (%s addresses) and what is in it\n",
		"overhead", "95 % interval", "samples", REGION_BAR, "heat",
		r->suppressed ? "guest" : "own");
	for (size_t i = 0; i < shown; i++)
		write_region(f, r, v, &v->regions[i]);
	for (size_t i = shown; i < v->n_regions; i++)
		rest += v->regions[i].share.share;
	write_rest(f, v->n_regions - shown, rest);
	fputc('\n', f);
}

static void write_view(void *f, const struct hlg_report *r, const struct hlg_view *v,
		       const char *of)
{
	if (of) {
		fputs("== ", f);
		hlg_escape_print(f, of);
		fprintf(f, " (%" PRIu64 " guest sample%s)\n\n", v->guest.samples,
			v->guest.samples == 1 ? "" : "s");
	}
	if (!v->n_rows)
		return;
	write_rows(f, r, v);
	write_regions(f, r, v);
}

static void write_host_row(void *f, const struct hlg_host_row *row, uint64_t weight,
			   double share, const char *series)
{
	char percent[16];

	(void)weight;
	fprintf(f, "%8s %% %10" PRIu64 " %16" PRIu64 "  ",
		hlg_write_percent(percent, share), row->count.samples, row->count.period);
	hlg_escape_print(f, row->comm);
	fputs(" (", f);
	hlg_escape_print(f, row->dso);
	fputc(')', f);
	if (series) {
		fputs("  ", f);
		hlg_escape_print(f, series);
	}
	fputc('\n', f);
}

static void write_file(FILE *f, const struct hlg_report_file *file)
{
	double all = (double)file->samples;
	const char *verdict = hlg_verdict_word(file->fit.verdict);
	char percent[16], base[32] = "-";

	if (file->fit.n_bases > 1)
		snprintf(base, sizeof(base), "%zu bases", file->fit.n_bases);
	else if (file->fit.n_bases)
		snprintf(base, sizeof(base), "0x%" PRIx64, file->fit.base);
	/* "too few samples to tell" is long for a column. */
	fprintf(f, "%12" PRIu64 " %12" PRIu64 " %8s %% %10" PRIu64 "  %-18s %-10.*s ",
		file->samples, file->guest,
		hlg_write_percent(percent, all > 0 ? (double)file->guest / all : 0),
		file->lost, base, file->fit.verdict == HLG_TRUST_TOO_FEW ? 7 : 10,
		verdict);
}

static void write_files(FILE *f, const struct hlg_report *r)
{
	if (r->n_files < 2)
		return;
	fprintf(f, "%12s %12s %10s %10s  %-18s %-10s %s\n", "samples", "guest", "share",
		"lost", "base", "trust", "file");
	for (size_t i = 0; i < r->n_files; i++) {
		const struct hlg_report_file *file = &r->files[i];

		if (file->problem)
			fprintf(f, "%12s %12s %10s %10s  %-18s %-10s ", "-", "-", "-",
				"-", "-", "-");
		else
			write_file(f, file);
		hlg_escape_print(f, file->path);
		fputs(file->problem ? "  (not read)\n" : "\n", f);
	}
	fputc('\n', f);
}

int hlg_write_text(FILE *f, const struct hlg_report *r, struct hlg_err *err)
{
	size_t shown = hlg_write_host_shown(r);
	int rc;

	hlg_text_head(f, r);
	rc = hlg_callgraph_text(f, r, err);
	write_files(f, r);
	rc = rc < 0 ? rc : hlg_write_views(f, r, write_view, err);
	if (rc < 0 || r->options->mode == HLG_SHOW_GUEST)
		return rc;
	fprintf(f, "%10s %10s %16s  %s\n", "of host", "samples", "period",
		"process (mapping)");
	rc = hlg_write_host(f, r, write_host_row, err);
	if (shown < r->host->n_rows)
		fprintf(f, "     ... and %zu more\n", r->host->n_rows - shown);
	fputc('\n', f);
	return rc;
}
