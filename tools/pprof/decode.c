// SPDX-License-Identifier: GPL-2.0-only
/*
 * Somebody else may have written the file: what protobuf-c has made of it is checked
 * number by number.
 */
#include <stdlib.h>
#include <string.h>

#include "filter/profile/checked.h"
#include "filter/report/inlined.h"
#include "filter/stacks/chains.h"
#include "filter/stacks/tree.h"
#include "tools/pprof/saved.h"
#include "tools/pprof/unpack.h"

/* Bytes of names for one of the file: few things share a name, and none shares many. */
#define MAX_SHARING 16
#define FREE_NAMES  ((size_t)1 << 20)

#define MAX_PRECISE 3 /* perf_event_attr.precise_ip has two bits */

struct decoder {
	const Pprof__Profile *p;
	size_t names;       /* bytes of names that may still be used */
	const char **texts; /* of each string that is a name: escaped */
	struct hlg_saved *saved;
	uint32_t events, images, functions; /* that are in saved from before, */
	size_t cells, hosts, host_stacks;   /* and so these */
	uint32_t *first; /* of each sample, and of one more: the place of its cells */
	struct hlg_unpack sample; /* the one at hand */
	const char *path;
	struct hlg_err *err;
};

static int fail(struct decoder *d, const char *problem)
{
	return hlg_err_set(d->err, HLG_EINPUT, "%s: is damaged: %s (save it again)",
			   d->path, problem);
}

static int fail_memory(struct decoder *d)
{
	return hlg_err_memory(d->err, d->path);
}

static int fail_unpack(struct decoder *d, const struct hlg_unpack *why)
{
	if (why->spent)
		return fail(d, "it would take more than 2 GiB of memory");
	return why->failed ? fail_memory(d) : fail(d, "it is not in pprof's format");
}

/* A string of the table, or NULL. */
static const char *text(const struct decoder *d, int64_t i)
{
	return i >= 0 && (uint64_t)i < d->p->n_string_table ? d->p->string_table[i]
							    : NULL;
}

/*
 * *to becomes a string of the table. Who sums profiles has a name for each who has it:
 * the budget keeps that in proportion to the file.
 */
static int read_name(struct decoder *d, int64_t i, const char **to, const char *problem)
{
	const char *name = text(d, i);
	size_t len = name ? strlen(name) : 0;

	if (!name)
		return fail(d, problem);
	if (len >= d->names)
		return fail(d, "its names are too long in all");
	d->names -= len;
	if (!d->texts[i])
		d->texts[i] = hlg_saved_text(d->saved, name);
	*to = d->texts[i];
	return *to ? 0 : fail_memory(d);
}

/* Keeps in `to` what a later hlguest has put into a message. */
static bool keep_unknown(struct decoder *d, ProtobufCMessage *to,
			 const ProtobufCMessage *from)
{
	for (unsigned i = 0; i < from->n_unknown_fields; i++) {
		ProtobufCMessageUnknownField field = from->unknown_fields[i];
		const uint8_t *bytes = field.data;

		field.data = hlg_saved_arena_alloc(&d->saved->arena, field.len, 1);
		if (!field.data || !hlg_saved_add_unknown(d->saved, to, &field))
			return false;
		if (field.len)
			memcpy(field.data, bytes, field.len);
	}
	return true;
}

/* Makes a row's unknown fields its own: until then they are those of the message read. */
static bool own_unknown(struct decoder *d, ProtobufCMessage *row)
{
	ProtobufCMessage read = *row;

	row->n_unknown_fields = 0;
	row->unknown_fields = NULL;
	return keep_unknown(d, row, &read);
}

/* Which builds recordings told of. Numbers that are not known say nothing. */
static int read_ran(struct decoder *d, const Pprof__Extra__Image *from,
		    struct hlg_saved_image *to)
{
	for (size_t i = 0; i < from->n_ran; i++) {
		const Pprof__Extra__Ran *ran = from->ran[i];
		const char *file = "", *id = "";

		if (ran->identity == HLG_IDENTITY_UNKNOWN ||
		    ran->identity >= HLG_N_IDENTITIES)
			continue;
		if (ran->identity == HLG_IDENTITY_OTHER) {
			file = hlg_saved_text(d->saved, ran->file);
			id = hlg_saved_text(d->saved, ran->build_id);
		}
		if (!file || !id)
			return fail_memory(d);
		hlg_saved_add_ran(to, (enum hlg_identity)ran->identity, file, id);
	}
	return 0;
}

