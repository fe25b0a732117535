// SPDX-License-Identifier: GPL-2.0-only
#include "filter/report/paths.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "filter/view/place-name.h"
#include "symtab/grow.h"
#include "symtab/name/demangle.h"

/* What a view says of one address of a series, and what no stack has told of it yet. */
struct credit {
	uint64_t ip;
	uint32_t series;
	const struct hlg_row *row;
	struct hlg_count rest;
};

/* What a place is known by: its owner, or a note's text. */
struct key {
	const void *owner;
	enum hlg_frame frame;
};

struct builder {
	const struct hlg_report *report;
	const struct hlg_view *view;
	struct hlg_paths *paths;
	struct credit *credits;
	size_t n_credits;
	struct key *keys; /* of each place */
	uint32_t n_keys;
	struct hlg_index index; /* of keys */
};

static int compare_credits(const void *a, const void *b)
{
	const struct credit *x = a, *y = b;

	if (x->series != y->series)
		return x->series < y->series ? -1 : 1;
	return x->ip < y->ip ? -1 : x->ip > y->ip;
}

static bool make_credits(struct builder *b)
{
	const struct hlg_view *v = b->view;

	b->credits = malloc((v->n_hits + v->n_border_hits + 1) * sizeof(*b->credits));
	if (!b->credits)
		return false;
	for (size_t i = 0; i < v->n_rows + v->n_borders; i++) {
		const struct hlg_row *row = hlg_view_row(v, i);
		const struct hlg_hit *hits = v->hits + row->first_hit;

		for (size_t k = 0; k < row->n_hits; k++)
			b->credits[b->n_credits++] = (struct credit){
				hits[k].ip, hits[k].series, row, hits[k].count};
	}
	qsort(b->credits, b->n_credits, sizeof(*b->credits), compare_credits);
	return true;
}

struct search {
	const struct builder *b;
	const struct key *key;
};

static bool same_key(const void *ctx, uint32_t number)
{
	const struct search *search = ctx;
	const struct key *key = &search->b->keys[number];

	return key->owner == search->key->owner && key->frame == search->key->frame;
}

static uint64_t hash_key(const struct key *key)
{
	return hlg_hash_word(hlg_hash_word(HLG_HASH_SEED, (uintptr_t)key->owner),
			     (uint64_t)key->frame);
}

static uint32_t find_place(const struct builder *b, const struct key *key)
{
	const struct search search = {b, key};

	return hlg_index_find(&b->index, hash_key(key), same_key, &search);
}

/* Takes place->name over; HLG_INDEX_NONE without memory. */
static uint32_t add_place(struct builder *b, const struct key *key,
			  const struct hlg_path_place *place)
{
	struct hlg_paths *p = b->paths;

	if (!place->name || !HLG_GROW(p->places, p->n_places) ||
	    !HLG_GROW(b->keys, b->n_keys) ||
	    !hlg_index_add(&b->index, hash_key(key), p->n_places)) {
		free(place->name);
		return HLG_INDEX_NONE;
	}
	b->keys[b->n_keys++] = *key;
	p->places[p->n_places] = *place;
	return p->n_places++;
}

enum hlg_frame hlg_paths_frame(const struct hlg_place *place)
{
	return place->kind == HLG_FUNCTION || place->kind == HLG_LABEL ? HLG_FRAME_GUEST
								       : HLG_FRAME_GAP;
}

enum hlg_frame hlg_paths_row_frame(const struct hlg_row *row)
{
	return row->border ? HLG_FRAME_BORDER : hlg_paths_frame(&row->place);
}

/* The rows first: what is met as a caller only has none. */
static bool add_rows(struct builder *b)
{
	const struct hlg_view *v = b->view;

	for (size_t i = 0; i < v->n_rows + v->n_borders; i++) {
		const struct hlg_row *row = hlg_view_row(v, i);
		const struct key key = {v->hits[row->first_hit].owner,
					hlg_paths_row_frame(row)};
		const struct hlg_path_place place = {.place = row->place,
						     .name = strdup(row->name),
						     .frame = key.frame,
						     .row = row};

		if (add_place(b, &key, &place) == HLG_INDEX_NONE)
			return false;
	}
	return true;
}

