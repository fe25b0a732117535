/* SPDX-License-Identifier: GPL-2.0-only */
/* What a reader must know before believing the figures: the notes of a report. */
#ifndef HLG_FILTER_REPORT_NOTES_H
#define HLG_FILTER_REPORT_NOTES_H

#include "filter/report/report.h"

#define HLG_NOTES_NO_SAMPLE                                                              \
	"no sample was seen: the recording is empty, or newer than this perf can read, " \
	"or perf was interrupted (^C) before it passed one on"

/* Adds every note that follows from the report itself. */
void hlg_notes_add(struct hlg_report *report);

#endif
