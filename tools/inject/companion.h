/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The companion of an image: a copy of its ELF whose symbol table has one sized function
 * symbol for each unit (unit.h), gaps and labels among them, so that perf says what
 * hlguest says. Code, addresses, debug sections: all else is the ELF's, and so perf finds
 * disassembly and source lines in it.
 *
 * It depends on the ELF and the options only, not on samples: two recordings of one guest
 * get the same, and perf diff can compare them. If the ELF has a build id, the companion
 * has another one, which is made of that and of the table: it can never be taken for the
 * ELF, or for the companion of another version.
 *
 * What could bring perf to other symbols than these is hidden in the copy: the tables it
 * had, the name of a file of debug symbols (.gnu_debuglink), and the relocations that
 * perf makes symbols of its procedure linkage table from.
 *
 * Formats: System V gABI, chapters 4 and 5; the note of a build id as binutils' ld
 * writes it.
 */
#ifndef HLG_TOOLS_INJECT_COMPANION_H
#define HLG_TOOLS_INJECT_COMPANION_H

#include <elf.h>
#include <stdio.h>

#include "tools/inject/units.h"
#include "tools/perfdata/writer.h"

/* As perf can read it; size 0: there is none. */
struct hlg_build_id {
	uint8_t bytes[HLG_BUILD_ID_MAX];
	size_t size;
};

/* An image's ELF, as far as writing its companion needs it. */
struct hlg_companion {
	const struct hlg_image *image;
	int fd;
	struct hlg_build_id id; /* of the ELF */
	uint64_t id_at;         /* its offset in the file */
	Elf64_Ehdr header;
	Elf64_Shdr *sections; /* with room for three more */
	size_t n_sections;
	char *names; /* of sections, those of the three at the end */
	size_t names_size;
};

/*
 * Opens the image's file again. Fails if it has changed, or without memory; the caller
 * finishes it in any case.
 */
int hlg_companion_open(struct hlg_companion *c, const struct hlg_image *image,
		       struct hlg_err *err);
void hlg_companion_finish(struct hlg_companion *c);

/*
 * Writes the companion to f, which is empty and can seek; path is its name, for messages.
 * demangle: of the names of gaps. *id is the companion's.
 */
int hlg_companion_write(const struct hlg_companion *c, const struct hlg_units *units,
			bool demangle, FILE *f, const char *path, struct hlg_build_id *id,
			struct hlg_err *err);

#endif
