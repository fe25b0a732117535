// SPDX-License-Identifier: GPL-2.0-only
/*
 * JSON, format 2. Stable: keys may be added, none changes its meaning or goes (format 1
 * had trees of calls as lists in lists). Counts are numbers, addresses strings of hex,
 * percentages of the kept guest weight. Text is escaped (escape.h), so that it is valid
 * UTF-8 whatever the file held.
 */
#include "filter/write/report-json.h"

#include <stdlib.h>

#include "filter/report/children.h"
#include "filter/report/frames.h"
#include "filter/report/rows.h"
#include "filter/view/place-name.h"
#include "filter/write/folded.h"
#include "filter/write/format.h"
#include "filter/write/report-json-series.h"
#include "filter/write/report-table.h"

#define FORMAT 2

#define PUT(object, layout, cells)                                                       \
	put_cells(object, layout, sizeof(layout) / sizeof((layout)[0]), cells)

static void put_cells(json_t *o, const unsigned char *layout, size_t n,
		      const struct hlg_value *cells)
{
	const struct hlg_table table = {
		.columns = hlg_report_table_columns, .layout = layout, .n = n};

	hlg_json_row(o, &table, cells);
}

static json_t *function(struct hlg_report_json_series *series, const struct hlg_row *row)
{
	static const unsigned char layout[] = {
		HLG_REPORT_NAME,    HLG_REPORT_SYMBOL, HLG_REPORT_KIND,
		HLG_REPORT_IMAGE,   HLG_REPORT_ADDR,   HLG_REPORT_SIZE,
		HLG_REPORT_SAMPLES, HLG_REPORT_PERIOD, HLG_REPORT_PERCENT,
		HLG_REPORT_LOW,     HLG_REPORT_HIGH,   HLG_REPORT_UNSURE,
		HLG_REPORT_EDGE};
	struct hlg_value c[HLG_REPORT_COLUMNS];
	json_t *o = json_object();

	hlg_report_table_row(c, series->report, row, NULL);
	PUT(o, layout, c);
	json_object_set_new(o, "aliases",
			    row->misfit ? json_array() : hlg_json_aliases(&row->place));
	json_object_set_new(o, "series", hlg_report_json_series_row(series, row));
	return o;
}

/* Rows of functions, labels and gaps; or the others, of data and of what lies outside:
 * of each as many as top= and min= ask for. Addresses are in a list of their own. */
static void put_rows(struct hlg_json *json, const char *key, bool others,
		     struct hlg_report_json_series *series)
{
	const struct hlg_report *r = series->report;
	const struct hlg_view *v = &r->all;
	const size_t n_rows = r->suppressed ? 0 : v->n_rows;
	uint64_t n = 0;
	size_t end = 0;

	for (; end < n_rows; end++)
		if ((v->rows[end].place.kind > HLG_GAP) == others &&
		    !hlg_rows_shows(r, v->rows[end].share.share, n++))
			break;
	hlg_json_open_list(json, key);
	for (size_t k = 0; k < n_rows; k++) {
		size_t i = hlg_rows_at(v, k);

		if (i < end && (v->rows[i].place.kind > HLG_GAP) == others)
			hlg_json_put(json, NULL, function(series, &v->rows[i]));
	}
	hlg_json_close(json);
}

static const char *calls_key(const struct hlg_report *r)
{
	return r->options->call_graph == HLG_CALL_GRAPH_CALLEE ? "caller_tree"
							       : "callee_tree";
}

static json_t *call(const struct hlg_tree *tree, const struct hlg_node *node,
		    double share, uint32_t parent)
{
	json_t *o = hlg_json_count(node->total);

	json_object_set_new(o, "name", hlg_json_text(hlg_tree_name(tree, node)));
	json_object_set_new(o, "percent", hlg_json_percent(share));
	json_object_set_new(o, "parent",
			    parent ? hlg_json_number(parent - 1) : json_null());
	return o;
}

/*
 * The tree of a row's callers, or of what it calls, in one list: parents first, each by
 * its place. Lists in lists would be as deep as stacks are, and jansson calls itself for
 * each. NULL without memory.
 */
static json_t *calls(const struct hlg_report *r, const struct hlg_children *children,
		     size_t row)
{
	bool callers = r->options->call_graph == HLG_CALL_GRAPH_CALLEE;
	double all = (double)hlg_count_weigh(children->weight, children->all);
	uint32_t *places = NULL, n = 0; /* of each node, + 1; 0: it is left out */
	struct hlg_tree tree = {0};
	json_t *list = NULL;

	if (hlg_children_tree(&tree, children, &children->rows[row], callers))
		places = calloc(tree.n, sizeof(*places));
	if (places)
		list = json_array();
	for (uint32_t i = 1; places && i < tree.n; i++) {
		const struct hlg_node *node = &tree.nodes[i];
		double share =
			(double)hlg_count_weigh(children->weight, node->total) / all;

		if (share < HLG_CHILDREN_LEAST ||
		    (node->parent != HLG_TREE_ROOT && !places[node->parent]))
			continue;
		places[i] = ++n;
		json_array_append_new(list,
				      call(&tree, node, share, places[node->parent]));
	}
	free(places);
	hlg_tree_finish(&tree);
	return list;
}

