// SPDX-License-Identifier: GPL-2.0-only
/* From a recording to the table of its windows. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "symtab/grow.h"
#include "tools/feed/event-number.h"
#include "tools/feed/lacks.h"
#include "tools/windows/windows.h"

/*
 * Processors have a few dozen counters. Each row has room for all columns, so a group of
 * thousands that is there but once would make a table of many GB.
 */
#define COLUMNS_MAX 256

struct reading {
	struct hlg_windows *w;
	struct hlg_perfdata *pd;
	struct hlg_profile *profile;
	const struct hlg_windows_marker *marker;
	const char *path;
	uint32_t *numbers; /* the profile's, of each of the reader's events */
	struct hlg_event_names names;
	bool *can_mark; /* the same for markers */
	size_t n_events;
};

static int on_event(void *ctx, const struct hlg_perfdata_event *event,
		    struct hlg_err *err)
{
	struct reading *r = ctx;
	size_t n = (size_t)event->index + 1;
	uint32_t *numbers;
	bool *can_mark;

	if (n > r->n_events) {
		numbers = reallocarray(r->numbers, n, sizeof(*numbers));
		if (numbers)
			r->numbers = numbers;
		can_mark = reallocarray(r->can_mark, n, sizeof(*can_mark));
		if (can_mark)
			r->can_mark = can_mark;
		if (!numbers || !can_mark)
			return hlg_err_memory(err, r->path);
		memset(can_mark + r->n_events, 0, n - r->n_events);
		memset(numbers + r->n_events, UINT8_MAX,
		       sizeof(*numbers) * (n - r->n_events));
		r->n_events = n;
	}
	r->numbers[event->index] = hlg_event_number(r->profile, &r->names, r->pd, event);
	if (r->numbers[event->index] == HLG_NO_SERIES)
		return hlg_err_memory(err, r->path);
	return r->marker ? r->marker->event(r->marker->ctx, r->pd, event,
					    &r->can_mark[event->index], err)
			 : 0;
}

static struct hlg_sample take(struct reading *r, const struct hlg_perfdata_raw *raw)
{
	struct hlg_sample sample = hlg_perfdata_sample(raw), for_profile = sample;

	if (r->w->whose) {
		if (hlg_sample_is_guest(sample.cpumode))
			sample.ip += hlg_whose_move(r->w->whose, sample.tid, sample.time);
		return sample;
	}
	for_profile.event = r->numbers[raw->event];
	hlg_profile_add(r->profile, &for_profile);
	return sample;
}

static inline __attribute__((always_inline)) void on_sample(void *ctx,
							    struct hlg_perfdata_raw *raw)
{
	struct reading *r = ctx;

	do {
		take(r, raw);
		r->w->plain++;
	} while (hlg_perfdata_next(raw));
}

/* Is the group the one that is asked for? */
static bool is_wanted(const struct reading *r, const struct hlg_perfdata_group *group)
{
	uint32_t leader = group->members[0].event;

	if (r->w->n_columns)
		return r->w->columns[0].event == leader;
	if (r->marker)
		return r->can_mark[leader];
	/* A damaged sample may name one as its first that has none. */
	return leader < r->n_events && r->numbers[leader] != HLG_NO_SERIES &&
	       r->profile->events[r->numbers[leader]].selected;
}

/* Sums of rows, in whatever order, are right if those of all rows are. */
static bool check_sums(struct hlg_windows *w)
{
	uint64_t *sums = calloc(w->n_columns + 1, sizeof(*sums));

	for (size_t i = 0; sums && i < w->n_rows; i++)
		for (size_t c = 0; c < w->n_columns; c++)
			w->overflow |= __builtin_add_overflow(
				sums[c], hlg_windows_counts(w, i)[c], &sums[c]);
	free(sums);
	return sums != NULL;
}

