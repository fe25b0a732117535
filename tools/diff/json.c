// SPDX-License-Identifier: GPL-2.0-only
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "config.h"
#include "filter/write/json-parts.h"
#include "tools/diff/write.h"

static void put(json_t *object, const char *key, json_t *value)
{
	json_object_set_new(object, key, value);
}

/* Percentage points, or percent, of either sign. */
static json_t *signed_percent(double share)
{
	return isfinite(share) ? json_real(round(share * 10000) / 100) : json_null();
}

/* p and q to four digits: a double's own hold nothing more. */
static json_t *probability(double p)
{
	char text[32];

	snprintf(text, sizeof(text), "%.4g", p);
	return json_real(strtod(text, NULL));
}

static json_t *image(const struct hlg_image *of)
{
	json_t *o = json_object();

	put(o, "path", hlg_json_text(of->path));
	put(o, "build_id",
	    of->elf.build_id[0] ? hlg_json_text(of->elf.build_id) : json_null());
	put(o, "base", hlg_json_hex(of->base));
	put(o, "bases", hlg_json_number(hlg_image_n_bases(of)));
	return o;
}

static json_t *side(const struct hlg_diff_side *s)
{
	json_t *o = json_object(), *images = json_array(), *recordings = json_array();

	for (size_t i = 0; i < s->n_runs; i++)
		json_array_append_new(recordings, hlg_json_text(s->paths[i]));
	for (size_t i = 0; i < s->space->n_images; i++)
		json_array_append_new(images, image(s->space->images[i]));
	put(o, "recordings", recordings);
	put(o, "images", images);
	put(o, "guest", hlg_json_count(s->all.guest));
	put(o, "dropped", hlg_json_count(s->all.dropped));
	put(o, "observations", json_real(round(s->all.observations * 10) / 10));
	put(o, "verdict", json_string(hlg_verdict_word(s->report.trust.all.verdict)));
	return o;
}

/* What a row has of a side. */
static json_t *part(const struct hlg_diff_row *row, int s)
{
	json_t *o = hlg_json_count(row->count[s]);

	hlg_json_put_share(o, &row->share[s]);
	if (row->row[s] && row->row[s]->place.image)
		put(o, "addr", hlg_json_hex(row->row[s]->place.start));
	put(o, "names", hlg_json_number(row->n[s]));
	return o;
}

static void put_change(json_t *o, const struct hlg_diff_row *row)
{
	const struct hlg_compared *c = &row->compared;

	put(o, "before", part(row, 0));
	put(o, "after", part(row, 1));
	put(o, "points", signed_percent(c->diff));
	put(o, "low", signed_percent(c->low));
	put(o, "high", signed_percent(c->high));
	put(o, "change", signed_percent(hlg_diff_growth(row)));
	put(o, "p", probability(c->p));
	put(o, "q", probability(row->q));
	put(o, "significant", json_boolean(row->significant));
	put(o, "exact", json_boolean(c->exact));
}

static json_t *function(const struct hlg_diff *diff, const struct hlg_diff_row *row)
{
	const struct hlg_place *place = hlg_diff_place(row, row->n[1] ? 1 : 0);
	json_t *o = json_object();

	put(o, "name", hlg_json_text(hlg_diff_name(row)));
	put(o, "symbol",
	    place->symbol ? hlg_json_text(hlg_image_name(place->image, place->symbol))
			  : json_null());
	put(o, "image", place->image ? hlg_json_text(place->image->path) : json_null());
	put(o, "kind", json_string(hlg_diff_kind(diff, row)));
	put(o, "status", json_string(hlg_diff_presence_word(row->presence)));
	put_change(o, row);
	return o;
}

static json_t *region(const struct hlg_diff *diff, const struct hlg_diff_row *row)
{
	const struct hlg_region *of = row->region[row->n[1] ? 1 : 0];
	json_t *o = json_object();

	put(o, "image", of->image ? hlg_json_text(of->image->path) : json_null());
	put(o, "addr", hlg_json_hex(of->addr));
	put(o, "size", hlg_json_number(diff->side[0].options->region));
	put(o, "status", json_string(hlg_diff_presence_word(row->presence)));
	put_change(o, row);
	return o;
}

static json_t *rows(const struct hlg_diff *diff, const struct hlg_diff_rows *of,
		    json_t *(*row)(const struct hlg_diff *, const struct hlg_diff_row *))
{
	json_t *list = json_array();
	size_t shown = 0;

	for (size_t i = 0; i < of->n; i++)
		if (hlg_diff_shows(diff, &of->row[i], shown)) {
			json_array_append_new(list, row(diff, &of->row[i]));
			shown++;
		}
	return list;
}

static json_t *document(const struct hlg_diff *diff)
{
	json_t *root = json_object();

	put(root, "hlguest", json_string(HLG_VERSION));
	put(root, "format", json_integer(1));
	put(root, "weight",
	    json_string(diff->weight == HLG_WEIGHT_SAMPLES ? "samples" : "period"));
	put(root, "before", side(&diff->side[0]));
	put(root, "after", side(&diff->side[1]));
	put(root, "withheld", json_boolean(diff->withheld));
	put(root, "matched", json_string(diff->matched));
	put(root, "shares", json_string(diff->shares));
	put(root, "test", json_string(diff->test));
	put(root, "level", json_real(HLG_COMPARE_LEVEL));
	put(root, "notes", hlg_json_lines(diff->notes, diff->n_notes));
	put(root, "functions", rows(diff, &diff->functions, function));
	put(root, "regions", rows(diff, &diff->regions, region));
	return root;
}

int hlg_diff_json(FILE *f, const struct hlg_diff *diff, struct hlg_err *err)
{
	json_t *root;
	bool ok;

	hlg_json_begin();
	root = document(diff);
	ok = !hlg_json_lost() &&
	     json_dumpf(root, f, JSON_INDENT(1) | JSON_REAL_PRECISION(6)) == 0;
	json_decref(root);
	if (hlg_json_lost() || (!ok && !ferror(f)))
		return hlg_err_memory(err, "format=json");
	fputc('\n', f);
	return 0;
}
