// SPDX-License-Identifier: GPL-2.0-only
#include "filter/profile/strings.h"

#include <stdlib.h>
#include <string.h>

#include "symtab/grow.h"

struct search {
	const struct hlg_strings *names;
	const char *text;
};

static bool same(const void *ctx, uint32_t number)
{
	const struct search *search = ctx;

	return strcmp(search->names->names[number], search->text) == 0;
}

static uint64_t hash(const char *text)
{
	return hlg_hash_text(HLG_HASH_SEED, text);
}

uint32_t hlg_strings_find(const struct hlg_strings *names, const char *text)
{
	const struct search search = {names, text};

	/* HLG_INDEX_NONE + 1 is HLG_NO_STRING. */
	return hlg_index_find(&names->index, hash(text), same, &search) + 1;
}

uint32_t hlg_strings_add(struct hlg_strings *names, const char *text)
{
	uint32_t known = hlg_strings_find(names, text);
	char *copy;

	if (known != HLG_NO_STRING)
		return known;
	copy = strdup(text);
	if (!copy || !HLG_GROW(names->names, names->n) ||
	    !hlg_index_add(&names->index, hash(text), names->n)) {
		free(copy);
		return HLG_NO_STRING;
	}
	names->names[names->n] = copy;
	return ++names->n;
}

const char *hlg_strings_get(const struct hlg_strings *names, uint32_t name)
{
	return name == HLG_NO_STRING ? NULL : names->names[name - 1];
}

void hlg_strings_finish(struct hlg_strings *names)
{
	for (uint32_t i = 0; i < names->n; i++)
		free(names->names[i]);
	free(names->names);
	hlg_index_finish(&names->index);
	*names = (struct hlg_strings){0};
}
