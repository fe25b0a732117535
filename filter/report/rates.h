/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Notes about how often samples were taken, as the recording itself tells: of clocks only
 * (cpu-clock, task-clock), whose periods are time.
 */
#ifndef HLG_FILTER_REPORT_RATES_H
#define HLG_FILTER_REPORT_RATES_H

#include "filter/report/report.h"

/* The period (ns) of the only event that has guest samples, if it is a clock of a round
 * rate (stats/rate.h), which samples may be in step with; else 0. */
uint64_t hlg_rates_clock(const struct hlg_report *report);

/* "; or it keeps step with 1000 samples a second: record -F 997": of a guest with phases
 * that was sampled at a round rate, once in each of its cycles perhaps; else "". */
void hlg_rates_put_step(char *text, size_t size, const struct hlg_report *report);

/* Adds the notes to a report that is complete but for these. */
void hlg_rates_note(struct hlg_report *report);

#endif
