// SPDX-License-Identifier: GPL-2.0-only
#include "tools/feed/tails.h"

#include <stdlib.h>

#include "filter/profile/index.h"
#include "filter/stacks/chains.h"
#include "symtab/grow.h"
#include "tools/perfdata/perfdata.h"

struct named {
	uint32_t number; /* the recording's */
	int32_t pid;
};

struct hlg_tails {
	struct named *named; /* in order, once all are known */
	uint32_t n;
	struct hlg_sandboxes sandboxes; /* [i] is named[i] */
};

struct reader {
	struct hlg_tails *tails;
	struct hlg_index index; /* of named, as long as they are not in order */
	bool lost;
};

static bool same_number(const void *ctx, uint32_t i)
{
	const struct named *const *search = ctx;

	return search[0][i].number == search[1]->number;
}

static bool name(struct reader *r, const struct named *new)
{
	struct hlg_tails *t = r->tails;
	const struct named *const search[2] = {t->named, new};
	uint64_t hash = hlg_hash_word(HLG_HASH_SEED, new->number);

	if (hlg_index_find(&r->index, hash, same_number, search) != HLG_INDEX_NONE)
		return true;
	if (!HLG_GROW(t->named, t->n) || !hlg_index_add(&r->index, hash, t->n))
		return false;
	t->named[t->n++] = *new;
	return true;
}

/* The recording's number; 0: none. */
static uint32_t number_of(const struct hlg_perfdata_raw *raw)
{
	struct hlg_perfdata_fields fields;
	struct hlg_chain_tail tail;

	if (!(raw->layout->attr->sample_type & PERF_SAMPLE_CALLCHAIN) ||
	    !hlg_sample_is_guest(hlg_perfdata_cpumode(raw)))
		return 0;
	hlg_perfdata_decode(&fields, raw->layout->attr, raw->record, (uint16_t)raw->size);
	if (!fields.callchain.at)
		return 0;
	hlg_chains_tail(fields.callchain.at, fields.callchain.n, &tail);
	return tail.sandbox;
}

static inline __attribute__((always_inline)) void on_sample(void *ctx,
							    struct hlg_perfdata_raw *raw)
{
	const struct named new = {number_of(raw), hlg_perfdata_pid(raw)};
	struct reader *r = ctx;

	if (new.number)
		r->lost |= !name(r, &new);
}

/* Of a stream that is known only when it is read. */
static bool has_callchains(const struct hlg_perfdata *pd)
{
	uint32_t n = hlg_perfdata_n_events(pd);

	for (uint32_t i = 0; i < n; i++)
		if (hlg_perfdata_event(pd, i)->attr.sample_type & PERF_SAMPLE_CALLCHAIN)
			return true;
	return n == 0;
}

static int compare(const void *a, const void *b)
{
	const struct named *x = a, *y = b;

	return (x->number > y->number) - (x->number < y->number);
}

static int read_all(struct hlg_tails *t, struct hlg_perfdata *pd, const char *path,
		    struct hlg_err *err)
{
	static const struct hlg_perfdata_sink sink = {0};
	struct reader r = {.tails = t};
	int rc = hlg_perfdata_read(pd, on_sample, &sink, &r, err);

	hlg_index_finish(&r.index);
	if (t->n)
		qsort(t->named, t->n, sizeof(t->named[0]), compare);
	for (uint32_t i = 0; i < t->n; i++)
		r.lost |= !hlg_sandboxes_add(&t->sandboxes, t->named[i].pid, -1);
	return rc == 0 && r.lost ? hlg_err_memory(err, path) : rc;
}

int hlg_tails_read(struct hlg_tails **tails, const char *path, struct hlg_err *err)
{
	struct hlg_tails *t = calloc(1, sizeof(*t));
	struct hlg_perfdata *pd = NULL;
	int rc = 0;

	*tails = NULL;
	if (!t)
		return hlg_err_memory(err, path);
	if (hlg_perfdata_is_kept(path)) {
		rc = hlg_perfdata_open(&pd, path, err);
		if (rc == 0 && has_callchains(pd))
			rc = read_all(t, pd, path, err);
		hlg_perfdata_close(pd);
	}
	if (rc == 0 && t->n)
		*tails = t;
	else
		hlg_tails_free(t);
	return rc;
}

void hlg_tails_free(struct hlg_tails *t)
{
	if (!t)
		return;
	free(t->named);
	hlg_sandboxes_finish(&t->sandboxes);
	free(t);
}

const struct hlg_sandboxes *hlg_tails_sandboxes(const struct hlg_tails *tails)
{
	return &tails->sandboxes;
}

uint32_t hlg_tails_tell(const struct hlg_tails *t, const struct hlg_perfdata_raw *raw)
{
	const struct named key = {.number = number_of(raw)};
	const struct named *found =
		key.number ? bsearch(&key, t->named, t->n, sizeof(key), compare) : NULL;

	return found ? (uint32_t)(found - t->named) + 1 : 0;
}
