// SPDX-License-Identifier: GPL-2.0-only
#include "tools/sysprof/symbols.h"

#include <search.h>
#include <stdlib.h>

static int compare(const void *a, const void *b)
{
	const struct hlg_symbols_entry *x = a, *y = b;

	return x->key < y->key ? -1 : x->key > y->key;
}

bool hlg_symbols_set(void **tree, const struct hlg_symbols_entry *entry)
{
	struct hlg_symbols_entry *copy = malloc(sizeof(*copy)), **at;

	if (!copy)
		return false;
	*copy = *entry;
	at = tsearch(copy, tree, compare);
	if (!at) {
		free(copy);
		return false;
	}
	if (*at != copy) {
		**at = *entry;
		free(copy);
	}
	return true;
}

const struct hlg_symbols_entry *hlg_symbols_get(void *const *tree, uint64_t key)
{
	const struct hlg_symbols_entry wanted = {.key = key};
	struct hlg_symbols_entry *const *at = tfind(&wanted, tree, compare);

	return at ? *at : NULL;
}

/* What is asked for, and the best so far: the way down passes what is next below. */
struct search {
	struct hlg_symbols_entry wanted;
	const struct hlg_symbols_entry *best;
};

static int compare_floor(const void *a, const void *b)
{
	struct search *search = (struct search *)(uintptr_t)a;
	const struct hlg_symbols_entry *entry = b;

	if (entry->key <= search->wanted.key &&
	    (!search->best || entry->key > search->best->key))
		search->best = entry;
	return compare(&search->wanted, entry);
}

const struct hlg_symbols_entry *hlg_symbols_floor(void *const *tree, uint64_t key)
{
	struct search search = {.wanted = {.key = key}};

	(void)tfind(&search, tree, compare_floor);
	return search.best;
}

void hlg_symbols_finish(struct hlg_symbols *symbols)
{
	tdestroy(symbols->lua, free);
	tdestroy(symbols->c, free);
	tdestroy(symbols->traces, free);
	*symbols = (struct hlg_symbols){0};
}
