/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a recording's events are called: by their plain names (event.h), which are the
 * same of recordings at other rates. If two events of one recording have one plain name,
 * both keep the names that they have in the recording instead; one that has no terms gets
 * slashes, "cycles//u", which is the same to perf. So names do not depend on whose sample
 * comes first, and no two events become one.
 *
 * Where event= has terms it selects by them: then all keep their names so, but
 * tracepoints.
 */
#ifndef HLG_FILTER_PROFILE_EVENT_NAMES_H
#define HLG_FILTER_PROFILE_EVENT_NAMES_H

#include "filter/options/options.h"
#include "filter/profile/strings.h"

/* All zero: none yet. */
struct hlg_event_names {
	struct hlg_strings recorded; /* names in the recording */
	struct hlg_strings plain;    /* their plain names */
	uint32_t *n_of;              /* by number of plain less one: how many recorded */
	uint32_t n_taken; /* of a reader's list of events: how many were added */
};

/* One more event of the recording, by its name there; one that is known changes nothing.
 * False without memory. */
bool hlg_event_names_add(struct hlg_event_names *names, const char *recorded);

/* What one that was added is called, of all that were added so far. To be freed; NULL
 * without memory. */
char *hlg_event_names_called(const struct hlg_event_names *names, const char *recorded,
			     const struct hlg_options *options);

void hlg_event_names_finish(struct hlg_event_names *names);

#endif
