// SPDX-License-Identifier: GPL-2.0-only
/*
 * The message is built first; a string in it is a place in a table, which is sorted: so
 * these places are noted, and filled in once all strings are there.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "filter/trust/verdict.h"
#include "tools/pprof/saved.h"
#include "tools/pprof/server.h"

/* A field that is to have the place of text. */
struct reference {
	const char *text;
	int64_t *field;
};

struct encoder {
	const struct hlg_saved *saved;
	struct hlg_saved_arena arena;
	struct reference *references;
	size_t n_references;
	bool failed; /* a reference has found no memory */
	Pprof__Profile profile;
	Pprof__Extra extra;
	struct hlg_saved_frame *locations; /* sorted */
	size_t n_locations, n_samples;
	const struct hlg_pprof_label *labels; /* for a server: of all samples */
	char **types;                         /* of each event */
	Pprof__Sample **sample;
	uint32_t *samples;     /* of each cell: the place of its sample */
	int64_t *values;       /* of the sample at hand */
	unsigned char *packed; /* it */
	size_t largest;        /* bytes of one, packed */
	int64_t empty, keys[HLG_SAVED_N_KEYS], *comments; /* places of strings */
	char sums[512];
};

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

/* Pointers to n things of size bytes, which begin with a message; NULL without memory. */
static void *pointers(struct encoder *e, const void *list, size_t n, size_t size)
{
	void **to = hlg_saved_arena_alloc(&e->arena, n, sizeof(*to));

	for (size_t i = 0; to && i < n; i++)
		to[i] = (unsigned char *)(uintptr_t)list + size * i;
	return to;
}

static int64_t in_range(uint64_t n)
{
	return n < INT64_MAX ? (int64_t)n : INT64_MAX;
}

static void refer(struct encoder *e, int64_t *field, const char *text)
{
	if (HLG_GROW(e->references, e->n_references))
		e->references[e->n_references++] = (struct reference){text, field};
	else
		e->failed = true;
}

static int compare_references(const void *a, const void *b)
{
	const struct reference *x = a, *y = b;

	return strcmp(x->text, y->text);
}

