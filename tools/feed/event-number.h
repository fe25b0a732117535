/* SPDX-License-Identifier: GPL-2.0-only */
/* A recording's events, as a profile has them. */
#ifndef HLG_TOOLS_FEED_EVENT_NUMBER_H
#define HLG_TOOLS_FEED_EVENT_NUMBER_H

#include "filter/profile/event-names.h"
#include "filter/profile/profile.h"
#include "tools/perfdata/perfdata.h"

/* The profile's number of one of pd's events, new or known. names: of pd's, all zero at
 * first, which takes those that pd knows by now. HLG_NO_SERIES without memory. */
uint32_t hlg_event_number(struct hlg_profile *profile, struct hlg_event_names *names,
			  const struct hlg_perfdata *pd,
			  const struct hlg_perfdata_event *event);

#endif
