/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What functions cost with all that they call (children=yes, as perf report has it): each
 * sample counts once in each function of its stack. Shares are of all guest samples that
 * are shown, VM exits among them, so that the outermost function has what there is.
 * Functions that were inlined have rows, too, as in perf, but no self: what was sampled
 * in one is self of the function it was inlined in, so that self sums to the samples.
 *
 * What was cut off a stack may have been any function. So a count is the least, and the
 * upper limit of its share takes in all samples whose stack is cut and has not the
 * function already.
 */
#ifndef HLG_FILTER_REPORT_CHILDREN_H
#define HLG_FILTER_REPORT_CHILDREN_H

#include "filter/report/paths.h"

/* Of all samples: what has less is in no tree of callers that is not asked for whole. */
#define HLG_CHILDREN_LEAST 0.005

struct hlg_children_row {
	uint32_t place;         /* of the paths; not a note's */
	struct hlg_count count; /* of samples with it in their stack */
	struct hlg_count self;  /* of those that were taken in it */
	struct hlg_count cut;   /* of count: whose stack is cut all the same */
	struct hlg_share share; /* of count; high as told above */
	bool at_least; /* cut stacks may have more of it than the samples' number explains
			*/
	double self_share;
	size_t depth;          /* calls above it, at least */
	size_t first, n_paths; /* of struct hlg_children's stacks: those with it */
};

struct hlg_children {
	struct hlg_paths paths;
	struct hlg_children_row *rows; /* as sort= has it: see hlg_children_shown */
	size_t n;
	size_t *stacks; /* numbers of paths, for each row those that count in it */
	enum hlg_weight weight; /* the view's: what counts are weighed by */
	struct hlg_count all;   /* what shares are of */
	struct hlg_count cut;   /* of all: whose stack is cut */
	double design;          /* the view's */
};

/* Of a view of a report as hlg_paths_build takes it. Fails only without memory; the
 * caller finishes *children in any case. */
int hlg_children_build(struct hlg_children *children, const struct hlg_report *report,
		       const struct hlg_view *view, struct hlg_err *err);
void hlg_children_finish(struct hlg_children *children);

/*
 * How many of the rows are shown, the first ones: at most `most`, unless that is 0, and
 * what top= and min= allow; these go by count, or with sort=self by self. What is shown
 * stands in the order of sort=: by overhead is by count, then callers first, then by
 * name.
 */
size_t hlg_children_shown(struct hlg_children *children, const struct hlg_report *report,
			  uint64_t most);

/* The i-th as a row of its count and share, for who writes rows. */
struct hlg_row hlg_children_row(const struct hlg_children *children, size_t i);

/*
 * A tree of who called the function of a row, or of what it calls (callers false), with
 * the function on the root: of each sample that counts in the row, the frames beyond the
 * outermost time that it is in the stack. *tree is all zero before, and settled
 * afterwards; the caller finishes it in any case. False without memory.
 */
bool hlg_children_tree(struct hlg_tree *tree, const struct hlg_children *children,
		       const struct hlg_children_row *row, bool callers);

#endif
