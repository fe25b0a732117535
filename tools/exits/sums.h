/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What crossings add up to: times outside the guest, by what there is to tell of each.
 *
 * A latency is not kept but counted: as it is if sums are exact, else as the middle of
 * one of 64 equal buckets of its power of two, which is never off by more than 1/128 (0.8
 * %). Percentiles come out with the same error; counts, totals, least and greatest are
 * exact. Memory grows with distinct (cell, value), never with pairs, unless exact.
 */
#ifndef HLG_TOOLS_EXITS_SUMS_H
#define HLG_TOOLS_EXITS_SUMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "filter/profile/index.h"
#include "tools/exits/histogram.h"
#include "tools/feed/whose.h"

/* What records exits, for messages. */
#define HLG_EXITS_HOW "hlguest record --exits"

#define HLG_NO_PORT   UINT64_MAX
#define HLG_PORT_MMIO ((uint64_t)1 << 63) /* | address of the page, not a port */

/* What a pair was. */
enum hlg_exits_kind {
	HLG_EXITS_GUEST, /* kvm_exit to kvm_entry: outside the guest */
	HLG_EXITS_VMM,   /* kvm_userspace_exit to KVM_RUN: in the VMM */
	HLG_EXITS_KINDS,
	/* Of Hyperlight's guests, whose calls end with a write to a port. */
	HLG_EXITS_BETWEEN = HLG_EXITS_KINDS, /* from that on: the host's own time */
	HLG_EXITS_CALL, /* up to that; rip is where the guest was entered for it */
	HLG_EXITS_ALL_KINDS
};

struct hlg_exits_key {
	uint64_t rip;    /* of the guest, of a cell as fold says; 0 if has_rip is 0 */
	uint64_t port;   /* HLG_NO_PORT, or with HLG_PORT_MMIO */
	uint32_t reason; /* see reasons.h */
	uint32_t vcpu;   /* index into vcpus */
	/* Of GUEST what the VMM was told first, of VMM why the guest was left, if it is
	 * known (has_other): reason and isa of the same exit's pair of the other kind. */
	uint32_t other_reason;
	uint8_t kind, isa, has_rip, other_isa, has_other;
};

struct hlg_exits_cell {
	struct hlg_exits_key key;
	uint64_t n, total, min, max; /* ns */
	struct hlg_histogram
		histogram; /* values of a cell that has many, until settled */
};

#define HLG_EXITS_MANY 1000 /* pairs of a cell that has many */

/* Pairs of a cell that took about value ns. */
struct hlg_exits_value {
	uint64_t value, n;
	uint32_t cell;
};

/* A vCPU: what one thread ran under one number. Where sandboxes are told apart, what it
 * ran of each of them is another one, and the whole, which n_vcpus counts as well, has no
 * times of its own then. */
struct hlg_exits_vcpu {
	int32_t pid, tid;
	int64_t id;       /* -1: not recorded */
	int64_t sandbox;  /* that it is a part of; 0: of none that is known; -1: the whole
			   */
	uint64_t guest;   /* ns from kvm_entry to kvm_exit */
	uint64_t outside; /* ns of pairs of HLG_EXITS_GUEST */
	uint64_t inner;   /* ns of these in the VMM */
	uint64_t vmm;     /* ns of pairs of HLG_EXITS_VMM */
	uint64_t run;     /* ns from KVM_RUN to kvm_userspace_exit */
};

/* Halves that have no other half, and records that are no good. */
struct hlg_exits_lone {
	uint64_t exits, entries; /* kvm_exit without kvm_entry, and the other way round */
	uint64_t user, runs;     /* kvm_userspace_exit, KVM_RUN; the same */
	uint64_t lost;           /* pairs of either kind that records were lost between */
	uint64_t late;           /* records that came too late to be put in order */
	uint64_t bad;            /* records that lack fields */
};

struct hlg_exits_sums {
	bool exact;
	uint64_t halt; /* in: the port that guest calls end with; 0: none is known */
	bool io_page;  /* in: words of HLG_PORT_IO_PAGE are ports (ports.h) */
	/* What an address counts as; NULL: itself. */
	uint64_t (*fold)(void *ctx, uint64_t rip);
	void *fold_ctx;
	/* Where guests lie at the same addresses: whose each is; else NULL. */
	struct hlg_whose *whose;
	struct hlg_exits_cell *cells;
	size_t n_cells, room_cells;
	uint32_t *index; /* hash of cells, at most an eighth used; holds number + 1 */
	size_t room_index;
	unsigned index_shift; /* 64 - log2 of room_index */
	struct hlg_exits_value *values;
	uint32_t n_values;
	struct hlg_index of_values;
	struct hlg_exits_vcpu *vcpus;
	size_t n_vcpus;
	struct hlg_exits_lone lone;
	/* total in ns */
	uint64_t pairs[HLG_EXITS_ALL_KINDS], total[HLG_EXITS_ALL_KINDS];
	uint64_t all;   /* ns of all vCPUs' times, of merged sums */
	bool crossed;   /* some kvm_exit had its kvm_entry, selected or not */
	bool overflow;  /* times add up to more than 2^64 ns: sums are worthless */
	bool no_memory; /* something could not be counted: the same */
};

/* Before the first, *sums is all zero but for what says how to count (exact, halt,
 * io_page, fold, fold_ctx, whose). Finish in any case. */
void hlg_exits_add(struct hlg_exits_sums *sums, const struct hlg_exits_key *key,
		   uint64_t ns);

/* When all is added: sums->values then has all of it. Without memory, no_memory. */
void hlg_exits_settle(struct hlg_exits_sums *sums);

/* Adds what another has, which is settled: its vCPUs are others. Without memory,
 * no_memory. */
void hlg_exits_merge(struct hlg_exits_sums *sums, const struct hlg_exits_sums *other);

/* The number of a new vCPU; UINT32_MAX without memory, which counts as no_memory. */
uint32_t hlg_exits_add_vcpu(struct hlg_exits_sums *sums, int32_t pid, int32_t tid,
			    int64_t id);

/* How many there are, whether in one piece or by sandbox. */
uint64_t hlg_exits_n_vcpus(const struct hlg_exits_sums *sums);

void hlg_exits_sums_finish(struct hlg_exits_sums *sums);

#endif
