/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Areas: what kind of bytes stand where in an image, before any symbol is looked at.
 *
 * The rule: only bytes of a PT_LOAD are in the image (of one that image.h counts). Of
 * these, bytes of an executable section are code; bytes of another allocated section are
 * data; bytes of no section are code in an executable segment, data in any other
 * and where the ELF has its own headers (elf64.h), with which an executable segment
 * begins if it is the file's first (ld for AArch64, -z noseparate-code). (Linkers that
 * put read-only data into the executable segment are why the section's word counts before
 * the segment's.) Executable sections must not overlap. Others may, also an executable
 * one, whose bytes are code then: bytes of several that are not executable are data
 * whichever owns them, and the section told of them is any one of those.
 */
#ifndef HLG_SYMTAB_IMAGE_AREA_H
#define HLG_SYMTAB_IMAGE_AREA_H

#include "symtab/elf/elf64.h"

struct hlg_area {
	uint64_t start, end; /* the image's own addresses, half open, never empty */
	uint32_t section;    /* ELF index; 0 where no section claims the bytes */
	bool code;
};

/*
 * The areas of an ELF, sorted and disjoint, in memory for the caller to free. path is
 * for the error message.
 */
int hlg_area_build(const struct hlg_elf64 *elf, const char *path, struct hlg_area **areas,
		   size_t *n_areas, struct hlg_err *err);

#endif
