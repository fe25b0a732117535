// SPDX-License-Identifier: GPL-2.0-only
#include "demangle.h"

#include <stdlib.h>
#include <string.h>

#include "config.h"

#if HLG_HAVE_LIBIBERTY
#include <libiberty/demangle.h>
#endif

/* Length of name without a `.llvm.DIGITS` at its end. */
static size_t plain_length(const char *name)
{
	size_t len = strlen(name), digits = len;
	static const char mark[] = ".llvm.";
	const size_t mark_len = sizeof(mark) - 1;

	while (digits && name[digits - 1] >= '0' && name[digits - 1] <= '9')
		digits--;
	if (digits == len || digits < mark_len ||
	    memcmp(name + digits - mark_len, mark, mark_len) != 0)
		return len;
	return digits - mark_len;
}

char *hlg_demangle(const char *name)
{
	char *plain = strndup(name, plain_length(name));

#if HLG_HAVE_LIBIBERTY
	char *nice =
		plain ? cplus_demangle(plain, DMGL_AUTO | DMGL_PARAMS | DMGL_ANSI) : NULL;

	if (nice) {
		free(plain);
		return nice;
	}
#endif
	return plain;
}

bool hlg_demangle_available(void)
{
	return HLG_HAVE_LIBIBERTY;
}
