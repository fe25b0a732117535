// SPDX-License-Identifier: GPL-2.0-only
#include "comm.h"

#include <stdio.h>
#include <stdlib.h>

static size_t find(const struct hlg_comms *comms, int32_t tid)
{
	size_t i = ((uint32_t)tid * UINT32_C(0x9e3779b9)) & (comms->room - 1);

	while (comms->slot[i].name[0] && comms->slot[i].tid != tid)
		i = (i + 1) & (comms->room - 1);
	return i;
}

static bool grow(struct hlg_comms *comms)
{
	struct hlg_comms more = {.n = comms->n,
				 .room = comms->room ? 2 * comms->room : 64};

	more.slot = calloc(more.room, sizeof(*more.slot));
	if (!more.slot)
		return false;
	for (size_t i = 0; i < comms->room; i++)
		if (comms->slot[i].name[0])
			more.slot[find(&more, comms->slot[i].tid)] = comms->slot[i];
	free(comms->slot);
	*comms = more;
	return true;
}

bool hlg_comms_set(struct hlg_comms *comms, int32_t tid, const char *name)
{
	size_t i;

	if (2 * (comms->n + 1) > comms->room && !grow(comms))
		return false;
	i = find(comms, tid);
	if (!comms->slot[i].name[0])
		comms->n++;
	comms->slot[i].tid = tid;
	snprintf(comms->slot[i].name, HLG_COMM_LEN, "%s", name[0] ? name : "?");
	return true;
}

const char *hlg_comms_get(const struct hlg_comms *comms, int32_t tid)
{
	size_t i;

	if (comms->room == 0)
		return NULL;
	i = find(comms, tid);
	return comms->slot[i].name[0] ? comms->slot[i].name : NULL;
}

void hlg_comms_finish(struct hlg_comms *comms)
{
	free(comms->slot);
	*comms = (struct hlg_comms){0};
}
