/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * 4-level x86-64 page tables, built in guest memory with 4 KiB pages only, so that any
 * page-aligned address works. Every page is readable, writable and executable.
 */
#ifndef HLG_TOOLS_VM_PAGES_H
#define HLG_TOOLS_VM_PAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HLG_VM_PAGE_SIZE UINT64_C(4096)

/* Where the tables grow. The memory is the caller's, and zero from root on. */
struct hlg_vm_pages {
	uint8_t *memory;  /* memory[0] is guest-physical address 0 */
	size_t size;      /* bytes of memory; the tables end there at the latest */
	size_t root;      /* physical address of the top table: cr3 */
	size_t next_free; /* physical address of the next table; at first root + 1 page */
};

/* Bytes of tables for one range of this many bytes and one page more, wherever they are.
 */
size_t hlg_vm_pages_size(size_t range);

/*
 * Maps the page at guest address onto the physical page frame; both are page-aligned.
 * Ring 3 may use it only if user is set.
 * Returns 0, or -ENOMEM if the tables are full.
 */
int hlg_vm_pages_map(struct hlg_vm_pages *pages, uint64_t address, uint64_t frame,
		     bool user);

/*
 * Where the entry of a mapped page is: a physical address, so an offset into memory.
 * Returns 0 if the page is not mapped; 0 is never an entry's place.
 */
size_t hlg_vm_pages_entry(const struct hlg_vm_pages *pages, uint64_t address);

#endif
