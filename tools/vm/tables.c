// SPDX-License-Identifier: GPL-2.0-only
/*
 * Intel SDM volume 3: 4.5 (pages: four levels, each indexed by nine bits of the address),
 * 3.4.5 (segment descriptors), 6.14 (gates and stacks of 64 bits).
 */
#include "tools/vm/tables.h"

#include <errno.h>
#include <linux/kvm.h>
#include <string.h>

#include "symtab/err.h"

#define ENTRIES      512
#define TOP_SHIFT    39
#define PAGE_SHIFT   12
#define LEVEL_BITS   9
#define ENTRY_SYSTEM UINT64_C(0x3) /* present, writable */
#define ENTRY_USER   UINT64_C(0x7) /* present, writable, user */
#define ENTRY_FRAME  (~UINT64_C(0xfff))

#define GDT_ENTRIES     8
#define DESCRIPTOR_CODE UINT64_C(0x00af9b000000ffff) /* 64-bit, execute and read */
#define DESCRIPTOR_DATA UINT64_C(0x00cf93000000ffff) /* read and write */
#define DESCRIPTOR_USER (UINT64_C(3) << 45)          /* DPL 3 */

#define GATE_SIZE  16
#define GATE_FLAGS 0xee /* present, DPL 3, interrupt gate */
#define TSS_RSP0   4    /* offset in the TSS; SDM volume 3, 8.7 */

enum {
	PAGE_TSS,
	PAGE_CALL,
	PAGE_GDT,
	PAGE_IDT,
	PAGE_STACK
};

size_t hlg_vm_tables_size(size_t range)
{
	/*
	 * One table of the lowest level for each 2 MiB and one more when the range starts
	 * inside one; up to 1 GiB, the three levels above need at most 2 + 2 + 1. The
	 * page more has three tables of its own at worst.
	 */
	return (range / HLG_VM_PAGE_SIZE / ENTRIES + 12) * HLG_VM_PAGE_SIZE;
}

/* The entry for address in the table at offset, whose entries span 1 << shift bytes. */
static uint64_t *entry_at(const struct hlg_vm_pages *pages, size_t offset,
			  uint64_t address, unsigned int shift)
{
	uint64_t *table = (uint64_t *)(void *)(pages->memory + offset);

	return &table[(address >> shift) & (ENTRIES - 1)];
}

static int add_table(struct hlg_vm_pages *pages, uint64_t *entry)
{
	if (pages->size - pages->next_free < HLG_VM_PAGE_SIZE)
		return -ENOMEM;
	*entry = pages->next_free | ENTRY_USER;
	pages->next_free += HLG_VM_PAGE_SIZE;
	return 0;
}

int hlg_vm_tables_map(struct hlg_vm_pages *pages, uint64_t address, uint64_t frame,
		      bool user)
{
	size_t table = pages->root;
	uint64_t *entry;

	for (unsigned int shift = TOP_SHIFT; shift > PAGE_SHIFT; shift -= LEVEL_BITS) {
		entry = entry_at(pages, table, address, shift);
		if (*entry == 0 && add_table(pages, entry) < 0)
			return -ENOMEM;
		table = *entry & ENTRY_FRAME;
	}
	*entry_at(pages, table, address, PAGE_SHIFT) =
		frame | (user ? ENTRY_USER : ENTRY_SYSTEM);
	return 0;
}

static uint8_t *own_page(const struct hlg_vm_machine *machine, size_t page)
{
	return machine->memory + machine->window + page * HLG_VM_PAGE_SIZE;
}

static int map_own(struct hlg_vm_machine *machine)
{
	struct hlg_vm_pages *pages = &machine->pages;
	int rc = 0;

	for (size_t i = PAGE_GDT; rc == 0 && i <= PAGE_STACK; i++)
		rc = hlg_vm_tables_map(pages, HLG_VM_TSS_ADDRESS + i * HLG_VM_PAGE_SIZE,
				       machine->window + i * HLG_VM_PAGE_SIZE, false);
	for (size_t at = pages->root; rc == 0 && at < pages->size; at += HLG_VM_PAGE_SIZE)
		rc = hlg_vm_tables_map(pages, HLG_VM_TABLES_ADDRESS + (at - pages->root),
				       at, false);
	return rc;
}

static void fill_gdt(uint8_t *page)
{
	uint64_t gdt[GDT_ENTRIES] = {
		[HLG_VM_KERNEL_CODE / 8] = DESCRIPTOR_CODE,
		[HLG_VM_KERNEL_DATA / 8] = DESCRIPTOR_DATA,
		[HLG_VM_USER_DATA / 8] = DESCRIPTOR_DATA | DESCRIPTOR_USER,
		[HLG_VM_USER_CODE / 8] = DESCRIPTOR_CODE | DESCRIPTOR_USER,
	};

	memcpy(page, gdt, sizeof(gdt));
}

static void fill_gate(uint8_t *idt, const struct hlg_vm_gate *gate)
{
	const uint64_t words[2] = {
		(gate->handler & 0xffff) | (uint64_t)HLG_VM_KERNEL_CODE << 16 |
			(uint64_t)GATE_FLAGS << 40 | (gate->handler >> 16 & 0xffff) << 48,
		gate->handler >> 32,
	};

	memcpy(idt + (size_t)gate->vector * GATE_SIZE, words, sizeof(words));
}

int hlg_vm_tables_rings(struct hlg_vm_machine *machine, const struct hlg_vm_gate *gates,
			size_t n, struct hlg_err *err)
{
	const uint64_t stack = HLG_VM_STACK_ADDRESS + HLG_VM_PAGE_SIZE;
	int rc = map_own(machine);

	if (rc < 0)
		return hlg_err_set(err, rc, "page tables: full (report this as a bug)");
	memcpy(own_page(machine, PAGE_TSS) + TSS_RSP0, &stack, sizeof(stack));
	fill_gdt(own_page(machine, PAGE_GDT));
	for (size_t i = 0; i < n; i++)
		fill_gate(own_page(machine, PAGE_IDT), &gates[i]);
	machine->rings = true;
	return 0;
}

/* Where the entry of a mapped page is, as an offset into memory; 0 if it is not mapped.
 */
static size_t find_entry(const struct hlg_vm_pages *pages, uint64_t address)
{
	size_t table = pages->root;

	for (unsigned int shift = TOP_SHIFT; shift > PAGE_SHIFT; shift -= LEVEL_BITS) {
		table = *entry_at(pages, table, address, shift) & ENTRY_FRAME;
		if (table == 0)
			return 0;
	}
	return table + (address >> PAGE_SHIFT & (ENTRIES - 1)) * sizeof(uint64_t);
}

uint64_t hlg_vm_tables_entry(const struct hlg_vm_machine *machine, uint64_t address)
{
	size_t at = find_entry(&machine->pages, address);

	return at ? HLG_VM_TABLES_ADDRESS + (at - machine->pages.root) : 0;
}

void hlg_vm_tables_load(const struct hlg_vm_machine *machine, struct kvm_sregs *sregs)
{
	sregs->idt = (struct kvm_dtable){0};
	sregs->gdt = (struct kvm_dtable){0};
	if (!machine->rings)
		return;
	sregs->idt.base = HLG_VM_IDT_ADDRESS;
	sregs->idt.limit = HLG_VM_VECTORS * GATE_SIZE - 1;
	sregs->gdt.base = HLG_VM_GDT_ADDRESS;
	sregs->gdt.limit = GDT_ENTRIES * 8 - 1;
}
