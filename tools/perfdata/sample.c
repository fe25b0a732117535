// SPDX-License-Identifier: GPL-2.0-only
/*
 * Samples that are more than plain: the first of an event, those perf made up (id 0), and
 * those that carry counter values, which are taken apart as perf takes them apart.
 */
#include <stdlib.h>
#include <string.h>

#include "symtab/hash.h"
#include "tools/perfdata/reader.h"

/* Of a counter and thread, or the free one where it goes. */
static struct hlg_last *find_last(const struct hlg_lasts *lasts, uint32_t slot,
				  int32_t tid)
{
	uint64_t mask = lasts->room - 1;
	uint64_t i = ((uint64_t)slot << 32 | (uint32_t)tid) * hlg_hash_factor;

	for (i = (i ^ i >> 32) & mask;; i = (i + 1) & mask) {
		struct hlg_last *last = &lasts->entries[i];

		if (!last->used || (last->slot == slot && last->tid == tid))
			return last;
	}
}

static bool make_room(struct hlg_lasts *lasts)
{
	struct hlg_lasts more = {.room = lasts->room ? 2 * lasts->room : 64,
				 .n = lasts->n};

	if (lasts->n * 2 < lasts->room)
		return true;
	more.entries = calloc(more.room, sizeof(*more.entries));
	if (!more.entries)
		return false;
	for (uint64_t i = 0; i < lasts->room; i++)
		if (lasts->entries[i].used)
			*find_last(&more, lasts->entries[i].slot, lasts->entries[i].tid) =
				lasts->entries[i];
	free(lasts->entries);
	*lasts = more;
	return true;
}

/* What advance finds besides the delta. */
enum {
	LATE = 1,
	FIRST = 2,
	NOBODY = 3
};

/*
 * The value of a counter's id: now has it, its time and thread, and gets the slot. The
 * member's delta becomes what the counter has moved by since it was seen last; if it
 * never was, that is FIRST. A sample that stands in the file behind a later one (perf
 * sorts them) has moved nothing: what it could tell is in the later one's. That is LATE;
 * an id that no event has is NOBODY, which is counted; else 0, or an error.
 */
static int advance(struct hlg_perfdata *pd, uint64_t id, struct hlg_last *now,
		   struct hlg_perfdata_member *member, struct hlg_err *err)
{
	const struct hlg_ids_entry *entry =
		hlg_ids_entry(pd->ids.entries, pd->ids.shift, id);
	struct hlg_last *last;
	int found = 0;

	if (!entry) {
		pd->counts.unknown_id++;
		return NOBODY;
	}
	*member = (struct hlg_perfdata_member){.event = entry->event};
	now->slot = entry->slot;
	if (!make_room(&pd->lasts))
		return hlg_err_memory(err, pd->path);
	last = find_last(&pd->lasts, now->slot, now->tid);
	if (!last->used) {
		if (pd->lasts.n >= HLG_MAX_THREADED)
			return hlg_err_set(
				err, HLG_EINPUT,
				"%s: has counter values of more than %u threads and "
				"events (record fewer at a time)",
				pd->path, HLG_MAX_THREADED);
		*last = (struct hlg_last){
			.slot = now->slot, .tid = now->tid, .used = true};
		pd->lasts.n++;
		found = FIRST;
	}
	if (now->time < last->time && now->value < last->value)
		return LATE;
	member->delta = now->value - last->value;
	last->value = now->value;
	last->time = now->time;
	return found;
}

/*
 * offcpu-time of perf record --off-cpu, from 6.16 on: whose time it was stands in the raw
 * data of a sample that the kernel took of perf's own program (set_offcpu_sample,
 * tools/perf/util/evsel.c): u32 pid, tid, u64 ns, then a callchain, whose second word is
 * the address.
 */
static bool is_offcpu(const struct hlg_perfdata_event *event)
{
	return event->attr.type == PERF_TYPE_SOFTWARE &&
	       event->attr.config == PERF_COUNT_SW_BPF_OUTPUT &&
	       strcmp(event->name, "offcpu-time") == 0;
}

