/* SPDX-License-Identifier: GPL-2.0-only */
/* The end of the report in text: where all samples went. */
#ifndef HLG_FILTER_WRITE_TEXT_SUMS_H
#define HLG_FILTER_WRITE_TEXT_SUMS_H

#include "filter/report/report.h"

/* Sums without zeros, and the notes. Fails only without memory. */
int hlg_text_sums_write(FILE *f, const struct hlg_report *report, struct hlg_err *err);

/* A table of all sums, zeros too: what verbose= shows. */
void hlg_text_sums_all(FILE *f, const struct hlg_report *report);

#endif
