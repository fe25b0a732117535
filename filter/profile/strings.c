// SPDX-License-Identifier: GPL-2.0-only
#include "filter/profile/strings.h"

#include <stdlib.h>
#include <string.h>

struct search {
	const struct hlg_names *names;
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

uint32_t hlg_names_find(const struct hlg_names *names, const char *text)
{
	const struct search search = {names, text};

	/* HLG_INDEX_NONE + 1 is HLG_NO_NAME. */
	return hlg_index_find(&names->index, hash(text), same, &search) + 1;
}

uint32_t hlg_names_add(struct hlg_names *names, const char *text)
{
	uint32_t known = hlg_names_find(names, text);
	char *copy;

	if (known != HLG_NO_NAME)
		return known;
	copy = strdup(text);
	if (!copy ||
	    !hlg_index_room(&names->names, names->n, &names->room,
			    sizeof(*names->names)) ||
	    !hlg_index_add(&names->index, hash(text), names->n)) {
		free(copy);
		return HLG_NO_NAME;
	}
	names->names[names->n] = copy;
	return ++names->n;
}

const char *hlg_names_get(const struct hlg_names *names, uint32_t name)
{
	return name == HLG_NO_NAME ? NULL : names->names[name - 1];
}

void hlg_names_finish(struct hlg_names *names)
{
	for (uint32_t i = 0; i < names->n; i++)
		free(names->names[i]);
	free(names->names);
	hlg_index_finish(&names->index);
	*names = (struct hlg_names){0};
}
