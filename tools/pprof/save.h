/* SPDX-License-Identifier: GPL-2.0-only */
/* Files of saved profiles. */
#ifndef HLG_TOOLS_PPROF_SAVE_H
#define HLG_TOOLS_PPROF_SAVE_H

#include <stdio.h>

#include "tools/cli/progress.h"
#include "tools/pprof/saved.h"

/* Writes a settled profile to path, or to stream if path is NULL. */
int hlg_pprof_write(const struct hlg_saved *saved, const char *path, FILE *stream,
		    struct hlg_err *err);

/*
 * Reads the file at path ("-" is standard input), checked and settled. progress may be
 * NULL. The caller finishes *saved always.
 */
int hlg_pprof_load(struct hlg_saved *saved, const char *path,
		   struct hlg_progress *progress, struct hlg_err *err);

/* What messages call path. */
const char *hlg_pprof_name(const char *path);

#endif
