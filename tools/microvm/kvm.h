/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One virtual machine with one vCPU: the only file that knows KVM.
 *
 * The guest starts in 64-bit mode with its window of memory mapped, read, write and
 * execute, at any page-aligned virtual base below 2^47. It may write to ports below 256
 * from either ring. There is no IDT: an exception ends the run.
 *
 * A machine is used by one thread at a time; machines on different threads do not
 * disturb each other. Functions return 0 or a negative errno with err set.
 */
#ifndef MICROVM_KVM_H
#define MICROVM_KVM_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

struct kvm_run;
struct hlg_err;

#define MVM_WINDOW_MAX  (UINT64_C(1) << 30) /* bytes */
#define MVM_ADDRESS_END (UINT64_C(1) << 47) /* of the lower canonical half */

/* The caller's memory, filled by mvm_machine_init. The guest sees window at base. */
struct mvm_machine {
	int kvm_fd;
	int vm_fd;
	int vcpu_fd;
	struct kvm_run *run;
	size_t run_size; /* bytes */
	uint8_t *memory; /* the window, the TSS, the page tables */
	size_t size;     /* bytes of memory */
	size_t window;   /* bytes of memory the guest sees */
	timer_t timer;
	bool timer_set;
};

struct mvm_start {
	uint64_t rip; /* guest addresses */
	uint64_t rsp;
	uint8_t ring; /* 0 or 3 */
};

/* Why the guest stopped. */
struct mvm_exit {
	bool halted;    /* by hlt; port and value are 0 then */
	uint16_t port;  /* of an out instruction */
	uint32_t value; /* what it wrote, zero-extended */
};

/* window: bytes, page-aligned, 1 to MVM_WINDOW_MAX. On failure nothing is left behind. */
int mvm_machine_init(struct mvm_machine *machine, size_t window, struct hlg_err *err);
void mvm_machine_finish(struct mvm_machine *machine);

/* Maps the window at base; call it once per machine. -EINVAL if base is not page-aligned.
 */
int mvm_machine_map(struct mvm_machine *machine, uint64_t base, struct hlg_err *err);

/* Sets every register for a fresh run; guest memory stays as it is. */
int mvm_machine_start(struct mvm_machine *machine, const struct mvm_start *start,
		      struct hlg_err *err);

/*
 * Lets mvm_machine_step fail with -ETIME in the calling thread when this many seconds
 * from now have passed; takes SIGALRM. Only the thread that called it may step.
 */
int mvm_machine_deadline(struct mvm_machine *machine, unsigned int seconds,
			 struct hlg_err *err);

/* Runs the guest up to its next out or hlt. Any other exit is -EIO, told with the rip. */
int mvm_machine_step(struct mvm_machine *machine, struct mvm_exit *exit,
		     struct hlg_err *err);

#endif
