/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Pages: one HTML document with all that it needs in it, which opens anywhere and asks
 * nobody for anything. Its content security policy allows the style and the scripts that
 * were built into hlguest, by their hashes, and nothing else: no other script, no style
 * attribute, no request.
 *
 * A verb writes its text as HTML, which is to be read without scripts, between begin and
 * end, and behind it the data (data.h) that the scripts draw from. The scripts (core.js
 * says what they expect) look for sections by their id.
 */
#ifndef HLG_TOOLS_PAGE_PAGE_H
#define HLG_TOOLS_PAGE_PAGE_H

#include <stdio.h>

/* Up to the opened body; title is text, not escaped. Write errors stay on the stream. */
void hlg_page_begin(FILE *f, const char *title);

/* The scripts, and the document's end. */
void hlg_page_end(FILE *f);

#endif