static json_t *child(struct hlg_report_json_series *series,
		     const struct hlg_children *children, size_t i)
{
	static const unsigned char layout[] = {
		HLG_REPORT_NAME,    HLG_REPORT_SYMBOL, HLG_REPORT_KIND,
		HLG_REPORT_IMAGE,   HLG_REPORT_ADDR,   HLG_REPORT_SIZE,
		HLG_REPORT_SAMPLES, HLG_REPORT_PERIOD, HLG_REPORT_PERCENT,
		HLG_REPORT_LOW,     HLG_REPORT_HIGH};
	const struct hlg_report *r = series->report;
	struct hlg_row row = hlg_children_row(children, i);
	struct hlg_value c[HLG_REPORT_COLUMNS];
	json_t *o = json_object(), *self = hlg_json_count(children->rows[i].self);

	hlg_report_table_row(c, r, &row, NULL);
	PUT(o, layout, c);
	json_object_set_new(self, "percent",
			    hlg_json_percent(children->rows[i].self_share));
	json_object_set_new(o, "self", self);
	json_object_set_new(o, "series",
			    hlg_report_json_series_child(series, children, i));
	if (r->options->call_graph != HLG_CALL_GRAPH_NONE)
		json_object_set_new(o, calls_key(r), calls(r, children, i));
	return o;
}

static int put_children(struct hlg_json *json, struct hlg_report_json_series *series,
			struct hlg_err *err)
{
	const struct hlg_report *r = series->report;
	struct hlg_children children;
	int rc = hlg_children_build(&children, r, &r->all, err);
	size_t n = 0;

	hlg_json_open_list(json, "children");
	if (rc == 0)
		n = hlg_children_shown(&children, r, 0);
	for (size_t i = 0; i < n; i++)
		hlg_json_put(json, NULL, child(series, &children, i));
	hlg_json_close(json);
	hlg_children_finish(&children);
	return rc;
}

static json_t *border_addresses(const struct hlg_view *v, const struct hlg_row *row)
{
	json_t *list = json_array();

	for (size_t i = row->first_hit; i < row->first_hit + row->n_hits; i++) {
		json_t *addr = hlg_json_hex(v->hits[i].addr);
		bool known = false;

		for (size_t k = 0; k < json_array_size(list); k++)
			known |= json_equal(json_array_get(list, k), addr);
		if (known)
			json_decref(addr);
		else
			json_array_append_new(list, addr);
	}
	return list;
}

/* By the places that it is in, with its own addresses there. */
static void put_border(struct hlg_json *json, struct hlg_report_json_series *series)
{
	const struct hlg_report *r = series->report;
	const struct hlg_view *v = &r->all;

	hlg_json_open_list(json, HLG_PLACE_NAME_BORDER);
	for (size_t i = 0; i < hlg_rows_borders_shown(r, v); i++) {
		json_t *o = function(series, &v->borders[i]);

		json_object_set_new(o, "addresses", border_addresses(v, &v->borders[i]));
		hlg_json_put(json, NULL, o);
	}
	hlg_json_close(json);
}

/* What there is instead of functions when their names are suppressed. */
static void put_addresses(struct hlg_json *json, struct hlg_report_json_series *series)
{
	const struct hlg_report *r = series->report;
	size_t n = hlg_rows_shown(r, r->all.n_rows, hlg_rows_share, &r->all);

	hlg_json_open_list(json, "addresses");
	for (size_t i = 0; i < n; i++) {
		const struct hlg_row *row = &r->all.rows[i];
		json_t *o = hlg_json_count(row->count);

		json_object_set_new(o, "ip", hlg_json_hex(row->place.addr));
		hlg_json_put_share(o, &row->share);
		json_object_set_new(o, "series", hlg_report_json_series_row(series, row));
		hlg_json_put(json, NULL, o);
	}
	hlg_json_close(json);
}

static json_t *region(struct hlg_report_json_series *series, const struct hlg_region *of)
{
	static const unsigned char layout[] = {HLG_REPORT_IMAGE,  HLG_REPORT_ADDR,
					       HLG_REPORT_SIZE,   HLG_REPORT_SAMPLES,
					       HLG_REPORT_PERIOD, HLG_REPORT_PERCENT,
					       HLG_REPORT_LOW,    HLG_REPORT_HIGH};
	const struct hlg_report *r = series->report;
	const struct hlg_view *v = &r->all;
	struct hlg_value c[HLG_REPORT_COLUMNS];
	json_t *o = json_object(), *symbols = json_array();

	hlg_report_table_region(c, r, v, of, NULL);
	PUT(o, layout, c);
	for (size_t k = 0; k < of->n_parts; k++)
		json_array_append_new(
			symbols,
			hlg_json_text(v->rows[v->parts[of->first_part + k].row].name));
	json_object_set_new(o, "symbols", symbols);
	json_object_set_new(o, "series", hlg_report_json_series_region(series, of));
	return o;
}

