/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Call chains as they were recorded (PERF_SAMPLE_CALLCHAIN: addresses, the innermost
 * first, with the markers of linux/perf_event.h, enum perf_callchain_context), each kept
 * once and called by a number. Memory grows with distinct chains.
 */
#ifndef HLG_FILTER_STACKS_CHAINS_H
#define HLG_FILTER_STACKS_CHAINS_H

#include "filter/profile/index.h"

#define HLG_NO_CHAIN   0          /* the empty one */
#define HLG_LOST_CHAIN UINT32_MAX /* for want of memory */

/* Words in a chain at most: a record has 65,535 bytes. Longer ones are cut. */
#define HLG_CHAIN_MAX 8191

struct hlg_chain {
	size_t at; /* in words */
	uint32_t n;
};

struct hlg_chains {
	uint64_t *words;
	size_t n_words, room_words;
	struct hlg_chain *chains; /* [n] is number n + 1 */
	uint32_t n;
	struct hlg_index index; /* of chains, from 0 */
};

/* The number of a chain of n words, which need not be aligned; HLG_LOST_CHAIN. */
uint32_t hlg_chains_add(struct hlg_chains *chains, const void *words, size_t n);

/* Valid until a chain is added. *n is 0 for HLG_NO_CHAIN and HLG_LOST_CHAIN. */
const uint64_t *hlg_chains_get(const struct hlg_chains *chains, uint32_t chain,
			       size_t *n);

/*
 * The cpumode of each word as code of the host, 0 for markers. Returns n, or 0 if a
 * marker is none that perf knows in a host's chain: it throws the chain away. It begins
 * in user mode.
 */
size_t hlg_chains_modes(const uint64_t *words, size_t n, uint8_t *modes);

/* The words that stand behind markers of a guest, at most n; how many. */
size_t hlg_chains_guest(const uint64_t *words, size_t n, uint64_t *guest);

void hlg_chains_finish(struct hlg_chains *chains);

#endif
