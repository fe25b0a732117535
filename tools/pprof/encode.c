// SPDX-License-Identifier: GPL-2.0-only
/*
 * Two passes over the same code: the first collects the strings, the second, when they
 * are sorted, builds the messages, in which a string is its place in the table.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "pprof.pb-c.h"
#include "tools/pprof/comment.h"
#include "tools/pprof/saved.h"

/* A message's array of pointers, and the things they point to, all in the arena. */
#define MESSAGES(e, to, count, type, init)                                               \
	do {                                                                             \
		type *all = hlg_saved_arena_alloc(&(e)->arena, (count), sizeof(type));   \
		(to) = hlg_saved_arena_alloc(&(e)->arena, (count), sizeof(type *));      \
		if (!all || !(to))                                                       \
			return false;                                                    \
		for (size_t message = 0; message < (count); message++) {                 \
			type first = init;                                               \
			all[message] = first;                                            \
			(to)[message] = &all[message];                                   \
		}                                                                        \
	} while (0)

struct encoder {
	const struct hlg_saved *saved;
	struct hlg_saved_arena arena;
	const char **strings; /* sorted, "" first, once they are all there */
	size_t n_strings, room;
	bool sorted, failed;
	Pprof__Profile profile;
	size_t n_locations, n_samples;
	int64_t keys[3]; /* places of key_names */
};

static const char *const key_names[] = {"pid", "tid", "cpu"};
static const unsigned key_bits[] = {HLG_BY_PID, HLG_BY_TID, HLG_BY_CPU};

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
	MESSAGES(e, p->sample_type, p->n_sample_type, Pprof__ValueType,
		 PPROF__VALUE_TYPE__INIT);
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
	MESSAGES(e, p->mapping, p->n_mapping, Pprof__Mapping, PPROF__MAPPING__INIT);
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
	MESSAGES(e, p->function, p->n_function, Pprof__Function, PPROF__FUNCTION__INIT);
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
	MESSAGES(e, p->location, p->n_location, Pprof__Location, PPROF__LOCATION__INIT);
	MESSAGES(e, lines, p->n_location, Pprof__Line, PPROF__LINE__INIT);
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
	MESSAGES(e, sample->label, 3, Pprof__Label, PPROF__LABEL__INIT);
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
	MESSAGES(e, p->sample, p->n_sample, Pprof__Sample, PPROF__SAMPLE__INIT);
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

/* Cuts the lines of text apart: the first is the comment, the others are rows. */
static bool add_comments(struct encoder *e, char *text)
{
	Pprof__Profile *p = &e->profile;
	size_t n = 0;

	for (const char *s = text; (s = strchr(s, '\n')); s++)
		n++;
	p->comment = hlg_saved_arena_alloc(&e->arena, n, sizeof(*p->comment));
	if (!p->comment)
		return false;
	p->n_comment = 1;
	p->row = p->comment + 1;
	p->n_row = n - 1;
	for (size_t i = 0; i < n; i++) {
		char *line = text, *end = text + strcspn(text, "\n");

		*end = '\0';
		text = end + 1;
		p->comment[i] = place(e, line);
	}
	return true;
}

/* The comment and the rows, each line of them in the arena. */
static char *make_comments(struct encoder *e)
{
	char *text = NULL, *copy = NULL;
	size_t size = 0;
	FILE *f = open_memstream(&text, &size);

	if (!f)
		return NULL;
	hlg_comment_write(f, e->saved);
	if (fclose(f) == 0 && text)
		copy = hlg_saved_arena_text(&e->arena, text, size);
	free(text);
	return copy;
}

static bool pass(struct encoder *e, const char *comments)
{
	char *copy = hlg_saved_arena_text(&e->arena, comments, strlen(comments));

	place(e, "");
	for (size_t i = 0; i < 3; i++)
		if (e->saved->by & key_bits[i])
			e->keys[i] = place(e, key_names[i]);
	return copy && add_types(e) && add_mappings(e) && add_functions(e) &&
	       add_locations(e) && add_samples(e) && add_comments(e, copy) && !e->failed;
}

int hlg_saved_encode(const struct hlg_saved *saved, unsigned char **data, size_t *size,
		     struct hlg_err *err)
{
	struct encoder e = {.saved = saved, .profile = PPROF__PROFILE__INIT};
	const char *comments = make_comments(&e);
	bool ok = comments != NULL;

	count_samples(&e);
	if (ok)
		ok = pass(&e, comments);
	if (ok) {
		sort_strings(&e);
		ok = pass(&e, comments);
	}
	*size = ok ? pprof__profile__get_packed_size(&e.profile) : 0;
	*data = ok ? malloc(*size + 1) : NULL;
	if (*data)
		pprof__profile__pack(&e.profile, *data);
	free(e.strings);
	hlg_saved_arena_finish(&e.arena);
	return *data ? 0 : hlg_err_memory(err, "profile");
}
