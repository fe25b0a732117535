// SPDX-License-Identifier: GPL-2.0-only
/* The steps in which a saved profile is decoded: what it is, what is in it, what it sums
 * to. */
#include <stdlib.h>
#include <string.h>

#include "filter/profile/checked.h"
#include "tools/pprof/decode-samples.h"
#include "tools/pprof/decode-tables.h"

/* Bytes of names for one of the file: few things share a name, and none shares many. */
#define MAX_SHARING 16
#define FREE_NAMES  ((size_t)1 << 20)

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

static bool add_check(struct hlg_decoder *d, const Pprof__Extra__Check *from)
{
	Pprof__Extra__Check *to = HLG_SAVED_MORE(d->saved->checks);

	if (!to)
		return false;
	*to = *from;
	to->said = hlg_saved_text(d->saved, from->said);
	return to->said && hlg_decode_own_unknown(d, &to->base);
}

/* One that says nothing was not checked, as far as is known. */
static int read_checks(struct hlg_decoder *d)
{
	const Pprof__Extra *extra = d->p->extra;
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
	return 0;
}

static int read_origins(struct hlg_decoder *d)
{
	const char *wrong = hlg_saved_origins_decode(d->saved, d->p->extra);

	if (wrong)
		return hlg_decode_fail(d, wrong);
	return d->saved->origins.lost ? hlg_decode_fail_memory(d) : 0;
}

/* What all of it says. */
static int add_totals(struct hlg_decoder *d)
{
	const Pprof__Extra *from = d->p->extra;

	d->saved->extra.by = from->by;
	if (!hlg_saved_add_totals(d->saved, from, (uint64_t)d->p->time_nanos,
				  (uint64_t)d->p->duration_nanos))
		return hlg_pprof_fail_samples(d->path, d->err);
	return hlg_decode_keep_unknown(d, &d->saved->extra.base, &from->base)
		       ? 0
		       : hlg_decode_fail_memory(d);
}

static int check_strings(struct hlg_decoder *d)
{
	d->texts = calloc(d->p->n_string_table + 1, sizeof(*d->texts));
	if (!d->texts)
		return hlg_decode_fail_memory(d);
	if (d->p->n_string_table && d->p->string_table[0][0] == '\0')
		return 0;
	return hlg_decode_fail(d, "its first string is not empty");
}

static int decode(struct hlg_decoder *d)
{
	static int (*const steps[])(struct hlg_decoder *) = {check_format,
							     check_strings,
							     check_times,
							     hlg_decode_tables_images,
							     hlg_decode_tables_functions,
							     hlg_decode_tables_events,
							     hlg_decode_tables_series,
							     hlg_decode_tables_hosts,
							     hlg_decode_tables_locations,
							     hlg_decode_samples_of_guest,
							     hlg_decode_samples_of_host,
							     check_sums,
							     hlg_decode_samples_moments,
							     read_checks,
							     read_origins,
							     add_totals};
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < sizeof(steps) / sizeof(steps[0]); i++)
		rc = steps[i](d);
	return rc;
}

int hlg_pprof_decode(struct hlg_saved *saved, const unsigned char *data, size_t size,
		     size_t memory, const char *path, struct hlg_err *err)
{
	struct hlg_unpack all = HLG_UNPACK_INIT(memory);
	struct hlg_decoder d = {.names = MAX_SHARING * size + FREE_NAMES,
				.saved = saved,
				.events = (uint32_t)saved->events.n,
				.images = (uint32_t)saved->images.n,
				.functions = (uint32_t)saved->functions.n,
				.cells = saved->cells.n,
				.hosts = saved->hosts.n,
				.host_stacks = saved->host_stacks.n,
				.sample = HLG_UNPACK_INIT(memory),
				.path = path,
				.err = err};
	int rc;

	d.p = (const Pprof__Profile *)hlg_unpack_message(
		&all, &pprof__profile__descriptor, data, size);
	rc = d.p ? decode(&d) : hlg_decode_fail_unpack(&d, &all);
	free(d.first);
	free(d.texts);
	hlg_unpack_finish(&all);
	hlg_unpack_finish(&d.sample);
	return rc;
}
