// SPDX-License-Identifier: GPL-2.0-only
#include "filter/output/screen.h"

#include <langinfo.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* Sets no locale for the whole of perf. */
bool hlg_screen_is_utf8(void)
{
	locale_t locale = newlocale(LC_CTYPE_MASK, "", (locale_t)0);
	bool is;

	if (!locale)
		return false;
	is = strcmp(nl_langinfo_l(CODESET, locale), "UTF-8") == 0;
	freelocale(locale);
	return is;
}

bool hlg_screen_is_terminal(FILE *f)
{
	return isatty(fileno(f)) || (f == stdout && getenv(HLG_SCREEN_PAGER));
}

/* A number of the environment that can be a size, else the one that is known. */
static unsigned size_of(const char *name, unsigned known)
{
	const char *text = getenv(name);
	unsigned long n = text ? strtoul(text, NULL, 10) : 0;

	return n >= 10 && n <= 10000 ? (unsigned)n : known;
}

struct hlg_screen hlg_screen_of(FILE *f)
{
	struct hlg_screen screen = {.columns = HLG_SCREEN_COLUMNS};
	struct winsize size = {0};

	if (f && hlg_screen_is_terminal(f)) {
		ioctl(fileno(f), TIOCGWINSZ, &size);
		screen.columns = size.ws_col ? size.ws_col : 80;
		screen.lines = size.ws_row ? size.ws_row : 24;
		screen.ascii = !hlg_screen_is_utf8();
	}
	screen.columns = size_of("COLUMNS", screen.columns);
	screen.lines = size_of("LINES", screen.lines);
	return screen;
}
