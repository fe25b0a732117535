// SPDX-License-Identifier: GPL-2.0-only
/* A guest's registers, page tables and stack, as the kernel's part of record walks them.
 */
#include <string.h>

#include "tests/fuzz/door.h"
#include "tests/kit/walked.h"

/* Of one walk: each frame has two words, each may need all tables, all slots. */
#define READS ((HLG_WALK_FRAMES + 1) * 2 * (HLG_WALK_LEVELS + 1))
#define NODES ((READS + 2 * HLG_WALK_FRAMES + 2) * HLG_WALK_NODES)

/* Of one copy: each page. */
#define COPY_READS ((HLG_WALK_COPY_MAX / HLG_WALK_PAGE + 2) * (HLG_WALK_LEVELS + 2))

static struct walked guest;

static void take_slots(struct door_bytes *bytes)
{
	for (size_t i = 0; i < WALKED_SLOTS; i++) {
		struct hlg_walk_slot *slot = &guest.slots[i];
		uint64_t links = door_take(bytes, 1);

		slot->left = links & 15;
		slot->right = links >> 4;
		slot->gfn = door_take(bytes, 2);
		slot->pages = door_take(bytes, 1);
		slot->hva = WALKED_HVA + 4096 * door_take(bytes, 1);
		slot->invalid = door_take(bytes, 1) & 1;
	}
}

/* Runs of the same word, or of words that go on by a step. */
static void take_memory(struct door_bytes *bytes)
{
	while (bytes->left) {
		uint64_t at = door_take(bytes, 3), n = door_take(bytes, 1);
		uint64_t word = door_take(bytes, 6), step = door_take(bytes, 2);

		for (uint64_t i = 0; i <= n && at + i < WALKED_SIZE / 8; i++)
			guest.memory[at + i] = word + i * step;
	}
}

static void copy_stack(struct hlg_walk *walk)
{
	static uint8_t bytes[HLG_WALK_COPY_MAX + HLG_WALK_PAGE];
	struct hlg_walk_copy copy = {walk, bytes};

	walk->rsp = walk->rbp;
	walk->room = HLG_WALK_COPY_MAX;
	hlg_walk_stack(&copy);
	if (guest.outside)
		door_fail("copies what is not the guest's");
	if (walk->copied > walk->room || walk->end >= HLG_WALK_ENDS)
		door_fail("copies more than there is room for");
	if (guest.reads > COPY_READS || guest.nodes > COPY_READS * HLG_WALK_NODES)
		door_fail("does not end in time");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct door_bytes bytes = {data, size};
	struct hlg_walk walk;

	memset(&guest, 0, sizeof(guest));
	memset(&walk, 0xff, sizeof(walk));
	walked = &guest;
	walk.cr0 = UINT64_C(1) << 31;
	walk.efer = UINT64_C(1) << 10;
	walk.cr4 = door_take(&bytes, 1) << 12;
	walk.cr3 = door_take(&bytes, 6);
	walk.rbp = door_take(&bytes, 8);
	walk.root = door_take(&bytes, 1);
	guest.chaos = door_take(&bytes, 2);
	guest.hole = 4096 * door_take(&bytes, 1);
	guest.hole_size = 4096 * door_take(&bytes, 1);
	take_slots(&bytes);
	take_memory(&bytes);
	hlg_walk_callers(&walk);
	if (guest.outside)
		door_fail("read what is not the guest's");
	if (walk.n > HLG_WALK_FRAMES || walk.end >= HLG_WALK_ENDS)
		door_fail("more callers than there can be");
	if (guest.reads > READS || guest.nodes > NODES)
		door_fail("does not end in time");
	guest.reads = guest.nodes = 0;
	copy_stack(&walk);
	return 0;
}
