/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A calibration: what was measured of a machine, and how it is told. It is large: let it
 * be static, or on the heap.
 */
#ifndef HLG_TOOLS_CALIBRATE_CALIBRATION_H
#define HLG_TOOLS_CALIBRATE_CALIBRATION_H

#include <stdio.h>

#include "filter/write/format.h"
#include "tools/calibrate/count.h"
#include "tools/calibrate/crossing.h"
#include "tools/calibrate/landing.h"
#include "tools/machine/machine.h"

enum hlg_calibration_part {
	HLG_CALIBRATE_CROSSING = 1,
	HLG_CALIBRATE_LANDING = 2,
	HLG_CALIBRATE_COUNTING = 4,
	HLG_CALIBRATE_ALL = 7
};

struct hlg_calibration {
	struct hlg_machine machine;
	unsigned parts; /* of enum hlg_calibration_part: those that were measured */
	bool kvm;       /* guests ran; else no_kvm says why not */
	char no_kvm[256];
	bool tables; /* text has them, too */
	struct hlg_crossings crossings;
	struct hlg_counts counts;
	struct hlg_landings landings;
};

/*
 * What is wrong with the truth itself: counts that are not the programs' laws, faults
 * that were not served, crossings that were not read in order, samples where none can be.
 * Writes a line each to f if that is not NULL; returns how many.
 */
size_t hlg_calibrate_faults(FILE *f, const struct hlg_calibration *calibration);

/* All figures of these parts, which were measured, as text. */
void hlg_calibrate_tables(FILE *f, const struct hlg_calibration *calibration,
			  unsigned parts);

/*
 * Writers of a struct hlg_calibration, text first. html is a page by itself: the
 * conclusion, a plot of each part, and its tables folded; csv has a row for each counted
 * run, HPCTool's columns first: event1 branches, event2 page faults, event3 interrupts;
 * ref_cycle is the TSC.
 */
extern const struct hlg_format *const hlg_calibration_formats[];
int hlg_calibrate_text(void *calibration, FILE *f, struct hlg_err *err);
int hlg_calibrate_json(void *calibration, FILE *f, struct hlg_err *err);
int hlg_calibrate_html(void *calibration, FILE *f, struct hlg_err *err);
int hlg_calibrate_csv(void *calibration, FILE *f, struct hlg_err *err);

/* What KVM there is, or why no guest ran; not escaped. */
const char *hlg_calibrate_kvm(const struct hlg_calibration *calibration);

/* Ticks as ns; 0 where the rate is not known. */
static inline double hlg_calibration_ns(const struct hlg_calibration *calibration,
					uint64_t ticks)
{
	double hz = calibration->crossings.hz;

	return hz > 0 ? (double)ticks * 1e9 / hz : 0;
}

#endif
