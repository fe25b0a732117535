// SPDX-License-Identifier: GPL-2.0-only
/* What is wrong with the truth that a calibration measures by. */
#include <inttypes.h>

#include "tools/calibrate/calibration.h"

static size_t fault(FILE *f, const char *line)
{
	if (f)
		fprintf(f, "  %s\n", line);
	return 1;
}

static size_t count_faults(FILE *f, const struct hlg_counts *counts)
{
	char line[256];
	size_t n = 0;

	for (size_t side = 0; side < HLG_COUNT_SIDES; side++)
		for (size_t i = 0; i < HLG_COUNT_PROGRAMS; i++) {
			const struct hlg_steps *steps = &counts->steps[side][i];
			const struct hlg_law *law = &hlg_count_laws[i];
			size_t k = 0;

			if (steps->reason[0] || steps->exact)
				continue;
			while (k + 1 < HLG_COUNT_SIZES &&
			       steps->steps[k] ==
				       hlg_calibrate_steps(law, counts->sizes[k]))
				k++;
			snprintf(line, sizeof(line),
				 "%s, %s: %" PRIu64 " steps instead of %" PRIu64,
				 law->program, hlg_count_sides[side], steps->steps[k],
				 hlg_calibrate_steps(law, counts->sizes[k]));
			n += fault(f, line);
		}
	return n;
}

static size_t crossing_faults(FILE *f, const struct hlg_crossings *crossings, bool kvm)
{
	char line[320];
	size_t n = 0;

	if (kvm && crossings->served != GUESTS_CROSSINGS) {
		const char *why = crossings->rows[HLG_CROSS_FAULT_IN].reason;

		snprintf(line, sizeof(line),
			 "page faults: %" PRIu64 " of %d were served%s%s",
			 crossings->served, GUESTS_CROSSINGS, why[0] ? ": " : "", why);
		n += fault(f, line);
	}
	for (enum hlg_crossing_row i = 0; i < HLG_CROSS_ROWS; i++)
		if (crossings->rows[i].unordered) {
			snprintf(line, sizeof(line), "%s: %s", hlg_crossing_names[i].text,
				 crossings->rows[i].reason);
			n += fault(f, line);
		}
	return n;
}

size_t hlg_calibrate_faults(FILE *f, const struct hlg_calibration *c)
{
	size_t n = 0;

	if (c->parts & HLG_CALIBRATE_CROSSING)
		n += crossing_faults(f, &c->crossings, c->kvm);
	if (c->parts & HLG_CALIBRATE_LANDING && c->landings.fault[0])
		n += fault(f, c->landings.fault);
	if (c->parts & HLG_CALIBRATE_COUNTING)
		n += count_faults(f, &c->counts);
	return n;
}
