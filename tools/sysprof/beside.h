/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The profile of a guest, to stand beside what its VMM did in Lua: folded stacks as
 * report has them, under a root of their own.
 *
 * They cannot be laid into each other by time: sysprof's streams have none. So each keeps
 * its own root, and shares are to be read within one.
 */
#ifndef HLG_TOOLS_SYSPROF_BESIDE_H
#define HLG_TOOLS_SYSPROF_BESIDE_H

#include <stdbool.h>
#include <stdio.h>

#include "symtab/err.h"

#define HLG_BESIDE_NOTE                                                                  \
	"has no times (sysprof records none): Lua's samples stand under [lua] and the "  \
	"guest's under [guest], beside each other and not in one order"

struct hlg_beside {
	char *folded;  /* lines of "frame;frame SAMPLES" */
	bool mismatch; /* the samples do not fit the ELFs: frames are addresses */
};

/*
 * Profiles the recording at path; elfs are images as report takes them. *beside is zero
 * before; the caller finishes it in any case.
 */
int hlg_beside_read(struct hlg_beside *beside, char *path, char *const *elfs,
		    size_t n_elfs, struct hlg_err *err);

/* Each line, under "[guest]"; nothing if none was read. */
void hlg_beside_write(const struct hlg_beside *beside, FILE *f);

void hlg_beside_finish(struct hlg_beside *beside);

#endif
