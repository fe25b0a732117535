// SPDX-License-Identifier: GPL-2.0-only
#include "filter/report/callgraph.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "filter/report/rows.h"
#include "filter/view/place-name.h"

/* What a view says of one address of a series, and what no stack has told of it yet. */
struct credit {
	uint64_t ip;
	uint32_t series;
	const struct hlg_row *row;
	struct hlg_count rest;
};

static int compare_credits(const void *a, const void *b)
{
	const struct credit *x = a, *y = b;

	if (x->series != y->series)
		return x->series < y->series ? -1 : 1;
	return x->ip < y->ip ? -1 : x->ip > y->ip;
}

static void add_credits(struct credit *credits, size_t *n, const struct hlg_view *v,
			const struct hlg_row *rows, size_t n_rows)
{
	for (size_t i = 0; i < n_rows; i++) {
		const struct hlg_hit *hits = v->hits + rows[i].first_hit;

		for (size_t k = 0; k < rows[i].n_hits; k++)
			credits[(*n)++] = (struct credit){hits[k].ip, hits[k].series,
							  &rows[i], hits[k].count};
	}
}

/* Those of the rows that are shown; to be freed; NULL without memory. */
static struct credit *make_credits(const struct hlg_report *r, const struct hlg_view *v,
				   size_t *n)
{
	struct credit *credits =
		malloc((v->n_hits + v->n_border_hits + 1) * sizeof(*credits));

	*n = 0;
	if (!credits)
		return NULL;
	add_credits(credits, n, v, v->rows,
		    hlg_rows_shown(r, v->n_rows, hlg_rows_share, v));
	add_credits(credits, n, v, v->borders, hlg_rows_borders_shown(r, v));
	qsort(credits, *n, sizeof(*credits), compare_credits);
	return credits;
}

static uint32_t child(struct hlg_growing *to, uint32_t node, enum hlg_frame frame,
		      const char *name)
{
	return hlg_tree_child(to->tree, node, frame, name);
}

void hlg_callgraph_add(struct hlg_growing *to, uint32_t node, struct hlg_count count)
{
	if (node == HLG_NO_NODE)
		to->ok = false;
	else
		hlg_tree_add(to->tree, node, count);
}

static const char *section_of(const struct hlg_image *image, uint64_t addr)
{
	for (size_t i = 0; i < image->n_areas; i++)
		if (addr >= image->areas[i].start && addr < image->areas[i].end &&
		    image->areas[i].section)
			return image->elf.sections[image->areas[i].section].name;
	return "[no section]";
}

static uint32_t add_roots(struct hlg_growing *to, uint32_t node,
			  const struct hlg_report *r, uint64_t ip)
{
	struct hlg_place place;

	hlg_space_lookup(r->space, ip, &place);
	if (r->options->roots & HLG_ROOT_IMAGE)
		node = child(to, node, HLG_FRAME_GROUP,
			     place.image ? place.image->path : "[outside]");
	if (r->options->roots & HLG_ROOT_SECTION)
		node = child(to, node, HLG_FRAME_GROUP,
			     place.image ? section_of(place.image, place.addr)
					 : "[no section]");
	return node;
}

/*
 * The frames of a host node on top of to's node, and between its groups and the rest what
 * roots= says of a guest's ip, if it is not NULL.
 */
static uint32_t copy_path(struct hlg_growing *to, uint32_t node,
			  const struct hlg_report *r, uint32_t from, const uint64_t *ip)
{
	const struct hlg_tree *tree = &r->stacks->tree;
	uint32_t depth = tree->nodes[from].depth;
	uint32_t *path = malloc((depth + 1) * sizeof(*path));
	bool rooted = !ip;

	if (!path)
		return HLG_NO_NODE;
	for (uint32_t i = depth; i > 0; i--, from = tree->nodes[from].parent)
		path[i] = from;
	for (uint32_t i = 1; i <= depth; i++) {
		const struct hlg_node *step = &tree->nodes[path[i]];

		if (!rooted && step->frame != HLG_FRAME_GROUP) {
			node = add_roots(to, node, r, *ip);
			rooted = true;
		}
		node = child(to, node, step->frame, hlg_tree_name(tree, step));
	}
	free(path);
	return rooted ? node : add_roots(to, node, r, *ip);
}

enum hlg_frame hlg_callgraph_frame(const struct hlg_place *place)
{
	return place->kind == HLG_FUNCTION || place->kind == HLG_LABEL ? HLG_FRAME_GUEST
								       : HLG_FRAME_GAP;
}

enum hlg_frame hlg_callgraph_row_frame(const struct hlg_row *row)
{
	return row->border ? HLG_FRAME_BORDER : hlg_callgraph_frame(&row->place);
}

/* A caller in the guest; return is behind the call, which may end its function. move is
 * that of the guest's lane. */
static uint32_t add_caller(struct hlg_growing *to, uint32_t node,
			   const struct hlg_report *r, uint64_t returns, uint64_t move)
{
	struct hlg_place place;
	char hex[24], *name = NULL;

	if (r->suppressed) {
		snprintf(hex, sizeof(hex), "0x%llx", (unsigned long long)returns);
		return child(to, node, HLG_FRAME_GAP, hex);
	}
	hlg_view_place(r->space, r->options->gaps, returns - 1 + move, &place);
	name = hlg_place_name(&place, r->options->demangle);
	node = name ? child(to, node, hlg_callgraph_frame(&place), name) : HLG_NO_NODE;
	free(name);
	return node;
}

static void add_guest(struct hlg_growing *to, uint32_t node, const struct hlg_report *r,
		      const struct hlg_row *row, uint64_t ip, uint32_t chain,
		      struct hlg_count count)
{
	uint64_t move = ip - hlg_space_ip(r->space, ip);
	size_t n;
	const uint64_t *words = hlg_chains_get(&r->stacks->chains, chain, &n);

