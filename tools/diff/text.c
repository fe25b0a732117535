// SPDX-License-Identifier: GPL-2.0-only
/* The comparison for people: both sides, how they were compared, then the rows. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "config.h"
#include "filter/write/write.h"
#include "symtab/escape.h"
#include "symtab/image/base.h"
#include "tools/diff/write.h"

#define INDENT "         "

const char *hlg_diff_points(char buf[static 16], double share)
{
	long hundredths = lround(share * 10000), size = labs(hundredths) % 10000000;

	snprintf(buf, 16, "%c%ld.%02ld", hundredths < 0 ? '-' : '+', size / 100,
		 size % 100);
	return buf;
}

bool hlg_diff_shows(const struct hlg_diff *diff, const struct hlg_diff_row *row,
		    size_t shown)
{
	const struct hlg_report *r = &diff->side[0].report;
	uint64_t top = hlg_report_top(r);
	double least = hlg_report_least(r);

	return (top == 0 || shown < top) &&
	       (row->share[0].share >= least || row->share[1].share >= least);
}

const char *hlg_diff_kind(const struct hlg_diff *diff, const struct hlg_diff_row *row)
{
	const struct hlg_place *place = hlg_diff_place(row, row->n[1] ? 1 : 0);

	return diff->withheld ? "address"
	       : place        ? hlg_write_kind(place->kind)
			      : "region";
}

static const char *plural(size_t n)
{
	return n == 1 ? "" : "s";
}

static void write_image(FILE *f, const struct hlg_image *image)
{
	char from[96];

	hlg_base_describe(image, from, sizeof(from));
	fputs(INDENT "image ", f);
	hlg_escape_print(f, image->path);
	if (image->n_also)
		fprintf(f, ", %zu bases (", hlg_image_n_bases(image));
	else
		fprintf(f, ", base 0x%" PRIx64 " (", image->base);
	hlg_escape_print(f, from);
	fputs(")\n", f);
	if (image->elf.build_id[0])
		fprintf(f, INDENT "      build id %s\n", image->elf.build_id);
}

static void write_side(FILE *f, const struct hlg_diff *diff, int s)
{
	enum {
		SHOWN = 10
	};
	const struct hlg_diff_side *side = &diff->side[s];
	const struct hlg_tested *tested = &side->report.trust.all;
	char percent[16];

	fprintf(f, "%-8s %zu recording%s, %" PRIu64 " guest sample%s, period %" PRIu64,
		s ? "after" : "before", side->n_runs, plural(side->n_runs),
		side->all.guest.samples, plural(side->all.guest.samples),
		side->all.guest.period);
	if (side->all.dropped.samples)
		fprintf(f, ", %" PRIu64 " dropped", side->all.dropped.samples);
	if (side->all.observations + 0.5 < (double)side->all.kept.samples)
		fprintf(f, " (%.0f effective)", side->all.observations);
	fputc('\n', f);
	for (size_t i = 0; i < side->n_runs && i < SHOWN; i++) {
		fputs(INDENT, f);
		hlg_escape_print(f, side->paths[i]);
		fputc('\n', f);
	}
	if (side->n_runs > SHOWN)
		fprintf(f, INDENT "... and %zu more\n", side->n_runs - SHOWN);
	for (size_t i = 0; i < side->space->n_images; i++)
		write_image(f, side->space->images[i]);
	fprintf(f, INDENT "trust %s", hlg_verdict_word(tested->verdict));
	if (tested->addrs.on + tested->addrs.off)
		fprintf(f, " (%s %% of samples on instruction boundaries)",
			hlg_write_percent(percent, tested->by_samples.share));
	fputc('\n', f);
}

static void write_header(FILE *f, const struct hlg_diff *diff)
{
	for (int s = 0; s < 2; s++) {
		if (!diff->side[s].report.banner)
			continue;
		fprintf(f, "!! %s: ", s ? "after" : "before");
		hlg_escape_print(f, diff->side[s].report.banner);
		fputs("\n\n", f);
	}
	fprintf(f, "hlguest %s\n\n", HLG_VERSION);
	write_side(f, diff, 0);
	write_side(f, diff, 1);
	fprintf(f,
		"matched  %s\nshares   %s\ntest     %s\n" INDENT
		"* significant: q <= %g %%, the false discovery rate over all rows "
		"of a table\n" INDENT "(Benjamini-Hochberg); intervals are of 95 %%, "
		"each row's own\n\n",
		diff->matched, diff->shares, diff->test, 100 * HLG_COMPARE_LEVEL);
	for (size_t i = 0; i < diff->n_notes; i++) {
		fputs("note: ", f);
		hlg_escape_print(f, diff->notes[i]);
		fputc('\n', f);
	}
	if (diff->n_notes)
		fputc('\n', f);
}

static void write_change(FILE *f, const struct hlg_diff_row *row)
{
	double change = hlg_diff_growth(row);
	char buf[16];

	if (isinf(change))
		fprintf(f, " %9s", "from 0");
	else if (fabs(change) < 99.995)
		fprintf(f, " %7s %%", hlg_diff_points(buf, change));
	else
		fprintf(f, " %7.0f x", change + 1);
	if (row->q < 0.0001)
		fputs("  <0.0001  ", f);
	else
		fprintf(f, " %8.4f  ", row->q);
}

static void write_numbers(FILE *f, const struct hlg_diff_row *row,
			  const struct hlg_colour *colours)
{
	const struct hlg_compared *c = &row->compared;
	/* The colours of a large share and of a small one: red grew, green shrank. */
	double colour = !row->significant ? 0 : c->diff > 0 ? 1 : 0.01;
	char before[16], after[16], diff[16], low[16], high[16];

	hlg_colour_begin(f, colours, colour);
	fprintf(f, "%c %6s %% %6s %% %7s", row->significant ? '*' : ' ',
		hlg_write_percent(before, row->share[0].share),
		hlg_write_percent(after, row->share[1].share),
		hlg_diff_points(diff, c->diff));
	hlg_colour_end(f, colours, colour);
	fprintf(f, "  %7s to %7s", hlg_diff_points(low, c->low),
		hlg_diff_points(high, c->high));
	write_change(f, row);
}

