// SPDX-License-Identifier: GPL-2.0-only
/*
 * A guest of small hot functions with large cold ones between them: its samples lie on a
 * few small islands of a wide text, which is what makes a load base hard to guess.
 *
 * Plain C with the linker's own script, so that text and data lie as in most programs.
 * Every run does the same work and ends with an out to Hyperlight's Halt port. With
 * -DHOLE=WORDS there is one more hole, of so many times eight bytes, without a symbol;
 * with -DCHANGED=BYTES there is a function of so many more in front, as after a change.
 */
#include <stddef.h>
#include <stdint.h>

#define PORT_HALT 108 /* Hyperlight's */
#define STRING(x) #x
#define EXPAND(x) STRING(x)
#define NOINLINE  __attribute__((noinline))
#define WORDS     256
#define ROUNDS    400

typedef uint64_t (*step)(uint64_t state, const uint64_t *words);

void run(void);

static uint64_t words[WORDS];
volatile uint64_t sink;
volatile int never;

static void out(uint16_t port, uint32_t value)
{
	__asm__ volatile("outl %0, %1" : : "a"(value), "d"(port) : "memory");
}

#ifdef CHANGED
__attribute__((used)) static NOINLINE void first(void)
{
	__asm__ volatile(".fill " EXPAND(CHANGED) ", 1, 0x90");
}
#endif

/* Hot: a loop of a few instructions, no two alike. */
#define HOT(n)                                                                           \
	NOINLINE uint64_t hot_##n(uint64_t state, const uint64_t *from);                 \
	NOINLINE uint64_t hot_##n(uint64_t state, const uint64_t *from)                  \
	{                                                                                \
		for (int i = 0; i < 3 * (n) + 5; i++) {                                  \
			if ((state >> (n)) & 1)                                          \
				state += from[(i * (n) + 1) % WORDS] ^ (n);              \
			else                                                             \
				state = (state << ((n) % 7 + 1)) ^ from[i % WORDS];      \
			state ^= state >> ((n) % 5 + 9);                                 \
		}                                                                        \
		return state + (n);                                                      \
	}

/* Cold: straight code, and only a broken guest gets here. */
#define MIX(n)                                                                           \
	state = (state ^ state >> 29) * UINT64_C(0xbf58476d1ce4e5b9) + (n);              \
	sink = state;
#define MIX_4(n)  MIX(n) MIX((n) + 1) MIX((n) + 2) MIX((n) + 3)
#define MIX_16(n) MIX_4(n) MIX_4((n) + 4) MIX_4((n) + 8) MIX_4((n) + 12)
#define MIX_64(n) MIX_16(n) MIX_16((n) + 16) MIX_16((n) + 32) MIX_16((n) + 48)
#define COLD(n)                                                                          \
	NOINLINE uint64_t cold_##n(uint64_t state);                                      \
	NOINLINE uint64_t cold_##n(uint64_t state)                                       \
	{                                                                                \
		MIX_64((n)*1000)                                                         \
		MIX_64((n)*2000)                                                         \
		return state;                                                            \
	}

/* clang-format off */
HOT(1) COLD(1) HOT(2) HOT(3) COLD(2) HOT(4) COLD(3) HOT(5) HOT(6) HOT(7) COLD(4) HOT(8)
COLD(5) COLD(6) HOT(9) HOT(10) COLD(7) HOT(11) COLD(8) HOT(12) HOT(13) HOT(14) HOT(15)
COLD(9) HOT(16) HOT(17) COLD(10) HOT(18)
/* clang-format on */

#ifdef HOLE
	/* add rbx, rax; xor rcx, rax; a nop of two bytes */
	__asm__(".text\n.fill " EXPAND(HOLE) ", 8, 0x9066c83148d80148\n");
#endif

static const step steps[] = {
	hot_1,  hot_2,  hot_3,  hot_4,  hot_5,  hot_6,  hot_7,  hot_8,  hot_9,
	hot_10, hot_11, hot_12, hot_13, hot_14, hot_15, hot_16, hot_17, hot_18,
};

static uint64_t (*const holes[])(uint64_t state) = {
	cold_1, cold_2, cold_3, cold_4, cold_5, cold_6, cold_7, cold_8, cold_9, cold_10,
};

static NOINLINE uint64_t one_round(uint64_t state)
{
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		state = steps[i](state, words);
		if (never)
			state = holes[i % (sizeof(holes) / sizeof(holes[0]))](state);
	}
	return state;
}

__attribute__((used)) void run(void)
{
	uint64_t state = 88172645463325252;

	for (size_t i = 0; i < WORDS; i++) {
		state ^= state << 13;
		state ^= state >> 7;
		words[i] = state;
	}
	for (int i = 0; i < ROUNDS; i++)
		state = one_round(state);
	sink = state;
	for (;;)
		out(PORT_HALT, 0);
}

__asm__(".globl _start\n"
	".type _start, @function\n"
	"_start:	xorl %ebp, %ebp\n"
	"	call run\n"
	"	ud2\n"
	"	.size _start, . - _start\n");
