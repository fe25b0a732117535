/* SPDX-License-Identifier: GPL-2.0-only */
/* A comparison in the formats there are. */
#ifndef HLG_TOOLS_DIFF_WRITE_H
#define HLG_TOOLS_DIFF_WRITE_H

#include "filter/write/format.h"
#include "tools/diff/diff.h"

/* Of a struct hlg_diff, text first; and its records. */
extern const struct hlg_format *const hlg_diff_formats[];
int hlg_diff_records(void *diff, struct hlg_records *to, struct hlg_err *err);

#endif
