// SPDX-License-Identifier: GPL-2.0-only
/*
 * A saved profile as one message of pprof's format: its comments, what that format has no
 * field for, and the order in which all of it is made and packed.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "filter/trust/verdict.h"
#include "tools/pprof/encode-samples.h"
#include "tools/pprof/encode-tables.h"
#include "tools/pprof/server.h"

/* Pointers to n things of size bytes, which begin with a message; NULL without memory. */
static void *pointers(struct hlg_encoder *e, const void *list, size_t n, size_t size)
{
	void **to = hlg_saved_arena_alloc(&e->arena, n, sizeof(*to));

	for (size_t i = 0; to && i < n; i++)
		to[i] = (unsigned char *)(uintptr_t)list + size * i;
	return to;
}

static int format_of(const struct hlg_saved *saved)
{
	if (saved->inlines.n)
		return HLG_SAVED_FORMAT;
	return saved->stacks.n ? HLG_SAVED_STACKS : HLG_SAVED_FLAT;
}

/* "check: WRONG ELF OR BASE: 22.56 % of ..."; NULL without memory. */
static const char *check_comment(struct hlg_encoder *e, const Pprof__Extra__Check *check)
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
static bool add_checks(struct hlg_encoder *e)
{
	size_t n = e->saved->checks.n;

	for (size_t i = 0; i < n; i++) {
		const char *text = check_comment(e, &e->saved->checks.at[i]);

		if (!text)
			return false;
		hlg_encode_refer(e, &e->comments[1 + i], text);
	}
	e->profile.n_comment = 1 + n;
	e->profile.comment = e->comments;
	return true;
}

/* And its sums, and what is missing in it. */
static void add_comment(struct hlg_encoder *e)
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
	hlg_encode_refer(e, &e->comments[0], e->sums);
}

/* What is told of the build that ran, of each image; NULL without memory. */
static Pprof__Extra__Image **images(struct hlg_encoder *e)
{
	const size_t n = e->saved->images.n;
	Pprof__Extra__Image **list =
		hlg_encode_messages(e, n, &pprof__extra__image__descriptor);

	for (size_t i = 0; list && i < n; i++) {
		const struct hlg_saved_image *from = &e->saved->images.at[i];
		Pprof__Extra__Image *to = list[i];

		*to = from->extra;
		if (!from->identities)
			continue;
		to->ran = hlg_encode_messages(e, HLG_N_IDENTITIES,
					      &pprof__extra__ran__descriptor);
		if (!to->ran)
			return NULL;
		for (unsigned k = 0; k < HLG_N_IDENTITIES; k++) {
			Pprof__Extra__Ran *ran = to->ran[to->n_ran];

			if (!(from->identities >> k & 1))
				continue;
			ran->identity = k;
			if (hlg_rans_has_file(k)) {
				ran->file = (char *)(uintptr_t)from->ran_file;
				ran->build_id = (char *)(uintptr_t)from->ran_id;
			}
			to->n_ran++;
		}
	}
	return list;
}

/* What pprof's format has no field for. Behind the samples: times are of them. */
static bool add_extra(struct hlg_encoder *e)
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
	extra->host_stack = hlg_encode_samples_of_host(e);
	extra->n_check = s->checks.n;
	extra->check = pointers(e, s->checks.at, s->checks.n, sizeof(*s->checks.at));
	extra->recordings = hlg_saved_origins_encode(s, &e->arena);
	e->profile.extra = extra;
	return extra->check && extra->recordings && extra->event && extra->image &&
	       extra->series && extra->host_row && extra->host_stack &&
	       hlg_saved_moments_encode(s, e->samples, &e->arena, extra);
}

static bool add_all(struct hlg_encoder *e)
{
	if (!hlg_encode_tables_sort_locations(e))
		return false;
	hlg_encode_refer(e, &e->empty, "");
	for (size_t i = 0; i < HLG_SAVED_N_KEYS; i++)
		if (!e->saved->server && e->saved->extra.by >> i & 1)
			hlg_encode_refer(e, &e->keys[i], hlg_saved_key_names[i]);
	e->comments = hlg_saved_arena_alloc(&e->arena, 1 + e->saved->checks.n,
					    sizeof(*e->comments));
	if (!e->comments || !add_checks(e))
		return false;
	add_comment(e);
	if (!hlg_encode_tables_period(e) || !hlg_encode_tables_types(e) ||
	    !hlg_encode_tables_images(e) || !hlg_encode_tables_functions(e))
		return false;
	if (e->saved->server) {
		e->labels = hlg_pprof_server_labels(e->saved->server, &e->arena);
		return e->labels && hlg_encode_samples_of_guest(e) && !e->failed &&
		       hlg_encode_strings(e) && hlg_encode_tables_locations(e);
	}
	/* Labels have the places of keys: samples come behind the strings. */
	return !e->failed && hlg_encode_strings(e) && hlg_encode_tables_locations(e) &&
	       hlg_encode_samples_of_guest(e) && add_extra(e);
}

/*
 * The message, to at unless it is NULL; returns its size. Its fields are packed in the
 * order of their numbers, whether together or not: types of values are the first, samples
 * the second.
 */
static size_t pack(struct hlg_encoder *e, unsigned char *at)
{
	Pprof__Profile types = PPROF__PROFILE__INIT, rest = e->profile;
	size_t size;

	types.n_sample_type = rest.n_sample_type;
	types.sample_type = rest.sample_type;
	rest.n_sample_type = 0;
	if (!at)
		return pprof__profile__get_packed_size(&types) +
		       hlg_encode_samples_pack(e, NULL) +
		       pprof__profile__get_packed_size(&rest);
	size = pprof__profile__pack(&types, at);
	size += hlg_encode_samples_pack(e, at + size);
	return size + pprof__profile__pack(&rest, at + size);
}

int hlg_pprof_encode(const struct hlg_saved *saved, unsigned char **data, size_t *size,
		     struct hlg_err *err)
{
	struct hlg_encoder e = {.saved = saved, .profile = PPROF__PROFILE__INIT};
	int rc = 0;

	*data = NULL;
	if (!add_all(&e))
		rc = hlg_err_memory(err, "profile");
	*size = rc == 0 ? pack(&e, NULL) : 0;
	if (*size > HLG_SAVED_MAX_BYTES)
		rc = hlg_err_set(err, HLG_EINPUT,
				 "profile: is larger than %zu bytes (save it with less "
				 "in --by=)",
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
