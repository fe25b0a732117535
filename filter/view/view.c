// SPDX-License-Identifier: GPL-2.0-only
#include "filter/view/view.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "filter/stats/lockstep.h"
#include "filter/stats/phases.h"
#include "filter/view/place-name.h"
#include "symtab/grow.h"

struct builder {
	struct hlg_view *view;
	const struct hlg_view_input *in;
	struct hlg_view_gaps *gaps;
};

static int compare_hits(const void *a, const void *b)
{
	const struct hlg_hit *x = a, *y = b;

	if (x->border != y->border)
		return x->border - y->border;
	if (x->owner != y->owner)
		return (uintptr_t)x->owner < (uintptr_t)y->owner ? -1 : 1;
	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	return x->ip < y->ip ? -1 : x->ip > y->ip;
}

enum hlg_kind hlg_view_place(const struct hlg_space *space, int gaps, uint64_t ip,
			     struct hlg_place *place)
{
	enum hlg_kind kind;

	hlg_space_lookup(space, ip, place);
	kind = place->kind;
	if (kind == HLG_GAP && gaps == HLG_GAPS_STRETCH &&
	    hlg_image_neighbour(place->image, place, -1)) {
		uint64_t addr = place->addr;

		hlg_image_lookup(place->image, place->start - 1, place);
		place->addr = addr;
	}
	return kind;
}

bool hlg_view_padding(const struct hlg_place *gap, struct hlg_padding *pad)
{
	uint64_t size = gap->end - gap->start;
	unsigned char *bytes;

	*pad = (struct hlg_padding){0, 0};
	if (size > (uint64_t)gap->image->elf.id.size)
		return true; /* larger than its file: not all of it can be read */
	bytes = malloc(size);
	if (!bytes)
		return false;
	if (hlg_image_read(gap->image, gap->start, bytes, size) == size)
		*pad = hlg_padding_find(gap->image->elf.machine, bytes, size);
	free(bytes);
	return true;
}

bool hlg_view_in_padding(const struct hlg_padding *pad, const struct hlg_place *gap)
{
	uint64_t off = gap->addr - gap->start;

	return off < pad->lead || off >= gap->end - gap->start - pad->trail;
}

struct sought {
	const struct hlg_view_gaps *gaps;
	const void *owner;
};

static bool is_sought(const void *ctx, uint32_t number)
{
	const struct sought *sought = ctx;

	return sought->gaps->at[number].owner == sought->owner;
}

/* NULL without memory. */
static const struct hlg_padding *padding_of(struct hlg_view_gaps *gaps,
					    const struct hlg_place *gap)
{
	const struct sought sought = {gaps, gap->owner};
	const uint64_t hash =
		hlg_hash_word(HLG_HASH_SEED, (uint64_t)(uintptr_t)gap->owner);
	uint32_t i = hlg_index_find(&gaps->index, hash, is_sought, &sought);

	if (i != HLG_INDEX_NONE)
		return &gaps->at[i].pad;
	if (!HLG_GROW(gaps->at, gaps->n) ||
	    !hlg_view_padding(gap, &gaps->at[gaps->n].pad) ||
	    !hlg_index_add(&gaps->index, hash, gaps->n))
		return NULL;
	gaps->at[gaps->n].owner = gap->owner;
	return &gaps->at[gaps->n++].pad;
}

bool hlg_view_is_filler(struct hlg_view_gaps *gaps, const struct hlg_place *gap,
			bool *filler)
{
	const struct hlg_padding *pad = padding_of(gaps, gap);

	if (pad)
		*filler = hlg_view_in_padding(pad, gap);
	return pad;
}

void hlg_view_gaps_finish(struct hlg_view_gaps *gaps)
{
	free(gaps->at);
	hlg_index_finish(&gaps->index);
	*gaps = (struct hlg_view_gaps){0};
}

struct hlg_place hlg_view_raw_place(const struct hlg_space *space, uint64_t in_lane)
{
	uint64_t ip = hlg_space_ip(space, in_lane);

	return (struct hlg_place){.kind = HLG_OUTSIDE,
				  .addr = ip,
				  .start = ip,
				  .owner = (const void *)(uintptr_t)ip};
}

