// SPDX-License-Identifier: GPL-2.0-only
#include "filter/stacks/chains.h"

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "symtab/grow.h"

struct search {
	const struct hlg_chains *chains;
	const uint8_t *words;
	size_t n;
};

static bool same(const void *ctx, uint32_t number)
{
	const struct search *search = ctx;
	const struct hlg_chain *chain = &search->chains->chains[number];

	return chain->n == search->n && memcmp(search->chains->words + chain->at,
					       search->words, 8 * search->n) == 0;
}

static uint64_t hash_words(const uint8_t *words, size_t n)
{
	uint64_t h = hlg_hash_word(HLG_HASH_SEED, n), word;

	for (size_t i = 0; i < n; i++) {
		memcpy(&word, words + 8 * i, sizeof(word));
		h = hlg_hash_word(h, word);
	}
	return h;
}

static bool make_room(struct hlg_chains *c, size_t n)
{
	size_t room = c->room_words ? c->room_words : 1024;
	uint64_t *words;

	while (room - c->n_words < n)
		room *= 2;
	if (room == c->room_words)
		return true;
	words = reallocarray(c->words, room, sizeof(*words));
	if (!words)
		return false;
	c->words = words;
	c->room_words = room;
	return true;
}

/* Where a chain that was added lately would be: most are met again and again, and to
 * compare is less work than to hash them. By four words, of which one is the sample's
 * address as a rule. */
static uint32_t *recent(struct hlg_chains *c, const uint8_t *words, size_t n)
{
	const size_t at[] = {0, n > 1 ? 1 : 0, n / 2, n - 1};
	uint64_t key = n, word;

	for (size_t i = 0; i < sizeof(at) / sizeof(at[0]); i++) {
		memcpy(&word, words + 8 * at[i], sizeof(word));
		key = (key ^ word) * hlg_hash_factor;
	}
	return &c->recent[key >> (64 - HLG_CHAINS_RECENT)];
}

uint32_t hlg_chains_add(struct hlg_chains *c, const void *words, size_t n)
{
	struct search search = {c, words, n < HLG_CHAIN_MAX ? n : HLG_CHAIN_MAX};
	uint32_t *last, known;
	uint64_t hash;

	if (n == 0)
		return HLG_NO_CHAIN;
	n = search.n;
	last = recent(c, words, n);
	if (*last && same(&search, *last - 1))
		return *last;
	hash = hash_words(words, n);
	known = hlg_index_find(&c->index, hash, same, &search);
	if (known != HLG_INDEX_NONE) {
		*last = known + 1;
		return known + 1;
	}
	if (!make_room(c, n) || !HLG_GROW(c->chains, c->n) ||
	    !hlg_index_add(&c->index, hash, c->n))
		return HLG_LOST_CHAIN;
	memcpy(c->words + c->n_words, words, 8 * n);
	c->chains[c->n] = (struct hlg_chain){c->n_words, (uint32_t)n};
	c->n_words += n;
	*last = ++c->n;
	return c->n;
}

const uint64_t *hlg_chains_get(const struct hlg_chains *c, uint32_t chain, size_t *n)
{
	*n = 0;
	if (chain == HLG_NO_CHAIN || chain == HLG_LOST_CHAIN)
		return NULL;
	*n = c->chains[chain - 1].n;
	return c->words + c->chains[chain - 1].at;
}

/*
 * The cpumode that a marker opens, 0 for one that perf does not know here, and for which
 * it throws the chain away (add_callchain_ip, tools/perf/util/machine.c).
 */
static uint8_t mode_of(uint64_t marker)
{
	switch (marker) {
	case (uint64_t)PERF_CONTEXT_HV:
		return PERF_RECORD_MISC_HYPERVISOR;
	case (uint64_t)PERF_CONTEXT_KERNEL:
		return PERF_RECORD_MISC_KERNEL;
	case (uint64_t)PERF_CONTEXT_USER:
	case HLG_CONTEXT_USER_DEFERRED:
		return PERF_RECORD_MISC_USER;
	default:
		return 0;
	}
}

size_t hlg_chains_modes(const uint64_t *words, size_t n, uint8_t *modes)
{
	uint8_t mode = PERF_RECORD_MISC_USER;

	for (size_t i = 0; i < n; i++) {
		modes[i] = mode;
		if (words[i] < (uint64_t)PERF_CONTEXT_MAX)
			continue;
		modes[i] = 0;
		mode = mode_of(words[i]);
		if (!mode)
			return 0;
	}
	return n;
}

bool hlg_chains_is_deferred(const void *words, size_t n, uint64_t *cookie)
{
	enum {
		CPUS_MAX = 65536 /* eight times what the kernel can be built for */
	};
	uint64_t last[2];

	if (n < 2)
		return false;
	memcpy(last, (const uint8_t *)words + 8 * (n - 2), sizeof(last));
	*cookie = last[1];
	return last[0] == HLG_CONTEXT_USER_DEFERRED && last[1] >> 32 & 1 &&
	       (uint32_t)last[1] != 0 && (uint32_t)last[1] <= CPUS_MAX;
}

uint64_t hlg_chains_tail_word(const struct hlg_chain_tail *tail)
{
	return (uint64_t)tail->end | (uint64_t)tail->way << 8 |
	       (uint64_t)tail->sandbox << 32;
}

static void read_tail(struct hlg_chain_tail *tail, uint64_t word)
{
	unsigned end = word & 0xff, way = word >> 8 & 0xff;

	if (end < HLG_CHAIN_ENDS)
		tail->end = (enum hlg_chain_end)end;
	if (way < HLG_CHAIN_WAYS)
		tail->way = (enum hlg_chain_way)way;
	tail->sandbox = (uint32_t)(word >> 32);
}

void hlg_chains_tail(const void *words, size_t n, struct hlg_chain_tail *tail)
{
	const uint8_t *at = words;

	*tail = (struct hlg_chain_tail){0};
	for (size_t i = 0; i + 1 < n; i++) {
		uint64_t pair[2];

		memcpy(pair, at + 8 * i, sizeof(pair));
		if (pair[0] == (uint64_t)PERF_CONTEXT_GUEST) {
			read_tail(tail, pair[1]);
			return;
		}
	}
}

size_t hlg_chains_guest(const uint64_t *words, size_t n, uint64_t *guest,
			struct hlg_chain_tail *tail)
{
	bool inside = false;
	size_t found = 0;

	hlg_chains_tail(words, n, tail);
	for (size_t i = 0; i < n && words[i] != (uint64_t)PERF_CONTEXT_GUEST; i++) {
		if (words[i] >= (uint64_t)PERF_CONTEXT_MAX)
			inside = words[i] == (uint64_t)PERF_CONTEXT_GUEST_KERNEL ||
				 words[i] == (uint64_t)PERF_CONTEXT_GUEST_USER;
		else if (inside)
			guest[found++] = words[i];
	}
	return found;
}

void hlg_chains_finish(struct hlg_chains *c)
{
	free(c->words);
	free(c->chains);
	hlg_index_finish(&c->index);
	*c = (struct hlg_chains){0};
}
