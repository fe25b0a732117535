/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Windows: what a group of counters counted between two samples of its leader (perf
 * record -e '{...}:S' -c N). A row is a window, or several added up; a column is a member
 * of the group.
 *
 * A window ends at its leader's overflow, and ip, thread, time and CPU are those of its
 * end. Counts are as read, never scaled. Two windows of a counter have a row marked: the
 * first counts from the moment the counter was enabled, and what was counted after the
 * last is in no window.
 *
 * Memory: all windows of the recording, 72 bytes each and 8 for each column.
 */
#ifndef HLG_TOOLS_WINDOWS_WINDOWS_H
#define HLG_TOOLS_WINDOWS_WINDOWS_H

#include "filter/run.h"
#include "tools/cli/progress.h"
#include "tools/feed/feed.h"
#include "tools/feed/whose.h"
#include "tools/perfdata/perfdata.h"
#include "tools/windows/counter.h"

enum hlg_windows_mark {
	HLG_WINDOW_FIRST = 1, /* of its counters: since they were enabled */
	HLG_WINDOW_LAST = 2,  /* of its counters: what came after is in none */
	HLG_WINDOW_LATE = 4,  /* stands behind a later one, which has its counts, too */
	HLG_WINDOW_FROM = 8,  /* a marker: the counts begin here, */
	HLG_WINDOW_TO = 16,   /* and end here */
};

struct hlg_windows_column {
	char *name; /* of the event; not escaped */
	uint32_t event;
	enum hlg_counter counter;
};

struct hlg_windows_row {
	uint64_t time; /* ns; of a sum, the end of its interval; HLG_NO_TIME */
	uint64_t ip;
	uint64_t windows;      /* that were added up */
	uint64_t at;           /* its counts are counts[at * n_columns], and on */
	uint64_t sequence;     /* place in the recording */
	int32_t pid, tid, cpu; /* -1: not recorded, or of a sum: several */
	uint32_t counter;      /* of the leader; see struct hlg_perfdata_group */
	int32_t thread;
	uint32_t place; /* in the table of places; HLG_NO_PLACE */
	uint8_t marks;  /* enum hlg_windows_mark */
	bool guest;
};

#define HLG_NO_PLACE UINT32_MAX

/* What windows may end in: a function, gap ..., the host. */
struct hlg_windows_place {
	char *name;             /* readable; not escaped */
	struct hlg_place place; /* of the guest; kind HLG_OUTSIDE for the host */
	bool host;
};

struct hlg_windows {
	struct hlg_progress *progress; /* given, of the read; or NULL */
	/* Given, where guests lie at the same addresses, or might: the profile has the
	 * samples then. */
	struct hlg_whose *whose;

	struct hlg_windows_column *columns; /* the leader first */
	size_t n_columns;
	struct hlg_windows_row *rows; /* in the order of the file, then of time */
	size_t n_rows;
	uint64_t *counts;
	struct hlg_windows_place *places;
	size_t n_places;

	uint64_t period;       /* of the leader, if it is fixed; else 0 */
	uint64_t read;         /* windows in the recording */
	uint64_t other_groups; /* windows of groups that were not asked for */
	uint64_t plain;        /* samples that belong to no group */
	uint64_t strangers;    /* counts of events that the group did not have at first */
	uint64_t back;         /* counts of counters that went back: 0 here */
	bool overflow;         /* counts of a column add up to more than 2^64 */
	struct hlg_recording_sums lacks; /* what the recording lacks */
	uint64_t every;                  /* ns; 0: rows are windows */
	double leader; /* of sums by place: all of the leader's counts */
	const struct hlg_report
		*check;  /* whether samples fit; NULL: no function is named */
	bool one_thread; /* counters of one thread of a command, and of none it made */
	char *other;     /* a leader of other_groups, or NULL */
};

/* Which marks a leader's sample is; record as recorded. */
struct hlg_windows_marker {
	/* An event that can be one is announced; a negative value ends the read. */
	int (*event)(void *ctx, const struct hlg_perfdata *pd,
		     const struct hlg_perfdata_event *event, bool *is,
		     struct hlg_err *err);
	uint8_t (*mark)(void *ctx, const struct hlg_perfdata_raw *raw);
	const char *leader; /* for messages */
	void *ctx;
};

/*
 * Reads the windows of the recording at path: those of the first group whose leader
 * options->event matches, or with a marker, of a leader that can be one. Guest samples of
 * all kinds go into the profile, for the base. *windows is all zero before, but for
 * progress and whose; the caller finishes it in any case.
 *
 * That there are no windows is an error, which tells how to record them.
 */
int hlg_windows_read(struct hlg_windows *windows, const char *path,
		     struct hlg_profile *profile, const struct hlg_windows_marker *marker,
		     struct hlg_err *err);
void hlg_windows_read_finish(struct hlg_windows *windows);

static inline uint64_t *hlg_windows_counts(const struct hlg_windows *windows, size_t row)
{
	return windows->counts + windows->rows[row].at * windows->n_columns;
}

/* Puts rows in the order of time, and where that is the same, of the file. */
void hlg_windows_read_sort(struct hlg_windows *windows);

/* Puts rows in the order of counters, then of threads, then of the file. */
void hlg_windows_read_sort_by_counter(struct hlg_windows *windows);

/* Leaves the rows that options select by pid, tid, cpu, time and mode. */
void hlg_windows_rows_select(struct hlg_windows *windows,
			     const struct hlg_options *options,
			     const struct hlg_select_window *window);

/*
 * Adds up the rows of each thread in intervals of every ns, from the first row on. A
 * window counts in the interval that it ends in. False without memory.
 */
bool hlg_windows_rows_bin(struct hlg_windows *windows, uint64_t every);

/* Finds each row's place in the space, which is settled. If the check says so, it is an
 * address, without a name. False without memory. */
bool hlg_windows_places_locate(struct hlg_windows *windows, const struct hlg_space *space,
			       bool demangle);

/*
 * Leaves the rows that end in a function of this name, as in the ELF or readable. Says if
 * no image has such a function.
 */
int hlg_windows_places_in(struct hlg_windows *windows, const struct hlg_space *space,
			  const char *function, struct hlg_err *err);

/*
 * Adds up the rows of each place, which are windows; most of the leader's counts first.
 * Only rows and counts of *sum, which is all zero before, are its own, for the caller to
 * free; the rest is lent by windows. False without memory; then there is nothing to free.
 */
bool hlg_windows_rows_by_place(struct hlg_windows *sum,
			       const struct hlg_windows *windows);

#endif