static void put_regions(struct hlg_json *json, struct hlg_report_json_series *series)
{
	const struct hlg_report *r = series->report;
	size_t n = hlg_rows_regions_shown(r, &r->all);

	hlg_json_open_list(json, "regions");
	for (size_t i = 0; i < n; i++)
		hlg_json_put(json, NULL, region(series, &r->all.regions[i]));
	hlg_json_close(json);
}

static void put_host_row(void *json, const struct hlg_host_row *row, double share,
			 const char *series_name)
{
	static const unsigned char name[] = {HLG_REPORT_NAME};
	static const unsigned char rest[] = {HLG_REPORT_SERIES, HLG_REPORT_SAMPLES,
					     HLG_REPORT_PERIOD, HLG_REPORT_PERCENT};
	struct hlg_value c[HLG_REPORT_COLUMNS];
	json_t *o = json_object();

	hlg_report_table_host(c, row, share, series_name);
	PUT(o, name, c);
	json_object_set_new(o, "dso", hlg_json_text(row->dso));
	PUT(o, rest, c);
	hlg_json_put(json, NULL, o);
}

static json_t *frames_of(const struct hlg_tree *tree, uint32_t node)
{
	json_t *list = json_array();

	for (; node != HLG_TREE_ROOT; node = tree->nodes[node].parent)
		json_array_insert_new(
			list, 0, hlg_json_text(hlg_tree_name(tree, &tree->nodes[node])));
	return list;
}

static void put_callers(struct hlg_json *json, const struct hlg_report *r)
{
	struct hlg_report_table_caller_sum sums[HLG_REPORT_CALLER_SUMS];

	if (!r->callers.stacks && !r->callers.refused)
		return;
	hlg_report_table_caller_sums(sums, r);
	hlg_json_open(json, "callers");
	for (size_t i = 0; i < HLG_REPORT_CALLER_SUMS; i++)
		hlg_json_put(json, sums[i].key, hlg_json_number(sums[i].number));
	hlg_json_close(json);
}

static int put_stacks(struct hlg_json *json, const struct hlg_report *r,
		      struct hlg_err *err)
{
	struct hlg_report_table_stack_sum s[HLG_REPORT_STACK_SUMS];
	struct hlg_tree tree = {0};
	int rc = hlg_report_table_stack_sums(s, r, err);

	if (rc == 0)
		rc = hlg_frames_build(&tree, r, err);
	if (rc == 0)
		rc = hlg_folded_check(&tree, HLG_WEIGHT_SAMPLES, err);
	hlg_json_open(json, "stacks");
	for (size_t i = 0; rc == 0 && i < HLG_REPORT_STACK_SUMS; i++)
		hlg_json_put(json, s[i].key,
			     s[i].number ? hlg_json_number(s[i].count.samples)
					 : hlg_json_count(s[i].count));
	put_callers(json, r);
	hlg_json_open_list(json, "list");
	for (uint32_t i = 1; rc == 0 && i < tree.n; i++) {
		json_t *o;

		if (!tree.nodes[i].self.samples)
			continue;
		o = hlg_json_count(tree.nodes[i].self);
		json_object_set_new(o, "frames", frames_of(&tree, i));
		hlg_json_put(json, NULL, o);
	}
	hlg_json_close(json);
	hlg_json_close(json);
	hlg_tree_finish(&tree);
	return rc;
}

/* Every guest sample that is shown is in one row of these lists, and in one region. */
static void put_guest(struct hlg_json *json, struct hlg_report_json_series *series)
{
	put_rows(json, "functions", false, series);
	put_rows(json, "other", true, series);
	put_border(json, series);
	if (series->report->suppressed)
		put_addresses(json, series);
	put_regions(json, series);
}

int hlg_report_json_write(FILE *f, const struct hlg_report *r, struct hlg_err *err)
{
	struct hlg_report_json_series series;
	struct hlg_json json;
	int rc;

	hlg_report_json_head(&json, f, FORMAT, r);
	hlg_report_json_head_put(&json, r);
	rc = hlg_report_json_series_begin(&series, r, err);
	if (rc == 0 && r->options->mode != HLG_SHOW_HOST)
		put_guest(&json, &series);
	if (rc == 0 && r->options->mode != HLG_SHOW_GUEST) {
		hlg_json_open_list(&json, "host");
		rc = hlg_rows_each_host(&json, r, put_host_row, err);
		hlg_json_close(&json);
	}
	if (rc == 0 && r->stacks && r->options->children)
		rc = put_children(&json, &series, err);
	hlg_report_json_series_finish(&series);
	if (rc == 0 && r->stacks)
		rc = put_stacks(&json, r, err);
	return rc < 0 ? rc : hlg_json_end(&json, err);
}
