// SPDX-License-Identifier: GPL-2.0-only
#include "tools/page/report-data.h"

#include <stdlib.h>

#include "filter/report/callgraph.h"
#include "filter/report/children.h"
#include "filter/report/frames.h"
#include "filter/view/place-name.h"
#include "filter/write/text-lines.h"
#include "tools/page/data.h"
#include "tools/page/offsets.h"
#include "tools/page/report-time.h"

enum {
	RAW = HLG_N_KINDS /* kind of a row that is a guest address */
};

struct address {
	uint64_t at;
	uint32_t row;
	struct hlg_count count;
};

struct writer {
	struct hlg_page_data d;
	const struct hlg_report *r;
	const struct hlg_view *v;
	struct address *addresses;
	size_t n_addresses;
	bool lost;                        /* a name, for want of memory */
	struct hlg_page_offsets *offsets; /* of each image */
	struct hlg_page_sampled *sampled; /* by ip, each once */
	size_t n_sampled;
	struct hlg_children children; /* where there are stacks */
	uint64_t *with;               /* of each row */
	uint32_t *ends;               /* of each stack: the flame graph's node */
};

static uint64_t weigh(const struct writer *w, struct hlg_count count)
{
	return hlg_count_weigh(w->v->weight, count);
}

/* Of an image's own address, what scripts can add; outside there are only guest
 * addresses, which have names. */
static uint64_t offset(const struct writer *w, const struct hlg_image *image,
		       uint64_t addr)
{
	return image ? hlg_page_offsets_of(&w->offsets[image->number], addr) : 0;
}

static void put_sections(struct writer *w, const struct hlg_image *image)
{
	const struct hlg_area *a = image->areas;
	size_t n = image->n_areas;

	hlg_page_data_open(&w->d, "sections", '{');
	HLG_PAGE_DATA_LIST(&w->d, "at", n, number, offset(w, image, a[i].start));
	HLG_PAGE_DATA_LIST(&w->d, "size", n, number, a[i].end - a[i].start);
	HLG_PAGE_DATA_LIST(&w->d, "name", n, text,
			   a[i].section ? image->elf.sections[a[i].section].name : "");
	HLG_PAGE_DATA_LIST(&w->d, "code", n, number, a[i].code);
	hlg_page_data_close(&w->d, '}');
}

/* The i-th span is of code; the last has no end. */
static bool is_code(const struct hlg_image *image, size_t i)
{
	return i + 1 < image->spans.n && image->spans.span[i].kind <= HLG_GAP;
}

static void put_span_names(struct writer *w, const struct hlg_image *image)
{
	const struct hlg_span *span = image->spans.span;

	hlg_page_data_open(&w->d, "name", '[');
	for (size_t i = 0; i < image->spans.n; i++) {
		bool named = span[i].kind != HLG_GAP;
		char *name = NULL;

		if (!is_code(image, i))
			continue;
		if (named)
			name = hlg_place_name_symbol(image,
						     &image->tab.syms[span[i].index],
						     w->r->options->demangle);
		w->lost |= named && !name;
		hlg_page_data_text(&w->d, NULL, name ? name : "");
		free(name);
	}
	hlg_page_data_close(&w->d, ']');
}

static void put_spans(struct writer *w, const struct hlg_image *image)
{
	const struct hlg_span *span = image->spans.span;
	uint64_t at, before = 0;

	hlg_page_data_open(&w->d, "spans", '{');
	hlg_page_data_open(&w->d, "at", '[');
	for (size_t i = 0; i < image->spans.n; i++) {
		if (!is_code(image, i))
			continue;
		at = offset(w, image, span[i].start);
		hlg_page_data_number(&w->d, NULL, at - before);
		before = at;
	}
	hlg_page_data_close(&w->d, ']');
	hlg_page_data_open(&w->d, "size", '[');
	for (size_t i = 0; i < image->spans.n; i++)
		if (is_code(image, i))
			hlg_page_data_number(&w->d, NULL,
					     span[i + 1].start - span[i].start);
	hlg_page_data_close(&w->d, ']');
	hlg_page_data_open(&w->d, "kind", '[');
	for (size_t i = 0; i < image->spans.n; i++)
		if (is_code(image, i))
			hlg_page_data_number(&w->d, NULL, span[i].kind);
	hlg_page_data_close(&w->d, ']');
	put_span_names(w, image);
	hlg_page_data_close(&w->d, '}');
}

