/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The loop over a recording's samples.
 *
 * hlg_perfdata_read is inlined into its caller, the caller's function for a sample into
 * it (make it static inline __attribute__((always_inline))): what a plain sample costs is
 * finding its event and reading ip and period, whose places in the record are known
 * beforehand. Everything else (other records, the end of the window, counter values) goes
 * through hlg_perfdata_step, out of line. Fields that are wanted less often are read on
 * demand: see record.h.
 */
#ifndef HLG_TOOLS_PERFDATA_WALK_H
#define HLG_TOOLS_PERFDATA_WALK_H

#include <linux/perf_event.h>

#include "tools/perfdata/ids.h"
#include "tools/perfdata/sink.h"

struct hlg_perfdata;

/* The part of a reader that the loop sees; the loop's own. */
struct hlg_perfdata_walk {
	const uint8_t *at, *end; /* what is to be walked of the window */
	const struct hlg_perfdata_layout *layouts;
	const struct hlg_ids_entry *ids;
	unsigned ids_shift;
	uint16_t id_at; /* of the id in all samples; 0: there is one event */
	uint64_t samples;
};

/*
 * Begins, or goes on after, a walk; and handles what the loop cannot: the record at
 * walk->at, or the end of the window. Step returns 1 to go on, 0 at the end, or an error.
 */
struct hlg_perfdata_walk *hlg_perfdata_begin(struct hlg_perfdata *pd,
					     hlg_perfdata_sample_fn *sample,
					     const struct hlg_perfdata_sink *sink,
					     void *ctx);
int hlg_perfdata_step(struct hlg_perfdata *pd, struct hlg_err *err);

static inline __attribute__((always_inline)) void hlg_perfdata_fields(
	struct hlg_perfdata_raw *raw)
{
	const struct hlg_perfdata_layout *layout = raw->layout;

	raw->ip = layout->ip ? hlg_perfdata_u64(raw->record + layout->ip) : 0;
	raw->period = layout->period ? hlg_perfdata_u64(raw->record + layout->period)
				     : layout->fixed_period;
}

/*
 * A sample that is wholly there and of a known event, or false. several: there is more
 * than one event.
 */
static inline __attribute__((always_inline)) bool hlg_perfdata_plain(
	const struct hlg_perfdata_walk *walk, const uint8_t *at, bool several,
	struct hlg_perfdata_raw *raw)
{
	size_t rest = (size_t)(walk->end - at);
	uint64_t header;

	if (rest < sizeof(struct perf_event_header))
		return false;
	/* struct perf_event_header: u32 type, u16 misc, u16 size */
	header = hlg_perfdata_u64(at);
	raw->size = (uint32_t)(header >> 48);
	raw->misc = (uint32_t)(header >> 32) & UINT16_MAX;
	if ((uint32_t)header != PERF_RECORD_SAMPLE || raw->size > rest)
		return false;
	raw->event = 0;
	if (several) {
		__builtin_prefetch(at + 512);
		if (walk->id_at + 8u > raw->size)
			return false;
		raw->event = hlg_ids_find(walk->ids, walk->ids_shift,
					  hlg_perfdata_u64(at + walk->id_at));
		if (raw->event == HLG_NO_ID)
			return false;
	}
	raw->layout = &walk->layouts[raw->event];
	if (raw->size < raw->layout->short_needs)
		return false;
	raw->record = at;
	raw->end = walk->end;
	/* Events that take turns would end a run all the time, and that is dear. */
	raw->alone = several;
	raw->before = 0;
	hlg_perfdata_fields(raw);
	return true;
}

/*
 * Goes on to the sample that follows, if there is but one event and it has the size of
 * this one, as most have. Its place is then known without this record having been read,
 * and the processor need not finish with one to begin with the next.
 */
static inline __attribute__((always_inline)) bool hlg_perfdata_next(
	struct hlg_perfdata_raw *raw)
{
	const uint8_t *at = raw->record + raw->size;
	uint64_t header;

	if (raw->alone || (size_t)(raw->end - at) < raw->size)
		return false;
	header = hlg_perfdata_u64(at);
	if ((uint32_t)header != PERF_RECORD_SAMPLE || header >> 48 != raw->size)
		return false;
	raw->record = at;
	raw->misc = (uint32_t)(header >> 32) & UINT16_MAX;
	raw->before++;
	hlg_perfdata_fields(raw);
	return true;
}

/* Plain samples, as many as follow each other. */
static inline __attribute__((always_inline)) void hlg_perfdata_run(
	struct hlg_perfdata_walk *walk, hlg_perfdata_sample_fn *sample, bool several,
	void *ctx)
{
	/* A copy: what the caller writes could otherwise change it. */
	const struct hlg_perfdata_walk here = *walk;
	const uint8_t *at = here.at;
	struct hlg_perfdata_raw raw;
	uint64_t n = 0;

	while (hlg_perfdata_plain(&here, at, several, &raw)) {
		do
			sample(ctx, &raw);
		while (hlg_perfdata_next(&raw));
		at = raw.record + raw.size;
		n += raw.before + 1;
	}
	walk->at = at;
	walk->samples += n;
}

/* For who wants no samples, or all by the sink's record(), which leaves the loop none. */
static inline __attribute__((always_inline)) void hlg_perfdata_no_sample(
	void *ctx, struct hlg_perfdata_raw *raw)
{
	(void)ctx;
	(void)raw;
}

/*
 * Reads all records (of the range, if one is set), hands samples to sample(ctx, raw) and
 * the rest to the sink. Returns 0 at the end, cut off or not; an error of the system or
 * of a recording that contradicts itself; or what the sink returned.
 *
 * A sample of counter values (PERF_SAMPLE_READ) is delivered as perf delivers it: once
 * for each member of the group that has moved, with the member's event, and as period
 * what it moved by since its last sample. Of an inherited counter each thread counts
 * anew, where perf up to 6.12 makes up periods near 2^64. Where samples of a CPU stand in
 * another order than that of time, the earlier one has period 0 and the later one both
 * periods: their sums are perf's. A sink with group() gets each such sample whole.
 */
static inline __attribute__((always_inline)) int hlg_perfdata_read(
	struct hlg_perfdata *pd, hlg_perfdata_sample_fn *sample,
	const struct hlg_perfdata_sink *sink, void *ctx, struct hlg_err *err)
{
	struct hlg_perfdata_walk *walk = hlg_perfdata_begin(pd, sample, sink, ctx);
	int rc;

	do {
		if (walk->id_at)
			hlg_perfdata_run(walk, sample, true, ctx);
		else
			hlg_perfdata_run(walk, sample, false, ctx);
		rc = hlg_perfdata_step(pd, err);
	} while (rc > 0);
	return rc;
}

#endif
