// SPDX-License-Identifier: GPL-2.0-only
#include "config.h"
#include "filter/report/states.h"
#include "filter/write/json-parts.h"

static void add_table(void *list, const struct hlg_report *r,
		      const struct hlg_counters *c, const char *series)
{
	for (unsigned i = 0; i < HLG_N_STATES; i++) {
		json_t *o = hlg_json_count(c->of[i]);

		json_object_set_new(o, "state",
				    json_string(hlg_counters_word((enum hlg_state)i)));
		json_object_set_new(o, "series",
				    series ? hlg_json_text(series) : json_null());
		json_object_set_new(o, "percent",
				    hlg_json_percent(hlg_counters_share(r, c, c->of[i])));
		json_array_append_new(list, o);
	}
}

int hlg_counters_json(FILE *f, const struct hlg_report *r, struct hlg_err *err)
{
	json_t *root, *list, *totals;
	int rc;

	hlg_json_begin();
	root = json_object();
	list = json_array();
	totals = json_object();
	json_object_set_new(root, "hlguest", json_string(HLG_VERSION));
	json_object_set_new(root, "format", json_integer(1));
	json_object_set_new(root, "weight",
			    json_string(r->options->weight == HLG_WEIGHT_SAMPLES
						? "samples"
						: "period"));
	json_object_set_new(totals, "seen", hlg_json_count(r->profile->seen));
	json_object_set_new(totals, "deselected", hlg_json_count(r->profile->deselected));
	json_object_set_new(root, "totals", totals);
	json_object_set_new(root, "notes", hlg_json_lines(r->notes, r->n_notes));
	rc = hlg_counters_tables(list, r, add_table, err);
	json_object_set_new(root, "states", list);
	if (rc == 0 && (hlg_json_lost() ||
			(json_dumpf(root, f, JSON_INDENT(1) | JSON_REAL_PRECISION(6)) &&
			 !ferror(f)) ||
			hlg_json_lost()))
		rc = hlg_err_memory(err, "format=json");
	json_decref(root);
	if (rc == 0)
		fputc('\n', f);
	return rc;
}
