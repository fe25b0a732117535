// SPDX-License-Identifier: GPL-2.0-only
/*
 * Callers are found by any of a guest's page tables and memory slots, and a walk ends,
 * with its reason, whatever the guest has put there.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/kit/tap.h"
#include "tests/kit/walked.h"

enum {
	CR3 = 0x1000,
	FREE = 0x10000,  /* tables, from here on */
	STACK = 0x80000, /* physical */
};

#define VIRT UINT64_C(0x7ffffff00000)

static struct walked guest;
static struct hlg_walk walk;

static void begin(void)
{
	memset(&guest, 0, sizeof(guest));
	memset(&walk, 0xa5, sizeof(walk));
	walked = &guest;
	guest.slots[0] =
		(struct hlg_walk_slot){.pages = WALKED_SIZE / 4096, .hva = WALKED_HVA};
	walk.cr0 = 0x80050033;
	walk.cr3 = CR3;
	walk.cr4 = 0x620;
	walk.efer = 0x501;
	walk.root = 1;
}

/* A frame at virt, which lies at phys. */
static void put(uint64_t phys, uint64_t frame, uint64_t back)
{
	guest.memory[phys / 8] = frame;
	guest.memory[phys / 8 + 1] = back;
}

static void go(uint64_t rbp)
{
	walk.rbp = rbp;
	hlg_walk_callers(&walk);
	ck_assert(!guest.outside);
	ck_assert_uint_le(walk.n, HLG_WALK_FRAMES);
}

/* Three frames in a page of 4 KiB at virt. */
static void climb_three(uint64_t virt, uint64_t phys)
{
	put(phys + 0x100, virt + 0x200, 0x401000);
	put(phys + 0x200, virt + 0xff0, 0x402000);
	put(phys + 0xff0, 0, 0x403000);
	go(virt + 0x100);
	ck_assert_uint_eq(walk.end, HLG_WALK_WHOLE);
	ck_assert_uint_eq(walk.n, 3);
	ck_assert_uint_eq(walk.callers[0], 0x401000);
	ck_assert_uint_eq(walk.callers[1], 0x402000);
	ck_assert_uint_eq(walk.callers[2], 0x403000);
}

/* 4 and 5 levels; pages of all sizes; low and high addresses. */
static const struct {
	unsigned levels;
	uint64_t virt, size;
} tables[] = {
	{4, VIRT, 4096},
	{4, 0x200000, 1 << 21},
	{4, 0xffff800000000000, 1 << 21},
	{4, 0xffffffffc0000000, 1 << 30},
	{5, VIRT, 4096},
	{5, 0x00ffffffffe00000, 1 << 21},
	{5, 0xff00000000000000, 1 << 30},
};

START_TEST(pages)
{
	uint64_t next = FREE, size = tables[_i].size, virt = tables[_i].virt;

	begin();
	if (tables[_i].levels == 5)
		walk.cr4 |= 1 << 12;
	/* PCID, no-execute, user and, of a large page, PAT bits are no part of an
	 * address. */
	walk.cr3 = UINT64_C(1) << 63 | CR3 | 0x18 | 5;
	walked_map(&guest, CR3, tables[_i].levels, virt, size > 4096 ? 1 << 12 : STACK,
		   size, &next);
	climb_three(size > 4096 ? virt + STACK : virt, STACK);
	ck_assert_uint_le(guest.reads, 6 + 5);
}
END_TEST

/* A frame whose two words are in two pages, which lie apart. */
START_TEST(two_pages)
{
	uint64_t next = FREE;

	begin();
	walked_map(&guest, CR3, 4, VIRT, STACK, 4096, &next);
	walked_map(&guest, CR3, 4, VIRT + 4096, STACK + 0x8000, 4096, &next);
	put(STACK + 0xff8, 0, 0xbad);
	put(STACK + 0x8000, 0x401000, 0);
	guest.memory[(STACK + 0xff8) / 8] = VIRT + 0x1100;
	put(STACK + 0x8100, 0, 0x402000);
	go(VIRT + 0xff8);
	ck_assert_uint_eq(walk.end, HLG_WALK_WHOLE);
	ck_assert_uint_eq(walk.n, 2);
	ck_assert_uint_eq(walk.callers[0], 0x401000);
}
END_TEST

