/* SPDX-License-Identifier: GPL-2.0-only */
/* The report of hlguest exits, and its writers. */
#ifndef HLG_TOOLS_EXITS_WRITE_H
#define HLG_TOOLS_EXITS_WRITE_H

#include "filter/write/format.h"
#include "tools/exits/report.h"

/* Of a struct hlg_exits_report, text first; and its records. */
extern const struct hlg_format *const hlg_exits_formats[];
int hlg_exits_records(void *report, struct hlg_records *to, struct hlg_err *err);
int hlg_exits_text(void *report, FILE *f, struct hlg_err *err);
int hlg_exits_html(void *report, FILE *f, struct hlg_err *err);

/* What a row's name stands for, besides: "VMX" where reasons of several are shown, a
 * port's number, a vCPU's, a thread's. Behind the name if behind, else in front of it;
 * may be "". */
const char *hlg_exits_write_detail(char buf[static 64],
				   const struct hlg_exits_report *report,
				   const struct hlg_exits_table *table,
				   const struct hlg_exits_row *row, bool behind);

#endif
