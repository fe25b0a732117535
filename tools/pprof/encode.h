/* SPDX-License-Identifier: GPL-2.0-only */
/* Between a saved profile and the bytes of pprof's format, not yet or not any more
 * compressed. */
#ifndef HLG_TOOLS_PPROF_ENCODE_H
#define HLG_TOOLS_PPROF_ENCODE_H

#include "tools/pprof/saved.h"

/* The bytes of a settled profile in *data, to be freed. */
int hlg_pprof_encode(const struct hlg_saved *saved, unsigned char **data, size_t *size,
		     struct hlg_err *err);

/*
 * Reads a profile that this program wrote, checks every number in it and settles it; path
 * is for messages. The caller finishes *saved in any case.
 */
int hlg_pprof_decode(struct hlg_saved *saved, const unsigned char *data, size_t size,
		     const char *path, struct hlg_err *err);

#endif
