// SPDX-License-Identifier: GPL-2.0-only
/*
 * JSON, format 1. Stable: keys may be added, none changes its meaning. Counts are
 * numbers, addresses strings of hex, percentages of the kept guest weight. Text is
 * escaped (escape.h), so that it is valid UTF-8 whatever the file held.
 */
#include <jansson.h>
#include <stdlib.h>

#include "config.h"
#include "filter/write/format.h"
#include "filter/write/json-parts.h"
#include "filter/write/json-stacks.h"
#include "filter/write/json-trust.h"
#include "filter/write/write.h"
#include "symtab/escape.h"
#include "symtab/image/base.h"

static json_t *image_path(const struct hlg_image *image)
{
	return image ? hlg_json_text(image->path) : json_null();
}

/* All bases, with what lies at each. */
static json_t *bases(const struct hlg_report *r, const struct hlg_image *image)
{
	const struct hlg_image_test *ti = hlg_trust_of(&r->trust, image);
	json_t *list = json_array();

	for (size_t i = 0; ti && i < ti->n_bases; i++) {
		json_t *o = hlg_json_count(ti->bases[i].count);

		json_object_set_new(o, "base", hlg_json_hex(ti->bases[i].base));
		json_object_set_new(o, "tid",
				    ti->bases[i].tid >= 0 ? json_integer(ti->bases[i].tid)
							  : json_null());
		json_array_append_new(list, o);
	}
	return list;
}

static json_t *images(const struct hlg_report *r)
{
	json_t *list = json_array();

	for (size_t i = 0; i < r->space->n_images; i++) {
		const struct hlg_image *image = r->space->images[i];
		const char *table = image->elf.dynsym ? ".dynsym" : ".symtab";
		json_t *o = json_object();

		json_object_set_new(o, "path", hlg_json_text(image->path));
		json_object_set_new(o, "build_id",
				    image->elf.build_id[0]
					    ? json_string(image->elf.build_id)
					    : json_null());
		json_object_set_new(o, "base", hlg_json_hex(image->base));
		json_object_set_new(o, "bases", bases(r, image));
		json_object_set_new(o, "base_from",
				    json_string(hlg_base_word(image->from)));
		json_object_set_new(o, "symbols", hlg_json_number(image->tab.n_syms));
		json_object_set_new(o, "symbol_table",
				    json_string(image->map ? "perf map" : table));
		json_array_append_new(list, o);
	}
	return list;
}

static json_t *events(const struct hlg_report *r)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < r->n_events; i++) {
		const struct hlg_event *event = &r->profile->events[r->events[i].event];
		json_t *o = json_object();

		json_object_set_new(o, "name", hlg_json_text(event->name));
		json_object_set_new(o, "precise_ip", json_integer(event->precise_ip));
		hlg_json_put_count(o, r->events[i].count);
		json_array_append_new(list, o);
	}
	return list;
}

static json_t *states(const struct hlg_report *r)
{
	json_t *o = json_object();

	for (int i = 0; i < HLG_N_STATES; i++)
		json_object_set_new(o, hlg_write_state(i),
				    hlg_json_count(r->profile->states[i]));
	return o;
}

static json_t *totals(const struct hlg_report *r)
{
	const struct hlg_view *v = &r->all;
	json_t *o = json_object();

	json_object_set_new(o, "seen", hlg_json_count(r->profile->seen));
	json_object_set_new(o, "deselected", hlg_json_count(r->profile->deselected));
	json_object_set_new(o, "host", hlg_json_count(r->profile->host));
	json_object_set_new(o, "guest", hlg_json_count(v->guest));
	for (int k = 0; k < HLG_N_KINDS; k++)
		json_object_set_new(o, hlg_write_kind((enum hlg_kind)k),
				    hlg_json_count(v->kinds[k]));
	json_object_set_new(o, "padding", hlg_json_count(v->padding));
	json_object_set_new(o, "dropped", hlg_json_count(v->dropped));
	if (r->options->stacks == HLG_STACKS_COUNTERS)
		json_object_set_new(o, "states", states(r));
	return o;
}

