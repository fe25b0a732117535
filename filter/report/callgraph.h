/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The stacks of a report (stacks=callgraph), from what the feed collected (stacks.h) and
 * what the report says of each guest address: the frames of roots=, those of the host,
 * "[guest]", the guest's callers where a kernel recorded them, and the row that the
 * sample is credited to. So the stacks of a row sum to the row. Functions that were
 * inlined stand on those that they were inlined in.
 *
 * roots=: comm and tid of all stacks, image (a path, "[outside]") and section (".text",
 * "[no section]") of those of guests.
 */
#ifndef HLG_FILTER_REPORT_CALLGRAPH_H
#define HLG_FILTER_REPORT_CALLGRAPH_H

#include "filter/report/report.h"
#include "filter/stacks/stacks.h"

/* A tree that grows; ok is false without memory. ends is NULL, or has room for each of
 * the stacks: which node it ended at, of those that are shown. */
struct hlg_growing {
	struct hlg_tree *tree;
	uint32_t *ends;
	bool ok;
};

/* Adds what ends at a node of the tree, HLG_NO_NODE without memory. */
void hlg_callgraph_add(struct hlg_growing *to, uint32_t node, struct hlg_count count);

/* Adds the guest stacks of a view of the report, of the rows that are shown; on top of a
 * frame for the series if that is not NULL. */
void hlg_callgraph_add_view(struct hlg_growing *to, const struct hlg_report *report,
			    const struct hlg_view *view, const char *series);

/* Adds the stacks of the host samples, if mode= asks for them. */
int hlg_callgraph_add_host(struct hlg_growing *to, const struct hlg_report *report,
			   struct hlg_err *err);

/*
 * Sums up what there is to say of the callers in guests, and warns where they are left
 * out; finds what was inlined in them, if the report's inlines are set. Of a report whose
 * stacks are set, before anything else here; fails only without memory.
 */
int hlg_callgraph_judge(struct hlg_report *report, struct hlg_err *err);

/* What to say where no sample has callers in guests of these images: how they are
 * recorded, or that they cannot be. */
const char *hlg_callgraph_none(const struct hlg_space *space);

/* Samples of guests by what is known of the host's half, all that are selected. */
struct hlg_callgraph_sums {
	struct hlg_count known;  /* there is a half */
	struct hlg_count orphan; /* HLG_STACKS_ORPHAN */
	struct hlg_count bare;   /* HLG_STACKS_BARE */
	struct hlg_count lost;   /* HLG_STACKS_LOST */
	struct hlg_count called; /* of all these: with callers inside the guest */
	struct hlg_count aside;  /* host samples of the mark events: not in the stacks */
	uint64_t marks;          /* KVM_RUNs */
	uint64_t halves;         /* distinct stacks of the host, with guest samples */
	uint64_t frames;         /* distinct frames of the host in them and in its own */
	uint64_t unresolved;     /* of these, frames of no known function */
};

/* Fails only without memory. */
int hlg_callgraph_sum(struct hlg_callgraph_sums *sums, const struct hlg_report *report,
		      struct hlg_err *err);

#endif
