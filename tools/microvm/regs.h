/* SPDX-License-Identifier: GPL-2.0-only */
/* The registers of a machine's vCPU: what a run starts with. */
#ifndef MICROVM_REGS_H
#define MICROVM_REGS_H

#include <stdint.h>

struct hlg_err;
struct mvm_machine;

/*
 * The monitor's own pages lie outside of every window: Hyperlight has its TSS there too.
 * The TSS exists for its I/O bitmap, which lets ring 3 use the ports below 256, also
 * where software emulates out and does not look at IOPL.
 */
#define MVM_TSS_ADDRESS  UINT64_C(0xfffffd0000000000)
#define MVM_OWN_PAGES    1
#define MVM_TSS_MAP      104
#define MVM_TSS_MAP_SIZE 32 /* bytes: 256 ports, a set bit forbids one */
#define MVM_TSS_LIMIT    (MVM_TSS_MAP + MVM_TSS_MAP_SIZE) /* a byte of ones is there */

struct mvm_start {
	uint64_t rip; /* guest addresses */
	uint64_t rsp;
	uint8_t ring; /* 0 or 3 */
};

/* All return 0 or a negative errno with err set. */

/* What stays for the machine's life: CPUID. */
int mvm_regs_init(struct mvm_machine *machine, struct hlg_err *err);

/* Sets every register for a fresh run; guest memory stays as it is. */
int mvm_regs_start(struct mvm_machine *machine, const struct mvm_start *start,
		   struct hlg_err *err);

#endif
