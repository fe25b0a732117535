/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Pairs of a thread's records, which come in the order of time.
 *
 * kvm_exit to the next kvm_entry of the same vCPU is time outside the guest; what lies
 * between (kvm_pio, kvm_mmio) tells the port, kvm_userspace_exit to the next KVM_RUN the
 * VMM's part of it. vCPUs are told apart by thread and number: the number alone says
 * nothing where a process runs many virtual machines. A vCPU that goes to another thread
 * outside the guest leaves two halves behind, which are counted, not joined.
 *
 * Where kvm_exit never fires (software KVM), kvm_userspace_exit to KVM_RUN still is time
 * in the VMM, and kvm_emulate_insn tells the guest's address.
 */
#ifndef HLG_TOOLS_EXITS_PAIR_H
#define HLG_TOOLS_EXITS_PAIR_H

#include "tools/exits/gaps.h"
#include "tools/exits/sums.h"

enum hlg_exits_record {
	HLG_EXITS_NONE, /* of no interest */
	HLG_EXITS_EXIT, /* kvm_exit */
	HLG_EXITS_ENTRY,
	HLG_EXITS_PIO,
	HLG_EXITS_MMIO,
	HLG_EXITS_USER, /* kvm_userspace_exit */
	HLG_EXITS_RUN,  /* ioctl(KVM_RUN) begins */
	HLG_EXITS_INSN, /* kvm_emulate_insn */
	HLG_EXITS_RECORDS
};

#define HLG_NO_VCPU UINT32_MAX

/* One record, as it waits for its turn. */
struct hlg_exits_item {
	uint64_t time; /* ns */
	uint64_t a; /* EXIT, INSN: address in the guest; MMIO: guest physical address */
	uint32_t b; /* EXIT, USER: reason; PIO: port */
	uint32_t vcpu; /* EXIT, ENTRY: its number, or HLG_NO_VCPU */
	uint16_t cpu;  /* or HLG_ANY_CPU */
	uint8_t kind;
	uint8_t c; /* EXIT: isa, | 0x80 if a is not recorded; USER: isa; PIO, MMIO: is
		    * it told once done (a read)? */
};

#define HLG_EXITS_NO_RIP 0x80

/* What all threads share. */
struct hlg_exits_pairing {
	struct hlg_exits_sums *sums;
	struct hlg_exits_gaps gaps;
	uint64_t start, stop; /* pairs that begin in [start, stop) count */
	bool has_runs;        /* the recording has KVM_RUN */
};

struct hlg_exits_turn;

struct hlg_exits_thread {
	int32_t pid, tid;
	struct hlg_exits_turn *turns; /* one for each vCPU */
	uint32_t n_turns, current;    /* current: of the latest kvm_exit or kvm_entry */
	uint64_t user_time, run_time;
	struct hlg_exits_key user; /* of the userspace exit that is open, or done */
	uint64_t user_ns;          /* if done: how long it took */
	uint64_t port, insn;       /* since KVM_RUN */
	uint16_t user_cpu, run_cpu;
	bool user_open, user_done, run_open, has_insn;
};

void hlg_exits_thread_init(struct hlg_exits_thread *thread, int32_t pid, int32_t tid);

/* The next records of a thread: those of n up to limit (ns). Returns how many. */
size_t hlg_exits_take(struct hlg_exits_pairing *pairing, struct hlg_exits_thread *thread,
		      const struct hlg_exits_item *items, size_t n, uint64_t limit);

/* The end of the recording: what is open stays without its other half. Frees. */
void hlg_exits_thread_end(struct hlg_exits_pairing *pairing,
			  struct hlg_exits_thread *thread);

#endif