/* The view of one series, for percentages within it. Groups lie in rank order. */
static const struct hlg_view *group_of(const struct hlg_report *r, uint32_t series)
{
	uint32_t from = 0, to = r->n_groups;

	while (to - from > 1) {
		uint32_t mid = from + (to - from) / 2;

		if (r->rank[r->groups[mid].series] <= r->rank[series])
			from = mid;
		else
			to = mid;
	}
	return &r->groups[from].view;
}

/* {"event=cpu-clock,tid=17": {samples, period, percent of that series}} */
static json_t *series(const struct hlg_report *r, const struct hlg_row *row)
{
	const struct hlg_hit *hits = r->all.hits + row->first_hit;
	json_t *map = json_object();

	for (size_t i = 0, j; r->n_groups && i < row->n_hits; i = j) {
		const struct hlg_view *v = group_of(r, hits[i].series);
		char *name = hlg_report_series_name(r, hits[i].series);
		char *safe = name ? hlg_escape_dup(name) : NULL;
		struct hlg_count count = {0, 0};
		double total = (double)hlg_count_weigh(v->weight, v->kept);
		json_t *o = json_object();

		for (j = i; j < row->n_hits && hits[j].series == hits[i].series; j++)
			hlg_count_add(&count, hits[j].count);
		hlg_json_put_count(o, count);
		json_object_set_new(
			o, "percent",
			hlg_json_percent(
				total > 0 ? (double)hlg_count_weigh(v->weight, count) /
						    total
					  : 0));
		hlg_json_watch(safe);
		json_object_set_new(map, safe ? safe : "", o);
		free(safe);
		free(name);
	}
	return map;
}

static json_t *function(const struct hlg_report *r, const struct hlg_row *row)
{
	const struct hlg_place *place = &row->place;
	json_t *o = json_object();

	json_object_set_new(o, "name", hlg_json_text(row->name));
	json_object_set_new(
		o, "symbol",
		place->symbol ? hlg_json_text(hlg_image_name(place->image, place->symbol))
			      : json_null());
	json_object_set_new(o, "kind", json_string(hlg_write_kind(place->kind)));
	json_object_set_new(o, "image", image_path(place->image));
	json_object_set_new(o, "addr",
			    place->image ? hlg_json_hex(place->start) : json_null());
	json_object_set_new(o, "size",
			    place->image ? hlg_json_number(place->end - place->start)
					 : json_null());
	hlg_json_put_count(o, row->count);
	hlg_json_put_share(o, &row->share);
	json_object_set_new(o, "unsure", json_boolean(row->unsure));
	if (row->edge_known)
		json_object_set_new(
			o, "edge",
			hlg_json_percent((double)row->edge / (double)row->count.samples));
	json_object_set_new(o, "aliases", hlg_json_aliases(place));
	json_object_set_new(o, "series", series(r, row));
	return o;
}

/* Data and outside have no function: they are in the totals and the regions. */
static json_t *functions(const struct hlg_report *r)
{
	double least = hlg_report_least(r);
	uint64_t top = hlg_report_top(r);
	json_t *list = json_array();

	for (size_t i = 0; i < r->all.n_rows && r->all.rows[i].share.share >= least;
	     i++) {
		if (r->all.rows[i].place.kind > HLG_GAP)
			continue;
		if (top && json_array_size(list) == top)
			break;
		json_array_append_new(list, function(r, &r->all.rows[i]));
	}
	return list;
}

/* What there is instead of functions when their names are suppressed. */
static json_t *addresses(const struct hlg_report *r)
{
	size_t n = hlg_report_shown(r, r->all.n_rows, hlg_report_row_share, &r->all);
	json_t *list = json_array();

	for (size_t i = 0; i < n; i++) {
		const struct hlg_row *row = &r->all.rows[i];
		json_t *o = hlg_json_count(row->count);

		json_object_set_new(o, "ip", hlg_json_hex(row->place.addr));
		hlg_json_put_share(o, &row->share);
		json_array_append_new(list, o);
	}
	return list;
}

