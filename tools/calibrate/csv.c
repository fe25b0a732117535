// SPDX-License-Identifier: GPL-2.0-only
/* Each counted run as a row of CSV, as HPCTool has them. */
#include <inttypes.h>

#include "tools/calibrate/calibration.h"

/* Nothing in a column whose counter this machine does not have. */
static void put_cell(FILE *f, const struct hlg_pmu_counted *c, enum hlg_pmu_event event,
		     size_t run)
{
	if (!c->reason[event][0])
		fprintf(f, "%" PRIu64, c->values[event][run]);
}

/* Instructions are the counter's, or the law's where stepping bears it out. */
static void put_run(FILE *f, const struct hlg_counts *counts, size_t side, size_t i,
		    size_t run)
{
	const struct hlg_pmu_counted *c = &counts->counted[side][i];
	bool counted = !c->reason[HLG_PMU_INSTRUCTIONS][0];
	bool stepped = !counted && counts->steps[side][i].exact;

	put_cell(f, c, HLG_PMU_INSTRUCTIONS, run);
	if (stepped)
		fprintf(f, "%" PRIu64,
			hlg_calibrate_retired(&hlg_count_laws[i], counts->operations));
	fputc(',', f);
	put_cell(f, c, HLG_PMU_CYCLES, run);
	fprintf(f, ",%" PRIu64 ",", c->ticks[run]);
	put_cell(f, c, HLG_PMU_BRANCHES, run);
	fprintf(f, ",%" PRIu64 ",%" PRIu64 ",,%s,%s,%zu,%s\n", c->faults[run],
		c->interrupts[run], hlg_count_laws[i].program, hlg_count_sides[side],
		run + 1,
		counted   ? "counter"
		: stepped ? "steps"
			  : "");
}

int hlg_calibrate_csv(void *calibration, FILE *f, struct hlg_err *err)
{
	const struct hlg_counts *counts =
		&((const struct hlg_calibration *)calibration)->counts;

	(void)err;

	fputs("ins,l_cycle,ref_cycle,event1,event2,event3,event4,program,side,run,"
	      "ins_from\n",
	      f);
	for (size_t i = 0; i < HLG_COUNT_PROGRAMS; i++)
		for (size_t side = 0; side < HLG_COUNT_SIDES; side++) {
			const struct hlg_pmu_counted *c = &counts->counted[side][i];

			for (size_t run = 0; run < c->runs; run++)
				put_run(f, counts, side, i, run);
		}
	return 0;
}
