// SPDX-License-Identifier: GPL-2.0-only
#include "tools/exits/parts.h"

#include <stdlib.h>
#include <string.h>

bool hlg_exits_parts_grow(struct hlg_exits_parts *p, uint32_t part)
{
	uint32_t first = part - part % HLG_EXITS_PARTS, end = first + HLG_EXITS_PARTS;
	uint32_t *n;

	if (p->room && p->first < first)
		first = p->first;
	if (p->room && p->first + p->room > end)
		end = p->first + p->room;
	n = calloc(end - first, sizeof(*n));
	if (!n)
		return false;
	if (p->room)
		memcpy(n + (p->first - first), p->n, p->room * sizeof(*n));
	free(p->n);
	*p = (struct hlg_exits_parts){.n = n, .first = first, .room = end - first};
	return true;
}

void hlg_exits_parts_finish(struct hlg_exits_parts *p)
{
	free(p->n);
	*p = (struct hlg_exits_parts){0};
}
