/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A part of many recordings, of which the parts together have each once: number k of
 * them, sorted by the bytes of their names and counted from 0, is in part k mod n.
 */
#ifndef HLG_TOOLS_INPUTS_SHARD_H
#define HLG_TOOLS_INPUTS_SHARD_H

#include <stddef.h>
#include <stdint.h>

#include "symtab/err.h"

struct hlg_shard {
	uint64_t index, n; /* n 0: all */
};

/*
 * "I/N", I from 0 on; or "slurm": the task of a job array that this is, by Slurm's
 * environment (SLURM_ARRAY_TASK_ID, _MIN, _MAX and _COUNT).
 */
int hlg_shard_parse(struct hlg_shard *shard, const char *word, struct hlg_err *err);

/* Puts those of the part, of n files in the order of their names, in front of the others;
 * returns how many these are. */
size_t hlg_shard_part(const struct hlg_shard *shard, char **files, size_t n);

#endif
