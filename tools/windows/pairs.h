/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Polling: what was counted between two markers, over and over. A marker is a sample of a
 * tracepoint that leads a group of counters (perf record -e '{kvm:kvm_pio,...}:S' -c 1)
 * and has a certain value in a field.
 *
 * A pair is a begin and the next end of the same thread, read from the same counters. A
 * begin behind a begin starts anew; halves are counted and belong to no pair, and so are
 * those whose thread moved to another CPU's counters in between: what it counted there is
 * not known.
 */
#ifndef HLG_TOOLS_WINDOWS_PAIRS_H
#define HLG_TOOLS_WINDOWS_PAIRS_H

#include "filter/stats/spread.h"
#include "tools/windows/write.h"

struct hlg_marker {
	char *event;    /* "kvm:kvm_pio" */
	char *field;    /* NULL: every sample of the event */
	uint64_t value; /* of the field */
};

/* From "port:101..port:108" or "SYSTEM:NAME:FIELD=VALUE..SYSTEM:NAME:FIELD=VALUE". */
struct hlg_between {
	struct hlg_marker from, to;
};

/* The caller finishes *between in any case. Both markers are of one tracepoint. */
int hlg_between_parse(struct hlg_between *between, const char *text, struct hlg_err *err);
void hlg_between_finish(struct hlg_between *between);

/* hlg_windows_read with the markers. path is for messages. */
int hlg_between_read(struct hlg_windows *windows, const char *path,
		     struct hlg_profile *profile, const struct hlg_between *between,
		     struct hlg_err *err);

struct hlg_pairs {
	/*
	 * A row for each pair, at its end; the first column is the time from begin to
	 * end, in ns, the others are those of the windows.
	 */
	struct hlg_windows table;
	uint64_t alone; /* markers that neither begin a pair nor end one */
	uint64_t
		moved; /* pairs whose halves are of different counters, or out of order */
	struct hlg_spread *spreads; /* one for each column */
};

/*
 * Pairs the windows, all that were read; their counts become sums. The caller finishes
 * *pairs (all zero before) in any case. False without memory.
 */
bool hlg_pairs_make(struct hlg_pairs *pairs, struct hlg_windows *windows);
/* After the table was restricted: settles the spreads. False without memory. */
bool hlg_pairs_measure(struct hlg_pairs *pairs);
void hlg_pairs_finish(struct hlg_pairs *pairs);

/* Is this count of a pair an outlier of its column? */
bool hlg_pairs_is_outlier(const struct hlg_pairs *pairs, size_t column, uint64_t count);

/* What is shown: windows, or the pairs between markers. */
struct hlg_windows_shown {
	const struct hlg_windows *w;
	const struct hlg_pairs *pairs; /* NULL: windows */
	struct hlg_windows_style *style;
	bool wide, no_pager; /* of text */
	bool quiet;          /* records: only warnings are told */
	struct hlg_err nothing; /* why there is nothing to show; empty: there is */
};

/* Adds what there is to say of what is shown. */
void hlg_windows_shown_notes(struct hlg_note_list *notes,
			     const struct hlg_windows_shown *shown);

/* A page of a struct hlg_windows_shown. */
int hlg_windows_html(void *shown, FILE *f, struct hlg_err *err);

/* Adds what a reader of the pairs should know; windows: what they were made of. */
void hlg_pairs_write_notes(struct hlg_note_list *notes, const struct hlg_pairs *pairs,
			   const struct hlg_windows *windows);

/* The figures of each column. False without memory. */
bool hlg_pairs_write_spreads(FILE *f, const struct hlg_pairs *pairs,
			     const struct hlg_screen *screen,
			     const struct hlg_table_sink *sink);

/* windows: what the pairs were made of, for the notes. They fail without memory. */
int hlg_pairs_write_records(struct hlg_records *to, const struct hlg_pairs *pairs,
			    const struct hlg_windows_style *style, struct hlg_err *err);
int hlg_pairs_write_text(FILE *f, const struct hlg_pairs *pairs,
			 const struct hlg_windows *windows,
			 const struct hlg_windows_style *style, struct hlg_err *err);
int hlg_pairs_write_json(FILE *f, const struct hlg_pairs *pairs,
			 const struct hlg_windows *windows,
			 const struct hlg_windows_style *style, struct hlg_err *err);

#endif
