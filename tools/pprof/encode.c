// SPDX-License-Identifier: GPL-2.0-only
/*
 * Two passes over the same code: the first collects the strings, the second, when they
 * are sorted, builds the messages, in which a string is its place in the table.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "pprof.pb-c.h"
#include "tools/pprof/saved.h"

struct encoder {
	const struct hlg_saved *saved;
	struct hlg_saved_arena arena;
	const char **strings; /* sorted, "" first, once they are all there */
	size_t n_strings, room;
	bool sorted, failed;
	Pprof__Profile profile;
	Pprof__Extra extra;
	size_t n_locations, n_samples;
	int64_t keys[3]; /* places of key_names */
	int64_t comment; /* the place of sums */
	char sums[512];
};

static const char *const key_names[] = {"pid", "tid", "cpu"};
static const unsigned key_bits[] = {HLG_BY_PID, HLG_BY_TID, HLG_BY_CPU};

/* Pointers to n messages of a type, and these, all in the arena; NULL without memory. */
static void *messages(struct encoder *e, size_t n, const ProtobufCMessageDescriptor *type)
{
	unsigned char *all = hlg_saved_arena_alloc(&e->arena, n, type->sizeof_message);
	void **to = hlg_saved_arena_alloc(&e->arena, n, sizeof(*to));

	if (!all || !to)
		return NULL;
	for (size_t i = 0; i < n; i++) {
		to[i] = all + type->sizeof_message * i;
		protobuf_c_message_init(type, to[i]);
	}
	return to;
}

