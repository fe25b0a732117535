/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The guest's half of a view's stacks, frame by frame: what is at each address, with what
 * filter/trust/proof.h mended. Trees of stacks, inclusive shares and exports are made
 * of these.
 *
 * A path is one stack: its frames, the sample's own first, the outermost last. Behind a
 * VM exit stands the function that the guest was left in, as if that had called it, if
 * that is known: saved profiles without an ELF do not tell. All frames of one function
 * have one place, however they were met. The paths of a row sum to the row: samples whose
 * stack was not kept (stacks.h) have a path of their own frame alone.
 */
#ifndef HLG_FILTER_REPORT_PATHS_H
#define HLG_FILTER_REPORT_PATHS_H

#include "filter/report/report.h"
#include "filter/stacks/tree.h"
#include "filter/trust/proof.h"

/* What frames are of. */
struct hlg_path_place {
	struct hlg_place place;    /* all 0 of a note; place.addr means nothing */
	char *name;                /* readable, as rows have it; not escaped */
	enum hlg_frame frame;      /* HLG_FRAME_GUEST, _GAP, _BORDER, _NOTE */
	bool inlined;              /* has HLG_INLINED_MARK; of place only the image */
	const struct hlg_row *row; /* of the view; NULL: no sample was taken here */
};

struct hlg_path_frame {
	uint32_t place; /* in places */
	enum hlg_caller_kind kind;
	/* The guest's address: the sample's; in the call (before its return address); the
	 * first of a function that was inserted; that of the frame above one that was
	 * inlined; 0 of a note. Its lane's, as the space has it. */
	uint64_t ip;
};

struct hlg_path {
	uint32_t series;
	uint32_t stack; /* of the stacks'; HLG_NO_STACK: lost */
	uint32_t node;  /* in the stacks' tree: the host's half; HLG_NO_NODE: lost */
	const struct hlg_row *row; /* of the sample's own frame */
	size_t first, n;           /* its frames */
	bool cut; /* it has callers that are not known: which, a note may say */
	struct hlg_count count;
};

struct hlg_paths {
	struct hlg_path_place *places;
	uint32_t n_places;
	struct hlg_path_frame *frames;
	size_t n_frames;
	struct hlg_path *paths; /* in the order of the stacks, lost ones behind */
	size_t n;
};

/* What the frame of a guest's place is, and of a row. */
enum hlg_frame hlg_paths_frame(const struct hlg_place *place);
enum hlg_frame hlg_paths_row_frame(const struct hlg_row *row);

/*
 * Of a view of a report that has stacks, and was judged (hlg_callgraph_judge); both
 * outlive *paths. Fails only without memory; the caller finishes it in any case.
 */
int hlg_paths_build(struct hlg_paths *paths, const struct hlg_report *report,
		    const struct hlg_view *view, struct hlg_err *err);
void hlg_paths_finish(struct hlg_paths *paths);

/*
 * Puts what was inlined, as far as the report knows of it, below the frames whose
 * functions it was inlined in: of a sample, too, whose own frame then is the first that
 * is HLG_CALLER_SAMPLED. Fails only without memory.
 */
int hlg_paths_inline(struct hlg_paths *paths, const struct hlg_report *report,
		     struct hlg_err *err);

#endif
