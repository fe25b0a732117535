// SPDX-License-Identifier: GPL-2.0-only
#include <inttypes.h>
#include <string.h>

#include "tools/calibrate/calibration.h"

/* A line of marks, a bin each: the more readings, the darker; none is a blank. */
static void put_bins(FILE *f, const struct hlg_ticks *ticks)
{
	static const char marks[] = " .:-=+*#%@";
	uint64_t most = 1;

	for (size_t i = 0; i < HLG_TICKS_BINS; i++)
		most = ticks->bins[i] > most ? ticks->bins[i] : most;
	fputc('|', f);
	for (size_t i = 0; i < HLG_TICKS_BINS; i++)
		fputc(marks[(ticks->bins[i] * 9 + most - 1) / most], f);
	fputc('|', f);
}

static void put_row(FILE *f, const struct hlg_calibration *calibration,
		    enum hlg_crossing_row i)
{
	const struct hlg_crossing *row = &calibration->crossings.rows[i];
	const struct hlg_ticks *t = &row->ticks;

	fprintf(f, "  %-32s", hlg_crossing_text(i));
	if (row->state == HLG_CROSS_SKIPPED) {
		fprintf(f, "  skipped: %s\n", row->reason);
		return;
	}
	fprintf(f,
		" %5" PRIu64 " %7" PRIu64 " %7" PRIu64 " %7" PRIu64 " %7" PRIu64
		" %7" PRIu64 " %7.0f %7.0f %5" PRIu64 " %8" PRIu64 "  ",
		t->n, t->min, t->p50, t->p90, t->p99, t->max,
		hlg_calibration_ns(calibration, t->p50),
		hlg_calibration_ns(calibration, t->p99), t->outliers, t->worst);
	put_bins(f, t);
	if (row->state == HLG_CROSS_EMULATED)
		fputs("  emulated: not comparable", f);
	fputc('\n', f);
}

static void put_own(FILE *f, const struct hlg_crossing *row)
{
	if (row->state == HLG_CROSS_SKIPPED)
		fputs("  -                                ", f);
	else if (row->state == HLG_CROSS_EMULATED)
		fprintf(f, "  %7" PRIu64 " emulated: not comparable", row->ticks.p50);
	else
		fprintf(f, "  %7" PRIu64 " ticks                   ", row->ticks.p50);
}

static const struct hlg_crossing *row_called(const struct hlg_crossings *crossings,
					     const char *word)
{
	for (size_t i = 0; word && i < HLG_CROSS_ROWS; i++)
		if (strcmp(hlg_crossing_word(i), word) == 0)
			return &crossings->rows[i];
	return NULL;
}

static void put_references(FILE *f, const struct hlg_crossings *crossings)
{
	static const struct hlg_crossing none = {0};

	fputs("\nBeside published figures (here: p50)\n", f);
	for (size_t i = 0; i < hlg_n_references; i++) {
		const struct hlg_reference *r = &hlg_references[i];
		const struct hlg_crossing *row = row_called(crossings, r->word);
		char range[32];

		if (r->low == r->high)
			snprintf(range, sizeof(range), "%u %s", r->low, r->unit);
		else
			snprintf(range, sizeof(range), "%u-%u %s", r->low, r->high,
				 r->unit);
		fprintf(f, "  %-38s %-15s", r->what, range);
		put_own(f, row ? row : &none);
		fprintf(f, "  %s; %s\n", r->cpu, r->source);
	}
}

/* As xperf has it: VM and bare metal side by side, its machine and this one. */
static void put_xperf(FILE *f, const struct hlg_crossings *crossings)
{
	const struct hlg_crossing *in = &crossings->rows[HLG_CROSS_FAULT_IN];
	const struct hlg_crossing *host = &crossings->rows[HLG_CROSS_HOST_FAULT];

	fputs("\nAs xperf tells it (page faults, ticks)\n"
	      "  machine                      u2k      k2u  and\n",
	      f);
	fputs("  Xeon E5 v3, VM               600      370\n"
	      "  Xeon E5 v3, bare metal       440      270\n",
	      f);
	if (in->state == HLG_CROSS_SKIPPED)
		fprintf(f, "  here, VM                       -        -  skipped: %s\n",
			in->reason);
	else
		fprintf(f, "  here, VM                %8" PRIu64 " %8" PRIu64 "%s\n",
			in->ticks.p50, in[1].ticks.p50,
			in->state == HLG_CROSS_EMULATED ? "  emulated: not comparable"
							: "");
	if (host->state != HLG_CROSS_SKIPPED)
		fprintf(f,
			"  here, native                   -        -  %" PRIu64
			" there and back with the kernel's work (its entry cannot be "
			"timed "
			"apart)\n",
			host->ticks.p50);
}

