// SPDX-License-Identifier: GPL-2.0-only
#include "tools/pprof/sum.h"

#include <stdlib.h>
#include <string.h>

#include "tools/perfdata/sum.h"

/* A list of the sum and its index. */
struct list {
	void *at; /* the address of the pointer to its things */
	size_t *n;
	struct hlg_index *index;
	const struct hlg_saved_kind *kind;
};

#define LIST(sum, name, kind)                                                            \
	(struct list)                                                                    \
	{                                                                                \
		&(sum)->saved.name.at, &(sum)->saved.name.n, &(sum)->name, kind          \
	}

struct search {
	const struct list *list;
	const void *item;
};

static void *item_at(const struct list *list, uint32_t number)
{
	typedef char *__attribute__((may_alias)) any_list;

	return *(const any_list *)list->at + list->kind->size * number;
}

static bool same(const void *ctx, uint32_t number)
{
	const struct search *s = ctx;

	return s->list->kind->compare(item_at(s->list, number), s->item) == 0;
}

/*
 * The one that is the same as an item in a list, added up with it; or the item itself,
 * new in the list, as *fresh says. NULL without memory.
 */
static void *place(const struct list *list, uint64_t hash, const void *item,
		   uint32_t *number, bool *fresh)
{
	const struct search search = {list, item};

	*number = hlg_index_find(list->index, hash, same, &search);
	*fresh = *number == HLG_INDEX_NONE;
	if (!*fresh) {
		if (list->kind->add)
			list->kind->add(item_at(list, *number), item);
		return item_at(list, *number);
	}
	*number = (uint32_t)*list->n;
	if (!hlg_grow(list->at, *list->n, list->kind->size) ||
	    !hlg_index_add(list->index, hash, *number))
		return NULL;
	++*list->n;
	return memcpy(item_at(list, *number), item, list->kind->size);
}

static const void *copy(struct hlg_saved *to, const void *from, size_t size)
{
	void *bytes = hlg_saved_arena_alloc(&to->arena, size, 1);

	return bytes && size ? memcpy(bytes, from, size) : bytes;
}

/* Makes a text, which is escaped already, the sum's own. False without memory. */
static bool own(struct hlg_saved *to, const char **text)
{
	*text = copy(to, *text, strlen(*text) + 1);
	return *text;
}

/* The same for texts of messages. */
static bool own_text(struct hlg_saved *to, char **text)
{
	const char *own_one = *text;
	bool ok = own(to, &own_one);

	*text = (char *)(uintptr_t)own_one;
	return ok;
}

static bool has_field(const ProtobufCMessageUnknownField *fields, size_t n,
		      const ProtobufCMessageUnknownField *field)
{
	size_t low = 0, high = n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		int order = hlg_pprof_compare_unknown(&fields[middle], field);

		if (order == 0)
			return true;
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return false;
}

/* Adds the fields of a later hlguest that are new to a message of the sum, whose own are
 * folded. Of a fresh one they are still those of the message read. */
static bool join_unknown(struct hlg_saved *saved, void *message, void *read, bool fresh)
{
	ProtobufCMessage *to = message, *from = read;
	size_t n;

	if (fresh) {
		to->n_unknown_fields = 0;
		to->unknown_fields = NULL;
	}
	if (from->n_unknown_fields == 0)
		return true;
	hlg_pprof_fold_unknown(from);
	n = to->n_unknown_fields;
	for (unsigned i = 0; i < from->n_unknown_fields; i++) {
		ProtobufCMessageUnknownField field = from->unknown_fields[i];

		if (has_field(to->unknown_fields, n, &field))
			continue;
		field.data = (uint8_t *)(uintptr_t)copy(saved, field.data, field.len);
		if (!field.data || !hlg_saved_add_unknown(saved, to, &field))
			return false;
	}
	hlg_pprof_fold_unknown(to);
	return true;
}

static bool add_events(struct hlg_pprof_sum *sum, struct hlg_saved *one, uint32_t *places)
{
	const struct list list = LIST(sum, events, &hlg_saved_event_kind);

	for (size_t i = 0; i < one->events.n; i++) {
		Pprof__Extra__Event *event = &one->events.at[i], *to;
		bool fresh;

		to = place(&list,
			   hlg_hash_word(hlg_hash_text(HLG_HASH_SEED, event->name),
					 event->precise_ip),
			   event, &places[i], &fresh);
		if (!to || (fresh && !own_text(&sum->saved, &to->name)) ||
		    !join_unknown(&sum->saved, to, event, fresh))
			return false;
	}
	return true;
}

