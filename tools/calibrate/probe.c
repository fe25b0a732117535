// SPDX-License-Identifier: GPL-2.0-only
#include "tools/calibrate/probe.h"

#include <x86intrin.h>

#define TRIES 8

/* Of a register and itself: some processors add a constant before they execute it. */
static void add_chain(void)
{
	uint64_t turns = HLG_PROBE_CHAIN / 100, a = 1;

	__asm__ volatile("1:\n\t.rept 100\n\tadd %1, %1\n\t.endr\n\t"
			 "dec %0\n\tjnz 1b"
			 : "+r"(turns), "+r"(a)
			 :
			 : "cc");
}

static void add_wide(void)
{
	uint64_t turns = HLG_PROBE_WIDE / 200;

	__asm__ volatile("1:\n\t.rept 25\n\t"
			 "add %%rax, %%rax\n\tadd %%rcx, %%rcx\n\t"
			 "add %%rdx, %%rdx\n\tadd %%rsi, %%rsi\n\t"
			 "add %%rdi, %%rdi\n\tadd %%r8, %%r8\n\t"
			 "add %%r9, %%r9\n\tadd %%r10, %%r10\n\t"
			 ".endr\n\tdec %0\n\tjnz 1b"
			 : "+r"(turns)
			 :
			 : "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "cc");
}

/* lfence: neither reading of the TSC is done before what stands in front of it. */
static uint64_t time_of(void (*work)(void))
{
	uint64_t before, ticks;

	_mm_lfence();
	before = __rdtsc();
	_mm_lfence();
	work();
	_mm_lfence();
	ticks = __rdtsc() - before;
	return ticks ? ticks : 1;
}

static void do_nothing(void)
{
}

static uint64_t fastest_of(void (*work)(void))
{
	uint64_t best = UINT64_MAX;

	for (int i = 0; i < TRIES; i++) {
		uint64_t ticks = time_of(work);

		best = ticks < best ? ticks : best;
	}
	return best;
}

uint64_t hlg_probe_chain(void)
{
	uint64_t nothing = fastest_of(do_nothing), chain = fastest_of(add_chain);

	return chain > nothing ? chain - nothing : 1;
}

uint64_t hlg_probe_wide(void)
{
	return time_of(add_wide);
}
