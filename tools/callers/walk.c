// SPDX-License-Identifier: GPL-2.0-only
/*
 * Everything lies in *walk, in a map where the kernel runs it: its verifier then knows
 * nothing of a value that it has not just seen checked, finds the second round of a loop
 * equal to the first, and is done with it.
 */
#include "tools/callers/walk.h"

#define PAGE ((uint64_t)HLG_WALK_PAGE)

/* Intel SDM volume 3, 2.5 and 4.1. */
#define CR0_PG   (UINT64_C(1) << 31)
#define CR4_LA57 (UINT64_C(1) << 12)
#define EFER_LMA (UINT64_C(1) << 10)

/* 4.5.4, tables 4-14 to 4-19. */
#define PRESENT      UINT64_C(1)
#define IS_PAGE      (UINT64_C(1) << 7)
#define ADDRESS_MASK UINT64_C(0x000ffffffffff000)
#define SHIFT_4K     UINT64_C(12)
#define SHIFT_1G     UINT64_C(30)
#define SHIFT_TOP_4  UINT64_C(39)
#define SHIFT_TOP_5  UINT64_C(48)
#define LEVEL_BITS   9

#define INLINE static inline __attribute__((always_inline))

INLINE bool is_in(const struct hlg_walk_slot *slot, uint64_t gfn)
{
	return gfn >= slot->gfn && gfn - slot->gfn < slot->pages;
}

/* Slots do not overlap. */
static long step_slot(uint32_t i, void *at)
{
	struct hlg_walk *walk = *(struct hlg_walk **)at;
	uint64_t gfn = walk->phys / PAGE;

	(void)i;
	walk->slot.pages = 0;
	if (!walk->node || !hlg_walk_env_slot(walk->node, walk->back, &walk->slot)) {
		walk->slot.pages = 0;
		return 1;
	}
	if (is_in(&walk->slot, gfn)) {
		if (walk->slot.invalid)
			walk->slot.pages = 0;
		return 1;
	}
	walk->node = gfn < walk->slot.gfn ? walk->slot.left : walk->slot.right;
	walk->slot.pages = 0;
	return 0;
}

/* Where the VMM has walk->phys, in walk->host. */
INLINE bool find_host(struct hlg_walk *walk)
{
	uint64_t gfn = walk->phys / PAGE;

	if (!is_in(&walk->slot, gfn)) {
		walk->node = walk->root;
		hlg_walk_env_repeat(HLG_WALK_NODES, step_slot, walk);
		if (!is_in(&walk->slot, gfn)) {
			walk->failed = HLG_WALK_HOLE;
			return false;
		}
	}
	walk->host = walk->slot.hva + (walk->phys - walk->slot.gfn * PAGE);
	return true;
}

static long step_table(uint32_t i, void *at)
{
	struct hlg_walk *walk = *(struct hlg_walk **)at;
	uint64_t shift = walk->shift, within, entry;

	(void)i;
	if (shift < SHIFT_4K || shift > SHIFT_TOP_5)
		return 1; /* never: for the verifier's eyes */
	walk->phys = walk->table + (walk->virt >> shift) % 512 * 8;
	if (!find_host(walk))
		return 1;
	if (!hlg_walk_env_read(walk->host, &entry)) {
		walk->failed = HLG_WALK_FAULT;
		return 1;
	}
	/* Above 1 GiB there are no pages: the bit is reserved. */
	if (!(entry & PRESENT) || (entry & IS_PAGE && shift > SHIFT_1G)) {
		walk->failed = HLG_WALK_UNMAPPED;
		return 1;
	}
	if (shift == SHIFT_4K || entry & IS_PAGE) {
		within = (UINT64_C(1) << shift) - 1;
		walk->phys = (entry & ADDRESS_MASK & ~within) | (walk->virt & within);
		walk->shift = 0;
		return 1;
	}
	walk->table = entry & ADDRESS_MASK;
	walk->shift = shift - LEVEL_BITS;
	return 0;
}

INLINE bool is_canonical(const struct hlg_walk *walk, uint64_t virt)
{
	unsigned unused = (walk->cr4 & CR4_LA57) ? 64 - 57 : 64 - 48;

	return (uint64_t)((int64_t)(virt << unused) >> unused) == virt;
}

