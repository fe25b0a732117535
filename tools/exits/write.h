/* SPDX-License-Identifier: GPL-2.0-only */
/* The report of hlguest exits, and its writers. */
#ifndef HLG_TOOLS_EXITS_WRITE_H
#define HLG_TOOLS_EXITS_WRITE_H

#include "filter/write/format.h"
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
	bool fitted;  /* text: nobody has said how many; less where the screen is low */
	struct hlg_colour colours;
	struct hlg_screen screen; /* of text */
	bool wide;                /* text is not fitted to its columns */
	bool verbose;             /* text: vCPUs, the histogram and all notes, too */
	const struct hlg_space *space;
};

/* Of a struct hlg_exits_report, text first; and its records. */
extern const struct hlg_format *const hlg_exits_formats[];
int hlg_exits_records(void *report, struct hlg_records *to, struct hlg_err *err);
int hlg_exits_text(void *report, FILE *f, struct hlg_err *err);
int hlg_exits_html(void *report, FILE *f, struct hlg_err *err);

/* What text begins with, of a struct hlg_exits_report: guests, what was recorded, the
 * parts of its time, warnings. */
int hlg_exits_write_head(void *report, FILE *f, struct hlg_err *err);

/* The part of the time that a table's shares are of that ns is; and the part of that that
 * has no share: the host's own time is part of none. */
double hlg_exits_write_share(const struct hlg_exits_report *report,
			     const struct hlg_exits_table *table, uint64_t ns);
bool hlg_exits_write_has_share(const struct hlg_exits_row *row);

/* What a row's name stands for, besides: "VMX" where reasons of several are shown, a
 * port's number, a vCPU's, a thread's. Behind the name if behind, else in front of it;
 * may be "". */
const char *hlg_exits_write_detail(char buf[static 64],
				   const struct hlg_exits_report *report,
				   const struct hlg_exits_table *table,
				   const struct hlg_exits_row *row, bool behind);

#endif
