// SPDX-License-Identifier: GPL-2.0-only
#include "filter/write/text-details.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "config.h"
#include "filter/report/banner.h"
#include "filter/report/rows.h"
#include "filter/write/table.h"
#include "filter/write/text-callers.h"
#include "filter/write/text-line.h"
#include "filter/write/text-sums.h"
#include "symtab/escape.h"
#include "symtab/plural.h"

static void write_bases(FILE *f, const struct hlg_report *r,
			const struct hlg_image *image)
{
	enum {
		SHOWN = 40
	};
	const struct hlg_image_test *ti = hlg_trust_of(&r->trust, image);

	if (!ti || ti->n_bases < 2)
		return;
	for (size_t i = 0; i < ti->n_bases && i < SHOWN; i++) {
		fprintf(f, HLG_TEXT_INDENT "  0x%-16" PRIx64 " %12" PRIu64 " sample%s",
			ti->bases[i].base, ti->bases[i].count.samples,
			hlg_plural_s(ti->bases[i].count.samples));
		if (ti->bases[i].tid >= 0)
			fprintf(f, ", thread %" PRId32, ti->bases[i].tid);
		else if (hlg_profile_sandbox_of(ti->bases[i].tid) > 0)
			fprintf(f, ", sandbox %" PRId32,
				hlg_profile_sandbox_of(ti->bases[i].tid));
		fputc('\n', f);
	}
	if (ti->n_bases > SHOWN)
		fprintf(f, HLG_TEXT_INDENT "  ... and %zu more\n", ti->n_bases - SHOWN);
}

static void write_image(FILE *f, const struct hlg_report *r,
			const struct hlg_image *image)
{
	fputs("image     ", f);
	hlg_escape_print(f, image->path);
	if (!image->map)
		fprintf(f, ", symbols of %s", image->elf.dynsym ? ".dynsym" : ".symtab");
	fputc('\n', f);
	if (image->elf.build_id[0])
		fprintf(f, HLG_TEXT_INDENT "build id %s\n", image->elf.build_id);
	write_bases(f, r, image);
}

static void write_boundaries(FILE *f, const struct hlg_screen *screen, const char *what,
			     const struct hlg_boundaries *b,
			     const struct hlg_share *share)
{
	enum {
		WIDTH = 73 /* in columns, below each other */
	};
	const bool narrow = screen->lines && screen->columns < WIDTH;
	char percent[16], low[16], high[16], line[160];

	snprintf(line, sizeof(line), "%*" PRIu64 " of %*" PRIu64 " %*s %%  %6s - %6s",
		 narrow ? 0 : 10, b->on, narrow ? 0 : 10, b->on + b->off, narrow ? 0 : 8,
		 hlg_interval_percent(percent, share->share),
		 hlg_interval_percent(low, share->low),
		 hlg_interval_percent(high, share->high));
	fprintf(f, HLG_TEXT_INDENT "%-10s ", what);
	hlg_text_line_fold(f, screen, strlen(HLG_TEXT_INDENT) + 11, HLG_TEXT_INDENT,
			   line);
}

static void write_tested(FILE *f, const struct hlg_report *r)
{
	const struct hlg_tested *t = &r->trust.all;
	char line[96];
	const char *said = hlg_banner_said(line, r);

	fprintf(f, "check     %s", said);
	if (t->addrs.on + t->addrs.off == 0) {
		fputc('\n', f);
	} else {
		fprintf(f, "%s on instruction starts, with 99 %% intervals\n",
			strchr(said, ':') ? ";" : ":");
		write_boundaries(f, &r->screen, "samples", &t->samples, &t->by_samples);
		write_boundaries(f, &r->screen, "addresses", &t->addrs, &t->by_addrs);
		hlg_text_line_wrap(f, &r->screen, HLG_TEXT_INDENT,
				   "(the check is stricter than the rows, whose "
				   "intervals are of 95 %)");
	}
	snprintf(line, sizeof(line),
		 "%" PRIu64 " sample%s in functions and labels could not be tested",
		 t->samples.undecodable, t->samples.undecodable == 1 ? "" : "s");
	if (t->samples.undecodable)
		hlg_text_line_wrap(f, &r->screen, HLG_TEXT_INDENT, line);
	hlg_text_line_notes(f, &r->screen, &r->remarks, HLG_NOTE_DETAIL);
}

