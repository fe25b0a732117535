/* SPDX-License-Identifier: GPL-2.0-only */
/* The report of hlguest exits, and its writers. */
#ifndef HLG_TOOLS_EXITS_WRITE_H
#define HLG_TOOLS_EXITS_WRITE_H

#include <stdio.h>

#include "filter/write/format.h"
#include "filter/write/table.h"
#include "tools/exits/table.h"

#define HLG_EXITS_TABLES (HLG_EXITS_KINDS + HLG_EXITS_BYS - 1)

struct hlg_exits_report {
	const struct hlg_exits_sums *sums;
	enum hlg_exits_kind kind; /* of all tables but the reasons: what there is */
	/* Reasons of each kind; functions, ports, vCPUs. Some may have no rows. */
	struct hlg_exits_table tables[HLG_EXITS_TABLES];
	uint64_t octaves[HLG_EXITS_OCTAVES];
	struct hlg_exits_vcpu time; /* of all vCPUs together */
	const struct hlg_note_list *notes;
	bool by_tid;
	uint64_t top; /* rows of a table; 0: all */
	struct hlg_colour colours;
};

/* Of a kind: "exit" or "vmm", as csv and json have it. */
const char *hlg_exits_kind_word(enum hlg_exits_kind kind);

/* Of what a table tells apart: "reason", "function", "port", "vcpu". */
const char *hlg_exits_by_word(enum hlg_exits_by by);

/* How many rows are shown; the part of its kind's time that ns is. */
size_t hlg_exits_shown(const struct hlg_exits_report *report,
		       const struct hlg_exits_table *table);
double hlg_exits_share(const struct hlg_exits_report *report,
		       const struct hlg_exits_table *table, uint64_t ns);

/* Halves and records that are in no pair: i from 0 on; NULL past the last. */
const char *hlg_exits_excluded(const struct hlg_exits_report *report, size_t i,
			       uint64_t *n);

/* The parts of a vCPU's time, in the same way; *ns is UINT64_MAX if not recorded. */
const char *hlg_exits_part(const struct hlg_exits_report *report,
			   const struct hlg_exits_vcpu *vcpu, size_t i, uint64_t *ns);

/* The columns of all tables; records have them as they stand. */
enum hlg_exits_column {
	HLG_EXITS_COLUMN_RECORD,
	HLG_EXITS_COLUMN_KIND,
	HLG_EXITS_COLUMN_NAME,
	HLG_EXITS_COLUMN_ISA,
	HLG_EXITS_COLUMN_NUMBER,
	HLG_EXITS_COLUMN_PID,
	HLG_EXITS_COLUMN_TID,
	HLG_EXITS_COLUMN_VCPU,
	HLG_EXITS_COLUMN_COUNT,
	HLG_EXITS_COLUMN_PERCENT,
	HLG_EXITS_COLUMN_TIMES, /* total, min, mean, p50, p90, p99, max */
	HLG_EXITS_COLUMNS = HLG_EXITS_COLUMN_TIMES + 7
};

extern const struct hlg_column hlg_exits_columns[HLG_EXITS_COLUMNS];

/* What a row has in them. */
void hlg_exits_values(struct hlg_value values[static HLG_EXITS_COLUMNS],
		      const struct hlg_exits_report *report,
		      const struct hlg_exits_table *table,
		      const struct hlg_exits_row *row);

/* Of a struct hlg_exits_report, text first; and its records. */
extern const struct hlg_format *const hlg_exits_formats[];
int hlg_exits_records(void *report, struct hlg_records *to, struct hlg_err *err);
int hlg_exits_json(void *report, FILE *f, struct hlg_err *err);

#endif
