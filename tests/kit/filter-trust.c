// SPDX-License-Identifier: GPL-2.0-only
#include "tests/kit/filter-trust.h"
#include "config.h"

void kit_trust_guest(const char *path)
{
	struct mkelf_guest g;

	mkelf_guest_init(&g, 0);
	mkelf_guest_words(&g, HLG_HAVE_ZYDIS);
	kit_write(&g, path);
}

bool kit_trust_inside(uint64_t addr)
{
	return addr < 0x200 || (addr >= 0x1000 && addr < 0x1240) ||
	       (addr >= 0x3000 && addr < 0x3110);
}

bool kit_trust_data(uint64_t addr)
{
	return kit_trust_inside(addr) && (addr < 0x1000 || addr >= 0x3000);
}

bool kit_trust_named(uint64_t addr)
{
	return (addr >= 0x1000 && addr < 0x1054) || (addr >= 0x1060 && addr < 0x10e0) ||
	       (addr >= 0x1120 && addr < 0x11e0) || (addr >= 0x1200 && addr < 0x1220);
}
