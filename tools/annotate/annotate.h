/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Functions annotated: listings of chosen places in every view of a report, written as
 * text or JSON. Write errors stay on the stream; hlg_out_commit finds them.
 */
#ifndef HLG_TOOLS_ANNOTATE_ANNOTATE_H
#define HLG_TOOLS_ANNOTATE_ANNOTATE_H

#include <stdio.h>

#include "tools/annotate/listing.h"
#include "tools/annotate/places.h"

struct hlg_annotate {
	const struct hlg_report *report;
	const struct hlg_found_places *places; /* in this order; none: the hottest rows */
	struct hlg_sources *sources;
	enum hlg_syntax syntax;
};

/*
 * Calls each for what is to be shown: the listings of all places in the whole report, or
 * in each group it is split into, whose series is then named (not escaped; else NULL).
 * Of a report that withholds names there is nothing. Fails without memory.
 */
int hlg_annotate_each(const struct hlg_annotate *annotate,
		      void (*each)(void *ctx, const struct hlg_listing *listing,
				   const struct hlg_view *view, const char *series),
		      void *ctx, struct hlg_err *err);

int hlg_annotate_text(void *annotate, FILE *f, struct hlg_err *err);

/* Format 1: keys may be added, none changes its meaning. Fails without jansson, too. */
int hlg_annotate_json(void *annotate, FILE *f, struct hlg_err *err);

#endif