	node = child(to, node, HLG_FRAME_NOTE, "[guest]");
	while (n-- > 0)
		node = add_caller(to, node, r, words[n], move);
	hlg_callgraph_add(to, child(to, node, hlg_callgraph_row_frame(row), row->name),
			  count);
}

void hlg_callgraph_add_view(struct hlg_growing *to, const struct hlg_report *r,
			    const struct hlg_view *v, const char *series)
{
	const struct hlg_stacks *s = r->stacks;
	uint32_t bottom = HLG_TREE_ROOT;
	size_t n;
	struct credit *credits = make_credits(r, v, &n);

	if (series)
		bottom = child(to, bottom, HLG_FRAME_GROUP, series);
	to->ok = to->ok && credits;
	for (size_t i = 0; to->ok && n && i < s->n_stacks; i++) {
		const struct hlg_stack *stack = &s->stacks[i];
		const struct credit key = {.ip = stack->ip, .series = stack->series};
		struct credit *credit;

		if (!stack->guest)
			continue;
		credit = bsearch(&key, credits, n, sizeof(key), compare_credits);
		if (!credit)
			continue; /* of another view, dropped, or not shown */
		hlg_count_sub(&credit->rest, stack->count);
		add_guest(to, copy_path(to, bottom, r, stack->node, &stack->ip), r,
			  credit->row, stack->ip, stack->chain, stack->count);
	}
	for (size_t i = 0; to->ok && i < n; i++) {
		if (!credits[i].rest.samples)
			continue;
		add_guest(to,
			  child(to, add_roots(to, bottom, r, credits[i].ip),
				HLG_FRAME_NOTE, HLG_STACKS_LOST),
			  r, credits[i].row, credits[i].ip, HLG_NO_CHAIN,
			  credits[i].rest);
	}
	free(credits);
}

int hlg_callgraph_add_host(struct hlg_growing *to, const struct hlg_report *r,
			   struct hlg_err *err)
{
	const struct hlg_stacks *s = r->stacks;

	for (size_t i = 0; r->options->mode != HLG_SHOW_GUEST && i < s->n_stacks; i++) {
		const struct hlg_stack *stack = &s->stacks[i];
		uint32_t node = HLG_TREE_ROOT;
		char *series;

		if (stack->guest)
			continue;
		if (r->by) {
			series = hlg_report_series_name(r, stack->series);
			if (!series)
				return hlg_err_memory(err, "report");
			node = child(to, node, HLG_FRAME_GROUP, series);
			free(series);
		}
		hlg_callgraph_add(to, copy_path(to, node, r, stack->node, NULL),
				  stack->count);
	}
	if (r->options->mode != HLG_SHOW_GUEST && s->lost.samples)
		hlg_callgraph_add(
			to, child(to, HLG_TREE_ROOT, HLG_FRAME_NOTE, HLG_STACKS_LOST),
			s->lost);
	return 0;
}

/* What lies at the end of a host node: its note, or nothing. */
static struct hlg_count *sum_of(struct hlg_callgraph_sums *sums,
				const struct hlg_tree *tree, uint32_t node)
{
	const char *name = hlg_tree_name(tree, &tree->nodes[node]);

	if (tree->nodes[node].frame != HLG_FRAME_NOTE)
		return &sums->known;
	return strcmp(name, HLG_STACKS_ORPHAN) == 0 ? &sums->orphan : &sums->bare;
}

/* Marks a node and all below it. */
static void mark(const struct hlg_tree *tree, uint32_t node, bool *used)
{
	for (; node != HLG_TREE_ROOT && !used[node]; node = tree->nodes[node].parent)
		used[node] = true;
}

static void count_frames(struct hlg_callgraph_sums *sums, const struct hlg_tree *tree,
			 const bool *used)
{
	for (uint32_t i = 1; i < tree->n; i++) {
		const struct hlg_node *node = &tree->nodes[i];

		if (!used[i] || (node->frame != HLG_FRAME_HOST_USER &&
				 node->frame != HLG_FRAME_HOST_KERNEL))
			continue;
		sums->frames++;
		sums->unresolved += hlg_tree_name(tree, node)[0] == '[';
	}
}

int hlg_callgraph_sum(struct hlg_callgraph_sums *sums, const struct hlg_report *r,
		      struct hlg_err *err)
{
	const struct hlg_stacks *s = r->stacks;
	bool *used = calloc((size_t)s->tree.n + 1, sizeof(*used));
	bool *half = calloc((size_t)s->tree.n + 1, sizeof(*half));
	bool ok = used && half;

	*sums = (struct hlg_callgraph_sums){
		.lost = r->all.guest, .aside = s->aside, .marks = s->marks};
	for (size_t i = 0; ok && i < s->n_stacks; i++) {
		const struct hlg_stack *stack = &s->stacks[i];
		struct hlg_count *sum;

		mark(&s->tree, stack->node, used);
		if (!stack->guest)
			continue;
		sum = sum_of(sums, &s->tree, stack->node);
		sums->halves += sum == &sums->known && !half[stack->node];
		half[stack->node] = true;
		hlg_count_add(sum, stack->count);
		hlg_count_sub(&sums->lost, stack->count);
		if (stack->chain != HLG_NO_CHAIN && stack->chain != HLG_LOST_CHAIN)
			hlg_count_add(&sums->called, stack->count);
	}
	if (ok)
		count_frames(sums, &s->tree, used);
	free(used);
	free(half);
	return ok ? 0 : hlg_err_memory(err, "report");
}
