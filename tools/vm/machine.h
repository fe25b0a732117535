/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One virtual machine with one vCPU. Only machine.c, regs.c and deadline.c know KVM.
 *
 * The guest starts in 64-bit mode with its window of memory mapped, read, write and
 * execute, at any page-aligned virtual base below 2^47. It may write to ports below 256
 * from either ring; the one of HLG_VM_PORT_CALL means a system call. An exception ends
 * the run, unless the guest has handlers (tables.h).
 *
 * A machine is used by one thread at a time; machines on different threads do not
 * disturb each other. Functions return 0 or a negative errno with err set.
 */
#ifndef HLG_TOOLS_VM_MACHINE_H
#define HLG_TOOLS_VM_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tools/vm/vm.h"

struct hlg_err;

/* Why the guest stopped. */
struct hlg_vm_exit {
	bool halted;    /* by hlt; port and value are 0 then */
	bool call;      /* by syscall */
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

/*
 * Runs the guest up to its next out, hlt or system call. Any other exit is -EIO, told
 * with the rip; -ETIME when the deadline of the calling thread has passed.
 */
int hlg_vm_machine_step(struct hlg_vm_machine *machine, struct hlg_vm_exit *exit,
			struct hlg_err *err);

#endif
