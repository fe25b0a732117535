// SPDX-License-Identifier: GPL-2.0-only
#include <inttypes.h>
#include <string.h>

#include "tools/calibrate/calibration.h"

static void put_steps(FILE *f, const struct hlg_counts *counts, size_t i)
{
	const struct hlg_law *law = &hlg_count_laws[i];

	fprintf(f, "  %-11s %9" PRIu64, law->program,
		hlg_calibrate_count_steps(law, counts->sizes[0]));
	for (size_t side = 0; side < HLG_COUNT_SIDES; side++) {
		const struct hlg_steps *steps = &counts->steps[side][i];

		if (steps->reason[0])
			fprintf(f, "  %9s %-6s", "-", "");
		else
			fprintf(f, "  %9" PRIu64 " %-6s", steps->steps[0],
				steps->exact ? "exact" : "WRONG");
	}
	fprintf(f, "  %9" PRIu64 " %9" PRIu64 "\n",
		hlg_calibrate_count_steps(law, counts->operations),
		hlg_calibrate_count_retired(law, counts->operations));
}

/* Each different reason once, for the programs that share it. */
static void put_reasons(FILE *f, const struct hlg_counts *counts)
{
	for (size_t side = 0; side < HLG_COUNT_SIDES; side++)
		for (size_t i = 0; i < HLG_COUNT_PROGRAMS; i++) {
			const struct hlg_steps *steps = counts->steps[side];

			if (!steps[i].reason[0] ||
			    (i && strcmp(steps[i].reason, steps[i - 1].reason) == 0))
				continue;
			fprintf(f, "  %s, from %s on: skipped: %s\n",
				hlg_calibrate_count_side_name(side),
				hlg_count_laws[i].program, steps[i].reason);
		}
}

static void put_values(FILE *f, const uint64_t *values, size_t n)
{
	struct hlg_variation v = hlg_calibrate_count_variation(values, n);

	fprintf(f, " %10" PRIu64 " %10" PRIu64 " %10" PRIu64 " %7.3f", v.min, v.median,
		v.max, 100 * v.cov);
}

/* What was counted too much, beside what would explain it: medians of all runs. */
static void put_excess(FILE *f, const struct hlg_counts *counts, size_t side, size_t i)
{
	const struct hlg_counted *c = &counts->counted[side][i];
	uint64_t expected =
		hlg_calibrate_count_retired(&hlg_count_laws[i], counts->operations);
	uint64_t median =
		hlg_calibrate_count_variation(c->values[HLG_COUNT_INSTRUCTIONS], c->runs)
			.median;

	fprintf(f, " %+9" PRId64, (int64_t)(median - expected));
}

static void put_counted(FILE *f, const struct hlg_counts *counts, size_t side, size_t i)
{
	const struct hlg_counted *c = &counts->counted[side][i];
	bool counted = !c->reason[HLG_COUNT_INSTRUCTIONS][0];

	if (c->runs == 0)
		return;
	fprintf(f, "  %-11s %-6s", hlg_count_laws[i].program,
		hlg_calibrate_count_side_name(side));
	put_values(f, counted ? c->values[HLG_COUNT_INSTRUCTIONS] : c->ticks, c->runs);
	if (counted)
		put_excess(f, counts, side, i);
	else
		fprintf(f, " %9s", "-");
	fprintf(f, " %7" PRIu64 " %7" PRIu64 "\n",
		hlg_calibrate_count_variation(c->faults, c->runs).max,
		hlg_calibrate_count_variation(c->interrupts, c->runs).max);
}

static void put_events(FILE *f, const struct hlg_counts *counts)
{
	for (size_t side = 0; side < HLG_COUNT_SIDES; side++) {
		const struct hlg_counted *c = &counts->counted[side][0];

		fprintf(f, "  Counters, %s:", hlg_calibrate_count_side_name(side));
		for (size_t i = 0; i < HLG_COUNT_EVENTS; i++)
			fprintf(f, "%s %s %s", i ? ";" : "",
				hlg_calibrate_count_event_name(i),
				c->reason[i][0] ? c->reason[i] : "counted");
		fputc('\n', f);
	}
}

