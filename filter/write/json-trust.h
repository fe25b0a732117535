/* SPDX-License-Identifier: GPL-2.0-only */
/* The trust block as JSON. */
#ifndef HLG_FILTER_WRITE_JSON_TRUST_H
#define HLG_FILTER_WRITE_JSON_TRUST_H

#include <jansson.h>

#include "filter/report/report.h"

/* {"verdict", "boundary", "base", "gap_share", "precise_ip", "event_kind", ...} */
json_t *hlg_json_trust(const struct hlg_report *report);

#endif
