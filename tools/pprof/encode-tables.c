// SPDX-License-Identifier: GPL-2.0-only
#include "tools/pprof/encode-tables.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "symtab/unique.h"
#include "tools/pprof/server.h"

static int64_t in_range(uint64_t n)
{
	return n < INT64_MAX ? (int64_t)n : INT64_MAX;
}

static const char *unit_of(const Pprof__Extra__Event *event)
{
	return hlg_saved_event_is_clock(event) ? "nanoseconds" : "count";
}

/* "cycles", told apart by precision where there is another of that name: beside it, as
 * events are in order. */
static char *event_name(struct hlg_encoder *e, size_t i)
{
	const Pprof__Extra__Event *events = e->saved->events.at;
	size_t len = strlen(events[i].name);
	char *name = hlg_saved_arena_alloc(&e->arena, len + 32, 1);

	if (!name)
		return NULL;
	memcpy(name, events[i].name, len);
	if ((i && strcmp(events[i - 1].name, events[i].name) == 0) ||
	    (i + 1 < e->saved->events.n &&
	     strcmp(events[i + 1].name, events[i].name) == 0))
		snprintf(name + len, 32, ",precise_ip=%" PRIu32, events[i].precise_ip);
	return name;
}

/* The value type of an event, in the arena; NULL without memory. For a server two may be
 * alike where the events were not. */
static char *type_name(struct hlg_encoder *e, size_t i)
{
	const Pprof__Extra__Event *event = &e->saved->events.at[i];
	char *type, *name;
	size_t size;

	if (!e->saved->server)
		return event_name(e, i);
	type = hlg_pprof_server_type(event->name, hlg_saved_event_is_clock(event));
	size = type ? strlen(type) + 24 : 0;
	name = type ? hlg_saved_arena_alloc(&e->arena, size, 1) : NULL;
	if (name)
		snprintf(name, size, "%s", type);
	for (size_t k = 0; name && k < i; k++)
		if (strcmp(e->types[k], type) == 0)
			snprintf(name, size, "%s_%zu", type, i + 1);
	free(type);
	return name;
}

bool hlg_encode_tables_types(struct hlg_encoder *e)
{
	char colon = e->saved->server ? '_' : ':';
	Pprof__Profile *p = &e->profile;

	p->n_sample_type = 2 * e->saved->events.n;
	p->sample_type =
		hlg_encode_messages(e, p->n_sample_type, &pprof__value_type__descriptor);
	e->types = hlg_saved_arena_alloc(&e->arena, e->saved->events.n, sizeof(char *));
	if (!p->sample_type || !e->types)
		return false;
	for (size_t i = 0; i < e->saved->events.n; i++) {
		char *name = type_name(e, i), *samples;
		size_t size;

		if (!name)
			return false;
		e->types[i] = name;
		size = strlen(name) + 9;
		samples = hlg_saved_arena_alloc(&e->arena, size, 1);
		if (!samples)
			return false;
		if (e->saved->events.n == 1)
			strcpy(samples, "samples");
		else
			snprintf(samples, size, "samples%c%s", colon, name);
		hlg_encode_refer(e, &p->sample_type[2 * i]->type, samples);
		hlg_encode_refer(e, &p->sample_type[2 * i]->unit, "count");
		hlg_encode_refer(e, &p->sample_type[2 * i + 1]->type, name);
		hlg_encode_refer(e, &p->sample_type[2 * i + 1]->unit,
				 unit_of(&e->saved->events.at[i]));
		if (i)
			continue;
		hlg_encode_refer(e, &p->default_sample_type, name);
		hlg_encode_refer(e, &p->period_type->type, name);
		hlg_encode_refer(e, &p->period_type->unit,
				 unit_of(&e->saved->events.at[i]));
	}
	return true;
}

bool hlg_encode_tables_period(struct hlg_encoder *e)
{
	const struct hlg_saved *s = e->saved;
	Pprof__Profile *p = &e->profile;
	Pprof__ValueType **type =
		hlg_encode_messages(e, 1, &pprof__value_type__descriptor);
	struct hlg_count sum = {0};

	if (!type)
		return false;
	p->time_nanos = in_range(s->began);
	p->duration_nanos = in_range(s->took);
	for (size_t i = 0; i < s->cells.n; i++)
		if (s->cells.at[i].key.event == 0)
			hlg_count_add(&sum, s->cells.at[i].count);
	for (size_t i = 0; i < s->hosts.n; i++)
		if (s->hosts.at[i].event == 0)
			hlg_count_add(&sum, (struct hlg_count){s->hosts.at[i].samples,
							       s->hosts.at[i].period});
	if (sum.samples)
		p->period = in_range(sum.period / sum.samples);
	p->period_type = s->events.n ? type[0] : NULL;
	return true;
}

