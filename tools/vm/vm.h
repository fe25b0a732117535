/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a machine is made of, and where its own pages lie: for the files of this folder.
 * Who runs one includes machine.h.
 */
#ifndef HLG_TOOLS_VM_VM_H
#define HLG_TOOLS_VM_VM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct kvm_run;

#define HLG_VM_PAGE_SIZE UINT64_C(4096)

#define HLG_VM_PORT_CALL   200
#define HLG_VM_WINDOW_MAX  (UINT64_C(1) << 30) /* bytes */
#define HLG_VM_ADDRESS_END (UINT64_C(1) << 47) /* of the lower canonical half */

/*
 * The monitor's own pages lie outside of every window: Hyperlight has its TSS there too.
 * The TSS exists for its I/O bitmap, which lets ring 3 use the ports below 256, also
 * where software emulates out and does not look at IOPL.
 */
#define HLG_VM_TSS_ADDRESS  UINT64_C(0xfffffd0000000000)
#define HLG_VM_CALL_ADDRESS (HLG_VM_TSS_ADDRESS + 0x1000)
#define HLG_VM_OWN_PAGES    5 /* these two, and tables.c's GDT, IDT and stack */
#define HLG_VM_TSS_MAP      104
#define HLG_VM_TSS_MAP_SIZE 32 /* bytes: 256 ports, a set bit forbids one */
#define HLG_VM_TSS_LIMIT                                                                 \
	(HLG_VM_TSS_MAP + HLG_VM_TSS_MAP_SIZE) /* a byte of ones is there */
#define HLG_VM_GDT_ADDRESS (HLG_VM_TSS_ADDRESS + 0x2000)
#define HLG_VM_IDT_ADDRESS (HLG_VM_TSS_ADDRESS + 0x3000)
#define HLG_VM_STACK_ADDRESS                                                             \
	(HLG_VM_TSS_ADDRESS + 0x4000) /* the lowest byte of the page */
#define HLG_VM_TABLES_ADDRESS (HLG_VM_TSS_ADDRESS + 0x10000)

/* Selectors without their ring. syscall takes the first two from STAR, sysret the others.
 */
#define HLG_VM_KERNEL_CODE 0x10
#define HLG_VM_KERNEL_DATA 0x18
#define HLG_VM_USER_DATA   0x28
#define HLG_VM_USER_CODE   0x30

/* Where the page tables grow. The memory is the caller's, and zero from root on. */
struct hlg_vm_pages {
	uint8_t *memory;  /* memory[0] is guest-physical address 0 */
	size_t size;      /* bytes of memory; the tables end there at the latest */
	size_t root;      /* physical address of the top table: cr3 */
	size_t next_free; /* physical address of the next table; at first root + 1 page */
};

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
	bool rings;    /* it has tables for exceptions: tables.h */
	uint64_t call; /* guest address that syscall enters; 0: the monitor's own */
};

#endif
