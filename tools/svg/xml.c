// SPDX-License-Identifier: GPL-2.0-only
#include "tools/svg/xml.h"

#include <string.h>

#include "symtab/escape.h"

static const char *entity(char c)
{
	static const char special[] = "&<>\"'";
	static const char *const entities[] = {"&amp;", "&lt;", "&gt;", "&quot;",
					       "&#39;"};
	const char *at = strchr(special, c);

	return at ? entities[at - special] : NULL;
}

/* Columns of the character at s, and how many bytes it has. */
static size_t measure(const char *s, size_t *bytes)
{
	size_t plain = hlg_escape_plain(s);

	*bytes = plain ? plain : 1;
	return plain == 0 ? strlen("\\xNN") : plain > 1 ? 2 : 1;
}

/* Returns how many bytes it has. */
static size_t put_character(FILE *f, const char *s)
{
	size_t plain = hlg_escape_plain(s);
	const char *instead = entity(*s);

	if (plain == 0)
		fprintf(f, "\\x%02x", (unsigned)(unsigned char)*s);
	else if (instead)
		fputs(instead, f);
	else
		fwrite(s, 1, plain, f);
	return plain ? plain : 1;
}

void hlg_xml_text(FILE *f, const char *text)
{
	while (*text)
		text += put_character(f, text);
}

void hlg_xml_text_cut(FILE *f, const char *text, size_t columns)
{
	size_t width = 0, bytes;

	for (const char *s = text; *s && width <= columns; s += bytes)
		width += measure(s, &bytes);
	if (width <= columns) {
		hlg_xml_text(f, text);
		return;
	}
	/* The last column is the ellipsis's. */
	for (width = measure(text, &bytes); width < columns;
	     width += measure(text, &bytes))
		text += put_character(f, text);
	if (columns)
		fputs("\xe2\x80\xa6", f);
}
