/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where vCPUs began, as KVM's tracepoints have it: the address of the first kvm_entry of
 * a sandbox, or of a thread where these are not known, and what guests wrote to
 * Hyperlight's port Halt. The first is the entry point of an ELF, or of a snapshot; from
 * Hyperlight 0.13.1 on the first write has the address of dispatch_function, later ones
 * what the register held. Only the command's feed reads these; a filter knows none.
 */
#ifndef HLG_FILTER_PROFILE_STARTS_H
#define HLG_FILTER_PROFILE_STARTS_H

#include <stdbool.h>
#include <stdint.h>

#include "filter/profile/index.h"

struct hlg_start {
	uint64_t ip;
	uint64_t time; /* 0: not known */
	int32_t tid;
	uint32_t sandbox; /* 0: not known */
	bool halt;        /* written to the port, not entered at */
	uint32_t times;   /* this thread wrote it; 1 of an entry. Not to be set */
	bool ended;       /* of a recording that was read. Not to be set */
};

enum {
	HLG_STARTS = 4096,      /* at most; what comes later is left out */
	HLG_STARTS_HALT = 0x6c, /* Hyperlight's OutBAction::Halt, 108 */
	/* What is written there is an address from the first to below the second. */
	HLG_STARTS_HALT_MIN = 0x1000,
	HLG_STARTS_HALT_MAX = 0x7fffffff
};

/* All zero before the first use. */
struct hlg_starts {
	struct hlg_start *at; /* in no order that holds for files in another */
	uint32_t n;
	bool full; /* some were left out: there were HLG_STARTS, or no memory */
	struct hlg_index index;
};

/* Adds an entry, if it is the first of its sandbox, else of its thread, by its time, and
 * else as they come; or an address that a thread's guest halted with, if it can be one:
 * the register holds 32 bits, and rubbish is negative. */
void hlg_starts_add(struct hlg_starts *starts, struct hlg_start start);

/* A recording ends: sandboxes and threads to come are others even if their numbers are
 * the same. Of those that ended, entries at one address are one, and halts of one thread
 * number with one address have the larger times. */
void hlg_starts_end(struct hlg_starts *starts);

/* Adds those of another recording, that has ended, as if they had ended here; or of
 * another part of this one, which has not: times of halts is the sum. */
void hlg_starts_merge(struct hlg_starts *to, const struct hlg_starts *from);

void hlg_starts_finish(struct hlg_starts *starts);

#endif