static char *name_row(const struct builder *b, const struct hlg_place *place, bool border)
{
	char *name;

	if (border)
		return hlg_place_name_border(place, b->in->options->demangle);
	if (!b->in->raw)
		return hlg_place_name(place, b->in->options->demangle);
	return asprintf(&name, "0x%" PRIx64, place->addr) < 0 ? NULL : name;
}

static void add_hit(struct builder *b, const struct hlg_cell *cell,
		    const struct hlg_place *place, bool filler, bool border)
{
	struct hlg_view *v = b->view;

	v->hits[v->n_hits++] = (struct hlg_hit){.ip = cell->ip,
						.addr = place->addr,
						.count = cell->count,
						.series = cell->series,
						.tid = cell->tid,
						.rank = b->in->rank[cell->series],
						.owner = place->owner,
						.filler = filler,
						.border = border};
}

static bool place_cell(struct builder *b, const struct hlg_cell *cell)
{
	struct hlg_view *v = b->view;
	int gaps = b->in->options->gaps;
	struct hlg_place place, gap;
	enum hlg_kind kind = hlg_view_place(b->in->space, gaps, cell->ip, &place);
	bool filler = false;

	hlg_count_add(&v->guest, cell->count);
	if (hlg_border_has(b->in->border, place.image, place.addr)) {
		hlg_count_add(&v->border, cell->count);
		add_hit(b, cell, &place, false, true);
		return true;
	}
	hlg_count_add(&v->kinds[kind], cell->count);
	if (cell->ip == 0)
		hlg_count_add(&v->ip_zero, cell->count);
	if (kind == HLG_GAP) {
		hlg_space_lookup(b->in->space, cell->ip, &gap);
		if (!hlg_view_is_filler(b->gaps, &gap, &filler))
			return false;
	}
	if (filler)
		hlg_count_add(&v->padding, cell->count);
	if (kind == HLG_GAP && gaps == HLG_GAPS_DROP) {
		hlg_count_add(&v->dropped, cell->count);
		return true;
	}
	if (kind != place.kind && !b->in->raw)
		hlg_count_add(&v->stretched, cell->count);
	if (b->in->raw)
		place = hlg_view_raw_place(b->in->space, cell->ip);
	add_hit(b, cell, &place, filler, false);
	return true;
}

static bool place_cells(struct builder *b)
{
	struct hlg_view *v = b->view;

	v->hits = malloc((b->in->n_cells + 1) * sizeof(*v->hits));
	if (!v->hits)
		return false;
	for (size_t i = 0; i < b->in->n_cells; i++)
		if (!place_cell(b, &b->in->cells[i]))
			return false;
	qsort(v->hits, v->n_hits, sizeof(*v->hits), compare_hits);
	return true;
}

static bool make_row(struct builder *b, size_t first, size_t end)
{
	struct hlg_view *v = b->view;
	bool border = v->hits[first].border;
	struct hlg_row *row = border ? &v->borders[v->n_borders] : &v->rows[v->n_rows];

	*row = (struct hlg_row){
		.first_hit = first, .n_hits = end - first, .border = border, .design = 1};
	if (b->in->raw)
		row->place = hlg_view_raw_place(b->in->space, v->hits[first].ip);
	else
		hlg_view_place(b->in->space, b->in->options->gaps, v->hits[first].ip,
			       &row->place);
	for (size_t i = first; i < end; i++) {
		hlg_count_add(&row->count, v->hits[i].count);
		if (row->place.kind == HLG_GAP && v->hits[i].filler)
			hlg_count_add(&row->padding, v->hits[i].count);
	}
	row->name = name_row(b, &row->place, border);
	if (!row->name)
		return false;
	*(border ? &v->n_borders : &v->n_rows) += 1;
	return true;
}

static bool is_same_row(const struct hlg_hit *a, const struct hlg_hit *b)
{
	return a->owner == b->owner && a->border == b->border;
}

static bool make_rows(struct builder *b)
{
	struct hlg_view *v = b->view;
	size_t owners[2] = {0, 0}, n = v->n_hits;

	for (size_t i = 0; i < n; i++) {
		owners[v->hits[i].border] +=
			i == 0 || !is_same_row(&v->hits[i], &v->hits[i - 1]);
		v->n_border_hits += v->hits[i].border;
	}
	v->n_hits -= v->n_border_hits;
	v->rows = malloc((owners[0] + 1) * sizeof(*v->rows));
	v->borders = malloc((owners[1] + 1) * sizeof(*v->borders));
	if (!v->rows || !v->borders)
		return false;
	for (size_t i = 0, j; i < n; i = j) {
		for (j = i + 1; j < n && is_same_row(&v->hits[j], &v->hits[i]); j++)
			;
		if (!make_row(b, i, j))
			return false;
	}
	return true;
}

