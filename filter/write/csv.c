// SPDX-License-Identifier: GPL-2.0-only
/*
 * CSV (RFC 4180, with '\n'): one header, then records `total`, `event`, `note`,
 * `stacks`, `trust`, `remark`, `function` (with labels and gaps), `other` (data, outside;
 * and guest addresses, when names are suppressed), `region`, `host`. A cell that a
 * spreadsheet would take for a formula gets a ' in front.
 */
#include <inttypes.h>
#include <string.h>

#include "filter/write/callgraph-sums.h"
#include "filter/write/format.h"
#include "filter/write/write.h"

/* The columns every record begins with. */
static void begin(FILE *f, const char *record, const char *series, const char *kind,
		  const char *name)
{
	fprintf(f, "%s,", record);
	if (series)
		hlg_write_cell(f, series);
	fprintf(f, ",%s,", kind);
	if (name)
		hlg_write_cell(f, name);
	fputc(',', f);
}

static void count(FILE *f, struct hlg_count c)
{
	fprintf(f, "%" PRIu64 ",%" PRIu64, c.samples, c.period);
}

static void share(FILE *f, const struct hlg_share *s)
{
	char percent[16], low[16], high[16];

	fprintf(f, ",%s,%s,%s", hlg_write_percent(percent, s->share),
		hlg_write_percent(low, s->low), hlg_write_percent(high, s->high));
}

/* A record that has nothing but a name and a count. */
static void write_count(FILE *f, const char *record, const char *name, struct hlg_count c)
{
	begin(f, record, NULL, "", name);
	fputs(",,,,,", f);
	count(f, c);
	fputs(",,,,,\n", f);
}

static void write_total(FILE *f, const char *name, struct hlg_count c)
{
	write_count(f, "total", name, c);
}

static void write_note(FILE *f, const char *record, const char *text)
{
	begin(f, record, NULL, "", text);
	fputs(",,,,,,,,,,,\n", f);
}

/* Shares of samples on boundaries; the verdict is the first record's kind. */
static void write_trust(FILE *f, const struct hlg_report *r)
{
	const struct hlg_tested *t = &r->trust.all;
	const struct hlg_share chance = {t->chance, t->chance, t->chance};

	begin(f, "trust", NULL, hlg_verdict_word(t->verdict), "on boundaries");
	fprintf(f, ",,,,,%" PRIu64 ",", t->samples.on);
	share(f, &t->by_samples);
	fputs(",,\n", f);
	begin(f, "trust", NULL, "", "off boundaries");
	fprintf(f, ",,,,,%" PRIu64 ",,,,,,\n", t->samples.off);
	begin(f, "trust", NULL, "", "not tested");
	fprintf(f, ",,,,,%" PRIu64 ",,,,,,\n", t->samples.undecodable);
	begin(f, "trust", NULL, "", "by chance");
	fputs(",,,,,,", f);
	share(f, &chance);
	fputs(",,\n", f);
	for (size_t i = 0; i < r->n_remarks; i++)
		write_note(f, "remark", r->remarks[i]);
}

static void write_totals(FILE *f, const struct hlg_report *r)
{
	const struct hlg_view *v = &r->all;

	write_total(f, "seen", r->profile->seen);
	write_total(f, "deselected", r->profile->deselected);
	write_total(f, "host", r->profile->host);
	write_total(f, "guest", v->guest);
	for (int i = 0; r->options->stacks == HLG_STACKS_COUNTERS && i < HLG_N_STATES;
	     i++)
		write_total(f, hlg_write_state(i), r->profile->states[i]);
	for (int k = 0; k < HLG_N_KINDS; k++)
		write_total(f, hlg_write_kind((enum hlg_kind)k), v->kinds[k]);
	write_total(f, "padding", v->padding);
	write_total(f, "dropped", v->dropped);
	for (uint32_t i = 0; i < r->n_events; i++)
		write_count(f, "event", r->profile->events[r->events[i].event].name,
			    r->events[i].count);
	for (size_t i = 0; i < r->n_notes; i++)
		write_note(f, "note", r->notes[i]);
	write_trust(f, r);
}

