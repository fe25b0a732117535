/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Call chains as they were recorded (PERF_SAMPLE_CALLCHAIN: addresses, the innermost
 * first, with the markers of linux/perf_event.h, enum perf_callchain_context), each kept
 * once and called by a number. Memory grows with distinct chains.
 *
 * Chains of guests are hlguest record's: perf takes none, and shows none. Behind the
 * host's words, if there are any, stand PERF_CONTEXT_GUEST_USER or _KERNEL, the sample's
 * address and its callers; and behind these a tail: PERF_CONTEXT_GUEST and one word,
 * which tells how the callers were found. More words in the tail mean nothing yet.
 */
#ifndef HLG_FILTER_STACKS_CHAINS_H
#define HLG_FILTER_STACKS_CHAINS_H

#include "filter/profile/index.h"

#define HLG_NO_CHAIN   0          /* the empty one */
#define HLG_LOST_CHAIN UINT32_MAX /* for want of memory */

/*
 * PERF_CONTEXT_USER_DEFERRED of Linux 6.18: the user's addresses, which were recorded
 * later and perf has put there.
 */
#define HLG_CONTEXT_USER_DEFERRED ((uint64_t)-640)

/* Words in a chain at most: a record has 65,535 bytes. Longer ones are cut. */
#define HLG_CHAIN_MAX 8191

struct hlg_chain {
	size_t at; /* in words */
	uint32_t n;
};

enum {
	HLG_CHAINS_RECENT = 11 /* bits */
};

struct hlg_chains {
	uint32_t recent[1 << HLG_CHAINS_RECENT]; /* some that were added last: numbers */
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

/*
 * Is the user's part of a chain, which need not be aligned, still to come? Then its last
 * two words are that marker and a cookie, which tells what belongs there: a count that is
 * odd above the number of a CPU, from 1 on (get_cookie, kernel/unwind/deferred.c). An
 * address of a program that looks so is in no likely place.
 */
bool hlg_chains_is_deferred(const void *words, size_t n, uint64_t *cookie);

/* Why no further caller is known. The numbers are kept in recordings. */
enum hlg_chain_end {
	HLG_CHAIN_END_UNKNOWN, /* not told */
	HLG_CHAIN_END_WHOLE,   /* there is none: the last is the outermost */
	HLG_CHAIN_END_DEEP,    /* there are more than are recorded */
	HLG_CHAIN_END_FRAME,   /* the register was no frame pointer */
	HLG_CHAIN_END_MEMORY,  /* the guest's memory could not be read */
	HLG_CHAIN_END_MODE,    /* the guest was not in 64-bit mode */
	HLG_CHAIN_END_CFI,     /* no unwind table has the address */
	HLG_CHAIN_END_COPY,    /* the copied part of the stack ends */
	HLG_CHAIN_ENDS
};

/* How callers were found. The numbers are kept in recordings. */
enum hlg_chain_way {
	HLG_CHAIN_WAY_UNKNOWN,
	HLG_CHAIN_WAY_FRAMES, /* by frame pointers */
	HLG_CHAIN_WAY_CFI,    /* by unwind tables */
	HLG_CHAIN_WAYS
};

/* The tail's word: its bytes 0 and 1 are end and way, its upper half is sandbox. */
struct hlg_chain_tail {
	enum hlg_chain_end end;
	enum hlg_chain_way way;
	uint32_t sandbox; /* of the recording, from 1 on; 0: not known */
};

uint64_t hlg_chains_tail_word(const struct hlg_chain_tail *tail);

/* Words of a tail. */
#define HLG_CHAIN_TAIL 2

/* The tail of a chain of n words, which need not be aligned: all 0 if there is none, and
 * where a number is not known. */
void hlg_chains_tail(const void *words, size_t n, struct hlg_chain_tail *tail);

/*
 * Copies a guest's words, its address first, to guest, where at least n have room;
 * returns how many. *tail is as of hlg_chains_tail().
 */
size_t hlg_chains_guest(const uint64_t *words, size_t n, uint64_t *guest,
			struct hlg_chain_tail *tail);

void hlg_chains_finish(struct hlg_chains *chains);

#endif
