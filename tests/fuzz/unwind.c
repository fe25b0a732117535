// SPDX-License-Identifier: GPL-2.0-only
/*
 * A guest's registers and the copied top of its stack, unwound by the tables of an ELF,
 * of which bytes may be others, too.
 */
#include <stdio.h>
#include <string.h>

#include "tests/fuzz/door.h"
#include "tools/callers/unwind.h"

#define BIAS  UINT64_C(0x7f0000000000)
#define STACK UINT64_C(0x7fff00001000)

/* Of rusty.elf: readelf -S. */
enum {
	TABLES = 0x350, /* .eh_frame_hdr and .eh_frame, also their addresses */
	TABLES_SIZE = 0x1a8,
	TEXT = 0x1500,
	TEXT_SIZE = 0x533,
	MOST = 1 << 20
};

static uint8_t elf[MOST];
static size_t elf_size;

static void read_elf(void)
{
	FILE *f = fopen(DATA "/rusty.elf", "rb");

	elf_size = f ? fread(elf, 1, sizeof(elf), f) : 0;
	if (f)
		fclose(f);
	if (elf_size < TABLES + TABLES_SIZE)
		door_fail("no " DATA "/rusty.elf");
}

/* A word that may be of use: in the code, on the stack, 0, or any. */
static uint64_t take_word(struct door_bytes *bytes)
{
	uint64_t kind = door_take(bytes, 1);

	switch (kind % 4) {
	case 0:
		return BIAS + TEXT + door_take(bytes, 2) % TEXT_SIZE;
	case 1:
		return STACK + door_take(bytes, 2);
	case 2:
		return kind / 4;
	default:
		return door_take(bytes, 8);
	}
}

static void take_copy(struct door_bytes *bytes, struct hlg_callers_copy *copy)
{
	struct hlg_callers_stack *head = (void *)copy->head;

	head->end = (uint8_t)door_take(bytes, 1);
	copy->from = STACK + door_take(bytes, 1) % 16;
	copy->holes = copy->from % 4;
	for (size_t i = 0; i < HLG_CALLERS_REGS; i++)
		copy->regs[i] = take_word(bytes);
	for (copy->size = 0; bytes->left && copy->size + 8 <= 4096; copy->size += 8) {
		uint64_t word = take_word(bytes);

		memcpy(copy->bytes + copy->size, &word, 8);
	}
}

static void check(struct hlg_callers_unwind *unwind, const struct hlg_callers_copy *copy)
{
	uint64_t callers[HLG_WALK_ROOM];
	enum hlg_walk_end end;
	uint32_t n;

	end = hlg_callers_unwind_stack(unwind, BIAS, copy, callers, &n);
	if (end != HLG_WALK_WHOLE && end != HLG_WALK_DEEP && end != HLG_WALK_NO_CFI &&
	    end != HLG_WALK_CUT && end != HLG_WALK_FAULT)
		door_fail("ends as it cannot");
	if (n > HLG_WALK_FRAMES || (end == HLG_WALK_DEEP && n != HLG_WALK_FRAMES))
		door_fail("more callers than there can be");
	for (uint32_t i = 0; i < n; i++)
		if (callers[i] - BIAS - TEXT > TEXT_SIZE)
			door_fail("a caller that is no code of the guest");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct hlg_callers_copy copy;
	static uint8_t patched[MOST];
	struct door_bytes bytes = {data, size};
	struct hlg_callers_unwind *unwind;
	struct hlg_image *image;
	struct hlg_err err;

	if (!elf_size)
		read_elf();
	memcpy(patched, elf, elf_size);
	for (uint64_t n = door_take(&bytes, 1) % 32; n > 0; n--) {
		uint64_t at = TABLES + door_take(&bytes, 2) % TABLES_SIZE;

		patched[at] = (uint8_t)door_take(&bytes, 1);
	}
	take_copy(&bytes, &copy);
	if (hlg_image_open_elf(&image, door_path(patched, elf_size), &err) < 0)
		return 0;
	if (hlg_callers_unwind_open(&unwind, image, &err) == 0)
		check(unwind, &copy);
	hlg_callers_unwind_close(unwind);
	hlg_image_destroy(image);
	return 0;
}
