/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Guests that ran in turn on one thread, at the same addresses. Where a recording does
 * not tell its sandboxes, their samples are mixed: some fit an ELF, and others do not, as
 * of another build of it.
 */
#ifndef HLG_FILTER_REPORT_IN_TURN_H
#define HLG_FILTER_REPORT_IN_TURN_H

#include "filter/report/report.h"

/* Warns of them, with the command that records anew, where nothing else explains what
 * does not fit: other threads, other builds, ELFs that were noted, or another base. */
void hlg_in_turn_note(struct hlg_report *report);

#endif