static void put_parts(struct writer *w, const struct hlg_page_offsets *o)
{
	hlg_page_data_open(&w->d, "parts", '{');
	HLG_PAGE_DATA_LIST(&w->d, "at", o->n, number, o->part[i].at);
	HLG_PAGE_DATA_LIST(&w->d, "from", o->n, hex, o->part[i].from);
	hlg_page_data_close(&w->d, '}');
}

static void put_images(struct writer *w)
{
	hlg_page_data_open(&w->d, "images", '[');
	for (size_t i = 0; i < w->r->space->n_images; i++) {
		const struct hlg_image *image = w->r->space->images[i];

		hlg_page_data_open(&w->d, NULL, '{');
		hlg_page_data_text(&w->d, "path", image->path);
		put_parts(w, &w->offsets[i]);
		hlg_page_data_hex(&w->d, "base", image->base);
		put_sections(w, image);
		put_spans(w, image);
		hlg_page_data_close(&w->d, '}');
	}
	hlg_page_data_close(&w->d, ']');
}

static int64_t image_of(const struct hlg_place *place)
{
	return place->image ? (int64_t)place->image->number : -1;
}

static uint64_t size_of(const struct hlg_place *place)
{
	return place->image ? place->end - place->start : 0;
}

/* Callers that no sample was taken in. */
static const struct hlg_path_place *caller(const struct writer *w, size_t i)
{
	const struct hlg_path_place *place =
		&w->children.paths.places[w->children.rows[i].place];

	return place->row ? NULL : place;
}

#define ROWS(w, key, type, of_row, of_caller)                                            \
	do {                                                                             \
		hlg_page_data_open(&(w)->d, key, '[');                                   \
		for (size_t i = 0; i < (w)->v->n_rows; i++) {                            \
			const struct hlg_row *row = &(w)->v->rows[i];                    \
                                                                                         \
			hlg_page_data_##type(&(w)->d, NULL, of_row);                     \
		}                                                                        \
		for (size_t i = 0; i < (w)->children.n; i++) {                           \
			const struct hlg_path_place *of = caller(w, i);                  \
                                                                                         \
			if (of)                                                          \
				hlg_page_data_##type(&(w)->d, NULL, of_caller);          \
		}                                                                        \
		hlg_page_data_close(&(w)->d, ']');                                       \
	} while (0)

static void put_row_shares(struct writer *w)
{
	ROWS(w, "count", number, weigh(w, row->count), 0);
	ROWS(w, "low", real, row->share.low, 0);
	ROWS(w, "high", real, row->share.high, 0);
	ROWS(w, "unsure", number, row->unsure, 0);
	if (!w->with)
		return;
	hlg_page_data_open(&w->d, "with", '[');
	for (size_t i = 0; i < w->v->n_rows; i++)
		hlg_page_data_number(&w->d, NULL, w->with[i]);
	for (size_t i = 0; i < w->children.n; i++)
		if (caller(w, i))
			hlg_page_data_number(&w->d, NULL,
					     weigh(w, w->children.rows[i].count));
	hlg_page_data_close(&w->d, ']');
}

static void put_rows(struct writer *w)
{
	hlg_page_data_open(&w->d, "rows", '{');
	ROWS(w, "name", text, row->name, of->name);
	ROWS(w, "kind", number, w->r->suppressed ? RAW : row->place.kind, of->place.kind);
	ROWS(w, "image", signed, image_of(&row->place), image_of(&of->place));
	ROWS(w, "at", number, offset(w, row->place.image, row->place.start),
	     offset(w, of->place.image, of->place.start));
	ROWS(w, "size", number, size_of(&row->place), size_of(&of->place));
	put_row_shares(w);
	hlg_page_data_close(&w->d, '}');
	if (w->with)
		hlg_page_data_number(&w->d, "withTotal", weigh(w, w->children.all));
}

