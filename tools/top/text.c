// SPDX-License-Identifier: GPL-2.0-only
#include "tools/top/text.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "config.h"
#include "filter/output/memstream.h"
#include "filter/view/place-name.h"
#include "filter/write/table.h"
#include "filter/write/text-head.h"
#include "filter/write/text-line.h"
#include "symtab/escape.h"

#define SECOND UINT64_C(1000000000)

enum {
	LIVE = 78,  /* columns of the line of what goes on, */
	EXITS = 22, /* and of exits behind it, */
	SINCE = 8,  /* and of what it is since */
	WIDE = 64,  /* columns from which on a table has margins; */
	WIDER = 72, /* and samples */
	APART = 24, /* of what tells rows of one name apart, */
	NAME = 12   /* and of the name at least that it stands behind */
};

static double rate(uint64_t n, uint64_t ns)
{
	return ns ? (double)n * (double)SECOND / (double)ns : 0;
}

/* "0:12", "1:02:03". */
static void put_time(FILE *f, uint64_t ns)
{
	uint64_t s = ns / SECOND;

	if (s >= 3600)
		fprintf(f, "%" PRIu64 ":%02" PRIu64 ":%02" PRIu64, s / 3600, s / 60 % 60,
			s % 60);
	else
		fprintf(f, "%" PRIu64 ":%02" PRIu64, s / 60, s % 60);
}

/* A clock without how often and of whom it samples; others as they are. */
static int plain_length(const char *event)
{
	bool clock = strncmp(event, "cpu-clock", 9) == 0 ||
		     strncmp(event, "task-clock", 10) == 0;

	return (int)(clock ? strcspn(event, ":/") : strlen(event));
}

/* What is sampled by, i from 0 on; NULL past the last. */
static const char *event_at(const struct hlg_top_shown *shown, uint32_t i)
{
	const struct hlg_profile *p = shown->profile;

	for (uint32_t k = 0; p && k < p->n_events; k++)
		if (p->events[k].kind != HLG_EVENT_TRACEPOINT && i-- == 0)
			return p->events[k].name;
	return p || i ? NULL : shown->event;
}

static void put_event(FILE *f, const struct hlg_top_shown *shown)
{
	char event[40];
	uint32_t n = 0;

	hlg_escape_cut(event, sizeof(event), shown->event ? shown->event : "");
	while (event_at(shown, n))
		n++;
	if (n > 1)
		fprintf(f, "  %" PRIu32 " events", n);
	else if (event[0])
		fprintf(f, "  %.*s", plain_length(event), event);
}

/* In a second, of late. */
static void put_exits(FILE *f, const struct hlg_top_shown *shown)
{
	const struct hlg_top_sums *recent = &shown->rows->sums[HLG_TOP_RECENT];
	uint64_t took = shown->rows->took[HLG_TOP_RECENT];

	if (shown->sums.exits)
		fprintf(f, "  exits %.0f/s", rate(recent->exits, took));
	else /* a KVM that tells no other */
		fprintf(f, "  exits to VMM %.0f/s", rate(recent->vmm_exits, took));
}

bool hlg_top_text_is_narrow(const struct hlg_top_shown *shown)
{
	unsigned columns = shown->screen.columns, needed = LIVE;

	needed += shown->exits ? EXITS : 0;
	needed += shown->zeroed ? SINCE : 0;
	return columns && columns < needed;
}

void hlg_top_text_live(FILE *f, const struct hlg_top_shown *shown)
{
	const struct hlg_top_sums *s = &shown->sums;
	struct hlg_count guest = hlg_top_window_guest(s);
	const bool narrow = hlg_top_text_is_narrow(shown);

	put_time(f, shown->took);
	if (shown->zeroed) /* the check is of all */
		fputs(" since z", f);
	if (!narrow)
		put_event(f, shown);
	fprintf(f, "  %" PRIu64 "%s sample%s", guest.samples, narrow ? "" : " guest",
		guest.samples == 1 ? "" : "s");
	if (shown->rows) {
		const struct hlg_top_sums *recent = &shown->rows->sums[HLG_TOP_RECENT];

		fprintf(f, " (%.0f/s)",
			rate(hlg_top_window_guest(recent).samples,
			     shown->rows->took[HLG_TOP_RECENT]));
	}
	if (s->host.samples > s->traced)
		fprintf(f, "  host %ld %%",
			lround(100 * hlg_interval_part_share(s->host.samples - s->traced,
							     guest.samples)));
	fprintf(f, "  lost %" PRIu64, s->lost);
	if (shown->rows && shown->exits)
		put_exits(f, shown);
}