/* What the name does not say. */
static void write_remark(FILE *f, const struct hlg_diff *diff,
			 const struct hlg_diff_row *row)
{
	const struct hlg_place *place = hlg_diff_place(row, row->n[1] ? 1 : 0);

	if (place->kind == HLG_LABEL)
		fputs("  (label)", f);
	if (row->n[0] > 1 || row->n[1] > 1)
		fprintf(f, "  (of this name: %zu before, %zu after)", row->n[0],
			row->n[1]);
	if (row->presence != HLG_DIFF_BOTH)
		fprintf(f, "  (%s)", hlg_diff_presence_word(row->presence));
	if (diff->images.n > 1 && place->image) {
		fputs("  [", f);
		hlg_escape_print(f, place->image->path);
		fputc(']', f);
	}
}

static void write_region(FILE *f, const struct hlg_diff *diff,
			 const struct hlg_diff_row *row)
{
	int s = row->n[1] ? 1 : 0;
	const struct hlg_view *view = &diff->side[s].all;
	const struct hlg_region *region = row->region[s];

	fprintf(f, "0x%" PRIx64 "-0x%" PRIx64 "  ", region->addr,
		region->addr + (diff->side[s].options->region - 1));
	if (diff->images.n > 1 && region->image) {
		fputc('[', f);
		hlg_escape_print(f, region->image->path);
		fputs("] ", f);
	}
	hlg_escape_print(f, view->rows[view->parts[region->first_part].row].name);
	if (region->n_parts > 1)
		fprintf(f, ", %zu more", region->n_parts - 1);
}

static void write_rows(FILE *f, const struct hlg_diff *diff,
		       const struct hlg_diff_rows *rows, const char *what,
		       const struct hlg_colour *colours)
{
	size_t shown = 0;

	if (!rows->n)
		return;
	fprintf(f, "  %8s %8s %7s  %18s %9s %8s  %s\n", "before", "after", "points",
		"95 % interval", "change", "q", what);
	for (size_t i = 0; i < rows->n; i++) {
		const struct hlg_diff_row *row = &rows->row[i];

		if (!hlg_diff_shows(diff, row, shown))
			continue;
		shown++;
		write_numbers(f, row, colours);
		if (rows == &diff->regions) {
			write_region(f, diff, row);
		} else {
			hlg_escape_print(f, hlg_diff_name(row));
			write_remark(f, diff, row);
		}
		fputc('\n', f);
	}
	if (shown < rows->n)
		fprintf(f, "     ... and %zu more\n", rows->n - shown);
	fprintf(f, "%zu row%s, %zu significant\n\n", rows->n, plural(rows->n),
		rows->n_significant);
}

void hlg_diff_text(FILE *f, const struct hlg_diff *diff, const struct hlg_colour *colours)
{
	write_header(f, diff);
	write_rows(f, diff, &diff->functions,
		   diff->withheld ? "guest address" : "function", colours);
	write_rows(f, diff, &diff->regions,
		   diff->withheld ? "region (guest addresses)"
				  : "region (own addresses), and most of what is in it",
		   colours);
}
