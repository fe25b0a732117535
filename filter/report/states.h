/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * stacks=counters: how many samples in which state of execution, and nothing of
 * addresses. No image is opened, no base found, nothing is said of trust: the cheapest
 * mode.
 *
 * The states are the cpumodes of linux/perf_event.h; what is none of the five is other:
 * seen = deselected + the sum of the states.
 */
#ifndef HLG_FILTER_REPORT_STATES_H
#define HLG_FILTER_REPORT_STATES_H

#include <stdio.h>

#include "filter/report/report.h"
#include "filter/stacks/tree.h"

enum hlg_state {
	HLG_GUEST_KERNEL,
	HLG_GUEST_USER,
	HLG_HOST_KERNEL,
	HLG_HOST_USER,
	HLG_HYPERVISOR,
	HLG_OTHER
};

enum {
	HLG_N_STATES = HLG_OTHER + 1
};

/* What one series, or all, have in each state. */
struct hlg_counters {
	struct hlg_count of[HLG_N_STATES], sum;
};

/* "guest kernel", "guest user", ... */
const char *hlg_counters_word(enum hlg_state state);

/* Of the series; of all of them for HLG_NO_SERIES. */
struct hlg_counters hlg_counters_sum(const struct hlg_profile *profile, uint32_t series);

/*
 * The part of a report that these need: series in a stable order, split by event if there
 * are several, notes. Instead of hlg_report_build. The caller finishes it always.
 */
int hlg_counters_report(struct hlg_report *report, const struct hlg_options *options,
			const struct hlg_space *space, const struct hlg_profile *profile,
			const struct hlg_host *host, struct hlg_err *err);

/* Calls table for each series that has samples if the report is split, with its name (not
 * escaped), else for all at once. to is handed on. */
int hlg_counters_tables(void *to, const struct hlg_report *report,
			void (*table)(void *to, const struct hlg_report *report,
				      const struct hlg_counters *counters,
				      const char *series),
			struct hlg_err *err);

/* Adds a frame for each state, on top of one for the series. */
int hlg_counters_grow(struct hlg_tree *tree, const struct hlg_report *report,
		      struct hlg_err *err);

/* The share of a count in a table, by the report's weight. */
double hlg_counters_share(const struct hlg_report *report,
			  const struct hlg_counters *counters, struct hlg_count count);

/* The writers. */
int hlg_counters_text(FILE *f, const struct hlg_report *report, struct hlg_err *err);
int hlg_counters_csv(FILE *f, const struct hlg_report *report, struct hlg_err *err);
int hlg_counters_json(FILE *f, const struct hlg_report *report, struct hlg_err *err);

#endif
