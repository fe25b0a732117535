/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The companion of an image: a copy of its ELF whose symbol table has one sized function
 * symbol for each unit (below), gaps and labels among them, so that perf says what
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

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "symtab/image/image.h"
#include "tools/perfdata/writer.h"

/*
 * Units: the bytes of an image that perf is to show as one symbol, and whether it would
 * do so by itself.
 *
 * perf reads a symbol table by rules of its own (util/symbol-elf.c, util/symbol.c of
 * perf 6.1): a symbol without a size reaches up to the next one, or as far as a page
 * behind it; of several at one address the longest name may win; where symbols overlap,
 * any of them may be found; labels that are hidden are not taken; bytes that no symbol
 * covers have no name; names are shown as they are; a table that is not the first section
 * called .symtab is not found. Only of a function that has its bytes
 * for itself, and a name that does nothing to a terminal, there is but one reading: it is
 * called plain. All others are shown by means of a companion.
 */
struct hlg_unit {
	uint64_t start, end;    /* own addresses */
	struct hlg_place place; /* what it is called by */
	size_t spans;           /* how many of the image's spans it is made of */
	bool nameless;          /* a gap that is dropped: no symbol is made for it */
	bool plain;
};

struct hlg_units {
	const struct hlg_image *image;
	int gaps;       /* enum hlg_gaps */
	uint64_t *ends; /* the highest end of the symbols before the i-th */
};

/* False without memory; finish in any case. The image outlives it. */
bool hlg_companion_units_init(struct hlg_units *units, const struct hlg_image *image,
			      int gaps);
void hlg_companion_units_finish(struct hlg_units *units);

/* The unit that begins with a span; false for a span that is outside. */
bool hlg_companion_unit_get(const struct hlg_units *units, size_t span,
			    struct hlg_unit *unit);

/* The unit an own address belongs to; false if that is outside. */
bool hlg_companion_unit_find(const struct hlg_units *units, uint64_t addr,
			     struct hlg_unit *unit);

/* As perf can read it; size 0: there is none. */
struct hlg_build_id {
	uint8_t bytes[HLG_BUILD_ID_MAX];
	size_t size;
};

/*
 * Sets *id to the image's own, where perf would find it. Fails if its file has changed,
 * or has section headers that no companion can be made from.
 */
int hlg_companion_image_id(const struct hlg_image *image, struct hlg_build_id *id,
			   struct hlg_err *err);

/*
 * Writes the companion of the units' image to f, which is empty and can seek; path is its
 * name, for messages. Errors of writing stay in f. demangle: of the names of gaps. *id is
 * the companion's.
 */
int hlg_companion_write(const struct hlg_units *units, bool demangle, FILE *f,
			const char *path, struct hlg_build_id *id, struct hlg_err *err);

#endif
