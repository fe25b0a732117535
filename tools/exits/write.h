/* SPDX-License-Identifier: GPL-2.0-only */
/* The report of hlguest exits, and its writers. */
#ifndef HLG_TOOLS_EXITS_WRITE_H
#define HLG_TOOLS_EXITS_WRITE_H

#include <stdio.h>

#include "filter/output/colour.h"
#include "tools/exits/table.h"

#define HLG_EXITS_TABLES (HLG_EXITS_KINDS + HLG_EXITS_BYS - 1)

struct hlg_exits_report {
	const struct hlg_exits_sums *sums;
	enum hlg_exits_kind kind; /* of all tables but the reasons: what there is */
	/* Reasons of each kind; functions, ports, vCPUs. Some may have no rows. */
	struct hlg_exits_table tables[HLG_EXITS_TABLES];
	uint64_t octaves[HLG_EXITS_OCTAVES];
	struct hlg_exits_vcpu time; /* of all vCPUs together */
	char **notes;               /* not escaped; not owned */
	size_t n_notes;
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

void hlg_exits_text(FILE *f, const struct hlg_exits_report *report);
void hlg_exits_csv(FILE *f, const struct hlg_exits_report *report);
/* Fails without memory, and without jansson. */
int hlg_exits_json(FILE *f, const struct hlg_exits_report *report, struct hlg_err *err);

#endif
