/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Source lines of an ELF's code, from its DWARF (its own, or that of its debug
 * file: symtab/elf/debug-file.h). Nothing is asked of the
 * network. All addresses are the image's own.
 *
 * A file that becomes shorter while libdw reads it ends the program (shrunk.h).
 *
 * Strings are as the compiler wrote them: escape them. They live as long as the source.
 */
#ifndef HLG_TOOLS_SOURCE_SOURCE_H
#define HLG_TOOLS_SOURCE_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symtab/err.h"
#include "symtab/image/space.h"

struct hlg_source;

struct hlg_source_line {
	const char *file; /* never NULL */
	int line;         /* 0: the compiler names none */
};

/* A function that was inlined, and the line that called it. */
struct hlg_source_inline {
	const char *function; /* mangled if the DWARF has that; never NULL */
	struct hlg_source_line call;
};

/*
 * The lines of an image that is an ELF, for hlg_source_close(). NULL when it has none,
 * when they cannot be read and when hlguest was built without libdw; *err then has a
 * message if they are left out because they would inflate too far, have more ranges than
 * any kernel's, or stand in a file that is not the debug file of this ELF, and is empty
 * else.
 */
struct hlg_source *hlg_source_open(const struct hlg_image *image, struct hlg_err *err);
void hlg_source_close(struct hlg_source *source);

/* The line of the instruction at addr; false where none is known. */
bool hlg_source_find(struct hlg_source *source, uint64_t addr,
		     struct hlg_source_line *line);

/*
 * Up to max functions that were inlined around addr, the outermost of them, innermost
 * first; how many. Says once on standard error if a split-off half is left out for its
 * size.
 */
size_t hlg_source_inlines(struct hlg_source *source, uint64_t addr,
			  struct hlg_source_inline *inlines, size_t max);

/* What the innermost of these is called; NULL: nothing was inlined there. */
const char *hlg_source_innermost(struct hlg_source *source, uint64_t addr);

/* The lines of all images of a space; each image's are opened when asked for. */
struct hlg_sources {
	const struct hlg_space *space;
	struct hlg_source **source; /* one for each image, or NULL */
	bool *tried;
};

/* space outlives *sources. False without memory; close in any case. */
bool hlg_source_open_all(struct hlg_sources *sources, const struct hlg_space *space);

/*
 * The lines of an image of the space; NULL where there are none, and for no image. Says
 * on standard error if they are left out (hlg_source_open).
 */
struct hlg_source *hlg_source_of(struct hlg_sources *sources,
				 const struct hlg_image *image);

/* What was inlined at an address of an image, for struct hlg_inlined_source
 * (filter/report/inlined.h); ctx is a struct hlg_sources. */
size_t hlg_source_inlined_at(void *ctx, const struct hlg_image *image, uint64_t addr,
			     const char **names, size_t max);

void hlg_source_close_all(struct hlg_sources *sources);

#endif
