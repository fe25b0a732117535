// SPDX-License-Identifier: GPL-2.0-only
#include "filter/report/children.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "filter/report/rows.h"

static const struct hlg_path_frame *frames_of(const struct hlg_children *c,
					      const struct hlg_path *path)
{
	return &c->paths.frames[path->first];
}

/* The frame that the sample is credited to: behind what was inlined there. */
static const struct hlg_path_frame *own_frame(const struct hlg_children *c,
					      const struct hlg_path *path)
{
	const struct hlg_path_frame *frame = frames_of(c, path);

	while (frame->kind == HLG_CALLER_INLINED)
		frame++;
	return frame;
}

static bool is_counted(const struct hlg_path *path, const struct hlg_report *r)
{
	return !path->row->border || r->options->border != HLG_BORDER_DROP;
}

static void see(struct hlg_children_row *row, const struct hlg_path *path, size_t frame)
{
	size_t depth = path->n - frame;

	if (!row->n_paths || depth < row->depth)
		row->depth = depth;
	hlg_count_add(&row->count, path->count);
	if (path->cut)
		hlg_count_add(&row->cut, path->count);
	row->n_paths++;
}

/* Counts each path once in each of its places; seen has a number for each place. Returns
 * how often that was. */
static size_t count(struct hlg_children *c, const struct hlg_report *r, size_t *seen)
{
	struct hlg_children_row *rows = c->rows;
	size_t n = 0;

	for (size_t i = 0; i < c->paths.n; i++) {
		const struct hlg_path *path = &c->paths.paths[i];
		const struct hlg_path_frame *frames = frames_of(c, path);

		if (!is_counted(path, r))
			continue;
		if (path->cut)
			hlg_count_add(&c->cut, path->count);
		hlg_count_add(&rows[own_frame(c, path)->place].self, path->count);
		for (size_t k = path->n; k-- > 0;) {
			if (seen[frames[k].place] == i + 1)
				continue;
			seen[frames[k].place] = i + 1;
			see(&rows[frames[k].place], path, k);
			n++;
		}
	}
	return n;
}

/* Tells each row its paths, of which there are n in all; seen is as count() left it. */
static bool list(struct hlg_children *c, const struct hlg_report *r, size_t *seen,
		 size_t n)
{
	c->stacks = calloc(n + 1, sizeof(*c->stacks));
	if (!c->stacks)
		return false;
	n = 0;
	for (uint32_t i = 0; i < c->paths.n_places; i++) {
		c->rows[i].first = n;
		n += c->rows[i].n_paths;
		c->rows[i].n_paths = 0;
	}
	for (size_t i = 0; i < c->paths.n; i++) {
		const struct hlg_path *path = &c->paths.paths[i];
		const struct hlg_path_frame *frames = frames_of(c, path);
		size_t now = c->paths.n + i + 1;

		for (size_t k = 0; is_counted(path, r) && k < path->n; k++) {
			struct hlg_children_row *row = &c->rows[frames[k].place];

			if (seen[frames[k].place] == now)
				continue;
			seen[frames[k].place] = now;
			c->stacks[row->first + row->n_paths++] = i;
		}
	}
	return true;
}

struct order {
	const struct hlg_children *children;
	enum hlg_weight weight;
	int sort;
};

/* Of its image; those outside of all behind. */
static uint64_t number_of(const struct hlg_place *place)
{
	return place->image ? place->image->number : UINT64_MAX;
}

static int compare(const void *a, const void *b, void *ctx)
{
	const struct order *order = ctx;
	const struct hlg_path_place *places = order->children->paths.places;
	const struct hlg_children_row *x = a, *y = b;
	uint64_t p = hlg_count_weigh(order->weight, x->count);
	uint64_t q = hlg_count_weigh(order->weight, y->count);
	int names;

	if (p != q)
		return p > q ? -1 : 1;
	if (x->depth != y->depth)
		return x->depth < y->depth ? -1 : 1;
	names = strcmp(places[x->place].name, places[y->place].name);
	if (names)
		return names;
	p = places[x->place].place.start;
	q = places[y->place].place.start;
	if (p != q)
		return p < q ? -1 : 1;
	p = number_of(&places[x->place].place);
	q = number_of(&places[y->place].place);
	return p < q ? -1 : p > q;
}

/* all > 0: what shares are of; n observations. */
static void add_share(struct hlg_children_row *row, const struct hlg_children *c,
		      enum hlg_weight weight, double all, double n)
{
	double count = (double)hlg_count_weigh(weight, row->count);
	/* What exits is an instruction, and calls nothing. */
	bool calls = c->paths.places[row->place].frame != HLG_FRAME_BORDER;
	double cut = calls ? (double)hlg_count_weigh(weight, c->cut) -
				     (double)hlg_count_weigh(weight, row->cut)
			   : 0;
	struct hlg_share most = hlg_interval_wilson(fmin(1, (count + cut) / all), n);

	row->share = hlg_interval_wilson(count / all, n);
	row->at_least =
		most.high - row->share.high > (row->share.high - row->share.low) / 2;
	row->share.high = fmax(most.high, row->share.high);
	row->self_share = (double)hlg_count_weigh(weight, row->self) / all;
}