int hlg_view_compare_images(const struct hlg_image *a, const struct hlg_image *b)
{
	int order;

	if (!a || !b)
		return !a - !b;
	order = strcmp(a->path, b->path);
	return order ? order : a->base < b->base ? -1 : a->base > b->base;
}

static int compare_rows(const void *a, const void *b, void *view)
{
	const struct hlg_row *x = a, *y = b;
	enum hlg_weight weight = ((const struct hlg_view *)view)->weight;
	uint64_t wx = hlg_count_weigh(weight, x->count),
		 wy = hlg_count_weigh(weight, y->count);

	if (wx != wy)
		return wx > wy ? -1 : 1;
	if (x->place.start != y->place.start)
		return x->place.start < y->place.start ? -1 : 1;
	if (x->place.image != y->place.image)
		return hlg_view_compare_images(x->place.image, y->place.image);
	if (x->place.kind != y->place.kind)
		return (int)x->place.kind - (int)y->place.kind;
	return x->place.symbol < y->place.symbol ? -1 : x->place.symbol > y->place.symbol;
}

/* Where a row's samples are: by address and series, in a table of 2^bits. */
struct known {
	uint64_t ip;
	uint32_t series, row; /* row + 1; 0: free */
};

static struct known *find_known(struct known *known, unsigned bits, uint64_t ip,
				uint32_t series)
{
	size_t mask = ((size_t)1 << bits) - 1;
	size_t i = (ip ^ (uint64_t)series << 48) * hlg_hash_factor >> (64 - bits);

	while (known[i].row && (known[i].ip != ip || known[i].series != series))
		i = (i + 1) & mask;
	return &known[i];
}

/* Each moment's row, borders behind the rows; to be freed. NULL without memory. */
static uint32_t *rows_of_moments(const struct builder *b)
{
	const struct hlg_view *v = b->view;
	size_t n = v->n_rows + v->n_borders;
	uint32_t *rows = malloc((b->in->n_moments + 1) * sizeof(*rows));
	struct known *known;
	unsigned bits = 4;

	while ((size_t)1 << bits < 2 * (v->n_hits + v->n_border_hits))
		bits++;
	known = calloc((size_t)1 << bits, sizeof(*known));
	for (size_t i = 0; known && i < n; i++) {
		const struct hlg_row *row = hlg_view_row(v, i);

		for (size_t k = row->first_hit; k < row->first_hit + row->n_hits; k++)
			*find_known(known, bits, v->hits[k].ip, v->hits[k].series) =
				(struct known){v->hits[k].ip, v->hits[k].series,
					       (uint32_t)i + 1};
	}
	for (size_t i = 0; known && rows && i < b->in->n_moments; i++) {
		const struct hlg_moment *m = &b->in->moments[i];
		uint32_t row = find_known(known, bits, m->ip, m->series)->row;

		rows[i] = row ? row - 1 : (uint32_t)n;
	}
	if (!known) {
		free(rows);
		rows = NULL;
	}
	free(known);
	return rows;
}

/* Are samples in step with what the guest does? False without memory. */
static bool find_steps(struct builder *b, const uint32_t *rows, size_t n_rows)
{
	const size_t n = b->in->clock ? b->in->n_moments : 0;
	uint64_t *times = malloc((n + 1) * sizeof(*times));
	bool ok;

	for (size_t i = 0; times && i < n; i++)
		times[i] = b->in->moments[i].time;
	ok = times &&
	     hlg_lockstep_find(&b->view->in_step, times, rows, n, n_rows, b->in->clock);
	free(times);
	return ok;
}

