/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The registers of a machine's vCPU: what a run starts with, what a system call carries.
 *
 * The guest has SSE, and AVX where the host has it: CPUID, CR4 and XCR0 agree on that, as
 * a C library that picks its functions by them expects.
 */
#ifndef HLG_TOOLS_VM_REGS_H
#define HLG_TOOLS_VM_REGS_H

#include <stdbool.h>
#include <stdint.h>

#include "tools/vm/vm.h"

struct hlg_err;

#define HLG_VM_CALL_ARGS 6

struct hlg_vm_start {
	uint64_t rip; /* guest addresses */
	uint64_t rsp;
	uint8_t ring; /* 0 or 3 */
	bool trap;    /* #DB after each instruction, with tables.h */
};

/* A system call by the rules of x86-64 Linux. */
struct hlg_vm_call {
	uint64_t number;
	uint64_t args[HLG_VM_CALL_ARGS];
};

/* All return 0 or a negative errno with err set. */

/* What stays for the machine's life: CPUID and XCR0. */
int hlg_vm_regs_init(struct hlg_vm_machine *machine, struct hlg_err *err);

/* Sets every register for a fresh run; guest memory stays as it is. */
int hlg_vm_regs_start(struct hlg_vm_machine *machine, const struct hlg_vm_start *start,
		      struct hlg_err *err);

/* What the guest called, after a step with exit.call; then its answer, into ring 3. */
int hlg_vm_regs_call(const struct hlg_vm_machine *machine, struct hlg_vm_call *call,
		     struct hlg_err *err);
int hlg_vm_regs_return(struct hlg_vm_machine *machine, uint64_t result,
		       struct hlg_err *err);

/* The base of fs, where thread-local storage is. A guest address. */
int hlg_vm_regs_set_fs(struct hlg_vm_machine *machine, uint64_t address,
		       struct hlg_err *err);

#endif
