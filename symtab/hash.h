/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Hashing. The factor of multiplicative hashing (Knuth, volume 3, 6.4) is another in each
 * process: keys come from files and guests: of a known factor, keys that all have one
 * place in a table are easily made up, and each is then compared with all others.
 */
#ifndef HLG_SYMTAB_HASH_H
#define HLG_SYMTAB_HASH_H

#include <stddef.h>
#include <stdint.h>

/*
 * Odd; near 2^64 by the golden ratio, so that neighbours lie apart. 32 bits of it nobody
 * knows beforehand. Set before main, or when the filter is loaded; nothing changes it
 * then.
 */
extern uint64_t hlg_hash_factor;

/* Each bit of the key may change each of the value: the halves of the product. */
static inline uint64_t hlg_hash_mix(uint64_t key)
{
	__extension__ unsigned __int128 product =
		(unsigned __int128)key * hlg_hash_factor;

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* FNV-1a (Fowler, Noll, Vo), 64 bits, by bytes of a text; and a word at a time. */
#define HLG_HASH_SEED UINT64_C(0xcbf29ce484222325)

static inline uint64_t hlg_hash_word(uint64_t hash, uint64_t word)
{
	return hlg_hash_mix(hash ^ word);
}

static inline uint64_t hlg_hash_bytes(uint64_t hash, const void *bytes, size_t size)
{
	for (size_t i = 0; i < size; i++)
		hash = (hash ^ ((const uint8_t *)bytes)[i]) * UINT64_C(0x100000001b3);
	return hash;
}

/* With its end, so that what follows is apart from it. */
static inline uint64_t hlg_hash_text(uint64_t hash, const char *text)
{
	do
		hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
	while (*text++);
	return hash;
}

#endif
