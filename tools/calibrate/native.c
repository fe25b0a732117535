// SPDX-License-Identifier: GPL-2.0-only
/* The same machine without a guest: a system call and a page fault, and its TSC. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include <x86intrin.h>

#include "crossing.h"

#define ROUNDS   20
#define TURNS    2000 /* of a round */
#define PAGES    512
#define PAUSE_NS 40000000 /* before each round */
#define TSC_NS   50000000 /* how long its rate is measured */

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC_RAW, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static double tsc_rate(void)
{
	uint64_t ns = now(), ticks = __rdtsc(), end;

	do
		end = now();
	while (end - ns < TSC_NS);
	return (double)(__rdtsc() - ticks) * 1e9 / (double)(end - ns);
}

/* Readings of the native rows, a round's behind those of the rounds before. */
struct readings {
	uint64_t *pair, *getppid, *fault;
};

static void read_pairs(uint64_t *to)
{
	for (size_t i = 0; i < TURNS; i++) {
		uint64_t before;

		_mm_mfence();
		before = __rdtsc();
		to[i] = __rdtsc() - before;
		_mm_mfence();
	}
}

static void read_getppid(uint64_t *to)
{
	for (size_t i = 0; i < TURNS; i++) {
		uint64_t before;

		_mm_mfence();
		before = __rdtsc();
		syscall(SYS_getppid);
		to[i] = __rdtsc() - before;
	}
}

/* Each page once: the memory is given back before. */
static void read_faults(uint64_t *to, volatile char *memory, size_t page)
{
	madvise((void *)memory, PAGES * page, MADV_DONTNEED);
	for (size_t i = 0; i < PAGES; i++) {
		uint64_t before;

		_mm_mfence();
		before = __rdtsc();
		memory[i * page] = 1;
		to[i] = __rdtsc() - before;
	}
}

/* Rounds are apart in time, so that a slow spell of the processor is not in all. */
static void read_rounds(struct readings *all, volatile char *memory, size_t page)
{
	const struct timespec pause = {0, PAUSE_NS};

	for (size_t round = 0; round < ROUNDS; round++) {
		nanosleep(&pause, NULL);
		for (size_t warm = 0; warm < 2; warm++) {
			read_pairs(all->pair + round * TURNS);
			read_getppid(all->getppid + round * TURNS);
			read_faults(all->fault + round * PAGES, memory, page);
		}
	}
}

static uint64_t median_of(const uint64_t *readings, size_t n, uint64_t *room)
{
	struct hlg_ticks ticks;

	memcpy(room, readings, n * sizeof(*room));
	return hlg_ticks_sum(&ticks, room, n) ? ticks.p50 : 0;
}

/*
 * The row is of the quiet rounds: those whose median is at most a tenth above the least.
 * Drift is of all.
 */
static bool sum_up(struct hlg_crossing *row, uint64_t *readings, size_t per_round)
{
	uint64_t medians[ROUNDS], least = UINT64_MAX;
	uint64_t *room = calloc(ROUNDS * per_round, sizeof(*room));
	struct hlg_ticks all;
	size_t n = 0;
	bool ok = room != NULL;

	for (size_t i = 0; ok && i < ROUNDS; i++) {
		medians[i] = median_of(readings + i * per_round, per_round, room);
		least = medians[i] < least ? medians[i] : least;
	}
	for (size_t i = 0; ok && i < ROUNDS; i++)
		if (medians[i] <= least + least / 10) {
			memcpy(room + n, readings + i * per_round,
			       per_round * sizeof(*room));
			n += per_round;
		}
	ok = ok && hlg_ticks_sum(&row->ticks, room, n) &&
	     hlg_ticks_sum(&all, readings, ROUNDS * per_round);
	if (ok) {
		row->state = HLG_CROSS_MEASURED;
		row->ticks.drift = all.drift;
		row->ticks.quiet = all.quiet;
	}
	free(room);
	return ok;
}

int hlg_native_measure(struct hlg_crossings *crossings, struct hlg_err *err)
{
	const size_t n = ROUNDS * TURNS, faults = ROUNDS * PAGES;
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *memory = mmap(NULL, PAGES * page, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t *room = malloc((2 * n + faults) * sizeof(*room));
	struct hlg_crossing *rows = crossings->rows;
	bool ok = room && memory != MAP_FAILED;

	if (ok) {
		struct readings all = {room, room + n, room + 2 * n};

		madvise(memory, PAGES * page, MADV_NOHUGEPAGE);
		read_rounds(&all, memory, page);
		ok = sum_up(&rows[HLG_CROSS_PAIR_HOST], all.pair, TURNS) &&
		     sum_up(&rows[HLG_CROSS_GETPPID], all.getppid, TURNS) &&
		     sum_up(&rows[HLG_CROSS_HOST_FAULT], all.fault, PAGES);
	}
	if (memory != MAP_FAILED)
		munmap(memory, PAGES * page);
	free(room);
	crossings->hz = tsc_rate();
	return ok ? 0 : hlg_err_memory(err, "crossings");
}

double hlg_native_noise(const struct hlg_crossings *crossings)
{
	double worst = 0;

	for (size_t i = HLG_CROSS_GETPPID; i <= HLG_CROSS_HOST_FAULT; i++)
		if (crossings->rows[i].state == HLG_CROSS_MEASURED &&
		    crossings->rows[i].ticks.drift > worst)
			worst = crossings->rows[i].ticks.drift;
	return worst;
}
