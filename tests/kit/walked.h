/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Guests for tools/callers/walk.c, with page tables and memory slots made by hand. What
 * is read and may not be ends the test.
 */
#ifndef HLG_TESTS_KIT_WALKED_H
#define HLG_TESTS_KIT_WALKED_H

#include "tools/callers/walk.h"

#define WALKED_SLOTS 8
#define WALKED_SIZE  (256 * UINT64_C(4096))
#define WALKED_HVA   UINT64_C(0x7f0000000000) /* of the first byte of memory */

/* The VMM's memory, and the slots in it; node i + 1 is slots[i]. */
struct walked {
	uint64_t memory[WALKED_SIZE / 8];
	struct hlg_walk_slot slots[WALKED_SLOTS];
	uint64_t hole, hole_size; /* of memory that cannot be read, from its start */
	/* Not 0: of a guest that changes meanwhile, reads get other words that are made
	 * of this. */
	uint64_t chaos;
	/* Counted. */
	uint64_t reads, nodes;
	bool outside; /* a read that lies in no slot: never */
};

/* The one that the next walks are of. */
extern struct walked *walked;

/* Maps the page of this size at virt, in the tables from cr3 on; *next is the physical
 * address of the next free page. levels: 4 or 5. Of a guest whose slot 0 begins at 0. */
void walked_map(struct walked *guest, uint64_t cr3, unsigned levels, uint64_t virt,
		uint64_t phys, uint64_t size, uint64_t *next);

#endif
