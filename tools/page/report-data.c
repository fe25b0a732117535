// SPDX-License-Identifier: GPL-2.0-only
#include "tools/page/report-data.h"

#include <stdlib.h>
#include <string.h>

#include "filter/output/memstream.h"
#include "filter/report/children.h"
#include "filter/view/place-name.h"
#include "filter/write/text-scale.h"
#include "tools/page/addresses.h"
#include "tools/page/data.h"
#include "tools/page/flame-data.h"
#include "tools/page/offsets.h"
#include "tools/page/outlines.h"
#include "tools/page/report-time.h"

enum {
	RAW = HLG_N_KINDS, /* kind of a row that is a guest address */
	ROUNDS = 20        /* of cutting: each halves it, or nearly */
};

struct writer {
	struct hlg_page_data d;
	const struct hlg_report *r;
	const struct hlg_view *v;
	bool exits;                       /* shares are of these, too */
	bool lost;                        /* a name, for want of memory */
	struct hlg_page_offsets *offsets; /* of each image */
	struct hlg_page_addresses addresses;
	struct hlg_children children; /* where there are stacks */
	uint64_t *with;               /* of each row */
	size_t *callers; /* of the children: those that no sample was taken in */
	size_t n_callers;
	struct hlg_page_flame flame; /* where there are stacks */
	struct hlg_page_cut cut;
	/* As it is cut: how many have rows of their own, and what the other rows have. */
	size_t n_rows, n_shown_callers;
	uint64_t rest, rest_samples;
	size_t begins[HLG_PAGE_SECTIONS + 1]; /* of sections, in the data */
};

static uint64_t weigh(const struct writer *w, struct hlg_count count)
{
	return hlg_count_weigh(w->v->weight, count);
}

/* What shares are of. */
static uint64_t total_of(const struct writer *w)
{
	return weigh(w, w->v->kept) + (w->exits ? weigh(w, w->v->border) : 0);
}

/* Of an image's own address, what scripts can add; outside there are only guest
 * addresses, which have names. */
