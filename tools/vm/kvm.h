/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One virtual machine with one vCPU. Only kvm.c, regs.c and deadline.c know KVM.
 *
 * The guest starts in 64-bit mode with its window of memory mapped, read, write and
 * execute, at any page-aligned virtual base below 2^47. It may write to ports below 256
 * from either ring; the one of HLG_VM_PORT_CALL means a system call. An exception ends
 * the run, unless the guest has handlers (rings.h).
 *
 * A machine is used by one thread at a time; machines on different threads do not
 * disturb each other. Functions return 0 or a negative errno with err set.
 */
#ifndef HLG_TOOLS_VM_KVM_H
#define HLG_TOOLS_VM_KVM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tools/vm/pages.h"

struct kvm_run;
struct hlg_err;

#define HLG_VM_PORT_CALL   200
#define HLG_VM_WINDOW_MAX  (UINT64_C(1) << 30) /* bytes */
#define HLG_VM_ADDRESS_END (UINT64_C(1) << 47) /* of the lower canonical half */

/* The caller's memory, filled by hlg_vm_machine_init. The guest sees window at base. */
struct hlg_vm_machine {
	int kvm_fd;
	int vm_fd;
	int vcpu_fd;
	struct kvm_run *run;
	size_t run_size; /* bytes */
	uint8_t *memory; /* the window, the monitor's own pages, the page tables */
	size_t size;     /* bytes of memory */
	size_t window;   /* bytes of memory the guest sees */
	bool avx;        /* the guest may use it */
	struct hlg_vm_pages pages;
	bool rings;    /* it has tables for exceptions: rings.h */
	uint64_t call; /* guest address that syscall enters; 0: the monitor's own */
};

/* Why the guest stopped. */
struct hlg_vm_exit {
	bool halted;    /* by hlt; port and value are 0 then */
	bool call;      /* by syscall: see hlg_vm_regs_call */
	uint16_t port;  /* of an out instruction */
	uint32_t value; /* what it wrote, zero-extended */
};

/* window: bytes, page-aligned, 1 to HLG_VM_WINDOW_MAX. On failure nothing is left behind.
 */
int hlg_vm_machine_init(struct hlg_vm_machine *machine, size_t window,
			struct hlg_err *err);
void hlg_vm_machine_finish(struct hlg_vm_machine *machine);

/* Maps the window at base; call it once per machine. -EINVAL if base is not page-aligned.
 */
int hlg_vm_machine_map(struct hlg_vm_machine *machine, uint64_t base,
		       struct hlg_err *err);

/* Zeroes these bytes of the window, both page-aligned, and gives their memory back. */
int hlg_vm_machine_clear(struct hlg_vm_machine *machine, size_t offset, size_t size,
			 struct hlg_err *err);

/*
 * Runs the guest up to its next out, hlt or system call. Any other exit is -EIO, told
 * with the rip; -ETIME when the deadline of the calling thread has passed.
 */
int hlg_vm_machine_step(struct hlg_vm_machine *machine, struct hlg_vm_exit *exit,
			struct hlg_err *err);

#endif
