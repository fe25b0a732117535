/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The report as a table: its columns, and what its rows, regions, host and sums have in
 * them, for all formats.
 */
#ifndef HLG_FILTER_WRITE_REPORT_TABLE_H
#define HLG_FILTER_WRITE_REPORT_TABLE_H

#include "filter/report/report.h"
#include "filter/write/table.h"

/* CSV has those with a key as they stand here; those of self where children=yes has rows.
 */
enum hlg_report_column {
	HLG_REPORT_RECORD,
	HLG_REPORT_SERIES,
	HLG_REPORT_KIND,
	HLG_REPORT_NAME,
	HLG_REPORT_SYMBOL,
	HLG_REPORT_ALIASES,
	HLG_REPORT_IMAGE,
	HLG_REPORT_ADDR,
	HLG_REPORT_SIZE,
	HLG_REPORT_SAMPLES,
	HLG_REPORT_PERIOD,
	HLG_REPORT_PERCENT,
	HLG_REPORT_LOW,
	HLG_REPORT_HIGH,
	HLG_REPORT_UNSURE,
	HLG_REPORT_EDGE,
	HLG_REPORT_SELF_SAMPLES,
	HLG_REPORT_SELF_PERIOD,
	HLG_REPORT_SELF_PERCENT,
	HLG_REPORT_MARK, /* of text only: ~, the interval, a bar ... */
	HLG_REPORT_INTERVAL,
	HLG_REPORT_BAR,
	HLG_REPORT_MARGIN, /* half of the interval */
	HLG_REPORT_TIME,   /* the period, in a unit */
	HLG_REPORT_RANGE,  /* of a region */
	HLG_REPORT_COLUMNS
};

extern const struct hlg_column hlg_report_table_columns[HLG_REPORT_COLUMNS];

/* Cells of a row, of a region, of a row of the host; series may be NULL. What they point
 * to is the report's. */
void hlg_report_table_row(struct hlg_value cells[static HLG_REPORT_COLUMNS],
			  const struct hlg_report *report, const struct hlg_row *row,
			  const char *series);
void hlg_report_table_region(struct hlg_value cells[static HLG_REPORT_COLUMNS],
			     const struct hlg_report *report, const struct hlg_view *view,
			     const struct hlg_region *region, const char *series);
void hlg_report_table_host(struct hlg_value cells[static HLG_REPORT_COLUMNS],
			   const struct hlg_host_row *row, double share,
			   const char *series);

/* Sets the cells of a count. */
void hlg_report_table_count(struct hlg_value cells[static HLG_REPORT_COLUMNS],
			    struct hlg_count count);

/* A sum that CSV and JSON have by this name. */
struct hlg_report_table_sum {
	const char *name;
	struct hlg_count count;
};

enum {
	HLG_REPORT_GUEST = 4, /* its place among them */
	HLG_REPORT_SUMS = HLG_N_KINDS + 8
};

/* Where the samples went: seen, deselected, host, of these hits of tracepoints; guest,
 * the kinds, border, padding, dropped. */
void hlg_report_table_sums(struct hlg_report_table_sum sums[static HLG_REPORT_SUMS],
			   const struct hlg_report *report);

/*
 * What a sandbox, of this number and lane, runs: as its samples tell (trust.h), or else
 * the lane. Returns how many images it may be: 0 where it does not fit the only one, more
 * than 1 also where nothing tells; if 1, it is *image, and *base where it lies, of
 * several bases, or HLG_SPACE_NOWHERE.
 */
size_t hlg_report_table_runs(const struct hlg_report *report, uint32_t sandbox,
			     unsigned lane, const struct hlg_image **image,
			     uint64_t *base);

/* "guest kernel", "guest user", "host kernel", "host user", "hypervisor", "other". */
const char *hlg_report_table_state(enum hlg_state state);

/* What stacks=callgraph knows of the stacks; of some there is only a number. */
struct hlg_report_table_stack_sum {
	const char *name, *key; /* in text and CSV, in JSON */
	struct hlg_count count; /* samples: the number, if that is all */
	bool number;
	bool shown; /* in text */
};

enum {
	HLG_REPORT_ASIDE = 5, /* some of them by their place */
	HLG_REPORT_KVM_RUNS,
	HLG_REPORT_HALVES,
	HLG_REPORT_HOST_FRAMES,
	HLG_REPORT_UNRESOLVED,
	HLG_REPORT_STACK_SUMS
};

/* The report has stacks. Fails only without memory. */
int hlg_report_table_stack_sums(
	struct hlg_report_table_stack_sum sums[static HLG_REPORT_STACK_SUMS],
	const struct hlg_report *report, struct hlg_err *err);

struct hlg_records;

/* Where the records of a check have what; low and high may both be 0: nowhere. All are
 * below HLG_REPORT_COLUMNS. */
struct hlg_report_records_columns {
	unsigned char record, kind, name, count, percent, low, high;
};

/* Writes the records `trust`, of samples or addresses: on boundaries, whose kind is the
 * verdict, off, not tested, and what chance makes. No share is written of none. */
void hlg_report_records_check(struct hlg_records *to, const struct hlg_tested *tested,
			      const struct hlg_boundaries *boundaries,
			      const struct hlg_share *share,
			      const struct hlg_report_records_columns *at);

/* What is known of callers in guests, in numbers; of a report with such stacks. */
struct hlg_report_table_caller_sum {
	const char *name, *key; /* in CSV, in JSON */
	uint64_t number;
};

enum {
	HLG_REPORT_CALLER_SUMS = 11
};

void hlg_report_table_caller_sums(
	struct hlg_report_table_caller_sum sums[static HLG_REPORT_CALLER_SUMS],
	const struct hlg_report *report);

#endif
