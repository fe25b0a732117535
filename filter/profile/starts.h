/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where vCPUs began, as KVM's tracepoints have it: the address of a thread's first
 * kvm_entry, and what guests wrote to Hyperlight's port Halt. The first is the entry
 * point of an ELF, or of a snapshot; from Hyperlight 0.13.1 on the first write has the
 * address of dispatch_function, later ones what the register held. Only the command's
 * feed reads these; a filter knows none.
 */
#ifndef HLG_FILTER_PROFILE_STARTS_H
#define HLG_FILTER_PROFILE_STARTS_H

#include <stdbool.h>
#include <stdint.h>

struct hlg_start {
	uint64_t ip;
	int32_t tid;
	bool halt; /* written to the port, not entered at */
};

enum {
	HLG_STARTS = 256 /* at most; what comes later is left out */
};

/* All zero before the first use. */
struct hlg_starts {
	struct hlg_start at[HLG_STARTS]; /* in the order they were met */
	uint32_t n;
};

/* Adds an entry, if it is the first of its thread; or an address that was halted with, if
 * it is new and can be one: there the register holds 32 bits, and rubbish is negative. */
void hlg_starts_add(struct hlg_starts *starts, struct hlg_start start);
void hlg_starts_merge(struct hlg_starts *to, const struct hlg_starts *from);

#endif
