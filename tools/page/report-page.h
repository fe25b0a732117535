/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A page of one report or several, of at most HLG_PAGE_BYTES: what it says as text is in
 * memory first, the reports' data have what room that leaves (report-data.h), and the
 * page says what was left out of them.
 */
#ifndef HLG_TOOLS_PAGE_REPORT_PAGE_H
#define HLG_TOOLS_PAGE_REPORT_PAGE_H

#include "tools/page/page.h"
#include "tools/page/report-data.h"

/* Fails as hlg_page_report_page() does. */
typedef int hlg_page_part_fn(void *ctx, FILE *f, struct hlg_err *err);

struct hlg_page_parts {
	const struct hlg_page_kind *kind;
	const char *title;        /* text, not escaped */
	hlg_page_part_fn *header; /* the element that is open when the note follows */
	hlg_page_part_fn *rest;   /* its end, and all behind it up to the data */
	void *ctx;
	const char *things; /* what rows are: "functions" */
	const char *verb;   /* whose JSON has all */
	struct hlg_page_element *elements;
	size_t n;
};

/* Writes the page, unless it fails: for want of memory, or if the page would be too
 * large. Write errors stay on the stream. Frees the elements' texts. */
int hlg_page_report_page(FILE *f, const struct hlg_page_parts *parts,
			 struct hlg_err *err);

#endif
