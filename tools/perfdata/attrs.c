// SPDX-License-Identifier: GPL-2.0-only
/*
 * Events from attributes: what they are called, where the fields of their samples stand,
 * and which bytes of a record tell whose it is.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "symtab/grow.h"
#include "tools/perfdata/reader.h"

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

/* What a sample begins with, 8 bytes each (linux/perf_event.h, PERF_RECORD_SAMPLE). */
static const uint64_t leading[] = {
	PERF_SAMPLE_IDENTIFIER, PERF_SAMPLE_IP,   PERF_SAMPLE_TID,
	PERF_SAMPLE_TIME,       PERF_SAMPLE_ADDR, PERF_SAMPLE_ID,
	PERF_SAMPLE_STREAM_ID,  PERF_SAMPLE_CPU,  PERF_SAMPLE_PERIOD,
};

/* What other records end with if sample_id_all is set (there, struct sample_id). */
static const uint64_t trailer[] = {
	PERF_SAMPLE_TID,       PERF_SAMPLE_TIME, PERF_SAMPLE_ID,
	PERF_SAMPLE_STREAM_ID, PERF_SAMPLE_CPU,  PERF_SAMPLE_IDENTIFIER,
};

/* From the record's start; 0 if not recorded. */
static uint16_t leading_at(uint64_t sample_type, uint64_t field)
{
	uint16_t at = HLG_HEADER_SIZE;

	if (!(sample_type & field))
		return 0;
	for (size_t i = 0; i < LENGTH(leading) && leading[i] != field; i++)
		if (sample_type & leading[i])
			at += 8;
	return at;
}

/* From the record's end; 0 if not recorded. */
static uint16_t trailer_back(const struct perf_event_attr *attr, uint64_t field)
{
	uint16_t back = 0;

	if (!attr->sample_id_all || !(attr->sample_type & field))
		return 0;
	for (size_t i = LENGTH(trailer); i-- > 0;) {
		if (attr->sample_type & trailer[i])
			back += 8;
		if (trailer[i] == field)
			break;
	}
	return back;
}

static void layout_init(struct hlg_perfdata_layout *l, const struct perf_event_attr *attr)
{
	uint64_t type = attr->sample_type;
	uint16_t end = leading_at(type | PERF_SAMPLE_READ, PERF_SAMPLE_READ);

	*l = (struct hlg_perfdata_layout){
		.fixed_period = attr->sample_period,
		.needs = end,
		.short_needs = UINT32_MAX, /* the sink does not know the event yet */
		.ip = leading_at(type, PERF_SAMPLE_IP),
		.tid = leading_at(type, PERF_SAMPLE_TID),
		.time = leading_at(type, PERF_SAMPLE_TIME),
		.cpu = leading_at(type, PERF_SAMPLE_CPU),
		.period = leading_at(type, PERF_SAMPLE_PERIOD),
		.id = leading_at(type, type & PERF_SAMPLE_IDENTIFIER
					       ? PERF_SAMPLE_IDENTIFIER
					       : PERF_SAMPLE_ID),
		.time_back = trailer_back(attr, PERF_SAMPLE_TIME),
		.cpu_back = trailer_back(attr, PERF_SAMPLE_CPU),
		.tid_back = trailer_back(attr, PERF_SAMPLE_TID),
		.attr = attr,
	};
	if (type & PERF_SAMPLE_RAW &&
	    !(type & (PERF_SAMPLE_READ | PERF_SAMPLE_CALLCHAIN)))
		l->raw = end;
	/* Without ids there is no telling whose values they are: a plain sample. */
	if (type & PERF_SAMPLE_READ && attr->read_format & PERF_FORMAT_ID)
		l->read = end;
}

static uint16_t id_back(const struct perf_event_attr *attr)
{
	return trailer_back(attr, attr->sample_type & PERF_SAMPLE_IDENTIFIER
					  ? PERF_SAMPLE_IDENTIFIER
					  : PERF_SAMPLE_ID);
}

