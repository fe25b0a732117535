// SPDX-License-Identifier: GPL-2.0-only
/*
 * Folded stacks, the input of flame graph tools. Example, of mode C:
 *
 *	main;lua_pcall;@a.lua:3;tostring;work 1
 *	TRACE [7] started at @a.lua:3 2
 */
#include <inttypes.h>
#include <stdlib.h>

#include "tools/sysprof/write.h"

struct folder {
	const struct hlg_sysprof *s;
	const struct hlg_sysprof_style *style;
	uint32_t *list;
};

static bool put(FILE *f, void *ctx, const struct hlg_sysprof_stack *stack)
{
	const struct folder *folder = ctx;
	const struct hlg_sysprof_style *style = folder->style;

	if (style->by_state &&
	    !(style->mode == HLG_SYSPROF_COUNTERS || stack->n_lua + stack->n_host == 0))
		fprintf(f, "[%s];", hlg_sysprof_state(stack->state));
	return hlg_sysprof_frames(f, folder->s, style, stack, folder->list);
}

bool hlg_sysprof_folded(FILE *f, const struct hlg_sysprof *s,
			const struct hlg_sysprof_style *style)
{
	struct folder folder = {s, style, hlg_sysprof_room(s)};
	struct hlg_sysprof_line *lines = NULL;
	size_t n;

	if (folder.list)
		lines = hlg_sysprof_lines(s, false, put, &folder, &n);
	for (size_t i = 0; lines && i < n; i++)
		fprintf(f, "%s %" PRIu64 "\n", lines[i].text, lines[i].samples);
	free(folder.list);
	if (!lines)
		return false;
	hlg_sysprof_free_lines(lines, n);
	return true;
}
