/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How a guest's memory may lie, besides as the machine has it: what who reads it from
 * outside must get right, and must not be led astray by. The guest does not notice.
 *
 * Slots: its memory is cut into slots of KVM's, which lie in the monitor's in another
 * order, and between them, before and behind are pages of HLG_VM_LAYOUT_CANARY.
 *
 * Large pages: the window's pages are of 2 MiB. Two tables: odd runs have a second table
 * of pages, where the last 2 MiB, with the stack, are others. Both want a base that is a
 * multiple of 2 MiB.
 *
 * Five levels: one more above, whose address bits are all alike.
 *
 * Hostile: from HLG_VM_LAYOUT_HOSTILE on, each 512 GiB lead astray in their own way:
 * tables that are their own entries, that lie in holes and where devices are, ... and
 * some that a thread changes all the time.
 */
#ifndef HLG_TESTS_RIG_LAYOUT_H
#define HLG_TESTS_RIG_LAYOUT_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "tests/rig/options.h"
#include "tools/vm/machine.h"

struct hlg_err;

/* No address of a guest's or a monitor's has these words by chance. */
#define HLG_VM_LAYOUT_CANARY  UINT64_C(0x00005eadca9a1e58)
#define HLG_VM_LAYOUT_HOSTILE UINT64_C(0x0000600000000000)

/* The caller's memory, zeroed. */
struct hlg_vm_layout {
	uint64_t roots[2]; /* [1] is 0: there is one */
	void *places;      /* of all slots */
	uint64_t places_size;
	uint64_t *changing; /* a table */
	pthread_t thread;
	bool started;
	atomic_bool ends;
};

/* After hlg_vm_machine_map, before the first start. 0, or a negative errno with err set.
 */
int hlg_vm_layout_init(struct hlg_vm_layout *layout, struct hlg_vm_machine *machine,
		       const struct hlg_vm_options *options, uint64_t base,
		       struct hlg_err *err);
void hlg_vm_layout_finish(struct hlg_vm_layout *layout);

/* Before each start: runs counts those before it. */
void hlg_vm_layout_turn(const struct hlg_vm_layout *layout,
			struct hlg_vm_machine *machine, uint64_t runs);

#endif
