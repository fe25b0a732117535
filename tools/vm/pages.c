// SPDX-License-Identifier: GPL-2.0-only
/* Intel SDM volume 3, 4.5: four levels, each indexed by nine bits of the address. */
#include "tools/vm/pages.h"

#include <errno.h>

#define ENTRIES      512
#define TOP_SHIFT    39
#define PAGE_SHIFT   12
#define LEVEL_BITS   9
#define ENTRY_SYSTEM UINT64_C(0x3) /* present, writable */
#define ENTRY_USER   UINT64_C(0x7) /* present, writable, user */
#define ENTRY_FRAME  (~UINT64_C(0xfff))

size_t hlg_vm_pages_size(size_t range)
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

int hlg_vm_pages_map(struct hlg_vm_pages *pages, uint64_t address, uint64_t frame,
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

size_t hlg_vm_pages_entry(const struct hlg_vm_pages *pages, uint64_t address)
{
	size_t table = pages->root;

	for (unsigned int shift = TOP_SHIFT; shift > PAGE_SHIFT; shift -= LEVEL_BITS) {
		table = *entry_at(pages, table, address, shift) & ENTRY_FRAME;
		if (table == 0)
			return 0;
	}
	return table + (address >> PAGE_SHIFT & (ENTRIES - 1)) * sizeof(uint64_t);
}
