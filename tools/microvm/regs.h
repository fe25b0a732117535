/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The registers of a machine's vCPU: what a run starts with, what a system call carries.
 *
 * The guest has SSE, and AVX where the host has it: CPUID, CR4 and XCR0 agree on that, as
 * a C library that picks its functions by them expects.
 */
#ifndef MICROVM_REGS_H
#define MICROVM_REGS_H

#include <stdbool.h>
#include <stdint.h>

struct hlg_err;
struct mvm_machine;

/*
 * The monitor's own pages lie outside of every window: Hyperlight has its TSS there too.
 * The TSS exists for its I/O bitmap, which lets ring 3 use the ports below 256, also
 * where software emulates out and does not look at IOPL.
 */
#define MVM_TSS_ADDRESS  UINT64_C(0xfffffd0000000000)
#define MVM_CALL_ADDRESS (MVM_TSS_ADDRESS + 0x1000)
#define MVM_OWN_PAGES    5 /* these two, and rings.c's GDT, IDT and stack */
#define MVM_TSS_MAP      104
#define MVM_TSS_MAP_SIZE 32 /* bytes: 256 ports, a set bit forbids one */
#define MVM_TSS_LIMIT    (MVM_TSS_MAP + MVM_TSS_MAP_SIZE) /* a byte of ones is there */

#define MVM_CALL_ARGS 6

struct mvm_start {
	uint64_t rip; /* guest addresses */
	uint64_t rsp;
	uint8_t ring; /* 0 or 3 */
	bool trap;    /* #DB after each instruction, with rings.h */
};

/* Selectors without their ring. syscall takes the first two from STAR, sysret the others.
 */
#define MVM_KERNEL_CODE 0x10
#define MVM_KERNEL_DATA 0x18
#define MVM_USER_DATA   0x28
#define MVM_USER_CODE   0x30

/* A system call by the rules of x86-64 Linux. */
struct mvm_call {
	uint64_t number;
	uint64_t args[MVM_CALL_ARGS];
};

/* All return 0 or a negative errno with err set. */

/* What stays for the machine's life: CPUID and XCR0. */
int mvm_regs_init(struct mvm_machine *machine, struct hlg_err *err);

/* Sets every register for a fresh run; guest memory stays as it is. */
int mvm_regs_start(struct mvm_machine *machine, const struct mvm_start *start,
		   struct hlg_err *err);

/* What the guest called, after a step with exit.call; then its answer, into ring 3. */
int mvm_regs_call(const struct mvm_machine *machine, struct mvm_call *call,
		  struct hlg_err *err);
int mvm_regs_return(struct mvm_machine *machine, uint64_t result, struct hlg_err *err);

/* The base of fs, where thread-local storage is. A guest address. */
int mvm_regs_set_fs(struct mvm_machine *machine, uint64_t address, struct hlg_err *err);

#endif