/* The first group says which columns there are. */
static bool set_columns(struct reading *r, const struct hlg_perfdata_group *group)
{
	const struct perf_event_attr *leader =
		&hlg_perfdata_event(r->pd, group->members[0].event)->attr;
	struct hlg_windows *w = r->w;

	w->columns = calloc(group->n, sizeof(*w->columns));
	for (uint32_t i = 0; w->columns && i < group->n; i++) {
		const struct hlg_perfdata_event *event =
			hlg_perfdata_event(r->pd, group->members[i].event);

		w->columns[i] = (struct hlg_windows_column){
			strdup(event->name), event->index,
			hlg_counter_of(event->attr.type, event->attr.config,
				       event->name)};
		w->n_columns = i + 1;
		if (!w->columns[i].name)
			return false;
	}
	w->period = leader->freq ? 0 : leader->sample_period;
	w->one_thread = leader->enable_on_exec && !leader->inherit;
	return w->columns != NULL;
}

static bool add_row(struct hlg_windows *w)
{
	return HLG_GROW(w->rows, w->n_rows) &&
	       hlg_grow(&w->counts, w->n_rows, w->n_columns * sizeof(*w->counts));
}

/* Members in the columns' places; one that was not delivered counted nothing. */
static void put_counts(struct hlg_windows *w, uint64_t *counts,
		       const struct hlg_perfdata_group *group)
{
	memset(counts, 0, w->n_columns * sizeof(*counts));
	for (uint32_t i = 0; i < group->n; i++) {
		const struct hlg_perfdata_member *member = &group->members[i];
		size_t at = i;

		if (at >= w->n_columns || w->columns[at].event != member->event)
			for (at = 0; at < w->n_columns; at++)
				if (w->columns[at].event == member->event)
					break;
		if (at == w->n_columns)
			w->strangers++;
		else if (member->delta > INT64_MAX)
			w->back++;
		else
			w->overflow |= __builtin_add_overflow(counts[at], member->delta,
							      &counts[at]);
	}
}

static int on_group(void *ctx, const struct hlg_perfdata_group *group,
		    struct hlg_err *err)
{
	struct reading *r = ctx;
	struct hlg_sample sample = take(r, group->raw);
	struct hlg_windows *w = r->w;
	struct hlg_windows_row *row;

	if (!is_wanted(r, group)) {
		w->other_groups++;
		if (!w->other)
			w->other = strdup(
				hlg_perfdata_event(r->pd, group->members[0].event)->name);
		return 0;
	}
	if (group->n > COLUMNS_MAX)
		return hlg_err_set(err, HLG_EINPUT,
				   "%s: has a group of %" PRIu32 " counters, and at most "
				   "%d are shown (record fewer at a time)",
				   r->path, group->n, COLUMNS_MAX);
	if ((w->n_columns == 0 && !set_columns(r, group)) || !add_row(w))
		return hlg_err_memory(err, r->path);
	row = &w->rows[w->n_rows];
	*row = (struct hlg_windows_row){
		.time = sample.time,
		.ip = sample.ip,
		.windows = 1,
		.at = w->n_rows,
		.sequence = w->n_rows,
		.pid = sample.pid,
		.tid = sample.tid,
		.cpu = sample.cpu,
		.counter = group->counter,
		.thread = group->thread,
		.place = HLG_NO_PLACE,
		.marks = (group->first ? HLG_WINDOW_FIRST : 0) |
			 (group->late ? HLG_WINDOW_LATE : 0),
		.guest = hlg_sample_is_guest(sample.cpumode),
	};
	if (r->marker)
		row->marks |= r->marker->mark(r->marker->ctx, group->raw);
	put_counts(w, w->counts + row->at * w->n_columns, group);
	w->n_rows++;
	return 0;
}

static int by_counter(const void *a, const void *b)
{
	const struct hlg_windows_row *x = a, *y = b;

	if (x->counter != y->counter)
		return x->counter < y->counter ? -1 : 1;
	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	return x->sequence < y->sequence ? -1 : x->sequence > y->sequence;
}

void hlg_windows_read_sort_by_counter(struct hlg_windows *w)
{
	if (w->n_rows)
		qsort(w->rows, w->n_rows, sizeof(*w->rows), by_counter);
}