/* A mapping and the image of Extra that belongs to it. */
static int read_image(struct decoder *d, size_t i)
{
	static const char wrong[] = "a mapping has a wrong name";
	const Pprof__Mapping *mapping = d->p->mapping[i];
	struct hlg_saved_image *image = HLG_SAVED_MORE(d->saved->images);
	int rc;

	if (!image)
		return fail_memory(d);
	*image = (struct hlg_saved_image){.extra = *d->p->extra->image[i],
					  .start = mapping->memory_start,
					  .limit = mapping->memory_limit};
	if (mapping->id != i + 1)
		return fail(d, "a mapping has a wrong id");
	rc = read_name(d, mapping->filename, &image->path, wrong);
	if (rc == 0)
		rc = read_name(d, mapping->build_id, &image->build_id, wrong);
	if (rc == 0)
		rc = read_ran(d, d->p->extra->image[i], image);
	image->extra.n_ran = 0;
	image->extra.ran = NULL;
	if (rc == 0 && !own_unknown(d, &image->extra.base))
		rc = fail_memory(d);
	return rc;
}

static int read_images(struct decoder *d)
{
	int rc = 0;

	if (d->p->extra->n_image != d->p->n_mapping)
		return fail(d, "a mapping has no image");
	for (size_t i = 0; rc == 0 && i < d->p->n_mapping; i++)
		rc = read_image(d, i);
	return rc;
}

static int read_functions(struct decoder *d)
{
	static const char wrong[] = "a function has a wrong name";
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < d->p->n_function; i++) {
		const Pprof__Function *function = d->p->function[i];
		struct hlg_saved_function *f = HLG_SAVED_MORE(d->saved->functions);

		if (!f)
			return fail_memory(d);
		if (function->id != i + 1)
			return fail(d, "a function has a wrong id");
		rc = read_name(d, function->name, &f->name, wrong);
		if (rc == 0)
			rc = read_name(d, function->system_name, &f->symbol, wrong);
	}
	return rc;
}

/* Its functions, of which all but the last were inlined. */
static bool check_lines(const struct decoder *d, const Pprof__Location *location)
{
	size_t most = d->p->extra->format > HLG_SAVED_STACKS && location->mapping_id
			      ? HLG_INLINED_MAX + 1
			      : 1;

	for (size_t i = 0; i < location->n_line; i++)
		if (location->line[i]->function_id == 0 ||
		    location->line[i]->function_id > d->p->n_function)
			return false;
	return location->n_line && location->n_line <= most;
}

static int read_locations(struct decoder *d)
{
	for (size_t i = 0; i < d->p->n_location; i++) {
		const Pprof__Location *location = d->p->location[i];
		uint32_t n, *inlines;

		if (location->id != i + 1 || location->mapping_id > d->p->n_mapping)
			return fail(d, "a location has a wrong id");
		if (!check_lines(d, location))
			return fail(d, "a location has a wrong function");
		n = (uint32_t)location->n_line - 1;
		if (n == 0)
			continue;
		inlines = hlg_saved_add_inlines(
			d->saved, d->images + (uint32_t)location->mapping_id,
			location->address, n);
		if (!inlines)
			return fail_memory(d);
		for (uint32_t k = 0; k < n; k++)
			inlines[k] = d->functions +
				     (uint32_t)location->line[k]->function_id - 1;
	}
	return 0;
}

