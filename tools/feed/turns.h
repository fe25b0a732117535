/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which sandbox a thread of a VMM ran, and when.
 *
 * A sample is of the sandbox of the last KVM_RUN of its thread, as the system call's
 * tracepoint (syscalls:sys_enter_ioctl) has them, in the order of time. A vCPU is a
 * process and a descriptor, from the first KVM_RUN on until another vCPU has that
 * descriptor, which the KVM_SET_CPUID2 (arm64: KVM_ARM_VCPU_INIT) tells that follows
 * KVM_CREATE_VCPU in its thread. Where that is not recorded, the next KVM_RUN of the
 * thread that made one is of a new vCPU. If that thread runs none, so is the first
 * KVM_RUN of a thread that ran nothing before.
 *
 * A sandbox is a machine: KVM_CREATE_VCPU has its descriptor and the vCPU's number in it.
 * A number that the machine of a descriptor has already is another machine's. Without
 * KVM_SET_CPUID2, which of several that were made a vCPU is goes by the descriptors: it
 * can be wrong where several machines of several vCPUs each are made before any of them
 * runs. Without KVM_CREATE_VCPU each vCPU is a sandbox. They are numbered from 1 on, by
 * first KVM_RUN.
 *
 * Of the vCPUs that a process made and that did not run, 4,096 are kept, the latest.
 *
 * Memory: 16 bytes for each time that a sample or a kvm_entry finds its thread with
 * another sandbox than the one before did; where each KVM_RUN counts, that one does.
 */
#ifndef HLG_TOOLS_FEED_TURNS_H
#define HLG_TOOLS_FEED_TURNS_H

#include "filter/profile/profile.h"
#include "tools/feed/probe.h"

struct hlg_turns;

enum {
	HLG_TURNS_RUN = 0xae80,         /* _IO(KVMIO, 0x80), linux/kvm.h */
	HLG_TURNS_CREATE_VCPU = 0xae41, /* _IO(KVMIO, 0x41) */
	/* _IOW(KVMIO, 0x46, struct kvm_userspace_memory_region) */
	HLG_TURNS_SET_USER_MEMORY_REGION = 0x4020ae46,
	/* _IOW(KVMIO, 0x90, struct kvm_cpuid2): of a vCPU */
	HLG_TURNS_SET_CPUID2 = 0x4008ae90,
	/* _IOW(KVMIO, 0xae, struct kvm_vcpu_init): the same of arm64 */
	HLG_TURNS_ARM_VCPU_INIT = 0x4020aeae,
	/* Of ours, for what is no call: KVM's own tracepoints. */
	HLG_TURNS_SAMPLE = 0,
	HLG_TURNS_EXIT = HLG_PROBE_EXIT,
	HLG_TURNS_ENTRY = HLG_PROBE_ENTRY,
	HLG_TURNS_OUT = HLG_PROBE_PIO
};

/* A record in the order of time. */
struct hlg_turns_item {
	uint64_t time;
	int32_t pid, tid, fd;
	uint32_t cmd;   /* HLG_TURNS_... */
	uint64_t value; /* ENTRY: the guest's address; OUT: the port; of calls the third
			 * argument */
};

/* An empty one, which items are given to (turns-read.h does); NULL without memory.
 * each_run: a sandbox has its thread from the KVM_RUN on, and not from the first sample or
 * entry behind it; for who asks of other records than these. */
struct hlg_turns *hlg_turns_make(bool each_run);

/* Of a queue (queue.h): turns take an item, in the order of time. False without memory.
 */
bool hlg_turns_take(void *turns, void *item);

void hlg_turns_free(struct hlg_turns *turns);

/* Counts are zero. */
const struct hlg_sandboxes *hlg_turns_sandboxes(const struct hlg_turns *turns);

/*
 * Adds to a profile what KVM's tracepoints tell of each of its sandboxes, and how long
 * all of them ran. Nothing is known of times unless the recording is whole: what was lost
 * could lie between any two. turns may be NULL.
 */
void hlg_turns_use(const struct hlg_turns *turns, bool whole,
		   struct hlg_profile *profile);

/*
 * Fills in the sandbox of a sample, 0 if it is not known, and the stretch: another one,
 * from 0 on, where its memory may hold another guest, as one that was restored into it.
 * So it is after a KVM_SET_USER_MEMORY_REGION of its machine; of the thread that runs it,
 * where its machine is not known. turns may be NULL.
 */
void hlg_turns_tell(const struct hlg_turns *turns, struct hlg_sample *sample);

#endif
