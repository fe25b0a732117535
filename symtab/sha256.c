// SPDX-License-Identifier: GPL-2.0-only
#include "symtab/sha256.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum {
	BLOCK = 64, /* bytes */
	WORDS = 8,
	ROUNDS = 64
};

/* The first 32 bits of the fractions of the cube roots of the first primes: 4.2.2. */
static const uint32_t k[ROUNDS] = {
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1,
	0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3,
	0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786,
	0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
	0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147,
	0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13,
	0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
	0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
	0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a,
	0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208,
	0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static uint32_t turn(uint32_t x, unsigned n)
{
	return x >> n | x << (32 - n);
}

static uint32_t get(const unsigned char *at)
{
	return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 |
	       at[3];
}

/* The message schedule: 6.2.2, 1. */
static void spread(uint32_t w[static ROUNDS], const unsigned char *block)
{
	for (int t = 0; t < 16; t++)
		w[t] = get(block + 4 * t);
	for (int t = 16; t < ROUNDS; t++) {
		uint32_t a = w[t - 15], b = w[t - 2];

		w[t] = w[t - 16] + (turn(a, 7) ^ turn(a, 18) ^ a >> 3) + w[t - 7] +
		       (turn(b, 17) ^ turn(b, 19) ^ b >> 10);
	}
}

/* One block: 6.2.2, 2 to 4. */
static void add(uint32_t h[static WORDS], const unsigned char *block)
{
	uint32_t w[ROUNDS], v[WORDS];

	spread(w, block);
	memcpy(v, h, sizeof(v));
	for (int t = 0; t < ROUNDS; t++) {
		uint32_t a = v[0], e = v[4];
		uint32_t one = v[7] + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) +
			       ((e & v[5]) ^ (~e & v[6])) + k[t] + w[t];
		uint32_t two = (turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) +
			       ((a & v[1]) ^ (a & v[2]) ^ (v[1] & v[2]));

		memmove(v + 1, v, (WORDS - 1) * sizeof(*v));
		v[4] += one;
		v[0] = one + two;
	}
	for (int i = 0; i < WORDS; i++)
		h[i] += v[i];
}

void hlg_sha256(unsigned char digest[static HLG_SHA256_SIZE], const void *data,
		size_t size)
{
	/* Of the square roots: 5.3.3. */
	uint32_t h[WORDS] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
			     0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
	unsigned char last[2 * BLOCK] = {0};
	const unsigned char *at = data;
	size_t rest = size % BLOCK, end = rest < BLOCK - 8 ? BLOCK : 2 * BLOCK;

	for (size_t i = 0; i < size / BLOCK; i++, at += BLOCK)
		add(h, at);
	/* A one, zeros, and the length in bits: 5.1.1. */
	if (rest)
		memcpy(last, at, rest);
	last[rest] = 0x80;
	for (int i = 0; i < 8; i++)
		last[end - 1 - i] = (unsigned char)((uint64_t)size * 8 >> (8 * i));
	for (size_t i = 0; i < end; i += BLOCK)
		add(h, last + i);
	for (int i = 0; i < HLG_SHA256_SIZE; i++)
		digest[i] = (unsigned char)(h[i / 4] >> (24 - 8 * (i % 4)));
}

void hlg_sha256_print(char text[static HLG_SHA256_TEXT],
		      const unsigned char digest[static HLG_SHA256_SIZE])
{
	for (int i = 0; i < HLG_SHA256_SIZE; i++)
		snprintf(text + 2 * i, 3, "%02x", digest[i]);
}

bool hlg_sha256_parse(unsigned char digest[static HLG_SHA256_SIZE], const char *text)
{
	static const char digits[] = "0123456789abcdef";

	if (strlen(text) != HLG_SHA256_TEXT - 1)
		return false;
	memset(digest, 0, HLG_SHA256_SIZE);
	for (int i = 0; i < HLG_SHA256_TEXT - 1; i++) {
		const char *digit = strchr(digits, text[i]);

		if (!digit)
			return false;
		digest[i / 2] = (unsigned char)(digest[i / 2] << 4 | (digit - digits));
	}
	return true;
}