/*
 * perf's names of software, hardware, cache, breakpoint and raw events, with the
 * modifiers of perf-list(1) that the attribute stands for.
 */
/* enum perf_hw_id */
static const char *const hardware[] = {
	"cycles",
	"instructions",
	"cache-references",
	"cache-misses",
	"branches",
	"branch-misses",
	"bus-cycles",
	"stalled-cycles-frontend",
	"stalled-cycles-backend",
	"ref-cycles",
};

/* enum perf_sw_ids */
static const char *const software[] = {
	"cpu-clock",        "task-clock",   "page-faults",  "context-switches",
	"cpu-migrations",   "minor-faults", "major-faults", "alignment-faults",
	"emulation-faults", "dummy",
};

/* enum perf_hw_cache_id, _op_id */
static const char *const cache[] = {
	"L1-dcache", "L1-icache", "LLC", "dTLB", "iTLB", "branch", "node",
};
/* What perf takes for possible: bit 0 loads, 1 stores, 2 prefetches. */
static const uint8_t cache_ops[] = {7, 5, 7, 7, 1, 1, 7};
static const char *const cache_accesses[] = {"loads", "stores", "prefetches"};
static const char *const cache_misses[] = {"load", "store", "prefetch"};

/* PERF_ATTR_SIZE_VER9: what perf 7 writes, and no perf before it. */
#define ATTR_OF_PERF_7 144

/* ":ukhpppHG", as much of it as applies; empty where that is what perf defaults to. perf
 * 7 does not mind a default: it tells host or guest where the other one is left out. */
static void modifiers(char text[16], const struct perf_event_attr *attr)
{
	bool newer = attr->size >= ATTR_OF_PERF_7;
	bool levels = attr->exclude_user || attr->exclude_kernel || attr->exclude_hv;
	/* Either of the two makes excluding guests the default. */
	bool guests_out = levels || attr->precise_ip;
	char *p = text;

	*p++ = ':';
	if (levels && !attr->exclude_kernel)
		*p++ = 'k';
	if (levels && !attr->exclude_user)
		*p++ = 'u';
	if (levels && !attr->exclude_hv)
		*p++ = 'h';
	for (unsigned i = 0; i < attr->precise_ip; i++)
		*p++ = 'p';
	if (attr->exclude_host ||
	    (newer ? attr->exclude_guest : attr->exclude_guest == guests_out)) {
		if (!attr->exclude_host)
			*p++ = 'H';
		if (!attr->exclude_guest)
			*p++ = 'G';
	}
	p[p == text + 1 ? -1 : 0] = '\0';
}

static char *plain(const char *name, const struct perf_event_attr *attr)
{
	char *text, tail[16];

	modifiers(tail, attr);
	return asprintf(&text, "%s%s", name, tail) < 0 ? NULL : text;
}

static char *cache_name(const struct perf_event_attr *attr)
{
	/* PERF_TYPE_HW_CACHE: a byte each of cache, operation and result */
	uint64_t which = attr->config & 0xff, op = attr->config >> 8 & 0xff;
	uint64_t result = attr->config >> 16 & 0xff;
	char text[64];

	if (which >= LENGTH(cache))
		return plain("unknown-ext-hardware-cache-type", attr);
	if (op >= LENGTH(cache_accesses))
		return plain("unknown-ext-hardware-cache-op", attr);
	if (result > PERF_COUNT_HW_CACHE_RESULT_MISS)
		return plain("unknown-ext-hardware-cache-result", attr);
	if (!(cache_ops[which] >> op & 1))
		return plain("invalid-cache", attr);
	if (result == PERF_COUNT_HW_CACHE_RESULT_MISS)
		snprintf(text, sizeof(text), "%s-%s-misses", cache[which],
			 cache_misses[op]);
	else
		snprintf(text, sizeof(text), "%s-%s", cache[which], cache_accesses[op]);
	return plain(text, attr);
}

