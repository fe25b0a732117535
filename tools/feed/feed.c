// SPDX-License-Identifier: GPL-2.0-only
#include "tools/feed/feed.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/feed/deferred.h"
#include "tools/feed/event-number.h"
#include "tools/feed/lacks.h"
#include "tools/feed/probe.h"
#include "tools/feed/row.h"
#include "tools/feed/sandbox-of.h"
#include "tools/feed/timeline.h"
#include "tools/feed/window.h"
#include "tools/perfdata/perfdata.h"

struct feed {
	struct hlg_profile *profile;
	struct hlg_host *host;
	struct hlg_stacks *stacks;
	struct hlg_timeline timeline; /* if host samples or stacks are wanted */
	uint32_t *events;             /* the profile's number of each of the reader's */
	struct hlg_event_names names; /* of the reader's events */
	struct hlg_probe *probes;     /* of each of these */
	const struct hlg_perfdata *pd;
	struct hlg_trace *trace;
	struct hlg_sandbox_of whose;         /* all zero: that does not matter */
	const struct hlg_deferred *deferred; /* of callchains; or NULL */
	uint64_t unjoined;
	bool undecoded;                    /* an event of KVM's */
	struct hlg_perfdata_counts counts; /* of the parts that were read */
	bool ordered;
	uint32_t n_events;
	uint32_t marked; /* the profile's event + 1 that mark is of: of the last sample */
	enum hlg_kvm_mark mark;
	const char *path;
	struct hlg_progress *progress;
};

/* Before the first sample of an event: what the profile calls it. */
static int on_event(void *ctx, const struct hlg_perfdata_event *event,
		    struct hlg_err *err)
{
	struct feed *feed = ctx;
	uint32_t *events = feed->events;
	struct hlg_probe *probes;
	int rc;

	/* They are met in any order. */
	if (event->index >= feed->n_events) {
		size_t n = (size_t)event->index + 1;

		events = reallocarray(events, n, sizeof(*events));
		if (!events)
			return hlg_err_memory(err, feed->path);
		feed->events = events;
		probes = reallocarray(feed->probes, n, sizeof(*probes));
		if (!probes)
			return hlg_err_memory(err, feed->path);
		feed->probes = probes;
		feed->n_events = event->index + 1;
	}
	rc = hlg_probe_find(&feed->probes[event->index], &feed->trace, feed->pd,
			    feed->path, event, err);
	if (rc < 0)
		return rc;
	feed->undecoded |= feed->probes[event->index].undecoded;
	events[event->index] =
		hlg_event_number(feed->profile, &feed->names, feed->pd, event);
	if (events[event->index] == HLG_NO_SERIES)
		return hlg_err_memory(err, feed->path);
	hlg_profile_describe(
		feed->profile, events[event->index],
		hlg_event_kind(event->attr.type, event->attr.config),
		hlg_event_member(event->attr.sample_type, event->attr.read_format));
	if (feed->probes[event->index].rip.size)
		hlg_profile_no_short_cut(feed->profile, events[event->index]);
	return 0;
}

/* For what processes have mapped. */
static int no_room(const struct feed *feed, struct hlg_err *err)
{
	if (feed->timeline.tasks.mappings + 2 <= HLG_TASKS_MAPPINGS_MAX)
		return hlg_err_memory(err, feed->path);
	return hlg_err_set(err, HLG_EINPUT,
			   "%s: has processes with more than %zu mappings (report it "
			   "without --mode=)",
			   feed->path, HLG_TASKS_MAPPINGS_MAX);
}

/* Keeps which build a file of the host is. perf 7.2 on says it of the kernel in its
 * mapping, named for the symbol it begins with: "[kernel.kallsyms]_text". */
static bool keep_mapped_id(struct feed *feed, const struct hlg_perfdata_task *task)
{
	bool is_kernel =
		task->cpumode == PERF_RECORD_MISC_KERNEL &&
		strncmp(task->name, HLG_TASKS_KERNEL, sizeof(HLG_TASKS_KERNEL) - 1) == 0;

	return hlg_hostsyms_build_ids_set(&feed->timeline.ids,
					  is_kernel ? HLG_TASKS_KERNEL : task->name,
					  task->build_id, task->build_id_size);
}

