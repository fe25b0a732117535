/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Notes (gABI, "Note Section"): the build id, and the version that Hyperlight's guest
 * library leaves in its guests. Of several of one kind, the last counts.
 */
#ifndef HLG_SYMTAB_ELF_NOTE_H
#define HLG_SYMTAB_ELF_NOTE_H

#include <stddef.h>
#include <stdint.h>

enum {
	HLG_NOTE_BUILD_ID = 129, /* room for 64 bytes in hex */
	HLG_NOTE_VERSION = 32
};

/*
 * Looks through the notes in [bytes, bytes + size). Where one of them is a build id, it
 * is put into build_id, in lower-case hex; where one is Hyperlight's, its version is put
 * into hyperlight. Both are cut if they are longer, and left alone if there is no such
 * note. align is the section's sh_addralign: descriptors of 8 lie at multiples of 8, all
 * others at multiples of 4 (gABI, "Note Section", and GNU's property notes). The first
 * that passes the end ends them.
 */
void hlg_note_read(char build_id[static HLG_NOTE_BUILD_ID],
		   char hyperlight[static HLG_NOTE_VERSION], const unsigned char *bytes,
		   size_t size, uint64_t align);

#endif