/* Physical addresses from three slots, in a tree; one goes, one is a hole. */
START_TEST(slots)
{
	uint64_t next = FREE;

	begin();
	walked_map(&guest, CR3, 4, VIRT, UINT64_C(0xfee00000), 4096, &next);
	walked_map(&guest, CR3, 4, VIRT + 4096, UINT64_C(0x40000000), 4096, &next);
	guest.slots[1] = (struct hlg_walk_slot){
		.gfn = 0x40000, .pages = 1, .hva = WALKED_HVA + STACK, .left = 1};
	guest.slots[2] = (struct hlg_walk_slot){.gfn = 0xfee00,
						.pages = 2,
						.hva = WALKED_HVA + STACK + 0x2000,
						.left = 2};
	walk.root = 3;
	put(STACK + 0x2010, VIRT + 0x1020, 0x401000);
	put(STACK + 0x20, 0, 0x402000);
	go(VIRT + 0x10);
	ck_assert_uint_eq(walk.end, HLG_WALK_WHOLE);
	ck_assert_uint_eq(walk.n, 2);
	guest.slots[1].invalid = 1 << 16;
	go(VIRT + 0x10);
	ck_assert_uint_eq(walk.end, HLG_WALK_HOLE);
	ck_assert_uint_eq(walk.n, 1);
	guest.slots[2].left = 0;
	go(VIRT + 0x10);
	ck_assert_uint_eq(walk.end, HLG_WALK_HOLE);
	ck_assert_uint_eq(walk.n, 0);
}
END_TEST

/* A tree that is read while it changes may have a circle. */
START_TEST(tree_circle)
{
	uint64_t next = FREE;

	begin();
	walked_map(&guest, CR3, 4, VIRT, STACK, 4096, &next);
	guest.slots[0].gfn = 7;
	guest.slots[0].left = guest.slots[0].right = 1;
	go(VIRT);
	ck_assert_uint_eq(walk.end, HLG_WALK_HOLE);
	ck_assert_uint_le(guest.nodes, HLG_WALK_NODES);
}
END_TEST

/* The page at VIRT, and one frame at its start. */
static const struct {
	uint64_t rbp, frame, back;
	unsigned end, n;
} ends[] = {
	{0, 0, 0, HLG_WALK_WHOLE, 0},
	{VIRT, 0, 0x401000, HLG_WALK_WHOLE, 1},
	{VIRT, VIRT + 16, 0, HLG_WALK_WHOLE, 0},
	{VIRT, VIRT, 0x401000, HLG_WALK_ORDER, 1},     /* itself */
	{VIRT, VIRT - 8, 0x401000, HLG_WALK_ORDER, 1}, /* down */
	{VIRT + 4, 0, 0, HLG_WALK_ALIGNMENT, 0},
	{VIRT, VIRT + 9, 0x401000, HLG_WALK_ALIGNMENT, 1},
	{VIRT, UINT64_C(1) << 47, 0x401000, HLG_WALK_ADDRESS, 1},
	{VIRT, VIRT + 16, UINT64_C(1) << 63, HLG_WALK_ADDRESS, 0},
	{VIRT, VIRT + 0xf0000, 0x401000, HLG_WALK_UNMAPPED, 1},
	{VIRT, VIRT + 0xff8, 0x401000, HLG_WALK_UNMAPPED, 1}, /* its second word */
	{VIRT, UINT64_C(0xfffffffffffffff8), 0x401000, HLG_WALK_ORDER, 1},
	{UINT64_C(0xfffffffffffffff0), 0, 0, HLG_WALK_UNMAPPED, 0},
	{UINT64_C(0x7ffffffffff8), 0, 0, HLG_WALK_UNMAPPED, 0},
};

START_TEST(end_reasons)
{
	uint64_t next = FREE;

	begin();
	walked_map(&guest, CR3, 4, VIRT, STACK, 4096, &next);
	put(STACK, ends[_i].frame, ends[_i].back);
	go(ends[_i].rbp);
	ck_assert_uint_eq(walk.end, ends[_i].end);
	ck_assert_uint_eq(walk.n, ends[_i].n);
}
END_TEST