static void put_verdict(FILE *f, const struct hlg_calibration *calibration)
{
	const struct hlg_crossings *c = &calibration->crossings;
	const struct hlg_crossing *user = &c->rows[HLG_CROSS_PAIR_USER];
	const struct hlg_crossing *kernel = &c->rows[HLG_CROSS_PAIR_KERNEL];

	if (user->state == HLG_CROSS_SKIPPED || kernel->state == HLG_CROSS_SKIPPED)
		fputs("  Whether ring 0 is emulated is not known: no guest ran.\n", f);
	else
		fprintf(f,
			"  Ring 0 %s: rdtsc twice takes %" PRIu64
			" ticks in ring 3 and %" PRIu64 " in ring 0.\n",
			c->emulated ? "is emulated (software KVM)"
				    : "runs on the processor",
			user->ticks.p50, kernel->ticks.p50);
	if (calibration->kvm)
		fprintf(f, "  Page faults served: %" PRIu64 " of %d.\n", c->served,
			GUESTS_CROSSINGS);
}

/* What became of the native batches: what the rows are of, and what they leave out. */
static void put_batches(FILE *f, const struct hlg_crossings *c)
{
	fprintf(f,
		"\nNative rows, in batches, are of the quiet ones\n"
		"  %-32s %7s %7s %7s %8s %7s  %s\n",
		"", "batches", "quiet", "shared", "switched", "stolen",
		"medians, quiet and all");
	for (size_t i = 0; i < HLG_NATIVE_ROWS; i++) {
		const struct hlg_batches *b = &c->batches[i];

		fprintf(f,
			"  %-32s %7" PRIu64 " %7" PRIu64 " %7" PRIu64 " %8" PRIu64
			" %7" PRIu64 "  %" PRIu64 "-%" PRIu64 " of %" PRIu64 "-%" PRIu64
			"%s\n",
			hlg_crossing_text(HLG_CROSS_PAIR_HOST + i), b->n,
			b->whys[HLG_NATIVE_QUIET], b->whys[HLG_NATIVE_SHARED],
			b->whys[HLG_NATIVE_SWITCHED], b->whys[HLG_NATIVE_STOLEN],
			b->quiet_least, b->quiet_most, b->least, b->most,
			b->undisturbed ? "" : "  too few are quiet: the row is of all");
	}
	fputs("  shared: adds that wait for nothing took 3 % longer beside it than at "
	      "best, as\n  when a sibling thread has the other half of the core; "
	      "switched: another thread ran,\n  or this one moved; stolen: the "
	      "hypervisor ran something else.\n",
	      f);
}

static void put_noise(FILE *f, const struct hlg_crossings *c)
{
	const char *verdict = hlg_crossing_verdict(c);
	const struct hlg_clock *clock = &c->clock;

	fprintf(f,
		"  Noise: medians of ten parts of a native row differ by up to %.1f %% "
		"of "
		"all batches,\n  by %.1f %% of those that count%s%s%s.\n",
		100 * hlg_crossing_noise(c, true), 100 * hlg_crossing_noise(c, false),
		verdict[0] ? " (" : "", verdict, verdict[0] ? ")" : "");
	if (clock->ticks > 0)
		fprintf(f,
			"  Core clock: a cycle took %.3f ticks (%.0f MHz), from %.3f to "
			"%.3f in nine tenths of\n  the time; at best the core did %.1f "
			"adds in a cycle (alone: a whole number, 3 or more).\n",
			clock->ticks, c->hz / clock->ticks / 1e6, clock->low, clock->high,
			clock->width);
}

void hlg_crossing_text_write(FILE *f, const struct hlg_calibration *calibration)
{
	fprintf(f,
		"Crossings, in ticks of the TSC (%.0f MHz); the measurement itself is in "
		"each\n"
		"  %-32s %5s %7s %7s %7s %7s %7s %7s %7s %5s %8s  %s\n",
		calibration->crossings.hz / 1e6, "", "n", "min", "p50", "p90", "p99",
		"max", "p50 ns", "p99 ns", "out", "worst", "from min to max");
	for (enum hlg_crossing_row i = 0; i < HLG_CROSS_ROWS; i++)
		put_row(f, calibration, i);
	fputs("  out: far out, as interrupts do it (in n, in no other figure but "
	      "worst)\n",
	      f);
	put_verdict(f, calibration);
	put_batches(f, &calibration->crossings);
	put_noise(f, &calibration->crossings);
	put_xperf(f, &calibration->crossings);
	put_references(f, &calibration->crossings);
}
