/* SPDX-License-Identifier: GPL-2.0-only */
/* Reports in the formats of other viewers, and what these are made of. */
#ifndef HLG_TOOLS_EXPORT_EXPORT_H
#define HLG_TOOLS_EXPORT_EXPORT_H

#include "filter/stacks/tree.h"
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

/* tree is the report's (filter/report/frames.h). Write errors stay on the stream. In
 * builds with jansson only. */
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

#endif