/* Tells the sink of an event before its first sample. */
static int announce(struct hlg_perfdata *pd, uint32_t event, struct hlg_err *err)
{
	struct hlg_perfdata_layout *l = &pd->layouts[event];
	int rc;

	if (l->known)
		return 0;
	rc = pd->sink->event ? pd->sink->event(pd->ctx, pd->events[event], err) : 0;
	if (rc < 0)
		return rc;
	l->known = true;
	if (!l->read && !is_offcpu(pd->events[event]))
		l->short_needs = l->needs;
	return 0;
}

static int deliver(struct hlg_perfdata *pd, struct hlg_perfdata_raw *raw,
		   struct hlg_err *err)
{
	int rc = announce(pd, raw->event, err);

	if (rc < 0)
		return rc;
	pd->sample(pd->ctx, raw);
	pd->counts.samples++;
	return 0;
}

/* One value of a sample, with its own event and period. */
static int deliver_value(struct hlg_perfdata *pd, struct hlg_perfdata_raw *raw,
			 uint64_t id, struct hlg_last *now, struct hlg_err *err)
{
	struct hlg_perfdata_member member;
	int rc = advance(pd, id, now, &member, err);

	if (rc < 0 || rc == NOBODY)
		return rc < 0 ? rc : 0;
	/* What fell is another thread's counter: its number was free, and is used again. */
	raw->period = (int64_t)member.delta < 0 ? now->value : member.delta;
	if (rc != LATE && raw->period == 0) {
		pd->counts.zero_delta++;
		return 0;
	}
	raw->event = member.event;
	return deliver(pd, raw, err);
}

/*
 * An inherited counter counts anew in each thread, under the one id. One of a whole CPU
 * is inherited by nobody, whatever the attribute says: perf records the CPU then, and
 * starts it by itself.
 */
static bool counts_by_thread(const struct perf_event_attr *attr,
			     const struct hlg_perfdata_layout *l)
{
	return attr->inherit && l->tid && (!l->cpu || attr->enable_on_exec);
}

/* Adds the member of an id to the group at hand, unless nobody knows it. */
static int add_member(struct hlg_perfdata *pd, struct hlg_perfdata_group *group,
		      uint64_t id, struct hlg_last *now, struct hlg_err *err)
{
	struct hlg_perfdata_member *member = &pd->members[group->n];
	int rc = advance(pd, id, now, member, err);

	if (rc < 0 || rc == NOBODY)
		return rc < 0 ? rc : 0;
	if (group->n++ == 0) {
		group->counter = now->slot;
		group->first = rc == FIRST;
		group->late = rc == LATE;
	}
	return announce(pd, member->event, err);
}

/* All values of a sample at once, for a sink that asks for groups. */
static int deliver_group(struct hlg_perfdata *pd, struct hlg_perfdata_raw *raw,
			 const struct hlg_perfdata_values *values, struct hlg_last *now,
			 struct hlg_err *err)
{
	struct hlg_perfdata_group group = {.raw = raw, .thread = now->tid};
	int rc = 0;

	if (values->n > pd->room_members) {
		/* A record holds at most 4,000. */
		struct hlg_perfdata_member *more =
			reallocarray(pd->members, values->n, sizeof(*more));

		if (!more)
			return hlg_err_memory(err, pd->path);
		pd->members = more;
		pd->room_members = values->n;
	}
	for (uint64_t i = 0; rc == 0 && i < values->n; i++) {
		const uint8_t *at = values->at + i * values->stride;

		now->value = hlg_perfdata_u64(at);
		rc = add_member(pd, &group, hlg_perfdata_u64(at + values->id), now, err);
	}
	if (rc < 0 || group.n == 0)
		return rc;
	raw->event = pd->members[0].event;
	group.members = pd->members;
	pd->counts.samples++;
	return pd->sink->group(pd->ctx, &group, err);
}

static int deliver_values(struct hlg_perfdata *pd, struct hlg_perfdata_raw *raw,
			  struct hlg_err *err)
{
	const struct perf_event_attr *attr = &pd->events[raw->event]->attr;
	const struct hlg_perfdata_layout *l = raw->layout;
	struct hlg_perfdata_values values;
	struct hlg_last now = {.tid = -1};
	int rc = 0;