static void add_shares(struct hlg_children *c, const struct hlg_report *r,
		       const struct hlg_view *v)
{
	double all = (double)hlg_count_weigh(v->weight, c->all);
	double n = hlg_rows_observations(r, v) / v->design;

	c->design = v->design;
	for (size_t i = 0; i < c->n && all > 0; i++)
		add_share(&c->rows[i], c, v->weight, all, n);
}

int hlg_children_build(struct hlg_children *c, const struct hlg_report *r,
		       const struct hlg_view *v, struct hlg_err *err)
{
	struct order order = {c, v->weight, HLG_SORT_OVERHEAD};
	size_t *seen;
	bool ok;
	int rc;

	*c = (struct hlg_children){.all = hlg_rows_sum(r, v), .weight = v->weight};
	rc = hlg_paths_build(&c->paths, r, v, err);
	if (rc == 0)
		rc = hlg_paths_inline(&c->paths, r, err);
	if (rc < 0)
		return rc;
	seen = calloc((size_t)c->paths.n_places + 1, sizeof(*seen));
	c->rows = calloc((size_t)c->paths.n_places + 1, sizeof(*c->rows));
	ok = seen && c->rows && list(c, r, seen, count(c, r, seen));
	free(seen);
	if (!ok)
		return hlg_err_memory(err, "report");
	for (uint32_t i = 0; i < c->paths.n_places; i++) {
		c->rows[i].place = i;
		if (c->paths.places[i].frame != HLG_FRAME_NOTE &&
		    c->rows[i].count.samples)
			c->rows[c->n++] = c->rows[i];
	}
	qsort_r(c->rows, c->n, sizeof(*c->rows), compare, &order);
	add_shares(c, r, v);
	return 0;
}

void hlg_children_finish(struct hlg_children *c)
{
	hlg_paths_finish(&c->paths);
	free(c->rows);
	free(c->stacks);
	*c = (struct hlg_children){0};
}

static int compare_shown(const void *a, const void *b, void *ctx)
{
	const struct order *order = ctx;
	const struct hlg_path_place *places = order->children->paths.places;
	const struct hlg_children_row *x = a, *y = b;
	const struct hlg_place *p = &places[x->place].place, *q = &places[y->place].place;
	uint64_t k = 0, l = 0;
	int names;

	switch (order->sort) {
	case HLG_SORT_SELF:
		k = hlg_count_weigh(order->weight, y->self);
		l = hlg_count_weigh(order->weight, x->self);
		break;
	case HLG_SORT_SIZE:
		k = q->end - q->start;
		l = p->end - p->start;
		break;
	case HLG_SORT_ADDRESS:
		k = p->start;
		l = q->start;
		break;
	case HLG_SORT_NAME:
		names = strcmp(places[x->place].name, places[y->place].name);
		return names ? names : compare(a, b, ctx);
	default:
		break;
	}
	return k != l ? (k > l) - (k < l) : compare(a, b, ctx);
}

size_t hlg_children_shown(struct hlg_children *c, const struct hlg_report *r,
			  uint64_t most)
{
	struct order order = {c, c->weight, r->options->sort};
	bool self = order.sort == HLG_SORT_SELF;
	size_t n = 0;

	if (self)
		qsort_r(c->rows, c->n, sizeof(*c->rows), compare_shown, &order);
	while (n < c->n && (!most || n < most) &&
	       hlg_rows_shows(r, self ? c->rows[n].self_share : c->rows[n].share.share,
			      n))
		n++;
	if (!self && order.sort != HLG_SORT_OVERHEAD)
		qsort_r(c->rows, n, sizeof(*c->rows), compare_shown, &order);
	return n;
}

struct hlg_row hlg_children_row(const struct hlg_children *c, size_t i)
{
	const struct hlg_path_place *place = &c->paths.places[c->rows[i].place];

	return (struct hlg_row){.place = place->place,
				.count = c->rows[i].count,
				.share = c->rows[i].share,
				.design = c->design,
				.border = place->frame == HLG_FRAME_BORDER,
				.inlined = place->inlined,
				.name = place->name};
}

/* The outermost frame of a place that is there. */
static size_t find(const struct hlg_children *c, const struct hlg_path *path,
		   uint32_t place)
{
	const struct hlg_path_frame *frames = frames_of(c, path);

	size_t i = path->n - 1;

	while (i > 0 && frames[i].place != place)
		i--;
	return i;
}

bool hlg_children_tree(struct hlg_tree *tree, const struct hlg_children *c,
		       const struct hlg_children_row *row, bool callers)
{
	if (!hlg_tree_init(tree))
		return false;
	for (size_t i = 0; i < row->n_paths; i++) {
		const struct hlg_path *path = &c->paths.paths[c->stacks[row->first + i]];
		const struct hlg_path_frame *frames = frames_of(c, path);
		size_t at = find(c, path, row->place);
		uint32_t node = HLG_TREE_ROOT;

		/* at runs over the top for who has no frame below 0. */
		for (at += callers ? 1 : (size_t)-1; at < path->n;
		     at += callers ? 1 : (size_t)-1) {
			const struct hlg_path_place *to =
				&c->paths.places[frames[at].place];

			node = hlg_tree_child(tree, node, to->frame, to->name);
		}
		if (node == HLG_NO_NODE)
			return false;
		hlg_tree_add(tree, node, path->count);
	}
	return hlg_tree_settle(tree, c->weight);
}