/* Makes the table of strings, of which "" is the first; false without memory. */
static bool add_strings(struct encoder *e)
{
	char **strings =
		hlg_saved_arena_alloc(&e->arena, e->n_references, sizeof(*strings));
	size_t n = 0;

	if (!strings)
		return false;
	qsort(e->references, e->n_references, sizeof(*e->references), compare_references);
	for (size_t i = 0; i < e->n_references; i++) {
		const struct reference *r = &e->references[i];

		if (n == 0 || strcmp(strings[n - 1], r->text) != 0)
			strings[n++] = (char *)(uintptr_t)r->text;
		*r->field = (int64_t)n - 1;
	}
	e->profile.n_string_table = n;
	e->profile.string_table = strings;
	return true;
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

/* "cycles", told apart by precision where there is another of that name: beside it, as
 * events are in order. */
static char *event_name(struct encoder *e, size_t i)
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
static char *type_name(struct encoder *e, size_t i)
{
	char *type, *name;
	size_t size;

	if (!e->saved->server)
		return event_name(e, i);
	type = hlg_pprof_server_type(e->saved->events.at[i].name);
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

/* samples and EVENT; where there are several events, samples:EVENT and EVENT. */
static bool add_types(struct encoder *e)
{
	char colon = e->saved->server ? '_' : ':';
	Pprof__Profile *p = &e->profile;

	p->n_sample_type = 2 * e->saved->events.n;
	p->sample_type = messages(e, p->n_sample_type, &pprof__value_type__descriptor);
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
		refer(e, &p->sample_type[2 * i]->type, samples);
		refer(e, &p->sample_type[2 * i]->unit, "count");
		refer(e, &p->sample_type[2 * i + 1]->type, name);
		refer(e, &p->sample_type[2 * i + 1]->unit,
		      unit_of(e->saved->events.at[i].name));
		if (i)
			continue;
		refer(e, &p->default_sample_type, name);
		refer(e, &p->period_type->type, name);
		refer(e, &p->period_type->unit, unit_of(e->saved->events.at[i].name));
	}
	return true;
}

/* When, for how long, and how much of the first event a sample stands for. */
static bool add_period(struct encoder *e)
{
	const struct hlg_saved *s = e->saved;
	Pprof__Profile *p = &e->profile;
	Pprof__ValueType **type = messages(e, 1, &pprof__value_type__descriptor);
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

static bool add_mappings(struct encoder *e)
{
	Pprof__Profile *p = &e->profile;

	p->n_mapping = e->saved->images.n;
	p->mapping = messages(e, p->n_mapping, &pprof__mapping__descriptor);
	if (!p->mapping)
		return false;
	for (size_t i = 0; i < e->saved->images.n; i++) {
		const struct hlg_saved_image *image = &e->saved->images.at[i];
		Pprof__Mapping *mapping = p->mapping[i];

		mapping->id = i + 1;
		mapping->memory_start = image->start;
		mapping->memory_limit = image->limit;
		refer(e, &mapping->filename, image->path);
		refer(e, &mapping->build_id, image->build_id);
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
	for (size_t i = 0; i < e->saved->functions.n; i++) {
		const struct hlg_saved_function *f = &e->saved->functions.at[i];

		p->function[i]->id = i + 1;
		refer(e, &p->function[i]->name, f->name);
		refer(e, &p->function[i]->system_name, f->symbol);
	}
	return true;
}

static int compare_locations(const void *a, const void *b)
{
	return hlg_saved_compare_frames(a, b);
}

/* Cells lie by location, labels and stack: only the event changes within a sample. */
static bool find_locations(struct encoder *e)
{
	const struct hlg_saved *s = e->saved;
	size_t n = s->cells.n, kept = 0;

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
	qsort(e->locations, n, sizeof(*e->locations), compare_locations);
	for (size_t i = 0; i < n; i++)
		if (i == 0 ||
		    compare_locations(&e->locations[kept - 1], &e->locations[i]) != 0)
			e->locations[kept++] = e->locations[i];
	e->n_locations = kept;
	return true;
}

static uint64_t location_id(const struct encoder *e, const struct hlg_saved_frame *frame)
{
	const struct hlg_saved_frame *found = bsearch(frame, e->locations, e->n_locations,
						      sizeof(*found), compare_locations);

	return (uint64_t)(found - e->locations) + 1;
}

/* The functions of a location, the innermost first: pprof takes the last for the one that
 * the others were inlined in. */
static bool add_lines(struct encoder *e, Pprof__Location *location,
		      const struct hlg_saved_frame *frame)
{
	const struct hlg_saved_inlines *inlines = hlg_saved_inlines_at(e->saved, frame);
	size_t n = inlines ? inlines->n : 0;

	location->line = messages(e, n + 1, &pprof__line__descriptor);
	if (!location->line)
		return false;
	location->n_line = n + 1;
	for (size_t i = 0; i < n; i++)
		location->line[i]->function_id = inlines->functions[i] + UINT64_C(1);
	location->line[n]->function_id = frame->function + UINT64_C(1);
	return true;
}

static bool add_locations(struct encoder *e)
{
	Pprof__Profile *p = &e->profile;

	p->n_location = e->n_locations;
	p->location = messages(e, p->n_location, &pprof__location__descriptor);
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

/* For a server: text, and what is not known is left out. */
static bool add_texts(struct encoder *e, Pprof__Sample *sample,
		      const struct hlg_saved_key *key)
{
	const struct hlg_pprof_server *to = e->saved->server;
	size_t most = HLG_SAVED_N_KEYS + to->n_labels;

	sample->label = messages(e, most, &pprof__label__descriptor);
	for (size_t i = 0; sample->label && i < most; i++) {
		Pprof__Label *label = sample->label[sample->n_label];
		size_t fixed = i - HLG_SAVED_N_KEYS;
		char *text;

		if (i < HLG_SAVED_N_KEYS &&
		    (!(e->saved->extra.by >> i & 1) || key->part[i] < 0))
			continue;
		text = hlg_saved_arena_alloc(&e->arena, 16, 1);
		if (!text)
			return false;
		sample->n_label++;
		if (i < HLG_SAVED_N_KEYS) {
			snprintf(text, 16, "%" PRId32, key->part[i]);
			refer(e, &label->key, hlg_saved_key_names[i]);
			refer(e, &label->str, text);
		} else {
			refer(e, &label->key, e->labels[fixed].key);
			refer(e, &label->str, e->labels[fixed].value);
		}
	}
	return sample->label;
}

static bool add_labels(struct encoder *e, Pprof__Sample *sample,
		       const struct hlg_saved_key *key)
{
	if (e->saved->server)
		return add_texts(e, sample, key);
	if (!e->saved->extra.by)
		return true;
	sample->label = messages(e, HLG_SAVED_N_KEYS, &pprof__label__descriptor);
	if (!sample->label)
		return false;
	for (size_t i = 0; i < HLG_SAVED_N_KEYS; i++) {
		Pprof__Label *label = sample->label[sample->n_label];

		if (!(e->saved->extra.by >> i & 1))
			continue;
		sample->n_label++;
		label->key = e->keys[i];
		label->num = key->part[i];
		label->num_unit = label->key; /* a 0 without a unit passes for nothing */
	}
	return true;
}

/* What was recorded of a stack. */
static Pprof__Stack *stack_message(struct encoder *e, const struct hlg_saved_stack *from)
{
	Pprof__Stack **message = messages(e, 1, &pprof__stack__descriptor), *to;

	if (!message)
		return NULL;
	to = message[0];
	to->n_caller = from->n_callers;
	to->caller = from->callers;
	to->end = from->end;
	to->way = from->way;
	to->n_host = from->n_host;
	to->host = hlg_saved_arena_alloc(&e->arena, from->n_host, sizeof(*to->host));
	for (size_t i = 0; to->host && i < from->n_host; i++)
		to->host[i] =
			(from->host[i].function + UINT64_C(1)) << 3 | from->host[i].kind;
	return to->host ? to : NULL;
}

/* The sample's own location, and what stands above it. */
static bool add_stack(struct encoder *e, Pprof__Sample *sample,
		      const struct hlg_saved_cell *cell)
{
	static const struct hlg_saved_stack none;
	const struct hlg_saved_stack *stack =
		cell->stack ? &e->saved->stacks.at[cell->stack - 1] : &none;

	sample->n_location_id = 1 + stack->n_frames;
	sample->location_id =
		hlg_saved_arena_alloc(&e->arena, sample->n_location_id, sizeof(uint64_t));
	if (!sample->location_id)
		return false;
	sample->location_id[0] = location_id(e, &cell->at);
	for (size_t i = 0; i < stack->n_frames; i++)
		sample->location_id[1 + i] = location_id(e, &stack->frames[i]);
	if (cell->stack && !e->saved->server)
		sample->stack = stack_message(e, stack);
	return !cell->stack || e->saved->server || sample->stack;
}

static Pprof__Extra__HostStack **host_stacks(struct encoder *e)
{
	size_t n = e->saved->host_stacks.n;
	Pprof__Extra__HostStack **list =
		messages(e, n, &pprof__extra__host_stack__descriptor);

	for (size_t i = 0; list && i < n; i++) {
		const struct hlg_saved_cell *from = &e->saved->host_stacks.at[i];
		Pprof__Extra__HostStack *to = list[i];

		to->event = from->key.event;
		to->pid = from->key.part[0];
		to->tid = from->key.part[1];
		to->cpu = from->key.part[2];
		to->sandbox = from->key.part[3];
		to->samples = from->count.samples;
		to->period = from->count.period;
		to->stack = stack_message(e, &e->saved->stacks.at[from->stack - 1]);
		if (!to->stack)
			return NULL;
	}
	return list;
}

/* All but the values, of which a sample has two of each event, nearly all 0: they are
 * filled in one after the other, where the samples are packed. */
static bool add_samples(struct encoder *e)
{
	const struct hlg_saved_cell *cells = e->saved->cells.at;
	Pprof__Sample *sample = NULL;
	size_t n = 0;

	e->sample = messages(e, e->n_samples, &pprof__sample__descriptor);
	e->samples =
		hlg_saved_arena_alloc(&e->arena, e->saved->cells.n, sizeof(*e->samples));
	e->values = hlg_saved_arena_alloc(&e->arena, 2 * e->saved->events.n + 1,
					  sizeof(*e->values));
	if (!e->sample || !e->samples || !e->values)
		return false;
	for (size_t i = 0; i < e->saved->cells.n; i++) {
		const struct hlg_saved_cell *cell = &cells[i];

		if (i == 0 || !hlg_saved_same_sample(&cells[i - 1], cell)) {
			sample = e->sample[n++];
			sample->n_value = 2 * e->saved->events.n;
			sample->value = e->values;
			if (!add_stack(e, sample, cell) ||
			    !add_labels(e, sample, &cell->key))
				return false;
		}
		e->samples[i] = (uint32_t)n - 1;
	}
	return true;
}

static int format_of(const struct hlg_saved *saved)
{
	if (saved->inlines.n)
		return HLG_SAVED_FORMAT;
	return saved->stacks.n ? HLG_SAVED_STACKS : HLG_SAVED_FLAT;
}

/* "check: WRONG ELF OR BASE: 22.56 % of ..."; NULL without memory. */
static const char *check_comment(struct encoder *e, const Pprof__Extra__Check *check)
{
	const char *word = hlg_verdict_said(
		hlg_verdict_of_checked((enum hlg_checked_word)check->word));
	size_t size = strlen(word) + strlen(check->said) + sizeof("check: : ");
	char *text = hlg_saved_arena_alloc(&e->arena, size, 1);

	if (text)
		snprintf(text, size, "check: %s%s%s", word, check->said[0] ? ": " : "",
			 check->said);
	return text;
}

/* For people who look at the profile with pprof: whether it fits. */
static bool add_checks(struct encoder *e)
{
	size_t n = e->saved->checks.n;

	for (size_t i = 0; i < n; i++) {
		const char *text = check_comment(e, &e->saved->checks.at[i]);

		if (!text)
			return false;
		refer(e, &e->comments[1 + i], text);
	}
	e->profile.n_comment = 1 + n;
	e->profile.comment = e->comments;
	return true;
}

/* And its sums, and what is missing in it. */
static void add_comment(struct encoder *e)
{
	const Pprof__Extra *t = &e->saved->extra;
	const struct {
		const char *name;
		uint64_t samples, period;
	} sums[] = {{"seen", t->seen_samples, t->seen_period},
		    {"deselected", t->deselected_samples, t->deselected_period},
		    {"host", t->host_samples, t->host_period},
		    {"guest", t->guest_samples, t->guest_period},
		    {"unnamed", t->unnamed_samples, t->unnamed_period}};
	FILE *f = fmemopen(e->sums, sizeof(e->sums), "w");

	e->failed |= !f;
	if (!f)
		return;
	if (e->saved->server)
		fprintf(f, HLG_SAVED_COMMENT HLG_SAVED_SERVER "%s",
			hlg_pprof_server_name(e->saved->server->reader));
	else
		fprintf(f, HLG_SAVED_COMMENT "format=%d", format_of(e->saved));
	for (size_t i = 0; i < sizeof(sums) / sizeof(sums[0]); i++)
		if (sums[i].samples)
			fprintf(f, " %s=%" PRIu64 ",%" PRIu64, sums[i].name,
				sums[i].samples, sums[i].period);
	if (t->unrecorded)
		fprintf(f, " unrecorded=%" PRIu64, t->unrecorded);
	if (t->lost)
		fprintf(f, " lost=%" PRIu64, t->lost);
	fclose(f);
	refer(e, &e->comments[0], e->sums);
}

/* What is told of the build that ran, of each image; NULL without memory. */
static Pprof__Extra__Image **images(struct encoder *e)
{
	const size_t n = e->saved->images.n;
	Pprof__Extra__Image **list = messages(e, n, &pprof__extra__image__descriptor);

	for (size_t i = 0; list && i < n; i++) {
		const struct hlg_saved_image *from = &e->saved->images.at[i];
		Pprof__Extra__Image *to = list[i];

		*to = from->extra;
		if (!from->identities)
			continue;
		to->ran = messages(e, HLG_N_IDENTITIES, &pprof__extra__ran__descriptor);
		if (!to->ran)
			return NULL;
		for (unsigned k = 0; k < HLG_N_IDENTITIES; k++)
			if (from->identities >> k & 1)
				to->ran[to->n_ran++]->identity = k;
		if (from->ran_file) {
			to->ran[to->n_ran - 1]->file = (char *)(uintptr_t)from->ran_file;
			to->ran[to->n_ran - 1]->build_id =
				(char *)(uintptr_t)from->ran_id;
		}
	}
	return list;
}

/* What pprof's format has no field for. */
static bool add_extra(struct encoder *e)
{
	const struct hlg_saved *s = e->saved;
	Pprof__Extra *extra = &e->extra;

	*extra = s->extra;
	extra->format = (uint32_t)format_of(s);
	extra->n_event = s->events.n;
	extra->event = pointers(e, s->events.at, s->events.n, sizeof(*s->events.at));
	extra->n_image = s->images.n;
	extra->image = images(e);
	extra->n_series = s->series.n;
	extra->series = pointers(e, s->series.at, s->series.n, sizeof(*s->series.at));
	extra->n_host_row = s->hosts.n;
	extra->host_row = pointers(e, s->hosts.at, s->hosts.n, sizeof(*s->hosts.at));
	extra->n_host_stack = s->host_stacks.n;
	extra->host_stack = host_stacks(e);
	extra->n_check = s->checks.n;
	extra->check = pointers(e, s->checks.at, s->checks.n, sizeof(*s->checks.at));
	extra->recordings = hlg_saved_origins_encode(s, &e->arena);
	e->profile.extra = extra;
	return extra->check && extra->recordings && extra->event && extra->image &&
	       extra->series && extra->host_row && extra->host_stack &&
	       hlg_saved_moments_encode(s, e->samples, &e->arena, extra);
}

static bool add_all(struct encoder *e)
{
	if (!find_locations(e))
		return false;
	refer(e, &e->empty, "");
	for (size_t i = 0; i < HLG_SAVED_N_KEYS; i++)
		if (!e->saved->server && e->saved->extra.by >> i & 1)
			refer(e, &e->keys[i], hlg_saved_key_names[i]);
	e->comments = hlg_saved_arena_alloc(&e->arena, 1 + e->saved->checks.n,
					    sizeof(*e->comments));
	if (!e->comments || !add_checks(e))
		return false;
	add_comment(e);
	if (!add_period(e) || !add_types(e) || !add_mappings(e) || !add_functions(e))
		return false;
	if (e->saved->server) {
		e->labels = hlg_pprof_server_labels(e->saved->server, &e->arena);
		return e->labels && add_samples(e) && !e->failed && add_strings(e) &&
		       add_locations(e);
	}
	/* Labels have the places of keys: samples come behind the strings. */
	return !e->failed && add_strings(e) && add_locations(e) && add_samples(e) &&
	       add_extra(e);
}

/* Of the cells of a sample, from cell i on; returns the next one's. */
static size_t set_values(struct encoder *e, size_t i, bool zero)
{
	uint32_t sample = e->samples[i];

	for (; i < e->saved->cells.n && e->samples[i] == sample; i++) {
		const struct hlg_saved_cell *cell = &e->saved->cells.at[i];
		int64_t *to = &e->values[2 * cell->key.event];

		to[0] = zero ? 0 : (int64_t)cell->count.samples;
		to[1] = zero ? 0 : (int64_t)cell->count.period;
	}
	return i;
}

/* The samples as a part of the message, to at unless it is NULL; returns their size. */
static size_t pack_samples(struct encoder *e, unsigned char *at)
{
	size_t size = 0;

	for (size_t i = 0; i < e->saved->cells.n;) {
		const Pprof__Sample *sample = e->sample[e->samples[i]];
		ProtobufCBinaryData bytes = {.data = e->packed};
		Pprof__Profile one = PPROF__PROFILE__INIT;

		one.n_sample = 1;
		one.sample = &bytes;
		set_values(e, i, false);
		bytes.len = at ? pprof__sample__pack(sample, e->packed)
			       : pprof__sample__get_packed_size(sample);
		e->largest = bytes.len > e->largest ? bytes.len : e->largest;
		size += at ? pprof__profile__pack(&one, at + size)
			   : pprof__profile__get_packed_size(&one);
		i = set_values(e, i, true);
	}
	return size;
}

/*
 * The message, to at unless it is NULL; returns its size. Its fields are packed in the
 * order of their numbers, whether together or not: types of values are the first, samples
 * the second.
 */
static size_t pack(struct encoder *e, unsigned char *at)
{
	Pprof__Profile types = PPROF__PROFILE__INIT, rest = e->profile;
	size_t size;

	types.n_sample_type = rest.n_sample_type;
	types.sample_type = rest.sample_type;
	rest.n_sample_type = 0;
	if (!at)
		return pprof__profile__get_packed_size(&types) + pack_samples(e, NULL) +
		       pprof__profile__get_packed_size(&rest);
	size = pprof__profile__pack(&types, at);
	size += pack_samples(e, at + size);
	return size + pprof__profile__pack(&rest, at + size);
}

int hlg_pprof_encode(const struct hlg_saved *saved, unsigned char **data, size_t *size,
		     struct hlg_err *err)
{
	struct encoder e = {.saved = saved, .profile = PPROF__PROFILE__INIT};
	int rc = 0;

	*data = NULL;
	if (!add_all(&e))
		rc = hlg_err_memory(err, "profile");
	*size = rc == 0 ? pack(&e, NULL) : 0;
	if (*size > HLG_SAVED_MAX_BYTES)
		rc = hlg_err_set(err, HLG_EINPUT,
				 "profile: is larger than %zu bytes (save it with less "
				 "in by=)",
				 HLG_SAVED_MAX_BYTES);
	if (rc == 0) {
		e.packed = malloc(e.largest + 1);
		*data = malloc(*size + 1);
	}
	if (*data && e.packed)
		pack(&e, *data);
	else if (rc == 0)
		rc = hlg_err_memory(err, "profile");
	if (rc < 0) {
		free(*data);
		*data = NULL;
	}
	free(e.packed);
	free(e.references);
	hlg_saved_arena_finish(&e.arena);
	return rc;
}
