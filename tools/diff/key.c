// SPDX-License-Identifier: GPL-2.0-only
#include "tools/diff/key.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "filter/view/place-name.h"

enum {
	HASH = 20 /* "17h", sixteen digits, "E" */
};

static bool is_hash(const char *s)
{
	return strncmp(s, "17h", 3) == 0 && strspn(s + 3, "0123456789abcdef") == 16 &&
	       s[HASH - 1] == 'E';
}

/* Also behind what a place without a symbol is called: __gap__ after _ZN3foo... */
static bool is_legacy_rust(const char *symbol)
{
	return strstr(symbol, "_ZN");
}

/* Length of ".llvm.123" or ".lto_priv.0" at s, 0 if there is none. */
static size_t suffix(const char *s)
{
	static const char *const words[] = {".llvm.", ".lto_priv."};

	for (int i = 0; i < 2; i++) {
		size_t n = strlen(words[i]), digits;

		if (strncmp(s, words[i], n) != 0)
			continue;
		digits = strspn(s + n, "0123456789");
		if (digits && (s[n + digits] == '\0' || s[n + digits] == '.'))
			return n + digits;
	}
	return 0;
}

char *hlg_diff_key(const char *symbol)
{
	char *key = strdup(symbol), *to = key;
	const bool rust = is_legacy_rust(symbol);

	if (!key)
		return NULL;
	for (const char *from = symbol; *from;) {
		size_t skip = *from == '.' ? suffix(from) : 0;

		if (*from == '1' && rust && is_hash(from))
			skip = HASH - 1;
		if (skip)
			from += skip;
		else
			*to++ = *from++;
	}
	*to = '\0';
	return key;
}

char *hlg_diff_key_of(const struct hlg_place *place)
{
	char *name, *key;

	if (place->symbol)
		return hlg_diff_key(hlg_image_name(place->image, place->symbol));
	name = hlg_place_name(place, false);
	key = name ? hlg_diff_key(name) : NULL;
	free(name);
	return key;
}