static json_t *regions(const struct hlg_report *r)
{
	const struct hlg_view *v = &r->all;
	size_t n = hlg_report_shown(r, v->n_regions, hlg_report_region_share, v);
	json_t *list = json_array();

	for (size_t i = 0; i < n; i++) {
		const struct hlg_region *region = &v->regions[i];
		json_t *o = json_object(), *symbols = json_array();

		json_object_set_new(o, "image", image_path(region->image));
		json_object_set_new(o, "addr", hlg_json_hex(region->addr));
		json_object_set_new(o, "size", hlg_json_number(r->options->region));
		hlg_json_put_count(o, region->count);
		hlg_json_put_share(o, &region->share);
		for (size_t k = 0; k < region->n_parts; k++)
			json_array_append_new(
				symbols,
				hlg_json_text(
					v->rows[v->parts[region->first_part + k].row]
						.name));
		json_object_set_new(o, "symbols", symbols);
		json_array_append_new(list, o);
	}
	return list;
}

static void add_host_row(void *list, const struct hlg_host_row *row, uint64_t weight,
			 double share, const char *series_name)
{
	json_t *o = json_object();

	(void)weight;
	json_object_set_new(o, "name", hlg_json_text(row->comm));
	json_object_set_new(o, "dso", hlg_json_text(row->dso));
	json_object_set_new(o, "series",
			    series_name ? hlg_json_text(series_name) : json_null());
	hlg_json_put_count(o, row->count);
	json_object_set_new(o, "percent", hlg_json_percent(share));
	json_array_append_new(list, o);
}

static int add_host(json_t *root, const struct hlg_report *r, struct hlg_err *err)
{
	json_t *list = json_array();
	int rc = hlg_write_host(list, r, add_host_row, err);

	json_object_set_new(root, "host", list);
	return rc;
}

static json_t *files(const struct hlg_report *r)
{
	json_t *list = json_array();

	for (size_t i = 0; i < r->n_files; i++) {
		const struct hlg_report_file *file = &r->files[i];
		json_t *o = json_object();

		json_object_set_new(o, "path", hlg_json_text(file->path));
		json_object_set_new(o, "problem",
				    file->problem ? hlg_json_text(file->problem)
						  : json_null());
		json_object_set_new(o, "samples", hlg_json_number(file->samples));
		json_object_set_new(o, "guest", hlg_json_number(file->guest));
		json_object_set_new(o, "lost", hlg_json_number(file->lost));
		json_object_set_new(o, "base",
				    file->fit.n_bases ? hlg_json_hex(file->fit.base)
						      : json_null());
		json_object_set_new(o, "bases", hlg_json_number(file->fit.n_bases));
		json_object_set_new(
			o, "verdict",
			file->problem ? json_null()
				      : json_string(hlg_verdict_word(file->fit.verdict)));
		json_array_append_new(list, o);
	}
	return list;
}

int hlg_write_json(FILE *f, const struct hlg_report *r, struct hlg_err *err)
{
	json_t *root;
	int rc = 0;
	bool ok;

	hlg_json_begin();
	root = json_object();
	json_object_set_new(root, "hlguest", json_string(HLG_VERSION));
	json_object_set_new(root, "format", json_integer(1));
	json_object_set_new(
		root, "weight",
		json_string(r->all.weight == HLG_WEIGHT_SAMPLES ? "samples" : "period"));
	json_object_set_new(root, "images", images(r));
	json_object_set_new(root, "events", events(r));
	json_object_set_new(root, "totals", totals(r));
	json_object_set_new(root, "trust", hlg_json_trust(r));
	json_object_set_new(root, "notes", hlg_json_lines(r->notes, r->n_notes));
	if (r->n_files > 1)
		json_object_set_new(root, "files", files(r));
	if (r->options->mode != HLG_SHOW_HOST) {
		json_object_set_new(root, "functions", functions(r));
		if (r->suppressed)
			json_object_set_new(root, "addresses", addresses(r));
		json_object_set_new(root, "regions", regions(r));
	}
	if (r->options->mode != HLG_SHOW_GUEST)
		rc = add_host(root, r, err);
	if (rc == 0)
		rc = hlg_json_stacks(root, r, err);
	ok = rc == 0 && !hlg_json_lost() &&
	     json_dumpf(root, f, JSON_INDENT(1) | JSON_REAL_PRECISION(6)) == 0;
	json_decref(root);
	if (rc == 0 && (hlg_json_lost() || (!ok && !ferror(f))))
		rc = hlg_err_memory(err, "format=json");
	if (rc < 0)
		return rc;
	fputc('\n', f);
	return 0;
}