/* As many callers as there is room for, and one more. */
START_TEST(depth)
{
	uint64_t next = FREE;

	begin();
	walked_map(&guest, CR3, 4, VIRT, STACK, 4096, &next);
	for (int i = 0; i < HLG_WALK_FRAMES; i++)
		put(STACK + 16 * (uint64_t)i,
		    i + 1 < HLG_WALK_FRAMES + _i ? VIRT + 16 * (uint64_t)(i + 1) : 0,
		    0x1000 + (uint64_t)i);
	put(STACK + 16 * HLG_WALK_FRAMES, 0, 0x2000);
	go(VIRT);
	ck_assert_uint_eq(walk.end, _i ? HLG_WALK_DEEP : HLG_WALK_WHOLE);
	ck_assert_uint_eq(walk.n, HLG_WALK_FRAMES);
	ck_assert_uint_eq(walk.callers[HLG_WALK_FRAMES - 1],
			  0x1000 + HLG_WALK_FRAMES - 1);
}
END_TEST

/* Tables that are their own next level; reserved bits; holes; what cannot be read. */
START_TEST(hostile_tables)
{
	uint64_t next = FREE, *top = &guest.memory[CR3 / 8 + 255];

	begin();
	*top = CR3 | 1;
	go(VIRT); /* its other entries are empty */
	ck_assert_uint_eq(walk.end, HLG_WALK_UNMAPPED);
	for (size_t i = 0; i < 512; i++)
		guest.memory[CR3 / 8 + i] = CR3 | 1;
	go(VIRT); /* the page is the table itself: its words are an odd frame */
	ck_assert_uint_eq(walk.end, HLG_WALK_ALIGNMENT);
	*top = STACK | 0x81; /* a page of 512 GiB */
	go(VIRT);
	ck_assert_uint_eq(walk.end, HLG_WALK_UNMAPPED);
	*top = UINT64_C(0xffffffffff000) | 1;
	go(VIRT);
	ck_assert_uint_eq(walk.end, HLG_WALK_HOLE);
	walk.cr3 = UINT64_C(0xffffffffff000);
	go(VIRT);
	ck_assert_uint_eq(walk.end, HLG_WALK_HOLE);
	begin();
	walked_map(&guest, CR3, 4, VIRT, STACK, 4096, &next);
	guest.hole = STACK;
	guest.hole_size = 4096;
	go(VIRT);
	ck_assert_uint_eq(walk.end, HLG_WALK_FAULT);
	guest.hole = CR3;
	go(VIRT);
	ck_assert_uint_eq(walk.end, HLG_WALK_FAULT);
}
END_TEST

START_TEST(other_modes)
{
	begin();
	walk.cr0 = 0x33;
	go(VIRT);
	ck_assert_uint_eq(walk.end, HLG_WALK_MODE);
	begin();
	walk.efer = 0x100;
	go(VIRT);
	ck_assert_uint_eq(walk.end, HLG_WALK_MODE);
	ck_assert_uint_eq(walk.n, 0);
	ck_assert_uint_eq(guest.reads, 0);
}
END_TEST

static uint8_t bytes[HLG_WALK_COPY_MAX + HLG_WALK_PAGE];

/* Three pages of a stack from VIRT on; their words say where they are. */
static void begin_stack(void)
{
	uint64_t next = FREE;

	begin();
	for (uint64_t i = 0; i < 3; i++) {
		uint64_t phys = STACK + 0x8000 - 0x3000 * i;

		walked_map(&guest, CR3, 4, VIRT + 4096 * i, phys, 4096, &next);
		for (uint64_t at = 0; at < 4096; at += 8)
			guest.memory[(phys + at) / 8] = VIRT + 4096 * i + at;
	}
}

static void copy(uint64_t rsp, uint64_t room)
{
	struct hlg_walk_copy to = {&walk, bytes};

	memset(bytes, 0xa5, sizeof(bytes));
	walk.rsp = rsp;
	walk.room = room;
	hlg_walk_stack(&to);
	ck_assert(!guest.outside);
	ck_assert_uint_le(walk.copied, room);
	for (uint64_t i = 0; i + 8 <= walk.copied; i += 8) {
		uint64_t word;

		memcpy(&word, bytes + i, 8);
		if (!(walk.holes >> ((walk.from + i) / 4096 - walk.from / 4096) & 1))
			ck_assert_uint_eq(word, walk.from + i);
	}
	for (uint64_t i = walk.copied; i < sizeof(bytes); i++)
		ck_assert_uint_eq(bytes[i], 0xa5);
}

