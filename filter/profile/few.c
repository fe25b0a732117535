// SPDX-License-Identifier: GPL-2.0-only
#include "filter/profile/few.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

void hlg_few_add(struct hlg_few *few, int32_t id)
{
	unsigned at = few->n;

	if (id < 0)
		return;
	while (at && few->id[at - 1] > id)
		at--;
	if (at && few->id[at - 1] == id)
		return;
	few->more |= few->n == HLG_FEW;
	if (at == HLG_FEW)
		return;
	few->n += few->n < HLG_FEW;
	memmove(&few->id[at + 1], &few->id[at], (few->n - at - 1) * sizeof(few->id[0]));
	few->id[at] = id;
}

void hlg_few_merge(struct hlg_few *to, const struct hlg_few *from)
{
	for (unsigned i = 0; i < from->n; i++)
		hlg_few_add(to, from->id[i]);
	to->more |= from->more;
}

const char *hlg_few_text(char *buf, size_t size, const struct hlg_few *few)
{
	size_t used = 0;

	buf[0] = '\0';
	for (unsigned i = 0; i < few->n && used < size; i++)
		used += (size_t)snprintf(buf + used, size - used, "%s%" PRId32,
					 i ? ", " : "", few->id[i]);
	if (few->more && used < size)
		snprintf(buf + used, size - used, ", ...");
	return buf;
}
