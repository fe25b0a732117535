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
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symtab/err.h"
#include "symtab/hash.h"
#include "tools/perfdata/record.h"

struct hlg_perfdata;
struct hlg_perfdata_event;

/*
 * Gets a sample, and may take those that follow as well: as long as hlg_perfdata_next
 * returns true, raw is the next one.
 */
typedef void hlg_perfdata_sample_fn(void *ctx, struct hlg_perfdata_raw *raw);

/* Records that a buffer had no room for: they stood right before this one (LOST). */
struct hlg_perfdata_lost {
	uint64_t n;
	uint64_t time; /* ns, behind the last of them; UINT64_MAX not recorded */
	int32_t cpu;   /* whose buffer; -1 not recorded */
};

/* One counter of a group. */
struct hlg_perfdata_member {
	uint64_t delta; /* what it moved by since its last sample; may be 0 */
	uint32_t event;
};

/* A sample of counter values in one piece. Valid during the call only. */
struct hlg_perfdata_group {
	const struct hlg_perfdata_raw *raw;        /* as the leader's; its period is 0 */
	const struct hlg_perfdata_member *members; /* as recorded: the leader first */
	uint32_t n;       /* members, those of no known event left out */
	uint32_t counter; /* the same for samples of one counter, from 0 on */
	int32_t thread;   /* the same for those of one thread of it, if inherited; or -1
			   */
	bool first;       /* of this counter and thread: counted since it was enabled */
	bool late; /* stands behind a later one: what it counted is in that one's */
};

/* Functions may be NULL. A negative value ends the read, which then returns it. */
struct hlg_perfdata_sink {
	/* If there is one, samples of counter values go here and to nobody else. */
	int (*group)(void *ctx, const struct hlg_perfdata_group *group,
		     struct hlg_err *err);
	/* Before the first sample of each event. */
	int (*event)(void *ctx, const struct hlg_perfdata_event *event,
		     struct hlg_err *err);
	/* Processes and mappings, in the order of the file. */
	int (*task)(void *ctx, const struct hlg_perfdata_task *task, struct hlg_err *err);
	int (*lost)(void *ctx, const struct hlg_perfdata_lost *lost, struct hlg_err *err);
	/* FINISHED_ROUND: perf has emptied all its buffers once. Never of a directory. */
	int (*round)(void *ctx, struct hlg_err *err);
	/*
	 * For who copies: every record as it stands, those of a compressed one in its
	 * place, before it is taken apart; samples are then taken apart by nobody else.
	 * layout: of a sample that is whole and of a known event, else NULL.
	 */
	int (*record)(void *ctx, const uint8_t *record, uint16_t size,
		      const struct hlg_perfdata_layout *layout, struct hlg_err *err);
	/* What follows such a record without being in its size (AUXTRACE), in pieces. */
	int (*payload)(void *ctx, const uint8_t *bytes, size_t n, struct hlg_err *err);
	/* Now and then: the bytes and samples that were read since the last time. */
	int (*progress)(void *ctx, uint64_t bytes, uint64_t samples, struct hlg_err *err);
};

/*
 * Which event a sample's id means. The kernel numbers every opened counter (one for each
 * event, CPU and thread); the recording lists the numbers of each event.
 */
#define HLG_NO_ID UINT32_MAX

/*
 * Ids a recording may have: 512 CPUs with 8,000 events. Keeps the table of a hostile pipe
 * below 200 MB.
 */
#define HLG_MAX_IDS (UINT32_C(1) << 22)

struct hlg_ids_entry {
	uint64_t id; /* 0: free. perf makes up records with id 0; they mean event 0 */
	uint32_t event;
	uint32_t slot; /* a number for this id, from 0 on */
};

struct hlg_ids {
	struct hlg_ids_entry
		*entries; /* open addressing, at most half used; never NULL */
	unsigned shift;   /* 64 - log2 of their number */
	uint32_t n;
};

/* Where to look for an id first. */
static inline uint64_t hlg_walk_id_hash(uint64_t id, unsigned shift)
{
	return id * hlg_hash_factor >> shift;
}

/* The entry of an id, NULL if unknown (0 always is). */
static inline const struct hlg_ids_entry *hlg_walk_id_entry(
	const struct hlg_ids_entry *entries, unsigned shift, uint64_t id)
{
	uint64_t i = hlg_walk_id_hash(id, shift);

	/* Most are where they are looked for first. */
	while (entries[i].id != id) {
		if (entries[i].id == 0)
			return NULL;
		i = (i + 1) & ((UINT64_C(1) << (64 - shift)) - 1);
	}
	return id ? &entries[i] : NULL;
}

/* The event of an id, HLG_NO_ID if unknown. */
static inline uint32_t hlg_walk_id_find(const struct hlg_ids_entry *entries,
					unsigned shift, uint64_t id)
{
	const struct hlg_ids_entry *entry = hlg_walk_id_entry(entries, shift, id);

	return entry ? entry->event : HLG_NO_ID;
}

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
		raw->event = hlg_walk_id_find(walk->ids, walk->ids_shift,
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