/* A file of one of the images' names, mapped: is it that build? */
static bool see_build(struct feed *feed, const struct hlg_perfdata_task *task)
{
	const struct hlg_options *o = feed->profile->options;
	const char *slash = strrchr(task->name, '/');
	const char *name = slash ? slash + 1 : task->name;
	struct hlg_build build = {.file = (char *)task->name};
	bool is_image = false;

	for (size_t i = 0; i < o->n_images && !is_image; i++) {
		const char *path = o->images[i].path, *last = strrchr(path, '/');

		is_image = strcmp(last ? last + 1 : path, name) == 0;
	}
	if (!is_image)
		return true;
	for (size_t i = 0; i < task->build_id_size; i++)
		snprintf(build.print.build_id + 2 * i, 3, "%02x", task->build_id[i]);
	return hlg_builds_add(&feed->profile->builds, &build);
}

static int on_task(void *ctx, const struct hlg_perfdata_task *task, struct hlg_err *err)
{
	struct feed *feed = ctx;

	if (task->build_id && !see_build(feed, task))
		return hlg_err_memory(err, feed->path);
	if (!feed->ordered)
		return 0;
	if (task->build_id && !keep_mapped_id(feed, task))
		return hlg_err_memory(err, feed->path);
	if (hlg_timeline_task(&feed->timeline, task))
		return 0;
	return no_room(feed, err);
}

static int on_round(void *ctx, struct hlg_err *err)
{
	struct feed *feed = ctx;

	if (!feed->ordered || hlg_queue_round(&feed->timeline.queue))
		return 0;
	return no_room(feed, err);
}

static int on_progress(void *ctx, uint64_t bytes, uint64_t samples, struct hlg_err *err)
{
	const struct feed *feed = ctx;

	(void)err;
	hlg_progress_add(feed->progress, bytes, samples);
	return 0;
}

/* Is it of those who are selected, at whatever time? */
static bool is_of_selected(const struct feed *feed, const struct hlg_sample *sample)
{
	const struct hlg_profile *profile = feed->profile;
	struct hlg_sample any = *sample;

	any.time = profile->window.start;
	return hlg_select_keeps(profile->options, &profile->window, &any);
}

/* Counts a sample as an exit or entry; where a guest began, whenever that was. */
static void count_transit(struct feed *feed, const struct hlg_perfdata_raw *raw,
			  const struct hlg_sample *s, enum hlg_disposition disposition)
{
	struct hlg_perfdata_bytes data;

	if (feed->probes[raw->event].rip.size &&
	    (disposition != HLG_DESELECTED || is_of_selected(feed, s)) &&
	    hlg_perfdata_data(raw, &data))
		hlg_probe_count(&feed->probes[raw->event], feed->profile, s,
				disposition != HLG_DESELECTED, &data);
}

static __attribute__((noinline)) void take(struct feed *feed,
					   const struct hlg_perfdata_raw *raw)
{
	struct hlg_sample s = hlg_perfdata_sample(raw);
	enum hlg_disposition disposition;

	s.event = feed->events[s.event];
	hlg_sandbox_of_tell(&feed->whose, raw, &s);
	disposition = hlg_profile_add(feed->profile, &s);
	if (disposition == HLG_HOST && feed->host)
		hlg_timeline_add(&feed->timeline, &s,
				 hlg_profile_series(feed->profile, &s), HLG_NO_CHAIN,
				 HLG_TIMELINE_ROW);
	count_transit(feed, raw, &s, disposition);
}

static inline __attribute__((always_inline)) void on_sample(void *ctx,
							    struct hlg_perfdata_raw *raw)
{
	struct feed *feed = ctx;
	uint32_t event = feed->events[raw->event];
	uint64_t time = hlg_perfdata_time(raw);
	bool counted;

	hlg_sample_span_see(&feed->profile->span, time);
	if (raw->alone || !raw->layout->ip)
		counted = hlg_profile_hit(feed->profile, event, hlg_perfdata_cpumode(raw),
					  raw->ip, hlg_perfdata_tid(raw), raw->period,
					  time);
	else
		counted = hlg_row_count(feed->profile, event, raw);
	if (!counted)
		take(feed, raw);
}

/* Which of HLG_TIMELINE_* a sample is for; 0: the profile alone, so that its callchain
 * need not be read. */