/* "(3 more rows, 0.87 %: --top=0)", as under the functions, behind so many. */
static void write_more_borders(FILE *f, const struct hlg_report *r, size_t shown)
{
	const struct hlg_view *v = &r->all;
	const size_t n = v->n_borders - shown;
	double rest = 0;
	char percent[16];

	if (!n || r->options->border == HLG_BORDER_DROP)
		return;
	for (size_t i = shown; i < v->n_borders; i++)
		rest += v->borders[i].share.share;
	fprintf(f, HLG_TEXT_INDENT "%*s(%zu more row%s, %s %%: --%s=0)\n", 20, "", n,
		hlg_plural_s(n), hlg_interval_percent(percent, rest),
		hlg_rows_shows(r, v->borders[shown].share.share, 0) ? "top" : "min");
}

/* The places of the border, and its share of the guest there. */
static void write_border(FILE *f, const struct hlg_report *r)
{
	static const char *const words[] = {"apart from the functions",
					    "in the functions", "left out"};
	enum {
		BEFORE = 30 /* cells in front of a name, which may have more room below */
	};
	const struct hlg_view *v = &r->all;
	const size_t shown = hlg_rows_borders_shown(r, v);
	char percent[16], *name;

	fprintf(f, "VM exits  %s\n", words[r->options->border]);
	for (size_t i = 0; i < shown; i++) {
		fprintf(f, HLG_TEXT_INDENT "%6s %%  %8" PRIu64 "  ",
			hlg_interval_percent(percent, v->borders[i].share.share),
			v->borders[i].count.samples);
		name = hlg_escape_dup(v->borders[i].name);
		if (!name) /* without memory */
			hlg_escape_print(f, v->borders[i].name);
		hlg_text_line_fold(f, &r->screen, BEFORE, HLG_TEXT_INDENT "  ",
				   name ? name : "");
		free(name);
	}
	write_more_borders(f, r, shown);
}

static void write_event(FILE *f, const struct hlg_report *r,
			const struct hlg_event_sum *of)
{
	const struct hlg_event *event = &r->profile->events[of->event];
	size_t before = strlen("event     ") + (size_t)hlg_table_cells(event->name);
	char line[96];

	snprintf(line, sizeof(line),
		 ", precise_ip %u, %" PRIu64 " sample%s, period %" PRIu64,
		 event->precise_ip, of->count.samples, hlg_plural_s(of->count.samples),
		 of->count.period);
	fputs("event     ", f);
	hlg_escape_print(f, event->name);
	hlg_text_line_fold(f, &r->screen, before, HLG_TEXT_INDENT, line);
}

static const char *weight_words(const struct hlg_report *r)
{
	if (r->options->weight == HLG_WEIGHT_SAMPLES)
		return "samples";
	if (r->all.weight == HLG_WEIGHT_SAMPLES)
		return "period within an event, samples over all events";
	return "period";
}

void hlg_text_details_write(FILE *f, const struct hlg_report *r)
{
	static const char *const gaps[] = {"separate rows", "left out",
					   "credited to the symbol before"};

	fputs("\nhlguest   " HLG_VERSION "\n", f);
	for (size_t i = 0; i < r->space->n_images; i++)
		write_image(f, r, r->space->images[i]);
	for (uint32_t i = 0; i < r->n_events; i++)
		write_event(f, r, &r->events[i]);
	fprintf(f, "percent   of %s%s\n", weight_words(r),
		r->all.border.samples ? ", without VM exits" : "");
	write_border(f, r);
	fprintf(f, "gaps      %s\n", gaps[r->options->gaps]);
	write_tested(f, r);
	hlg_text_callers_details(f, r);
	fputc('\n', f);
	hlg_text_sums_all(f, r);
}
