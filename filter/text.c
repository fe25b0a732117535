// SPDX-License-Identifier: GPL-2.0-only
/* The report for people: header, sums, notes, function and region tables. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "../symtab/base.h"
#include "../symtab/escape.h"
#include "config.h"
#include "format.h"
#include "trust-text.h"
#include "write.h"

enum {
	REGION_BAR = 20, /* cells */
	ROW_BAR = 10     /* on a terminal only */
};

static const char *machine_name(const struct hlg_image *image)
{
	if (image->map)
		return "perf map";
	return image->elf.machine == EM_AARCH64 ? "AArch64" : "x86-64";
}

static void write_image(FILE *f, const struct hlg_report *r,
			const struct hlg_image *image)
{
	char from[96];

	fputs("image    ", f);
	hlg_escape_print(f, image->path);
	fprintf(f, "  (%s, %zu symbol%s", machine_name(image), image->tab.n_syms,
		image->tab.n_syms == 1 ? "" : "s");
	if (!image->map)
		fprintf(f, " from %s", image->elf.dynsym ? ".dynsym" : ".symtab");
	fputs(")\n", f);
	if (image->elf.build_id[0])
		fprintf(f, "         build id %s\n", image->elf.build_id);
	hlg_base_describe(image, from, sizeof(from));
	if (image->n_also)
		fprintf(f, "         %zu bases (", hlg_image_n_bases(image));
	else
		fprintf(f, "         base 0x%" PRIx64 " (", image->base);
	hlg_escape_print(f, from);
	fputs(")\n", f);
	hlg_trust_text_bases(f, r, image);
}

static const char *weight_words(const struct hlg_report *r)
{
	if (r->options->weight == HLG_WEIGHT_SAMPLES)
		return "samples";
	if (r->all.weight == HLG_WEIGHT_SAMPLES)
		return "period within an event, samples over all";
	return "period";
}

static void write_header(FILE *f, const struct hlg_report *r)
{
	static const char *const gaps[] = {"retag: rows of their own", "drop: left out",
					   "stretch: credited to the symbol before"};

	hlg_trust_text_shout(f, r);
	fprintf(f, "hlguest %s\n\n", HLG_VERSION);
	for (size_t i = 0; i < r->space->n_images; i++)
		write_image(f, r, r->space->images[i]);
	for (uint32_t i = 0; i < r->n_events; i++) {
		const struct hlg_event *event = &r->profile->events[r->events[i].event];

		fputs("event    ", f);
		hlg_escape_print(f, event->name);
		fprintf(f,
			"  (precise_ip %u, %" PRIu64 " guest sample%s, period %" PRIu64
			")\n",
			event->precise_ip, r->events[i].count.samples,
			r->events[i].count.samples == 1 ? "" : "s",
			r->events[i].count.period);
	}
	fprintf(f, "weight   %s\n", weight_words(r));
	fprintf(f, "gaps     %s\n", gaps[r->options->gaps]);
	hlg_trust_text_write(f, r);
	fputc('\n', f);
}

static void write_sum(FILE *f, const char *what, struct hlg_count count,
		      struct hlg_count of)
{
	char percent[16];
	double share = of.samples ? (double)count.samples / (double)of.samples : 0;

	fprintf(f, "%-16s %12" PRIu64 " %20" PRIu64 " %8s %%\n", what, count.samples,
		count.period, hlg_write_percent(percent, share));
}

static void write_sums(FILE *f, const struct hlg_report *r)
{
	const struct hlg_profile *p = r->profile;
	const struct hlg_view *v = &r->all;
	struct hlg_count unlabelled = v->kinds[HLG_GAP];

	hlg_count_sub(&unlabelled, v->padding);
	fprintf(f, "%-16s %12s %20s %10s\n", "", "samples", "period", "share");
	write_sum(f, "seen", p->seen, p->seen);
	write_sum(f, "  deselected", p->deselected, p->seen);
	write_sum(f, "  host", p->host, p->seen);
	write_sum(f, "  guest", v->guest, p->seen);
	write_sum(f, "    function", v->kinds[HLG_FUNCTION], v->guest);
	write_sum(f, "    label", v->kinds[HLG_LABEL], v->guest);
	write_sum(f, "    gap", v->kinds[HLG_GAP], v->guest);
	write_sum(f, "      padding", v->padding, v->guest);
	write_sum(f, "      unlabelled", unlabelled, v->guest);
	write_sum(f, "    data", v->kinds[HLG_DATA], v->guest);
	write_sum(f, "    outside", v->kinds[HLG_OUTSIDE], v->guest);
	if (v->dropped.samples)
		write_sum(f, "  dropped gaps", v->dropped, v->guest);
	fputc('\n', f);
}

static void write_notes(FILE *f, const struct hlg_report *r)
{
	for (size_t i = 0; i < r->n_notes; i++) {
		fputs("note: ", f);
		hlg_escape_print(f, r->notes[i]);
		fputc('\n', f);
	}
	if (r->n_notes)
		fputc('\n', f);
}

static void write_share(FILE *f, const struct hlg_paint *paint,
			const struct hlg_share *share, bool unsure)
{
	char percent[16], low[16], high[16];

	hlg_paint_begin(f, paint, share->share);
	fprintf(f, "%8s %%", hlg_write_percent(percent, share->share));
	hlg_paint_end(f, paint, share->share);
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
	write_share(f, &r->paint, &row->share, row->unsure);
	fprintf(f, " %10" PRIu64 " %16" PRIu64, row->count.samples, row->count.period);
	if (row->place.kind == HLG_OUTSIDE)
		fprintf(f, " %8s  ", "-");
	else
		fprintf(f, " %8" PRIu64 "  ", row->place.end - row->place.start);
	if (r->options->skid)
		write_edge(f, row);
	if (r->paint.on) {
		hlg_paint_bar(f, &r->paint, row->share.share, most, ROW_BAR);
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
	if (r->paint.on)
		fprintf(f, "%-*s  ", ROW_BAR, "heat");
	fprintf(f, "%s\n", r->withheld ? "guest address" : "function");
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
	double total = (double)hlg_weigh(v->weight, region->count);

	for (size_t i = 0; i < region->n_parts && i < SHOWN; i++) {
		const struct hlg_part *part = &v->parts[region->first_part + i];
		double w = (double)hlg_weigh(v->weight, part->count);

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
	write_share(f, &r->paint, &region->share, false);
	fprintf(f, " %10" PRIu64 "  ", region->count.samples);
	hlg_paint_bar(f, &r->paint, region->share.share, v->regions[0].share.share,
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
		r->withheld ? "guest" : "own");
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
	const char *verdict = hlg_trust_word(file->fit.verdict);
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

	write_header(f, r);
	write_sums(f, r);
	write_notes(f, r);
	write_files(f, r);
	rc = hlg_write_views(f, r, write_view, err);
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
