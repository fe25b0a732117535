/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * From what was counted to a saved profile: what is not of single samples. The tables
 * that save.c numbers, functions, frames, stacks and cells, are its own.
 */
#ifndef HLG_PPROF_SAVE_TABLES_H
#define HLG_PPROF_SAVE_TABLES_H

#include <stdbool.h>

#include "filter/report/report.h"
#include "filter/run.h"
#include "tools/pprof/saved.h"

struct hlg_recording_sums;

/* What a series is counted by; what saved->extra.by does not ask for is 0. */
struct hlg_saved_key hlg_save_tables_key(const struct hlg_saved *saved,
					 const struct hlg_run *run, uint32_t series);

/*
 * Events, images, one for each base, series, rows of the host, origins, the check, and
 * the totals but those of the guest, which are the cells'. Texts are copied into saved.
 * False without memory.
 */
bool hlg_save_tables_fill(struct hlg_saved *saved, const struct hlg_report *r,
			  const struct hlg_run *run,
			  const struct hlg_recording_sums *sums);

#endif
