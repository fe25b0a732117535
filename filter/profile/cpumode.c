// SPDX-License-Identifier: GPL-2.0-only
#include "filter/profile/cpumode.h"

#include <stdlib.h>
#include <string.h>

bool hlg_modes_grow(struct hlg_profile *p, uint32_t room)
{
	struct hlg_modes *modes;

	if (p->options->stacks != HLG_STACKS_COUNTERS)
		return true;
	modes = reallocarray(p->modes, room, sizeof(*modes));
	if (!modes)
		return false;
	memset(modes + p->room_series, 0, (room - p->room_series) * sizeof(*modes));
	p->modes = modes;
	return true;
}

bool hlg_modes_add(struct hlg_profile *p, const struct hlg_sample *sample,
		   struct hlg_count count)
{
	uint32_t series = hlg_profile_series(p, sample);

	if (series == HLG_NO_SERIES)
		return false;
	hlg_count_add(&p->modes[series].of[sample->cpumode % HLG_N_MODES], count);
	if (p->events[sample->event].plain)
		p->events[sample->event].modes = series;
	return true;
}

void hlg_modes_end(const struct hlg_tally *tally, struct hlg_profile *p)
{
	for (unsigned i = 0; tally->series != HLG_NO_SERIES && i < HLG_N_MODES; i++) {
		struct hlg_count count = tally->modes.of[i];

		hlg_count_add(&p->modes[tally->series].of[i], count);
		hlg_count_add(&p->seen, count);
		if (!hlg_mode_is_guest(i))
			hlg_count_add(&p->host, count);
	}
}

void hlg_modes_merge(struct hlg_profile *to, const struct hlg_modes *from,
		     uint32_t series)
{
	for (unsigned i = 0; i < HLG_N_MODES; i++) {
		if (series != HLG_NO_SERIES) {
			hlg_count_add(&to->modes[series].of[i], from->of[i]);
			continue;
		}
		to->unrecorded += from->of[i].samples;
		hlg_count_sub(&to->seen, from->of[i]);
		if (!hlg_mode_is_guest(i))
			hlg_count_sub(&to->host, from->of[i]);
	}
}
