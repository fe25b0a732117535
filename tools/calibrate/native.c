// SPDX-License-Identifier: GPL-2.0-only
/* Batches: how they are read. */
#include "tools/calibrate/native.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include <x86intrin.h>

#define ROUNDS   8 /* batches of each row in a visit */
#define PAGES    16
#define VISITS   60 /* at least, before enough is enough: 0.3 s */
#define PAUSE_NS 5000000
#define ANCHORS  8

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC_RAW, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* One moment on both clocks: of several tries that with the least between its readings.
 */
static void anchor(uint64_t *ns, uint64_t *ticks)
{
	uint64_t best = UINT64_MAX;

	for (int i = 0; i < ANCHORS; i++) {
		uint64_t before = __rdtsc(), at = now(), between = __rdtsc() - before;

		if (between < best) {
			best = between;
			*ns = at;
			*ticks = before + between / 2;
		}
	}
}

double hlg_native_rate(const struct hlg_native *native)
{
	uint64_t ns, ticks;

	anchor(&ns, &ticks);
	if (ns <= native->began_ns)
		return 0;
	return (double)(ticks - native->began_ticks) * 1e9 /
	       (double)(ns - native->began_ns);
}

static void read_pairs(const struct hlg_native *native, uint64_t *to)
{
	(void)native;
	for (size_t i = 0; i < HLG_NATIVE_TURNS; i++) {
		uint64_t before;

		_mm_mfence();
		before = __rdtsc();
		to[i] = __rdtsc() - before;
		_mm_mfence();
	}
}

static void read_getppid(const struct hlg_native *native, uint64_t *to)
{
	(void)native;
	for (size_t i = 0; i < HLG_NATIVE_TURNS; i++) {
		uint64_t before;

		_mm_mfence();
		before = __rdtsc();
		syscall(SYS_getppid);
		to[i] = __rdtsc() - before;
	}
}

/*
 * What a read of a page takes, by code at the begin of a line of the cache: in builds
 * that had it elsewhere, a fault took 1,404 or 1,846 ticks in every run of the one or the
 * other.
 */
static uint64_t time_read(const volatile char *at)
{
	uint64_t before, after;

	__asm__ volatile(".p2align 6\n\t"
			 "mfence\n\trdtsc\n\tshl $32, %%rdx\n\tor %%rdx, %%rax\n\t"
			 "mov %%rax, %0\n\tmovzbl (%2), %%ecx\n\t"
			 "rdtsc\n\tshl $32, %%rdx\n\tor %%rdx, %%rax"
			 : "=&r"(before), "=&a"(after)
			 : "r"(at)
			 : "rcx", "rdx", "cc", "memory");
	return after - before;
}

/*
 * Each page once: the memory is given back before. They are read, so that the kernel maps
 * its page of zeros: a page of one's own it would have to find and clear.
 */
static void read_faults(const struct hlg_native *native, uint64_t *to)
{
	madvise((void *)native->pages, PAGES * native->page, MADV_DONTNEED);
	for (size_t i = 0; i < PAGES; i++)
		to[i] = time_read(native->pages + i * native->page);
}

static const struct {
	void (*read)(const struct hlg_native *native, uint64_t *to);
	size_t turns;
} rows[HLG_NATIVE_ROWS] = {
	[HLG_NATIVE_PAIR] = {read_pairs, HLG_NATIVE_TURNS},
	[HLG_NATIVE_GETPPID] = {read_getppid, HLG_NATIVE_TURNS},
	[HLG_NATIVE_FAULT] = {read_faults, PAGES},
};

/* What a thread that lost its CPU sees change: its switches, and where it is. */
struct seat {
	long switches;
	int cpu;
};

static struct seat look(void)
{
	struct seat seat = {.cpu = sched_getcpu()};
	struct rusage usage;

	if (getrusage(RUSAGE_THREAD, &usage) == 0)
		seat.switches = usage.ru_nvcsw + usage.ru_nivcsw;
	return seat;
}

/*
 * "cpuN user nice system idle iowait irq softirq steal ...": the last of these, if the
 * line is of that CPU.
 */
static bool read_steal(const char *line, int cpu, uint64_t *stolen)
{
	char *rest;

	if (line[3] == ' ' || strtol(line + 3, &rest, 10) != cpu)
		return false;
	for (int column = 0; column < 8; column++)
		*stolen = strtoull(rest, &rest, 10);
	return true;
}

/* The CPU's column "steal", proc(5), in its own unit; 0 where it cannot be read. */
static uint64_t stolen_from(int cpu)
{
	FILE *f = fopen("/proc/stat", "re");
	char *line = NULL;
	uint64_t stolen = 0;
	size_t size = 0;

	while (f && getline(&line, &size, f) > 0 && strncmp(line, "cpu", 3) == 0)
		if (read_steal(line, cpu, &stolen))
			break;
	free(line);
	if (f)
		fclose(f);
	return stolen;
}

