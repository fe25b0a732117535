// SPDX-License-Identifier: GPL-2.0-only
#include "symtab/err.h"

#include <stdarg.h>
#include <stdio.h>

#include "symtab/escape.h"

int hlg_err_set(struct hlg_err *err, int code, const char *fmt, ...)
{
	char raw[sizeof(err->msg)];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(raw, sizeof(raw), fmt, ap);
	va_end(ap);
	hlg_escape(err->msg, sizeof(err->msg), raw);
	return err->code = code;
}

int hlg_err_memory(struct hlg_err *err, const char *subject)
{
	return hlg_err_set(err, HLG_ESYSTEM, "%s: out of memory", subject);
}
