/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * perf's own selection options (--time, -C, --pid ...) do not reach a filter that sees
 * samples early. A user who gave one believes otherwise, so it is looked for.
 */
#ifndef HLG_FILTER_DLFILTER_PERF_OPTIONS_H
#define HLG_FILTER_DLFILTER_PERF_OPTIONS_H

#include <stddef.h>

/*
 * Calls found(ctx, option, instead) for each such option in a command line as in
 * /proc/self/cmdline: size bytes of NUL-terminated words. instead is what to say to
 * hlguest, or NULL if nothing corresponds.
 */
void hlg_perf_options_find(const char *cmdline, size_t size,
			   void (*found)(void *ctx, const char *option,
					 const char *instead),
			   void *ctx);

#endif
