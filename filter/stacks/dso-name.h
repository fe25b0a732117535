/* SPDX-License-Identifier: GPL-2.0-only */
/* What a host frame is called where only what is mapped there is known. */
#ifndef HLG_FILTER_STACKS_DSO_NAME_H
#define HLG_FILTER_STACKS_DSO_NAME_H

#include <stddef.h>

/*
 * "[libc.so.6]" of "/usr/lib/libc.so.6", "[kernel]" of perf's "[kernel.kallsyms]", other
 * names in brackets as they are, "[unknown]" of NULL. Written to buf, size bytes, cut if
 * it is too long.
 */
const char *hlg_mapped_name(char *buf, size_t size, const char *dso);

#endif
