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

/*
 * Sorts a table whose things begin with their id and keeps the first of those that are
 * the same. Returns where each went, by its old place, to be freed; NULL without memory.
 */
static uint32_t *fold_named(struct hlg_saved_table *table, size_t size,
			    compare_fn *compare, compare_fn *same)
{
	uint32_t *to = malloc(((size_t)table->n + 1) * sizeof(*to)), n = 0;
	unsigned char *items = table->items;

	if (!to)
		return NULL;
	for (uint32_t i = 0; i < table->n; i++)
		*(uint32_t *)(void *)(items + size * i) = i;
	if (table->n)
		qsort(items, table->n, size, compare);
	for (uint32_t i = 0; i < table->n; i++) {
		unsigned char *item = items + size * i;

		if (n == 0 || same(items + size * (n - 1), item) != 0) {
			memmove(items + size * n, item, size);
			n++;
		}
		to[*(uint32_t *)(void *)item] = n - 1;
	}
	table->n = n;
	return to;
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

static void fold_cells(struct hlg_saved_table *table)
{
	struct hlg_saved_cell *cells = table->items;
	uint32_t n = 0;

	if (table->n)
		qsort(cells, table->n, sizeof(*cells), compare_cells);
	for (uint32_t i = 0; i < table->n; i++) {
		if (n == 0 || compare_cells(&cells[n - 1], &cells[i]) != 0) {
			cells[n++] = cells[i];
			continue;
		}
		hlg_count_add(&cells[n - 1].count, cells[i].count);
		if (cells[i].function < cells[n - 1].function)
			cells[n - 1].function = cells[i].function;
	}
	table->n = n;
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

static int compare_series(const void *a, const void *b)
{
	const struct hlg_saved_series *x = a, *y = b;

	return hlg_saved_compare_keys(&x->key, &y->key);
}

static void fold_series(struct hlg_saved_table *table)
{
	struct hlg_saved_series *series = table->items;
	uint32_t n = 0;

	if (table->n)
		qsort(series, table->n, sizeof(*series), compare_series);
	for (uint32_t i = 0; i < table->n; i++) {
		if (n == 0 || compare_series(&series[n - 1], &series[i]) != 0)
			series[n++] = series[i];
		else
			series[n - 1].squares += series[i].squares;
	}
	table->n = n;
}

static int compare_hosts(const void *a, const void *b)
{
	const struct hlg_saved_host *x = a, *y = b;
	int order = hlg_saved_compare_keys(&x->key, &y->key);

	if (order == 0)
		order = strcmp(x->dso, y->dso);
	return order ? order : strcmp(x->comm, y->comm);
}

static void fold_hosts(struct hlg_saved_table *table)
{
	struct hlg_saved_host *hosts = table->items;
	uint32_t n = 0;

	if (table->n)
		qsort(hosts, table->n, sizeof(*hosts), compare_hosts);
	for (uint32_t i = 0; i < table->n; i++) {
		if (n == 0 || compare_hosts(&hosts[n - 1], &hosts[i]) != 0)
			hosts[n++] = hosts[i];
		else
			hlg_count_add(&hosts[n - 1].count, hosts[i].count);
	}
	table->n = n;
}

static void renumber(struct hlg_saved *saved, const uint32_t *events,
		     const uint32_t *images, const uint32_t *functions)
{
	struct hlg_saved_cell *cells = saved->cells.items;

	for (uint32_t i = 0; i < saved->cells.n; i++) {
		cells[i].key.event = events[cells[i].key.event];
		cells[i].function = functions[cells[i].function];
		if (cells[i].image)
			cells[i].image = images[cells[i].image - 1] + 1;
	}
	for (uint32_t i = 0; i < saved->series.n; i++) {
		struct hlg_saved_key *key = &HLG_SAVED(series, &saved->series, i)->key;

		key->event = events[key->event];
	}
	for (uint32_t i = 0; i < saved->hosts.n; i++) {
		struct hlg_saved_key *key = &HLG_SAVED(host, &saved->hosts, i)->key;

		key->event = events[key->event];
	}
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
	if (ok)
		hlg_saved_arena_finish(&saved->arena);
	hlg_saved_arena_join(&saved->arena, &arena);
	return ok;
}

bool hlg_saved_resolve(struct hlg_saved *saved)
{
	uint32_t *events = fold_named(&saved->events, sizeof(struct hlg_saved_event),
				      order_events, compare_events);
	uint32_t *images = fold_named(&saved->images, sizeof(struct hlg_saved_image),
				      compare_images, compare_identity);
	uint32_t *functions =
		fold_named(&saved->functions, sizeof(struct hlg_saved_function),
			   compare_functions, compare_functions);
	bool ok = events && images && functions;

	if (ok) {
		renumber(saved, events, images, functions);
		fold_cells(&saved->cells);
		agree_on_functions(&saved->cells);
		fold_series(&saved->series);
		fold_hosts(&saved->hosts);
	}
	free(events);
	free(images);
	free(functions);
	return ok && drop_functions(saved) && move_strings(saved);
}
