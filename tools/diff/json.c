// SPDX-License-Identifier: GPL-2.0-only
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "config.h"
#include "filter/write/json.h"
#include "tools/diff/write.h"

static void put(json_t *object, const char *key, json_t *value)
{
	json_object_set_new(object, key, value);
}

static void set(json_t *object, const unsigned char *layout, size_t n,
		const struct hlg_value *values)
{
	const struct hlg_table table = {hlg_diff_columns, layout, n, {0}};

	hlg_json_row(object, &table, values);
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

/* Sets a row's values, and behind the first of them what each side has. */
static json_t *row_of(const struct hlg_diff *diff, const struct hlg_diff_row *row)
{
	static const unsigned char function[] = {HLG_DIFF_NAME, HLG_DIFF_SYMBOL,
						 HLG_DIFF_IMAGE, HLG_DIFF_KIND};
	static const unsigned char image[] = {HLG_DIFF_IMAGE};
	static const unsigned char status[] = {HLG_DIFF_STATUS};
	static const unsigned char change[] = {
		HLG_DIFF_POINTS, HLG_DIFF_LOW, HLG_DIFF_HIGH,        HLG_DIFF_CHANGE,
		HLG_DIFF_P,      HLG_DIFF_Q,   HLG_DIFF_SIGNIFICANT, HLG_DIFF_EXACT};
	const struct hlg_region *region = row->region[row->n[1] ? 1 : 0];
	struct hlg_value v[HLG_DIFF_COLUMNS];
	json_t *o = json_object();

	hlg_diff_values(v, diff, row);
	if (region) {
		set(o, image, sizeof(image), v);
		put(o, "addr", hlg_json_hex(region->addr));
		put(o, "size", hlg_json_number(diff->side[0].options->region));
	} else {
		set(o, function, sizeof(function), v);
	}
	set(o, status, sizeof(status), v);
	put(o, "before", part(row, 0));
	put(o, "after", part(row, 1));
	set(o, change, sizeof(change), v);
	return o;
}

static void put_rows(struct hlg_json *json, const char *key, const struct hlg_diff *diff,
		     const struct hlg_diff_rows *of)
{
	size_t shown = 0;

	hlg_json_open_list(json, key);
	for (size_t i = 0; i < of->n; i++)
		if (hlg_diff_shows(diff, &of->row[i], shown)) {
			hlg_json_put(json, NULL, row_of(diff, &of->row[i]));
			shown++;
		}
	hlg_json_close(json);
}

int hlg_diff_json(void *data, FILE *f, struct hlg_err *err)
{
	const struct hlg_diff *diff = data;
	struct hlg_json json;

	hlg_json_begin(&json, f, 1);
	hlg_json_put(
		&json, "weight",
		json_string(diff->weight == HLG_WEIGHT_SAMPLES ? "samples" : "period"));
	hlg_json_put(&json, "before", side(&diff->side[0]));
	hlg_json_put(&json, "after", side(&diff->side[1]));
	hlg_json_put(&json, "withheld", json_boolean(diff->withheld));
	hlg_json_put(&json, "matched", json_string(diff->matched));
	hlg_json_put(&json, "shares", json_string(diff->shares));
	hlg_json_put(&json, "test", json_string(diff->test));
	hlg_json_put(&json, "level", json_real(HLG_COMPARE_LEVEL));
	hlg_json_put(&json, "notes", hlg_json_lines(diff->notes.line, diff->notes.n));
	put_rows(&json, "functions", diff, &diff->functions);
	put_rows(&json, "regions", diff, &diff->regions);
	return hlg_json_end(&json, err);
}
