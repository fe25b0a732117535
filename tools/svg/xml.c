// SPDX-License-Identifier: GPL-2.0-only
#include "tools/svg/xml.h"

#include <stdint.h>
#include <string.h>

#include "symtab/escape.h"

/* One character of a text as it is written, and how wide it is then. */
struct piece {
	const char *text;
	size_t len, columns, taken;
	char hex[5];
};

static const char *entity(char c)
{
	switch (c) {
	case '&':
		return "&amp;";
	case '<':
		return "&lt;";
	case '>':
		return "&gt;";
	case '"':
		return "&quot;";
	case '\'':
		return "&#39;";
	default:
		return NULL;
	}
}

static void next_piece(struct piece *piece, const char *s)
{
	size_t plain = hlg_escape_plain(s);

	*piece = (struct piece){s, plain, plain > 1 ? 2 : 1, plain, ""};
	if (plain == 0) {
		snprintf(piece->hex, sizeof(piece->hex), "\\x%02x",
			 (unsigned)(unsigned char)*s);
		piece->text = piece->hex;
		piece->len = piece->columns = 4;
		piece->taken = 1;
	} else if (entity(*s)) {
		piece->text = entity(*s);
		piece->len = strlen(piece->text);
	}
}

void hlg_xml_text(FILE *f, const char *text)
{
	hlg_xml_text_cut(f, text, SIZE_MAX);
}

/* Does text fit into so many columns? */
static int fits(const char *text, size_t columns)
{
	struct piece piece;

	for (; *text; text += piece.taken) {
		next_piece(&piece, text);
		if (piece.columns > columns)
			return 0;
		columns -= piece.columns;
	}
	return 1;
}

void hlg_xml_text_cut(FILE *f, const char *text, size_t columns)
{
	int whole = columns == SIZE_MAX || fits(text, columns);
	size_t left = whole ? SIZE_MAX : columns ? columns - 1 : 0;
	struct piece piece;

	for (; *text; text += piece.taken) {
		next_piece(&piece, text);
		if (piece.columns > left)
			break;
		left -= left == SIZE_MAX ? 0 : piece.columns;
		fwrite(piece.text, 1, piece.len, f);
	}
	if (!whole && columns)
		fputs("\xe2\x80\xa6", f);
}
