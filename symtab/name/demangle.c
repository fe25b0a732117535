// SPDX-License-Identifier: GPL-2.0-only
#include "symtab/name/demangle.h"

#include <stdlib.h>
#include <string.h>

#include "config.h"

#if HLG_HAVE_LIBIBERTY
#include "symtab/name/demangle-limit.h"

#include <libiberty/demangle.h>
#include <setjmp.h>

/*
 * Back-references let a name of 200 bytes stand for more text than any memory holds, so
 * the text is collected in bounds; a name that passes them stays mangled.
 */
#define MAX_TEXT ((size_t)64 << 10)

struct sink {
	jmp_buf full; /* libiberty has no other way to be stopped */
	char *text;
	size_t len;
};

static void collect(const char *s, size_t len, void *opaque)
{
	struct sink *sink = opaque;

	if (len > MAX_TEXT - sink->len)
		longjmp(sink->full, 1);
	if (len) /* of an empty name s may be NULL */
		memcpy(sink->text + sink->len, s, len);
	sink->len += len;
}

static bool demangle_into(struct sink *sink, const char *name)
{
	const int options = DMGL_AUTO | DMGL_PARAMS | DMGL_ANSI;

	if (setjmp(sink->full))
		return false;
	if (rust_demangle_callback(name, options, collect, sink))
		return true;
	sink->len = 0;
	return cplus_demangle_v3_callback(name, options, collect, sink);
}

/* *nice is NULL when the name is not mangled, or hostile. False without memory. */
static bool readable(const char *name, char **nice)
{
	struct sink sink = {.text = malloc(MAX_TEXT)};
	bool mangled = sink.text && !hlg_demangle_limit_passed(name) &&
		       demangle_into(&sink, name);
	bool ok;

	*nice = mangled ? strndup(sink.text, sink.len) : NULL;
	ok = sink.text && (*nice || !mangled);
	free(sink.text);
	return ok;
}
#endif

/* Length of name without a `.llvm.DIGITS` at its end. */
static size_t plain_length(const char *name)
{
	size_t len = strlen(name), digits = len;
	static const char mark[] = ".llvm.";
	const size_t mark_len = sizeof(mark) - 1;

	while (digits && name[digits - 1] >= '0' && name[digits - 1] <= '9')
		digits--;
	if (digits == len || digits <= mark_len ||
	    memcmp(name + digits - mark_len, mark, mark_len) != 0)
		return len;
	return digits - mark_len;
}

char *hlg_demangle(const char *name)
{
	char *plain = strndup(name, plain_length(name));

#if HLG_HAVE_LIBIBERTY
	char *nice;

	if (plain && (!readable(plain, &nice) || nice)) {
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
