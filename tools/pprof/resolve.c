// SPDX-License-Identifier: GPL-2.0-only
/*
 * Resolving: events, images and functions are sorted first and the others renumbered;
 * then cells, series and host rows are sorted and what is alike is added up. Of two names
 * for one thing (an image's path, a location's function) the smaller is kept, so that it
 * does not matter which came first.
 */
#include <stdlib.h>
#include <string.h>

#include "tools/pprof/saved.h"

typedef int compare_fn(const void *a, const void *b);

/* How the things of a table are sorted and folded. */
struct kind {
	size_t size;
	compare_fn *order;
	compare_fn *same; /* 0: one thing, of which the first in order stays */
	void (*add)(void *to, const void *from); /* NULL: nothing adds up */
	bool id;                                 /* they begin with their place before */
};

/* Where the things of a table have gone, by their old places. */
struct places {
	uint32_t *events, *images, *functions, *series, *hosts;
};

static int compare_u64(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

static int compare_events(const void *a, const void *b)
{
	const struct hlg_saved_event *x = a, *y = b;
	int order = strcmp(x->name, y->name);

	return order ? order : compare_u64(x->precise_ip, y->precise_ip);
}

/* Of what is said of one event, the larger comes first, as in hlg_profile_describe. */
static int order_events(const void *a, const void *b)
{
	const struct hlg_saved_event *x = a, *y = b;
	int order = compare_events(a, b);

	if (order == 0)
		order = compare_u64(y->kind, x->kind);
	return order ? order : compare_u64(y->member, x->member);
}

/* The same image? Its build id says; without one, its path. */
static int compare_identity(const void *a, const void *b)
{
	const struct hlg_saved_image *x = a, *y = b;
	int order = strcmp(x->build_id, y->build_id);

	if (order == 0 && x->build_id[0] == '\0')
		order = strcmp(x->path, y->path);
	if (order == 0)
		order = (int)x->map - (int)y->map;
	if (order == 0)
		order = compare_u64(x->base, y->base);
	if (order == 0)
		order = compare_u64(x->bias, y->bias);
	if (order == 0)
		order = compare_u64(x->start, y->start);
	return order ? order : compare_u64(x->limit, y->limit);
}

static int compare_images(const void *a, const void *b)
{
	const struct hlg_saved_image *x = a, *y = b;
	int order = compare_identity(a, b);

	return order ? order : strcmp(x->path, y->path);
}

static int compare_functions(const void *a, const void *b)
{
	const struct hlg_saved_function *x = a, *y = b;
	int order = strcmp(x->name, y->name);

	return order ? order : strcmp(x->symbol, y->symbol);
}

/* By image and address, then by labels: the order of the samples in the file. */
static int compare_cells(const void *a, const void *b)
{
	const struct hlg_saved_cell *x = a, *y = b;

	if (x->image != y->image)
		return x->image < y->image ? -1 : 1;
	if (x->ip != y->ip)
		return x->ip < y->ip ? -1 : 1;
	if (x->key.pid != y->key.pid)
		return x->key.pid < y->key.pid ? -1 : 1;
	if (x->key.tid != y->key.tid)
		return x->key.tid < y->key.tid ? -1 : 1;
	if (x->key.cpu != y->key.cpu)
		return x->key.cpu < y->key.cpu ? -1 : 1;
	return compare_u64(x->key.event, y->key.event);
}

static void add_cell(void *to, const void *from)
{
	struct hlg_saved_cell *cell = to;
	const struct hlg_saved_cell *more = from;

	hlg_count_add(&cell->count, more->count);
	if (more->function < cell->function)
		cell->function = more->function;
}

static int compare_series(const void *a, const void *b)
{
	const struct hlg_saved_series *x = a, *y = b;

	return hlg_saved_compare_keys(&x->key, &y->key);
}

static void add_series(void *to, const void *from)
{
	((struct hlg_saved_series *)to)->squares +=
		((const struct hlg_saved_series *)from)->squares;
}

static int compare_hosts(const void *a, const void *b)
{
	const struct hlg_saved_host *x = a, *y = b;
	int order = hlg_saved_compare_keys(&x->key, &y->key);

	if (order == 0)
		order = strcmp(x->dso, y->dso);
	return order ? order : strcmp(x->comm, y->comm);
}

static void add_host(void *to, const void *from)
{
	hlg_count_add(&((struct hlg_saved_host *)to)->count,
		      ((const struct hlg_saved_host *)from)->count);
}

/* By message, then as protobuf has them: by number. */
static int compare_unknown(const void *a, const void *b)
{
	const struct hlg_saved_unknown *x = a, *y = b;

	if (x->of != y->of)
		return x->of < y->of ? -1 : 1;
	if (x->item != y->item)
		return x->item < y->item ? -1 : 1;
	if (x->number != y->number)
		return x->number < y->number ? -1 : 1;
	if (x->wire_type != y->wire_type)
		return x->wire_type < y->wire_type ? -1 : 1;
	if (x->size != y->size)
		return x->size < y->size ? -1 : 1;
	return memcmp(x->bytes, y->bytes, x->size);
}

static const struct kind event_kind = {sizeof(struct hlg_saved_event), order_events,
				       compare_events, NULL, true};
static const struct kind image_kind = {sizeof(struct hlg_saved_image), compare_images,
				       compare_identity, NULL, true};
static const struct kind function_kind = {sizeof(struct hlg_saved_function),
					  compare_functions, compare_functions, NULL,
					  true};
static const struct kind cell_kind = {sizeof(struct hlg_saved_cell), compare_cells,
				      compare_cells, add_cell, false};
static const struct kind series_kind = {sizeof(struct hlg_saved_series), compare_series,
					compare_series, add_series, true};
static const struct kind host_kind = {sizeof(struct hlg_saved_host), compare_hosts,
				      compare_hosts, add_host, true};
static const struct kind unknown_kind = {sizeof(struct hlg_saved_unknown),
					 compare_unknown, compare_unknown, NULL, false};

/*
 * Sorts a table and makes one of those that are the same. Sets *places, for things with
 * an id: to be freed. False without memory for it.
 */
static bool fold(struct hlg_saved_table *table, const struct kind *kind,
		 uint32_t **places)
{
	uint32_t *to = kind->id ? malloc(((size_t)table->n + 1) * sizeof(*to)) : NULL;
	unsigned char *items = table->items, *last = NULL;
	uint32_t n = 0;

	if (kind->id && !to)
		return false;
	for (uint32_t i = 0; kind->id && i < table->n; i++)
		*(uint32_t *)(void *)(items + kind->size * i) = i;
	if (table->n)
		qsort(items, table->n, kind->size, kind->order);
	for (uint32_t i = 0; i < table->n; i++) {
		unsigned char *item = items + kind->size * i;

		if (!last || kind->same(last, item) != 0) {
			last = items + kind->size * n++;
			memmove(last, item, kind->size);
		} else if (kind->add) {
			kind->add(last, item);
		}
		if (kind->id)
			to[*(uint32_t *)(void *)item] = n - 1;
	}
	table->n = n;
	if (kind->id)
		*places = to;
	return true;
}

/* One function for each location, the functions being in order. */
static void agree_on_functions(struct hlg_saved_table *table)
{
	struct hlg_saved_cell *cells = table->items;

	for (uint32_t i = 0, j; i < table->n; i = j) {
		uint32_t function = cells[i].function;

		for (j = i; j < table->n && cells[j].image == cells[i].image &&
			    cells[j].ip == cells[i].ip;
		     j++)
			if (cells[j].function < function)
				function = cells[j].function;
		for (uint32_t k = i; k < j; k++)
			cells[k].function = function;
	}
}

/* Functions that lost their locations go: they would tell how the profile was made. */
static bool drop_functions(struct hlg_saved *saved)
{
	struct hlg_saved_cell *cells = saved->cells.items;
	struct hlg_saved_function *functions = saved->functions.items;
	uint32_t *to = calloc((size_t)saved->functions.n + 1, sizeof(*to)), n = 0;

	if (!to)
		return false;
	for (uint32_t i = 0; i < saved->cells.n; i++)
		to[cells[i].function] = 1;
	for (uint32_t i = 0; i < saved->functions.n; i++) {
		if (!to[i])
			continue;
		to[i] = n;
		functions[n++] = functions[i];
	}
	saved->functions.n = n;
	for (uint32_t i = 0; i < saved->cells.n; i++)
		cells[i].function = to[cells[i].function];
	free(to);
	return true;
}

static void renumber(struct hlg_saved *saved, const struct places *to)
{
	struct hlg_saved_cell *cells = saved->cells.items;

	for (uint32_t i = 0; i < saved->cells.n; i++) {
		cells[i].key.event = to->events[cells[i].key.event];
		cells[i].function = to->functions[cells[i].function];
		if (cells[i].image)
			cells[i].image = to->images[cells[i].image - 1] + 1;
	}
	for (uint32_t i = 0; i < saved->series.n; i++) {
		struct hlg_saved_key *key = &HLG_SAVED(series, &saved->series, i)->key;

		key->event = to->events[key->event];
	}
	for (uint32_t i = 0; i < saved->hosts.n; i++) {
		struct hlg_saved_key *key = &HLG_SAVED(host, &saved->hosts, i)->key;

		key->event = to->events[key->event];
	}
}

/* What belongs to a thing goes where that went. */
static void fold_unknown(struct hlg_saved *saved, const struct places *to)
{
	const uint32_t *const places[] = {[HLG_SAVED_EVENT] = to->events,
					  [HLG_SAVED_IMAGE] = to->images,
					  [HLG_SAVED_SERIES] = to->series,
					  [HLG_SAVED_HOST] = to->hosts};

	for (uint32_t i = 0; i < saved->unknown.n; i++) {
		struct hlg_saved_unknown *field = HLG_SAVED(unknown, &saved->unknown, i);

		if (field->of != HLG_SAVED_WHOLE)
			field->item = places[field->of][field->item];
	}
	fold(&saved->unknown, &unknown_kind, NULL);
}

static bool move(struct hlg_saved_arena *arena, const char **text)
{
	*text = hlg_saved_arena_text(arena, *text, strlen(*text));
	return *text != NULL;
}

/* Only the strings that are left are kept: memory is that of one profile, not of all. */
static bool move_strings(struct hlg_saved *saved)
{
	struct hlg_saved_arena arena = {NULL};
	bool ok = true;

	for (uint32_t i = 0; ok && i < saved->events.n; i++)
		ok = move(&arena, &HLG_SAVED(event, &saved->events, i)->name);
	for (uint32_t i = 0; ok && i < saved->images.n; i++)
		ok = move(&arena, &HLG_SAVED(image, &saved->images, i)->path) &&
		     move(&arena, &HLG_SAVED(image, &saved->images, i)->build_id);
	for (uint32_t i = 0; ok && i < saved->functions.n; i++)
		ok = move(&arena, &HLG_SAVED(function, &saved->functions, i)->name) &&
		     move(&arena, &HLG_SAVED(function, &saved->functions, i)->symbol);
	for (uint32_t i = 0; ok && i < saved->hosts.n; i++)
		ok = move(&arena, &HLG_SAVED(host, &saved->hosts, i)->dso) &&
		     move(&arena, &HLG_SAVED(host, &saved->hosts, i)->comm);
	for (uint32_t i = 0; ok && i < saved->unknown.n; i++) {
		struct hlg_saved_unknown *field = HLG_SAVED(unknown, &saved->unknown, i);

		field->bytes = (const unsigned char *)hlg_saved_arena_text(
			&arena, (const char *)field->bytes, field->size);
		ok = field->bytes != NULL;
	}
	if (ok)
		hlg_saved_arena_finish(&saved->arena);
	hlg_saved_arena_join(&saved->arena, &arena);
	return ok;
}

bool hlg_pprof_resolve(struct hlg_saved *saved)
{
	struct places to = {0};
	bool ok = fold(&saved->events, &event_kind, &to.events) &&
		  fold(&saved->images, &image_kind, &to.images) &&
		  fold(&saved->functions, &function_kind, &to.functions);

	if (ok) {
		renumber(saved, &to);
		fold(&saved->cells, &cell_kind, NULL);
		agree_on_functions(&saved->cells);
	}
	ok = ok && fold(&saved->series, &series_kind, &to.series) &&
	     fold(&saved->hosts, &host_kind, &to.hosts);
	if (ok)
		fold_unknown(saved, &to);
	free(to.events);
	free(to.images);
	free(to.functions);
	free(to.series);
	free(to.hosts);
	return ok && drop_functions(saved) && move_strings(saved);
}
