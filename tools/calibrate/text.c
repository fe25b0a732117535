// SPDX-License-Identifier: GPL-2.0-only
#include "tools/calibrate/calibration.h"

#include <inttypes.h>
#include <string.h>

#include "symtab/escape.h"
#include "tools/calibrate/conclusion.h"

#define WIDTH 78 /* of sentences */

const char *hlg_calibrate_kvm(const struct hlg_calibration *c)
{
	return !c->kvm             ? c->no_kvm
	       : c->machine.kvm[0] ? c->machine.kvm
				   : "no module's name";
}

static void put_machine(FILE *f, const struct hlg_calibration *c)
{
	const struct hlg_machine *m = &c->machine;

	fputs("  ", f);
	hlg_escape_print(f, m->cpu[0] ? m->cpu : "unknown processor");
	fprintf(f, ", %ld CPUs%s\n", m->cpus,
		m->guest ? ", itself a virtual machine" : "");
	fprintf(f, "  %s, load %.2f\n  Linux ", m->date, m->load);
	hlg_escape_print(f, m->kernel);
	fputs("\n  KVM: ", f);
	hlg_escape_print(f, hlg_calibrate_kvm(c));
	fputc('\n', f);
}

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

/* Why a row has no figures; rows in a row often share a reason, which *told is. */
static void put_reason(FILE *f, const char *reason, const char **told)
{
	fprintf(f, "  skipped: %s\n",
		*told && strcmp(*told, reason) == 0 ? "as above" : reason);
	*told = reason;
}

static void put_crossing(FILE *f, const struct hlg_calibration *calibration,
			 enum hlg_crossing_row i, const char **told)
{
	const struct hlg_crossing *row = &calibration->crossings.rows[i];
	const struct hlg_ticks *t = &row->ticks;

