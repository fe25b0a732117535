// SPDX-License-Identifier: GPL-2.0-only
/* The programs in a guest: its own handler of #DB counts the steps. */
#include <stdio.h>

#include "tools/calibrate/count.h"
#include "tools/calibrate/pmu.h"

static int run(struct hlg_guest *guest, const char *program, uint64_t operations,
	       bool trap, struct hlg_err *err)
{
	int rc = hlg_guest_start(guest, program, 3, trap, err);

	*hlg_guest_word(guest, GUESTS_OPERATIONS) = operations;
	*hlg_guest_word(guest, GUESTS_STEPS) = 0;
	while (rc == 0)
		rc = hlg_guest_step(guest, err);
	return rc < 0 ? rc : 0;
}

/* The last instruction leaves the guest before its #DB. */
static int step_through(struct hlg_steps *steps, struct hlg_guest *guest,
			const char *program, const uint64_t *sizes, struct hlg_err *err)
{
	int rc = 0;

	for (size_t k = 0; rc == 0 && k < HLG_COUNT_SIZES; k++) {
		rc = run(guest, program, sizes[k], true, err);
		steps->steps[k] = *hlg_guest_word(guest, GUESTS_STEPS) + 1;
	}
	return rc;
}

static int count(struct hlg_counted *counted, struct hlg_pmu *pmu,
		 struct hlg_guest *guest, const char *program, uint64_t runs,
		 uint64_t operations, struct hlg_err *err)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < runs; i++) {
		hlg_pmu_begin(pmu);
		rc = run(guest, program, operations, false, err);
		hlg_pmu_end(pmu, counted, i);
		if (rc == 0)
			counted->runs = i + 1;
	}
	return rc;
}

int hlg_calibrate_count_guest(struct hlg_counts *counts, const struct hlg_guests *guests,
			      uint64_t runs)
{
	struct hlg_guest guest;
	struct hlg_err err;
	int rc = hlg_guest_init(&guest, guests, &err);

	for (size_t i = 0; i < HLG_COUNT_PROGRAMS; i++) {
		struct hlg_steps *steps = &counts->steps[HLG_COUNT_GUEST][i];
		struct hlg_counted *counted = &counts->counted[HLG_COUNT_GUEST][i];
		const char *program = hlg_count_laws[i].program;
		struct hlg_pmu pmu;

		hlg_pmu_open(&pmu, true, counted->reason);
		if (rc == 0)
			rc = count(counted, &pmu, &guest, program, runs,
				   counts->operations, &err);
		if (rc == 0)
			rc = step_through(steps, &guest, program, counts->sizes, &err);
		if (rc < 0)
			snprintf(steps->reason, sizeof(steps->reason), "%.255s", err.msg);
		hlg_pmu_finish(&pmu);
	}
	hlg_guest_finish(&guest);
	return 0;
}