static void mark_last(struct hlg_windows *w)
{
	hlg_windows_read_sort_by_counter(w);
	for (size_t i = 0; i < w->n_rows; i++)
		if (i + 1 == w->n_rows || w->rows[i].counter != w->rows[i + 1].counter ||
		    w->rows[i].thread != w->rows[i + 1].thread)
			w->rows[i].marks |= HLG_WINDOW_LAST;
}

static int by_time(const void *a, const void *b)
{
	const struct hlg_windows_row *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return x->sequence < y->sequence ? -1 : x->sequence > y->sequence;
}

void hlg_windows_read_sort(struct hlg_windows *w)
{
	if (w->n_rows)
		qsort(w->rows, w->n_rows, sizeof(*w->rows), by_time);
}

static int on_progress(void *ctx, uint64_t bytes, uint64_t samples, struct hlg_err *err)
{
	const struct reading *r = ctx;

	(void)err;
	hlg_progress_add(r->w->progress, bytes, samples);
	return 0;
}

/* Markers without a counter beside them. */
static int no_counters(const struct reading *r, struct hlg_err *err)
{
	const char *leader = r->marker->leader;

	if (r->w->n_rows)
		return hlg_err_set(err, HLG_EINPUT,
				   "%s: %s is in no group with %s: perf 6.12 and later "
				   "take groups of a tracepoint and software events "
				   "apart (give them a hardware event: perf record -e "
				   "'{%s,cycles,EVENTS}:S' -c 1)",
				   r->path, leader, r->w->other ? r->w->other : "another",
				   leader);
	return hlg_err_set(err, HLG_EINPUT,
			   "%s: holds no counters read at %s (record with perf record -e "
			   "'{%s,cycles,EVENTS}:S' -c 1)",
			   r->path, leader, leader);
}

static int no_windows(const struct reading *r, struct hlg_err *err)
{
	const char *glob = r->profile->options->event;

	if (r->marker)
		return no_counters(r, err);
	if (r->w->other_groups && glob)
		return hlg_err_set(err, HLG_EINPUT,
				   "%s: no counter group has %s as its first event, but "
				   "one has %s (use that)",
				   r->path, glob, r->w->other ? r->w->other : "another");
	return hlg_err_set(
		err, HLG_EINPUT,
		"%s: holds no samples of counter groups (record with hlguest "
		"record --windows=EVENTS, or perf record -e '{EVENTS}:S' -c N)",
		r->path);
}

int hlg_windows_read(struct hlg_windows *w, const char *path, struct hlg_profile *profile,
		     const struct hlg_windows_marker *marker, struct hlg_err *err)
{
	static const struct hlg_perfdata_sink sink = {
		.event = on_event, .group = on_group, .progress = on_progress};
	struct reading r = {.w = w, .profile = profile, .marker = marker, .path = path};
	int rc = hlg_perfdata_open(&r.pd, path, err);

	if (rc < 0)
		return rc;
	rc = hlg_perfdata_read(r.pd, on_sample, &sink, &r, err);
	hlg_lacks_set(&w->lacks, hlg_perfdata_counts(r.pd));
	w->read = w->n_rows;
	if (rc == 0 &&
	    (w->n_rows == 0 || (marker && w->n_columns == 1 && w->other_groups)))
		rc = no_windows(&r, err);
	if (rc == 0 && !check_sums(w))
		rc = hlg_err_memory(err, path);
	hlg_perfdata_close(r.pd);
	free(r.numbers);
	hlg_event_names_finish(&r.names);
	free(r.can_mark);
	if (rc == 0) {
		mark_last(w);
		hlg_windows_read_sort(w);
	}
	return rc;
}

void hlg_windows_read_finish(struct hlg_windows *w)
{
	for (size_t i = 0; i < w->n_columns; i++)
		free(w->columns[i].name);
	for (size_t i = 0; i < w->n_places; i++)
		free(w->places[i].name);
	free(w->columns);
	free(w->places);
	free(w->rows);
	free(w->counts);
	free(w->other);
	*w = (struct hlg_windows){0};
}
