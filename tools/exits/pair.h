/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Records into pairs.
 *
 * In: records of all threads as they stand in the file, what was lost, rounds, the end.
 * Out: pairs and lone halves, in sums. They wait in a queue (tools/feed/queue.h) until it
 * is known that no earlier one comes; what comes nevertheless, behind a later one of its
 * thread, is late: counted, never paired.
 *
 * kvm_exit to the next kvm_entry of the same vCPU is time outside the guest; what lies
 * between (kvm_pio, kvm_mmio) tells the port, kvm_userspace_exit to the next KVM_RUN the
 * VMM's part of it. vCPUs are told apart by thread and number: the number alone says
 * nothing where a process runs many virtual machines. A vCPU that goes to another thread
 * outside the guest leaves two halves behind, which are counted, not joined. So does one
 * that is not run again, as after a fault, before its thread runs another: KVM_RUN has a
 * descriptor, or one that KVM_CREATE_VCPU may have given again.
 *
 * A call of a Hyperlight guest (sums->halt) lasts from kvm_entry, behind the end of the
 * one before or at the same address again, to the kvm_exit that ends it, and is whole
 * only if nothing cancelled it or was lost. What follows up to kvm_entry is the host's
 * own time and of neither kind. A guest that aborts ends its call as well, by its last
 * write to that port: the guest is not entered behind it again. That call is not whole.
 *
 * Where kvm_exit never fires (software KVM), kvm_userspace_exit to KVM_RUN still is time
 * in the VMM, and kvm_emulate_insn tells the guest's address.
 *
 * Memory: the queue's, for 40 bytes a record (a recording in several files has no rounds:
 * set queue.limit to SIZE_MAX, and all of its records are held), the threads' and their
 * vCPUs', the gaps'. Without memory: sums->no_memory, and the sums are worthless.
 */
#ifndef HLG_TOOLS_EXITS_PAIR_H
#define HLG_TOOLS_EXITS_PAIR_H

#include "filter/options/number.h"
#include "filter/profile/index.h"
#include "tools/exits/gaps.h"
#include "tools/exits/sums.h"
#include "tools/feed/queue.h"
#include "tools/feed/turns.h"

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
	uint64_t time;   /* ns */
	uint64_t thread; /* what PERF_SAMPLE_TID has: pid, and tid in the upper half */
	/* EXIT, ENTRY, INSN: address in the guest; MMIO: guest physical address; RUN: the
	 * descriptor */
	uint64_t a;
	uint32_t b;    /* EXIT, USER: reason; PIO: port; RUN: or it is KVM_CREATE_VCPU */
	uint32_t vcpu; /* EXIT, ENTRY: its number, or HLG_NO_VCPU */
	uint16_t cpu;  /* or HLG_ANY_CPU */
	uint8_t kind;
	uint8_t c; /* EXIT: isa, | 0x80 if a is not recorded; USER: isa; PIO, MMIO: is
		    * it told once done (a read)? */
};

#define HLG_EXITS_NO_RIP 0x80

#define HLG_EXITS_RECENT 16

struct hlg_exits_thread;

struct hlg_exits_pairing {
	struct hlg_exits_sums *sums; /* not owned */
	uint64_t start, stop;        /* pairs that begin in [start, stop) count, */
	/* and of those these sandboxes' alone, as turns tell; NULL: all. Neither is
	 * owned. */
	const struct hlg_number_list *sandboxes;
	const struct hlg_turns *turns;
	bool by_sandbox; /* as turns tell, what a vCPU ran of each is counted apart */
	struct hlg_index of_sandboxes; /* these, in the sums' vcpus */
	bool has_runs, has_entries;    /* the recording has KVM_RUN, kvm_entry */
	struct hlg_queue queue;
	struct hlg_exits_gaps gaps;
	struct hlg_exits_thread **threads;
	uint32_t n_threads;
	struct hlg_index of_threads;
	/* By tid: threads take turns. */
	struct hlg_exits_thread *recent[HLG_EXITS_RECENT];
	uint64_t *cpus; /* time of each CPU's latest record */
	size_t n_cpus;
};

/* Of all times. *pairing does not move until finish. */
void hlg_exits_begin(struct hlg_exits_pairing *pairing, struct hlg_exits_sums *sums);
void hlg_exits_finish(struct hlg_exits_pairing *pairing);

void hlg_exits_add_cpu(struct hlg_exits_pairing *pairing, uint16_t cpu, uint64_t time);

/*
 * A record comes in two steps: it is written where hlg_exits_next says (NULL: no memory),
 * then hlg_exits_pushed, without which nothing has happened.
 */
static inline struct hlg_exits_item *hlg_exits_next(struct hlg_exits_pairing *pairing)
{
	struct hlg_exits_item *item = hlg_queue_next(&pairing->queue);

	if (!item)
		pairing->sums->no_memory = true;
	return item;
}

static inline void hlg_exits_pushed(struct hlg_exits_pairing *pairing,
				    const struct hlg_exits_item *item)
{
	if (item->cpu < pairing->n_cpus)
		pairing->cpus[item->cpu] = item->time;
	else if (item->cpu != HLG_ANY_CPU)
		hlg_exits_add_cpu(pairing, item->cpu, item->time);
	hlg_queue_pushed(&pairing->queue, item->time);
}

/* Records of a CPU's buffer (HLG_ANY_CPU: not known) were lost before time. */
void hlg_exits_lose(struct hlg_exits_pairing *pairing, uint64_t time, uint16_t cpu);

/* One record of this time makes no sense: who it is of is not known. */
void hlg_exits_lose_at(struct hlg_exits_pairing *pairing, uint64_t time);

void hlg_exits_round(struct hlg_exits_pairing *pairing);

/* The end of the recording: everything is paired, or counted as alone. */
void hlg_exits_end(struct hlg_exits_pairing *pairing);

#endif
