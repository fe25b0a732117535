/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * An end for guests that hang: a timer of the calling thread that takes its vCPUs out of
 * KVM_RUN. It takes SIGALRM. Each thread has its own, or none.
 */
#ifndef HLG_TOOLS_VM_DEADLINE_H
#define HLG_TOOLS_VM_DEADLINE_H

#include <stdbool.h>

struct kvm_run;
struct hlg_err;

/* Once per thread, before its first guest runs. Returns 0 or a negative errno. */
int hlg_vm_deadline_start(unsigned int seconds, struct hlg_err *err);
void hlg_vm_deadline_stop(void);

/* Milliseconds until this thread's deadline: 1 when it has passed; none, if it has none.
 */
unsigned int hlg_vm_deadline_left(unsigned int none);

/*
 * Is this thread's deadline over? If not, it will stop the vCPU of run from now on, at
 * the latest when KVM_RUN is entered; NULL: none.
 */
bool hlg_vm_deadline_passed(struct kvm_run *run);

#endif
