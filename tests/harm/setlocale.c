// SPDX-License-Identifier: GPL-2.0-only
/*
 * Preloaded into any program: it behaves as one that honours the user's locale, decimal
 * commas included. perf script does not do so by itself, but what it loads may.
 */
#include <locale.h>

static __attribute__((constructor)) void honour_locale(void)
{
	setlocale(LC_ALL, "");
}
