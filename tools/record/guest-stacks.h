/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * --guest-stacks: the callers inside the guest. perf records as ever, callchains and a
 * clock of ours with it; a program of the kernel (tools/callers) is attached to perf's
 * events and hands over the guests' stacks, and when perf has ended, its recording gets
 * them. Whatever fails on the way, the recording is as good as without, and one line
 * says why; only tables that were asked for, and that the guest has not, are an error
 * before anything is recorded.
 *
 *	words[n++] = ...               hlg_guest_stacks_begin(), _options(), _command()
 *	perf is started                hlg_guest_stacks_follow(), until perf ends
 *	                               hlg_guest_stacks_end(), _finish()
 */
#ifndef HLG_TOOLS_RECORD_GUEST_STACKS_H
#define HLG_TOOLS_RECORD_GUEST_STACKS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "symtab/err.h"
#include "tools/callers/join.h"
#include "tools/record/copies.h"

struct hlg_callers_program;

/* By what callers are found. */
enum hlg_guest_stacks_way {
	HLG_GUEST_STACKS_AUTO, /* what the guest's ELF has: frame pointers, else tables */
	HLG_GUEST_STACKS_FP,   /* frame pointers */
	HLG_GUEST_STACKS_CFI,  /* unwind tables: stacks are copied, and unwound later */
};

#define HLG_GUEST_STACKS_LEAST UINT64_C(4096)  /* bytes of a stack that are copied */
#define HLG_GUEST_STACKS_BYTES UINT64_C(16384) /* unless asked for otherwise */

struct hlg_guest_stacks_how {
	enum hlg_guest_stacks_way way;
	uint64_t bytes; /* of each stack, to be copied */
	bool command;   /* perf is given one */
	const char *recording;
	const char *guest; /* an ELF or a host with one inside; NULL: not known yet */
};

#define HLG_GUEST_STACKS_WORDS 8 /* at most, of each of the two functions */

/* All 0: none are asked for, and nothing is done. */
struct hlg_guest_stacks {
	struct hlg_callers_program *program; /* NULL: the recording will be flat, */
	bool failed;                         /* and this is why, */
	struct hlg_err why;
	bool told; /* which was said */
	bool attached, gate;
	enum hlg_guest_stacks_way way; /* FP or CFI */
	bool chosen;                   /* CFI as the ELF has no frame pointers */
	struct hlg_record_copies copies;
	/* Pipes from and to perf, or the command behind the gate; from[1] and to[0] stay
	 * open in perf. */
	int from[2], to[2];
	char control[48];
	struct hlg_join join;
};

/* Decides the way, and loads the program. Fails where tables were asked for (CFI), and
 * the guest, which is known, has none. */
int hlg_guest_stacks_begin(struct hlg_guest_stacks *stacks,
			   const struct hlg_guest_stacks_how *how, struct hlg_err *err);

/* Tells why there will be none, if so; quiet: it was told before. */
void hlg_guest_stacks_warn(struct hlg_guest_stacks *stacks, bool quiet);

/* Appends perf's options for samples that are to get callers, as _options() does:
 * callchains as below. */
void hlg_guest_stacks_room(bool callchains, const char **words, size_t *n);

/* Appends perf's options, and what goes before the command. callchains: perf has been
 * told already to record the host's. */
void hlg_guest_stacks_options(struct hlg_guest_stacks *stacks, bool callchains,
			      const char **words, size_t *n);
void hlg_guest_stacks_command(struct hlg_guest_stacks *stacks, const char **words,
			      size_t *n);

/* Attaches to perf's events, opens the gate, and takes stacks until perf has ended; it is
 * then still to be waited for. */
void hlg_guest_stacks_follow(struct hlg_guest_stacks *stacks, pid_t perf);

/* Gives the recording its stacks, and tells how many, or why not; quiet: only that. guest
 * as above. False where no sample has one. */
bool hlg_guest_stacks_end(struct hlg_guest_stacks *stacks, const char *path,
			  const char *guest, bool quiet);

/* Tells if most functions of this guest have not what stacks were made by; nothing where
 * there are none. False where reports leave its callers out for that. */
bool hlg_guest_stacks_check(const struct hlg_guest_stacks *stacks, const char *guest);

/* Of a flat recording: names the way by which this guest's callers would be recorded, if
 * there is one. */
void hlg_guest_stacks_hint(const char *guest);

void hlg_guest_stacks_finish(struct hlg_guest_stacks *stacks);

#endif
