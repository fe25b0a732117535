// SPDX-License-Identifier: GPL-2.0-only
/*
 * Somebody else may have written the file: what protobuf-c has made of it is checked
 * number by number, and its memory is limited, for two bytes can ask for a hundred.
 */
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include "filter/profile/checked.h"
#include "tools/perfdata/sum.h"
#include "tools/pprof/decode.h"

#define MAX_MEMORY                                                                       \
	((size_t)2 << 30) /* of the messages, over ten times HLG_SAVED_MAX_BYTES */

/* Bytes of names for one of the file: few things share a name, and none shares many. */
#define MAX_SHARING 16
#define FREE_NAMES  ((size_t)1 << 20)

/* Extra's fields from here on are of recordings, and end at the most there is. */
#define FIRST_OF_RECORDINGS 32

int hlg_decode_fail(struct hlg_decoder *d, const char *problem)
{
	return hlg_err_set(d->err, HLG_EINPUT, "%s: is damaged: %s (save it again)",
			   d->path, problem);
}

int hlg_decode_fail_memory(struct hlg_decoder *d)
{
	return hlg_err_memory(d->err, d->path);
}

const char *hlg_decode_text(const struct hlg_decoder *d, int64_t i)
{
	return i >= 0 && (uint64_t)i < d->p->n_string_table ? d->p->string_table[i]
							    : NULL;
}

int hlg_decode_name(struct hlg_decoder *d, int64_t i, const char **to,
		    const char *problem)
{
	const char *name = hlg_decode_text(d, i);
	size_t len = name ? strlen(name) : 0;

	if (!name)
		return hlg_decode_fail(d, problem);
	if (len >= d->names)
		return hlg_decode_fail(d, "its names are too long in all");
	d->names -= len;
	*to = hlg_saved_text(d->saved, name);
	return *to ? 0 : hlg_decode_fail_memory(d);
}

/* Keeps in `to` what a later hlguest has put into a message. */
static bool keep_unknown(struct hlg_decoder *d, ProtobufCMessage *to,
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

bool hlg_decode_own_unknown(struct hlg_decoder *d, ProtobufCMessage *row)
{
	ProtobufCMessage read = *row;

	row->n_unknown_fields = 0;
	row->unknown_fields = NULL;
	return keep_unknown(d, row, &read);
}

/* A profile without a message of ours: whose is it? */
static int fail_foreign(struct hlg_decoder *d)
{
	const size_t len = strlen(HLG_SAVED_COMMENT);

	for (size_t i = 0; i < d->p->n_comment; i++) {
		const char *line = hlg_decode_text(d, d->p->comment[i]);

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
		return hlg_decode_fail(
			d, "another program wrote it, without what only hlguest "
			   "knows");
	}
	return hlg_err_set(d->err, HLG_EINPUT,
			   "%s: it is not a profile that hlguest saved (hlguest report "
			   "--format=pprof saves one)",
			   d->path);
}

static int check_format(struct hlg_decoder *d)
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
		return hlg_decode_fail(d, "it states no format");
	return extra->by >> HLG_SAVED_N_KEYS
		       ? hlg_decode_fail(d, "it is split by something unknown")
		       : 0;
}

/* Adds to a sum that must stay possible. */
static bool add(struct hlg_count *sum, uint64_t samples, uint64_t period)
{
	hlg_count_add(sum, (struct hlg_count){samples, period});
	return samples <= HLG_SAVED_MAX_SAMPLES && sum->samples <= HLG_SAVED_MAX_SAMPLES;
}

static int check_times(struct hlg_decoder *d)
{
	if (d->p->time_nanos >= 0 && d->p->duration_nanos >= 0)
		return 0;
	return hlg_decode_fail(d, "it began or took less than nothing");
}

/* What the totals say against what is there. */
static int check_sums(struct hlg_decoder *d)
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
	return hlg_decode_fail(d, "its totals and its samples do not agree");
}

enum {
	WORDS = 32 /* bytes of all keys */
};

/* "pid,tid" */
static const char *split_words(char buf[static WORDS], uint32_t by)
{
	const char *comma = "";
	size_t n = 0;

	strcpy(buf, "nothing");
	for (size_t i = 0; i < HLG_SAVED_N_KEYS; i++) {
		if (!(by >> i & 1))
			continue;
		n += (size_t)snprintf(buf + n, WORDS - n, "%s%s", comma,
				      hlg_saved_key_names[i]);
		comma = ",";
	}
	return buf;
}

static bool add_check(struct hlg_decoder *d, const Pprof__Extra__Check *from)
{
	Pprof__Extra__Check *to = HLG_SAVED_MORE(d->saved->checks);

	if (!to)
		return false;
	*to = *from;
	to->said = hlg_saved_text(d->saved, from->said);
	return to->said && hlg_decode_own_unknown(d, &to->base);
}

/* One that says nothing was not checked, as far as is known; and is of one recording. */
static int read_checks(struct hlg_decoder *d)
{
	const Pprof__Extra *extra = d->p->extra;
	const Pprof__Extra__Recordings *of = extra->recordings;
	Pprof__Extra__Check untested = PPROF__EXTRA__CHECK__INIT;

	untested.word = HLG_CHECKED_UNTESTED;
	if (extra->n_check == 0 && extra->guest_samples && !add_check(d, &untested))
		return hlg_decode_fail_memory(d);
	for (size_t i = 0; i < extra->n_check; i++) {
		if (extra->check[i]->word == HLG_CHECKED_NOTHING ||
		    extra->check[i]->word > HLG_CHECKED_MISMATCH)
			return hlg_decode_fail(d, "its check has an unknown outcome");
		if (!add_check(d, extra->check[i]))
			return hlg_decode_fail_memory(d);
	}
	if (of && (of->n == 0 || of->n > HLG_SAVED_MAX_SAMPLES))
		return hlg_decode_fail(d, "it has an impossible number of recordings");
	d->saved->recordings = hlg_sum(d->saved->recordings,
				       of && of->seen == extra->seen_samples ? of->n : 1);
	return 0;
}