/* Does it begin with these words, which may stand on several lines? */
static bool begins(const char *at, const char *words)
{
	for (; *words; words++) {
		size_t blanks = strspn(at, " \n");

		if (*words == ' ' ? blanks == 0 : *at != *words)
			return false;
		at += *words == ' ' ? blanks : 1;
	}
	return true;
}

/* What report's head says of all samples, and not of each that comes, from a line on to
 * the end of those that go on. Stacks come two rounds later than samples, so that some
 * lack callers is always so. */
static bool is_kept(const char *line, const char *end)
{
	for (const char *at = line; at < end; at++)
		if (begins(at, "of the samples lack callers"))
			return false;
	return begins(line, "guest ") || begins(line, "check ") || begins(line, "!! ") ||
	       begins(line, "warning: ");
}

/* Behind a line and those that go on with it. */
static const char *end_of(const char *line)
{
	do
		line += strcspn(line, "\n") + 1;
	while (line[-1] && *line == ' ');
	return line[-1] ? line : line - 1;
}

void hlg_top_text_head(FILE *f, const struct hlg_top_shown *shown)
{
	struct hlg_report report;
	struct hlg_memstream m;
	const char *end;
	char *text;

	if (!shown->judged) {
		hlg_text_line_wrap(f, &shown->screen, "check     ",
				   shown->waits ? shown->waits
						: "no guest sample so far: does a "
						  "guest run?");
		return;
	}
	report = shown->judged->report;
	report.screen = shown->screen;
	if (hlg_memstream_open(&m))
		hlg_text_head_write(m.f, &report);
	text = hlg_memstream_close(&m);
	for (const char *line = text; line && *line; line = end) {
		end = end_of(line);
		if (is_kept(line, end))
			fwrite(line, 1, (size_t)(end - line), f);
	}
	free(text);
}

static bool has_margins(const struct hlg_top_shown *shown)
{
	return shown->screen.columns == 0 || shown->screen.columns >= WIDE;
}

static bool has_samples(const struct hlg_top_shown *shown)
{
	return shown->screen.columns == 0 || shown->screen.columns >= WIDER;
}

/* "last 10 s", or as long as there was something so far. */
static void recent_word(char buf[static 32], const struct hlg_top_shown *shown)
{
	uint64_t took = shown->rows ? shown->rows->took[HLG_TOP_RECENT] : 0;
	uint64_t tenths = (took + SECOND / 20) / (SECOND / 10);

	if (shown->window < 2 * SECOND)
		snprintf(buf, 32, "%" PRIu64 ".%" PRIu64 " s", tenths / 10, tenths % 10);
	else
		snprintf(buf, 32, "%" PRIu64 " s", (tenths + 5) / 10);
}

void hlg_top_text_headings(FILE *f, const struct hlg_top_shown *shown)
{
	const struct hlg_top_judged *judged = shown->judged;
	char recent[32];

	recent_word(recent, shown);
	fprintf(f, "%8s ", recent);
	if (has_margins(shown))
		fprintf(f, "    95 %%");
	fprintf(f, "%9s", shown->zeroed ? "since z" : "start");
	if (has_samples(shown))
		fprintf(f, "   samples");
	fprintf(f, "  %s",
		judged && judged->report.suppressed ? "guest address" : "function");
}

/* " ± 1.66", " < 0.30": as report has it. */
static void put_margin(FILE *f, const struct hlg_row *row, bool ascii)
{
	char margin[24];

	hlg_interval_margin(margin, &row->share, row->few, ascii);
	fprintf(f, "%s%s", margin[0] == '+' ? "" : " ", margin);
}

