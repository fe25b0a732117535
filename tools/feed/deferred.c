// SPDX-License-Identifier: GPL-2.0-only
#include "tools/feed/deferred.h"

#include <stdlib.h>

#include "filter/profile/index.h"
#include "symtab/grow.h"
#include "tools/perfdata/perfdata.h"

struct part {
	uint64_t cookie;
	int32_t tid;
	uint32_t chain;
};

struct hlg_deferred {
	struct part *parts;
	uint32_t n;
	struct hlg_index index; /* of parts */
	struct hlg_chains chains;
};

struct search {
	const struct part *parts;
	uint64_t cookie;
	int32_t tid;
};

static bool is_same(const void *ctx, uint32_t i)
{
	const struct search *search = ctx;

	return search->parts[i].cookie == search->cookie &&
	       search->parts[i].tid == search->tid;
}

static uint64_t hash_of(int32_t tid, uint64_t cookie)
{
	return hlg_hash_word(hlg_hash_word(HLG_HASH_SEED, (uint32_t)tid), cookie);
}

static uint32_t find(const struct hlg_deferred *d, int32_t tid, uint64_t cookie)
{
	const struct search search = {d->parts, cookie, tid};

	return hlg_index_find(&d->index, hash_of(tid, cookie), is_same, &search);
}

/* Each event that asks for them gets one: all have the same. */
static bool add(struct hlg_deferred *d, const struct hlg_perfdata_deferred *record)
{
	struct part new = {.cookie = record->cookie, .tid = record->tid};

	if (find(d, new.tid, new.cookie) != HLG_INDEX_NONE)
		return true;
	new.chain = hlg_chains_add(&d->chains, record->chain.at, record->chain.n);
	if (new.chain == HLG_LOST_CHAIN || !HLG_GROW(d->parts, d->n) ||
	    !hlg_index_add(&d->index, hash_of(new.tid, new.cookie), d->n))
		return false;
	d->parts[d->n++] = new;
	return true;
}

static int on_deferred(void *ctx, const struct hlg_perfdata_deferred *record,
		       struct hlg_err *err)
{
	return add(ctx, record) ? 0 : hlg_err_memory(err, "callchains");
}

int hlg_deferred_read(struct hlg_deferred **deferred, const char *path,
		      struct hlg_err *err)
{
	static const struct hlg_perfdata_sink sink = {.deferred = on_deferred};
	struct hlg_perfdata *pd;
	int rc;

	*deferred = NULL;
	if (!hlg_perfdata_is_kept(path))
		return 0;
	rc = hlg_perfdata_open(&pd, path, err);
	if (rc < 0)
		return rc;
	if (hlg_perfdata_defers(pd)) {
		*deferred = calloc(1, sizeof(**deferred));
		rc = *deferred ? hlg_perfdata_read(pd, hlg_perfdata_no_sample, &sink,
						   *deferred, err)
			       : hlg_err_memory(err, path);
	}
	hlg_perfdata_close(pd);
	return rc;
}

void hlg_deferred_free(struct hlg_deferred *d)
{
	if (!d)
		return;
	free(d->parts);
	hlg_index_finish(&d->index);
	hlg_chains_finish(&d->chains);
	free(d);
}

static size_t copy(uint64_t *to, size_t n, const void *words, size_t more)
{
	if (more > HLG_CHAIN_MAX - n)
		more = HLG_CHAIN_MAX - n;
	if (more)
		memcpy(to + n, words, more * sizeof(*to));
	return n + more;
}

size_t hlg_deferred_join(const struct hlg_deferred *d, int32_t tid, uint64_t cookie,
			 const struct hlg_perfdata_bytes *chain,
			 uint64_t joined[static HLG_CHAIN_MAX], bool *missing)
{
	uint32_t i = d ? find(d, tid, cookie) : HLG_INDEX_NONE;
	const uint64_t *words;
	size_t n;

	*missing = i == HLG_INDEX_NONE;
	if (*missing)
		return copy(joined, 0, chain->at, chain->n - 2);
	/* The marker stays: from there on addresses are the user's. */
	words = hlg_chains_get(&d->chains, d->parts[i].chain, &n);
	return copy(joined, copy(joined, 0, chain->at, chain->n - 1), words, n);
}
