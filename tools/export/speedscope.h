/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Stacks of a report in speedscope's own format, for https://www.speedscope.app and its
 * npm package: JSON of the schema file-format-schema.json there.
 *
 * One profile of type `sampled`: each stack that ends somewhere is a sample, the caller
 * of all first, with the report's weight: period, or samples where the report weighs
 * these. The unit is nanoseconds for period of timers, else none. A frame's `file` is
 * what kind of frame it is. Text is escaped as in other JSON (filter/write/json.h).
 */
#ifndef HLG_TOOLS_EXPORT_SPEEDSCOPE_H
#define HLG_TOOLS_EXPORT_SPEEDSCOPE_H

#include "filter/stacks/tree.h"
#include "filter/write/format.h"

extern const struct hlg_format hlg_speedscope_format;

/* tree is the report's (filter/report/frames.h). Write errors stay on the stream. In
 * builds with jansson only. */
int hlg_speedscope_write(FILE *f, const struct hlg_report *report,
			 const struct hlg_tree *tree, struct hlg_err *err);

#endif
