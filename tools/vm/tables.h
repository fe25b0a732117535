/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The tables of a machine that its processor reads.
 *
 * Pages: 4-level x86-64 page tables, built in guest memory with 4 KiB pages only, so that
 * any page-aligned address works. Every page is readable, writable and executable.
 *
 * Rings: with these a guest in ring 3 reaches handlers of its own in ring 0, by an
 * exception or int, and comes back with iretq. A handler runs on the monitor's stack
 * page, with interrupts as they were (there are none). Ring 0 also sees the page tables,
 * at HLG_VM_TABLES_ADDRESS, so that a handler can make a page present.
 */
#ifndef HLG_TOOLS_VM_TABLES_H
#define HLG_TOOLS_VM_TABLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tools/vm/vm.h"

struct hlg_err;
struct kvm_sregs;

/* Bytes of tables for one range of this many bytes and one page more, wherever they are.
 */
size_t hlg_vm_tables_size(size_t range);

/*
 * Maps the page at guest address onto the physical page frame; both are page-aligned.
 * Ring 3 may use it only if user is set.
 * Returns 0, or -ENOMEM if the tables are full.
 */
int hlg_vm_tables_map(struct hlg_vm_pages *pages, uint64_t address, uint64_t frame,
		      bool user);

#define HLG_VM_VECTORS 256

/* A vector that does not end the run. Ring 3 may use any of them with int. */
struct hlg_vm_gate {
	uint8_t vector;
	uint64_t handler; /* guest address */
};

/*
 * Gives a machine that is mapped these n gates; once. Vectors without a gate end the run
 * as before. Counts for runs that start later (hlg_vm_regs_start). Returns 0 or a
 * negative errno with err set.
 */
int hlg_vm_tables_rings(struct hlg_vm_machine *machine, const struct hlg_vm_gate *gates,
			size_t n, struct hlg_err *err);

/*
 * Where ring 0 finds the entry of the page at a guest address, to set or clear bit 0
 * (present) of; 0 if the page is not mapped. Entries of pages that follow each other do
 * so too. Only the guest may change them: a host's change need not reach the processor.
 */
uint64_t hlg_vm_tables_entry(const struct hlg_vm_machine *machine, uint64_t address);

/* For regs.c: IDT and GDT as they belong into the registers. */
void hlg_vm_tables_load(const struct hlg_vm_machine *machine, struct kvm_sregs *sregs);

#endif
