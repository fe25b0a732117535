/* SPDX-License-Identifier: GPL-2.0-only */
/* Which recordings are named twice? Their samples would count twice. */
#ifndef HLG_TOOLS_INPUTS_TWICE_H
#define HLG_TOOLS_INPUTS_TWICE_H

#include <stddef.h>

#include "symtab/err.h"

/*
 * Puts each of n files that is the same regular file or folder as one before it, by whatever path,
 * behind those that are not, which keep their order, and says so on standard error.
 * *n_once becomes how many these are. Fails without memory; all are there, in any order.
 */
int hlg_twice_part(char **files, size_t n, size_t *n_once, struct hlg_err *err);

/* Says on standard error that a file is the same one, a "file" or "profile", as another
 * that was named before, and that it counts "once" or "twice". */
void hlg_twice_tell(const char *file, const char *same, const char *what,
		    const char *counts);

#endif