/* What an image of the sum has taken over from one that was read. */
static bool own_image(struct hlg_saved *saved, struct hlg_saved_image *to,
		      const struct hlg_saved_image *from, bool fresh)
{
	if (fresh && !own(saved, &to->build_id))
		return false;
	if (to->path == from->path && !own(saved, &to->path))
		return false;
	return !from->ran_file || to->ran_file != from->ran_file ||
	       (own(saved, &to->ran_file) && own(saved, &to->ran_id));
}

static bool add_images(struct hlg_pprof_sum *sum, struct hlg_saved *one, uint32_t *places)
{
	const struct list list = LIST(sum, images, &hlg_saved_image_kind);

	for (size_t i = 0; i < one->images.n; i++) {
		struct hlg_saved_image *image = &one->images.at[i], *to;
		uint64_t hash =
			hlg_hash_text(HLG_HASH_SEED,
				      image->build_id[0] ? image->build_id : image->path);
		bool fresh;

		to = place(&list, hlg_hash_word(hash, image->start), image, &places[i],
			   &fresh);
		if (!to || !own_image(&sum->saved, to, image, fresh) ||
		    !join_unknown(&sum->saved, to, image, fresh))
			return false;
	}
	return true;
}

static bool add_functions(struct hlg_pprof_sum *sum, const struct hlg_saved *one,
			  uint32_t *places)
{
	const struct list list = LIST(sum, functions, &hlg_saved_function_kind);

	for (size_t i = 0; i < one->functions.n; i++) {
		const struct hlg_saved_function *function = &one->functions.at[i];
		struct hlg_saved_function *to;
		bool fresh;

		to = place(&list,
			   hlg_hash_text(hlg_hash_text(HLG_HASH_SEED, function->name),
					 function->symbol),
			   function, &places[i], &fresh);
		if (!to || (fresh && (!own(&sum->saved, &to->name) ||
				      !own(&sum->saved, &to->symbol))))
			return false;
	}
	return true;
}

/* Alike in what was inlined, too: which list counts is decided when functions are in
 * order. */
static int compare_inlines(const void *a, const void *b)
{
	const struct hlg_saved_inlines *x = a, *y = b;
	int order = hlg_saved_compare_inlines(a, b);

	if (order == 0 && x->n != y->n)
		return x->n < y->n ? -1 : 1;
	return order ? order
		     : memcmp(x->functions, y->functions, x->n * sizeof(*x->functions));
}

static uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t size)
{
	const char *at = bytes;

	for (size_t left; size; size -= left, at += left) {
		uint64_t word = 0;

		left = size < sizeof(word) ? size : sizeof(word);
		memcpy(&word, at, left);
		hash = hlg_hash_word(hash, word);
	}
	return hash;
}

static bool add_inlines(struct hlg_pprof_sum *sum, const struct hlg_saved *one)
{
	static const struct hlg_saved_kind kind = {sizeof(*one->inlines.at),
						   compare_inlines, NULL, false};
	const struct list list = LIST(sum, inlines, &kind);

	for (size_t i = 0; i < one->inlines.n; i++) {
		const struct hlg_saved_inlines *inlines = &one->inlines.at[i];
		size_t size = inlines->n * sizeof(*inlines->functions);
		uint64_t hash = hlg_hash_word(hlg_hash_word(HLG_HASH_SEED, inlines->ip),
					      inlines->image);
		struct hlg_saved_inlines *to;
		uint32_t number;
		bool fresh;

		to = place(&list, hash_bytes(hash, inlines->functions, size), inlines,
			   &number, &fresh);
		if (to && fresh)
			to->functions = (uint32_t *)(uintptr_t)copy(
				&sum->saved, inlines->functions, size);
		if (!to || !to->functions)
			return false;
	}
	return true;
}