static unsigned purpose(struct feed *feed, const struct hlg_perfdata_raw *raw,
			const struct hlg_sample *s, enum hlg_disposition disposition)
{
	struct hlg_perfdata_bytes data;
	enum hlg_kvm_mark mark;
	unsigned what = 0;

	if (feed->marked != s->event + 1)
		feed->mark = hlg_stacks_event(feed->profile->events[s->event].name,
					      feed->profile->events[s->event].kind);
	feed->marked = s->event + 1;
	mark = feed->mark;
	/* Also when nobody has selected it. */
	if (mark && hlg_perfdata_data(raw, &data) &&
	    hlg_stacks_is_run(mark, data.at, data.n))
		what |= HLG_TIMELINE_ENTER |
			(mark == HLG_MARK_ENTRY ? HLG_TIMELINE_ENTRY : 0);
	if (disposition == HLG_GUEST)
		what |= HLG_TIMELINE_STACK;
	if (disposition == HLG_HOST && mark)
		hlg_count_add(&feed->stacks->aside, (struct hlg_count){1, s->period});
	if (disposition == HLG_HOST && feed->host)
		what |= HLG_TIMELINE_ROW | (mark ? 0 : HLG_TIMELINE_STACK);
	return what;
}

static __attribute__((noinline)) uint32_t add_deferred(
	struct feed *feed, const struct hlg_sample *s, uint64_t cookie,
	const struct hlg_perfdata_bytes *chain)
{
	uint64_t words[HLG_CHAIN_MAX];
	bool missing;
	size_t n =
		hlg_deferred_join(feed->deferred, s->tid, cookie, chain, words, &missing);

	/* A guest's sample stands on its KVM_RUN's. */
	feed->unjoined += missing && !hlg_sample_is_guest(s->cpumode);
	return hlg_chains_add(&feed->stacks->chains, words, n);
}

/* The callchain of a sample, which need not be whole. */
static uint32_t add_chain(struct feed *feed, const struct hlg_sample *s,
			  const struct hlg_perfdata_bytes *chain)
{
	uint64_t cookie;

	return hlg_chains_is_deferred(chain->at, chain->n, &cookie)
		       ? add_deferred(feed, s, cookie, chain)
		       : hlg_chains_add(&feed->stacks->chains, chain->at, chain->n);
}

static inline __attribute__((always_inline)) void on_stack(void *ctx,
							   struct hlg_perfdata_raw *raw)
{
	struct hlg_sample s = hlg_perfdata_sample(raw);
	struct hlg_perfdata_fields fields;
	struct feed *feed = ctx;
	enum hlg_disposition disposition;
	uint32_t chain = HLG_NO_CHAIN;
	unsigned what;

	s.event = feed->events[s.event];
	hlg_sandbox_of_tell(&feed->whose, raw, &s);
	disposition = hlg_profile_add(feed->profile, &s);
	count_transit(feed, raw, &s, disposition);
	what = purpose(feed, raw, &s, disposition);
	if (!what)
		return;
	hlg_perfdata_decode(&fields, raw->layout->attr, raw->record, (uint16_t)raw->size);
	if (fields.callchain.at)
		chain = add_chain(feed, &s, &fields.callchain);
	hlg_timeline_add(&feed->timeline, &s,
			 disposition == HLG_DESELECTED
				 ? HLG_NO_SERIES
				 : hlg_profile_series(feed->profile, &s),
			 chain, what);
}

/* When it was, for who shows that; how many were lost, perf's counts have. */
static int on_lost(void *ctx, const struct hlg_perfdata_lost *lost, struct hlg_err *err)
{
	struct feed *feed = ctx;

	(void)err;
	if (feed->profile->options->slices && lost->time != HLG_NO_TIME)
		hlg_slices_add(&feed->profile->by_thread, lost->time, 0, HLG_SLICES_LOST,
			       -1, (struct hlg_count){lost->n, 0});
	return 0;
}

/* Reads what pd's range holds. */
static int read_range(struct feed *feed, struct hlg_perfdata *pd, struct hlg_err *err)
{
	static const struct hlg_perfdata_sink sink = {.event = on_event,
						      .task = on_task,
						      .lost = on_lost,
						      .round = on_round,
						      .progress = on_progress};
	int rc;

	if (feed->stacks)
		rc = hlg_perfdata_read(pd, on_stack, &sink, feed, err);
	else
		rc = hlg_perfdata_read(pd, on_sample, &sink, feed, err);
	if (rc == 0 && feed->ordered && !hlg_queue_end(&feed->timeline.queue))
		rc = no_room(feed, err);
	return rc;
}

static void finish(struct feed *feed)
{
	hlg_timeline_finish(&feed->timeline);
	hlg_trace_close(feed->trace);
	free(feed->events);
	hlg_event_names_finish(&feed->names);
	free(feed->probes);
}

/* The part of a recording from a guessed boundary on, for another thread. */
struct second {
	struct feed feed;
	struct hlg_perfdata *pd;
	struct hlg_profile profile;
	struct hlg_err err;
	int rc;
};

