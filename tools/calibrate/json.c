// SPDX-License-Identifier: GPL-2.0-only
/* As JSON, written as it comes. */
#include <inttypes.h>

#include "filter/write/write.h"
#include "tools/calibrate/calibration.h"

static void put_pair(FILE *f, const char *key, const char *value, const char *end)
{
	fprintf(f, "\"%s\": ", key);
	hlg_write_string(f, value);
	fputs(end, f);
}

static void put_ticks(FILE *f, const struct hlg_calibration *c, const struct hlg_ticks *t)
{
	const struct {
		const char *key;
		uint64_t ticks;
	} values[] = {{"min", t->min}, {"p50", t->p50}, {"p90", t->p90},
		      {"p99", t->p99}, {"max", t->max}, {"worst", t->worst}};
	const size_t n = sizeof(values) / sizeof(values[0]);

	fprintf(f, ", \"n\": %" PRIu64 ", \"outliers\": %" PRIu64, t->n, t->outliers);
	for (size_t i = 0; i < n; i++)
		fprintf(f, ", \"%s\": %" PRIu64, values[i].key, values[i].ticks);
	fputs(", \"ns\": {", f);
	for (size_t i = 0; i < n; i++)
		fprintf(f, "%s\"%s\": %.1f", i ? ", " : "", values[i].key,
			hlg_calibration_ns(c, values[i].ticks));
	fprintf(f, "}, \"quiet\": %" PRIu64 ", \"drift\": %.4f, \"bins\": [", t->quiet,
		t->drift);
	for (size_t i = 0; i < HLG_TICKS_BINS; i++)
		fprintf(f, "%s%" PRIu64, i ? ", " : "", t->bins[i]);
	fputc(']', f);
}

static void put_batches(FILE *f, const struct hlg_batches *b)
{
	fprintf(f,
		", \"batches\": {\"n\": %" PRIu64 ", \"quiet\": %" PRIu64
		", \"shared\": %" PRIu64 ", \"switched\": %" PRIu64
		", \"stolen\": %" PRIu64 ", \"medians\": [%" PRIu64 ", %" PRIu64
		"], \"quiet_medians\": [%" PRIu64 ", %" PRIu64
		"], \"noise\": %.4f, \"undisturbed\": %s}",
		b->n, b->whys[HLG_NATIVE_QUIET], b->whys[HLG_NATIVE_SHARED],
		b->whys[HLG_NATIVE_SWITCHED], b->whys[HLG_NATIVE_STOLEN], b->least,
		b->most, b->quiet_least, b->quiet_most, b->raw,
		b->undisturbed ? "true" : "false");
}

static void put_row(FILE *f, const struct hlg_calibration *c, enum hlg_crossing_row i)
{
	const struct hlg_crossing *row = &c->crossings.rows[i];

	fputs("      {", f);
	put_pair(f, "row", hlg_crossing_word(i), ", ");
	put_pair(f, "text", hlg_crossing_text(i), "");
	if (row->state == HLG_CROSS_SKIPPED) {
		fputs(", ", f);
		put_pair(f, "skipped", row->reason, "");
		return;
	}
	put_ticks(f, c, &row->ticks);
	if (i >= HLG_CROSS_PAIR_HOST)
		put_batches(f, &c->crossings.batches[i - HLG_CROSS_PAIR_HOST]);
	fprintf(f, ", \"comparable\": %s",
		row->state == HLG_CROSS_EMULATED ? "false" : "true");
}

static void put_noise(FILE *f, const struct hlg_crossings *all)
{
	const struct hlg_clock *clock = &all->clock;

	fprintf(f, "    \"noise\": %.4f,\n    \"quiet_noise\": %.4f,\n",
		hlg_crossing_noise(all, true), hlg_crossing_noise(all, false));
	fprintf(f, "    \"quiet_share\": %.4f,\n", hlg_crossing_quiet(all));
	fputs("    ", f);
	put_pair(f, "idle", hlg_crossing_verdict(all), ",\n");
	fprintf(f,
		"    \"core_clock\": {\"ticks\": %.4f, \"low\": %.4f, \"high\": %.4f, "
		"\"adds_in_cycle\": %.2f},\n",
		clock->ticks, clock->low, clock->high, clock->width);
}

static void put_references(FILE *f)
{
	fputs("    \"references\": [\n", f);
	for (size_t i = 0; i < hlg_n_references; i++) {
		const struct hlg_reference *r = &hlg_references[i];

		fputs("      {", f);
		put_pair(f, "what", r->what, ", ");
		if (r->word)
			put_pair(f, "row", r->word, ", ");
		fprintf(f, "\"low\": %u, \"high\": %u, ", r->low, r->high);
		put_pair(f, "unit", r->unit, ", ");
		put_pair(f, "cpu", r->cpu, ", ");
		put_pair(f, "source", r->source,
			 i + 1 < hlg_n_references ? "},\n" : "}\n");
	}
	fputs("    ]\n", f);
}

static void write_crossings(FILE *f, const struct hlg_calibration *c)
{
	const struct hlg_crossings *all = &c->crossings;
	const struct hlg_crossing *kernel = &all->rows[HLG_CROSS_PAIR_KERNEL];

	fprintf(f,
		",\n  \"crossings\": {\n    \"tsc_hz\": %.0f,\n    \"ring0_emulated\": "
		"%s,\n"
		"    \"faults_served\": %" PRIu64 ",\n    \"faults_asked\": %d,\n",
		all->hz,
		kernel->state == HLG_CROSS_SKIPPED ? "null"
		: all->emulated                    ? "true"
						   : "false",
		all->served, GUESTS_CROSSINGS);
	put_noise(f, all);
	fputs("    \"rows\": [\n", f);
	for (enum hlg_crossing_row i = 0; i < HLG_CROSS_ROWS; i++) {
		put_row(f, c, i);
		fputs(i + 1 < HLG_CROSS_ROWS ? "},\n" : "}\n", f);
	}
	fputs("    ],\n", f);
	put_references(f);
	fputs("  }", f);
}

static void put_machine(FILE *f, const struct hlg_calibration *c)
{
	const struct hlg_machine *m = &c->machine;

	fputs("  \"machine\": {", f);
	put_pair(f, "cpu", m->cpu, ", ");
	put_pair(f, "kernel", m->kernel, ", ");
	put_pair(f, "kvm", m->kvm, ", ");
	put_pair(f, "date", m->date, ", ");
	if (!c->kvm)
		put_pair(f, "no_kvm", c->no_kvm, ", ");
	fprintf(f, "\"virtual\": %s, \"cpus\": %ld, \"load\": %.2f}",
		m->guest ? "true" : "false", m->cpus, m->load);
}

void hlg_calibration_json(FILE *f, const struct hlg_calibration *c)
{
	fputs("{\n  \"hlguest_calibration\": 1,\n", f);
	put_machine(f, c);
	fprintf(f, ",\n  \"holds\": %s",
		hlg_calibration_faults(NULL, c) ? "false" : "true");
	if (c->parts & HLG_CALIBRATE_CROSSING)
		write_crossings(f, c);
	if (c->parts & HLG_CALIBRATE_LANDING)
		hlg_landing_write_json(f, c);
	if (c->parts & HLG_CALIBRATE_COUNTING)
		hlg_count_write_json(f, c);
	fputs("\n}\n", f);
}
