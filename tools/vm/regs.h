/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The registers of a machine's vCPU that a run starts with.
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

struct hlg_vm_start {
	uint64_t rip; /* guest addresses */
	uint64_t rsp;
	uint8_t ring; /* 0 or 3 */
	bool trap;    /* #DB after each instruction, with tables.h */
};

/* All return 0 or a negative errno with err set. */

/* What stays for the machine's life: CPUID and XCR0. */
int hlg_vm_regs_init(struct hlg_vm_machine *machine, struct hlg_err *err);

/* Sets every register for a fresh run; guest memory stays as it is. */
int hlg_vm_regs_start(struct hlg_vm_machine *machine, const struct hlg_vm_start *start,
		      struct hlg_err *err);

#endif