static bool own_stack(struct hlg_saved *saved, struct hlg_saved_stack *to)
{
	to->callers = (uint64_t *)(uintptr_t)copy(saved, to->callers,
						  to->n_callers * sizeof(*to->callers));
	to->frames = (struct hlg_saved_frame *)(uintptr_t)copy(
		saved, to->frames, to->n_frames * sizeof(*to->frames));
	to->host = (struct hlg_saved_host *)(uintptr_t)copy(
		saved, to->host, to->n_host * sizeof(*to->host));
	return to->callers && to->frames && to->host;
}

static bool add_stacks(struct hlg_pprof_sum *sum, const struct hlg_saved *one,
		       uint32_t *places)
{
	const struct list list = LIST(sum, stacks, &hlg_saved_stack_kind);

	for (size_t i = 0; i < one->stacks.n; i++) {
		const struct hlg_saved_stack *stack = &one->stacks.at[i];
		uint64_t hash = hlg_hash_word(HLG_HASH_SEED,
					      (uint64_t)stack->end << 32 | stack->way);
		struct hlg_saved_stack *to;
		bool fresh;

		hash = hash_bytes(hash, stack->callers,
				  stack->n_callers * sizeof(*stack->callers));
		hash = hash_bytes(hash, stack->frames,
				  stack->n_frames * sizeof(*stack->frames));
		hash = hash_bytes(hash, stack->host,
				  stack->n_host * sizeof(*stack->host));
		to = place(&list, hash, stack, &places[i], &fresh);
		if (!to || (fresh && !own_stack(&sum->saved, to)))
			return false;
	}
	return true;
}

/* Alike in all but the count, also in the function: which counts is decided when these
 * are in order. */
enum {
	CELL_KEY = offsetof(struct hlg_saved_cell, count)
};

_Static_assert(CELL_KEY == sizeof(struct hlg_saved_frame) + sizeof(uint32_t) +
				   sizeof(struct hlg_saved_key),
	       "there is nothing but the key in it");

static int compare_cells(const void *a, const void *b)
{
	return memcmp(a, b, CELL_KEY);
}

static void add_cell(void *to, const void *from)
{
	hlg_count_add(&((struct hlg_saved_cell *)to)->count,
		      ((const struct hlg_saved_cell *)from)->count);
}

static const struct hlg_saved_kind cell_kind = {sizeof(struct hlg_saved_cell),
						compare_cells, add_cell, false};

enum {
	BATCH = 64 /* cells that are looked up in turn */
};

/* The sum's cells are far apart in memory: what is read next is on its way meanwhile.
 * places may be NULL. */
static bool add_cells(const struct list *list, struct hlg_saved_cell *cells, size_t n,
		      const uint32_t *stacks, uint32_t *places)
{
	uint64_t hashes[BATCH];

	for (size_t begin = 0, end; begin < n; begin = end) {
		end = begin + BATCH < n ? begin + BATCH : n;
		for (size_t i = begin; i < end; i++) {
			if (cells[i].stack)
				cells[i].stack = stacks[cells[i].stack - 1] + 1;
			hashes[i - begin] =
				hash_bytes(HLG_HASH_SEED, &cells[i], CELL_KEY);
			hlg_index_expect(list->index, hashes[i - begin]);
		}
		for (size_t i = begin; i < end; i++) {
			uint32_t number;
			bool fresh;

			if (!place(list, hashes[i - begin], &cells[i], &number, &fresh))
				return false;
			if (places)
				places[i] = number;
		}
	}
	return true;
}

static bool add_series(struct hlg_pprof_sum *sum, struct hlg_saved *one)
{
	const struct list list = LIST(sum, series, &hlg_saved_series_kind);

	for (size_t i = 0; i < one->series.n; i++) {
		const struct hlg_saved_key key = hlg_saved_series_key(&one->series.at[i]);
		uint32_t number;
		bool fresh;
		void *to = place(&list, hash_bytes(HLG_HASH_SEED, &key, sizeof(key)),
				 &one->series.at[i], &number, &fresh);

		if (!to || !join_unknown(&sum->saved, to, &one->series.at[i], fresh))
			return false;
	}
	return true;
}

