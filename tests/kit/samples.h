/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Samples written down by hand, for what must be fed to a filter without perf. One
 * line each, fields apart by blanks, numbers as C writes them:
 *
 *	[COUNTx] CPUMODE IP PERIOD PID TID CPU TIME EVENT
 *
 *	# two guest samples, user and kernel, then a host one three times
 *	5 0x5010 1000000 71 72 0 1000000 cpu-clock
 *	4 0x5064 1000000 71 72 0 2000000 cpu-clock
 *	3x 2 0x7f0000001000 1000000 71 71 1 3000000 cpu-clock
 *
 * CPUMODE is PERF_RECORD_MISC_ of linux/perf_event.h (1 kernel, 2 user, 4 guest
 * kernel, 5 guest user); TIME is in nanoseconds. "-" is "not recorded", the value
 * perf passes then: cpu, pid, tid -1, time ~0, ip 0, period the event's sample_period.
 * EVENT is the rest of the line.
 *
 * An event's attributes come before its first sample; what is not said is 0:
 *
 *	event cycles:ppG type=0 config=0 sample_period=4000 precise_ip=2
 *
 * (also sample_freq, which sets freq; exclude_host, exclude_guest, exclude_kernel,
 * exclude_user; sample_type). An event never described is a hardware counter if its name
 * begins with cycles or branches, else cpu-clock, with a sample_period of 1000000. In
 * event names \xHH is a byte, "\x20" a blank.
 *
 * Samples behind such a line have this callchain, or this cmd as data of
 * syscalls:sys_enter_ioctl, until the next; without words they have none:
 *
 *	chain 0xfffffffffffffe00 0x401000 0x402000
 *	ioctl 0xae80
 */
#ifndef HLG_TESTS_SAMPLES_H
#define HLG_TESTS_SAMPLES_H

#include <linux/perf_event.h>
#include <stddef.h>
#include <stdint.h>

struct samples_event {
	char *name;
	struct perf_event_attr attr;
};

struct samples_row {
	uint64_t count; /* 1 or more samples like this */
	uint8_t cpumode;
	uint64_t ip;
	uint64_t period;
	int32_t pid;
	int32_t tid;
	int32_t cpu;
	uint64_t time;
	size_t event; /* index into events */
	size_t chain; /* the first of its callchain in words */
	size_t n_chain;
	int64_t ioctl; /* cmd; -1: no data */
};

struct samples {
	struct samples_event *events;
	size_t n_events;
	struct samples_row *rows;
	size_t n_rows;
	uint64_t *words; /* of all callchains */
	size_t n_words;
	struct samples_row next; /* what lines have said of those to come */
};

/*
 * Reads the file at path into *s. Returns 0, or -1 when it cannot be read (a reason is
 * in errno, *line is 0) or a line cannot (its number is in *line, counted from 1).
 * *s is the caller's to give to samples_finish() in every case.
 */
int samples_read(struct samples *s, const char *path, unsigned *line);
void samples_finish(struct samples *s);

#endif