int hlg_native_open(struct hlg_native **native, struct hlg_err *err)
{
	struct hlg_native *n = calloc(1, sizeof(*n));
	bool ok = n != NULL;
	cpu_set_t one;
	void *pages;

	*native = n;
	if (!n)
		return hlg_err_memory(err, "crossings");
	for (size_t i = 0; i < HLG_NATIVE_ROWS; i++) {
		n->logs[i].turns = rows[i].turns;
		n->logs[i].readings = calloc(HLG_NATIVE_MOST * rows[i].turns,
					     sizeof(*n->logs[i].readings));
		ok = ok && n->logs[i].readings;
	}
	n->page = (size_t)sysconf(_SC_PAGESIZE);
	pages = mmap(NULL, PAGES * n->page, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (!ok || pages == MAP_FAILED)
		return hlg_err_memory(err, "crossings");
	n->pages = pages;
	madvise(pages, PAGES * n->page, MADV_NOHUGEPAGE);
	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	n->pinned = sched_getaffinity(0, sizeof(n->allowed), &n->allowed) == 0 &&
		    sched_setaffinity(0, sizeof(one), &one) == 0;
	anchor(&n->began_ns, &n->began_ticks);
	return 0;
}

void hlg_native_finish(struct hlg_native *native)
{
	if (!native)
		return;
	if (native->pinned)
		sched_setaffinity(0, sizeof(native->allowed), &native->allowed);
	if (native->pages)
		munmap((void *)native->pages, PAGES * native->page);
	for (size_t i = 0; i < HLG_NATIVE_ROWS; i++)
		free(native->logs[i].readings);
	free(native);
}

/* A batch of each row, a probe behind each; wide: of the probe in front, then behind. */
static void read_round(struct hlg_native *native, uint64_t *wide)
{
	for (size_t row = 0; row < HLG_NATIVE_ROWS; row++) {
		struct hlg_native_log *log = &native->logs[row];
		struct hlg_native_batch *batch = &log->batches[native->n];
		struct seat from = look(), to;
		uint64_t before = *wide;

		rows[row].read(native, log->readings + native->n * log->turns);
		*wide = hlg_probe_wide();
		to = look();
		batch->wide = *wide > before ? *wide : before;
		batch->why = from.switches != to.switches || from.cpu != to.cpu
				     ? HLG_NATIVE_SWITCHED
				     : HLG_NATIVE_QUIET;
	}
	native->n++;
}

/* What is known of a visit only when it is over. */
static void note_visit(struct hlg_native *native, size_t first, uint64_t clock,
		       bool stolen)
{
	for (size_t row = 0; row < HLG_NATIVE_ROWS; row++)
		for (size_t i = first; i < native->n; i++) {
			struct hlg_native_batch *batch = &native->logs[row].batches[i];

			batch->clock = clock;
			if (stolen && batch->why == HLG_NATIVE_QUIET)
				batch->why = HLG_NATIVE_STOLEN;
		}
}

/* The first round is thrown away: what slept, or was a guest, has cold caches. */
void hlg_native_visit(struct hlg_native *native)
{
	size_t first = native->n;
	int cpu = sched_getcpu();
	uint64_t stolen = stolen_from(cpu), wide, clock, again;

	if (HLG_NATIVE_MOST - first <= ROUNDS)
		return;
	clock = hlg_probe_chain();
	wide = hlg_probe_wide();
	read_round(native, &wide);
	native->n = first;
	for (size_t i = 0; i < ROUNDS; i++)
		read_round(native, &wide);
	again = hlg_probe_chain();
	note_visit(native, first, again < clock ? again : clock,
		   stolen_from(cpu) != stolen);
}

static bool has_enough(struct hlg_native *native)
{
	hlg_native_sum_judge(native);
	for (size_t row = 0; row < HLG_NATIVE_ROWS; row++) {
		size_t quiet = 0;

		for (size_t i = 0; i < native->n; i++)
			quiet += native->logs[row].batches[i].why == HLG_NATIVE_QUIET;
		if (quiet < HLG_NATIVE_ENOUGH)
			return false;
	}
	return native->n >= VISITS * ROUNDS;
}

void hlg_native_top_up(struct hlg_native *native, uint64_t ns)
{
	const struct timespec pause = {0, PAUSE_NS};
	uint64_t until = now() + ns;

	while (now() < until && HLG_NATIVE_MOST - native->n > ROUNDS &&
	       !has_enough(native)) {
		nanosleep(&pause, NULL);
		hlg_native_visit(native);
	}
}
