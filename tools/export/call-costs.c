// SPDX-License-Identifier: GPL-2.0-only
#include "tools/export/export.h"

#include <stdlib.h>
#include <string.h>

#include "filter/report/paths.h"
#include "symtab/grow.h"
#include "symtab/unique.h"

struct collector {
	struct hlg_call_costs *costs;
	const struct hlg_report *r;
	const uint32_t *columns;
	size_t n_rows;          /* of the view's, that are functions */
	uint32_t *of_place;     /* functions: of each place of the paths; */
	uint32_t *of_name;      /* plus 1, of each name of the stacks' tree and kind; */
	uint32_t lost, nothing; /* and of what stands below where there is no more */
	struct hlg_call_costs_edge last; /* of the path at hand: to what was met last */
	bool any;                        /* it has met something */
	size_t *met;                     /* by each function: in which path, plus 1 */
};

static uint32_t add_function(struct collector *c,
			     const struct hlg_call_costs_function *function)
{
	struct hlg_call_costs *costs = c->costs;

	if (!HLG_GROW(costs->functions, costs->n_functions))
		return UINT32_MAX;
	costs->functions[costs->n_functions] = *function;
	return (uint32_t)costs->n_functions++;
}

static bool add_rows(struct collector *c)
{
	for (size_t i = 0; i < c->n_rows; i++) {
		const struct hlg_row *row = hlg_view_row(&c->r->all, i);

		if (add_function(c, &(struct hlg_call_costs_function){
					    .name = row->name,
					    .image = row->place.image,
					    .start = row->place.start,
					    .row = row}) == UINT32_MAX)
			return false;
	}
	return true;
}

/* The number of a row in the view, as hlg_view_row has it. */
static size_t row_number(const struct hlg_view *v, const struct hlg_row *row)
{
	return row->border ? v->n_rows + (size_t)(row - v->borders)
			   : (size_t)(row - v->rows);
}

static bool add_places(struct collector *c)
{
	const struct hlg_paths *paths = &c->costs->paths;

	for (uint32_t i = 0; i < paths->n_places; i++) {
		const struct hlg_path_place *p = &paths->places[i];

		if (p->row && row_number(&c->r->all, p->row) < c->n_rows)
			c->of_place[i] = (uint32_t)row_number(&c->r->all, p->row);
		else
			c->of_place[i] =
				add_function(c, &(struct hlg_call_costs_function){
							.name = p->name,
							.image = p->place.image,
							.start = p->place.start});
		if (c->of_place[i] == UINT32_MAX)
			return false;
	}
	return true;
}

static uint32_t add_name(struct collector *c, const char *name, unsigned kind)
{
	return add_function(
		c, &(struct hlg_call_costs_function){.name = name, .kind = kind});
}

/* One more function of a path, which come from the outermost on; addr: of its call of the
 * next one. A function that is met again has its costs already. */
static bool meet(struct collector *c, size_t path, uint32_t function, uint64_t addr)
{
	struct hlg_call_costs *costs = c->costs;

	if (function == UINT32_MAX)
		return false;
	if (c->met[function] != path + 1 && c->any) {
		c->last.callee = function;
		if (!HLG_GROW(costs->edges, costs->n_edges))
			return false;
		costs->edges[costs->n_edges++] = c->last;
	}
	c->met[function] = path + 1;
	c->last.caller = function;
	c->last.addr = addr;
	c->any = true;
	return true;
}

/* The function of a node of the stacks' tree. */
static uint32_t name_node(struct collector *c, const struct hlg_node *node)
{
	const struct hlg_tree *tree = &c->r->stacks->tree;
	uint32_t *number = &c->of_name[(size_t)node->name * HLG_N_FRAMES + node->frame];

	if (*number == 0)
		*number = add_name(c, hlg_tree_name(tree, node), 1 + node->frame) + 1;
	return *number - 1;
}

/* All nodes have one before the first path: then the number of functions is known. */
static bool add_nodes(struct collector *c)
{
	const struct hlg_tree *tree = &c->r->stacks->tree;

	for (uint32_t i = 1; i < tree->n; i++)
		if (name_node(c, &tree->nodes[i]) == UINT32_MAX)
			return false;
	c->lost = add_name(c, HLG_STACKS_LOST, 0);
	c->nothing = add_name(c, "[guest]", 0);
	return c->lost != UINT32_MAX && c->nothing != UINT32_MAX;
}

/* By what they are: names, then images. */
static int compare_functions(const void *a, const void *b)
{
	const struct hlg_call_costs_function *x = a, *y = b;
	const unsigned first = x->image ? x->image->number + 1 : 0;
	const unsigned second = y->image ? y->image->number + 1 : 0;
	const int order = strcmp(x->name, y->name);

	if (order)
		return order;
	if (first != second)
		return first < second ? -1 : 1;
	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->kind < y->kind ? -1 : x->kind > y->kind;
}

/* Numbers functions that are no rows by what they are: places and names come in the order
 * in which recordings were read, which is another each time that several are at once. */
