// SPDX-License-Identifier: GPL-2.0-only
#include "filter/write/report-json-series.h"

#include <stdlib.h>

#include "filter/report/rows.h"
#include "symtab/escape.h"

static int compare_places(const struct hlg_region *a, const struct hlg_region *b)
{
	if (a->image != b->image)
		return hlg_view_compare_images(a->image, b->image);
	return a->addr < b->addr ? -1 : a->addr > b->addr;
}

static int compare_regions(const void *a, const void *b)
{
	const struct hlg_report_json_series_region *x = a, *y = b;
	int order = compare_places(x->region, y->region);

	return order ? order : x->group < y->group ? -1 : x->group > y->group;
}

int hlg_report_json_series_begin(struct hlg_report_json_series *s,
				 const struct hlg_report *r, struct hlg_err *err)
{
	size_t n = 0;

	*s = (struct hlg_report_json_series){.report = r};
	for (uint32_t i = 0; i < r->n_groups; i++)
		n += r->groups[i].view.n_regions;
	s->counts = calloc((size_t)r->n_groups + 1, sizeof(*s->counts));
	s->met = malloc(((size_t)r->n_groups + 1) * sizeof(*s->met));
	s->regions = malloc((n + 1) * sizeof(*s->regions));
	if (!s->counts || !s->met || !s->regions)
		return hlg_err_memory(err, "format=json");
	for (uint32_t i = 0; i < r->n_groups; i++)
		for (size_t k = 0; k < r->groups[i].view.n_regions; k++)
			s->regions[s->n_regions++] =
				(struct hlg_report_json_series_region){
					&r->groups[i].view.regions[k], i};
	qsort(s->regions, s->n_regions, sizeof(*s->regions), compare_regions);
	return 0;
}

void hlg_report_json_series_finish(struct hlg_report_json_series *s)
{
	free(s->counts);
	free(s->met);
	free(s->regions);
}

/* Groups lie in rank order. */
static uint32_t group_of(const struct hlg_report *r, uint32_t series)
{
	uint32_t from = 0, to = r->n_groups;

	while (to - from > 1) {
		uint32_t mid = from + (to - from) / 2;

		if (r->rank[r->groups[mid].series] <= r->rank[series])
			from = mid;
		else
			to = mid;
	}
	return from;
}

static void put(const struct hlg_report *r, json_t *map, uint32_t group,
		struct hlg_count count, struct hlg_count all)
{
	const struct hlg_view *v = &r->groups[group].view;
	char *name = hlg_report_series_name(r, r->groups[group].series);
	char *safe = name ? hlg_escape_dup(name) : NULL;
	const double total = (double)hlg_count_weigh(v->weight, all);
	json_t *o = json_object();

	hlg_json_put_count(o, count);
	json_object_set_new(
		o, "percent",
		hlg_json_percent(total > 0 ? (double)hlg_count_weigh(v->weight, count) /
						     total
					   : 0));
	hlg_json_watch(safe);
	json_object_set_new(map, safe ? safe : "", o);
	free(safe);
	free(name);
}

json_t *hlg_report_json_series_row(struct hlg_report_json_series *s,
				   const struct hlg_row *row)
{
	const struct hlg_report *r = s->report;
	const struct hlg_hit *hits = r->all.hits + row->first_hit;
	json_t *map = json_object();

	for (size_t i = 0, j; r->n_groups && i < row->n_hits; i = j) {
		const uint32_t group = group_of(r, hits[i].series);
		const struct hlg_view *v = &r->groups[group].view;
		struct hlg_count count = {0, 0};

		for (j = i; j < row->n_hits && hits[j].series == hits[i].series; j++)
			hlg_count_add(&count, hits[j].count);
		put(r, map, group, count, row->border ? v->guest : v->kept);
	}
	return map;
}

/* The first of those of its place. */
static size_t first_of(const struct hlg_report_json_series *s,
		       const struct hlg_region *region)
{
	size_t from = 0, to = s->n_regions;

	while (from < to) {
		size_t mid = from + (to - from) / 2;

		if (compare_places(s->regions[mid].region, region) < 0)
			from = mid + 1;
		else
			to = mid;
	}
	return from;
}

json_t *hlg_report_json_series_region(struct hlg_report_json_series *s,
				      const struct hlg_region *region)
{
	const struct hlg_report *r = s->report;
	json_t *map = json_object();

	for (size_t i = first_of(s, region);
	     i < s->n_regions && compare_places(s->regions[i].region, region) == 0; i++)
		put(r, map, s->regions[i].group, s->regions[i].region->count,
		    r->groups[s->regions[i].group].view.kept);
	return map;
}

static int compare_groups(const void *a, const void *b)
{
	const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

json_t *hlg_report_json_series_child(struct hlg_report_json_series *s,
				     const struct hlg_children *children, size_t i)
{
	const struct hlg_children_row *row = &children->rows[i];
	const struct hlg_report *r = s->report;
	json_t *map = json_object();
	size_t n = 0;

	for (size_t k = 0; r->n_groups && k < row->n_paths; k++) {
		const struct hlg_path *path =
			&children->paths.paths[children->stacks[row->first + k]];
		const uint32_t group = group_of(r, path->series);

		if (!path->count.samples)
			continue;
		if (!s->counts[group].samples)
			s->met[n++] = group;
		hlg_count_add(&s->counts[group], path->count);
	}
	qsort(s->met, n, sizeof(*s->met), compare_groups);
	for (size_t k = 0; k < n; k++) {
		const uint32_t g = s->met[k];

		put(r, map, g, s->counts[g], hlg_rows_sum(r, &r->groups[g].view));
		s->counts[g] = (struct hlg_count){0, 0};
	}
	return map;
}
