// SPDX-License-Identifier: GPL-2.0-only
/*
 * Code for AArch64 of a few functions that are not alike. It is never run: its samples
 * are made up.
 */
#include <stddef.h>
#include <stdint.h>

#define NOINLINE __attribute__((noinline, used))

void run(void);

uint64_t words[256];

#define MIX(n) state = (state ^ state >> 29) * UINT64_C(0xbf58476d1ce4e5b9) + (n);
#define STEP(n, mixes)                                                                   \
	static NOINLINE uint64_t step_##n(uint64_t state)                                \
	{                                                                                \
		for (size_t i = 0; i < 3 * (n) + 5; i++) {                               \
			if (state >> (n)&1)                                              \
				state += words[(i * (n) + 1) % 256];                     \
			mixes;                                                           \
		}                                                                        \
		return state;                                                            \
	}

#define MIX_4(n)  MIX(n) MIX((n) + 1) MIX((n) + 2) MIX((n) + 3)
#define MIX_16(n) MIX_4(n) MIX_4((n) + 4) MIX_4((n) + 8) MIX_4((n) + 12)
#define MIX_64(n) MIX_16(n) MIX_16((n) + 16) MIX_16((n) + 32) MIX_16((n) + 48)

/* clang-format off */
STEP(1, MIX_4(1)) STEP(2, MIX_16(2)) STEP(3, MIX(3)) STEP(4, MIX_64(4)) STEP(5, MIX_4(5))
STEP(6, MIX_64(6)) STEP(7, MIX_64(7) MIX_64(8)) STEP(8, MIX(8)) STEP(9, MIX_16(9))
	/* clang-format on */

	void run(void)
{
	uint64_t state = 1;

	for (;;)
		state = step_1(step_2(
			step_3(step_4(step_5(step_6(step_7(step_8(step_9(state)))))))));
}
