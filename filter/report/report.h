/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The report: everything the writers need, computed once, from a profile that has ended
 * and a space that is settled. Writers read it and nothing else.
 *
 * Series are never summed across events by period: if several events have guest
 * samples, the report is split by event, and its overall percentages weigh samples.
 */
#ifndef HLG_FILTER_REPORT_REPORT_H
#define HLG_FILTER_REPORT_REPORT_H

#include "filter/output/colour.h"
#include "filter/output/note-list.h"
#include "filter/output/screen.h"
#include "filter/profile/host.h"
#include "filter/report/inlined.h"
#include "filter/stacks/by-series.h"
#include "filter/stacks/stacks.h"
#include "filter/trust/per-file.h"
#include "filter/trust/proof.h"
#include "filter/trust/size-test.h"
#include "filter/trust/trust.h"

/* An event's guest samples. */
struct hlg_event_sum {
	uint32_t event;
	struct hlg_count count;
};

/* One series with guest samples, as its own view. */
struct hlg_group {
	uint32_t series;
	struct hlg_view view;
};

/* A recording that was asked for, when the feed knows of any. */
struct hlg_report_file {
	const char *path;
	const char *problem; /* why it could not be read; NULL if it was */
	uint64_t samples, guest, host, traced, lost; /* traced: of host */
	struct hlg_per_file_verdict fit;
};

/* Rows that are not named, as their samples do not fit. */
struct hlg_misfits {
	uintptr_t *owner; /* of their places, each once and in order, if it is settled */
	size_t n;
	struct hlg_count count; /* what they have */
};

struct hlg_report {
	const struct hlg_options *options;
	const struct hlg_space *space;
	const struct hlg_profile *profile;
	const struct hlg_host *host;
	const struct hlg_stacks *stacks; /* set by who has them; NULL: stacks=leaf */
	struct hlg_by_series by_series;  /* them (callgraph.h) */
	struct hlg_caller_sums callers;  /* of all stacks (callgraph.h); and what tells */
	struct hlg_proof *proof;         /* them; NULL without stacks */
	struct hlg_inlined_source inlines; /* set by who knows; all zero: nobody */
	struct hlg_inlined *inlined;       /* what stacks show of it; NULL: nothing */
	bool exits_alone; /* set by who compares stacks with those of a side that does not
			   * know in which functions its VM exits are (paths.h) */
	struct hlg_border border; /* none with border=keep, but see hlg_notes_add_exits */
	struct hlg_trust trust;
	struct hlg_size_test size_test;
	char *unnamed; /* what options->unnamed says, where not all is well; or NULL */
	char *banner;  /* hlg_banner_text() of it; NULL if the samples fit */
	struct hlg_misfits misfits; /* of all (misfits.h) */
	struct hlg_misfits parted;  /* of the groups, if there are any: in some of them */
	bool vouched;    /* set by exits: none is of the images, which the samples fit */
	bool suppressed; /* names are: samples do not fit, rows are guest addresses */
	struct hlg_note_list remarks; /* what the trust block says in words */
	unsigned by; /* options->by, and the event if there are several */
	struct hlg_view all;
	struct hlg_view_gaps gaps;    /* of all views */
	struct hlg_event_sum *events; /* by name and precision */
	uint32_t n_events;
	struct hlg_cell *cells; /* the profile's, by series rank, then ip */
	size_t n_cells;
	uint32_t *rank;             /* of each series, in the stable order */
	struct hlg_moment *moments; /* the profile's, by time; none where not all samples
				     * have one */
	size_t n_moments;
	uint32_t n_host; /* of the host's rows are shown: those that no tracepoint has */
	struct hlg_group *groups; /* in series order; none if the report is not split */
	uint32_t n_groups;
	const struct hlg_report_file *files; /* shown if there are several; not owned */
	size_t n_files;
	const char *recording; /* which is shown, and when it was made, where the user has
				* not named it; else NULL or empty */
	uint64_t recordings;   /* that were read, also into saved profiles; 0: unknown */
	const struct hlg_recording_sums *sums; /* what these lack; or NULL */
	uint64_t took; /* ns, of a saved profile; 0: unknown. Others have a span */
	struct hlg_note_list notes;
	bool unread;               /* a note says that an image could not be read again */
	struct hlg_colour colours; /* of the stream it goes to; off as it is built */
	struct hlg_screen screen;  /* the same; all zero: lines as long as they get */
};

/* For a format that has no room for notes: fails if samples were lost without memory, or
 * images could not be read again whose border is told apart. */
int hlg_report_check_whole(const struct hlg_report *report, struct hlg_err *err);

void hlg_report_finish(struct hlg_report *report);

/* Has the report lost a note? Then there must be none. */
bool hlg_report_lost(const struct hlg_report *report);

/* "event=cpu-clock,tid=17": a series as by= splits, in memory to be freed, or NULL. */
char *hlg_report_series_name(const struct hlg_report *report, uint32_t series);

#endif