/* A profile without a message of ours: whose is it? */
static int fail_foreign(struct decoder *d)
{
	const size_t len = strlen(HLG_SAVED_COMMENT);

	for (size_t i = 0; i < d->p->n_comment; i++) {
		const char *line = text(d, d->p->comment[i]);

		if (!line || strncmp(line, HLG_SAVED_COMMENT, len) != 0)
			continue;
		if (strncmp(line + len, "version=", 8) == 0)
			return hlg_err_set(d->err, HLG_EINPUT,
					   "%s: is a profile of version 2, which is not "
					   "read any more (record again, or use hlguest "
					   "0.1)",
					   d->path);
		if (strncmp(line + len, HLG_SAVED_SERVER, strlen(HLG_SAVED_SERVER)) == 0)
			return hlg_err_set(d->err, HLG_EINPUT,
					   "%s: was saved for a server, without what "
					   "only hlguest reads (save it without --for)",
					   d->path);
		return fail(d, "another program wrote it, without what only hlguest "
			       "knows");
	}
	return hlg_err_set(d->err, HLG_EINPUT,
			   "%s: it is not a profile that hlguest saved (hlguest report "
			   "--format=pprof saves one)",
			   d->path);
}

static int check_format(struct decoder *d)
{
	const Pprof__Extra *extra = d->p->extra;

	if (!extra)
		return fail_foreign(d);
	if (extra->format > HLG_SAVED_FORMAT)
		return hlg_err_set(d->err, HLG_EINPUT,
				   "%s: made by a newer hlguest (use that one, or save "
				   "again)",
				   d->path);
	if (extra->format < HLG_SAVED_FLAT)
		return fail(d, "it states no format");
	return extra->by >> HLG_SAVED_N_KEYS ? fail(d, "it is split by something unknown")
					     : 0;
}

static int read_events(struct decoder *d)
{
	const Pprof__Extra *extra = d->p->extra;

	for (size_t i = 0; i < extra->n_event; i++) {
		Pprof__Extra__Event *event = HLG_SAVED_MORE(d->saved->events);

		if (!event)
			return fail_memory(d);
		*event = *extra->event[i];
		if (event->precise_ip > MAX_PRECISE || event->kind > HLG_EVENT_BREAKPOINT)
			return fail(d, "an event has a wrong number");
		event->name = hlg_saved_text(d->saved, event->name);
		if (!event->name || !own_unknown(d, &event->base))
			return fail_memory(d);
	}
	return 0;
}

/* Is it of an event of the file, and are there those numbers that by has? */
static bool is_key(const struct decoder *d, const struct hlg_saved_key *key)
{
	for (size_t i = 0; i < HLG_SAVED_N_KEYS; i++)
		if (d->p->extra->by >> i & 1 ? key->part[i] < -1 : key->part[i] != 0)
			return false;
	return key->event < d->p->extra->n_event;
}

static int read_series(struct decoder *d)
{
	const Pprof__Extra *extra = d->p->extra;

	for (size_t i = 0; i < extra->n_series; i++) {
		struct hlg_saved_key key = hlg_saved_series_key(extra->series[i]);
		Pprof__Extra__Series *series = HLG_SAVED_MORE(d->saved->series);

		if (!series)
			return fail_memory(d);
		*series = *extra->series[i];
		series->event += d->events;
		if (!is_key(d, &key))
			return fail(d, "a series has wrong labels");
		if (!own_unknown(d, &series->base))
			return fail_memory(d);
	}
	return 0;
}

static int read_hosts(struct decoder *d)
{
	const Pprof__Extra *extra = d->p->extra;

	for (size_t i = 0; i < extra->n_host_row; i++) {
		struct hlg_saved_key key = hlg_saved_host_key(extra->host_row[i]);
		Pprof__Extra__HostRow *row = HLG_SAVED_MORE(d->saved->hosts);

		if (!row)
			return fail_memory(d);
		*row = *extra->host_row[i];
		row->event += d->events;
		if (!is_key(d, &key))
			return fail(d, "a host row has wrong labels");
		row->dso = hlg_saved_text(d->saved, row->dso);
		row->process = hlg_saved_text(d->saved, row->process);
		if (!row->dso || !row->process || !own_unknown(d, &row->base))
			return fail_memory(d);
	}
	return 0;
}

static bool read_labels(const struct decoder *d, const Pprof__Sample *sample,
			struct hlg_saved_key *key)
{
	unsigned told = 0;

