/* SPDX-License-Identifier: GPL-2.0-only */
/* What documents of windows and of pairs share; in a build with jansson only. */
#ifndef HLG_TOOLS_WINDOWS_JSON_H
#define HLG_TOOLS_WINDOWS_JSON_H

#include "config.h"
#include "tools/windows/notes.h"

#if HLG_HAVE_JANSSON
#include "filter/write/json.h"

/* The notes, and the events that counts are of, in their order. */
void hlg_windows_json_head(struct hlg_json *json, const struct hlg_note_list *notes,
			   const struct hlg_windows *windows);

/* A row whose values are set: its columns from first on, with counts as one list. */
json_t *hlg_windows_json_row(const struct hlg_windows_columns *columns,
			     const struct hlg_windows *windows, size_t row, size_t first);
#endif

#endif
