/* SPDX-License-Identifier: GPL-2.0-only */
/* What a place is called in a report. Not escaped: every writer escapes for its format.
 */
#ifndef HLG_FILTER_VIEW_PLACE_NAME_H
#define HLG_FILTER_VIEW_PLACE_NAME_H

#include <stdbool.h>

#include "symtab/image/image.h"

/*
 * "foo", "__gap__ after foo", "__gap__ before foo", "__gap__ in .plt", "[data] .rodata",
 * "[outside]", in memory for the caller to free; NULL without memory.
 */
char *hlg_place_name(const struct hlg_place *place, bool demangle);

/* With its ELF behind, where guests lie at the same addresses: "memcpy [guest.elf]".
 * Takes name over, which may be NULL. */
char *hlg_place_name_of_image(char *name, const struct hlg_place *place);

/* The border (border.h) in such a place: "__vm_exit__ in foo". An image that was made of
 * a saved profile has such names of its own. */
#define HLG_PLACE_NAME_EXIT "__vm_exit__ in "
char *hlg_place_name_border(const struct hlg_place *place, bool demangle);

/* A symbol's name, readable if asked for; to be freed; NULL without memory. */
char *hlg_place_name_symbol(const struct hlg_image *image,
			    const struct hlg_symbol *symbol, bool demangle);

/* "function", "label", "gap", "data", "outside". */
const char *hlg_place_name_kind(enum hlg_kind kind);
#define HLG_PLACE_NAME_BORDER "border"

#endif