static void put_addresses(struct writer *w)
{
	const struct address *a = w->addresses;

	hlg_page_data_open(&w->d, "addresses", '{');
	HLG_PAGE_DATA_LIST(&w->d, "row", w->n_addresses, number, a[i].row);
	HLG_PAGE_DATA_LIST(&w->d, "at", w->n_addresses, number, a[i].at);
	HLG_PAGE_DATA_LIST(&w->d, "count", w->n_addresses, number, weigh(w, a[i].count));
	hlg_page_data_close(&w->d, '}');
}

static int compare_hits(const void *a, const void *b)
{
	const struct hlg_hit *x = *(const struct hlg_hit *const *)a,
			     *y = *(const struct hlg_hit *const *)b;

	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

/* The addresses of a row; what is in no image is one. */
static void collect_row(struct writer *w, uint32_t number, const struct hlg_hit **hits)
{
	const struct hlg_row *row = &w->v->rows[number];
	const struct hlg_image *image = w->r->suppressed ? NULL : row->place.image;

	for (size_t i = 0; i < row->n_hits; i++)
		hits[i] = &w->v->hits[row->first_hit + i];
	if (image)
		qsort(hits, row->n_hits, sizeof(*hits), compare_hits);
	for (size_t i = 0; i < row->n_hits; i++) {
		if (i == 0 || (image && hits[i]->addr != hits[i - 1]->addr))
			w->addresses[w->n_addresses++] = (struct address){
				.at = offset(w, image, hits[i]->addr), .row = number};
		hlg_count_add(&w->addresses[w->n_addresses - 1].count, hits[i]->count);
		w->sampled[w->n_sampled++] = (struct hlg_page_sampled){
			hits[i]->ip, (int64_t)w->n_addresses - 1};
	}
}

/* False without memory. */
static bool collect_offsets(struct writer *w)
{
	const struct hlg_space *space = w->r->space;

	w->offsets = calloc(space->n_images + 1, sizeof(*w->offsets));
	for (size_t i = 0; w->offsets && i < space->n_images; i++)
		hlg_page_offsets_make(&w->offsets[i], space->images[i]);
	return w->offsets;
}

/* The same. */
static bool collect(struct writer *w)
{
	const struct hlg_view *v = w->v;
	size_t n = v->n_hits + v->n_border_hits, unique = 0;
	const struct hlg_hit **hits = calloc(n + 1, sizeof(*hits));

	w->addresses = calloc(n + 1, sizeof(*w->addresses));
	w->sampled = calloc(n + 1, sizeof(*w->sampled));
	if (!hits || !w->addresses || !w->sampled) {
		free(hits);
		return false;
	}
	for (size_t i = 0; i < v->n_rows; i++)
		collect_row(w, (uint32_t)i, hits);
	for (size_t i = 0; i < v->n_borders; i++)
		for (size_t k = 0; k < v->borders[i].n_hits; k++)
			w->sampled[w->n_sampled++] = (struct hlg_page_sampled){
				v->hits[v->borders[i].first_hit + k].ip,
				HLG_PAGE_VM_EXITS};
	free(hits);
	if (w->n_sampled)
		qsort(w->sampled, w->n_sampled, sizeof(*w->sampled),
		      hlg_page_time_compare);
	for (size_t i = 0; i < w->n_sampled; i++)
		if (i == 0 || w->sampled[i].ip != w->sampled[unique - 1].ip)
			w->sampled[unique++] = w->sampled[i];
	w->n_sampled = unique;
	return true;
}

static bool collect_children(struct writer *w, struct hlg_err *err)
{
	if (!w->r->stacks || !w->r->callers.stacks)
		return true;
	w->with = calloc(w->v->n_rows + 1, sizeof(*w->with));
	if (!w->with || hlg_children_build(&w->children, w->r, w->v, err) < 0)
		return false;
	for (size_t i = 0; i < w->children.n; i++) {
		const struct hlg_row *row =
			w->children.paths.places[w->children.rows[i].place].row;

		/* VM exits have rows of their own, which are not here. */
		if (row >= w->v->rows && row < w->v->rows + w->v->n_rows)
			w->with[row - w->v->rows] = weigh(w, w->children.rows[i].count);
	}
	return true;
}

/* Stacks */

static int put_flame(struct writer *w, struct hlg_err *err)
{
	struct hlg_tree tree = {0};
	int rc;

	if (!w->r->stacks)
		return 0;
	w->ends = malloc(((size_t)w->r->stacks->n_stacks + 1) * sizeof(*w->ends));
	if (!w->ends)
		return hlg_err_memory(err, "page");
	rc = hlg_frames_build_ends(&tree, w->r, w->ends, err);
	if (rc == 0) {
		const struct hlg_node *node = tree.nodes;

		hlg_page_data_open(&w->d, "flame", '{');
		HLG_PAGE_DATA_LIST(&w->d, "parent", tree.n, signed,
				   i ? (int64_t)node[i].parent : -1);
		HLG_PAGE_DATA_LIST(&w->d, "name", tree.n, signed,
				   (int64_t)node[i].name - 1);
		HLG_PAGE_DATA_LIST(&w->d, "kind", tree.n, number, node[i].frame);
		HLG_PAGE_DATA_LIST(&w->d, "count", tree.n, number,
				   weigh(w, node[i].self));
		HLG_PAGE_DATA_LIST(&w->d, "names", tree.names.n, text,
				   hlg_strings_get(&tree.names, (uint32_t)i + 1));
		hlg_page_data_close(&w->d, '}');
	}
	hlg_tree_finish(&tree);
	return rc;
}

static const char *unit_of(const struct writer *w)
{
	uint32_t event = hlg_text_lines_event(w->r, w->v);

	if (w->v->weight == HLG_WEIGHT_SAMPLES || event == UINT32_MAX)
		return "samples";
	return w->r->profile->events[event].kind == HLG_EVENT_TIMER
		       ? "ns"
		       : w->r->profile->events[event].name;
}

static int put_all(struct writer *w, struct hlg_err *err)
{
	int rc;

	if (!collect_offsets(w) || !collect(w) || !collect_children(w, err))
		return hlg_err_memory(err, "page");
	hlg_page_data_text(&w->d, "weight",
			   w->v->weight == HLG_WEIGHT_SAMPLES ? "samples" : "period");
	hlg_page_data_text(&w->d, "unit", unit_of(w));
	hlg_page_data_number(&w->d, "total", weigh(w, w->v->kept));
	hlg_page_data_real(&w->d, "observations", hlg_view_worth(w->v));
	put_images(w);
	if (w->lost)
		return hlg_err_memory(err, "page");
	put_rows(w);
	put_addresses(w);
	rc = put_flame(w, err);
	if (rc < 0)
		return rc;
	return hlg_page_time_put(&w->d, w->r, w->sampled, w->n_sampled, w->ends)
		       ? 0
		       : hlg_err_memory(err, "page");
}

int hlg_page_report_data(FILE *f, const char *id, const struct hlg_report *report,
			 struct hlg_err *err)
{
	struct writer w = {.r = report, .v = &report->all};
	int rc = hlg_page_data_begin(&w.d, err);

	if (rc == 0)
		rc = put_all(&w, err);
	if (rc == 0)
		rc = hlg_page_data_end(&w.d, f, id, err);
	hlg_page_data_finish(&w.d);
	free(w.offsets);
	free(w.addresses);
	free(w.sampled);
	free(w.with);
	free(w.ends);
	hlg_children_finish(&w.children);
	return rc;
}