static char *breakpoint_name(const struct perf_event_attr *attr)
{
	char text[64];

	/* HW_BREAKPOINT_R 1, _W 2, _X 4 (linux/hw_breakpoint.h) */
	snprintf(text, sizeof(text), "mem:0x%llx:%s%s%s",
		 (unsigned long long)attr->bp_addr, attr->bp_type & 1 ? "r" : "",
		 attr->bp_type & 2 ? "w" : "", attr->bp_type & 4 ? "x" : "");
	return plain(text, attr);
}

/* What perf would call such an event, in memory of its own; NULL without memory. */
static char *event_name(const struct perf_event_attr *attr)
{
	/* On hybrid CPUs the upper half is the type of the PMU. */
	uint64_t low = attr->config & UINT32_MAX;
	char text[64];

	switch (attr->type) {
	case PERF_TYPE_HARDWARE:
		return plain(low < LENGTH(hardware) ? hardware[low] : "unknown-hardware",
			     attr);
	case PERF_TYPE_SOFTWARE:
		return plain(attr->config < LENGTH(software) ? software[attr->config]
							     : "unknown-software",
			     attr);
	case PERF_TYPE_HW_CACHE:
		return cache_name(attr);
	case PERF_TYPE_BREAKPOINT:
		return breakpoint_name(attr);
	case PERF_TYPE_TRACEPOINT:
		return strdup("unknown tracepoint");
	case PERF_TYPE_RAW:
		snprintf(text, sizeof(text), "raw 0x%llx",
			 (unsigned long long)attr->config);
		return plain(text, attr);
	default:
		snprintf(text, sizeof(text), "unknown attr type: %u", attr->type);
		return strdup(text);
	}
}

static bool set_room(struct hlg_ids *ids, unsigned bits)
{
	struct hlg_ids_entry *old = ids->entries;
	uint64_t room = old ? UINT64_C(1) << (64 - ids->shift) : 0;
	struct hlg_ids_entry *entries = calloc((size_t)1 << bits, sizeof(*entries));
	uint64_t mask = (UINT64_C(1) << bits) - 1;

	if (!entries)
		return false;
	ids->entries = entries;
	ids->shift = 64 - bits;
	for (uint64_t i = 0; i < room; i++) {
		uint64_t to = hlg_ids_hash(old[i].id, ids->shift);

		if (old[i].id == 0)
			continue;
		while (entries[to].id)
			to = (to + 1) & mask;
		entries[to] = old[i];
	}
	free(old);
	return true;
}

/* An id met again moves to the event named last, as in perf. False without memory. */
static bool add_id(struct hlg_ids *ids, uint64_t id, uint32_t event)
{
	uint64_t room = UINT64_C(1) << (64 - ids->shift);
	uint64_t i = hlg_ids_hash(id, ids->shift);

	if (id == 0)
		return true;
	while (ids->entries[i].id && ids->entries[i].id != id)
		i = (i + 1) & (room - 1);
	if (ids->entries[i].id == id) {
		ids->entries[i].event = event;
		return true;
	}
	ids->entries[i] = (struct hlg_ids_entry){id, event, ids->n++};
	/* Room for one more is made afterwards, so that there always is a free one. */
	return (uint64_t)ids->n * 2 < room || set_room(ids, 64 - ids->shift + 1);
}

bool hlg_attrs_init(struct hlg_perfdata *pd)
{
	return set_room(&pd->ids, 4);
}

static struct hlg_perfdata_event *new_event(const uint8_t *attr, size_t size)
{
	struct hlg_perfdata_event *event = calloc(1, sizeof(*event));

	if (!event)
		return NULL;
	memcpy(&event->attr, attr,
	       size < sizeof(event->attr) ? size : sizeof(event->attr));
	event->name = event_name(&event->attr);
	if (event->name)
		return event;
	free(event);
	return NULL;
}