static uint32_t note(struct builder *b, const char *text)
{
	const struct key key = {text, HLG_FRAME_NOTE};
	const struct hlg_path_place place = {.frame = HLG_FRAME_NOTE};
	uint32_t known = find_place(b, &key);

	return known != HLG_INDEX_NONE
		       ? known
		       : add_place(b, &key,
				   &(struct hlg_path_place){.name = strdup(text),
							    .frame = place.frame});
}

/* The place of a caller. */
static uint32_t function(struct builder *b, const struct hlg_place *of)
{
	const struct hlg_report *r = b->report;
	const struct key key = {of->owner, hlg_paths_frame(of)};
	struct hlg_path_place place = {.place = *of, .frame = key.frame};
	const uint32_t known = find_place(b, &key);

	if (known != HLG_INDEX_NONE)
		return known;
	if (!r->suppressed)
		place.name = hlg_place_name(of, r->options->demangle);
	else if (asprintf(&place.name, "0x%" PRIx64, of->addr) < 0)
		place.name = NULL;
	return add_place(b, &key, &place);
}

static uint32_t code(struct builder *b, uint64_t ip)
{
	const struct hlg_report *r = b->report;
	struct hlg_place place;

	if (r->suppressed) /* the return address, as it was recorded */
		place = hlg_view_raw_place(r->space, ip + 1);
	else
		hlg_view_place(r->space, r->options->gaps, ip, &place);
	return function(b, &place);
}

static bool add_frame(struct builder *b, uint32_t place, uint64_t ip,
		      enum hlg_caller_kind kind)
{
	struct hlg_paths *p = b->paths;

	if (place == HLG_INDEX_NONE || !HLG_GROW(p->frames, p->n_frames))
		return false;
	p->frames[p->n_frames++] = (struct hlg_path_frame){place, kind, ip};
	return true;
}

static bool add_caller(struct builder *b, const struct hlg_caller *caller)
{
	switch (caller->kind) {
	case HLG_CALLER_UNKNOWN:
		return add_frame(b, note(b, HLG_CALLER_NOT_KNOWN), 0, caller->kind);
	case HLG_CALLER_TRUNCATED:
		return add_frame(b, note(b, hlg_proof_end(caller->end)), 0, caller->kind);
	default:
		return add_frame(b, code(b, caller->ip), caller->ip, caller->kind);
	}
}

/* Is the function known that the guest was left in? A saved profile has the border's own
 * places only. */
static bool has_left(const struct builder *b, const struct hlg_row *row)
{
	return row->border && !row->place.image->made && !b->report->exits_alone;
}

/* A path of the sample's own frame alone; of a VM exit with the function's. */
static struct hlg_path *begin_path(struct builder *b, const struct credit *credit,
				   uint32_t node, struct hlg_count count)
{
	const struct key key = {b->view->hits[credit->row->first_hit].owner,
				hlg_paths_row_frame(credit->row)};
	struct hlg_paths *p = b->paths;
	struct hlg_path path = {.series = credit->series,
				.stack = HLG_NO_STACK,
				.node = node,
				.row = credit->row,
				.first = p->n_frames,
				.n = 1,
				.cut = true,
				.count = count};

	if (!add_frame(b, find_place(b, &key), credit->ip, HLG_CALLER_SAMPLED) ||
	    !HLG_GROW(p->paths, p->n))
		return NULL;
	if (has_left(b, credit->row)) {
		if (!add_frame(b, function(b, &credit->row->place), credit->ip,
			       HLG_CALLER_RECORDED))
			return NULL;
		path.n++;
	}
	p->paths[p->n] = path;
	return &p->paths[p->n++];
}

