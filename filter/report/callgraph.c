// SPDX-License-Identifier: GPL-2.0-only
#include "filter/report/callgraph.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "filter/report/paths.h"
#include "filter/report/rows.h"
#include "symtab/code/frame.h"
#include "symtab/plural.h"

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

/* Of a guest's stack: where it lies, and if host halves of any are known. */
struct guest {
	uint64_t ip;
	bool halves;
};

/* A frame of a guest's host half that is left out: a note that says nothing, as no half
 * was recorded at all; or all of them. */
static bool is_left_out(const struct hlg_stacks *s, const struct guest *guest,
			const struct hlg_node *node)
{
	return guest && (node->frame == HLG_FRAME_NOTE
				 ? s->guests || !guest->halves
				 : s->guests && node->frame != HLG_FRAME_GROUP);
}

/*
 * The frames of a host node on top of to's node, and between its groups and the rest what
 * roots= says of a guest, if it is not NULL.
 */
static uint32_t copy_path(struct hlg_growing *to, uint32_t node,
			  const struct hlg_report *r, uint32_t from,
			  const struct guest *guest)
{
	const struct hlg_tree *tree = &r->stacks->tree;
	uint32_t depth = tree->nodes[from].depth;
	uint32_t *path = malloc((depth + 1) * sizeof(*path));
	bool rooted = !guest;

	if (!path)
		return HLG_NO_NODE;
	for (uint32_t i = depth; i > 0; i--, from = tree->nodes[from].parent)
		path[i] = from;
	for (uint32_t i = 1; i <= depth; i++) {
		const struct hlg_node *step = &tree->nodes[path[i]];

		if (!rooted && step->frame != HLG_FRAME_GROUP) {
			node = add_roots(to, node, r, guest->ip);
			rooted = true;
		}
		if (!is_left_out(r->stacks, guest, step))
			node = child(to, node, step->frame, hlg_tree_name(tree, step));
	}
	free(path);
	return rooted ? node : add_roots(to, node, r, guest->ip);
}

static void add_stack(struct hlg_growing *to, uint32_t stack, uint32_t node,
		      struct hlg_count count)
{
	if (to->ends && stack != HLG_NO_STACK)
		to->ends[stack] = node;
	hlg_callgraph_add(to, node, count);
}

/* The number of a place's name in the tree, which is looked for once: a place stands in
 * many stacks. names: of all places, 0 as yet. */
static uint32_t name_of(struct hlg_growing *to, const struct hlg_paths *paths,
			uint32_t place, uint32_t *names)
{
	if (names[place] == HLG_NO_STRING)
		names[place] =
			hlg_strings_add(&to->tree->names, paths->places[place].name);
	return names[place];
}

/* The outermost first. */
static void add_path(struct hlg_growing *to, uint32_t node, const struct hlg_paths *paths,
		     const struct hlg_path *path, uint32_t *names)
{
	node = child(to, node, HLG_FRAME_NOTE, "[guest]");
	for (size_t i = path->n; i-- > 0;) {
		uint32_t place = paths->frames[path->first + i].place;

		node = hlg_tree_child_called(to->tree, node, paths->places[place].frame,
					     name_of(to, paths, place, names));
	}
	add_stack(to, path->stack, node, path->count);
}

static void add_paths(struct hlg_growing *to, uint32_t bottom, const struct hlg_report *r,
		      const struct hlg_view *v, const struct hlg_paths *paths)
{
	uint32_t *names = calloc(paths->n_places + 1, sizeof(*names));
	const struct hlg_row *rows =
		v->rows + hlg_rows_shown(r, v->n_rows, hlg_rows_share, v);
	const struct hlg_row *borders = v->borders + hlg_rows_borders_shown(r, v);

	to->ok &= names != NULL;
	for (size_t i = 0; to->ok && i < paths->n; i++) {
		const struct hlg_path *path = &paths->paths[i];
		const struct guest guest = {paths->frames[path->first].ip,
					    r->by_series.halves};
		uint32_t node;

		if (path->row >= (path->row->border ? borders : rows))
			continue; /* not shown */
		if (path->node == HLG_NO_NODE)
			node = child(to, add_roots(to, bottom, r, guest.ip),
				     HLG_FRAME_NOTE, HLG_STACKS_LOST);
		else
			node = copy_path(to, bottom, r, path->node, &guest);
		add_path(to, node, paths, path, names);
	}
	free(names);
}