static void *read_second(void *arg)
{
	struct second *s = arg;

	s->rc = read_range(&s->feed, s->pd, &s->err);
	return NULL;
}

/*
 * Both parts at once. Returns 1 when the guess was right and all is counted; 0 when only
 * the part up to hlg_perfdata_tell(pd) is.
 */
static int read_both(struct feed *feed, struct hlg_perfdata *pd, struct second *s,
		     uint64_t at, struct hlg_err *err)
{
	pthread_t thread;
	int rc;

	hlg_perfdata_range(pd, 0, at);
	hlg_perfdata_range(s->pd, at, UINT64_MAX);
	if (pthread_create(&thread, NULL, read_second, s) != 0)
		return read_range(feed, pd, err);
	rc = read_range(feed, pd, err);
	pthread_join(thread, NULL);
	if (rc < 0)
		return rc;
	if (s->rc < 0 || !hlg_perfdata_split_holds(pd, s->pd, at))
		return 0;
	hlg_profile_merge(feed->profile, &s->profile);
	hlg_lacks_join(&feed->counts, hlg_perfdata_counts(s->pd));
	feed->undecoded |= s->feed.undecoded;
	return 1;
}

/* Each is counted for itself; also one alone, as other recordings may have more. */
static bool tell_sandboxes(struct feed *feed)
{
	const struct hlg_sandboxes *sandboxes = hlg_sandbox_of_all(&feed->whose);

	return !sandboxes || hlg_profile_tell_sandboxes(feed->profile, sandboxes);
}

/*
 * Two threads where the recording can be split and no names of host samples are wanted,
 * which need the order; else, and where the guess was wrong, one.
 */
static int read_split(struct feed *feed, struct hlg_perfdata *pd, struct hlg_err *err)
{
	struct second s = {.feed = {.path = feed->path, .progress = feed->progress}};
	uint64_t at;
	int rc = 0;

	if (feed->ordered || !hlg_perfdata_split(pd, &at) ||
	    hlg_perfdata_clone(&s.pd, pd, &s.err) < 0)
		return read_range(feed, pd, err);
	s.feed.profile = &s.profile;
	s.feed.pd = s.pd;
	s.feed.whose = feed->whose;
	if (hlg_profile_init(&s.profile, feed->profile->options)) {
		s.profile.window = feed->profile->window;
		if (feed->profile->apart)
			hlg_profile_keep_apart(&s.profile);
		rc = tell_sandboxes(&s.feed) ? read_both(feed, pd, &s, at, err)
					     : hlg_err_memory(err, feed->path);
		hlg_profile_finish(&s.profile);
	}
	finish(&s.feed);
	hlg_perfdata_close(s.pd);
	if (rc != 0)
		return rc < 0 ? rc : 0;
	hlg_perfdata_range(pd, hlg_perfdata_tell(pd), UINT64_MAX);
	return read_range(feed, pd, err);
}

static bool keep_build_id(void *ids, const struct hlg_perfdata_build_id *b)
{
	return (b->cpumode != PERF_RECORD_MISC_USER &&
		b->cpumode != PERF_RECORD_MISC_KERNEL) ||
	       hlg_hostsyms_build_ids_set(ids, b->path, b->id, b->size);
}

/* file: where the recording can be read again, or "-". */
static int begin_order(struct feed *feed, const struct hlg_perfdata *pd, const char *file,
		       const struct hlg_feed_how *how, struct hlg_deferred **deferred,
		       struct hlg_err *err)
{
	int rc;

	if (!hlg_timeline_init(&feed->timeline, feed->host))
		return hlg_err_memory(err, feed->path);
	feed->timeline.stacks = how->stacks;
	feed->timeline.syms = how->syms;
	if (!how->stacks)
		return 0;
	rc = hlg_perfdata_build_ids(pd, keep_build_id, &feed->timeline.ids, err);
	if (rc == 0)
		rc = hlg_deferred_read(deferred, file, err);
	feed->deferred = *deferred;
	return rc;
}

/* Finds out whose samples are whose, where that is recorded. */
static int find_sandboxes(struct feed *feed, struct hlg_err *err)
{
	const struct hlg_options *o = feed->profile->options;
	int rc = hlg_sandbox_of_read(&feed->whose, feed->path,
				     o->by & HLG_BY_SANDBOX || o->sandbox.n, err);

	return rc < 0 || tell_sandboxes(feed) ? rc : hlg_err_memory(err, feed->path);
}

static void add_host(struct hlg_profile *profile, const char *name)
{
	hlg_origins_add(&profile->origins, HLG_ORIGIN_HOST, name ? name : "",
			name ? name : "", 1);
}