/* What tells rows of one name apart, as report has it: "  (0x4010)  [guest.elf]"; to be
 * freed, NULL without memory. */
static char *remark_of(const struct hlg_top_shown *shown, const struct hlg_row *row)
{
	const bool files = shown->judged->report.space->n_images > 1 && row->place.image;
	struct hlg_memstream m;
	FILE *f = hlg_memstream_open(&m);

	if (!f)
		return NULL;
	if (row->apart) {
		fputs("  (", f);
		hlg_table_cut(f, row->apart, APART, shown->screen.ascii);
		fputc(')', f);
	}
	if (files) {
		fputs("  [", f);
		hlg_table_cut(f, hlg_image_short_name(row->place.image), APART,
			      shown->screen.ascii);
		fputc(']', f);
	}
	return hlg_memstream_close(&m);
}

/* A name within so many columns (0: any), and the remark behind it, if that leaves the
 * name NAME columns. */
static void put_name(FILE *f, const struct hlg_top_shown *shown,
		     const struct hlg_row *row, size_t columns)
{
	char *remark = remark_of(shown, row);
	size_t cells = remark ? hlg_table_cells(remark) : 0;

	if (columns && columns < cells + NAME)
		cells = 0;
	hlg_table_cut(f, row->name, columns ? (long)(columns - cells) : 1000,
		      shown->screen.ascii);
	if (cells)
		fputs(remark, f);
	free(remark);
}

void hlg_top_text_row(FILE *f, const struct hlg_top_shown *shown,
		      const struct hlg_top_row *row)
{
	const struct hlg_screen *screen = &shown->screen;
	size_t used = 18;
	char percent[16];

	if (row->recent)
		fprintf(f, "%6s %% ",
			hlg_interval_percent(percent, row->recent->share.share));
	else
		fprintf(f, "%6s   ", "-");
	if (has_margins(shown)) {
		if (row->recent)
			put_margin(f, row->recent, screen->ascii);
		else
			fprintf(f, "%7s", "");
		fputc(' ', f);
		used += 8;
	}
	fprintf(f, "%6s %%", hlg_interval_percent(percent, row->since->share.share));
	if (has_samples(shown)) {
		fprintf(f, "%10" PRIu64, row->since->count.samples);
		used += 10;
	}
	fputs("  ", f);
	used += 2;
	put_name(f, shown, row->since,
		 screen->columns > used + 8 ? screen->columns - used : 0);
}

/* Where all samples are. */
static void put_sums(FILE *f, const struct hlg_top_shown *shown)
{
	const struct hlg_top_sums *s = &shown->rows->sums[HLG_TOP_SINCE];
	const struct hlg_view *v = &shown->rows->since;

	fprintf(f,
		"accounted %" PRIu64 " sample%s = %" PRIu64 " guest + %" PRIu64 " host",
		s->seen.samples, s->seen.samples == 1 ? "" : "s", v->guest.samples,
		s->host.samples - s->traced);
	if (s->traced)
		fprintf(f, " + %" PRIu64 " tracepoint hit%s", s->traced,
			s->traced == 1 ? "" : "s");
	fprintf(f, "; guest = %" PRIu64 " in rows", v->kept.samples);
	if (v->border.samples)
		fprintf(f, " + %" PRIu64 " at VM exits", v->border.samples);
	fputc('\n', f);
}

void hlg_top_text_table(FILE *f, const struct hlg_top_shown *shown, uint64_t n)
{
	const struct hlg_top_rows *rows = shown->rows;

	fputs("live      ", f);
	hlg_top_text_live(f, shown);
	fputc('\n', f);
	hlg_top_text_head(f, shown);
	if (rows) {
		fputc('\n', f);
		hlg_top_text_headings(f, shown);
		fputc('\n', f);
		for (size_t i = 0; i < rows->n && (n == 0 || i < n); i++) {
			hlg_top_text_row(f, shown, &rows->rows[i]);
			fputc('\n', f);
		}
		if (n && rows->n > n)
			fprintf(f, "%*s(%zu more row%s: --top=0)\n",
				has_samples(shown)   ? 38
				: has_margins(shown) ? 28
						     : 20,
				"", (size_t)(rows->n - n), rows->n - n == 1 ? "" : "s");
		put_sums(f, shown);
	}
	fputc('\n', f);
}

