// SPDX-License-Identifier: GPL-2.0-only
#include "names.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static uint32_t find(const struct hlg_names *names, const char *text)
{
	/* FNV-1a (Fowler, Noll, Vo), 64 bits. */
	uint64_t h = UINT64_C(0xcbf29ce484222325);
	uint32_t mask = names->room - 1, i;

	for (const char *s = text; *s; s++)
		h = (h ^ (unsigned char)*s) * UINT64_C(0x100000001b3);
	for (i = (uint32_t)(h ^ h >> 32) & mask; names->index[i]; i = (i + 1) & mask)
		if (strcmp(names->names[names->index[i] - 1], text) == 0)
			break;
	return i;
}

static bool grow(struct hlg_names *names)
{
	uint32_t room = names->room ? 2 * names->room : 64;
	char **texts = reallocarray(names->names, room / 2, sizeof(*texts));
	uint32_t *index;

	if (!texts)
		return false;
	names->names = texts;
	index = calloc(room, sizeof(*index));
	if (!index)
		return false;
	free(names->index);
	names->index = index;
	names->room = room;
	for (uint32_t i = 0; i < names->n; i++)
		index[find(names, texts[i])] = i + 1;
	return true;
}

uint32_t hlg_names_add(struct hlg_names *names, const char *text)
{
	uint32_t at;

	if (2 * (names->n + 1) > names->room && !grow(names))
		return HLG_NO_NAME;
	at = find(names, text);
	if (names->index[at])
		return names->index[at];
	names->names[names->n] = strdup(text);
	if (!names->names[names->n])
		return HLG_NO_NAME;
	return names->index[at] = ++names->n;
}

uint32_t hlg_names_find(const struct hlg_names *names, const char *text)
{
	return names->room ? names->index[find(names, text)] : HLG_NO_NAME;
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
	free(names->index);
	*names = (struct hlg_names){0};
}
