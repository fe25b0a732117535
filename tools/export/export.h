/* SPDX-License-Identifier: GPL-2.0-only */
/* Reports in the formats of other viewers, and what these are made of. */
#ifndef HLG_TOOLS_EXPORT_EXPORT_H
#define HLG_TOOLS_EXPORT_EXPORT_H

#include "filter/report/paths.h"
#include "filter/view/view.h"
#include "filter/write/format.h"

/*
 * A report as a callgrind profile, version 1 (Valgrind User Manual, "Callgrind Format
 * Specification"), for callgrind_annotate and KCachegrind.
 *
 * Positions are instr and line: the image's own address, at which its file can be
 * disassembled, and the source line where debug info tells one. Each event has a column
 * of samples and one of period; what the report weighs comes first. Every row of the
 * report is a function of its own, also labels, gaps, data, the border and what lies
 * outside; names that several rows share get their addresses. Nothing is left out by top=
 * or min=.
 *
 * With stacks, who was met as a caller only is a function, too, without cost of its own,
 * and calls have inclusive costs, at the address of the call. Of a stack each function is
 * called once, where it is outermost: so what is called sums to its inclusive cost,
 * recursion or not, which viewers would count twice. How often something was called
 * nobody knows; in its place is the number of samples.
 *
 * callgrind_annotate tells functions apart by name and file. So that its rows are the
 * report's, all costs of a function stay in its file: those of code inlined from another
 * are at the line of the call.
 */
extern const struct hlg_format hlg_callgrind_format;

/*
 * Stacks of a report in speedscope's own format, for https://www.speedscope.app and its
 * npm package: JSON of the schema file-format-schema.json there.
 *
 * One profile of type `sampled`: each stack that ends somewhere is a sample, the caller
 * of all first, with the report's weight: period, or samples where the report weighs
 * these. The unit is nanoseconds for period of timers, else none. A frame's `file` is
 * what kind of frame it is. Text is escaped as in other JSON (filter/write/json.h).
 */
extern const struct hlg_format hlg_speedscope_format;

/* tree is the report's (filter/report/frames.h). Write errors stay on the stream. Fails
 * where its stacks have more than 32,000,000 frames in all. In builds with jansson only.
 */
int hlg_speedscope_write(FILE *f, const struct hlg_report *report,
			 const struct hlg_tree *tree, struct hlg_err *err);

/*
 * Spots: the exact addresses of a row of a view, with what was sampled there. A view's
 * hits are apart by series and by the base of their image; spots are apart by address and
 * by column, which the caller makes of a series.
 */
struct hlg_address_count {
	uint64_t addr; /* the image's own; outside, the guest's */
	uint32_t column;
	struct hlg_count count; /* samples is not 0 */
};

struct hlg_address_counts {
	struct hlg_address_count
		*spot; /* by address, then column; both together are unique */
	size_t n;
};

/*
 * The spots of a row, which sum to the row's count. columns has one for each series of
 * the profile; NULL: all are 0. False without memory; finish in any case.
 */
bool hlg_address_counts_collect(struct hlg_address_counts *spots,
				const struct hlg_view *view, const struct hlg_row *row,
				const uint32_t *columns);

void hlg_address_counts_finish(struct hlg_address_counts *spots);

/* What is called, or calls. */
struct hlg_call_costs_function {
	const char *name;              /* not escaped */
	const struct hlg_image *image; /* or NULL */
	uint64_t start;                /* the image's own; of no place 0 */
	const struct hlg_row *row;     /* of the report's view; NULL: only a caller */
	/* Of what is no row: a place of the guest's (0) or kind of host frame, plus 1; and
	 * its number before it was put in order. */
	unsigned kind;
	uint32_t was;
};

/* Of the stacks that go through a call, or from the outermost call of a function on. */
struct hlg_call_costs_edge {
	uint32_t caller, callee; /* functions */
	uint64_t addr;           /* of the call, the image's own; 0: not known */
	uint32_t column;
	struct hlg_count count;
};

struct hlg_call_costs {
	struct hlg_paths paths; /* names are theirs, the view's and the stacks' */
	struct hlg_call_costs_function *functions;
	size_t n_functions;
	struct hlg_call_costs_edge *edges; /* by caller, then address, callee, column */
	size_t n_edges;
};

/*
 * The calls of a report that has stacks; else there are none. The first n_rows functions
 * are as many rows of its view, as hlg_view_row has them; stacks that end in others are
 * left out. columns as above. False without memory; finish in any case.
 */
bool hlg_call_costs_collect(struct hlg_call_costs *costs, const struct hlg_report *report,
			    size_t n_rows, const uint32_t *columns);
void hlg_call_costs_finish(struct hlg_call_costs *costs);

#endif