	fprintf(f, "  %-32s", hlg_crossing_names[i].text);
	if (row->state == HLG_CROSS_SKIPPED) {
		put_reason(f, row->reason, told);
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
		if (strcmp(hlg_crossing_names[i].word, word) == 0)
			return &crossings->rows[i];
	return NULL;
}

static void put_references(FILE *f, const struct hlg_crossings *crossings)
{
	static const struct hlg_crossing none = {0};

	fputs("\nCompared with published figures (here: p50)\n", f);
	for (size_t i = 0; i < HLG_CROSSING_REFERENCES; i++) {
		const struct hlg_crossing_reference *r = &hlg_crossing_references[i];
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

	fputs("\nAs xperf shows it (page faults, ticks)\n"
	      "  machine                      u2k      k2u  and\n",
	      f);
	fputs("  Xeon E5 v3, VM               600      370\n"
	      "  Xeon E5 v3, bare metal       440      270\n",
	      f);
	if (in->state == HLG_CROSS_SKIPPED)
		fputs("  here, VM                       -        -  skipped, see above\n",
		      f);
	else
		fprintf(f, "  here, VM                %8" PRIu64 " %8" PRIu64 "%s\n",
			in->ticks.p50, in[1].ticks.p50,
			in->state == HLG_CROSS_EMULATED ? "  emulated: not comparable"
							: "");
	if (host->state != HLG_CROSS_SKIPPED)
		fprintf(f,
			"  here, native                   -        -  %" PRIu64
			" for the round trip with the kernel's work (the entry alone "
			"cannot be timed)\n",
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
		"\nNative rows are measured in batches; they use the quiet ones\n  %-32s "
		"%7s %7s %7s %8s %7s  %s\n",
		"", "batches", "quiet", "shared", "switched", "stolen",
		"medians, quiet and all");
	for (size_t i = 0; i < HLG_NATIVE_ROWS; i++) {
		const struct hlg_batches *b = &c->batches[i];

		fprintf(f,
			"  %-32s %7" PRIu64 " %7" PRIu64 " %7" PRIu64 " %8" PRIu64
			" %7" PRIu64 "  %" PRIu64 "-%" PRIu64 " of %" PRIu64 "-%" PRIu64
			"%s\n",
			hlg_crossing_names[HLG_CROSS_PAIR_HOST + i].text, b->n,
			b->whys[HLG_NATIVE_QUIET], b->whys[HLG_NATIVE_SHARED],
			b->whys[HLG_NATIVE_SWITCHED], b->whys[HLG_NATIVE_STOLEN],
			b->quiet_least, b->quiet_most, b->least, b->most,
			b->undisturbed ? "" : "  too few are quiet: the row uses all");
	}
	fputs("  shared: independent adds took 3 % longer than at best, as when another "
	      "thread\n  uses the same core; switched: another thread ran, or this one "
	      "changed its CPU;\n  stolen: the hypervisor ran something else.\n",
	      f);
}

static void put_noise(FILE *f, const struct hlg_crossings *c)
{
	const char *verdict = hlg_crossing_verdict(c);
	const struct hlg_clock *clock = &c->clock;

	fprintf(f,
		"  Noise: medians of ten parts of a native row differ by up to %.1f %% "
		"of all batches,\n  by %.1f %% of the quiet ones%s%s%s.\n",
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

static void put_crossings(FILE *f, const struct hlg_calibration *calibration)
{
	const char *told = NULL;

	fprintf(f,
		"\nExit cost, in ticks of the TSC (%.0f MHz); the measurement itself is "
		"in "
		"each\n"
		"  %-32s %5s %7s %7s %7s %7s %7s %7s %7s %5s %8s  %s\n",
		calibration->crossings.hz / 1e6, "", "n", "min", "p50", "p90", "p99",
		"max", "p50 ns", "p99 ns", "out", "worst", "from min to max");
	for (enum hlg_crossing_row i = 0; i < HLG_CROSS_ROWS; i++)
		put_crossing(f, calibration, i, &told);
	fputs("  out: outliers, as interrupts cause them (they count in n and worst "
	      "only)\n",
	      f);
	put_verdict(f, calibration);
	put_batches(f, &calibration->crossings);
	put_noise(f, &calibration->crossings);
	put_xperf(f, &calibration->crossings);
	put_references(f, &calibration->crossings);
}

static double percent(uint64_t part, uint64_t all)
{
	return all ? 100 * (double)part / (double)all : 0;
}

static uint64_t between(const struct hlg_land *land, size_t from, size_t to)
{
	uint64_t sum = 0;

	for (size_t i = from; i < to; i++)
		sum += land->distance[i];
	return sum;
}

static void put_land(FILE *f, const struct hlg_landed *landed, size_t i)
{
	const struct hlg_land *land = &landed->guests[i];

	fprintf(f, "    %-14s %6" PRIu64 " %6" PRIu64 " %6" PRIu64 " %7.2f %7.2f %7.2f",
		hlg_landing_name(i), land->guest, land->host, land->lost,
		percent(land->on, land->guest), percent(land->wrong, land->guest),
		percent(land->gap, land->guest));
	if (hlg_landing_hot(i))
		fprintf(f, "  %6.2f %6.2f %6.2f %6.2f %6.2f %6.2f",
			percent(land->distance[0], land->guest),
			percent(land->distance[1], land->guest),
			percent(land->distance[2], land->guest),
			percent(between(land, 3, 8), land->guest),
			percent(between(land, 8, HLG_LANDING_FAR), land->guest),
			percent(land->distance[HLG_LANDING_FAR], land->guest));
	fputc('\n', f);
}

static void put_landed(FILE *f, const struct hlg_landed *landed, const char *name,
		       const char **told)
{
	if (landed->reason[0]) {
		fprintf(f, "  %-15s", name);
		put_reason(f, landed->reason, told);
		return;
	}
	if (landed->window == HLG_WINDOW_UNKNOWN)
		fprintf(f, "  %-16s skid window: not known (%s)\n", name, landed->why);
	else
		fprintf(f, "  %-16s skid window: %" PRIu64 " instruction%s\n", name,
			landed->window, landed->window == 1 ? "" : "s");
	for (size_t i = 0; i < HLG_LANDING_GUESTS; i++)
		put_land(f, landed, i);
}

static void put_programs(FILE *f, const struct hlg_landings *landings)
{
	if (!landings->programs_by) {
		fprintf(f, "\nSample precision in the string programs\n  skipped: %s\n",
			landings->programs_reason);
		return;
	}
	fprintf(f,
		"\nSample precision in the string programs, by %s (%% of guest samples)\n"
		"  %-11s %7s %8s %8s %8s %8s\n",
		landings->programs_by, "program", "samples", "boundary", "string", "loop",
		"wrong");
	for (size_t i = 0; i < HLG_COUNT_PROGRAMS; i++) {
		const struct hlg_land *land = &landings->programs[i];

		fprintf(f, "  %-11s %7" PRIu64 " %8.2f %8.2f ", hlg_count_laws[i].program,
			land->guest, percent(land->on, land->guest),
			percent(land->string, land->guest));
		if (hlg_count_laws[i].retired)
			fprintf(f, "%8s", "-");
		else
			fprintf(f, "%8.2f", percent(land->loop, land->guest));
		fprintf(f, " %8.2f\n", percent(land->wrong + land->gap, land->guest));
	}
}

static void put_landings(FILE *f, const struct hlg_calibration *calibration)
{
	const struct hlg_landings *landings = &calibration->landings;
	const char *told = NULL;

	fputs("\nSample precision: samples of guests that spend their time in one known "
	      "place\n",
	      f);
	if (landings->reason[0]) {
		fprintf(f, "  skipped: %s\n", landings->reason);
		return;
	}
	fprintf(f, "    %-14s %6s %6s %6s %7s %7s %7s  %6s %6s %6s %6s %6s %6s\n", "",
		"guest", "host", "lost", "bound%", "wrong%", "gap%", "at 0 %", "1", "2",
		"3-7", "8-15", "more");
	for (size_t i = 0; i < HLG_SAMPLINGS; i++)
		put_landed(f, &landings->events[i], hlg_samplings[i].name, &told);
	fputs("  bound: on an instruction start; wrong: in another function than the "
	      "true one;\n  at 0, 1 ...: instructions late, counted from the one that "
	      "takes the time. The\n  window contains 95 % of each of these guests' "
	      "samples.\n",
	      f);
	put_programs(f, landings);
}

static void put_steps(FILE *f, const struct hlg_counts *counts, size_t i)
{
	const struct hlg_law *law = &hlg_count_laws[i];

	fprintf(f, "  %-11s %9" PRIu64, law->program,
		hlg_calibrate_steps(law, counts->sizes[0]));
	for (size_t side = 0; side < HLG_COUNT_SIDES; side++) {
		const struct hlg_steps *steps = &counts->steps[side][i];

		if (steps->reason[0])
			fprintf(f, "  %9s %-6s", "-", "");
		else
			fprintf(f, "  %9" PRIu64 " %-6s", steps->steps[0],
				steps->exact ? "exact" : "WRONG");
	}
	fprintf(f, "  %9" PRIu64 " %9" PRIu64 "\n",
		hlg_calibrate_steps(law, counts->operations),
		hlg_calibrate_retired(law, counts->operations));
}

/* Each different reason once, for the programs that share it. */
static void put_skipped(FILE *f, const struct hlg_counts *counts)
{
	for (size_t side = 0; side < HLG_COUNT_SIDES; side++)
		for (size_t i = 0; i < HLG_COUNT_PROGRAMS; i++) {
			const struct hlg_steps *steps = counts->steps[side];

			if (!steps[i].reason[0] ||
			    (i && strcmp(steps[i].reason, steps[i - 1].reason) == 0))
				continue;
			fprintf(f, "  %s, from %s on: skipped: %s\n",
				hlg_count_sides[side], hlg_count_laws[i].program,
				steps[i].reason);
		}
}

static void put_values(FILE *f, const uint64_t *values, size_t n)
{
	struct hlg_variation v = hlg_calibrate_variation(values, n);

	fprintf(f, " %10" PRIu64 " %10" PRIu64 " %10" PRIu64 " %7.3f", v.min, v.median,
		v.max, 100 * v.cov);
}

/* What was counted too much, beside what would explain it: medians of all runs. */
static void put_excess(FILE *f, const struct hlg_counts *counts, size_t side, size_t i)
{
	const struct hlg_pmu_counted *c = &counts->counted[side][i];
	uint64_t expected = hlg_calibrate_retired(&hlg_count_laws[i], counts->operations);
	uint64_t median =
		hlg_calibrate_variation(c->values[HLG_PMU_INSTRUCTIONS], c->runs).median;

	fprintf(f, " %+9" PRId64, (int64_t)(median - expected));
}

static void put_counted(FILE *f, const struct hlg_counts *counts, size_t side, size_t i)
{
	const struct hlg_pmu_counted *c = &counts->counted[side][i];
	bool counted = !c->reason[HLG_PMU_INSTRUCTIONS][0];

	if (c->runs == 0)
		return;
	fprintf(f, "  %-11s %-6s", hlg_count_laws[i].program, hlg_count_sides[side]);
	put_values(f, counted ? c->values[HLG_PMU_INSTRUCTIONS] : c->ticks, c->runs);
	if (counted)
		put_excess(f, counts, side, i);
	else
		fprintf(f, " %9s", "-");
	fprintf(f, " %7" PRIu64 " %7" PRIu64 "\n",
		hlg_calibrate_variation(c->faults, c->runs).max,
		hlg_calibrate_variation(c->interrupts, c->runs).max);
}

static void put_events(FILE *f, const struct hlg_counts *counts)
{
	for (size_t side = 0; side < HLG_COUNT_SIDES; side++) {
		const struct hlg_pmu_counted *c = &counts->counted[side][0];

		fprintf(f, "  Counters, %s:", hlg_count_sides[side]);
		for (size_t i = 0; i < HLG_PMU_EVENTS; i++) {
			bool last = i + 1 == HLG_PMU_EVENTS ||
				    strcmp(c->reason[i], c->reason[i + 1]) != 0;

			fprintf(f, " %s%s", hlg_pmu_events[i], last ? ": " : ",");
			if (last)
				fprintf(f, "%s%s",
					c->reason[i][0] ? c->reason[i] : "counted",
					i + 1 < HLG_PMU_EVENTS ? ";" : "");
		}
		fputc('\n', f);
	}
}

static void put_counts(FILE *f, const struct hlg_calibration *calibration)
{
	const struct hlg_counts *counts = &calibration->counts;

	fprintf(f,
		"\nCounter accuracy, single-stepped: %" PRIu64 " and %" PRIu64
		" operations of each program\n"
		"  %-11s %9s  %-16s  %-16s  %9s %9s\n",
		counts->sizes[0], counts->sizes[1], "program", "expected", "    guest",
		"   native", "steps 1M", "retired 1M");
	for (size_t i = 0; i < HLG_COUNT_PROGRAMS; i++)
		put_steps(f, counts, i);
	put_skipped(f, counts);
	fprintf(f,
		"  exact: both numbers of operations take as many steps as expected;\n  "
		"\"steps 1M\": of %" PRIu64 " operations, %s. A repeated operation is a "
		"step each time, and\n  retires once.\n",
		counts->operations,
		counts->sizes[0] == counts->operations ? "counted" : "calculated");
	fprintf(f,
		"\nRuns of %" PRIu64 " operations: instructions where they are counted, "
		"else TSC ticks\n  %-11s %-6s %10s %10s %10s %7s %9s %7s %7s\n",
		counts->operations, "program", "side", "min", "median", "max", "CoV %",
		"too many", "faults", "irqs");
	for (size_t i = 0; i < HLG_COUNT_PROGRAMS; i++)
		for (size_t side = 0; side < HLG_COUNT_SIDES; side++)
			put_counted(f, counts, side, i);
	fputs("  too many: how far the median exceeds the instructions that retire; "
	      "faults, irqs:\n  the most in a run.\n  A counter may count one more for "
	      "each of them.\n",
	      f);
	put_events(f, counts);
}

/* A sentence, in lines for a terminal of 80. */
static void put_sentence(FILE *f, const char *sentence)
{
	while (strlen(sentence) > WIDTH) {
		size_t n = WIDTH;

		while (n > 0 && sentence[n] != ' ')
			n--;
		if (n == 0)
			break;
		fprintf(f, "%.*s\n  ", (int)n, sentence);
		sentence += n + 1;
	}
	fprintf(f, "%s\n", sentence);
}

/* The answer, unless there is none. */
static void put_conclusion(FILE *f, const struct hlg_calibration *c)
{
	struct hlg_conclusion conclusion;

	if (hlg_calibrate_faults(NULL, c)) {
		fputs("Known results were measured wrongly: do not trust these figures\n",
		      f);
		hlg_calibrate_faults(f, c);
	} else {
		hlg_calibrate_conclude(&conclusion, c);
		for (size_t i = 0; i < conclusion.n; i++)
			put_sentence(f, conclusion.sentence[i]);
	}
	fputc('\n', f);
}

void hlg_calibrate_tables(FILE *f, const struct hlg_calibration *c, unsigned parts)
{
	if (parts & HLG_CALIBRATE_LANDING)
		put_landings(f, c);
	if (parts & HLG_CALIBRATE_CROSSING)
		put_crossings(f, c);
	if (parts & HLG_CALIBRATE_COUNTING)
		put_counts(f, c);
}

int hlg_calibrate_text(void *calibration, FILE *f, struct hlg_err *err)
{
	const struct hlg_calibration *c = calibration;

	(void)err;
	put_conclusion(f, c);
	put_machine(f, c);
	if (c->tables)
		hlg_calibrate_tables(f, c, c->parts);
	else
		fputs("  (-v shows all measurements)\n", f);
	return 0;
}

static const struct hlg_format text = {
	.name = "text", .notes = true, .write = hlg_calibrate_text};
static const struct hlg_format json = {
	.name = "json", .notes = true, HLG_FORMAT_JANSSON(hlg_calibrate_json)};
static const struct hlg_format csv = {.name = "csv", .write = hlg_calibrate_csv};
static const struct hlg_format html = {
	.name = "html", .notes = true, .write = hlg_calibrate_html};
const struct hlg_format *const hlg_calibration_formats[] = {&text, &json, &csv, &html,
							    NULL};
