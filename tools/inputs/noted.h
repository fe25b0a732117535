/* SPDX-License-Identifier: GPL-2.0-only */
/* The guests' ELFs that record noted beside recordings (tools/beside), for who named
 * none.
 */
#ifndef HLG_TOOLS_INPUTS_NOTED_H
#define HLG_TOOLS_INPUTS_NOTED_H

#include <stddef.h>

#include "symtab/err.h"

struct hlg_noted {
	char **paths; /* in the order of recordings */
	size_t n;
};

/*
 * The ELFs of these recordings; none where nothing is noted. Fails where what is noted
 * cannot be used (tools/beside/beside.h). The caller finishes *noted in any case.
 */
int hlg_noted_find(struct hlg_noted *noted, char *const *files, size_t n,
		   struct hlg_err *err);
void hlg_noted_finish(struct hlg_noted *noted);

#endif