static void write_aliases(FILE *f, const struct hlg_report *r,
			  const struct hlg_place *place)
{
	const struct hlg_symbol *first;
	size_t n, some = 0;

	if (!r->options->aliases || !place->symbol)
		return;
	first = hlg_image_aliases(place->image, place->symbol, &n);
	for (size_t i = 0; i < n; i++) {
		const char *name = hlg_image_name(place->image, &first[i]);

		if (&first[i] == place->symbol)
			continue;
		if (some++)
			fputc(' ', f);
		else
			hlg_write_cell_begin(f, name);
		hlg_write_escaped(f, name, '"', "\"\"");
	}
	if (some)
		fputc('"', f);
}

static void write_row(FILE *f, const struct hlg_report *r, const char *series,
		      const struct hlg_row *row)
{
	const struct hlg_place *place = &row->place;
	const char *kind = r->suppressed ? "address" : hlg_write_kind(place->kind);
	char percent[16];

	begin(f, place->kind <= HLG_GAP ? "function" : "other", series, kind, row->name);
	if (place->symbol)
		hlg_write_cell(f, hlg_image_name(place->image, place->symbol));
	fputc(',', f);
	write_aliases(f, r, place);
	fputc(',', f);
	if (place->image) {
		hlg_write_cell(f, place->image->path);
		fprintf(f, ",0x%" PRIx64 ",%" PRIu64 ",", place->start,
			place->end - place->start);
	} else {
		fputs(",,,", f);
	}
	count(f, row->count);
	share(f, &row->share);
	fprintf(f, ",%d,", row->unsure);
	if (row->edge_known)
		fputs(hlg_write_percent(percent,
					(double)row->edge / (double)row->count.samples),
		      f);
	fputc('\n', f);
}

static void write_region(FILE *f, const struct hlg_report *r, const struct hlg_view *v,
			 const char *series, const struct hlg_region *region)
{
	const char *name = v->rows[v->parts[region->first_part].row].name;

	begin(f, "region", series, "", name);
	fputs(",,", f);
	if (region->image)
		hlg_write_cell(f, region->image->path);
	fprintf(f, ",0x%" PRIx64 ",%" PRIu64 ",", region->addr, r->options->region);
	count(f, region->count);
	share(f, &region->share);
	fputs(",,\n", f);
}

static void write_view(void *f, const struct hlg_report *r, const struct hlg_view *v,
		       const char *series)
{
	size_t rows = hlg_report_shown(r, v->n_rows, hlg_report_row_share, v);
	size_t regions = hlg_report_shown(r, v->n_regions, hlg_report_region_share, v);

	for (size_t i = 0; i < rows; i++)
		write_row(f, r, series, &v->rows[i]);
	for (size_t i = 0; i < regions; i++)
		write_region(f, r, v, series, &v->regions[i]);
}

static void write_host_row(void *f, const struct hlg_host_row *row, uint64_t weight,
			   double share_of_host, const char *series)
{
	char percent[16];

	(void)weight;
	begin(f, "host", series, "", row->comm);
	fputs(",,", f);
	hlg_write_cell(f, row->dso);
	fputs(",,,", f);
	count(f, row->count);
	fprintf(f, ",%s,,,,\n", hlg_write_percent(percent, share_of_host));
}

int hlg_write_csv(FILE *f, const struct hlg_report *r, struct hlg_err *err)
{
	int rc;

	fputs("record,series,kind,name,symbol,aliases,image,addr,size,samples,period,"
	      "percent,low,high,unsure,edge\n",
	      f);
	write_totals(f, r);
	rc = hlg_callgraph_csv(f, r, err);
	if (rc == 0)
		rc = hlg_write_views(f, r, write_view, err);
	return rc < 0 ? rc : hlg_write_host(f, r, write_host_row, err);
}
