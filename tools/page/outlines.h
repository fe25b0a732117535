/* SPDX-License-Identifier: GPL-2.0-only */
/* Where the functions of an image lie, as a page draws them: `spans` of report-data.h. */
#ifndef HLG_TOOLS_PAGE_OUTLINES_H
#define HLG_TOOLS_PAGE_OUTLINES_H

#include "filter/view/view.h"

/* The name of functions side by side that have no outlines of their own. */
#define HLG_PAGE_UNSAMPLED "[functions without samples]"

/* A span of code, or several side by side. */
struct hlg_page_outline {
	size_t span;    /* of the image: the first */
	uint64_t size;  /* bytes */
	size_t symbols; /* that have no outline of their own; 0: it is the span's own */
};

/* Each byte of the image's code is in one. each: spans have outlines of their own; else
 * only those of n rows of a view have. To be freed; NULL without memory, and *n is 0. */
struct hlg_page_outline *hlg_page_outlines_of(const struct hlg_image *image, bool each,
					      const struct hlg_row *rows, size_t n_rows,
					      size_t *n);

#endif
