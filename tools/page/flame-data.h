/* SPDX-License-Identifier: GPL-2.0-only */
/* The flame graph of a report as data of a page: `flame` of report-data.h. */
#ifndef HLG_TOOLS_PAGE_FLAME_DATA_H
#define HLG_TOOLS_PAGE_FLAME_DATA_H

#include "filter/report/report.h"
#include "filter/stacks/tree.h"
#include "tools/page/cut.h"
#include "tools/page/data.h"

/* What all frames on another are that have no frame of their own. */
#define HLG_PAGE_SMALLER "[smaller frames]"

/* All zero before the first use. */
struct hlg_page_flame {
	struct hlg_tree tree;
	uint32_t *stack_ends; /* of each of the report's stacks: its node of the tree */
	uint32_t *node; /* of each node of the tree: which of the page's it is part of */
	uint32_t *ends; /* of each stack: its node of the page, HLG_NO_NODE of others */
};

/* Of a report with stacks. Fails only without memory; finish it in any case. */
int hlg_page_flame_build(struct hlg_page_flame *flame, const struct hlg_report *report,
			 struct hlg_err *err);

/* Writes the widest frames, as the cut says, and sets ends. False without memory. */
bool hlg_page_flame_put(struct hlg_page_flame *flame, struct hlg_page_data *data,
			const struct hlg_report *report, struct hlg_page_cut *cut);

void hlg_page_flame_finish(struct hlg_page_flame *flame);

#endif
