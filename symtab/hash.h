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
#include <string.h>

/*
 * Odd, and 63 bits of it nobody knows beforehand: of two keys, whichever they are, the
 * highest bits of the products are alike as rarely as by chance, or twice that
 * (Dietzfelbinger and others, Journal of Algorithms 25, 1997). Set before main, or when
 * the filter is loaded; nothing changes it then.
 */
extern uint64_t hlg_hash_factor;

/* The factor that comes of random bits. */
uint64_t hlg_hash_choose(const uint64_t random[2]);

/* Each bit of the key may change each of the value: the halves of the product. */
static inline uint64_t hlg_hash_mix(uint64_t key)
{
	__extension__ unsigned __int128 product =
		(unsigned __int128)key * hlg_hash_factor;

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* What a hash of several words begins with, and a word more. */
#define HLG_HASH_SEED UINT64_C(0xcbf29ce484222325)

static inline uint64_t hlg_hash_word(uint64_t hash, uint64_t word)
{
	return hlg_hash_mix(hash ^ word);
}

/* A text and its end, so that what follows is apart from it. */
static inline uint64_t hlg_hash_text(uint64_t hash, const char *text)
{
	size_t left = strlen(text) + 1;
	uint64_t word;

	for (; left > sizeof(word); left -= sizeof(word), text += sizeof(word)) {
		memcpy(&word, text, sizeof(word));
		hash = hlg_hash_word(hash, word);
	}
	word = 0;
	memcpy(&word, text, left);
	return hlg_hash_word(hash, word);
}

/*
 * FNV-1a (Fowler, Noll, Vo), 64 bits, from HLG_HASH_SEED on: the same in each process,
 * for what is shown or kept. Not for tables: texts of one value are easily made up.
 */
static inline uint64_t hlg_hash_fnv(uint64_t hash, const void *bytes, size_t size)
{
	for (size_t i = 0; i < size; i++)
		hash = (hash ^ ((const uint8_t *)bytes)[i]) * UINT64_C(0x100000001b3);
	return hash;
}

#endif
