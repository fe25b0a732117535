/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The functions that a compiler inlined, by guest address: they have no frame on the
 * stack, and debug information alone tells of them. Who reads that is the caller's; it is
 * asked once for each address, and functions of one name are one in an image.
 */
#ifndef HLG_FILTER_REPORT_INLINED_H
#define HLG_FILTER_REPORT_INLINED_H

#include "symtab/image/space.h"

#define HLG_INLINED_MARK " (inlined)" /* behind a name; as perf has it */

/* Inlined into one another at one address, at most: the outermost of them. */
#define HLG_INLINED_MAX 64

#define HLG_INLINED_LOST SIZE_MAX /* of at(): without memory */

struct hlg_inlined_source {
	/* Puts up to max names, as the debug information has them, of what was inlined at
	 * an image's own address, innermost first; how many. They live as long as ctx. */
	size_t (*at)(void *ctx, const struct hlg_image *image, uint64_t addr,
		     const char **names, size_t max); /* NULL: nobody knows */
	void *ctx;
	bool flat; /* also asked for samples without callers, by what keeps these */
};

struct hlg_inlined_function {
	const struct hlg_image *image;
	const char *name; /* the source's */
};

struct hlg_inlined;

/* Of the images of a space; all arguments outlive it. NULL without memory. */
struct hlg_inlined *hlg_inlined_open(const struct hlg_inlined_source *source,
				     const struct hlg_space *space);
void hlg_inlined_close(struct hlg_inlined *inlined);

/*
 * What was inlined at a guest's address (of a caller: before its return address): *n
 * numbers of functions from *list on, innermost first, valid until the next call. False
 * without memory.
 */
bool hlg_inlined_find(struct hlg_inlined *inlined, uint64_t ip, const uint32_t **list,
		      size_t *n);

/* How many functions there are so far, and one of them. */
uint32_t hlg_inlined_functions(const struct hlg_inlined *inlined);
const struct hlg_inlined_function *hlg_inlined_get(const struct hlg_inlined *inlined,
						   uint32_t number);

#endif
