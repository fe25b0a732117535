/* SPDX-License-Identifier: GPL-2.0-only */
/* What writers of windows and of pairs share: notes, and columns of counters and rates.
 */
#ifndef HLG_TOOLS_WINDOWS_NOTES_H
#define HLG_TOOLS_WINDOWS_NOTES_H

#include <stdio.h>

#include "config.h"
#include "filter/output/note-list.h"
#include "filter/write/format.h"
#include "filter/write/table.h"
#include "tools/windows/windows.h"
#if HLG_HAVE_JANSSON
#include "filter/write/json.h"
#endif

/* Adds what a reader of the rows should know. */
void hlg_windows_notes(struct hlg_note_list *notes, const struct hlg_windows *windows);

enum {
	HLG_WINDOWS_SAMPLED = 320
};

/* "sampled every 500 us of cpu-clock". */
const char *hlg_windows_notes_sampled(char buf[static HLG_WINDOWS_SAMPLED],
				      const struct hlg_windows *windows);

/*
 * Columns and a row's values that depend on the counters: some, one for each column of
 * the windows, rates if they are asked for, and some more.
 */
struct hlg_windows_columns {
	struct hlg_column *column;
	struct hlg_value *value;         /* of the row at hand */
	size_t n, counts, rates, behind; /* behind: where those behind them begin */
};

/* The caller frees columns and value in any case. False without memory. */
bool hlg_windows_columns_make(struct hlg_windows_columns *columns,
			      const struct hlg_windows *windows,
			      const struct hlg_column *before, size_t n_before,
			      const struct hlg_column *behind, size_t n_behind,
			      bool rates);
void hlg_windows_columns_finish(struct hlg_windows_columns *columns);

/* Sets counts and rates of a row of windows. */
void hlg_windows_columns_set(struct hlg_windows_columns *columns,
			     const struct hlg_windows *windows, size_t row);

/* Of times that may be HLG_NO_TIME. */
struct hlg_value hlg_windows_time(uint64_t time);

#if HLG_HAVE_JANSSON
/* The notes, and the events that counts are of, in their order. */
void hlg_windows_json_head(struct hlg_json *json, const struct hlg_note_list *notes,
			   const struct hlg_windows *windows);

/* A row whose values are set: its columns from first on, with counts as one list. */
json_t *hlg_windows_json_row(const struct hlg_windows_columns *columns,
			     const struct hlg_windows *windows, size_t row, size_t first);
#endif

#endif