/* From the red zone, through pages that lie apart, to where the stack ends. */
START_TEST(copies)
{
	begin_stack();
	copy(VIRT + 0x800, 65536);
	ck_assert_uint_eq(walk.from, VIRT + 0x800 - 128);
	ck_assert_uint_eq(walk.copied, 3 * 4096 - 0x800 + 128);
	ck_assert_uint_eq(walk.end, HLG_WALK_UNMAPPED);
	ck_assert_uint_eq(walk.holes, 0);
	/* The red zone begins in a page before. */
	copy(VIRT + 0x1010, 65536);
	ck_assert_uint_eq(walk.from, VIRT + 0x1000);
	ck_assert_uint_eq(walk.copied, 2 * 4096);
	/* Rooms: within a page, to the end of one, one word more. */
	copy(VIRT + 0x800, 256);
	ck_assert_uint_eq(walk.copied, 256);
	ck_assert_uint_eq(walk.end, HLG_WALK_CUT);
	copy(VIRT + 0x1000, 4096);
	ck_assert_uint_eq(walk.copied, 4096);
	ck_assert_uint_eq(walk.end, HLG_WALK_CUT);
	copy(VIRT + 0x1000, 4104);
	ck_assert_uint_eq(walk.copied, 4104);
}
END_TEST

/* A stack pointer that is none; a hole in memory; a guest that does not page. */
START_TEST(copies_nothing)
{
	static const uint64_t nowhere[] = {0,
					   8,
					   VIRT - 8,
					   VIRT + 0x3000,
					   UINT64_C(1) << 47,
					   UINT64_MAX,
					   UINT64_MAX - 4095};

	begin_stack();
	for (size_t i = 0; i < sizeof(nowhere) / sizeof(nowhere[0]); i++) {
		copy(nowhere[i], 65536);
		ck_assert_uint_eq(walk.copied, 0);
		ck_assert_uint_ne(walk.end, HLG_WALK_CUT);
	}
	guest.hole = STACK + 0x5000;
	guest.hole_size = 4096;
	copy(VIRT + 0x200, 65536);
	ck_assert_uint_eq(walk.copied, 3 * 4096 - 0x200 + 128);
	ck_assert_uint_eq(walk.holes, 2);
	ck_assert_uint_eq(walk.end, HLG_WALK_UNMAPPED);
	walk.cr0 = 1;
	copy(VIRT + 0x200, 65536);
	ck_assert_uint_eq(walk.copied, 0);
	ck_assert_uint_eq(walk.end, HLG_WALK_MODE);
}
END_TEST

/* The largest room at the largest shift, in a page of 2 MiB. */
START_TEST(copies_most)
{
	uint64_t next = FREE;

	begin();
	walked_map(&guest, CR3, 4, 0x200000, 0, UINT64_C(1) << 21, &next);
	for (uint64_t at = 0x20000; at < 0x60000; at += 8)
		guest.memory[at / 8] = 0x200000 + at;
	copy(0x220000 + 4096 + 128 + 8, HLG_WALK_COPY_MAX);
	ck_assert_uint_eq(walk.copied, HLG_WALK_COPY_MAX);
	ck_assert_uint_eq(walk.end, HLG_WALK_CUT);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("callers walk");
	TCase *tc = tap_case(suite, "walk");

	tcase_add_loop_test(tc, pages, 0, sizeof(tables) / sizeof(tables[0]));
	tcase_add_test(tc, two_pages);
	tcase_add_test(tc, slots);
	tcase_add_test(tc, tree_circle);
	tcase_add_loop_test(tc, end_reasons, 0, sizeof(ends) / sizeof(ends[0]));
	tcase_add_loop_test(tc, depth, 0, 2);
	tcase_add_test(tc, hostile_tables);
	tcase_add_test(tc, other_modes);
	tcase_add_test(tc, copies);
	tcase_add_test(tc, copies_nothing);
	tcase_add_test(tc, copies_most);
	return tap_main(suite);
}
