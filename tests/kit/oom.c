// SPDX-License-Identifier: GPL-2.0-only
#include "tests/kit/oom.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned left; /* allocations until one fails; 0: none will */
static bool every, struck;

void oom_arm(unsigned n, bool all)
{
	left = n;
	every = all;
	struck = false;
}

bool oom_disarm(void)
{
	left = 0;
	return struck;
}

static bool due(void)
{
	if (left == 0 || (left > 1 && left--))
		return false;
	left = every;
	struck = true;
	errno = ENOMEM;
	return true;
}

#define WRAP(type, name, params, args)                                                   \
	type __real_##name params;                                                       \
	type __wrap_##name params;                                                       \
	type __wrap_##name params                                                        \
	{                                                                                \
		return due() ? NULL : __real_##name args;                                \
	}

WRAP(void *, malloc, (size_t size), (size))
WRAP(void *, calloc, (size_t n, size_t size), (n, size))
WRAP(void *, realloc, (void *p, size_t size), (p, size))
WRAP(void *, reallocarray, (void *p, size_t n, size_t size), (p, n, size))
WRAP(char *, strdup, (const char *s), (s))
WRAP(char *, strndup, (const char *s, size_t n), (s, n))
WRAP(FILE *, open_memstream, (char **text, size_t *size), (text, size))

int __wrap_vasprintf(char **text, const char *fmt, va_list ap);
int __real_vasprintf(char **text, const char *fmt, va_list ap);
int __wrap_asprintf(char **text, const char *fmt, ...);

int __wrap_vasprintf(char **text, const char *fmt, va_list ap)
{
	return due() ? -1 : __real_vasprintf(text, fmt, ap);
}

int __wrap_asprintf(char **text, const char *fmt, ...)
{
	va_list ap;
	int len;

	va_start(ap, fmt);
	len = __wrap_vasprintf(text, fmt, ap);
	va_end(ap);
	return len;
}
