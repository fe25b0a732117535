/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * emit=lines: one record a sample in the shape `perf script` prints samples with a
 * callchain, which is what flame graph scripts read: a head line, a line with address,
 * symbol+offset and image, an empty line.
 */
#ifndef HLG_FILTER_WRITE_PERF_LINES_H
#define HLG_FILTER_WRITE_PERF_LINES_H

#include <stdio.h>

#include "filter/options/options.h"
#include "filter/profile/sample.h"
#include "symtab/image/space.h"

/*
 * Writes a guest sample; event and comm (NULL: unknown) are escaped. Returns false if
 * the gap policy drops the sample.
 */
bool hlg_perf_lines_write(FILE *f, const struct hlg_space *space,
			  const struct hlg_options *options,
			  const struct hlg_sample *sample, const char *event,
			  const char *comm);

#endif
