// SPDX-License-Identifier: GPL-2.0-only
#include "tools/windows/json.h"

#if HLG_HAVE_JANSSON
void hlg_windows_json_head(struct hlg_json *json, const struct hlg_note_list *notes,
			   const struct hlg_windows *w)
{
	json_t *events = json_array();

	for (size_t i = 0; i < w->n_columns; i++)
		json_array_append_new(events, hlg_json_text(w->columns[i].name));
	hlg_json_put(json, "notes", hlg_json_lines(notes->line, notes->n));
	hlg_json_put(json, "events", events);
}

json_t *hlg_windows_json_row(const struct hlg_windows_columns *c,
			     const struct hlg_windows *w, size_t row, size_t first)
{
	const struct hlg_table before = {c->column + first, .n = c->counts - first};
	const struct hlg_table behind = {c->column + c->rates, .n = c->n - c->rates};
	json_t *o = json_object();

	hlg_json_row(o, &before, c->value + first);
	json_object_set_new(o, "counts",
			    hlg_json_numbers(hlg_windows_counts(w, row), w->n_columns));
	hlg_json_row(o, &behind, c->value + c->rates);
	return o;
}
#endif