int hlg_attrs_add(struct hlg_perfdata *pd, const uint8_t *attr, size_t size,
		  struct hlg_err *err)
{
	struct hlg_perfdata_event *event;

	if (pd->n_events >= HLG_MAX_EVENTS)
		return hlg_err_set(err, HLG_EINPUT,
				   "%s: has more than %d events (record fewer at a time)",
				   pd->path, HLG_MAX_EVENTS);
	event = HLG_GROW(pd->events, pd->n_events) && HLG_GROW(pd->layouts, pd->n_events)
			? new_event(attr, size)
			: NULL;
	if (!event)
		return hlg_err_memory(err, pd->path);
	event->index = pd->n_events;
	pd->events[pd->n_events] = event;
	layout_init(&pd->layouts[pd->n_events], &event->attr);
	pd->layouts[pd->n_events].event = pd->n_events;
	pd->n_events++;
	if (event->attr.enable_on_exec) {
		pd->on_exec = true;
		pd->host.attached = false;
	}
	return 0;
}

int hlg_attrs_add_ids(struct hlg_perfdata *pd, uint32_t event, const uint8_t *ids,
		      uint64_t n, struct hlg_err *err)
{
	for (uint64_t i = 0; i < n; i++) {
		if (pd->ids.n >= HLG_MAX_IDS)
			return hlg_err_set(
				err, HLG_EINPUT,
				"%s: has more than %u ids of events (record fewer)",
				pd->path, HLG_MAX_IDS);
		if (!add_id(&pd->ids, hlg_perfdata_u64(ids + 8 * i), event))
			return hlg_err_memory(err, pd->path);
	}
	return 0;
}

int hlg_attrs_check(struct hlg_perfdata *pd, struct hlg_err *err)
{
	pd->walk.layouts = pd->layouts;
	pd->walk.ids = pd->ids.entries;
	pd->walk.ids_shift = pd->ids.shift;
	pd->walk.id_at = 0;
	pd->id_back = 0;
	if (pd->n_events < 2)
		return 0;
	/* "ID vs IDENTIFIER": the id must stand at one place in the samples of all. */
	pd->walk.id_at = pd->layouts[0].id;
	pd->id_back = id_back(&pd->events[0]->attr);
	/* In pipe mode they come one by one. */
	for (uint32_t i = pd->n_checked; i < pd->n_events; i++)
		if (!pd->walk.id_at || pd->layouts[i].id != pd->walk.id_at ||
		    id_back(&pd->events[i]->attr) != pd->id_back)
			return hlg_err_set(err, HLG_EINPUT,
					   "%s: samples of its events cannot be told "
					   "apart (record with a newer perf)",
					   pd->path);
	pd->n_checked = pd->n_events;
	return 0;
}

int hlg_attrs_name(struct hlg_perfdata *pd, uint32_t event, char *name,
		   struct hlg_err *err)
{
	if (!name)
		return hlg_err_memory(err, pd->path);
	if (strlen(name) > HLG_EVENT_NAME_MAX)
		name[HLG_EVENT_NAME_MAX] = '\0';
	free(pd->events[event]->name);
	pd->events[event]->name = name;
	return 0;
}

bool hlg_perfdata_defers(const struct hlg_perfdata *pd)
{
	for (uint32_t i = 0; i < pd->n_events; i++) {
		const uint8_t *attr = (const uint8_t *)&pd->events[i]->attr;

		if (hlg_perfdata_u64(attr + HLG_ATTR_FLAGS) & HLG_ATTR_DEFER_CALLCHAIN)
			return true;
	}
	return pd->host.pipe;
}

void hlg_attrs_finish(struct hlg_perfdata *pd)
{
	free(pd->layouts);
	if (pd->parent)
		return;
	for (uint32_t i = 0; i < pd->n_events; i++) {
		free(pd->events[i]->name);
		free(pd->events[i]);
	}
	free(pd->events);
	free(pd->ids.entries);
}
