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

#include <stddef.h>
#include <stdio.h>

/* What stands alone, too: the style of a picture, and its script. */
struct hlg_page_text {
	const char *const *line;
	size_t n;
};

extern const struct hlg_page_text hlg_page_windows_style, hlg_page_flame_style,
	hlg_page_flame_script;

void hlg_page_put(FILE *f, const struct hlg_page_text *text);

/* What a page is of: the scripts that draw it (meson.build lists them). */
struct hlg_page_kind {
	const char *const *script; /* n lines */
	size_t n;
	const char *sha256; /* of the whole, in base64 */
};

extern const struct hlg_page_kind hlg_page_report, hlg_page_diff;
extern const struct hlg_page_kind hlg_page_still; /* has no scripts */

/* Up to the opened body; title is text, not escaped. Write errors stay on the stream. */
void hlg_page_begin(FILE *f, const struct hlg_page_kind *kind, const char *title);

/* How many bytes style and scripts of such a page have. */
size_t hlg_page_bytes(const struct hlg_page_kind *kind);

/* The scripts, if any, and the document's end. */
void hlg_page_end(FILE *f, const struct hlg_page_kind *kind);

#endif