void hlg_count_text_write(FILE *f, const struct hlg_calibration *calibration)
{
	const struct hlg_counts *counts = &calibration->counts;

	fprintf(f,
		"\nCounts, single-stepped: %" PRIu64 " and %" PRIu64
		" operations of each program\n"
		"  %-11s %9s  %-16s  %-16s  %9s %9s\n",
		counts->sizes[0], counts->sizes[1], "program", "expected", "    guest",
		"   native", "steps 1M", "retired 1M");
	for (size_t i = 0; i < HLG_COUNT_PROGRAMS; i++)
		put_steps(f, counts, i);
	put_reasons(f, counts);
	fprintf(f,
		"  exact: both numbers of operations take as many steps as the program's "
		"law says;\n"
		"  so %" PRIu64 " of them take those under \"steps 1M\"%s. A repeated "
		"operation is a step each\n  time, and retires once.\n",
		counts->operations,
		counts->sizes[0] == counts->operations ? ", which were counted"
						       : ", by that law");
	fprintf(f,
		"\nRuns of %" PRIu64 " operations: instructions where they are counted, "
		"else TSC ticks\n  %-11s %-6s %10s %10s %10s %7s %9s %7s %7s\n",
		counts->operations, "program", "side", "min", "median", "max", "CoV %",
		"too many", "faults", "irqs");
	for (size_t i = 0; i < HLG_COUNT_PROGRAMS; i++)
		for (size_t side = 0; side < HLG_COUNT_SIDES; side++)
			put_counted(f, counts, side, i);
	fputs("  too many: the median less what retires; faults, irqs: the most in a "
	      "run.\n  A counter may count one more for each of them.\n",
	      f);
	put_events(f, counts);
}

/* Nothing in a column whose counter this machine does not have. */
static void put_cell(FILE *f, const struct hlg_counted *c,
		     enum hlg_calibrate_count_event event, size_t run)
{
	if (!c->reason[event][0])
		fprintf(f, "%" PRIu64, c->values[event][run]);
}

/* Instructions are the counter's, or the law's where stepping bears it out. */
static void put_run(FILE *f, const struct hlg_counts *counts, size_t side, size_t i,
		    size_t run)
{
	const struct hlg_counted *c = &counts->counted[side][i];
	bool counted = !c->reason[HLG_COUNT_INSTRUCTIONS][0];
	bool stepped = !counted && counts->steps[side][i].exact;

	put_cell(f, c, HLG_COUNT_INSTRUCTIONS, run);
	if (stepped)
		fprintf(f, "%" PRIu64,
			hlg_calibrate_count_retired(&hlg_count_laws[i],
						    counts->operations));
	fputc(',', f);
	put_cell(f, c, HLG_COUNT_CYCLES, run);
	fprintf(f, ",%" PRIu64 ",", c->ticks[run]);
	put_cell(f, c, HLG_COUNT_BRANCHES, run);
	fprintf(f, ",%" PRIu64 ",%" PRIu64 ",,%s,%s,%zu,%s\n", c->faults[run],
		c->interrupts[run], hlg_count_laws[i].program,
		hlg_calibrate_count_side_name(side), run + 1,
		counted   ? "counter"
		: stepped ? "steps"
			  : "");
}

int hlg_count_text_csv(void *calibration, FILE *f, struct hlg_err *err)
{
	const struct hlg_counts *counts =
		&((const struct hlg_calibration *)calibration)->counts;

	(void)err;

	fputs("ins,l_cycle,ref_cycle,event1,event2,event3,event4,program,side,run,"
	      "ins_from\n",
	      f);
	for (size_t i = 0; i < HLG_COUNT_PROGRAMS; i++)
		for (size_t side = 0; side < HLG_COUNT_SIDES; side++) {
			const struct hlg_counted *c = &counts->counted[side][i];

			for (size_t run = 0; run < c->runs; run++)
				put_run(f, counts, side, i, run);
		}
	return 0;
}
