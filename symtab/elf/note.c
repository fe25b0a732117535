// SPDX-License-Identifier: GPL-2.0-only
#include "symtab/elf/note.h"

#include <elf.h>
#include <stdio.h>
#include <string.h>

static void take(char *build_id, char *hyperlight, const Elf64_Nhdr *nh,
		 const unsigned char *owner, const unsigned char *desc)
{
	/* The Hyperlight note: type 1, the version as text, with or without a NUL. */
	if (nh->n_type == 1 && nh->n_namesz == sizeof("Hyperlight") &&
	    memcmp(owner, "Hyperlight", sizeof("Hyperlight")) == 0)
		snprintf(hyperlight, HLG_NOTE_VERSION, "%.*s",
			 (int)(nh->n_descsz < HLG_NOTE_VERSION ? nh->n_descsz
							       : HLG_NOTE_VERSION),
			 (const char *)desc);
	if (nh->n_type != NT_GNU_BUILD_ID || nh->n_namesz != sizeof("GNU") ||
	    memcmp(owner, "GNU", sizeof("GNU")) != 0)
		return;
	for (size_t i = 0; i < nh->n_descsz && 2 * i + 2 < HLG_NOTE_BUILD_ID; i++)
		sprintf(build_id + 2 * i, "%02x", (unsigned)desc[i]);
}

/* n, at most 2^33, moved on to a multiple of align. */
static uint64_t round_up(uint64_t n, uint64_t align)
{
	return (n + align - 1) & ~(align - 1);
}

void hlg_note_read(char build_id[static HLG_NOTE_BUILD_ID],
		   char hyperlight[static HLG_NOTE_VERSION], const unsigned char *bytes,
		   size_t size, uint64_t align)
{
	size_t at = 0;

	align = align == 8 ? 8 : 4;
	while (size - at >= sizeof(Elf64_Nhdr)) {
		const unsigned char *note = bytes + at;
		uint64_t desc, end;
		Elf64_Nhdr nh;

		memcpy(&nh, note, sizeof(nh));
		desc = round_up(sizeof(nh) + (uint64_t)nh.n_namesz, align);
		end = desc + nh.n_descsz;
		if (end > size - at)
			return;
		take(build_id, hyperlight, &nh, note + sizeof(nh), note + desc);
		end = round_up(end, align);
		if (end > size - at)
			return;
		at += end;
	}
}