static bool add_hosts(struct hlg_pprof_sum *sum, struct hlg_saved *one)
{
	const struct list list = LIST(sum, hosts, &hlg_saved_host_kind);

	for (size_t i = 0; i < one->hosts.n; i++) {
		Pprof__Extra__HostRow *row = &one->hosts.at[i], *to;
		const struct hlg_saved_key key = hlg_saved_host_key(row);
		uint64_t hash = hash_bytes(HLG_HASH_SEED, &key, sizeof(key));
		uint32_t number;
		bool fresh;

		hash = hlg_hash_text(hlg_hash_text(hash, row->dso), row->process);
		to = place(&list, hash, row, &number, &fresh);
		if (!to ||
		    (fresh && (!own_text(&sum->saved, &to->dso) ||
			       !own_text(&sum->saved, &to->process))) ||
		    !join_unknown(&sum->saved, to, row, fresh))
			return false;
	}
	return true;
}

static bool add_checks(struct hlg_pprof_sum *sum, struct hlg_saved *one)
{
	const struct list list = LIST(sum, checks, &hlg_saved_check_kind);

	for (size_t i = 0; i < one->checks.n; i++) {
		Pprof__Extra__Check *check = &one->checks.at[i], *to;
		uint32_t number;
		bool fresh;

		to = place(&list,
			   hlg_hash_word(HLG_HASH_SEED,
					 2 * (uint64_t)check->word + check->suppressed),
			   check, &number, &fresh);
		if (!to ||
		    (to->said == check->said && !own_text(&sum->saved, &to->said)) ||
		    !join_unknown(&sum->saved, to, check, fresh))
			return false;
	}
	return true;
}

static uint32_t *make_places(size_t n)
{
	return calloc(n + 1, sizeof(uint32_t));
}

/* What has places in lists of its own. */
static bool add_lists(struct hlg_pprof_sum *sum, struct hlg_saved *one,
		      const struct hlg_saved_places *to, uint32_t *stacks,
		      uint32_t *cells)
{
	const struct list all = LIST(sum, cells, &cell_kind),
			  of_host = LIST(sum, host_stacks, &cell_kind);

	if (!add_events(sum, one, to->events) || !add_images(sum, one, to->images) ||
	    !add_functions(sum, one, to->functions))
		return false;
	hlg_pprof_renumber(one, to);
	if (!add_inlines(sum, one) || !add_stacks(sum, one, stacks) ||
	    !add_cells(&all, one->cells.at, one->cells.n, stacks, cells) ||
	    !add_cells(&of_host, one->host_stacks.at, one->host_stacks.n, stacks, NULL))
		return false;
	hlg_moments_merge(&sum->saved.moments, &one->moments, cells, NULL);
	return !sum->saved.moments.lost && add_series(sum, one) && add_hosts(sum, one) &&
	       add_checks(sum, one);
}

int hlg_pprof_sum_add(struct hlg_pprof_sum *sum, struct hlg_saved *one, const char *name,
		      struct hlg_err *err)
{
	struct hlg_saved *saved = &sum->saved;
	const struct hlg_saved_places to = {make_places(one->events.n),
					    make_places(one->images.n),
					    make_places(one->functions.n)};
	uint32_t *stacks = make_places(one->stacks.n);
	uint32_t *cells = make_places(one->cells.n);
	bool ok = to.events && to.images && to.functions && stacks && cells &&
		  add_lists(sum, one, &to, stacks, cells) &&
		  join_unknown(saved, &saved->extra.base, &one->extra.base, false);

	free(to.events);
	free(to.images);
	free(to.functions);
	free(stacks);
	free(cells);
	hlg_origins_merge(&saved->origins, &one->origins);
	if (!ok || saved->origins.lost)
		return hlg_err_memory(err, name);
	saved->extra.by = one->extra.by;
	saved->recordings = hlg_sum(saved->recordings, one->recordings);
	return hlg_saved_add_totals(saved, &one->extra, one->began, one->took)
		       ? 0
		       : hlg_pprof_fail_samples(name, err);
}

void hlg_pprof_sum_finish(struct hlg_pprof_sum *sum)
{
	struct hlg_index *const indexes[] = {
		&sum->events, &sum->images, &sum->functions,   &sum->inlines,
		&sum->stacks, &sum->cells,  &sum->host_stacks, &sum->series,
		&sum->hosts,  &sum->checks};

	for (size_t i = 0; i < sizeof(indexes) / sizeof(indexes[0]); i++)
		hlg_index_finish(indexes[i]);
	hlg_saved_finish(&sum->saved);
}
