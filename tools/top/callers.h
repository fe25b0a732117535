/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Callers inside guests, live: the program of the kernel (tools/callers) that record
 * --guest-stacks uses hands over a stack for each sample, and a thread puts it into
 * perf's records on their way from perf's pipe to another one, which is read instead. A
 * sample's stack is there when the sample is: it was taken in the same interrupt. So a
 * refresh shows both, and what is saved has both.
 *
 * By frame pointers only. If the program cannot be loaded, attached or read, samples go
 * on without callers; if the records cannot be put together anew, the recording ends.
 *
 * Memory: that of join.h for the stacks of the last seconds, and each different one once.
 */
#ifndef HLG_TOOLS_TOP_CALLERS_H
#define HLG_TOOLS_TOP_CALLERS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/types.h>

#include "tools/callers/rewrite.h"

struct hlg_callers_program;

/* All zero: there are none. */
struct hlg_top_callers {
	struct hlg_callers_program *program;
	struct hlg_join join;
	pthread_t thread;
	bool runs;            /* the thread does */
	atomic_bool attached; /* to perf's events */
	int from;             /* perf's pipe */
	FILE *to;
	struct hlg_err err; /* the thread's; empty: it did not fail */
};

/* Loads the program; fails where this machine, user or build cannot. */
int hlg_top_callers_load(struct hlg_top_callers *callers, struct hlg_err *err);

/* Begins between perf's pipe, which it closes, and what is to be read instead, which is
 * returned for the caller to close; or -1: from has to be read itself then. */
int hlg_top_callers_begin(struct hlg_top_callers *callers, int from, struct hlg_err *err);

/* perf has opened its events. */
int hlg_top_callers_attach(struct hlg_top_callers *callers, pid_t perf,
			   struct hlg_err *err);

/* Nobody reads any more, and perf has ended. Fails if the recording ended because its
 * records could not be put together. */
int hlg_top_callers_end(struct hlg_top_callers *callers, struct hlg_err *err);

void hlg_top_callers_finish(struct hlg_top_callers *callers);

#endif
