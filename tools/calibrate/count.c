// SPDX-License-Identifier: GPL-2.0-only
#include "tools/calibrate/count.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "filter/stats/spread.h"

/* guests/strings.S says why: seven instructions besides, eight with two pointers. */
#define REP(op)                                                                          \
	{                                                                                \
		"rep_" op, 1, 7, 8                                                       \
	}
#define REP_BOTH(op)                                                                     \
	{                                                                                \
		"rep_" op, 1, 8, 9                                                       \
	}
#define LOOP(op)                                                                         \
	{                                                                                \
		"loop_" op, 2, 7, 0                                                      \
	}
#define LOOP_BOTH(op)                                                                    \
	{                                                                                \
		"loop_" op, 2, 8, 0                                                      \
	}

const struct hlg_law hlg_count_laws[HLG_COUNT_PROGRAMS] = {
	REP("lodsb"),       REP("stosb"),       REP_BOTH("movsb"),  REP("scasb"),
	REP_BOTH("cmpsb"),  REP("lodsw"),       REP("stosw"),       REP_BOTH("movsw"),
	REP("scasw"),       REP_BOTH("cmpsw"),  LOOP("lodsb"),      LOOP("stosb"),
	LOOP_BOTH("movsb"), LOOP("scasb"),      LOOP_BOTH("cmpsb"), LOOP("lodsw"),
	LOOP("stosw"),      LOOP_BOTH("movsw"), LOOP("scasw"),      LOOP_BOTH("cmpsw"),
};

uint64_t hlg_calibrate_count_steps(const struct hlg_law *law, uint64_t operations)
{
	return law->each * operations + law->besides;
}

uint64_t hlg_calibrate_count_retired(const struct hlg_law *law, uint64_t operations)
{
	return law->retired ? law->retired : hlg_calibrate_count_steps(law, operations);
}

const char *hlg_calibrate_count_event_name(enum hlg_calibrate_count_event event)
{
	static const char *const names[] = {"instructions", "cycles", "branches", "loads",
					    "stores"};

	return names[event];
}

const char *hlg_calibrate_count_side_name(enum hlg_count_side side)
{
	return side == HLG_COUNT_GUEST ? "guest" : "native";
}

struct hlg_variation hlg_calibrate_count_variation(const uint64_t *values, size_t n)
{
	uint64_t sorted[HLG_COUNT_RUNS_MAX];
	struct hlg_spread spread;

	memcpy(sorted, values, n * sizeof(*sorted));
	hlg_spread_of(&spread, sorted, n);
	return (struct hlg_variation){
		spread.min,
		hlg_ticks_percentile(sorted, n, 50),
		spread.max,
		isnan(spread.variation) ? 0 : spread.variation / 100,
	};
}

static void judge(struct hlg_counts *counts)
{
	for (size_t side = 0; side < HLG_COUNT_SIDES; side++)
		for (size_t i = 0; i < HLG_COUNT_PROGRAMS; i++) {
			struct hlg_steps *steps = &counts->steps[side][i];

			steps->exact = !steps->reason[0];
			for (size_t k = 0; k < HLG_COUNT_SIZES; k++)
				if (steps->steps[k] !=
				    hlg_calibrate_count_steps(&hlg_count_laws[i],
							      counts->sizes[k]))
					steps->exact = false;
		}
}

static void no_guest(struct hlg_counts *counts, const char *reason)
{
	for (size_t i = 0; i < HLG_COUNT_PROGRAMS; i++) {
		snprintf(counts->steps[HLG_COUNT_GUEST][i].reason,
			 sizeof(counts->steps[0][0].reason), "%.255s", reason);
		for (size_t k = 0; k < HLG_COUNT_EVENTS; k++)
			snprintf(counts->counted[HLG_COUNT_GUEST][i].reason[k], 96,
				 "%.95s", reason);
	}
}

int hlg_calibrate_count_measure(struct hlg_counts *counts,
				const struct hlg_guests *guests, const char *no_kvm,
				uint64_t runs, struct hlg_err *err)
{
	counts->operations = GUESTS_OPERATES_MAX;
	if (no_kvm)
		no_guest(counts, no_kvm);
	else if (hlg_calibrate_count_guest(counts, guests, runs) < 0)
		return hlg_err_memory(err, "counts");
	if (hlg_calibrate_count_native(counts, guests, runs) < 0)
		return hlg_err_memory(err, "counts");
	judge(counts);
	return 0;
}
