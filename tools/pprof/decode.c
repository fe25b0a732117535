// SPDX-License-Identifier: GPL-2.0-only
/*
 * Somebody else may have written the file: what protobuf-c has made of it is checked
 * number by number, and its memory is limited, for two bytes can ask for a hundred.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "pprof.pb-c.h"
#include "tools/pprof/saved.h"

#define MAX_MEMORY                                                                       \
	((size_t)2 << 30) /* of the messages, over ten times HLG_SAVED_MAX_BYTES */

/* Bytes of names for one of the file: few things share a name, and none shares many. */
#define MAX_SHARING 16
#define FREE_NAMES  ((size_t)1 << 20)

#define MAX_PRECISE 3 /* perf_event_attr.precise_ip has two bits */

static const char *const key_names[] = {"pid", "tid", "cpu"};
static const unsigned key_bits[] = {HLG_BY_PID, HLG_BY_TID, HLG_BY_CPU};

struct decoder {
	const Pprof__Profile *p;
	size_t names; /* bytes of names that may still be copied */
	struct hlg_saved *saved;
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

/* A string of the table, or NULL. */
static const char *text(const struct decoder *d, int64_t i)
{
	return i >= 0 && (uint64_t)i < d->p->n_string_table ? d->p->string_table[i]
							    : NULL;
}

/*
 * The same as a copy in the arena; NULL without memory, too. Who gets a name has it for
 * himself, whoever else has it: the budget keeps that in proportion to the file.
 */
static const char *copy(struct decoder *d, int64_t i)
{
	const char *s = text(d, i);
	size_t len = s ? strlen(s) : 0;

	if (!s || len >= d->names) {
		d->names = s ? 0 : d->names;
		return NULL;
	}
	d->names -= len;
	return hlg_saved_text(d->saved, s);
}

/* Behind a copy that there is none of. */
static int fail_copy(struct decoder *d)
{
	return d->names ? fail_memory(d) : fail(d, "its entries share too long names");
}

static int read_mappings(struct decoder *d)
{
	for (size_t i = 0; i < d->p->n_mapping; i++) {
		const Pprof__Mapping *mapping = d->p->mapping[i];
		struct hlg_saved_image *image =
			hlg_saved_more(&d->saved->images, sizeof(*image));

		if (!image)
			return fail_memory(d);
		image->path = image->build_id = "";
		if (mapping->id != i + 1)
			return fail(d, "a mapping has a wrong id");
		if (!text(d, mapping->filename) || !text(d, mapping->build_id))
			return fail(d, "a mapping has a wrong name");
		image->path = copy(d, mapping->filename);
		image->build_id = copy(d, mapping->build_id);
		if (!image->path || !image->build_id)
			return fail_copy(d);
		image->start = mapping->memory_start;
		image->limit = mapping->memory_limit;
	}
	return 0;
}

static int read_functions(struct decoder *d)
{
	for (size_t i = 0; i < d->p->n_function; i++) {
		const Pprof__Function *function = d->p->function[i];
		struct hlg_saved_function *f =
			hlg_saved_more(&d->saved->functions, sizeof(*f));

		if (!f)
			return fail_memory(d);
		if (function->id != i + 1)
			return fail(d, "a function has a wrong id");
		if (!text(d, function->name) || !text(d, function->system_name))
			return fail(d, "a function has a wrong name");
		f->name = copy(d, function->name);
		f->symbol = copy(d, function->system_name);
		if (!f->name || !f->symbol)
			return fail_copy(d);
	}
	return 0;
}

static int check_locations(struct decoder *d)
{
	for (size_t i = 0; i < d->p->n_location; i++) {
		const Pprof__Location *location = d->p->location[i];

		if (location->id != i + 1 || location->mapping_id > d->p->n_mapping)
			return fail(d, "a location has a wrong id");
		if (location->n_line != 1 || location->line[0]->function_id == 0 ||
		    location->line[0]->function_id > d->p->n_function)
			return fail(d, "a location has a wrong function");
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
	return extra->format == HLG_SAVED_FORMAT ? 0 : fail(d, "its format is none");
}

/* Keeps what a later hlguest has put into a message. */
static bool keep_unknown(struct decoder *d, enum hlg_saved_message of, size_t item,
			 const ProtobufCMessage *message)
{
	for (unsigned i = 0; i < message->n_unknown_fields; i++) {
		const ProtobufCMessageUnknownField *from = &message->unknown_fields[i];
		struct hlg_saved_unknown *field =
			hlg_saved_more(&d->saved->unknown, sizeof(*field));

		if (!field)
			return false;
		field->of = of;
		field->item = (uint32_t)item;
		field->number = from->tag;
		field->wire_type = from->wire_type;
		field->size = from->len;
		field->bytes = (const unsigned char *)hlg_saved_arena_text(
			&d->saved->arena, (const char *)from->data, from->len);
		if (!field->bytes)
			return false;
	}
	return true;
}

static int read_events(struct decoder *d)
{
	const Pprof__Extra *extra = d->p->extra;

	for (size_t i = 0; i < extra->n_event; i++) {
		const Pprof__Extra__Event *from = extra->event[i];
		struct hlg_saved_event *event =
			hlg_saved_more(&d->saved->events, sizeof(*event));

		if (!event || !keep_unknown(d, HLG_SAVED_EVENT, i, &from->base))
			return fail_memory(d);
		if (from->precise_ip > MAX_PRECISE || from->kind > HLG_EVENT_BREAKPOINT)
			return fail(d, "an event has a wrong number");
		event->precise_ip = from->precise_ip;
		event->kind = from->kind;
		event->member = from->member != 0;
		event->name = hlg_saved_text(d->saved, from->name);
		if (!event->name)
			return fail_memory(d);
	}
	return 0;
}

/* The mappings are there already. */
static int read_images(struct decoder *d)
{
	const Pprof__Extra *extra = d->p->extra;

	if (extra->n_image != d->saved->images.n)
		return fail(d, "it has not an image for every mapping");
	for (size_t i = 0; i < extra->n_image; i++) {
		const Pprof__Extra__Image *from = extra->image[i];
		struct hlg_saved_image *image = HLG_SAVED(image, &d->saved->images, i);

		if (!keep_unknown(d, HLG_SAVED_IMAGE, i, &from->base))
			return fail_memory(d);
		image->map = from->map != 0;
		image->base = from->load_base;
		image->bias = from->bias;
	}
	return 0;
}

/* A number of a key; -1 where by has it not. */
static bool read_part(const struct decoder *d, unsigned bit, int32_t from, int32_t *to)
{
	bool told = d->saved->by & bit;

	*to = told ? from : -1;
	return told ? from >= -1 : from == 0;
}

static bool read_key(const struct decoder *d, struct hlg_saved_key *key, uint32_t event,
		     int32_t pid, int32_t tid, int32_t cpu)
{
	key->event = event;
	return event < d->saved->events.n && read_part(d, HLG_BY_PID, pid, &key->pid) &&
	       read_part(d, HLG_BY_TID, tid, &key->tid) &&
	       read_part(d, HLG_BY_CPU, cpu, &key->cpu);
}

static int read_series(struct decoder *d)
{
	const Pprof__Extra *extra = d->p->extra;

	for (size_t i = 0; i < extra->n_series; i++) {
		const Pprof__Extra__Series *from = extra->series[i];
		struct hlg_saved_series *series =
			hlg_saved_more(&d->saved->series, sizeof(*series));

		if (!series || !keep_unknown(d, HLG_SAVED_SERIES, i, &from->base))
			return fail_memory(d);
		if (!read_key(d, &series->key, from->event, from->pid, from->tid,
			      from->cpu))
			return fail(d, "a series has wrong labels");
		series->squares = (hlg_u128)from->squares_high << 64 | from->squares_low;
	}
	return 0;
}

static int read_hosts(struct decoder *d)
{
	const Pprof__Extra *extra = d->p->extra;

	for (size_t i = 0; i < extra->n_host_row; i++) {
		const Pprof__Extra__HostRow *from = extra->host_row[i];
		struct hlg_saved_host *row =
			hlg_saved_more(&d->saved->hosts, sizeof(*row));

		if (!row || !keep_unknown(d, HLG_SAVED_HOST, i, &from->base))
			return fail_memory(d);
		if (!read_key(d, &row->key, from->event, from->pid, from->tid, from->cpu))
			return fail(d, "a host row has wrong labels");
		row->count = (struct hlg_count){from->samples, from->period};
		row->dso = hlg_saved_text(d->saved, from->dso);
		row->comm = hlg_saved_text(d->saved, from->process);
		if (!row->dso || !row->comm)
			return fail_memory(d);
	}
	return 0;
}

/* What pprof's format has no field for. */
static int read_extra(struct decoder *d)
{
	const Pprof__Extra *extra = d->p->extra;
	struct hlg_saved_totals *totals = &d->saved->totals;
	int rc;

#define READ_TOTAL(name, field) totals->field = (uint64_t)extra->name;
	HLG_SAVED_TOTALS(READ_TOTAL)
#undef READ_TOTAL
	if (extra->by > 7)
		return fail(d, "it is split by what is not known");
	for (size_t i = 0; i < 3; i++)
		if (extra->by & 1u << i)
			d->saved->by |= key_bits[i];
	if (!keep_unknown(d, HLG_SAVED_WHOLE, 0, &extra->base))
		return fail_memory(d);
	rc = read_events(d);
	if (rc == 0)
		rc = read_images(d);
	if (rc == 0)
		rc = read_series(d);
	if (rc == 0)
		rc = read_hosts(d);
	return rc;
}

static bool read_labels(const struct decoder *d, const Pprof__Sample *sample,
			struct hlg_saved_key *key)
{
	int32_t *const to[] = {&key->pid, &key->tid, &key->cpu};
	unsigned told = 0;

	key->pid = key->tid = key->cpu = -1;
	for (size_t i = 0; i < sample->n_label; i++) {
		const Pprof__Label *label = sample->label[i];
		const char *name = text(d, label->key);
		size_t k = 0;

		while (name && k < 3 && strcmp(name, key_names[k]) != 0)
			k++;
		if (!name || k == 3 || told & key_bits[k] || label->num < -1 ||
		    label->num > INT32_MAX)
			return false;
		told |= key_bits[k];
		*to[k] = (int32_t)label->num;
	}
	return told == d->saved->by;
}

/* The cells of one sample: one for each event that has counts there. */
static int read_sample(struct decoder *d, const Pprof__Sample *sample)
{
	struct hlg_saved_key key;
	const Pprof__Location *location;

	if (sample->n_location_id != 1 || sample->location_id[0] == 0 ||
	    sample->location_id[0] > d->p->n_location)
		return fail(d, "a sample has a wrong location");
	if (sample->n_value != 2 * (size_t)d->saved->events.n)
		return fail(d, "a sample has not a value of every type");
	if (!read_labels(d, sample, &key))
		return fail(d, "a sample has wrong labels");
	location = d->p->location[sample->location_id[0] - 1];
	for (uint32_t i = 0; i < d->saved->events.n; i++) {
		struct hlg_count count = {(uint64_t)sample->value[2 * i],
					  (uint64_t)sample->value[2 * i + 1]};
		struct hlg_saved_cell *cell;

		if (count.samples == 0 && count.period == 0)
			continue;
		if (count.samples == 0 || count.samples > HLG_SAVED_MAX_SAMPLES)
			return fail(d, "a sample has an impossible count");
		cell = hlg_saved_more(&d->saved->cells, sizeof(*cell));
		if (!cell)
			return fail_memory(d);
		key.event = i;
		cell->ip = location->address;
		cell->image = (uint32_t)location->mapping_id;
		cell->function = (uint32_t)location->line[0]->function_id - 1;
		cell->key = key;
		cell->count = count;
	}
	return 0;
}

static int read_samples(struct decoder *d)
{
	int rc = 0;

	if (d->p->n_sample_type != 2 * (size_t)d->saved->events.n)
		return fail(d, "it has not two value types for every event");
	for (size_t i = 0; rc == 0 && i < d->p->n_sample; i++)
		rc = read_sample(d, d->p->sample[i]);
	return rc;
}

/* Adds to a sum that must stay possible. */
static bool add(struct hlg_count *sum, struct hlg_count count)
{
	hlg_count_add(sum, count);
	return count.samples <= HLG_SAVED_MAX_SAMPLES &&
	       sum->samples <= HLG_SAVED_MAX_SAMPLES;
}

static bool same(struct hlg_count a, struct hlg_count b)
{
	return a.samples == b.samples && a.period == b.period;
}

/* What the totals say against what is there. */
static int check_sums(struct decoder *d)
{
	struct hlg_saved *s = d->saved;
	const struct hlg_saved_totals *t = &s->totals;
	struct hlg_count guest = {0, 0}, host = {0, 0}, seen = {0, 0};
	bool ok = add(&host, t->unnamed) && add(&seen, t->deselected) &&
		  add(&seen, t->host) && add(&seen, t->guest);

	for (uint32_t i = 0; ok && i < s->cells.n; i++)
		ok = add(&guest, HLG_SAVED(cell, &s->cells, i)->count);
	for (uint32_t i = 0; ok && i < s->hosts.n; i++)
		ok = add(&host, HLG_SAVED(host, &s->hosts, i)->count);
	if (ok && same(guest, t->guest) && same(host, t->host) && same(seen, t->seen) &&
	    t->untold <= t->deselected.samples)
		return 0;
	return fail(d, "its totals and its samples do not agree");
}

static int decode(struct decoder *d)
{
	int rc = check_format(d);

	/* Indices below are 32 bits wide. */
	if (rc == 0 && (d->p->n_mapping > INT32_MAX || d->p->n_location > INT32_MAX ||
			d->p->n_function > INT32_MAX))
		rc = fail(d, "it has too many entries");
	if (rc == 0 && (d->p->n_string_table == 0 || d->p->string_table[0][0] != '\0'))
		rc = fail(d, "its first string is not empty");
	if (rc == 0)
		rc = read_mappings(d);
	if (rc == 0)
		rc = read_functions(d);
	if (rc == 0)
		rc = read_extra(d);
	if (rc == 0)
		rc = check_locations(d);
	if (rc == 0)
		rc = read_samples(d);
	if (rc == 0)
		rc = check_sums(d);
	if (rc == 0 && !hlg_pprof_resolve(d->saved))
		rc = fail_memory(d);
	return rc;
}

/* Of what protobuf-c has; all of them are in a list. */
struct block {
	struct block *next, **link;
	_Alignas(max_align_t) unsigned char bytes[];
};

struct budget {
	size_t used;
	bool spent, failed;
	struct block *blocks;
	jmp_buf none; /* there is no more */
};

/*
 * Memory for protobuf-c, that it cannot ask for without end. Where there is none it does
 * not return: protobuf-c 1.4 frees what it has not got for a repeated field.
 */
static void *limited_alloc(void *ctx, size_t size)
{
	struct budget *budget = ctx;
	size_t cost = size + 48; /* and what malloc takes for itself */
	struct block *block = NULL;

	budget->spent = size > MAX_MEMORY || cost > MAX_MEMORY - budget->used;
	if (!budget->spent)
		block = malloc(sizeof(*block) + size);
	budget->failed = !budget->spent && !block;
	if (!block)
		longjmp(budget->none, 1);
	budget->used += cost;
	*block = (struct block){.next = budget->blocks, .link = &budget->blocks};
	if (block->next)
		block->next->link = &block->next;
	budget->blocks = block;
	return block->bytes;
}

static void limited_free(void *ctx, void *p)
{
	struct block *block;

	(void)ctx;
	if (!p)
		return;
	block = (struct block *)((unsigned char *)p - offsetof(struct block, bytes));
	*block->link = block->next;
	if (block->next)
		block->next->link = block->link;
	free(block);
}

/* NULL if it is no message, or there was no memory for it. */
static Pprof__Profile *unpack(ProtobufCAllocator *allocator, struct budget *budget,
			      const unsigned char *data, size_t size)
{
	if (setjmp(budget->none) == 0)
		return pprof__profile__unpack(allocator, size, data);
	while (budget->blocks)
		limited_free(budget, budget->blocks->bytes);
	return NULL;
}

int hlg_pprof_decode(struct hlg_saved *saved, const unsigned char *data, size_t size,
		     const char *path, struct hlg_err *err)
{
	struct budget budget = {0};
	ProtobufCAllocator allocator = {limited_alloc, limited_free, &budget};
	struct decoder d = {.saved = saved,
			    .names = MAX_SHARING * size + FREE_NAMES,
			    .path = path,
			    .err = err};
	Pprof__Profile *p = unpack(&allocator, &budget, data, size);
	int rc;

	memset(saved, 0, sizeof(*saved));
	if (!p && budget.failed)
		return fail_memory(&d);
	if (!p)
		return fail(&d, budget.spent ? "it would take more than 2 GiB of memory"
					     : "it is no message of pprof's");
	d.p = p;
	rc = decode(&d);
	pprof__profile__free_unpacked(p, &allocator);
	return rc;
}
