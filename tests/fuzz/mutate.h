/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Mutators that know how a door's input is built (llvm.org/docs/LibFuzzer.html,
 * "Structure- aware"): each is a file mutate-DOOR.c, in the fuzzer of that door.
 */
#ifndef HLG_TESTS_FUZZ_MUTATE_H
#define HLG_TESTS_FUZZ_MUTATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* libFuzzer's own, or the test's: other bytes, at most `most`. Returns how many. */
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most);

/* The door's. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed);

struct mutate_dice {
	uint64_t state;
};

/* 0 to n - 1 (SplitMix64); 0 for n of 0. */
static inline uint64_t mutate_roll(struct mutate_dice *dice, uint64_t n)
{
	uint64_t x = dice->state += UINT64_C(0x9e3779b97f4a7c15);

	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	return n ? (x ^ x >> 31) % n : 0;
}

/* Other bytes in the place of these: as many, filled up with zeros. */
static inline void mutate_inside(uint8_t *data, size_t size)
{
	size_t n = size ? LLVMFuzzerMutate(data, size, size) : 0;

	memset(data + n, 0, size - n);
}

#endif