static uint64_t offset(const struct writer *w, const struct hlg_image *image,
		       uint64_t addr)
{
	return hlg_page_at(w->offsets, image, addr);
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

static void put_span_names(struct writer *w, const struct hlg_image *image,
			   const struct hlg_page_outline *o, size_t n)
{
	hlg_page_data_open(&w->d, "name", '[');
	for (size_t i = 0; i < n; i++) {
		const struct hlg_span *span = &image->spans.span[o[i].span];
		bool named = span->kind != HLG_GAP && !o[i].symbols;
		char *name = NULL;

		if (named)
			name = hlg_place_name_symbol(image, &image->tab.syms[span->index],
						     w->r->options->demangle);
		w->lost |= named && !name;
		hlg_page_data_text(&w->d, NULL,
				   name           ? name
				   : o[i].symbols ? HLG_PAGE_UNSAMPLED
						  : "");
		free(name);
		w->cut.is.outlines += o[i].symbols;
	}
	hlg_page_data_close(&w->d, ']');
}

static void put_spans(struct writer *w, const struct hlg_image *image)
{
	const struct hlg_span *span = image->spans.span;
	size_t n;
	struct hlg_page_outline *o =
		hlg_page_outlines_of(image, !w->cut.outlines, w->v->rows, w->n_rows, &n);
	uint64_t at, before = 0;

	w->lost |= !o;
	hlg_page_data_open(&w->d, "spans", '{');
	hlg_page_data_open(&w->d, "at", '[');
	for (size_t i = 0; i < n; i++) {
		at = offset(w, image, span[o[i].span].start);
		hlg_page_data_number(&w->d, NULL, at - before);
		before = at;
	}
	hlg_page_data_close(&w->d, ']');
	HLG_PAGE_DATA_LIST(&w->d, "size", n, number, o[i].size);
	HLG_PAGE_DATA_LIST(&w->d, "kind", n, number,
			   o[i].symbols ? HLG_FUNCTION : span[o[i].span].kind);
	put_span_names(w, image, o, n);
	hlg_page_data_close(&w->d, '}');
	free(o);
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
		hlg_page_data_text(&w->d, "name", hlg_image_short_name(image));
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

/* The i-th caller that no sample was taken in. */
static const struct hlg_children_row *caller(const struct writer *w, size_t i)
{
	return &w->children.rows[w->callers[i]];
}

/* Of each row, of what all others have together, of each caller. */
#define ROWS(w, key, type, of_row, of_rest, of_caller)                                   \
	do {                                                                             \
		hlg_page_data_open(&(w)->d, key, '[');                                   \
		for (size_t i = 0; i < (w)->n_rows; i++) {                               \
			const struct hlg_row *row = &(w)->v->rows[i];                    \
                                                                                         \
			hlg_page_data_##type(&(w)->d, NULL, of_row);                     \
		}                                                                        \
		if ((w)->n_rows < (w)->v->n_rows)                                        \
			hlg_page_data_##type(&(w)->d, NULL, of_rest);                    \
		for (size_t i = 0; i < (w)->n_shown_callers; i++) {                      \
			const struct hlg_path_place *of =                                \
				&(w)->children.paths.places[caller(w, i)->place];        \
                                                                                         \
			(void)of;                                                        \
			hlg_page_data_##type(&(w)->d, NULL, of_caller);                  \
		}                                                                        \
		hlg_page_data_close(&(w)->d, ']');                                       \
	} while (0)

static void put_row_shares(struct writer *w)
{
	uint64_t total = total_of(w);
	struct hlg_share rest = hlg_interval_wilson(
		total ? (double)w->rest / (double)total : 0, hlg_view_worth(w->v));

	ROWS(w, "count", number, weigh(w, row->count), w->rest, 0);
	ROWS(w, "samples", number, row->count.samples, w->rest_samples, 0);
	ROWS(w, "low", real, row->share.low, rest.low, 0);
	ROWS(w, "high", real, row->share.high, rest.high, 0);
	ROWS(w, "unsure", number, row->unsure && i + 1 < w->n_rows, 0, 0);
	if (w->with) /* of the others it is not known how many samples have any of them */
		ROWS(w, "with", number, w->with[row - w->v->rows], w->rest,
		     weigh(w, caller(w, i)->count));
}

/* What the row of all others is called. */
static void name_rest(const struct writer *w, char name[static 80])
{
	char below[32];

	snprintf(name, 80, "[%zu %s below %s]", w->cut.is.rows,
		 w->r->suppressed ? "addresses" : "functions",
		 hlg_page_cut_below(below, w->cut.is.row_share));
}

static void put_rows(struct writer *w)
{
	char rest[80];

	name_rest(w, rest);
	hlg_page_data_open(&w->d, "rows", '{');
	ROWS(w, "name", text, row->name, rest, of->name);
	ROWS(w, "kind", number, w->r->suppressed ? RAW : row->place.kind, HLG_OUTSIDE,
	     of->place.kind);
	ROWS(w, "image", signed, image_of(&row->place), -1, image_of(&of->place));
	ROWS(w, "at", number, offset(w, row->place.image, row->place.start), 0,
	     offset(w, of->place.image, of->place.start));
	ROWS(w, "size", number, size_of(&row->place), 0, size_of(&of->place));
	put_row_shares(w);
	hlg_page_data_close(&w->d, '}');
	if (w->with)
		hlg_page_data_number(&w->d, "withTotal", weigh(w, w->children.all));
}

static void put_addresses(struct writer *w)
{
	const struct hlg_page_address *a = w->addresses.list;
	size_t n = w->addresses.n;

	hlg_page_data_open(&w->d, "addresses", '{');
	HLG_PAGE_DATA_LIST(&w->d, "row", n, number, a[i].row);
	HLG_PAGE_DATA_LIST(&w->d, "at", n, number, a[i].at);
	HLG_PAGE_DATA_LIST(&w->d, "count", n, number, a[i].count);
	hlg_page_data_close(&w->d, '}');
}

/* What is the same however much is cut */

/* False without memory. */
static bool collect_offsets(struct writer *w)
{
	const struct hlg_space *space = w->r->space;

	w->offsets = calloc(space->n_images + 1, sizeof(*w->offsets));
	for (size_t i = 0; w->offsets && i < space->n_images; i++)
		hlg_page_offsets_make(&w->offsets[i], space->images[i]);
	return w->offsets;
}

/* Of what rows are of: VM exits are in none, so in none of who called there. */
static int collect_children(struct writer *w, struct hlg_err *err)
{
	struct hlg_options options = *w->r->options;
	struct hlg_report without = *w->r;
	int rc;

	if (!w->r->stacks || !w->r->callers.stacks)
		return 0;
	w->with = calloc(w->v->n_rows + 1, sizeof(*w->with));
	if (!w->with)
		return hlg_err_memory(err, "page");
	options.border = HLG_BORDER_DROP;
	without.options = &options;
	rc = hlg_children_build(&w->children, &without, w->v, err);
	if (rc < 0)
		return rc;
	w->callers = calloc(w->children.n + 1, sizeof(*w->callers));
	if (!w->callers)
		return hlg_err_memory(err, "page");
	for (size_t i = 0; i < w->children.n; i++) {
		const struct hlg_row *row =
			w->children.paths.places[w->children.rows[i].place].row;

		if (!row)
			w->callers[w->n_callers++] = i;
		else if (row >= w->v->rows && row < w->v->rows + w->v->n_rows)
			w->with[row - w->v->rows] = weigh(w, w->children.rows[i].count);
	}
	return 0;
}

static int collect(struct writer *w, struct hlg_err *err)
{
	int rc;

	if (!collect_offsets(w) ||
	    !hlg_page_addresses_collect(&w->addresses, w->r, w->offsets))
		return hlg_err_memory(err, "page");
	rc = collect_children(w, err);
	if (rc == 0 && w->r->stacks)
		rc = hlg_page_flame_build(&w->flame, w->r, err);
	return rc;
}

static const char *unit_of(const struct writer *w)
{
	uint32_t event = hlg_text_scale_event(w->r, w->v);

	if (w->v->weight == HLG_WEIGHT_SAMPLES || event == UINT32_MAX)
		return "samples";
	return w->r->profile->events[event].kind == HLG_EVENT_TIMER
		       ? "ns"
		       : w->r->profile->events[event].name;
}

/* What each of the guest's samples weighs; 0: that differs. */
static uint64_t each_of(const struct writer *w)
{
	const struct hlg_profile *p = w->r->profile;
	struct hlg_count all = w->v->guest;
	uint64_t mean = all.samples ? all.period / all.samples : 0;
	hlg_u128 squares = 0;

	if (w->v->weight == HLG_WEIGHT_SAMPLES)
		return 1;
	for (uint32_t i = 0; i < p->n_series; i++)
		squares += p->series[i].squares;
	return mean * all.samples == all.period && squares == (hlg_u128)mean * all.period
		       ? mean
		       : 0;
}

/* Which rows there are. */
static void cut_rows(struct writer *w)
{
	uint64_t total = total_of(w);
	size_t n = w->v->n_rows;

	w->n_rows = w->cut.rows < n ? w->cut.rows : n;
	w->n_shown_callers = w->cut.rows < w->n_callers ? w->cut.rows : w->n_callers;
	w->rest = 0;
	w->rest_samples = 0;
	for (size_t i = w->n_rows; i < n; i++) {
		w->rest += weigh(w, w->v->rows[i].count);
		w->rest_samples += w->v->rows[i].count.samples;
	}
	w->cut.is.kept_rows = w->n_rows;
	w->cut.is.rows = n - w->n_rows;
	w->cut.is.callers = w->n_callers - w->n_shown_callers;
	if (w->n_rows < n && total)
		w->cut.is.row_share =
			(double)weigh(w, w->v->rows[w->n_rows].count) / (double)total;
}

static void begin_section(struct writer *w, enum hlg_page_section section)
{
	w->begins[section] = hlg_page_data_size(&w->d);
}

/* As the cut says. False without memory. */
static bool put_all(struct writer *w)
{
	struct hlg_page_time time = {.report = w->r, .cut = &w->cut, .begins = w->begins};

	memset(&w->cut.is, 0, sizeof(w->cut.is));
	cut_rows(w);
	if (!hlg_page_addresses_fold(&w->addresses, w->r, w->offsets, &w->cut))
		return false;
	hlg_page_data_text(&w->d, "weight",
			   w->v->weight == HLG_WEIGHT_SAMPLES ? "samples" : "period");
	hlg_page_data_text(&w->d, "unit", unit_of(w));
	hlg_page_data_number(&w->d, "each", each_of(w));
	hlg_page_data_number(&w->d, "total", total_of(w));
	hlg_page_data_number(&w->d, "guest", weigh(w, w->v->guest));
	hlg_page_data_real(&w->d, "observations", hlg_view_worth(w->v));
	begin_section(w, HLG_PAGE_IMAGES);
	put_images(w);
	begin_section(w, HLG_PAGE_ROWS);
	put_rows(w);
	begin_section(w, HLG_PAGE_ADDRESSES);
	put_addresses(w);
	begin_section(w, HLG_PAGE_FLAME);
	if (w->r->stacks && !hlg_page_flame_put(&w->flame, &w->d, w->r, &w->cut))
		return false;
	for (int i = HLG_PAGE_THREADS; i <= HLG_PAGE_SECTIONS; i++)
		begin_section(w, (enum hlg_page_section)i);
	time.sampled = w->addresses.sampled;
	time.n = w->addresses.n_sampled;
	time.ends = w->flame.ends;
	if (!hlg_page_time_put(&w->d, &time))
		return false;
	begin_section(w, HLG_PAGE_SECTIONS);
	return !w->lost;
}

/* The element, as it is cut, in memory to be freed. */
static int put_element(struct writer *w, const char *id, char **text, size_t *size,
		       struct hlg_err *err)
{
	struct hlg_memstream m;
	FILE *f = hlg_memstream_open(&m);
	int rc = hlg_page_data_begin(&w->d, err);

	if (rc == 0 && (!f || !put_all(w)))
		rc = hlg_err_memory(err, "page");
	if (rc == 0)
		rc = hlg_page_data_end(&w->d, f, id, err);
	*text = hlg_memstream_close(&m);
	*size = m.size;
	if (!*text && rc == 0)
		rc = hlg_err_memory(err, "page");
	return rc;
}

/* After an element that was too large; least: as far as that goes. */
static void cut_more(struct writer *w, size_t room, bool least)
{
	size_t sizes[HLG_PAGE_SECTIONS];

	if (least) {
		hlg_page_cut_least(&w->cut);
		return;
	}
	for (int i = 0; i < HLG_PAGE_SECTIONS; i++)
		sizes[i] = hlg_page_data_packed(&w->d, w->begins[i], w->begins[i + 1]);
	hlg_page_cut_more(&w->cut, sizes, room);
}

static int too_large(struct hlg_err *err)
{
	return hlg_err_set(err, HLG_EINPUT,
			   "--format=html: names and recordings alone need more than "
			   "the %d MB of a page (--format=json has no limit)",
			   HLG_PAGE_BYTES / 1000000);
}

static int write_one(struct hlg_page_element *e, size_t room, struct hlg_err *err)
{
	struct writer w = {.r = e->report,
			   .v = &e->report->all,
			   .exits = e->exits,
			   .cut = HLG_PAGE_CUT_NONE};
	size_t size = 0;
	int rc = collect(&w, err);

	for (int i = 0; i < ROUNDS && rc == 0 && (i == 0 || size > room); i++) {
		if (i)
			cut_more(&w, room, i + 1 == ROUNDS);
		hlg_page_data_finish(&w.d);
		free(e->text);
		e->text = NULL;
		rc = put_element(&w, e->id, &e->text, &size, err);
	}
	if (rc == 0 && size > room)
		rc = too_large(err);
	e->cut = w.cut;
	e->size = size;
	hlg_page_data_finish(&w.d);
	hlg_page_flame_finish(&w.flame);
	hlg_page_addresses_finish(&w.addresses);
	hlg_children_finish(&w.children);
	free(w.offsets);
	free(w.with);
	free(w.callers);
	return rc;
}

int hlg_page_report_data(struct hlg_page_element *elements, size_t n, size_t used,
			 struct hlg_err *err)
{
	size_t room = used < HLG_PAGE_BYTES ? HLG_PAGE_BYTES - used : 0, sum = 0;
	size_t large = 0, left = room;
	int rc = used > HLG_PAGE_BYTES ? too_large(err) : 0;

	for (size_t i = 0; i < n && rc == 0; i++) {
		rc = write_one(&elements[i], room, err);
		sum += elements[i].size;
	}
	if (rc < 0 || sum <= room)
		return rc;
	/* The large ones have what the small ones leave. */
	for (size_t i = 0; i < n; i++) {
		if (elements[i].size > room / n)
			large++;
		else
			left -= elements[i].size;
	}
	for (size_t i = 0; i < n && rc == 0; i++)
		if (elements[i].size > room / n)
			rc = write_one(&elements[i], left / large, err);
	return rc;
}
