// SPDX-License-Identifier: GPL-2.0-only
#include "symtab/escape.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Decodes one UTF-8 character (RFC 3629, section 4); returns its length, 0 if malformed.
 */
static size_t decode(const unsigned char *s, uint32_t *cp)
{
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	size_t len = s[0] < 0x80 ? 1 : s[0] >= 0xf0 ? 4 : s[0] >= 0xe0 ? 3 : 2;

	if (len == 1) {
		*cp = s[0];
		return 1;
	}
	if (s[0] < 0xc2 || s[0] > 0xf4)
		return 0;
	*cp = s[0] & (0xff >> (len + 1));
	for (size_t i = 1; i < len; i++) {
		if ((s[i] & 0xc0) != 0x80) /* NUL ends the text here too */
			return 0;
		*cp = *cp << 6 | (s[i] & 0x3f);
	}
	if (*cp < least[len] || *cp > 0x10ffff || (*cp >= 0xd800 && *cp <= 0xdfff))
		return 0;
	return len;
}

/*
 * Characters that change how the text around them is shown (UAX #9, section 2), or that
 * nobody sees: Default_Ignorable_Code_Point (DerivedCoreProperties.txt of Unicode 15.0),
 * the interlinear annotations behind its last block of three bytes, and what looks like a
 * blank and is none (General_Category Zs but U+0020, an empty Braille pattern, a note
 * without a head), at which some readers split. Noncharacters, two at each plane's end
 * among them, are not for interchange, and XML has none of the first two.
 */
static const struct {
	uint32_t first, last;
} disturbing[] =
	{
		{0x0, 0x1f},        {0x7f, 0xa0},       {0xad, 0xad},
		{0x34f, 0x34f},     {0x61c, 0x61c},     {0x115f, 0x1160},
		{0x1680, 0x1680},   {0x17b4, 0x17b5},   {0x180b, 0x180f},
		{0x2000, 0x200f},   {0x2028, 0x202f}, /* separators of lines among them */
		{0x205f, 0x206f},   {0x2800, 0x2800},   {0x3000, 0x3000},
		{0x3164, 0x3164},   {0xfdd0, 0xfdef},   {0xfe00, 0xfe0f},
		{0xfeff, 0xfeff},   {0xffa0, 0xffa0},   {0xfff0, 0xfffb},
		{0x1bca0, 0x1bca3}, {0x1d159, 0x1d159}, {0x1d173, 0x1d17a},
		{0xe0000, 0xe0fff},
};

static bool disturbs(uint32_t cp)
{
	if (cp >= 0x20 && cp < 0x7f)
		return false; /* nearly all there is */
	if ((cp & 0xfffe) == 0xfffe)
		return true;
	for (size_t i = 0; i < sizeof(disturbing) / sizeof(disturbing[0]); i++)
		if (cp <= disturbing[i].last)
			return cp >= disturbing[i].first;
	return false;
}

size_t hlg_escape_plain(const char *s)
{
	uint32_t cp;
	size_t len = decode((const unsigned char *)s, &cp);

	return len && !disturbs(cp) ? len : 0;
}

/* Takes one character off *src: as it is, or escaped. piece needs no NUL. */
static size_t next_piece(const char **src, char piece[static 5])
{
	size_t plain = hlg_escape_plain(*src);

	if (plain) {
		memcpy(piece, *src, plain);
		*src += plain;
		return plain;
	}
	return (size_t)snprintf(piece, 5, "\\x%02x", (unsigned)(unsigned char)*(*src)++);
}

size_t hlg_escape(char *dst, size_t size, const char *src)
{
	size_t need = 0, used = 0;
	bool full = size == 0;

	while (*src) {
		char piece[5];
		size_t len = next_piece(&src, piece);

		if (!full && used + len < size) {
			memcpy(dst + used, piece, len);
			used += len;
		} else {
			full = true;
		}
		need += len;
	}
	if (size)
		dst[used] = '\0';
	return need;
}

void hlg_escape_print_as(FILE *f, const char *src, size_t n, char c, const char *instead)
{
	const char *end = src + strnlen(src, n);

	while (src < end) {
		size_t run = 0, plain;

		while (src + run < end && (!c || src[run] != c) &&
		       (plain = hlg_escape_plain(src + run)))
			run += plain;
		fwrite(src, 1, run, f);
		src += run;
		if (src >= end)
			break;
		if (c && *src == c)
			fputs(instead, f);
		else
			fprintf(f, "\\x%02x", (unsigned)(unsigned char)*src);
		src++;
	}
}

void hlg_escape_cut(char *dst, size_t size, const char *src)
{
	if (hlg_escape(dst, size, src) < size)
		return;
	hlg_escape(dst, size - 3, src);
	strcat(dst, "...");
}

void hlg_escape_print(FILE *f, const char *src)
{
	hlg_escape_print_as(f, src, SIZE_MAX, '\0', NULL);
}

char *hlg_escape_dup(const char *src)
{
	size_t size = hlg_escape(NULL, 0, src) + 1;
	char *dst = malloc(size);

	if (dst)
		hlg_escape(dst, size, src);
	return dst;
}
