// SPDX-License-Identifier: GPL-2.0-only
/*
 * Resolving: events, images and functions are sorted first and the others renumbered;
 * then cells, series and host rows are sorted and what is alike is added up. Of two names
 * for one thing (an image's path, a location's function) the smaller is kept, so that it
 * does not matter which came first.
 */
#include <stdlib.h>
#include <string.h>

#include "symtab/bsearch.h"
#include "symtab/unique.h"
#include "tools/pprof/saved.h"

static int compare_events(const void *a, const void *b)
{
	const Pprof__Extra__Event *x = a, *y = b;
	int order = strcmp(x->name, y->name);

	return order ? order : hlg_bsearch_order(x->precise_ip, y->precise_ip);
}

/* Of what is said of one event, the larger counts, as in hlg_profile_describe. */
static void add_event(void *to, const void *from)
{
	Pprof__Extra__Event *event = to;
	const Pprof__Extra__Event *more = from;

	if (more->kind > event->kind || (more->kind == event->kind && more->member)) {
		event->kind = more->kind;
		event->member = more->member;
	}
}

/* The same image? Its build id says; without one, its path. */
static int compare_images(const void *a, const void *b)
{
	const struct hlg_saved_image *x = a, *y = b;
	int order = strcmp(x->build_id, y->build_id);

	if (order == 0 && x->build_id[0] == '\0')
		order = strcmp(x->path, y->path);
	if (order == 0)
		order = x->extra.map - y->extra.map;
	if (order == 0)
		order = hlg_bsearch_order(x->extra.load_base, y->extra.load_base);
	if (order == 0)
		order = hlg_bsearch_order(x->extra.bias, y->extra.bias);
	if (order == 0)
		order = hlg_bsearch_order(x->start, y->start);
	return order ? order : hlg_bsearch_order(x->limit, y->limit);
}

static void add_image(void *to, const void *from)
{
	struct hlg_saved_image *image = to;
	const struct hlg_saved_image *more = from;

	if (strcmp(more->path, image->path) < 0)
		image->path = more->path;
	for (int i = 0; i < HLG_N_IDENTITIES; i++)
		if (more->identities >> i & 1)
			hlg_saved_add_ran(image, (enum hlg_identity)i, more->ran_file,
					  more->ran_id);
}

static int compare_functions(const void *a, const void *b)
{
	const struct hlg_saved_function *x = a, *y = b;
	int order = strcmp(x->name, y->name);

	return order ? order : strcmp(x->symbol, y->symbol);
}

/* Two profiles that disagree, as one machine had less debug information: the longer
 * counts, and of two the one of the smaller names, as functions are in order. */
static void add_inlines(void *to, const void *from)
{
	struct hlg_saved_inlines *one = to;
	const struct hlg_saved_inlines *other = from;
	uint32_t i = 0;

	if (other->n == one->n)
		while (i < one->n && one->functions[i] == other->functions[i])
			i++;
	if (other->n != one->n ? other->n > one->n
			       : i < one->n && other->functions[i] < one->functions[i])
		*one = *other;
}

/* Of n things of size bytes each, in memory without gaps, that are compared as bytes:
 * some order will do, as long as it is the same one everywhere. */
static int compare_lists(const void *a, size_t n_a, const void *b, size_t n_b,
			 size_t size)
{
	return n_a != n_b ? hlg_bsearch_order(n_a, n_b)
	       : n_a      ? memcmp(a, b, n_a * size)
			  : 0;
}

static int compare_stacks(const void *a, const void *b)
{
	const struct hlg_saved_stack *x = a, *y = b;
	int order = hlg_bsearch_order((uint64_t)x->end << 32 | x->way,
				      (uint64_t)y->end << 32 | y->way);

	if (order == 0)
		order = compare_lists(x->callers, x->n_callers, y->callers, y->n_callers,
				      sizeof(*x->callers));
	if (order == 0)
		order = compare_lists(x->frames, x->n_frames, y->frames, y->n_frames,
				      sizeof(*x->frames));
	return order ? order
		     : compare_lists(x->host, x->n_host, y->host, y->n_host,
				     sizeof(*x->host));
}

/* By image and address, then by labels and stack: the order of the samples in the file.
 */
