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
#include "tools/pprof/comment.h"
#include "tools/pprof/saved.h"

#define MAX_MEMORY                                                                       \
	((size_t)2 << 30) /* of the messages, over ten times HLG_SAVED_MAX_BYTES */

/* Bytes of names for one of the file: few things share a name, and none shares many. */
#define MAX_SHARING 16
#define FREE_NAMES  ((size_t)1 << 20)

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

static int read_comments(struct decoder *d)
{
	struct hlg_comments comments = {.saved = d->saved};
	const char *problem = NULL;

	for (size_t i = 0; !problem && i < d->p->n_comment; i++) {
		const char *line = text(d, d->p->comment[i]);

		problem = line ? hlg_comment_read(&comments, line)
			       : "a comment is not there";
	}
	if (!problem && comments.version && d->p->n_row == 0 && d->p->n_sample)
		problem = "its rows are gone, another program wrote it";
	for (size_t i = 0; !problem && i < d->p->n_row; i++) {
		const char *row = text(d, d->p->row[i]);

		problem =
			row ? hlg_comment_read_row(&comments, row) : "a row is not there";
	}
	if (!problem)
		problem = hlg_comment_check(&comments);
	if (!problem)
		return 0;
	if (!comments.version)
		return hlg_err_set(d->err, HLG_EINPUT,
				   "%s: %s (hlguest report --format=pprof saves one)",
				   d->path, problem);
	return fail(d, problem);
}

static bool read_labels(const struct decoder *d, const Pprof__Sample *sample,
			struct hlg_saved_key *key)
{
	const char *const names[] = {"pid", "tid", "cpu"};
	const unsigned bits[] = {HLG_BY_PID, HLG_BY_TID, HLG_BY_CPU};
	int32_t *const to[] = {&key->pid, &key->tid, &key->cpu};
	unsigned told = 0;

	key->pid = key->tid = key->cpu = -1;
	for (size_t i = 0; i < sample->n_label; i++) {
		const Pprof__Label *label = sample->label[i];
		const char *name = text(d, label->key);
		size_t k = 0;

		while (name && k < 3 && strcmp(name, names[k]) != 0)
			k++;
		if (!name || k == 3 || told & bits[k] || label->num < -1 ||
		    label->num > INT32_MAX)
			return false;
		told |= bits[k];
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

/* What the comments say against what is there. */
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
		ok = HLG_SAVED(host, &s->hosts, i)->key.event < s->events.n &&
		     add(&host, HLG_SAVED(host, &s->hosts, i)->count);
	for (uint32_t i = 0; ok && i < s->series.n; i++)
		ok = HLG_SAVED(series, &s->series, i)->key.event < s->events.n;
	if (ok && same(guest, t->guest) && same(host, t->host) && same(seen, t->seen) &&
	    t->untold <= t->deselected.samples)
		return 0;
	return fail(d, "its totals and its samples do not agree");
}

static int decode(struct decoder *d)
{
	int rc = 0;

	/* Indices below are 32 bits wide. */
	if (d->p->n_mapping > INT32_MAX || d->p->n_location > INT32_MAX ||
	    d->p->n_function > INT32_MAX)
		rc = fail(d, "it has too many entries");
	if (rc == 0 && (d->p->n_string_table == 0 || d->p->string_table[0][0] != '\0'))
		rc = fail(d, "its first string is not empty");
	if (rc == 0)
		rc = read_mappings(d);
	if (rc == 0)
		rc = read_functions(d);
	if (rc == 0)
		rc = read_comments(d);
	if (rc == 0)
		rc = check_locations(d);
	if (rc == 0)
		rc = read_samples(d);
	if (rc == 0)
		rc = check_sums(d);
	if (rc == 0 && !hlg_saved_resolve(d->saved))
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

int hlg_saved_decode(struct hlg_saved *saved, const unsigned char *data, size_t size,
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
