/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The factor of multiplicative hashing (Knuth, volume 3, 6.4), another in each process.
 * Keys come from files and guests: of a known factor, keys that all have one place in a
 * table are easily made up, and each is then compared with all others.
 */
#ifndef HLG_SYMTAB_HASH_SEED_H
#define HLG_SYMTAB_HASH_SEED_H

#include <stdint.h>

/*
 * Odd; near 2^64 by the golden ratio, so that neighbours lie apart. 32 bits of it nobody
 * knows beforehand. Set before main, or when the filter is loaded; nothing changes it
 * then.
 */
extern uint64_t hlg_factor;

/* Each bit of the key may change each of the value: the halves of the product. */
static inline uint64_t hlg_factor_mix(uint64_t key)
{
	__extension__ unsigned __int128 product = (unsigned __int128)key * hlg_factor;

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

#endif