static int compare_texts(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Where text is in the table; in the first pass, asks for it to be there. */
static int64_t place(struct encoder *e, const char *text)
{
	const char **found;

	if (e->sorted) {
		found = bsearch(&text, e->strings, e->n_strings, sizeof(text),
				compare_texts);
		return found - e->strings;
	}
	if (e->n_strings == e->room) {
		size_t room = e->room ? 2 * e->room : 1024;
		const char **more = reallocarray(e->strings, room, sizeof(*more));

		if (!more) {
			e->failed = true;
			return 0;
		}
		e->strings = more;
		e->room = room;
	}
	e->strings[e->n_strings++] = text;
	return 0;
}

static void sort_strings(struct encoder *e)
{
	size_t n = 0;

	qsort(e->strings, e->n_strings, sizeof(*e->strings), compare_texts);
	for (size_t i = 0; i < e->n_strings; i++)
		if (n == 0 || strcmp(e->strings[n - 1], e->strings[i]) != 0)
			e->strings[n++] = e->strings[i];
	e->n_strings = n;
	e->sorted = true;
	e->profile.n_string_table = n;
	e->profile.string_table = (char **)e->strings;
}

/* Clocks count nanoseconds; the name may have a modifier. */
static const char *unit_of(const char *event)
{
	size_t len = strcspn(event, ":");

	if ((len == 9 && strncmp(event, "cpu-clock", len) == 0) ||
	    (len == 10 && strncmp(event, "task-clock", len) == 0))
		return "nanoseconds";
	return "count";
}

/* "cycles", told apart by precision where there is another of that name. */
static char *event_name(struct encoder *e, uint32_t i)
{
	const struct hlg_saved_event *event = HLG_SAVED(event, &e->saved->events, i);
	size_t len = strlen(event->name);
	char *name = hlg_saved_arena_alloc(&e->arena, len + 32, 1);

	if (!name)
		return NULL;
	memcpy(name, event->name, len);
	for (uint32_t j = 0; j < e->saved->events.n; j++)
		if (j != i && strcmp(HLG_SAVED(event, &e->saved->events, j)->name,
				     event->name) == 0)
			snprintf(name + len, 32, ",precise_ip=%" PRIu32,
				 event->precise_ip);
	return name;
}

/* samples and EVENT; where there are several events, samples:EVENT and EVENT. */
static bool add_types(struct encoder *e)
{
	Pprof__Profile *p = &e->profile;

	p->n_sample_type = 2 * (size_t)e->saved->events.n;
	p->sample_type = messages(e, p->n_sample_type, &pprof__value_type__descriptor);
	if (!p->sample_type)
		return false;
	for (uint32_t i = 0; i < e->saved->events.n; i++) {
		char *name = event_name(e, i), *samples;
		size_t size;

		if (!name)
			return false;
		size = strlen(name) + 9;
		samples = hlg_saved_arena_alloc(&e->arena, size, 1);
		if (!samples)
			return false;
		if (e->saved->events.n == 1)
			strcpy(samples, "samples");
		else
			snprintf(samples, size, "samples:%s", name);
		p->sample_type[2 * i]->type = place(e, samples);
		p->sample_type[2 * i]->unit = place(e, "count");
		p->sample_type[2 * i + 1]->type = place(e, name);
		p->sample_type[2 * i + 1]->unit =
			place(e, unit_of(HLG_SAVED(event, &e->saved->events, i)->name));
		if (i == 0)
			p->default_sample_type = p->sample_type[1]->type;
	}
	return true;
}

static bool add_mappings(struct encoder *e)
{
	Pprof__Profile *p = &e->profile;

	p->n_mapping = e->saved->images.n;
	p->mapping = messages(e, p->n_mapping, &pprof__mapping__descriptor);
	if (!p->mapping)
		return false;
	for (uint32_t i = 0; i < e->saved->images.n; i++) {
		const struct hlg_saved_image *image =
			HLG_SAVED(image, &e->saved->images, i);
		Pprof__Mapping *mapping = p->mapping[i];

		mapping->id = i + 1;
		mapping->memory_start = image->start;
		mapping->memory_limit = image->limit;
		mapping->filename = place(e, image->path);
		mapping->build_id = place(e, image->build_id);
		mapping->has_functions = true; /* so that pprof does not look for them */
	}
	return true;
}

static bool add_functions(struct encoder *e)
{
	Pprof__Profile *p = &e->profile;

	p->n_function = e->saved->functions.n;
	p->function = messages(e, p->n_function, &pprof__function__descriptor);
	if (!p->function)
		return false;
	for (uint32_t i = 0; i < e->saved->functions.n; i++) {
		const struct hlg_saved_function *f =
			HLG_SAVED(function, &e->saved->functions, i);

		p->function[i]->id = i + 1;
		p->function[i]->name = place(e, f->name);
		p->function[i]->system_name = place(e, f->symbol);
	}
	return true;
}

static bool same_location(const struct hlg_saved_cell *a, const struct hlg_saved_cell *b)
{
	return a->image == b->image && a->ip == b->ip;
}

static bool same_sample(const struct hlg_saved_cell *a, const struct hlg_saved_cell *b)
{
	return same_location(a, b) && a->key.pid == b->key.pid &&
	       a->key.tid == b->key.tid && a->key.cpu == b->key.cpu;
}

/* Cells lie by location and labels: only the event changes within a sample. */
static void count_samples(struct encoder *e)
{
	const struct hlg_saved_cell *cells = e->saved->cells.items;

	for (uint32_t i = 0; i < e->saved->cells.n; i++) {
		e->n_locations += i == 0 || !same_location(&cells[i - 1], &cells[i]);
		e->n_samples += i == 0 || !same_sample(&cells[i - 1], &cells[i]);
	}
}

static bool add_locations(struct encoder *e)
{
	const struct hlg_saved_cell *cells = e->saved->cells.items;
	Pprof__Profile *p = &e->profile;
	Pprof__Line **lines;
	size_t n = 0;

	p->n_location = e->n_locations;
	p->location = messages(e, p->n_location, &pprof__location__descriptor);
	if (!p->location)
		return false;
	lines = messages(e, p->n_location, &pprof__line__descriptor);
	if (!lines)
		return false;
	for (uint32_t i = 0; i < e->saved->cells.n; i++) {
		Pprof__Location *location;

		if (i && same_location(&cells[i - 1], &cells[i]))
			continue;
		location = p->location[n];
		location->mapping_id = cells[i].image;
		location->address = cells[i].ip;
		location->n_line = 1;
		location->line = &lines[n];
		lines[n]->function_id = cells[i].function + 1;
		location->id = ++n;
	}
	return true;
}

static bool add_labels(struct encoder *e, Pprof__Sample *sample,
		       const struct hlg_saved_key *key)
{
	const int32_t values[] = {key->pid, key->tid, key->cpu};

	if (!(e->saved->by & (HLG_BY_PID | HLG_BY_TID | HLG_BY_CPU)))
		return true;
	sample->label = messages(e, 3, &pprof__label__descriptor);
	if (!sample->label)
		return false;
	for (size_t i = 0; i < 3; i++) {
		Pprof__Label *label = sample->label[sample->n_label];

		if (!(e->saved->by & key_bits[i]))
			continue;
		sample->n_label++;
		label->key = e->keys[i];
		label->num = values[i];
		label->num_unit = label->key; /* a 0 without a unit passes for nothing */
	}
	return true;
}

static bool add_samples(struct encoder *e)
{
	const struct hlg_saved_cell *cells = e->saved->cells.items;
	size_t location = 0, n = 0, width = 2 * (size_t)e->saved->events.n;
	Pprof__Profile *p = &e->profile;
	Pprof__Sample *sample = NULL;

	p->n_sample = e->n_samples;
	p->sample = messages(e, p->n_sample, &pprof__sample__descriptor);
	if (!p->sample)
		return false;
	for (uint32_t i = 0; i < e->saved->cells.n; i++) {
		const struct hlg_saved_cell *cell = &cells[i];

		location += i == 0 || !same_location(&cells[i - 1], cell);
		if (i == 0 || !same_sample(&cells[i - 1], cell)) {
			sample = p->sample[n++];
			sample->n_location_id = 1;
			sample->location_id =
				hlg_saved_arena_alloc(&e->arena, 1, sizeof(uint64_t));
			sample->n_value = width;
			sample->value =
				hlg_saved_arena_alloc(&e->arena, width, sizeof(int64_t));
			if (!sample->location_id || !sample->value ||
			    !add_labels(e, sample, &cell->key))
				return false;
			sample->location_id[0] = location;
		}
		sample->value[2 * cell->key.event] = (int64_t)cell->count.samples;
		sample->value[2 * cell->key.event + 1] = (int64_t)cell->count.period;
	}
	return true;
}

/* For people who look at the profile with pprof: its sums, and what is missing in it. */
static void add_comment(struct encoder *e)
{
	const struct hlg_saved_totals *t = &e->saved->totals;
	const struct {
		const char *name;
		struct hlg_count count;
	} sums[] = {{"seen", t->seen},
		    {"deselected", t->deselected},
		    {"host", t->host},
		    {"guest", t->guest},
		    {"unnamed", t->unnamed}};
	FILE *f = fmemopen(e->sums, sizeof(e->sums), "w");

	e->failed |= !f;
	if (!f)
		return;
	fprintf(f, HLG_SAVED_COMMENT "format=%d", HLG_SAVED_FORMAT);
	for (size_t i = 0; i < sizeof(sums) / sizeof(sums[0]); i++)
		if (sums[i].count.samples)
			fprintf(f, " %s=%" PRIu64 ",%" PRIu64, sums[i].name,
				sums[i].count.samples, sums[i].count.period);
	if (t->unrecorded)
		fprintf(f, " unrecorded=%" PRIu64, t->unrecorded);
	if (t->lost)
		fprintf(f, " lost=%" PRIu64, t->lost);
	fclose(f);
	e->comment = place(e, e->sums);
	e->profile.n_comment = 1;
	e->profile.comment = &e->comment;
}

static bool add_events(struct encoder *e)
{
	Pprof__Extra *extra = &e->extra;

	extra->n_event = e->saved->events.n;
	extra->event = messages(e, extra->n_event, &pprof__extra__event__descriptor);
	for (uint32_t i = 0; extra->event && i < e->saved->events.n; i++) {
		const struct hlg_saved_event *event =
			HLG_SAVED(event, &e->saved->events, i);

		extra->event[i]->name = (char *)(uintptr_t)event->name;
		extra->event[i]->precise_ip = event->precise_ip;
		extra->event[i]->kind = event->kind;
		extra->event[i]->member = event->member != 0;
	}
	return extra->event != NULL;
}

static bool add_images(struct encoder *e)
{
	Pprof__Extra *extra = &e->extra;

	extra->n_image = e->saved->images.n;
	extra->image = messages(e, extra->n_image, &pprof__extra__image__descriptor);
	for (uint32_t i = 0; extra->image && i < e->saved->images.n; i++) {
		const struct hlg_saved_image *image =
			HLG_SAVED(image, &e->saved->images, i);

		extra->image[i]->map = image->map;
		extra->image[i]->load_base = image->base;
		extra->image[i]->bias = image->bias;
	}
	return extra->image != NULL;
}

/* Sets the fields of a key, which Series and HostRow have alike. */
#define SET_KEY(e, message, key)                                                         \
	do {                                                                             \
		(message)->event = (key).event;                                          \
		(message)->pid = (e)->saved->by & HLG_BY_PID ? (key).pid : 0;            \
		(message)->tid = (e)->saved->by & HLG_BY_TID ? (key).tid : 0;            \
		(message)->cpu = (e)->saved->by & HLG_BY_CPU ? (key).cpu : 0;            \
	} while (0)

static bool add_series(struct encoder *e)
{
	Pprof__Extra *extra = &e->extra;

	extra->n_series = e->saved->series.n;
	extra->series = messages(e, extra->n_series, &pprof__extra__series__descriptor);
	for (uint32_t i = 0; extra->series && i < e->saved->series.n; i++) {
		const struct hlg_saved_series *series =
			HLG_SAVED(series, &e->saved->series, i);

		SET_KEY(e, extra->series[i], series->key);
		extra->series[i]->squares_low = (uint64_t)series->squares;
		extra->series[i]->squares_high = (uint64_t)(series->squares >> 64);
	}
	return extra->series != NULL;
}

static bool add_hosts(struct encoder *e)
{
	Pprof__Extra *extra = &e->extra;

	extra->n_host_row = e->saved->hosts.n;
	extra->host_row =
		messages(e, extra->n_host_row, &pprof__extra__host_row__descriptor);
	for (uint32_t i = 0; extra->host_row && i < e->saved->hosts.n; i++) {
		const struct hlg_saved_host *row = HLG_SAVED(host, &e->saved->hosts, i);

		SET_KEY(e, extra->host_row[i], row->key);
		extra->host_row[i]->samples = row->count.samples;
		extra->host_row[i]->period = row->count.period;
		extra->host_row[i]->dso = (char *)(uintptr_t)row->dso;
		extra->host_row[i]->process = (char *)(uintptr_t)row->comm;
	}
	return extra->host_row != NULL;
}

/* The message that a field belongs to. */
static ProtobufCMessage *owner(struct encoder *e, const struct hlg_saved_unknown *field)
{
	switch (field->of) {
	case HLG_SAVED_EVENT:
		return &e->extra.event[field->item]->base;
	case HLG_SAVED_IMAGE:
		return &e->extra.image[field->item]->base;
	case HLG_SAVED_SERIES:
		return &e->extra.series[field->item]->base;
	case HLG_SAVED_HOST:
		return &e->extra.host_row[field->item]->base;
	case HLG_SAVED_WHOLE:
		break;
	}
	return &e->extra.base;
}

/* Fields of a later hlguest's, which lie message by message. */
static bool add_unknown(struct encoder *e)
{
	const struct hlg_saved_table *table = &e->saved->unknown;
	ProtobufCMessageUnknownField *fields =
		hlg_saved_arena_alloc(&e->arena, table->n, sizeof(*fields));

	for (uint32_t i = 0; fields && i < table->n; i++) {
		const struct hlg_saved_unknown *field = HLG_SAVED(unknown, table, i);
		ProtobufCMessage *message = owner(e, field);

		fields[i].tag = field->number;
		fields[i].wire_type = (ProtobufCWireType)field->wire_type;
		fields[i].len = field->size;
		fields[i].data = (uint8_t *)(uintptr_t)field->bytes;
		if (message->n_unknown_fields++ == 0)
			message->unknown_fields = &fields[i];
	}
	return fields != NULL;
}

/* What pprof's format has no field for. */
static bool add_extra(struct encoder *e)
{
	const struct hlg_saved_totals *totals = &e->saved->totals;
	Pprof__Extra *extra = &e->extra;

#define SET_TOTAL(name, field) extra->name = totals->field;
	HLG_SAVED_TOTALS(SET_TOTAL)
#undef SET_TOTAL
	extra->format = HLG_SAVED_FORMAT;
	for (size_t i = 0; i < 3; i++)
		if (e->saved->by & key_bits[i])
			extra->by |= 1u << i;
	e->profile.extra = extra;
	return add_events(e) && add_images(e) && add_series(e) && add_hosts(e) &&
	       add_unknown(e);
}

static bool pass(struct encoder *e)
{
	place(e, "");
	for (size_t i = 0; i < 3; i++)
		if (e->saved->by & key_bits[i])
			e->keys[i] = place(e, key_names[i]);
	add_comment(e);
	return add_types(e) && add_mappings(e) && add_functions(e) && add_locations(e) &&
	       add_samples(e) && !e->failed;
}

int hlg_pprof_encode(const struct hlg_saved *saved, unsigned char **data, size_t *size,
		     struct hlg_err *err)
{
	struct encoder e = {.saved = saved,
			    .profile = PPROF__PROFILE__INIT,
			    .extra = PPROF__EXTRA__INIT};
	bool ok;

	count_samples(&e);
	ok = pass(&e);
	if (ok) {
		sort_strings(&e);
		ok = pass(&e) && add_extra(&e);
	}
	*size = ok ? pprof__profile__get_packed_size(&e.profile) : 0;
	*data = ok ? malloc(*size + 1) : NULL;
	if (*data)
		pprof__profile__pack(&e.profile, *data);
	free(e.strings);
	hlg_saved_arena_finish(&e.arena);
	return *data ? 0 : hlg_err_memory(err, "profile");
}