static bool number_functions(struct collector *c)
{
	struct hlg_call_costs_function *functions = c->costs->functions;
	const size_t n = c->costs->n_functions;
	const size_t n_names = (size_t)c->r->stacks->tree.names.n + 1;
	uint32_t *now = calloc(n + 1, sizeof(*now)); /* by the number that it had */

	if (!now)
		return false;
	for (size_t i = 0; i < n; i++)
		functions[i].was = (uint32_t)i;
	if (n > c->n_rows)
		qsort(functions + c->n_rows, n - c->n_rows, sizeof(*functions),
		      compare_functions);
	for (size_t i = 0; i < n; i++)
		now[functions[i].was] = (uint32_t)i;
	for (uint32_t i = 0; i < c->costs->paths.n_places; i++)
		c->of_place[i] = now[c->of_place[i]];
	for (size_t i = 0; i < n_names * HLG_N_FRAMES; i++)
		if (c->of_name[i])
			c->of_name[i] = now[c->of_name[i] - 1] + 1;
	c->lost = now[c->lost];
	c->nothing = now[c->nothing];
	free(now);
	return true;
}

/* The host's half, from the outermost frame on; words on why there is none are no frame.
 */
static bool meet_host(struct collector *c, size_t path, uint32_t node)
{
	const struct hlg_tree *tree = &c->r->stacks->tree;
	uint32_t depth = tree->nodes[node].depth;
	uint32_t *nodes = calloc((size_t)depth + 1, sizeof(*nodes));
	bool ok = nodes;

	for (uint32_t i = depth; ok && i > 0; i--, node = tree->nodes[node].parent)
		nodes[i] = node;
	for (uint32_t i = 1; ok && i <= depth; i++) {
		const struct hlg_node *at = &tree->nodes[nodes[i]];

		ok = at->frame == HLG_FRAME_NOTE || meet(c, path, name_node(c, at), 0);
	}
	free(nodes);
	return ok;
}

/* Where in its function a frame calls the next one, the image's own address. */
static uint64_t call_of(const struct collector *c, const struct hlg_path_frame *frame)
{
	struct hlg_place place = {0};

	if (frame->kind == HLG_CALLER_RECORDED && !c->r->suppressed)
		hlg_space_lookup(c->r->space, frame->ip, &place);
	else if (frame->kind == HLG_CALLER_RECORDED)
		place.addr = frame->ip;
	else if (frame->kind == HLG_CALLER_INSERTED)
		place.addr = c->costs->paths.places[frame->place].place.start;
	return place.addr;
}

static bool add_path(struct collector *c, size_t number)
{
	const struct hlg_paths *paths = &c->costs->paths;
	const struct hlg_path *path = &paths->paths[number];

	if (row_number(&c->r->all, path->row) >= c->n_rows)
		return true; /* of the border, which is not shown */
	c->any = false;
	c->last.column = c->columns[path->series];
	c->last.count = path->count;
	if (path->node != HLG_NO_NODE && !meet_host(c, number, path->node))
		return false;
	/* All have somebody below them, so that what is called is never outermost, too.
	 */
	if (!c->any &&
	    !meet(c, number, path->node == HLG_NO_NODE ? c->lost : c->nothing, 0))
		return false;
	for (size_t i = path->n; i-- > 0;) {
		const struct hlg_path_frame *frame = &paths->frames[path->first + i];

		if (!meet(c, number, c->of_place[frame->place], call_of(c, frame)))
			return false;
	}
	return true;
}

static int compare(const void *a, const void *b)
{
	const struct hlg_call_costs_edge *x = a, *y = b;

	if (x->caller != y->caller)
		return x->caller < y->caller ? -1 : 1;
	if (x->addr != y->addr)
		return x->addr < y->addr ? -1 : 1;
	if (x->callee != y->callee)
		return x->callee < y->callee ? -1 : 1;
	return x->column < y->column ? -1 : x->column > y->column;
}

static void add_count(void *to, const void *from)
{
	struct hlg_call_costs_edge *edge = to;

	hlg_count_add(&edge->count, ((const struct hlg_call_costs_edge *)from)->count);
}

static bool add_paths(struct collector *c)
{
	const struct hlg_stacks *s = c->r->stacks;
	struct hlg_paths *paths = &c->costs->paths;
	struct hlg_err err;
	bool ok = hlg_paths_build(paths, c->r, &c->r->all, &err) == 0;

	c->of_place = calloc((size_t)paths->n_places + 1, sizeof(*c->of_place));
	c->of_name =
		calloc(((size_t)s->tree.names.n + 1) * HLG_N_FRAMES, sizeof(*c->of_name));
	ok = ok && c->of_place && c->of_name && add_places(c) && add_nodes(c) &&
	     number_functions(c);
	c->met = ok ? calloc(c->costs->n_functions, sizeof(*c->met)) : NULL;
	ok = ok && c->met;
	for (size_t i = 0; ok && i < paths->n; i++)
		ok = add_path(c, i);
	free(c->of_place);
	free(c->of_name);
	free(c->met);
	return ok;
}

bool hlg_call_costs_collect(struct hlg_call_costs *costs, const struct hlg_report *report,
			    size_t n_rows, const uint32_t *columns)
{
	struct collector c = {
		.costs = costs, .r = report, .columns = columns, .n_rows = n_rows};

	*costs = (struct hlg_call_costs){0};
	if (!add_rows(&c) || (report->stacks && !add_paths(&c)))
		return false;
	costs->n_edges = HLG_UNIQUE(costs->edges, costs->n_edges, compare, add_count);
	return true;
}

void hlg_call_costs_finish(struct hlg_call_costs *costs)
{
	hlg_paths_finish(&costs->paths);
	free(costs->functions);
	free(costs->edges);
	*costs = (struct hlg_call_costs){0};
}