	*key = (struct hlg_saved_key){0};
	for (size_t i = 0; i < sample->n_label; i++) {
		const Pprof__Label *label = sample->label[i];
		const char *name = text(d, label->key);
		size_t k = 0;

		while (name && k < HLG_SAVED_N_KEYS &&
		       strcmp(name, hlg_saved_key_names[k]) != 0)
			k++;
		if (!name || k == HLG_SAVED_N_KEYS || told >> k & 1 || label->num < -1 ||
		    label->num > INT32_MAX)
			return false;
		told |= 1u << k;
		key->part[k] = (int32_t)label->num;
	}
	return told == d->p->extra->by;
}

/* The location of an id, its image and function as saved has them; false for a wrong one.
 */
static bool read_frame(const struct decoder *d, uint64_t id, struct hlg_saved_frame *to)
{
	const Pprof__Location *location;

	if (id == 0 || id > d->p->n_location)
		return false;
	location = d->p->location[id - 1];
	*to = (struct hlg_saved_frame){
		.ip = location->address,
		.function = d->functions +
			    (uint32_t)location->line[location->n_line - 1]->function_id -
			    1};
	if (location->mapping_id)
		to->image = d->images + (uint32_t)location->mapping_id;
	return true;
}

/* The host's half; false for a wrong one. */
static bool read_host(const struct decoder *d, const Pprof__Stack *from,
		      struct hlg_saved_stack *to)
{
	for (size_t i = 0; i < from->n_host; i++) {
		uint64_t id = from->host[i] >> 3;

		if (id == 0 || id > d->p->n_function ||
		    (from->host[i] & 7) > HLG_FRAME_NOTE)
			return false;
		to->host[i] = (struct hlg_saved_host){d->functions + (uint32_t)id - 1,
						      from->host[i] & 7};
	}
	return true;
}

/* A stack, of which n locations are the frames; *number is its place + 1. */
static int read_stack(struct decoder *d, const Pprof__Stack *from, const uint64_t *ids,
		      size_t n, uint32_t *number)
{
	struct hlg_saved_arena *arena = &d->saved->arena;
	struct hlg_saved_stack *to = HLG_SAVED_MORE(d->saved->stacks);
	bool ok = from->end < HLG_CHAIN_ENDS && from->way < HLG_CHAIN_WAYS &&
		  from->n_caller <= HLG_CHAIN_MAX;

	if (!to)
		return fail_memory(d);
	*to = (struct hlg_saved_stack){
		.end = from->end,
		.way = from->way,
		.n_callers = from->n_caller,
		.n_frames = n,
		.n_host = from->n_host,
		.callers = hlg_saved_arena_alloc(arena, from->n_caller, sizeof(uint64_t)),
		.frames = hlg_saved_arena_alloc(arena, n, sizeof(*to->frames)),
		.host = hlg_saved_arena_alloc(arena, from->n_host, sizeof(*to->host))};
	*number = (uint32_t)d->saved->stacks.n;
	if (!to->callers || !to->frames || !to->host)
		return fail_memory(d);
	if (from->n_caller)
		memcpy(to->callers, from->caller, from->n_caller * sizeof(uint64_t));
	for (size_t i = 0; ok && i < to->n_frames; i++)
		ok = read_frame(d, ids[i], &to->frames[i]);
	ok = ok && read_host(d, from, to);
	return ok ? 0 : fail(d, "a sample has a wrong stack");
}

/* One for each event that has counts in the sample; else they are as found. */
static int read_cells(struct decoder *d, const Pprof__Sample *sample,
		      struct hlg_saved_cell found)
{
	for (uint32_t i = 0; i < d->p->extra->n_event; i++) {
		struct hlg_count count = {(uint64_t)sample->value[2 * i],
					  (uint64_t)sample->value[2 * i + 1]};
		struct hlg_saved_cell *cell;

		if (count.samples == 0 && count.period == 0)
			continue;
		if (count.samples == 0 || count.samples > HLG_SAVED_MAX_SAMPLES)
			return fail(d, "a sample has an impossible count");
		cell = HLG_SAVED_MORE(d->saved->cells);
		if (!cell)
			return fail_memory(d);
		found.key.event = d->events + i;
		found.count = count;
		*cell = found;
	}
	return 0;
}