bool hlg_encode_tables_images(struct hlg_encoder *e)
{
	Pprof__Profile *p = &e->profile;

	p->n_mapping = e->saved->images.n;
	p->mapping = hlg_encode_messages(e, p->n_mapping, &pprof__mapping__descriptor);
	if (!p->mapping)
		return false;
	for (size_t i = 0; i < e->saved->images.n; i++) {
		const struct hlg_saved_image *image = &e->saved->images.at[i];
		Pprof__Mapping *mapping = p->mapping[i];

		mapping->id = i + 1;
		mapping->memory_start = image->start;
		mapping->memory_limit = image->limit;
		hlg_encode_refer(e, &mapping->filename, image->path);
		hlg_encode_refer(e, &mapping->build_id, image->build_id);
		mapping->has_functions = true; /* so that pprof does not look for them */
	}
	return true;
}

bool hlg_encode_tables_functions(struct hlg_encoder *e)
{
	Pprof__Profile *p = &e->profile;

	p->n_function = e->saved->functions.n;
	p->function = hlg_encode_messages(e, p->n_function, &pprof__function__descriptor);
	if (!p->function)
		return false;
	for (size_t i = 0; i < e->saved->functions.n; i++) {
		const struct hlg_saved_function *f = &e->saved->functions.at[i];

		p->function[i]->id = i + 1;
		hlg_encode_refer(e, &p->function[i]->name, f->name);
		hlg_encode_refer(e, &p->function[i]->system_name, f->symbol);
	}
	return true;
}

static int compare_locations(const void *a, const void *b)
{
	return hlg_saved_compare_frames(a, b);
}

/* Cells lie by location, labels and stack: only the event changes within a sample. */
bool hlg_encode_tables_sort_locations(struct hlg_encoder *e)
{
	const struct hlg_saved *s = e->saved;
	size_t n = s->cells.n;

	for (size_t i = 0; i < s->stacks.n; i++)
		n += s->stacks.at[i].n_frames;
	e->locations = hlg_saved_arena_alloc(&e->arena, n, sizeof(*e->locations));
	if (!e->locations)
		return false;
	n = 0;
	for (size_t i = 0; i < s->cells.n; i++) {
		e->n_samples += i == 0 || !hlg_saved_same_sample(&s->cells.at[i - 1],
								 &s->cells.at[i]);
		e->locations[n++] = s->cells.at[i].at;
	}
	for (size_t i = 0; i < s->stacks.n; i++)
		for (size_t k = 0; k < s->stacks.at[i].n_frames; k++)
			e->locations[n++] = s->stacks.at[i].frames[k];
	e->n_locations = HLG_UNIQUE(e->locations, n, compare_locations, NULL);
	return true;
}

uint64_t hlg_encode_tables_location(const struct hlg_encoder *e,
				    const struct hlg_saved_frame *frame)
{
	const struct hlg_saved_frame *found = bsearch(frame, e->locations, e->n_locations,
						      sizeof(*found), compare_locations);

	return (uint64_t)(found - e->locations) + 1;
}

/* The functions of a location, the innermost first: pprof takes the last for the one that
 * the others were inlined in. */
static bool add_lines(struct hlg_encoder *e, Pprof__Location *location,
		      const struct hlg_saved_frame *frame)
{
	const struct hlg_saved_inlines *inlines = hlg_saved_inlines_at(e->saved, frame);
	size_t n = inlines ? inlines->n : 0;

	location->line = hlg_encode_messages(e, n + 1, &pprof__line__descriptor);
	if (!location->line)
		return false;
	location->n_line = n + 1;
	for (size_t i = 0; i < n; i++)
		location->line[i]->function_id = inlines->functions[i] + UINT64_C(1);
	location->line[n]->function_id = frame->function + UINT64_C(1);
	return true;
}

bool hlg_encode_tables_locations(struct hlg_encoder *e)
{
	Pprof__Profile *p = &e->profile;

	p->n_location = e->n_locations;
	p->location = hlg_encode_messages(e, p->n_location, &pprof__location__descriptor);
	if (!p->location)
		return false;
	for (size_t i = 0; i < e->n_locations; i++) {
		Pprof__Location *location = p->location[i];

		location->id = i + 1;
		location->mapping_id = e->locations[i].image;
		location->address = e->locations[i].ip;
		if (!add_lines(e, location, &e->locations[i]))
			return false;
	}
	return true;
}
