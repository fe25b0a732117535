// SPDX-License-Identifier: GPL-2.0-only
/*
 * A guest whose calls are known: tests/kit/called.py has them. Built without optimisation
 * and with frame pointers, so that every function has a frame, also leaves.
 *
 * Built with -O1 and without frame pointers, its unwind tables tell as much.
 *
 * With -DLIES it lies about them: it runs with frame pointers that are none, or lead in a
 * circle, to where there is no memory, or to the ends of the address space.
 */
#include <stddef.h>
#include <stdint.h>

#define PORT_HALT 108 /* Hyperlight's */
#define NOINLINE  __attribute__((noinline))
#define DEPTH     200 /* more than a stack that is recorded has frames */

/* With -DLARGE=BYTES, deep() has frames of that size, but is less deep. */
#ifdef LARGE
#undef DEPTH
#define DEPTH       100
#define LARGE_FRAME volatile uint8_t bytes[LARGE] = {(uint8_t)state}
#else
#define LARGE_FRAME (void)0
#endif

typedef uint64_t (*step)(uint64_t state);

void run(void);

volatile uint64_t sink;

static void out(uint16_t port, uint32_t value)
{
	__asm__ volatile("outl %0, %1" : : "a"(value), "d"(port) : "memory");
}

static inline __attribute__((always_inline)) uint64_t work(uint64_t state)
{
	for (int i = 0; i < 3000; i++)
		state = (state ^ state >> 29) * UINT64_C(0xbf58476d1ce4e5b9);
	return state;
}

#define LEAF(name)                                                                       \
	NOINLINE uint64_t name(uint64_t state);                                          \
	NOINLINE uint64_t name(uint64_t state)                                           \
	{                                                                                \
		return work(state);                                                      \
	}

LEAF(leaf_shared)
LEAF(leaf_right)
LEAF(leaf_pointed)
LEAF(leaf_bottom)

NOINLINE uint64_t left(uint64_t state);
NOINLINE uint64_t left(uint64_t state)
{
	return leaf_shared(state + 1);
}

NOINLINE uint64_t right(uint64_t state);
NOINLINE uint64_t right(uint64_t state)
{
	return leaf_right(leaf_shared(state + 2));
}

/* Calls itself. */
NOINLINE uint64_t again(uint64_t state, int depth);
NOINLINE uint64_t again(uint64_t state, int depth)
{
	return depth ? again(work(state), depth - 1) : leaf_bottom(state);
}

NOINLINE uint64_t deep(uint64_t state, int depth);
NOINLINE uint64_t deep(uint64_t state, int depth)
{
	LARGE_FRAME;
	return depth ? deep(state, depth - 1) + 1 : work(work(state));
}

NOINLINE uint64_t by_pointer(uint64_t state, step pointed);
NOINLINE uint64_t by_pointer(uint64_t state, step pointed)
{
	return pointed(state);
}

#ifdef LIES
static NOINLINE uint64_t lie(uint64_t state, uint64_t rbp)
{
	uint64_t n = 3000;

	__asm__ volatile("xchg %%rbp, %2\n"
			 "1: imul $5, %0, %0\n"
			 "dec %1\n"
			 "jnz 1b\n"
			 "xchg %%rbp, %2"
			 : "+r"(state), "+r"(n), "+r"(rbp));
	return state;
}

static uint64_t lies(uint64_t state)
{
	static const uint64_t ends[] = {
		1,
		8,
		0xfee00000,
		0x7ffffffff000,
		0x7ffffffffff8,
		0x800000000000,
		0xffff800000000000,
		0xfffffffffffffff0,
		0xfffffffffffffff8,
		UINT64_MAX,
	};
	uint64_t circle[4];

	circle[0] = (uint64_t)&circle[2];
	circle[2] = (uint64_t)&circle[0];
	circle[1] = circle[3] = (uint64_t)run;
	state = lie(state, circle[0]);
	state = lie(state, circle[2]);
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		state = lie(state, ends[i]);
	return state;
}
#endif

void run(void)
{
	step pointed = leaf_pointed;
	uint64_t state = 1;

	__asm__("" : "+r"(pointed));
	for (int i = 0; i < 20; i++) {
#ifdef LIES
		state = lies(state);
#endif
		state = right(left(state));
		state = again(state, 5);
		state = by_pointer(state, pointed);
		state = deep(state, DEPTH);
	}
	sink = state;
	out(PORT_HALT, 0);
}

__asm__(".globl _start\n"
	".type _start, @function\n"
	"_start: .cfi_startproc\n"
	".cfi_undefined rip\n"
	"xorl %ebp, %ebp\n"
	"call run\n"
	"ud2\n"
	".cfi_endproc\n"
	".size _start, . - _start");