#if HLG_HAVE_JANSSON
#include "filter/write/json.h"

static json_t *json_of(const struct hlg_row *row)
{
	json_t *object = json_object();

	hlg_json_put_count(object, row ? row->count : (struct hlg_count){0, 0});
	if (row)
		hlg_json_put_share(object, &row->share);
	return object;
}

static json_t *json_row(const struct hlg_top_row *row)
{
	json_t *object = json_object();
	const struct hlg_place *place = &row->since->place;

	json_object_set_new(object, "name", hlg_json_text(row->since->name));
	json_object_set_new(object, "kind",
			    hlg_json_text(row->since->border
						  ? "vm exit"
						  : hlg_place_name_kind(place->kind)));
	json_object_set_new(
		object, "file",
		hlg_json_text(place->image ? hlg_image_word(place->image) : NULL));
	json_object_set_new(object, "address", hlg_json_hex(place->start));
	json_object_set_new(object, "recent", json_of(row->recent));
	json_object_set_new(object, "since", json_of(row->since));
	return object;
}

static json_t *json_sums(const struct hlg_top_sums *sums, uint64_t took)
{
	json_t *object = json_object();

	json_object_set_new(object, "ns", hlg_json_number(took));
	json_object_set_new(object, "seen", hlg_json_count(sums->seen));
	json_object_set_new(object, "guest", hlg_json_count(hlg_top_window_guest(sums)));
	json_object_set_new(object, "host", hlg_json_count(sums->host));
	json_object_set_new(object, "deselected", hlg_json_count(sums->deselected));
	json_object_set_new(object, "lost", hlg_json_number(sums->lost));
	json_object_set_new(object, "traced", hlg_json_number(sums->traced));
	json_object_set_new(object, "exits", hlg_json_number(sums->exits));
	json_object_set_new(object, "vmm_exits", hlg_json_number(sums->vmm_exits));
	return object;
}

int hlg_top_text_json(FILE *f, const struct hlg_top_shown *shown, struct hlg_err *err)
{
	const struct hlg_top_rows *rows = shown->rows;
	json_t *root, *list, *events;
	const char *event;
	int rc;

	hlg_json_watch_begin();
	root = json_object();
	list = json_array();
	events = json_array();
	for (uint32_t i = 0; (event = event_at(shown, i)); i++)
		json_array_append_new(events, hlg_json_text(event));
	json_object_set_new(root, "hlguest", hlg_json_text(HLG_VERSION));
	json_object_set_new(root, "format", hlg_json_number(1));
	json_object_set_new(root, "event", hlg_json_text(shown->event));
	json_object_set_new(root, "events", events);
	json_object_set_new(root, "start", json_sums(&shown->sums, shown->took));
	if (rows) {
		json_object_set_new(root, "recent",
				    json_sums(&rows->sums[HLG_TOP_RECENT],
					      rows->took[HLG_TOP_RECENT]));
		json_object_set_new(root, "verdict",
				    hlg_json_text(hlg_verdict_word(
					    shown->judged->report.trust.all.verdict)));
		json_object_set_new(root, "suppressed",
				    json_boolean(shown->judged->report.suppressed));
	}
	for (size_t i = 0; rows && i < rows->n; i++)
		json_array_append_new(list, json_row(&rows->rows[i]));
	json_object_set_new(root, "rows", list);
	rc = hlg_json_dump(f, root, "top", err);
	json_decref(root);
	return rc;
}
#else
int hlg_top_text_json(FILE *f, const struct hlg_top_shown *shown, struct hlg_err *err)
{
	(void)f, (void)shown;
	return hlg_err_set(err, HLG_EINPUT,
			   "json: not in this build (install libjansson-dev and build "
			   "again)");
}
#endif
