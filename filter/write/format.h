/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The formats a report can be written in. Write errors stay on the stream (hlg_out_commit
 * finds them); what a format cannot be built into is an error here.
 */
#ifndef HLG_FILTER_WRITE_FORMAT_H
#define HLG_FILTER_WRITE_FORMAT_H

#include <stdio.h>

#include "filter/report/report.h"

/* Writes in the format the options ask for. */
int hlg_format_write(FILE *f, const struct hlg_report *report, struct hlg_err *err);

/* Can this build write the format the options ask for? Asked before work is begun. */
int hlg_format_check(const struct hlg_options *options, struct hlg_err *err);

/* The writers, one for each format. */
int hlg_write_text(FILE *f, const struct hlg_report *report, struct hlg_err *err);
int hlg_write_csv(FILE *f, const struct hlg_report *report, struct hlg_err *err);
int hlg_write_json(FILE *f, const struct hlg_report *report, struct hlg_err *err);
int hlg_write_folded(FILE *f, const struct hlg_report *report, struct hlg_err *err);

#endif