static int compare_cells(const void *a, const void *b)
{
	const struct hlg_saved_cell *x = a, *y = b;

	if (x->at.image != y->at.image)
		return x->at.image < y->at.image ? -1 : 1;
	if (x->at.ip != y->at.ip)
		return x->at.ip < y->at.ip ? -1 : 1;
	for (size_t i = 0; i < HLG_SAVED_N_KEYS; i++)
		if (x->key.part[i] != y->key.part[i])
			return x->key.part[i] < y->key.part[i] ? -1 : 1;
	if (x->stack != y->stack)
		return x->stack < y->stack ? -1 : 1;
	return hlg_bsearch_order(x->key.event, y->key.event);
}

static void add_cell(void *to, const void *from)
{
	hlg_count_add(&((struct hlg_saved_cell *)to)->count,
		      ((const struct hlg_saved_cell *)from)->count);
}

static int compare_series(const void *a, const void *b)
{
	struct hlg_saved_key x = hlg_saved_series_key(a), y = hlg_saved_series_key(b);

	return hlg_saved_compare_keys(&x, &y);
}

static void add_series(void *to, const void *from)
{
	Pprof__Extra__Series *sum = to;
	const Pprof__Extra__Series *more = from;

	sum->squares_low += more->squares_low;
	sum->squares_high += more->squares_high + (sum->squares_low < more->squares_low);
}

static int compare_hosts(const void *a, const void *b)
{
	const Pprof__Extra__HostRow *x = a, *y = b;
	struct hlg_saved_key key_x = hlg_saved_host_key(x), key_y = hlg_saved_host_key(y);
	int order = hlg_saved_compare_keys(&key_x, &key_y);

	if (order == 0)
		order = strcmp(x->dso, y->dso);
	return order ? order : strcmp(x->process, y->process);
}

static void add_host(void *to, const void *from)
{
	Pprof__Extra__HostRow *sum = to;
	const Pprof__Extra__HostRow *more = from;

	sum->samples += more->samples;
	sum->period += more->period;
}

static int compare_checks(const void *a, const void *b)
{
	const Pprof__Extra__Check *x = a, *y = b;
	int order = hlg_bsearch_order(x->word, y->word);

	return order ? order : x->suppressed - y->suppressed;
}

static void add_check(void *to, const void *from)
{
	Pprof__Extra__Check *check = to;
	const Pprof__Extra__Check *more = from;

	if (strcmp(more->said, check->said) < 0)
		check->said = more->said;
}

const struct hlg_saved_kind hlg_saved_event_kind = {sizeof(Pprof__Extra__Event),
						    compare_events, add_event, true};
const struct hlg_saved_kind hlg_saved_image_kind = {sizeof(struct hlg_saved_image),
						    compare_images, add_image, true};
const struct hlg_saved_kind hlg_saved_function_kind = {sizeof(struct hlg_saved_function),
						       compare_functions, NULL, false};
static const struct hlg_saved_kind inlines_kind = {
	sizeof(struct hlg_saved_inlines), hlg_saved_compare_inlines, add_inlines, false};
const struct hlg_saved_kind hlg_saved_stack_kind = {sizeof(struct hlg_saved_stack),
						    compare_stacks, NULL, false};
static const struct hlg_saved_kind cell_kind = {sizeof(struct hlg_saved_cell),
						compare_cells, add_cell, false};
const struct hlg_saved_kind hlg_saved_series_kind = {sizeof(Pprof__Extra__Series),
						     compare_series, add_series, true};
const struct hlg_saved_kind hlg_saved_host_kind = {sizeof(Pprof__Extra__HostRow),
						   compare_hosts, add_host, true};
const struct hlg_saved_kind hlg_saved_check_kind = {sizeof(Pprof__Extra__Check),
						    compare_checks, add_check, true};

/* As protobuf has them: by number. */
static int compare_unknown(const void *a, const void *b)
{
	return hlg_pprof_compare_unknown(a, b);
}

int hlg_pprof_compare_unknown(const ProtobufCMessageUnknownField *x,
			      const ProtobufCMessageUnknownField *y)
{
	if (x->tag != y->tag)
		return x->tag < y->tag ? -1 : 1;
	if (x->wire_type != y->wire_type)
		return x->wire_type < y->wire_type ? -1 : 1;
	if (x->len != y->len)
		return x->len < y->len ? -1 : 1;
	return memcmp(x->data, y->data, x->len);
}

