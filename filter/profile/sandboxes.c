// SPDX-License-Identifier: GPL-2.0-only
#include "filter/profile/sandboxes.h"

#include <stdlib.h>

#include "symtab/grow.h"
#include "symtab/image/lane.h"

bool hlg_sandboxes_add(struct hlg_sandboxes *s, int32_t pid, int32_t fd)
{
	if (!HLG_GROW(s->at, s->n)) {
		s->lost = true;
		return false;
	}
	s->at[s->n++] = (struct hlg_sandbox){.pid = pid, .fd = fd, .vcpus = 1};
	return true;
}

void hlg_sandboxes_count(struct hlg_sandboxes *s, uint32_t sandbox,
			 struct hlg_count count)
{
	if (sandbox && sandbox <= s->n)
		hlg_count_add(&s->at[sandbox - 1].count, count);
}

void hlg_sandboxes_use(struct hlg_sandbox *to, const struct hlg_sandbox *from)
{
	hlg_ports_add(&to->ports, &from->ports);
	if (to->n_entered == 0)
		to->entered = from->entered;
	else if (from->n_entered && to->entered != from->entered)
		to->entered = HLG_SANDBOX_SEVERAL;
	to->n_entered += from->n_entered;
}

void hlg_sandboxes_merge(struct hlg_sandboxes *to, const struct hlg_sandboxes *from)
{
	to->lost |= from->lost;
	for (uint32_t i = 0; i < from->n; i++) {
		const struct hlg_sandbox *of = &from->at[i];

		if (i == to->n && !hlg_sandboxes_add(to, of->pid, of->fd))
			return;
		if (to->at[i].pid != of->pid)
			to->at[i].pid = -1;
		if (to->at[i].fd != of->fd)
			to->at[i].fd = -1;
		if (to->at[i].vcpus < of->vcpus)
			to->at[i].vcpus = of->vcpus;
		if (to->at[i].count.samples == 0)
			to->at[i].lane = of->lane;
		else if (of->count.samples && to->at[i].lane != of->lane)
			to->at[i].lane = HLG_LANE_SEVERAL;
		hlg_count_add(&to->at[i].count, of->count);
		hlg_sandboxes_use(&to->at[i], of);
	}
}

void hlg_sandboxes_finish(struct hlg_sandboxes *s)
{
	free(s->at);
	*s = (struct hlg_sandboxes){0};
}