static int read_sample(struct decoder *d, const ProtobufCBinaryData *bytes)
{
	struct hlg_saved_cell found = {0};
	const Pprof__Sample *sample = (const Pprof__Sample *)hlg_unpack_message(
		&d->sample, &pprof__sample__descriptor, bytes->data, bytes->len);
	int rc = 0;

	if (!sample)
		return fail_unpack(d, &d->sample);
	if ((sample->n_location_id != 1 && !sample->stack) ||
	    sample->n_location_id == 0 ||
	    !read_frame(d, sample->location_id[0], &found.at))
		return fail(d, "a sample has a wrong location");
	if (sample->n_value != 2 * d->p->extra->n_event)
		return fail(d, "a sample lacks values");
	if (!read_labels(d, sample, &found.key))
		return fail(d, "a sample has wrong labels");
	if (sample->stack)
		rc = read_stack(d, sample->stack, sample->location_id + 1,
				sample->n_location_id - 1, &found.stack);
	return rc < 0 ? rc : read_cells(d, sample, found);
}

static int read_samples(struct decoder *d)
{
	int rc = 0;

	if (d->p->n_sample_type != 2 * d->p->extra->n_event)
		return fail(d, "an event lacks one of its two value types");
	d->first = calloc(d->p->n_sample + 1, sizeof(*d->first));
	if (!d->first)
		return fail_memory(d);
	for (size_t i = 0; rc == 0 && i < d->p->n_sample; i++) {
		d->first[i] = (uint32_t)d->saved->cells.n;
		rc = read_sample(d, &d->p->sample[i]);
	}
	d->first[d->p->n_sample] = (uint32_t)d->saved->cells.n;
	return rc;
}

static int read_moments(struct decoder *d)
{
	if (hlg_saved_moments_decode(d->saved, d->p->extra, d->first, d->p->n_sample,
				     d->events))
		return d->saved->moments.lost ? fail_memory(d) : 0;
	return fail(d, "the time of a sample is wrong");
}

static int read_host_stack(struct decoder *d, const Pprof__Extra__HostStack *from)
{
	struct hlg_saved_cell *to = HLG_SAVED_MORE(d->saved->host_stacks);

	if (!to)
		return fail_memory(d);
	*to = (struct hlg_saved_cell){
		.key = {from->event, {from->pid, from->tid, from->cpu, from->sandbox}},
		.count = {from->samples, from->period}};
	if (!is_key(d, &to->key) || !from->stack || from->samples == 0)
		return fail(d, "a stack of the host has wrong labels");
	to->key.event += d->events;
	return read_stack(d, from->stack, NULL, 0, &to->stack);
}

static int read_host_stacks(struct decoder *d)
{
	const Pprof__Extra *extra = d->p->extra;
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < extra->n_host_stack; i++)
		rc = read_host_stack(d, extra->host_stack[i]);
	return rc;
}

/* Adds to a sum that must stay possible. */
static bool add(struct hlg_count *sum, uint64_t samples, uint64_t period)
{
	hlg_count_add(sum, (struct hlg_count){samples, period});
	return samples <= HLG_SAVED_MAX_SAMPLES && sum->samples <= HLG_SAVED_MAX_SAMPLES;
}

static int check_times(struct decoder *d)
{
	if (d->p->time_nanos >= 0 && d->p->duration_nanos >= 0)
		return 0;
	return fail(d, "it began or took less than nothing");
}

/* What the totals say against what is there. */
static int check_sums(struct decoder *d)
{
	const struct hlg_saved *s = d->saved;
	const Pprof__Extra *t = d->p->extra;
	struct hlg_count guest = {0, 0}, host = {0, 0}, seen = {0, 0}, stacks = {0, 0};
	bool ok = add(&host, t->unnamed_samples, t->unnamed_period) &&
		  add(&seen, t->deselected_samples, t->deselected_period) &&
		  add(&seen, t->host_samples, t->host_period) &&
		  add(&seen, t->guest_samples, t->guest_period);

	for (size_t i = d->cells; ok && i < s->cells.n; i++)
		ok = add(&guest, s->cells.at[i].count.samples,
			 s->cells.at[i].count.period);
	for (size_t i = d->hosts; ok && i < s->hosts.n; i++)
		ok = add(&host, s->hosts.at[i].samples, s->hosts.at[i].period);
	for (size_t i = d->host_stacks; ok && i < s->host_stacks.n; i++)
		ok = add(&stacks, s->host_stacks.at[i].count.samples,
			 s->host_stacks.at[i].count.period);
	if (ok && stacks.samples <= host.samples && guest.samples == t->guest_samples &&
	    guest.period == t->guest_period && host.samples == t->host_samples &&
	    host.period == t->host_period && seen.samples == t->seen_samples &&
	    seen.period == t->seen_period && t->untold <= t->deselected_samples)
		return 0;
	return fail(d, "its totals and its samples do not agree");
}

