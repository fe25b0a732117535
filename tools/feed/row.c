// SPDX-License-Identifier: GPL-2.0-only
#include "tools/feed/row.h"

#include <assert.h>

#include "tools/perfdata/walk.h"

enum {
	AHEAD = 8,       /* samples, whose cells memory is asked for */
	CACHED_BITS = 14 /* so many cells (2^14 of 32 bytes) are in a cache in any case */
};

#define MISC ((uint64_t)UINT16_MAX << 32)

/* What the samples have in common: a copy, which stays in registers. */
struct row {
	uint64_t like;      /* their header, with all bits of misc */
	size_t size;        /* of each */
	const uint8_t *end; /* the last address at which one of this size can begin */
	struct hlg_perfdata_layout layout;
};

static inline bool is_in_row(const struct row *row, const uint8_t *at)
{
	return at <= row->end && (hlg_perfdata_u64(at) | MISC) == row->like;
}

/* Counts one of them, if the short cut takes it. */
static inline __attribute__((always_inline)) bool count(const struct row *row,
							const uint8_t *at, uint64_t time,
							struct hlg_hits *hits)
{
	const struct hlg_perfdata_layout *l = &row->layout;
	unsigned mode = hlg_perfdata_u32(at + 4) & PERF_RECORD_MISC_CPUMODE_MASK;
	int32_t tid = l->tid ? (int32_t)hlg_perfdata_u32(at + l->tid + 4) : -1;
	uint64_t period = l->period ? hlg_perfdata_u64(at + l->period) : l->fixed_period;

	return hlg_profile_hits_add(hits, mode, hlg_perfdata_u64(at + l->ip), tid, period,
				    time);
}

/* Returns how many were counted, one after the other. */
static __attribute__((noinline)) uint32_t walk(const struct row *whole, const uint8_t *at,
					       struct hlg_hits *into,
					       struct hlg_sample_span *span)
{
	const struct row row = *whole;
	const ptrdiff_t ahead = AHEAD * (ptrdiff_t)row.size;
	const size_t time_at = row.layout.time;
	struct hlg_hits hits = *into;
	struct hlg_sample_span seen = *span;
	const uint8_t *far =
		hlg_profile_hits_room(&hits) > 1 << CACHED_BITS ? row.end : at;
	uint32_t n = 0;

	do {
		/* Without times this is the header, which is not kept. */
		uint64_t time = hlg_perfdata_u64(at + time_at);

		if (far - at >= ahead)
			__builtin_prefetch(hlg_profile_hits_cell(
				&hits, hlg_perfdata_u64(at + ahead + row.layout.ip)));
		if (!count(&row, at, time, &hits))
			break;
		hlg_sample_span_see(&seen, time);
		at += row.size;
		n++;
	} while (is_in_row(&row, at));
	if (time_at)
		*span = seen;
	*into = hits;
	return n;
}

bool hlg_row_count(struct hlg_profile *profile, uint32_t event,
		   struct hlg_perfdata_raw *raw)
{
	const struct row row = {hlg_perfdata_u64(raw->record) | MISC, raw->size,
				raw->end - raw->size, *raw->layout};
	struct hlg_hits hits;
	const uint8_t *next;
	uint32_t n;
	bool ends;

	assert(!raw->alone && row.layout.ip);
	hlg_profile_hits_begin(&hits, profile, event, row.layout.time != 0);
	n = walk(&row, raw->record, &hits, &profile->span);
	hlg_profile_hits_end(&hits, profile, event, n);
	next = raw->record + n * row.size;
	ends = n && !is_in_row(&row, next);
	raw->before += n - ends;
	raw->record = ends ? next - row.size : next;
	raw->misc = hlg_perfdata_u32(raw->record + 4) & UINT16_MAX;
	hlg_perfdata_fields(raw);
	return ends;
}