void hlg_pprof_fold_unknown(ProtobufCMessage *message)
{
	message->n_unknown_fields =
		(unsigned)HLG_UNIQUE(message->unknown_fields, message->n_unknown_fields,
				     compare_unknown, NULL);
}

static bool join_unknown(struct hlg_saved *saved, ProtobufCMessage *to,
			 const ProtobufCMessage *from)
{
	for (unsigned i = 0; i < from->n_unknown_fields; i++)
		if (!hlg_saved_add_unknown(saved, to, &from->unknown_fields[i]))
			return false;
	return true;
}

static int compare_items(const void *a, const void *b, void *kind)
{
	return ((const struct hlg_saved_kind *)kind)
		->compare(*(void *const *)a, *(void *const *)b);
}

/*
 * Sorts a list and makes one of those that are the same. Sets *places, unless it is NULL:
 * to be freed. False without memory.
 */
static bool fold(struct hlg_saved *saved, void *list, size_t *n,
		 const struct hlg_saved_kind *kind, uint32_t **places)
{
	unsigned char *items = list, **order = malloc((*n + 1) * sizeof(*order));
	unsigned char *sorted = malloc((*n + 1) * kind->size), *last = sorted;
	uint32_t *to = malloc((*n + 1) * sizeof(*to)), kept = 0;
	bool ok = order && to && sorted;

	for (size_t i = 0; ok && i < *n; i++)
		order[i] = items + kind->size * i;
	if (ok)
		qsort_r(order, *n, sizeof(*order), compare_items, (void *)kind);
	for (size_t i = 0; ok && i < *n; i++) {
		if (kept && kind->compare(last, order[i]) == 0) {
			if (kind->add)
				kind->add(last, order[i]);
			ok = !kind->message ||
			     join_unknown(saved, (void *)last, (void *)order[i]);
		} else {
			last = sorted + kind->size * kept++;
			memcpy(last, order[i], kind->size);
		}
		to[(size_t)(order[i] - items) / kind->size] = kept - 1;
	}
	for (uint32_t i = 0; ok && kind->message && i < kept; i++)
		hlg_pprof_fold_unknown((void *)(sorted + kind->size * i));
	if (ok && kept)
		memcpy(list, sorted, kind->size * kept);
	*n = ok ? kept : *n;
	free(order);
	free(sorted);
	if (places)
		*places = to;
	else
		free(to);
	return ok;
}

/* Calls visit with each function that a frame, or a host's frame, names, or that was
 * inlined. */
typedef void visit_fn(void *ctx, struct hlg_saved_frame *frame, uint32_t *function);

static void visit_functions(struct hlg_saved *saved, visit_fn *visit, void *ctx)
{
	for (size_t i = 0; i < saved->cells.n; i++)
		visit(ctx, &saved->cells.at[i].at, &saved->cells.at[i].at.function);
	for (size_t i = 0; i < saved->inlines.n; i++)
		for (uint32_t k = 0; k < saved->inlines.at[i].n; k++)
			visit(ctx, NULL, &saved->inlines.at[i].functions[k]);
	for (size_t i = 0; i < saved->stacks.n; i++) {
		struct hlg_saved_stack *stack = &saved->stacks.at[i];

		for (size_t k = 0; k < stack->n_frames; k++)
			visit(ctx, &stack->frames[k], &stack->frames[k].function);
		for (size_t k = 0; k < stack->n_host; k++)
			visit(ctx, NULL, &stack->host[k].function);
	}
}

static void renumber_function(void *to, struct hlg_saved_frame *frame, uint32_t *function)
{
	(void)frame;
	*function = ((const uint32_t *)to)[*function];
}

static int compare_frames(const void *a, const void *b)
{
	return hlg_saved_compare_frames(*(struct hlg_saved_frame *const *)a,
					*(struct hlg_saved_frame *const *)b);
}

/* All but those of callers without address, which may be anything; NULL without memory.
 */
static struct hlg_saved_frame **list_frames(struct hlg_saved *saved, size_t *n)
{
	struct hlg_saved_frame **list;
	size_t most = saved->cells.n + 1;

