// SPDX-License-Identifier: GPL-2.0-only
/*
 * perfdata-bench FILE GUEST.elf: nanoseconds per sample of (a) a walk over the headers of
 * the mapped file and of the file read in windows, (b) the reader with a sum over the
 * samples, (c) the reader feeding a profile, (d) two of them. Interleaved, the least of
 * several rounds.
 *
 * perfdata-bench --walk FILE: (a) in windows, once, for others to be measured against.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "filter/run.h"
#include "tools/feed/feed.h"
#include "tools/perfdata/format.h"
#include "tools/perfdata/perfdata.h"

#define ROUNDS 7
#define WINDOW (256 * 1024)

static const char *path, *guest;
static uint64_t sum; /* so that nothing is optimized away */

static double now(bool threads)
{
	struct timespec t;

	/* Of one thread its own time, so that a busy machine disturbs less. */
	clock_gettime(threads ? CLOCK_MONOTONIC : CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static _Noreturn void die(const char *what)
{
	fprintf(stderr, "perfdata-bench: %s\n", what);
	exit(1);
}

static int open_data(struct hlg_file_header *h)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || pread(fd, h, sizeof(*h), 0) != sizeof(*h))
		die("cannot read the file");
	return fd;
}

static const uint8_t *walk(const uint8_t *p, const uint8_t *end, uint64_t *n)
{
	while ((size_t)(end - p) >= HLG_HEADER_SIZE) {
		uint64_t header = hlg_perfdata_u64(p);

		if (header >> 48 > (uint64_t)(end - p))
			break;
		*n += (uint32_t)header == PERF_RECORD_SAMPLE;
		p += header >> 48;
	}
	return p;
}

static uint64_t bare_mapped(void)
{
	struct hlg_file_header h;
	int fd = open_data(&h);
	size_t size = h.data.offset + h.data.size;
	uint8_t *map = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
	uint64_t n = 0;

	if (map == MAP_FAILED)
		die("cannot map the file");
	walk(map + h.data.offset, map + size, &n);
	munmap(map, size);
	close(fd);
	return n;
}

static uint64_t bare_windows(void)
{
	static uint8_t room[65536 + WINDOW];
	struct hlg_file_header h;
	int fd = open_data(&h);
	uint64_t at = h.data.offset, end = at + h.data.size, n = 0;
	size_t left = 0;

	while (at < end) {
		size_t want = end - at < WINDOW ? end - at : WINDOW;
		ssize_t got = pread(fd, room + 65536, want, (off_t)at);
		const uint8_t *p;

		if (got <= 0)
			die("cannot read the file");
		p = walk(room + 65536 - left, room + 65536 + got, &n);
		left = (size_t)(room + 65536 + got - p);
		memmove(room + 65536 - left, p, left);
		at += (uint64_t)got;
	}
	close(fd);
	return n;
}

static inline __attribute__((always_inline)) void add_up(void *ctx,
							 struct hlg_perfdata_raw *raw)
{
	uint64_t *total = ctx;

	*total += raw->period + raw->ip + hlg_perfdata_cpumode(raw);
}

static inline __attribute__((always_inline)) void add_up_whole(
	void *ctx, struct hlg_perfdata_raw *raw)
{
	struct hlg_sample s = hlg_perfdata_sample(raw);
	uint64_t *total = ctx;

	*total += s.period + s.ip + s.time + (uint32_t)s.pid + (uint32_t)s.tid +
		  (uint32_t)s.cpu + s.cpumode + s.event;
}

static uint64_t finish(struct hlg_perfdata *pd, int rc, const struct hlg_err *err)
{
	uint64_t n;

	if (rc < 0)
		die(err->msg);
	n = hlg_perfdata_counts(pd)->samples;
	hlg_perfdata_close(pd);
	return n;
}

static uint64_t reader_sum(void)
{
	const struct hlg_perfdata_sink sink = {0};
	struct hlg_perfdata *pd;
	struct hlg_err err;

	if (hlg_perfdata_open(&pd, path, &err) < 0)
		die(err.msg);
	return finish(pd, hlg_perfdata_read(pd, add_up, &sink, &sum, &err), &err);
}

static uint64_t reader_whole(void)
{
	const struct hlg_perfdata_sink sink = {0};
	struct hlg_perfdata *pd;
	struct hlg_err err;

	if (hlg_perfdata_open(&pd, path, &err) < 0)
		die(err.msg);
	return finish(pd, hlg_perfdata_read(pd, add_up_whole, &sink, &sum, &err), &err);
}

/* As hlguest report reads it, its images included. */
static uint64_t feed(unsigned threads)
{
	const struct hlg_feed_how how = {.threads = threads};
	char *argv[] = {(char *)(uintptr_t)guest};
	struct hlg_recording_sums sums;
	struct hlg_run run;
	struct hlg_err err;

	if (hlg_run_start(&run, 1, argv, &err) < 0 ||
	    hlg_feed_read(path, &how, &run.profile, NULL, &sums, &err) < 0)
		die(err.msg);
	sum += run.profile.seen.period;
	hlg_run_finish(&run);
	return sums.samples;
}

static uint64_t one_thread(void)
{
	return feed(1);
}

static uint64_t two_threads(void)
{
	return feed(2);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		uint64_t (*run)(void);
	} ways[] = {
		{"(a) headers, mapped", bare_mapped},
		{"(a) headers, windows", bare_windows},
		{"(b) reader, ip+period", reader_sum},
		{"(b) reader, all fields", reader_whole},
		{"(c) reader, profile", one_thread},
		{"(d) the same, 2 threads", two_threads},
	};
	double least[6] = {0};
	uint64_t n = 0;

	if (argc != 3) {
		fputs("usage: perfdata-bench FILE GUEST.elf | --walk FILE\n", stderr);
		return 2;
	}
	if (strcmp(argv[1], "--walk") == 0) {
		path = argv[2];
		printf("%" PRIu64 " samples\n", bare_windows());
		return 0;
	}
	path = argv[1];
	guest = argv[2];
	for (int round = 0; round < ROUNDS; round++) {
		for (int i = 0; i < 6; i++) {
			bool threads = ways[i].run == two_threads;
			double start = now(threads), took;

			n = ways[i].run();
			took = now(threads) - start;
			if (round == 0 || took < least[i])
				least[i] = took;
		}
	}
	for (int i = 0; i < 6; i++)
		printf("%-24s %6.2f ns/sample\n", ways[i].name, least[i] / (double)n);
	printf("%" PRIu64 " samples, check %" PRIx64 "\n", n, sum);
	return 0;
}
