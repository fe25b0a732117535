/* SPDX-License-Identifier: GPL-2.0-only */
/* What a reader must know before believing the figures: the notes of a report. */
#ifndef HLG_FILTER_NOTES_H
#define HLG_FILTER_NOTES_H

#include "report.h"

/* Adds every note that follows from the report itself. */
void hlg_notes_add(struct hlg_report *report);

#endif
