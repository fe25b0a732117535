// SPDX-License-Identifier: GPL-2.0-only
/*
 * Events from attributes: where the fields of their samples stand, and which bytes of a
 * record tell whose it is.
 */
#include <stdlib.h>
#include <string.h>

#include "tools/perfdata/event-name.h"
#include "tools/perfdata/reader.h"

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

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

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

static bool make_room(struct hlg_perfdata *pd)
{
	size_t n;
	void *more;

	/* Doubled at powers of two. */
	if (pd->n_events & (pd->n_events - 1))
		return true;
	n = pd->n_events ? 2 * (size_t)pd->n_events : 1;
	more = reallocarray(pd->events, n, sizeof(*pd->events));
	if (!more)
		return false;
	pd->events = more;
	more = reallocarray(pd->layouts, n, sizeof(*pd->layouts));
	if (!more)
		return false;
	pd->layouts = more;
	return true;
}

static struct hlg_perfdata_event *new_event(const uint8_t *attr, size_t size)
{
	struct hlg_perfdata_event *event = calloc(1, sizeof(*event));

	if (!event)
		return NULL;
	memcpy(&event->attr, attr,
	       size < sizeof(event->attr) ? size : sizeof(event->attr));
	event->name = hlg_event_name(&event->attr);
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
	if (!make_room(pd))
		return hlg_err_memory(err, pd->path);
	event = new_event(attr, size);
	if (!event)
		return hlg_err_memory(err, pd->path);
	event->index = event->leader = pd->n_events;
	pd->events[pd->n_events] = event;
	layout_init(&pd->layouts[pd->n_events], &event->attr);
	pd->layouts[pd->n_events].event = pd->n_events;
	pd->n_events++;
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
		if (!hlg_ids_add(&pd->ids, hlg_perfdata_u64(ids + 8 * i), event))
			return hlg_err_memory(err, pd->path);
	}
	pd->events[event]->n_ids += n;
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
	free(pd->events[event]->name);
	pd->events[event]->name = name;
	pd->events[event]->named = true;
	return 0;
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
	hlg_ids_finish(&pd->ids);
}
