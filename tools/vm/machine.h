/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One virtual machine with one vCPU. Only machine.c knows KVM.
 *
 * The guest starts in 64-bit mode with its window of memory mapped, read, write and
 * execute, at any page-aligned virtual base below 2^47. It may write to ports below 256
 * from either ring; the one of HLG_VM_PORT_CALL means a system call. It has SSE, and AVX
 * where the host has it: CPUID, CR4 and XCR0 agree on that, as a C library that picks its
 * functions by them expects. An exception ends the run, unless it has a gate: then a
 * guest in ring 3 reaches a handler of its own in ring 0, by the exception or by int, and
 * comes back with iretq. A handler runs on the monitor's stack page, with interrupts as
 * they were (there are none), and sees the page tables, so that it can make a page
 * present.
 *
 * A machine is used by one thread at a time; machines on different threads do not
 * disturb each other. Functions return 0 or a negative errno with err set.
 */
#ifndef HLG_TOOLS_VM_MACHINE_H
#define HLG_TOOLS_VM_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hlg_err;
struct kvm_run;

#define HLG_VM_PAGE_SIZE UINT64_C(4096)

#define HLG_VM_PORT_CALL   200
#define HLG_VM_WINDOW_MAX  (UINT64_C(1) << 30) /* bytes */
#define HLG_VM_ADDRESS_END (UINT64_C(1) << 47) /* of the lower canonical half */

/* Selectors without their ring. syscall takes the first two from STAR, sysret the others.
 */
#define HLG_VM_KERNEL_CODE 0x10
#define HLG_VM_KERNEL_DATA 0x18
#define HLG_VM_USER_DATA   0x28
#define HLG_VM_USER_CODE   0x30

/* The caller's memory, filled by hlg_vm_machine_init. The guest sees window at base. */
struct hlg_vm_machine {
	int kvm_fd;
	int vm_fd;
	int vcpu_fd;
	struct kvm_run *run;
	size_t run_size;  /* bytes */
	uint8_t *memory;  /* the window, the monitor's own pages, the page tables: [0] is
			     guest-physical address 0 */
	size_t size;      /* bytes of memory */
	size_t window;    /* bytes of memory the guest sees */
	size_t root;      /* physical address of the top page table: cr3 */
	size_t next_free; /* physical address of the next page table */
	bool avx;         /* the guest may use it */
	bool ran;         /* since it was started */
	uint64_t call;    /* guest address that syscall enters; 0: the monitor's own */
	uint64_t cr4;     /* more bits of it */
};

/* Why the guest stopped. */
struct hlg_vm_exit {
	bool halted;    /* by hlt; port and value are 0 then */
	bool call;      /* by syscall */
	uint16_t port;  /* of an out instruction */
	uint32_t value; /* what it wrote, zero-extended */
};

/* A vector that does not end the run. Ring 3 may use any of them with int. */
struct hlg_vm_gate {
	uint8_t vector;
	uint64_t handler; /* guest address */
};

struct hlg_vm_start {
	uint64_t rip; /* guest addresses */
	uint64_t rsp;
	uint8_t ring; /* 0 or 3 */
	bool trap;    /* #DB after each instruction */
};

/* window: bytes, page-aligned, 1 to HLG_VM_WINDOW_MAX. On failure nothing is left behind.
 */
int hlg_vm_machine_init(struct hlg_vm_machine *machine, size_t window,
			struct hlg_err *err);
void hlg_vm_machine_finish(struct hlg_vm_machine *machine);

/* Maps the window at base and sets n gates; call it once per machine. -EINVAL if base is
 * not page-aligned. */
int hlg_vm_machine_map(struct hlg_vm_machine *machine, uint64_t base,
		       const struct hlg_vm_gate *gates, size_t n, struct hlg_err *err);

/*
 * Where ring 0 finds the entry of the page at a guest address that is mapped, to set or
 * clear bit 0 (present) of. Entries of pages that follow each other do so too. Only the
 * guest may change them: a host's change need not reach the processor.
 */
uint64_t hlg_vm_machine_entry(const struct hlg_vm_machine *machine, uint64_t address);

/* Sets every register for a fresh run; guest memory stays as it is. */
int hlg_vm_machine_start(struct hlg_vm_machine *machine, const struct hlg_vm_start *start,
			 struct hlg_err *err);

/*
 * Runs the guest up to its next out, hlt or system call. Any other exit is -EIO, told
 * with the rip; -ETIME when the deadline of the calling thread has passed.
 */
int hlg_vm_machine_step(struct hlg_vm_machine *machine, struct hlg_vm_exit *exit,
			struct hlg_err *err);

/*
 * An end for guests that hang: a timer of the calling thread that takes its vCPUs out of
 * KVM_RUN. It takes SIGALRM. Each thread has its own, or none; it is started once per
 * thread, before its first guest runs.
 */
int hlg_vm_deadline_start(unsigned int seconds, struct hlg_err *err);
void hlg_vm_deadline_stop(void);

/* Why something did not run that did not hang: another took all the time. */
#define HLG_VM_NOT_RUN                                                                   \
	"not run: the deadline was over (see what took the time; else raise --deadline)"

/* Milliseconds until this thread's deadline: 1 when it has passed; none, if it has none.
 */
unsigned int hlg_vm_deadline_left(unsigned int none);

#endif