/* A good file's samples must be split as those before are. */
static int join(struct hlg_decoder *d)
{
	struct hlg_saved *saved = d->saved;
	uint32_t by = d->p->extra->by;
	char here[WORDS], before[WORDS];

	if (saved->first && by != saved->extra.by)
		return hlg_err_set(d->err, HLG_EINPUT,
				   "%s: is split by %s, but %s by %s (save both with the "
				   "same --by=)",
				   d->path, split_words(here, by), saved->first,
				   split_words(before, saved->extra.by));
	saved->extra.by = by;
	if (!saved->first)
		saved->first = d->path;
	return 0;
}

/* All numbers of 64 bits are sums. */
static int add_totals(struct hlg_decoder *d)
{
	const Pprof__Extra *from = d->p->extra;
	Pprof__Extra *to = &d->saved->extra;

	to->overflow |=
		from->overflow || from->seen_period > UINT64_MAX - to->seen_period;
	for (unsigned i = 0; i < pprof__extra__descriptor.n_fields; i++) {
		const ProtobufCFieldDescriptor *field =
			&pprof__extra__descriptor.fields[i];
		uint64_t *sum = (void *)((char *)to + field->offset);
		const uint64_t *more = (const void *)((const char *)from + field->offset);

		if (field->type == PROTOBUF_C_TYPE_UINT64)
			*sum = field->id < FIRST_OF_RECORDINGS ? *sum + *more
							       : hlg_sum(*sum, *more);
	}
	d->saved->began = hlg_sum_first(d->saved->began, (uint64_t)d->p->time_nanos);
	d->saved->took = hlg_sum(d->saved->took, (uint64_t)d->p->duration_nanos);
	if (to->seen_samples <= HLG_SAVED_MAX_SAMPLES)
		return keep_unknown(d, &to->base, &from->base)
			       ? 0
			       : hlg_decode_fail_memory(d);
	return hlg_err_set(d->err, HLG_EINPUT,
			   "%s: there would be more than 2^53 samples (are the files "
			   "what they seem?)",
			   d->path);
}

static int check_strings(struct hlg_decoder *d)
{
	if (d->p->n_string_table && d->p->string_table[0][0] == '\0')
		return 0;
	return hlg_decode_fail(d, "its first string is not empty");
}

static int decode(struct hlg_decoder *d)
{
	static int (*const steps[])(struct hlg_decoder *) = {check_format,
							     check_strings,
							     check_times,
							     hlg_decode_images,
							     hlg_decode_functions,
							     hlg_decode_events,
							     hlg_decode_series,
							     hlg_decode_hosts,
							     hlg_decode_locations,
							     hlg_decode_samples,
							     hlg_decode_host_stacks,
							     check_sums,
							     hlg_decode_moments,
							     read_checks,
							     join,
							     add_totals};
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < sizeof(steps) / sizeof(steps[0]); i++)
		rc = steps[i](d);
	return rc;
}

/* Memory for protobuf-c, which is given back when all is read. */
struct budget {
	struct hlg_saved_arena arena;
	bool spent, failed; /* it was asked for too much; malloc had no more */
	jmp_buf none;
};

/*
 * Memory that protobuf-c cannot ask for without end. Where there is none it does not
 * return: protobuf-c 1.4 frees what it has not got for a repeated field.
 */
static void *limited_alloc(void *ctx, size_t size)
{
	struct budget *budget = ctx;
	void *bytes = NULL;

	budget->spent = size > MAX_MEMORY || budget->arena.size > MAX_MEMORY - size;
	if (!budget->spent)
		bytes = hlg_saved_arena_alloc(&budget->arena, size, 1);
	budget->failed = !budget->spent && !bytes;
	if (!bytes)
		longjmp(budget->none, 1);
	return bytes;
}

static void no_free(void *ctx, void *bytes)
{
	(void)ctx;
	(void)bytes;
}

/* Its memory is the budget's. NULL if it is no message, or the budget has no more. */
static Pprof__Profile *unpack(struct budget *budget, const unsigned char *data,
			      size_t size)
{
	ProtobufCAllocator allocator = {limited_alloc, no_free, budget};

	return setjmp(budget->none) == 0 ? pprof__profile__unpack(&allocator, size, data)
					 : NULL;
}

int hlg_pprof_decode(struct hlg_saved *saved, const unsigned char *data, size_t size,
		     const char *path, struct hlg_err *err)
{
	struct budget budget = {0};
	struct hlg_decoder d = {.names = MAX_SHARING * size + FREE_NAMES,
				.saved = saved,
				.events = (uint32_t)saved->events.n,
				.images = (uint32_t)saved->images.n,
				.functions = (uint32_t)saved->functions.n,
				.cells = saved->cells.n,
				.hosts = saved->hosts.n,
				.host_stacks = saved->host_stacks.n,
				.path = path,
				.err = err};
	int rc;

	d.p = unpack(&budget, data, size);
	if (d.p)
		rc = decode(&d);
	else if (budget.spent)
		rc = hlg_decode_fail(&d, "it would take more than 2 GiB of memory");
	else
		rc = budget.failed ? hlg_decode_fail_memory(&d)
				   : hlg_decode_fail(&d, "it is not in pprof's format");
	free(d.first);
	hlg_saved_arena_finish(&budget.arena);
	return rc;
}