	for (size_t i = 0; i < saved->stacks.n; i++)
		most += saved->stacks.at[i].n_frames;
	list = calloc(most, sizeof(struct hlg_saved_frame *));
	*n = 0;
	for (size_t i = 0; list && i < saved->cells.n; i++)
		list[(*n)++] = &saved->cells.at[i].at;
	for (size_t i = 0; list && i < saved->stacks.n; i++) {
		const struct hlg_saved_stack *stack = &saved->stacks.at[i];

		for (size_t k = 0; k < stack->n_frames; k++)
			if (stack->frames[k].ip || stack->frames[k].image)
				list[(*n)++] = &stack->frames[k];
	}
	return list;
}

/* Keeps of what was inlined what is at one of n frames, which are sorted. */
static void drop_inlines(struct hlg_saved *saved, struct hlg_saved_frame *const *list,
			 size_t n)
{
	struct hlg_saved_inlines *inlines = saved->inlines.at;
	size_t kept = 0, at = 0;

	for (size_t i = 0; i < saved->inlines.n; i++) {
		const struct hlg_saved_inlines *one = &inlines[i];

		while (at < n &&
		       (list[at]->image < one->image ||
			(list[at]->image == one->image && list[at]->ip < one->ip)))
			at++;
		if (at < n && list[at]->image == one->image && list[at]->ip == one->ip)
			inlines[kept++] = *one;
	}
	saved->inlines.n = kept;
}

/* One function for each address, the functions being in order. False without memory. */
static bool agree_on_functions(struct hlg_saved *saved)
{
	size_t n;
	struct hlg_saved_frame **list = list_frames(saved, &n);

	if (!list)
		return false;
	qsort(list, n, sizeof(struct hlg_saved_frame *), compare_frames);
	for (size_t i = 1; i < n; i++)
		if (list[i]->image == list[i - 1]->image &&
		    list[i]->ip == list[i - 1]->ip)
			list[i]->function = list[i - 1]->function;
	drop_inlines(saved, list, n);
	free(list);
	return true;
}

static void mark_function(void *used, struct hlg_saved_frame *frame, uint32_t *function)
{
	(void)frame;
	((uint32_t *)used)[*function] = 1;
}

/* Functions that lost their locations go: they would tell how the profile was made. */
static bool drop_functions(struct hlg_saved *saved)
{
	struct hlg_saved_function *functions = saved->functions.at;
	uint32_t *to = calloc(saved->functions.n + 1, sizeof(*to)), n = 0;

	if (!to)
		return false;
	visit_functions(saved, mark_function, to);
	for (size_t i = 0; i < saved->functions.n; i++) {
		if (!to[i])
			continue;
		to[i] = n;
		functions[n++] = functions[i];
	}
	saved->functions.n = n;
	visit_functions(saved, renumber_function, to);
	free(to);
	return true;
}

static void renumber_image(void *to, struct hlg_saved_frame *frame, uint32_t *function)
{
	(void)function;
	if (frame && frame->image)
		frame->image = ((const uint32_t *)to)[frame->image - 1] + 1;
}

void hlg_pprof_renumber(struct hlg_saved *saved, const struct hlg_saved_places *to)
{
	visit_functions(saved, renumber_function, to->functions);
	visit_functions(saved, renumber_image, to->images);
	for (size_t i = 0; i < saved->inlines.n; i++)
		saved->inlines.at[i].image =
			to->images[saved->inlines.at[i].image - 1] + 1;
	for (size_t i = 0; i < saved->cells.n; i++) {
		struct hlg_saved_cell *cell = &saved->cells.at[i];

		cell->key.event = to->events[cell->key.event];
	}
	for (size_t i = 0; i < saved->host_stacks.n; i++)
		saved->host_stacks.at[i].key.event =
			to->events[saved->host_stacks.at[i].key.event];
	for (size_t i = 0; i < saved->series.n; i++)
		saved->series.at[i].event = to->events[saved->series.at[i].event];
	for (size_t i = 0; i < saved->hosts.n; i++)
		saved->hosts.at[i].event = to->events[saved->hosts.at[i].event];
}

