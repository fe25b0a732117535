// SPDX-License-Identifier: GPL-2.0-only
#include <inttypes.h>

#include "config.h"
#include "filter/report/states.h"
#include "filter/write/write.h"
#include "symtab/escape.h"

static void text_row(FILE *f, const char *what, struct hlg_count count, double share)
{
	char percent[16];

	fprintf(f, "%-16s %12" PRIu64 " %20" PRIu64 " %8s %%\n", what, count.samples,
		count.period, hlg_write_percent(percent, share));
}

static void text_table(void *to, const struct hlg_report *r, const struct hlg_counters *c,
		       const char *series)
{
	FILE *f = to;

	if (series) {
		fputs("== ", f);
		hlg_escape_print(f, series);
		fputs("\n\n", f);
	}
	fprintf(f, "%-16s %12s %20s %10s\n", "state", "samples", "period", "share");
	for (unsigned i = 0; i < HLG_N_STATES; i++)
		text_row(f, hlg_counters_word((enum hlg_state)i), c->of[i],
			 hlg_counters_share(r, c, c->of[i]));
	fputc('\n', f);
}

int hlg_counters_text(FILE *f, const struct hlg_report *r, struct hlg_err *err)
{
	const struct hlg_profile *p = r->profile;
	struct hlg_count selected = p->seen;

	hlg_count_sub(&selected, p->deselected);
	fprintf(f, "hlguest %s\n\n", HLG_VERSION);
	fprintf(f, "weight   %s\n\n",
		r->options->weight == HLG_WEIGHT_SAMPLES ? "samples" : "period");
	fprintf(f, "%-16s %12s %20s\n", "", "samples", "period");
	fprintf(f, "%-16s %12" PRIu64 " %20" PRIu64 "\n", "seen", p->seen.samples,
		p->seen.period);
	fprintf(f, "%-16s %12" PRIu64 " %20" PRIu64 "\n", "  deselected",
		p->deselected.samples, p->deselected.period);
	fprintf(f, "%-16s %12" PRIu64 " %20" PRIu64 "\n\n", "  in a state",
		selected.samples, selected.period);
	for (size_t i = 0; i < r->n_notes; i++) {
		fputs("note: ", f);
		hlg_escape_print(f, r->notes[i]);
		fputs(i + 1 < r->n_notes ? "\n" : "\n\n", f);
	}
	return hlg_counters_tables(f, r, text_table, err);
}

/* Columns as in csv.c. */
static void csv_begin(FILE *f, const char *record, const char *series, const char *name)
{
	fprintf(f, "%s,", record);
	if (series)
		hlg_write_cell(f, series);
	fputs(",,", f);
	hlg_write_cell(f, name);
}

static void csv_total(FILE *f, const char *name, struct hlg_count c)
{
	csv_begin(f, "total", NULL, name);
	fprintf(f, ",,,,,,%" PRIu64 ",%" PRIu64 ",,,,,\n", c.samples, c.period);
}

static void csv_table(void *f, const struct hlg_report *r, const struct hlg_counters *c,
		      const char *series)
{
	char percent[16];

	for (unsigned i = 0; i < HLG_N_STATES; i++) {
		csv_begin(f, "state", series, hlg_counters_word((enum hlg_state)i));
		fprintf(f, ",,,,,,%" PRIu64 ",%" PRIu64 ",%s,,,,\n", c->of[i].samples,
			c->of[i].period,
			hlg_write_percent(percent, hlg_counters_share(r, c, c->of[i])));
	}
}

int hlg_counters_csv(FILE *f, const struct hlg_report *r, struct hlg_err *err)
{
	fputs("record,series,kind,name,symbol,aliases,image,addr,size,samples,period,"
	      "percent,low,high,unsure,edge\n",
	      f);
	csv_total(f, "seen", r->profile->seen);
	csv_total(f, "deselected", r->profile->deselected);
	for (size_t i = 0; i < r->n_notes; i++) {
		csv_begin(f, "note", NULL, r->notes[i]);
		fputs(",,,,,,,,,,,,\n", f);
	}
	return hlg_counters_tables(f, r, csv_table, err);
}
