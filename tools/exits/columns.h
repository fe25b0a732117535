/* SPDX-License-Identifier: GPL-2.0-only */
/* What the report of hlguest exits has, whatever it is written as: words, values, shares,
 * and the columns of its rows. */
#ifndef HLG_TOOLS_EXITS_COLUMNS_H
#define HLG_TOOLS_EXITS_COLUMNS_H

#include "filter/write/table.h"
#include "tools/exits/report.h"

/* The columns of records and JSON; text has some of them (text.c). */
enum {
	HLG_EXITS_RECORD,
	HLG_EXITS_KIND,
	HLG_EXITS_NAME,
	HLG_EXITS_ISA,
	HLG_EXITS_NUMBER,
	HLG_EXITS_PID,
	HLG_EXITS_TID,
	HLG_EXITS_VCPU,
	HLG_EXITS_COUNT,
	HLG_EXITS_PERCENT,
	HLG_EXITS_PERCENT_OF,
	HLG_EXITS_TIMES, /* total, min, mean, p50, p90, p99, max */
	HLG_EXITS_TIMES_END = HLG_EXITS_TIMES + 7,
	HLG_EXITS_SANDBOX = HLG_EXITS_TIMES_END,
	HLG_EXITS_COLUMNS
};

extern const struct hlg_column hlg_exits_columns[HLG_EXITS_COLUMNS];

/* Fills what a row of a table has in each. */
void hlg_exits_set_values(struct hlg_value values[static HLG_EXITS_COLUMNS],
			  const struct hlg_exits_report *report,
			  const struct hlg_exits_table *table,
			  const struct hlg_exits_row *row);

const char *hlg_exits_kind_word(enum hlg_exits_kind kind);
const char *hlg_exits_pair_words(enum hlg_exits_kind kind); /* "kvm_exit to kvm_entry" */
const char *hlg_exits_by_word(enum hlg_exits_by by);

/* The part of the time that a table's shares are of that ns is; and the part of that that
 * has no share: the host's own time is part of none. */
double hlg_exits_share(const struct hlg_exits_report *report,
		       const struct hlg_exits_table *table, uint64_t ns);
bool hlg_exits_has_share(const struct hlg_exits_row *row);

/* What that time is, as records and JSON say it: "all time", "exit time", "VMM time". */
const char *hlg_exits_share_of(const struct hlg_exits_table *table);

/* Where report->picks, what is left of a kind of pairs: the table of its reasons' sums.
 */
struct hlg_exits_picked {
	uint64_t n, total; /* ns */
	double share;      /* of all pairs of that kind */
};
struct hlg_exits_picked hlg_exits_pick(const struct hlg_exits_report *report,
				       enum hlg_exits_kind kind);

/* How many rows of a table are written. */
size_t hlg_exits_shown(const struct hlg_exits_report *report,
		       const struct hlg_exits_table *table);

/* Halves and records that are in no pair: i from 0 on; NULL past the last. */
const char *hlg_exits_excluded(const struct hlg_exits_report *report, size_t i,
			       uint64_t *n);

/* The parts of a vCPU's time, in the same way; *ns is UINT64_MAX if not recorded. And
 * their sum. */
const char *hlg_exits_part_of_time(const struct hlg_exits_report *report,
				   const struct hlg_exits_vcpu *vcpu, size_t i,
				   uint64_t *ns);
uint64_t hlg_exits_sum_parts(const struct hlg_exits_report *report,
			     const struct hlg_exits_vcpu *vcpu);

/* Calls last longer than exits: they are parts of the guest's time and of its exits'. */
bool hlg_exits_is_of_calls(const struct hlg_exits_table *table);

#endif
