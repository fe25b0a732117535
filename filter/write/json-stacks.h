/* SPDX-License-Identifier: GPL-2.0-only */
/* The stacks of a report of stacks=callgraph in JSON. */
#ifndef HLG_FILTER_WRITE_JSON_STACKS_H
#define HLG_FILTER_WRITE_JSON_STACKS_H

#include <jansson.h>

#include "filter/report/report.h"

/*
 * Sets "stacks" in root: the sums (callgraph.h), and as "list" each stack with its
 * frames, the caller of all others first. Nothing for stacks=leaf. Fails only without
 * memory.
 */
int hlg_json_stacks(json_t *root, const struct hlg_report *report, struct hlg_err *err);

#endif
