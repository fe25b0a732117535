/* SPDX-License-Identifier: GPL-2.0-only */
/* What the trust block says in words, alike in every format. */
#ifndef HLG_FILTER_REPORT_TRUST_NOTES_H
#define HLG_FILTER_REPORT_TRUST_NOTES_H

#include "filter/report/report.h"

/* Adds the remarks to a report that is complete but for them. */
void hlg_trust_notes_add(struct hlg_report *report);

/*
 * The banner of a report whose samples do not fit: one line that says by how much, and
 * which base would fit. hlg_report.banner keeps it. To be freed; NULL if they fit, or
 * without memory.
 */
char *hlg_trust_notes_banner(const struct hlg_report *report);

#endif
