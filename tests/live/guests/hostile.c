// SPDX-License-Identifier: GPL-2.0-only
/*
 * A guest that means harm to who follows its frame pointers: rbp, and rsp too, are
 * everywhere but where they should be. Its tables of pages are microvm --hostile's.
 */
#include <stddef.h>
#include <stdint.h>

#define PORT_HALT 108 /* Hyperlight's */
#define NOINLINE  __attribute__((noinline))
#define PAGE      4096
#define HOSTILE   UINT64_C(0x0000600000000000) /* tests/rig/layout.h */
#define AREAS     9
#define AREA      (UINT64_C(1) << 39)
#define COUNT(a)  (sizeof(a) / sizeof((a)[0]))

void run(void);
uint64_t lie(uint64_t state, uint64_t rbp, uint64_t rsp);

volatile uint64_t sink;

static uint64_t frames[4 * PAGE / 8] __attribute__((aligned(PAGE)));

NOINLINE uint64_t lie(uint64_t state, uint64_t rbp, uint64_t rsp)
{
	register uint64_t stack __asm__("r8") = rsp;
	uint64_t n = 3000;

	__asm__ volatile("xchg %%rbp, %2\n"
			 "xchg %%rsp, %3\n"
			 "1: imul $5, %0, %0\n"
			 "dec %1\n"
			 "jnz 1b\n"
			 "xchg %%rsp, %3\n"
			 "xchg %%rbp, %2"
			 : "+a"(state), "+c"(n), "+d"(rbp), "+r"(stack));
	return state;
}

static uint64_t tell(uint64_t state, uint64_t rbp)
{
	return lie(state, rbp, rbp);
}

static uint64_t ends(uint64_t state)
{
	static const uint64_t at[] = {
		1,
		7,
		8,
		PAGE - 8,
		0xfee00000,
		0x00007ffffffff000,
		0x00007ffffffffff0,
		0x00007ffffffffff8,
		0x0000800000000000,
		0xffff7fffffffffff,
		0xffff800000000000,
		0xffff880000000000,
		0xfffffd0000000000, /* the VMM's own pages of the guest */
		0xffffffff81000000,
		0xffffffffff600000,
		0xfffffffffffff000,
		0xfffffffffffffff0,
		0xfffffffffffffff8,
		UINT64_MAX,
	};

	for (size_t i = 0; i < COUNT(at); i++)
		state = tell(state, at[i]);
	return state;
}

/* In circles, down, without a step, a word at a time, across the ends of pages, and up to
 * an end of the address space. */
static uint64_t chains(uint64_t state)
{
	const size_t words = COUNT(frames), page = PAGE / 8;

	for (size_t i = 0; i < words; i++)
		frames[i] = (uint64_t)&frames[(i + 1) % words];
	state = tell(state, (uint64_t)frames);
	for (size_t i = 0; i < words; i++)
		frames[i] = (uint64_t)&frames[i ? i - 1 : words - 1];
	state = tell(state, (uint64_t)&frames[words - 2]);
	for (size_t i = 0; i < words; i++)
		frames[i] = (uint64_t)&frames[i];
	state = tell(state, (uint64_t)frames);
	for (size_t i = 0; i < words; i++)
		frames[i] = i % page == page - 1 ? (uint64_t)&frames[(i + page) % words]
						 : (uint64_t)run;
	state = tell(state, (uint64_t)&frames[page - 1]);
	frames[page - 1] = UINT64_C(0x00007ffffffffff8);
	state = tell(state, (uint64_t)&frames[page - 1]);
	frames[page - 1] = UINT64_C(0xfffffffffffffff8);
	return tell(state, (uint64_t)&frames[page - 1]);
}

static uint64_t areas(uint64_t state, uint64_t *seed)
{
	static const uint64_t at[] = {
		0,      0x8,    0xf00,  0xff0,    0xff8,      0x1ff0,
		0x1ff8, 0x2ff8, 0x3ff8, 0x1ffff8, 0x3ffffff8, 0x7ffffffff8,
	};

	for (uint64_t area = HOSTILE; area < HOSTILE + AREAS * AREA; area += AREA) {
		for (size_t i = 0; i < COUNT(at); i++)
			state = tell(state, area + at[i]);
		for (int i = 0; i < 8; i++) {
			*seed = *seed * UINT64_C(6364136223846793005) + 1;
			state = tell(state, area + (*seed >> 25) / 8 * 8);
		}
	}
	return state;
}

void run(void)
{
	uint64_t state = 1, seed = sink;

	state = areas(chains(ends(state)), &seed);
	sink = seed;
	__asm__ volatile("outl %0, %1"
			 :
			 : "a"((uint32_t)state), "d"((uint16_t)PORT_HALT)
			 : "memory");
}

__asm__(".globl _start\n"
	".type _start, @function\n"
	"_start: xorl %ebp, %ebp\n"
	"call run\n"
	"ud2\n"
	".size _start, . - _start");