	if (counts_by_thread(attr, l))
		now.tid = (int32_t)hlg_perfdata_u32(raw->record + l->tid + 4);
	if (l->time)
		now.time = hlg_perfdata_u64(raw->record + l->time);

	if (!hlg_perfdata_values(&values, attr->read_format, raw->record + l->read,
				 raw->size - l->read)) {
		pd->counts.bad_sample++;
		return 0;
	}
	if (pd->sink->group)
		return deliver_group(pd, raw, &values, &now, err);
	for (uint64_t i = 0; rc == 0 && i < values.n; i++) {
		const uint8_t *at = values.at + i * values.stride;

		now.value = hlg_perfdata_u64(at);
		rc = deliver_value(pd, raw, hlg_perfdata_u64(at + values.id), &now, err);
	}
	return rc;
}

/* Which event a sample is of, HLG_NO_ID if that cannot be told; counted. */
static uint32_t find_event(struct hlg_perfdata *pd, const uint8_t *record, uint16_t size)
{
	uint32_t event = pd->n_events ? 0 : HLG_NO_ID;

	if (pd->walk.id_at) {
		uint64_t id;

		if (pd->walk.id_at + 8u > size) {
			pd->counts.bad_sample++;
			return HLG_NO_ID;
		}
		id = hlg_perfdata_u64(record + pd->walk.id_at);
		/* perf's own samples have id 0 and count for the first event. */
		if (id)
			event = hlg_ids_find(pd->ids.entries, pd->ids.shift, id);
	}
	if (event == HLG_NO_ID)
		pd->counts.unknown_id++;
	return event;
}

const struct hlg_perfdata_layout *hlg_perfdata_sample_layout(struct hlg_perfdata *pd,
							     const uint8_t *record,
							     uint16_t size)
{
	uint32_t event = find_event(pd, record, size);

	if (event == HLG_NO_ID)
		return NULL;
	if (size >= pd->layouts[event].needs)
		return &pd->layouts[event];
	pd->counts.bad_sample++;
	return NULL;
}

/* Makes it a sample of that: raw's record becomes a copy in pd. False if it has none. */
static bool read_offcpu(struct hlg_perfdata *pd, struct hlg_perfdata_raw *raw)
{
	const struct hlg_perfdata_layout *l = raw->layout;
	struct hlg_perfdata_bytes data;

	if (!hlg_perfdata_find_data(raw, &data) || data.n < 16)
		return false;
	memcpy(pd->offcpu, raw->record, raw->size);
	if (l->tid)
		memcpy(pd->offcpu + l->tid, data.at, 8);
	raw->record = pd->offcpu;
	raw->period = hlg_perfdata_u64(data.at + 8);
	if (data.n >= 40 && hlg_perfdata_u64(data.at + 16) >= 2)
		raw->ip = hlg_perfdata_u64(data.at + 32);
	return true;
}

int hlg_perfdata_sample_step(struct hlg_perfdata *pd, const uint8_t *record,
			     uint16_t size, struct hlg_err *err)
{
	const struct hlg_perfdata_layout *l =
		hlg_perfdata_sample_layout(pd, record, size);
	struct hlg_perfdata_raw raw;

	if (!l)
		return 0;
	raw = (struct hlg_perfdata_raw){
		.record = record,
		.layout = l,
		.ip = l->ip ? hlg_perfdata_u64(record + l->ip) : 0,
		.period = l->period ? hlg_perfdata_u64(record + l->period)
				    : l->fixed_period,
		.event = l->event,
		.size = size,
		.misc = hlg_perfdata_u32(record + 4) & UINT16_MAX,
		.alone = true,
	};
	if (is_offcpu(pd->events[raw.event]) && !read_offcpu(pd, &raw)) {
		pd->counts.bad_sample++;
		return 0;
	}
	return l->read ? deliver_values(pd, &raw, err) : deliver(pd, &raw, err);
}