static bool add_stack(struct builder *b, const struct hlg_stack *stack)
{
	const struct credit key = {.ip = stack->ip, .series = stack->series};
	struct credit *credit =
		bsearch(&key, b->credits, b->n_credits, sizeof(key), compare_credits);
	struct hlg_caller_sums told = {0}; /* in report->callers already */
	const struct hlg_caller *callers;
	struct hlg_path *path;
	size_t n;

	if (!credit)
		return true; /* of another view, or dropped */
	hlg_count_sub(&credit->rest, stack->count);
	path = begin_path(b, credit, stack->node, stack->count);
	if (path)
		path->stack = (uint32_t)(stack - b->report->stacks->stacks);
	if (!path || !hlg_proof_find(b->report->proof, stack, &callers, &n, &told))
		return false;
	path->cut = n == 0 && (stack->end != HLG_CHAIN_END_WHOLE || told.refused);
	for (size_t i = 0; i < n; i++) {
		path->cut |= callers[i].kind >= HLG_CALLER_UNKNOWN;
		if (!add_caller(b, &callers[i]))
			return false;
	}
	path->n += n;
	return true;
}

static int compare_numbers(const void *a, const void *b)
{
	const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

/* Numbers of the stacks of all series that the view has credits of, in their order, to be
 * freed. False without memory. */
static bool pick_stacks(const struct builder *b, uint32_t **picked, size_t *n)
{
	for (size_t i = 0; i < b->n_credits; i++) {
		const uint32_t series = b->credits[i].series;
		const struct hlg_by_series_stack *of;
		size_t n_of;

		if (i && b->credits[i - 1].series == series)
			continue;
		of = hlg_by_series_of(&b->report->by_series, series, &n_of);
		for (size_t k = 0; k < n_of; k++) {
			if (!HLG_GROW(*picked, *n))
				return false;
			(*picked)[(*n)++] = of[k].number;
		}
	}
	if (*n)
		qsort(*picked, *n, sizeof(**picked), compare_numbers);
	return true;
}

static bool add_stacks(struct builder *b)
{
	const struct hlg_stack *stacks = b->report->stacks->stacks;
	uint32_t *picked = NULL;
	size_t n = 0;
	bool ok = pick_stacks(b, &picked, &n);

	for (size_t i = 0; ok && i < n; i++)
		ok = add_stack(b, &stacks[picked[i]]);
	free(picked);
	return ok;
}

static bool build(struct builder *b)
{
	if (!make_credits(b) || !add_rows(b) || !add_stacks(b))
		return false;
	for (size_t i = 0; i < b->n_credits; i++)
		if (b->credits[i].rest.samples &&
		    !begin_path(b, &b->credits[i], HLG_NO_NODE, b->credits[i].rest))
			return false;
	return true;
}

int hlg_paths_build(struct hlg_paths *paths, const struct hlg_report *r,
		    const struct hlg_view *view, struct hlg_err *err)
{
	struct builder b = {.report = r, .view = view, .paths = paths};
	bool ok;

	*paths = (struct hlg_paths){0};
	ok = build(&b);
	free(b.credits);
	free(b.keys);
	hlg_index_finish(&b.index);
	return ok ? 0 : hlg_err_memory(err, "report");
}

/* Where the frames of paths go that have inlined ones between them. */
struct inlining {
	struct hlg_paths *paths;
	const struct hlg_report *report;
	uint32_t *places; /* of each inlined function, plus 1; 0: has none yet */
	struct hlg_path_frame *frames;
	size_t n_frames;
};

static char *mark_inlined(const char *name, bool demangle)
{
	char *readable = hlg_demangle_if(demangle, name), *marked = NULL;

	if (readable && asprintf(&marked, "%s" HLG_INLINED_MARK, readable) < 0)
		marked = NULL;
	free(readable);
	return marked;
}

/* Has the function of this number a place now? False without memory. */
static bool place_inlined(struct inlining *to, uint32_t number)
{
	const struct hlg_inlined_function *f =
		hlg_inlined_get(to->report->inlined, number);
	struct hlg_paths *p = to->paths;
	struct hlg_path_place place = {
		.place = {.image = f->image}, .frame = HLG_FRAME_GUEST, .inlined = true};

	if (to->places[number])
		return true;
	place.name = mark_inlined(f->name, to->report->options->demangle);
	if (!place.name || !HLG_GROW(p->places, p->n_places)) {
		free(place.name);
		return false;
	}
	p->places[p->n_places++] = place;
	to->places[number] = p->n_places;
	return true;
}

static bool push(struct inlining *to, struct hlg_path_frame frame)
{
	if (!HLG_GROW(to->frames, to->n_frames))
		return false;
	to->frames[to->n_frames++] = frame;
	return true;
}

/* Is it known where in its function a frame is, and that it is this one? */
static bool may_have_inlined(const struct hlg_paths *paths,
			     const struct hlg_path_frame *frame)
{
	const struct hlg_path_place *place = &paths->places[frame->place];

	return (frame->kind == HLG_CALLER_SAMPLED ||
		frame->kind == HLG_CALLER_RECORDED) &&
	       place->frame == HLG_FRAME_GUEST && !(place->row && place->row->misfit);
}

/* *n is 0 where none is known. False without memory. */
static bool find_inlined(const struct inlining *to, const struct hlg_path_frame *frame,
			 const uint32_t **list, size_t *n)
{
	*n = 0;
	return !may_have_inlined(to->paths, frame) ||
	       hlg_inlined_find(to->report->inlined, frame->ip, list, n);
}

/* Room for a place of each. */
static bool find_all(struct inlining *to)
{
	const uint32_t *list;
	size_t n;

	for (size_t i = 0; i < to->paths->n_frames; i++)
		if (!find_inlined(to, &to->paths->frames[i], &list, &n))
			return false;
	to->places = calloc((size_t)hlg_inlined_functions(to->report->inlined) + 1,
			    sizeof(*to->places));
	return to->places;
}

static bool inline_frame(struct inlining *to, struct hlg_path_frame frame)
{
	const uint32_t *list;
	size_t n;

	if (!find_inlined(to, &frame, &list, &n))
		return false;
	for (size_t i = 0; i < n; i++)
		if (!place_inlined(to, list[i]) ||
		    !push(to, (struct hlg_path_frame){to->places[list[i]] - 1,
						      HLG_CALLER_INLINED, frame.ip}))
			return false;
	return push(to, frame);
}

static bool inline_path(struct inlining *to, struct hlg_path *path)
{
	size_t first = to->n_frames;

	for (size_t i = 0; i < path->n; i++)
		if (!inline_frame(to, to->paths->frames[path->first + i]))
			return false;
	path->first = first;
	path->n = to->n_frames - first;
	return true;
}

int hlg_paths_inline(struct hlg_paths *p, const struct hlg_report *r, struct hlg_err *err)
{
	struct inlining to = {.paths = p, .report = r};
	bool ok;

	if (!r->inlined)
		return 0;
	ok = find_all(&to);
	for (size_t i = 0; ok && i < p->n; i++)
		ok = inline_path(&to, &p->paths[i]);
	free(to.places);
	if (!ok) {
		free(to.frames);
		return hlg_err_memory(err, "report");
	}
	free(p->frames);
	p->frames = to.frames;
	p->n_frames = to.n_frames;
	return 0;
}

void hlg_paths_finish(struct hlg_paths *paths)
{
	for (uint32_t i = 0; i < paths->n_places; i++)
		free(paths->places[i].name);
	free(paths->places);
	free(paths->frames);
	free(paths->paths);
	*paths = (struct hlg_paths){0};
}
