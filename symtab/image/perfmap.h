/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * perf map files: `START SIZE NAME` a line, numbers in hex without 0x (with it, too), the
 * name everything up to the end of the line (the format of the kernel's
 * tools/perf/Documentation/jit-interface.txt).
 *
 * Each line is a function of that extent; where lines overlap, the later one owns the
 * bytes, as code that was compiled later replaced what stood there. Lines of any other
 * shape, of no size or past the end of memory are skipped and counted.
 */
#ifndef HLG_SYMTAB_IMAGE_PERFMAP_H
#define HLG_SYMTAB_IMAGE_PERFMAP_H

#include "symtab/image/area.h"
#include "symtab/image/symbol.h"

/* Fills *tab, sorted, for the caller to finish in any case. No usable line is an error.
 */
int hlg_perfmap_read(const char *path, struct hlg_symtab *tab, size_t *skipped,
		     struct hlg_err *err);

/* The code areas of a map: the union of its lines. For the caller to free. */
int hlg_perfmap_areas(const struct hlg_symtab *tab, const char *path,
		      struct hlg_area **areas, size_t *n_areas, struct hlg_err *err);

#endif
