// SPDX-License-Identifier: GPL-2.0-only
#include "tools/feed/event-number.h"

#include <stdlib.h>

uint32_t hlg_event_number(struct hlg_profile *profile, struct hlg_event_names *names,
			  const struct hlg_perfdata *pd,
			  const struct hlg_perfdata_event *event)
{
	uint32_t number = HLG_NO_SERIES;
	char *called;

	for (; names->n_taken < hlg_perfdata_n_events(pd); names->n_taken++)
		if (!hlg_event_names_add(names,
					 hlg_perfdata_event(pd, names->n_taken)->name))
			return HLG_NO_SERIES;
	/* A stream may say a name after it said that there is such an event. */
	if (!hlg_event_names_add(names, event->name))
		return HLG_NO_SERIES;
	called = hlg_event_names_called(names, event->name, profile->options);
	if (called)
		number = hlg_profile_event(profile, called, event->attr.precise_ip);
	free(called);
	return number;
}