/* Of stacks, all of whose frames are as they stay. False without memory. */
static bool fold_stacks(struct hlg_saved *s)
{
	uint32_t *to = NULL;
	bool ok = fold(s, s->stacks.at, &s->stacks.n, &hlg_saved_stack_kind, &to);

	for (size_t i = 0; ok && i < s->cells.n; i++)
		if (s->cells.at[i].stack)
			s->cells.at[i].stack = to[s->cells.at[i].stack - 1] + 1;
	for (size_t i = 0; ok && i < s->host_stacks.n; i++)
		s->host_stacks.at[i].stack = to[s->host_stacks.at[i].stack - 1] + 1;
	free(to);
	return ok;
}

/* Cells, and what goes with them. */
static bool fold_cells(struct hlg_saved *s)
{
	uint32_t *to = NULL;
	bool ok = fold(s, s->cells.at, &s->cells.n, &cell_kind, &to) &&
		  hlg_saved_moments_resolve(s, to);

	free(to);
	return ok;
}

bool hlg_pprof_resolve(struct hlg_saved *s)
{
	struct hlg_saved_places to = {0};
	bool ok =
		fold(s, s->events.at, &s->events.n, &hlg_saved_event_kind, &to.events) &&
		fold(s, s->images.at, &s->images.n, &hlg_saved_image_kind, &to.images) &&
		fold(s, s->functions.at, &s->functions.n, &hlg_saved_function_kind,
		     &to.functions);

	if (ok)
		hlg_pprof_renumber(s, &to);
	free(to.events);
	free(to.images);
	free(to.functions);
	ok = ok && fold(s, s->inlines.at, &s->inlines.n, &inlines_kind, NULL) &&
	     agree_on_functions(s) && drop_functions(s) && fold_stacks(s) &&
	     fold_cells(s) &&
	     fold(s, s->host_stacks.at, &s->host_stacks.n, &cell_kind, NULL) &&
	     fold(s, s->series.at, &s->series.n, &hlg_saved_series_kind, NULL) &&
	     fold(s, s->hosts.at, &s->hosts.n, &hlg_saved_host_kind, NULL) &&
	     fold(s, s->checks.at, &s->checks.n, &hlg_saved_check_kind, NULL);
	if (ok)
		hlg_pprof_fold_unknown(&s->extra.base);
	return ok;
}

/* A frame, and what was inlined there. */
struct spot {
	struct hlg_saved_frame *frame;
	const struct hlg_saved_inlines *inlines; /* NULL: nothing */
};

static int compare_inlined(const struct hlg_saved_inlines *x,
			   const struct hlg_saved_inlines *y)
{
	const uint32_t n = x ? x->n : 0, more = y ? y->n : 0;

	if (n != more)
		return n < more ? -1 : 1;
	for (uint32_t i = 0; i < n; i++)
		if (x->functions[i] != y->functions[i])
			return x->functions[i] < y->functions[i] ? -1 : 1;
	return 0;
}

/* By image, function and what was inlined: where that is alike, frames are. */
static int compare_places(const struct spot *x, const struct spot *y)
{
	if (x->frame->image != y->frame->image)
		return x->frame->image < y->frame->image ? -1 : 1;
	if (x->frame->function != y->frame->function)
		return x->frame->function < y->frame->function ? -1 : 1;
	return compare_inlined(x->inlines, y->inlines);
}

/* The smallest address first. */
static int compare_spots(const void *a, const void *b)
{
	const struct spot *x = a, *y = b;
	int order = compare_places(x, y);

	return order ? order : hlg_bsearch_order(x->frame->ip, y->frame->ip);
}

bool hlg_pprof_forget_addresses(struct hlg_saved *saved)
{
	size_t n;
	struct hlg_saved_frame **list = list_frames(saved, &n);
	struct spot *spots = list ? calloc(n + 1, sizeof(*spots)) : NULL;

	for (size_t i = 0; spots && i < n; i++)
		spots[i] = (struct spot){list[i], hlg_saved_inlines_at(saved, list[i])};
	free(list);
	if (!spots)
		return false;
	qsort(spots, n, sizeof(*spots), compare_spots);
	for (size_t i = 1; i < n; i++)
		if (compare_places(&spots[i - 1], &spots[i]) == 0)
			spots[i].frame->ip = spots[i - 1].frame->ip;
	free(spots);
	return hlg_pprof_resolve(saved);
}
