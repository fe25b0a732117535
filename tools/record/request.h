/* SPDX-License-Identifier: GPL-2.0-only */
/* What record is asked for. */
#ifndef HLG_TOOLS_RECORD_REQUEST_H
#define HLG_TOOLS_RECORD_REQUEST_H

#include <stdbool.h>
#include <stdint.h>

#include "symtab/err.h"
#include "tools/record/guest-stacks.h"
#include "tools/record/process.h"
#include "tools/record/tracing.h"

/* What is taken unless asked for otherwise. */

/* A prime, so that sampling does not fall into step with what is sampled. */
#define HLG_RECORD_FREQUENCY "997"

/* A window of counters: with instructions some 100 us, with clocks 1 ms. */
#define HLG_RECORD_WINDOW "1000000"

struct hlg_record_request {
	bool host, everything, exits, stacks, sandboxes, guest_stacks, quiet;
	bool both; /* stacks and guest_stacks, as far as they can be had */
	enum hlg_guest_stacks_way way; /* of guest_stacks */
	uint64_t stack_bytes;          /* 0: not asked for */
	uint64_t runs;                 /* 0: not asked for */
	uint64_t run; /* of them; what is true of all is told in the first: 0 */
	const char *event, *frequency, *out, *pid;
	const char *control; /* perf's --control=..., for who follows it; or NULL */
	bool room; /* for callers in the guest, which somebody else puts there */
	bool compress;
	const char *windows, *count; /* a group, and its leader's period */
	char **command;
	struct hlg_record_guests guests; /* that are known */
	bool cut;                        /* the recording, as the disk is full */
};

/* Does it need tracepoints? */
bool hlg_record_request_traces(const struct hlg_record_request *args);

/* Which ones, where event, in perf's words, is what is sampled by. */
struct hlg_record_tracing hlg_record_request_tracing(
	const struct hlg_record_request *args, const char *event);

/* Fails for -p with -a. */
int hlg_record_request_check_whom(const struct hlg_record_request *args,
				  struct hlg_err *err);

/* Fails for what does not go together; a struct hlg_verb's check. */
int hlg_record_request_check(void *arguments, struct hlg_err *err);

#endif
