/* SPDX-License-Identifier: GPL-2.0-only */
/* Names for events of a recording that does not name them. Internal. */
#ifndef HLG_TOOLS_PERFDATA_EVENT_NAME_H
#define HLG_TOOLS_PERFDATA_EVENT_NAME_H

#include <linux/perf_event.h>

/* What perf would call such an event, in memory of its own; NULL without memory. */
char *hlg_event_name(const struct perf_event_attr *attr);

#endif