/* What rows are worth: one sample at least, as all of a row's may be of one phase. */
static bool find_phases(struct builder *b)
{
	struct hlg_view *v = b->view;
	size_t n = v->n_rows + v->n_borders;
	struct hlg_phases phases = {.all = 1};
	uint32_t *rows;
	bool ok;

	if (b->in->n_moments == 0)
		return true;
	rows = rows_of_moments(b);
	ok = rows && hlg_phases_find(&phases, rows, b->in->n_moments, n, b->in->halved) &&
	     find_steps(b, rows, n);
	v->design = phases.all;
	for (size_t i = 0; phases.rows && i < n; i++) {
		struct hlg_row *row =
			i < v->n_rows ? &v->rows[i] : &v->borders[i - v->n_rows];

		row->design = fmax(1, fmin(phases.rows[i], (double)row->count.samples));
	}
	free(rows);
	hlg_phases_finish(&phases);
	return ok;
}

/* Shares of rows of a total that n observations are worth. */
static void share_rows(struct hlg_view *v, struct hlg_row *rows, size_t n_rows,
		       struct hlg_count of, double n)
{
	double total = (double)hlg_count_weigh(v->weight, of);

	for (size_t i = 0; i < n_rows; i++) {
		double w = (double)hlg_count_weigh(v->weight, rows[i].count);

		rows[i].share = hlg_interval_wilson(total > 0 ? w / total : 0,
						    n / rows[i].design);
		rows[i].few =
			hlg_interval_is_few(rows[i].count.samples, rows[i].share.share);
		if (rows[i].few)
			rows[i].share.low = 0;
	}
	qsort_r(rows, n_rows, sizeof(*rows), compare_rows, v);
	for (size_t i = 0; i + 1 < n_rows; i++)
		rows[i].unsure = rows[i].share.low <= rows[i + 1].share.high;
}

static void share_out(struct builder *b)
{
	struct hlg_view *v = b->view;
	double n = (double)v->guest.samples;

	v->kept = v->guest;
	hlg_count_sub(&v->kept, v->dropped);
	hlg_count_sub(&v->kept, v->border);
	if (v->weight == HLG_WEIGHT_PERIOD)
		n = hlg_interval_effective(v->guest.samples, v->guest.period,
					   b->in->squares);
	/* What was dropped, or is the border's, had its part of the observations. */
	v->observations = v->guest.samples
				  ? n * (double)v->kept.samples / (double)v->guest.samples
				  : 0;
	share_rows(v, v->rows, v->n_rows, v->kept, v->observations);
	v->guest_observations = n;
	share_rows(v, v->borders, v->n_borders, v->guest, n);
}

int hlg_view_build(struct hlg_view *view, const struct hlg_view_input *in,
		   struct hlg_err *err)
{
	struct hlg_view_gaps own = {0};
	struct builder b = {
		.view = view, .in = in, .gaps = in->gaps ? in->gaps : &own};
	bool ok;

	memset(view, 0, sizeof(*view));
	view->weight = in->weight;
	view->design = 1;
	ok = place_cells(&b) && make_rows(&b) && find_phases(&b);
	hlg_view_gaps_finish(&own);
	if (!ok)
		return hlg_err_memory(err, "report");
	share_out(&b);
	return 0;
}

struct hlg_count hlg_view_exits_of(const struct hlg_view *view, const struct hlg_row *row,
				   const struct hlg_border *border)
{
	struct hlg_count at = {0, 0};

	for (size_t i = 0; border->n && i < row->n_hits; i++) {
		const struct hlg_hit *hit = &view->hits[row->first_hit + i];

		if (hlg_border_has(border, row->place.image, hit->addr))
			hlg_count_add(&at, hit->count);
	}
	return at;
}

struct hlg_count hlg_view_exits(const struct hlg_view *view,
				const struct hlg_border *border)
{
	struct hlg_count at = {0, 0};

	for (size_t i = 0; i < view->n_rows; i++)
		hlg_count_add(&at, hlg_view_exits_of(view, &view->rows[i], border));
	return at;
}

void hlg_view_finish(struct hlg_view *view)
{
	for (size_t i = 0; i < view->n_rows; i++) {
		free(view->rows[i].name);
		free(view->rows[i].apart);
	}
	for (size_t i = 0; i < view->n_borders; i++)
		free(view->borders[i].name);
	free(view->rows);
	free(view->borders);
	free(view->order);
	free(view->hits);
	free(view->regions);
	free(view->parts);
	memset(view, 0, sizeof(*view));
}
