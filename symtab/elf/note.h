/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Notes (gABI, "Note Section"): the build id, and the version that Hyperlight's guest
 * library leaves in its guests. Of several of one kind, the last counts.
 */
#ifndef HLG_SYMTAB_ELF_NOTE_H
#define HLG_SYMTAB_ELF_NOTE_H

#include "symtab/elf/elf64.h"

/*
 * Puts what is known among the notes in [bytes, bytes + size) into elf: its build_id and
 * its hyperlight. align is the section's sh_addralign: descriptors of 8 lie at multiples
 * of 8, all others at multiples of 4 (gABI, "Note Section", and GNU's property notes).
 * The first that passes the end ends them.
 */
void hlg_note_read(struct hlg_elf64 *elf, const unsigned char *bytes, size_t size,
		   uint64_t align);

#endif