static bool add_check(struct decoder *d, const Pprof__Extra__Check *from)
{
	Pprof__Extra__Check *to = HLG_SAVED_MORE(d->saved->checks);

	if (!to)
		return false;
	*to = *from;
	to->said = hlg_saved_text(d->saved, from->said);
	return to->said && own_unknown(d, &to->base);
}

/* One that says nothing was not checked, as far as is known. */
static int read_checks(struct decoder *d)
{
	const Pprof__Extra *extra = d->p->extra;
	Pprof__Extra__Check untested = PPROF__EXTRA__CHECK__INIT;

	untested.word = HLG_CHECKED_UNTESTED;
	if (extra->n_check == 0 && extra->guest_samples && !add_check(d, &untested))
		return fail_memory(d);
	for (size_t i = 0; i < extra->n_check; i++) {
		if (extra->check[i]->word == HLG_CHECKED_NOTHING ||
		    extra->check[i]->word > HLG_CHECKED_MISMATCH)
			return fail(d, "its check has an unknown outcome");
		if (!add_check(d, extra->check[i]))
			return fail_memory(d);
	}
	return 0;
}

static int read_origins(struct decoder *d)
{
	const char *wrong = hlg_saved_origins_decode(d->saved, d->p->extra);

	if (wrong)
		return fail(d, wrong);
	return d->saved->origins.lost ? fail_memory(d) : 0;
}

/* What all of it says. */
static int add_totals(struct decoder *d)
{
	const Pprof__Extra *from = d->p->extra;

	d->saved->extra.by = from->by;
	if (!hlg_saved_add_totals(d->saved, from, (uint64_t)d->p->time_nanos,
				  (uint64_t)d->p->duration_nanos))
		return hlg_pprof_fail_samples(d->path, d->err);
	return keep_unknown(d, &d->saved->extra.base, &from->base) ? 0 : fail_memory(d);
}

static int check_strings(struct decoder *d)
{
	d->texts = calloc(d->p->n_string_table + 1, sizeof(*d->texts));
	if (!d->texts)
		return fail_memory(d);
	if (d->p->n_string_table && d->p->string_table[0][0] == '\0')
		return 0;
	return fail(d, "its first string is not empty");
}

static int decode(struct decoder *d)
{
	static int (*const steps[])(struct decoder *) = {
		check_format,   check_strings, check_times,      read_images,
		read_functions, read_events,   read_series,      read_hosts,
		read_locations, read_samples,  read_host_stacks, check_sums,
		read_moments,   read_checks,   read_origins,     add_totals};
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < sizeof(steps) / sizeof(steps[0]); i++)
		rc = steps[i](d);
	return rc;
}

int hlg_pprof_decode(struct hlg_saved *saved, const unsigned char *data, size_t size,
		     const char *path, struct hlg_err *err)
{
	struct hlg_unpack all = HLG_UNPACK_INIT;
	struct decoder d = {.names = MAX_SHARING * size + FREE_NAMES,
			    .saved = saved,
			    .events = (uint32_t)saved->events.n,
			    .images = (uint32_t)saved->images.n,
			    .functions = (uint32_t)saved->functions.n,
			    .cells = saved->cells.n,
			    .hosts = saved->hosts.n,
			    .host_stacks = saved->host_stacks.n,
			    .sample = HLG_UNPACK_INIT,
			    .path = path,
			    .err = err};
	int rc;

	d.p = (const Pprof__Profile *)hlg_unpack_message(
		&all, &pprof__profile__descriptor, data, size);
	rc = d.p ? decode(&d) : fail_unpack(&d, &all);
	free(d.first);
	free(d.texts);
	hlg_unpack_finish(&all);
	hlg_unpack_finish(&d.sample);
	return rc;
}
