/* SPDX-License-Identifier: GPL-2.0-only */
/* The report of hlguest exits, as its writers are given it. */
#ifndef HLG_TOOLS_EXITS_REPORT_H
#define HLG_TOOLS_EXITS_REPORT_H

#include "filter/report/report.h"
#include "filter/write/format.h"
#include "tools/exits/table.h"

#define HLG_EXITS_TABLES (HLG_EXITS_KINDS + HLG_EXITS_BYS - 1)

struct hlg_exits_report {
	const struct hlg_exits_sums *sums;
	enum hlg_exits_kind kind; /* of all tables but the reasons: what there is */
	/* Calls; reasons of each kind; functions, ports, vCPUs. Some may have no rows. */
	struct hlg_exits_table tables[HLG_EXITS_TABLES];
	uint64_t octaves[HLG_EXITS_OCTAVES];
	struct hlg_exits_vcpu time; /* of all vCPUs together */
	const struct hlg_note_list *notes;
	const char *selection; /* of the options */
	bool picks; /* of that, --reason and --port: rows are of some of the pairs alone
		     */
	uint64_t recordings; /* that were read */
	bool by_tid, by_sandbox;
	uint64_t top; /* rows of a table; 0: all */
	bool fitted;  /* text: nobody has said how many; less where the screen is low */
	struct hlg_colour colours;
	struct hlg_screen screen; /* of text */
	bool wide;                /* text is not fitted to its columns */
	bool verbose;             /* text: vCPUs, the histogram and all notes, too */
	const struct hlg_space *space;
	struct hlg_report *check; /* of the addresses that exits left from */
};

/* Are all tables split, by thread or sandbox? */
static inline bool hlg_exits_splits(const struct hlg_exits_report *r)
{
	return r->by_tid || r->by_sandbox;
}

#endif