void hlg_callgraph_add_view(struct hlg_growing *to, const struct hlg_report *r,
			    const struct hlg_view *v, const char *series)
{
	uint32_t bottom = HLG_TREE_ROOT;
	struct hlg_paths paths;
	struct hlg_err err;

	if (series)
		bottom = child(to, bottom, HLG_FRAME_GROUP, series);
	if (hlg_paths_build(&paths, r, v, &err) == 0 &&
	    hlg_paths_inline(&paths, r, &err) == 0)
		add_paths(to, bottom, r, v, &paths);
	else
		to->ok = false;
	hlg_paths_finish(&paths);
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
		add_stack(to, (uint32_t)i, copy_path(to, node, r, stack->node, NULL),
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

/* Why callers are left out: of each image that keeps no frame pointers. */
static void warn_refused(struct hlg_report *r)
{
	for (size_t i = 0; i < r->space->n_images; i++) {
		const struct hlg_image *image = r->space->images[i];
		struct hlg_frame_count count;
		struct hlg_err err;

		if (hlg_frame_count(image, &count, &err) == 0 &&
		    !hlg_frame_is_kept(&count))
			hlg_note_list_warn(
				&r->notes,
				"callers in %s are left out, because they would be "
				"wrong: of its %zu function%s others, %zu keep%s a frame "
				"pointer (%s" HLG_FRAME_ADVICE
				"; --force=yes shows them)",
				image->path, count.calling,
				hlg_plural_word(count.calling, " that calls",
						"s that call"),
				count.framed, hlg_plural_word(count.framed, "s", ""),
				hlg_frame_may_have_tables(image)
					? "record --guest-stacks=cfi, or "
					: "");
	}
}

/* Where more of the samples than this lack callers, shares of callers are off by as much.
 */
#define CUT_SHARE 0.01

/* Why most of them are cut that are. */
static const char *most_cut(const struct hlg_report *r, bool *copy)
{
	const struct hlg_caller_sums *c = &r->callers;
	unsigned most = HLG_CHAIN_END_DEEP;

	for (unsigned i = most; i <= HLG_CALLER_END_NO_RETURN; i++)
		if (c->ends[i] > c->ends[most])
			most = i;
	*copy = false;
	if (c->none > c->ends[most] && c->none > c->unknown)
		return r->stacks->lacks ? "out of memory" : "no callers were recorded";
	if (c->refused > c->ends[most] && c->refused > c->unknown)
		return "callers left out";
	if (c->ends[most] < c->unknown)
		return HLG_CALLER_NOT_KNOWN;
	*copy = most == HLG_CHAIN_END_COPY;
	return hlg_proof_end(most);
}

/* What is cut off a stack, or was not recorded, may be any function: what that has is at
 * least its count (add_share() of children.c). */
static void warn_cut(struct hlg_report *r)
{
	const struct hlg_caller_sums *c = &r->callers;
	uint64_t cut = c->cut + c->refused + c->none;
	double share = c->stacks ? (double)cut / (double)r->all.guest.samples : 0;
	bool copy;
	const char *why = most_cut(r, &copy);

	if (share < CUT_SHARE)
		return;
	hlg_note_list_warn(&r->notes,
			   "%.0f %% of the samples lack callers (mostly %s%s), so what a "
			   "function costs with all that it calls may be shown up to "
			   "%.0f points too low",
			   share * 100, why,
			   copy ? ": record with --stack-size=128K" : "", share * 100);
}

/* Inlined frames in all stacks, at most: some 24 bytes each. */
#define MOST_INLINED (UINT64_C(1) << 24)

static bool has_callers(const struct hlg_stacks *s)
{
	for (size_t i = 0; i < s->n_stacks; i++)
		if (s->stacks[i].guest && s->stacks[i].chain != HLG_NO_CHAIN &&
		    s->stacks[i].chain != HLG_LOST_CHAIN)
			return true;
	return false;
}

/* Debug information is read only for stacks of guests. False without memory. */
static bool open_inlined(struct hlg_report *r)
{
	if (!r->inlines.at || r->suppressed || !has_callers(r->stacks))
		return true;
	r->inlined = hlg_inlined_open(&r->inlines, r->space);
	return r->inlined;
}

/* Adds how many frames are inlined in a stack. False without memory. */
static bool count_inlined(struct hlg_report *r, const struct hlg_stack *stack,
			  const struct hlg_caller *callers, size_t n_callers,
			  uint64_t *sum)
{
	const uint32_t *list;
	size_t n;

	if (!r->inlined || *sum > MOST_INLINED)
		return true;
	if (!hlg_inlined_find(r->inlined, stack->ip, &list, &n))
		return false;
	*sum += n;
	for (size_t i = 0; i < n_callers; i++) {
		if (callers[i].kind != HLG_CALLER_RECORDED)
			continue;
		if (!hlg_inlined_find(r->inlined, callers[i].ip, &list, &n))
			return false;
		*sum += n;
	}
	return true;
}

/* Inlined functions stand in all stacks, or in none. */
static void judge_inlined(struct hlg_report *r, uint64_t sum)
{
	if (r->inlined && sum > MOST_INLINED)
		hlg_note_list_warn(
			&r->notes,
			"inlined functions are left out: stacks would have more "
			"than %" PRIu64 " frames of them (choose fewer "
			"samples, as with --time)",
			MOST_INLINED);
	if (sum <= MOST_INLINED && r->callers.stacks)
		return;
	hlg_inlined_close(r->inlined);
	r->inlined = NULL;
}

/* Samples in no stack, or in one of which nothing was recorded. */
static void count_none(struct hlg_report *r)
{
	uint64_t told = r->callers.stacks + r->callers.refused;
	uint64_t all = r->all.guest.samples;

	r->callers.none = all > told ? all - told : 0;
}

const char *hlg_callgraph_none(const struct hlg_space *space)
{
	bool may = space->n_images == 0;

	for (size_t i = 0; i < space->n_images; i++)
		may |= hlg_frame_may_have_callers(space->images[i]);
	return may ? "no sample has callers in the guest (hlguest record --guest-stacks "
		     "records them)"
		   : "no sample has callers in the guest, which keeps no frame pointers "
		     "and has no unwind tables (" HLG_FRAME_ADVICE ")";
}

int hlg_callgraph_judge(struct hlg_report *r, struct hlg_err *err)
{
	const struct hlg_stacks *s = r->stacks;
	uint64_t n_inlined = 0;
	bool ok = open_inlined(r) && hlg_by_series_make(&r->by_series, s);

	r->proof =
		hlg_proof_open(s, r->space, r->suppressed ? NULL : &r->trust, r->options);
	ok &= r->proof != NULL;
	for (size_t i = 0; ok && i < s->n_stacks; i++) {
		const struct hlg_caller *list;
		size_t n;

		if (s->stacks[i].guest)
			ok = hlg_proof_find(r->proof, &s->stacks[i], &list, &n,
					    &r->callers) &&
			     count_inlined(r, &s->stacks[i], list, n, &n_inlined);
	}
	count_none(r);
	judge_inlined(r, n_inlined);
	warn_cut(r);
	if (r->callers.refused)
		warn_refused(r);
	else if (r->options->children && !r->callers.stacks)
		hlg_note_list_warn(&r->notes, "%s", hlg_callgraph_none(r->space));
	return ok ? 0 : hlg_err_memory(err, "report");
}