/* What the profile had before this recording. */
struct before {
	uint64_t seen, deselected, host;
};

/* What was read of the recording, so far. */
static void sum_up(struct hlg_recording_sums *sums, const struct feed *feed,
		   const struct before *before)
{
	const struct hlg_profile *profile = feed->profile;
	struct hlg_perfdata_counts counts = feed->counts;

	hlg_lacks_join(&counts, hlg_perfdata_counts(feed->pd));
	sums->samples = counts.samples;
	hlg_lacks_set(sums, &counts);
	sums->unjoined = feed->unjoined;
	sums->undecoded = feed->undecoded;
	sums->late = feed->timeline.queue.late != 0;
	sums->attached = hlg_perfdata_host(feed->pd)->attached;
	sums->machine = hlg_perfdata_host(feed->pd)->machine;
	sums->recordings = 1;
	sums->deselected = profile->deselected.samples - before->deselected;
	sums->host = profile->host.samples - before->host;
	sums->guest =
		profile->seen.samples - before->seen - sums->deselected - sums->host;
}

/* Between the reader and who has the bytes. */
struct live {
	const struct hlg_feed_live *of;
	const struct feed *feed;
	const struct before *before;
};

static ssize_t read_live(void *ctx, void *to, size_t n)
{
	const struct live *live = ctx;
	struct hlg_recording_sums sums = {0};
	uint64_t whole = 0;

	if (live->feed->pd) { /* its header has been read */
		sum_up(&sums, live->feed, live->before);
		whole = hlg_perfdata_tell(live->feed->pd);
	}
	return live->of->read(live->of->ctx, to, n, &sums, whole);
}

int hlg_feed_read(const char *path, const struct hlg_feed_how *how,
		  struct hlg_profile *profile, struct hlg_host *host,
		  struct hlg_recording_sums *sums, struct hlg_err *err)
{
	struct feed feed = {.profile = profile,
			    .host = host,
			    .stacks = how->stacks,
			    .ordered = host || how->stacks,
			    .path = path,
			    .progress = how->progress};
	const struct before before = {profile->seen.samples, profile->deselected.samples,
				      profile->host.samples};
	struct live live = {how->live, &feed, &before};
	const struct hlg_perfdata_stream stream = {read_live, &live};
	struct hlg_perfdata *pd = NULL;
	struct hlg_deferred *deferred = NULL;
	const char *file = how->live ? "-" : path; /* to be looked at again */
	int rc;

	memset(sums, 0, sizeof(*sums));
	rc = hlg_feed_window(&profile->window, file, profile->options, err);
	if (rc == 0 && !how->no_sandboxes && !how->live)
		rc = find_sandboxes(&feed, err);
	if (rc == 0)
		rc = how->live ? hlg_perfdata_open_stream(&pd, path, &stream, err)
			       : hlg_perfdata_open(&pd, path, err);
	feed.pd = pd;
	if (rc == 0 && feed.ordered)
		rc = begin_order(&feed, pd, file, how, &deferred, err);
	if (rc == 0)
		rc = how->threads > 1 ? read_split(&feed, pd, err)
				      : read_range(&feed, pd, err);
	if (pd) { /* what was read before an error counts */
		sum_up(sums, &feed, &before);
		add_host(profile, hlg_perfdata_host(pd)->name);
	}
	if (rc == 0)
		rc = hlg_feed_when(pd, file, &profile->span, sums, err);
	hlg_starts_end(&profile->starts);
	hlg_turns_use(feed.whose.turns, !sums->lost && !sums->skipped, profile);
	profile->unlisted |= profile->transits.crossed && !profile->sandboxes.n;
	finish(&feed);
	hlg_deferred_free(deferred);
	hlg_perfdata_close(pd);
	hlg_sandbox_of_finish(&feed.whose);
	return rc;
}

int hlg_feed_count(const char *path, struct hlg_recording_sums *sums, struct hlg_err *err)
{
	struct hlg_profile profile;
	struct hlg_options options;
	const struct hlg_feed_how how = {.threads = 1, .no_sandboxes = true};
	int rc = hlg_options_parse(&options, 0, NULL, err);

	if (rc == 0 && !hlg_profile_init(&profile, &options))
		rc = hlg_err_memory(err, path);
	if (rc == 0) {
		rc = hlg_feed_read(path, &how, &profile, NULL, sums, err);
		hlg_profile_finish(&profile);
	}
	hlg_options_finish(&options);
	return rc;
}
