// SPDX-License-Identifier: GPL-2.0-only
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

#define ROUNDS   8  /* batches of each row in a visit */
#define VISITS   60 /* at least, before enough is enough: 0.3 s */
#define PAUSE_NS 5000000
#define ANCHORS  8
#define TRIES    8
#define SLOWER   1.03 /* than the fastest, and a probe had no core of its own */

/* Of a register and itself: some processors add a constant before they execute it. */
static void add_chain(void)
{
	uint64_t turns = HLG_NATIVE_CHAIN / 100, a = 1;

	__asm__ volatile("1:\n\t.rept 100\n\tadd %1, %1\n\t.endr\n\t"
			 "dec %0\n\tjnz 1b"
			 : "+r"(turns), "+r"(a)
			 :
			 : "cc");
}

static void add_wide(void)
{
	uint64_t turns = HLG_NATIVE_WIDE / 200;

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

/* Without what reading it takes: of several tries the fastest, since a sibling may slow
 * it down by some percent. Not 0. About 10 us. */
static uint64_t probe_chain(void)
{
	uint64_t nothing = fastest_of(do_nothing), chain = fastest_of(add_chain);

	return chain > nothing ? chain - nothing : 1;
}

/* One try. Not 0. About 6 us where nobody has a share. */
static uint64_t probe_wide(void)
{
	return time_of(add_wide);
}

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

		if (i == 0 || between < best) {
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
	madvise((void *)native->pages, sizeof(native->pages), MADV_DONTNEED);
	for (size_t i = 0; i < HLG_NATIVE_PAGES; i++)
		to[i] = time_read(native->pages + i * HLG_NATIVE_PAGE);
}

static const struct {
	void (*read)(const struct hlg_native *native, uint64_t *to);
	size_t turns;
} rows[HLG_NATIVE_ROWS] = {
	[HLG_NATIVE_PAIR] = {read_pairs, HLG_NATIVE_TURNS},
	[HLG_NATIVE_GETPPID] = {read_getppid, HLG_NATIVE_TURNS},
	[HLG_NATIVE_FAULT] = {read_faults, HLG_NATIVE_PAGES},
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
 * The CPU's column "steal" of "cpuN user nice system idle iowait irq softirq steal ...",
 * proc(5), in its own unit; 0 where it cannot be read.
 */
static uint64_t stolen_from(int cpu)
{
	FILE *f = fopen("/proc/stat", "re");
	char *line = NULL;
	unsigned long long steal, stolen = 0;
	size_t size = 0;
	int of = -1;

	while (f && of != cpu && getline(&line, &size, f) > 0)
		if (line[3] != ' ' &&
		    sscanf(line, "cpu%d %*u %*u %*u %*u %*u %*u %*u %llu", &of, &steal) ==
			    2 &&
		    of == cpu)
			stolen = steal;
	free(line);
	if (f)
		fclose(f);
	return stolen;
}

int hlg_native_open(struct hlg_native **native, struct hlg_err *err)
{
	struct hlg_native *n = mmap(NULL, sizeof(*n), PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	cpu_set_t one;

	*native = n == MAP_FAILED ? NULL : n;
	if (n == MAP_FAILED)
		return hlg_err_memory(err, "exit cost");
	for (size_t i = 0; i < HLG_NATIVE_ROWS; i++)
		n->logs[i].turns = rows[i].turns;
	madvise((void *)n->pages, sizeof(n->pages), MADV_NOHUGEPAGE);
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
	munmap(native, sizeof(*native));
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
		*wide = probe_wide();
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
	clock = probe_chain();
	wide = probe_wide();
	read_round(native, &wide);
	native->n = first;
	for (size_t i = 0; i < ROUNDS; i++)
		read_round(native, &wide);
	again = probe_chain();
	note_visit(native, first, again < clock ? again : clock,
		   stolen_from(cpu) != stolen);
}

/* What adds that wait for nothing took, in core cycles: whatever the clock was. */
static double cycles_of(const struct hlg_native_batch *batch)
{
	return (double)batch->wide / (double)batch->clock * HLG_NATIVE_CHAIN;
}

static double fastest(const struct hlg_native *native)
{
	double least = 0;

	for (size_t row = 0; row < HLG_NATIVE_ROWS; row++)
		for (size_t i = 0; i < native->n; i++) {
			double cycles = cycles_of(&native->logs[row].batches[i]);

			least = least == 0 || cycles < least ? cycles : least;
		}
	return least;
}

void hlg_native_judge(struct hlg_native *native)
{
	double least = fastest(native);

	for (size_t row = 0; row < HLG_NATIVE_ROWS; row++)
		for (size_t i = 0; i < native->n; i++) {
			struct hlg_native_batch *batch = &native->logs[row].batches[i];

			if (batch->why == HLG_NATIVE_SHARED)
				batch->why = HLG_NATIVE_QUIET;
			if (batch->why == HLG_NATIVE_QUIET &&
			    cycles_of(batch) > least * SLOWER)
				batch->why = HLG_NATIVE_SHARED;
		}
}

static bool has_enough(struct hlg_native *native)
{
	hlg_native_judge(native);
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

/* Medians of batches: least and most of all, and of the quiet ones. */
static void note_median(struct hlg_batches *batches, uint64_t median, bool quiet)
{
	batches->least = median < batches->least ? median : batches->least;
	batches->most = median > batches->most ? median : batches->most;
	if (!quiet)
		return;
	batches->quiet_least =
		median < batches->quiet_least ? median : batches->quiet_least;
	batches->quiet_most = median > batches->quiet_most ? median : batches->quiet_most;
}

static void count_batches(const struct hlg_native_log *log, size_t n, uint64_t *room,
			  struct hlg_batches *batches)
{
	*batches = (struct hlg_batches){
		.n = n, .least = UINT64_MAX, .quiet_least = UINT64_MAX};
	for (size_t i = 0; i < n; i++) {
		enum hlg_native_why why = log->batches[i].why;

		batches->whys[why]++;
		memcpy(room, log->readings + i * log->turns, log->turns * sizeof(*room));
		hlg_ticks_sort(room, log->turns);
		note_median(batches, hlg_ticks_percentile(room, log->turns, 50),
			    why == HLG_NATIVE_QUIET);
	}
	if (batches->whys[HLG_NATIVE_QUIET] == 0)
		batches->quiet_least = 0;
	batches->undisturbed = batches->whys[HLG_NATIVE_QUIET] >= HLG_NATIVE_FEW &&
			       batches->whys[HLG_NATIVE_QUIET] >= n / HLG_NATIVE_SHARE;
}

void hlg_native_sum(struct hlg_native *native, enum hlg_native_row row,
		    struct hlg_ticks *ticks, struct hlg_batches *batches)
{
	const struct hlg_native_log *log = &native->logs[row];
	size_t size = log->turns * sizeof(*log->readings), n = 0;
	struct hlg_ticks all;

	count_batches(log, native->n, native->room, batches);
	memcpy(native->room, log->readings, native->n * size);
	hlg_ticks_sum(&all, native->room, native->n * log->turns);
	batches->raw = all.drift;
	for (size_t i = 0; i < native->n; i++)
		if (!batches->undisturbed || log->batches[i].why == HLG_NATIVE_QUIET)
			memcpy(native->room + n++ * log->turns,
			       log->readings + i * log->turns, size);
	hlg_ticks_sum(ticks, native->room, n * log->turns);
}

void hlg_native_clock(const struct hlg_native *native, struct hlg_clock *clock)
{
	const struct hlg_native_log *log = &native->logs[0];
	uint64_t clocks[HLG_NATIVE_MOST]; /* 64 KB */

	*clock = (struct hlg_clock){0};
	if (native->n == 0)
		return;
	for (size_t i = 0; i < native->n; i++)
		clocks[i] = log->batches[i].clock;
	hlg_ticks_sort(clocks, native->n);
	clock->low =
		(double)hlg_ticks_percentile(clocks, native->n, 5) / HLG_NATIVE_CHAIN;
	clock->ticks =
		(double)hlg_ticks_percentile(clocks, native->n, 50) / HLG_NATIVE_CHAIN;
	clock->high =
		(double)hlg_ticks_percentile(clocks, native->n, 95) / HLG_NATIVE_CHAIN;
	clock->width = HLG_NATIVE_WIDE / fastest(native);
}
