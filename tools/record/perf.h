/* SPDX-License-Identifier: GPL-2.0-only */
/* perf's command line, and its run. */
#ifndef HLG_TOOLS_RECORD_PERF_H
#define HLG_TOOLS_RECORD_PERF_H

#include <stdbool.h>
#include <sys/types.h>

#include "symtab/err.h"
#include "tools/record/guest-stacks.h"
#include "tools/record/request.h"

/* EVENTS as perf takes a group that is sampled by its leader; to be freed, NULL without
 * memory. */
char *hlg_record_perf_group(const char *events);

/* perf's words; the last is NULL. To be freed; NULL after an error. */
const char **hlg_record_perf_words(const struct hlg_record_request *args,
				   const char *event, struct hlg_guest_stacks *stacks,
				   struct hlg_err *err);

/*
 * Runs perf (perf-find.h) with these words, the last of which is NULL, and waits for it.
 * SIGINT and SIGTERM that come by kill(1) are handed on meanwhile, SIGHUP as SIGTERM, as
 * perf is started with that ignored, and its command with it. If we end first,
 * however we do (SIGKILL), the kernel sends it SIGTERM: so it finishes its recording and
 * ends the command that it records. Only a perf with capabilities of its own (setcap(8))
 * goes on, as prctl(2) says of PR_SET_PDEATHSIG.
 *
 * Returns its exit status, or 128 and the number of the signal it died by; 127 if it
 * cannot be run, 1 if it cannot be started, told on standard error.
 */
int hlg_record_perf_run(const char **words, struct hlg_guest_stacks *stacks);

/* What a perf that is only started has from its starter. */
struct hlg_record_perf_ends {
	int in, out, error; /* its standard ones; -1: ours */
	int keep[2];        /* those that --control names; -1: none */
};

/*
 * The same, without waiting, and signals are the caller's business: its process, or -1.
 * None is blocked in perf. What it cannot do when it has been started it says on its
 * standard error, status 127.
 */
pid_t hlg_record_perf_start(const char **words, const struct hlg_record_perf_ends *ends,
			    struct hlg_err *err);

/* Has one of these come while perf ran? */
bool hlg_record_perf_interrupted(void);

#endif
