// SPDX-License-Identifier: GPL-2.0-only
#include "chains.h"

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* By the golden ratio, as hlg_cell_slot, word after word. */
static uint64_t hash(const uint8_t *words, size_t n)
{
	uint64_t h = n, word;

	for (size_t i = 0; i < n; i++) {
		memcpy(&word, words + 8 * i, sizeof(word));
		h = (h ^ word) * UINT64_C(0x9e3779b97f4a7c15);
		h ^= h >> 29;
	}
	return h;
}

static uint32_t find(const struct hlg_chains *c, const uint8_t *words, size_t n)
{
	uint32_t mask = c->n_index - 1, i = (uint32_t)(hash(words, n) >> 32) & mask;

	for (; c->index[i]; i = (i + 1) & mask) {
		const struct hlg_chain *chain = &c->chains[c->index[i] - 1];

		if (chain->n == n && memcmp(c->words + chain->at, words, 8 * n) == 0)
			break;
	}
	return i;
}

static bool grow(struct hlg_chains *c)
{
	uint32_t room = c->room ? 2 * c->room : 64;
	struct hlg_chain *chains = NULL;
	uint32_t *index;

	if (room <= HLG_LOST_CHAIN / 4)
		chains = reallocarray(c->chains, room, sizeof(*chains));
	if (!chains)
		return false;
	c->chains = chains;
	index = calloc(2 * (size_t)room, sizeof(*index));
	if (!index)
		return false;
	free(c->index);
	c->index = index;
	c->n_index = 2 * room;
	c->room = room;
	for (uint32_t i = 0; i < c->n; i++)
		index[find(c, (const uint8_t *)(c->words + chains[i].at), chains[i].n)] =
			i + 1;
	return true;
}

static bool make_room(struct hlg_chains *c, size_t n)
{
	size_t room = c->room_words ? c->room_words : 1024;
	uint64_t *words;

	if (c->n == c->room && !grow(c))
		return false;
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

uint32_t hlg_chains_add(struct hlg_chains *c, const void *words, size_t n)
{
	uint32_t at;

	if (n == 0)
		return HLG_NO_CHAIN;
	if (n > HLG_CHAIN_MAX)
		n = HLG_CHAIN_MAX;
	if (c->n_index) {
		at = find(c, words, n);
		if (c->index[at])
			return c->index[at];
	}
	if (!make_room(c, n))
		return HLG_LOST_CHAIN;
	at = find(c, words, n); /* the table may be another now */
	memcpy(c->words + c->n_words, words, 8 * n);
	c->chains[c->n] = (struct hlg_chain){c->n_words, (uint32_t)n};
	c->n_words += n;
	return c->index[at] = ++c->n;
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

size_t hlg_chains_guest(const uint64_t *words, size_t n, uint64_t *guest)
{
	bool inside = false;
	size_t found = 0;

	for (size_t i = 0; i < n; i++) {
		if (words[i] >= (uint64_t)PERF_CONTEXT_MAX)
			inside = words[i] == (uint64_t)PERF_CONTEXT_GUEST ||
				 words[i] == (uint64_t)PERF_CONTEXT_GUEST_KERNEL ||
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
	free(c->index);
	*c = (struct hlg_chains){0};
}
