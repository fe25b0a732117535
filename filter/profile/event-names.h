/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a recording's events are called. Its plain name (event.h), if no other event of
 * the recording has that too; else all of them keep the name they have in the recording,
 * with
 * "//" if it has no terms, which are none to perf either: "cycles//u". So the names do
 * not depend on whose sample comes first, and no two events become one. Where event= has
 * terms, all keep theirs, so that it selects by them.
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
	uint32_t n_taken;            /* for who has a list of events: of that */
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
