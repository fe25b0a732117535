// SPDX-License-Identifier: GPL-2.0-only
/* The same machine without a guest: a system call and a page fault, and its TSC. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include <x86intrin.h>

#include "crossing.h"

#define TURNS       20000
#define PAGES       512
#define FAULT_TURNS (PAGES * 16)
#define TSC_NS      50000000 /* how long its rate is measured */

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

static bool sum_up(struct hlg_crossing *row, uint64_t *readings, size_t n)
{
	row->state = HLG_CROSS_MEASURED;
	return hlg_ticks_sum(&row->ticks, readings, n);
}

static bool measure_pair(struct hlg_crossing *row, uint64_t *room)
{
	for (size_t i = 0; i < TURNS; i++) {
		uint64_t before;

		_mm_mfence();
		before = __rdtsc();
		room[i] = __rdtsc() - before;
		_mm_mfence();
	}
	return sum_up(row, room, TURNS);
}

static bool measure_getppid(struct hlg_crossing *row, uint64_t *room)
{
	for (size_t i = 0; i < TURNS; i++) {
		uint64_t before;

		_mm_mfence();
		before = __rdtsc();
		syscall(SYS_getppid);
		room[i] = __rdtsc() - before;
	}
	return sum_up(row, room, TURNS);
}

/* Each page once, of memory that is new each time round. */
static bool measure_fault(struct hlg_crossing *row, uint64_t *room)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), size = PAGES * page, n = 0;
	volatile char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
				     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED) {
		snprintf(row->reason, sizeof(row->reason), "no memory: %s",
			 strerrordesc_np(errno));
		return true;
	}
	madvise((void *)memory, size, MADV_NOHUGEPAGE);
	while (n < FAULT_TURNS) {
		for (size_t i = 0; i < PAGES; i++) {
			uint64_t before;

			_mm_mfence();
			before = __rdtsc();
			memory[i * page] = 1;
			room[n++] = __rdtsc() - before;
		}
		if (madvise((void *)memory, size, MADV_DONTNEED) < 0)
			break;
	}
	munmap((void *)memory, size);
	return sum_up(row, room, n);
}

int hlg_native_measure(struct hlg_crossings *crossings, struct hlg_err *err)
{
	struct hlg_crossing *rows = crossings->rows;
	uint64_t *room = malloc(TURNS * sizeof(*room));
	bool ok = room && measure_pair(&rows[HLG_CROSS_PAIR_HOST], room) &&
		  measure_getppid(&rows[HLG_CROSS_GETPPID], room) &&
		  measure_fault(&rows[HLG_CROSS_HOST_FAULT], room);

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
