/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which sandbox a thread of a VMM ran, and when.
 *
 * A sample is of the sandbox of the last KVM_RUN of its thread, as the system call's
 * tracepoint (syscalls:sys_enter_ioctl) has them, in the order of time. A vCPU is a
 * process and a descriptor, from the first KVM_RUN on until another vCPU has that
 * descriptor, which the KVM_SET_CPUID2 tells that follows KVM_CREATE_VCPU in its thread.
 * Where that is not recorded, the next KVM_RUN of the thread that made one is of a new
 * vCPU. If that thread runs none, so is the first KVM_RUN of a thread that ran nothing
 * before.
 *
 * A sandbox is a machine: KVM_CREATE_VCPU has its descriptor and the vCPU's number in it.
 * A number that the machine of a descriptor has already is another machine's. Without
 * KVM_SET_CPUID2, which of several that were made a vCPU is goes by the descriptors: it
 * can be wrong where several machines of several vCPUs each are made before any of them
 * runs. Without KVM_CREATE_VCPU each vCPU is a sandbox. They are numbered from 1 on, by
 * first KVM_RUN.
 *
 * Memory: 16 bytes for each time that a sample finds its thread with another sandbox than
 * its sample before did.
 */
#ifndef HLG_TOOLS_FEED_TURNS_H
#define HLG_TOOLS_FEED_TURNS_H

#include "filter/profile/profile.h"
#include "symtab/err.h"

struct hlg_turns;

/* Can it be read twice, as a file or a folder can? */
bool hlg_turns_is_kept(const char *path);

/*
 * Reads path, where it has a word of KVM_RUN; *turns is NULL where it has not, or may be
 * read but once. why then says so, "has no KVM_RUN". Without a word of KVM_RUN a file is
 * not read.
 */
int hlg_turns_read(struct hlg_turns **turns, const char *path, const char **why,
		   struct hlg_err *err);
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
