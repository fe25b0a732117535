/* SPDX-License-Identifier: GPL-2.0-only */
/* Listings (tools/listing/listing.h) as text and JSON. */
#ifndef HLG_TOOLS_ANNOTATE_ANNOTATE_H
#define HLG_TOOLS_ANNOTATE_ANNOTATE_H

#include <stdio.h>

#include "tools/listing/listing.h"

/* Of a struct hlg_listings, as struct hlg_format has them. JSON is format 1, and there is
 * none without jansson. */
int hlg_annotate_text(void *listings, FILE *f, struct hlg_err *err);
int hlg_annotate_json(void *listings, FILE *f, struct hlg_err *err);

#endif