/* Translates the page of walk->virt, which is canonical, to walk->page_host. */
INLINE bool find_page(struct hlg_walk *walk)
{
	uint64_t page = walk->virt & ~(PAGE - 1);

	if (walk->has_page && walk->page == page)
		return true;
	walk->has_page = 0;
	walk->table = walk->cr3 & ADDRESS_MASK;
	walk->shift = (walk->cr4 & CR4_LA57) ? SHIFT_TOP_5 : SHIFT_TOP_4;
	walk->failed = HLG_WALK_UNMAPPED;
	hlg_walk_env_repeat(HLG_WALK_LEVELS, step_table, walk);
	if (walk->shift != 0)
		return false;
	walk->phys &= ~(PAGE - 1);
	if (!find_host(walk))
		return false;
	walk->page = page;
	walk->page_host = walk->host;
	walk->has_page = 1;
	return true;
}

/* The word at virt, a multiple of 8: it lies in one page. */
INLINE bool read_word(struct hlg_walk *walk, uint64_t virt, uint64_t *to)
{
	walk->virt = virt;
	if (!is_canonical(walk, virt)) {
		walk->failed = HLG_WALK_ADDRESS;
		return false;
	}
	if (!find_page(walk))
		return false;
	if (!hlg_walk_env_read(walk->page_host + virt % PAGE, to)) {
		walk->failed = HLG_WALK_FAULT;
		return false;
	}
	return true;
}

INLINE long end(struct hlg_walk *walk, uint32_t why)
{
	walk->end = why;
	return 1;
}

static long step_frame(uint32_t i, void *at)
{
	struct hlg_walk *walk = *(struct hlg_walk **)at;
	uint64_t frame = walk->frame, next, back;

	if (frame == 0)
		return end(walk, HLG_WALK_WHOLE);
	if (frame % 8)
		return end(walk, HLG_WALK_ALIGNMENT);
	/* The last word of all addresses has none behind it. */
	if (frame <= walk->before || frame + 8 < frame)
		return end(walk, HLG_WALK_ORDER);
	if (i >= HLG_WALK_FRAMES)
		return end(walk, HLG_WALK_DEEP);
	if (!read_word(walk, frame, &next) || !read_word(walk, frame + 8, &back))
		return end(walk, walk->failed);
	if (back == 0)
		return end(walk, HLG_WALK_WHOLE);
	if (!is_canonical(walk, back))
		return end(walk, HLG_WALK_ADDRESS);
	walk->callers[i % HLG_WALK_ROOM] = back;
	walk->n = i + 1;
	walk->before = frame;
	walk->frame = next;
	return 0;
}

INLINE bool is_paging(const struct hlg_walk *walk)
{
	return walk->cr0 & CR0_PG && walk->efer & EFER_LMA;
}

HLG_WALK_API void hlg_walk_callers(struct hlg_walk *walk)
{
	walk->n = 0;
	walk->frame = walk->rbp;
	walk->before = 0;
	walk->slot.pages = 0;
	walk->has_page = 0;
	walk->end = HLG_WALK_MODE;
	if (is_paging(walk))
		hlg_walk_env_repeat(HLG_WALK_FRAMES + 1, step_frame, walk);
}

/* What is left of a page. */
static long step_copy(uint32_t i, void *at)
{
	struct hlg_walk_copy *copy = at;
	struct hlg_walk *walk = copy->walk;
	uint64_t n;

	walk->virt = walk->from + walk->copied;
	n = PAGE - walk->virt % PAGE;
	if (walk->copied >= walk->room)
		return end(walk, HLG_WALK_CUT);
	if (n > walk->room - walk->copied)
		n = walk->room - walk->copied;
	if (walk->virt < walk->from || !is_canonical(walk, walk->virt))
		return end(walk, HLG_WALK_ADDRESS);
	if (!find_page(walk))
		return end(walk, walk->failed);
	if (!hlg_walk_env_copy(copy, walk->copied, walk->page_host + walk->virt % PAGE,
			       n))
		walk->holes |= UINT64_C(1) << i % 64;
	walk->copied += n;
	return 0;
}

HLG_WALK_API void hlg_walk_stack(struct hlg_walk_copy *copy)
{
	struct hlg_walk *walk = copy->walk;
	uint64_t below = walk->rsp % PAGE;

	walk->n = 0;
	walk->from = walk->rsp - (below < HLG_WALK_RED_ZONE ? below : HLG_WALK_RED_ZONE);
	walk->copied = 0;
	walk->holes = 0;
	walk->slot.pages = 0;
	walk->has_page = 0;
	walk->end = HLG_WALK_MODE;
	if (is_paging(walk))
		hlg_walk_env_repeat_copy(HLG_WALK_COPY_MAX / HLG_WALK_PAGE + 2, step_copy,
					 copy);
}
