/* SPDX-License-Identifier: GPL-2.0-only */
/* perf's words for whose code an event counts: guests', or the host's as well. */
#ifndef HLG_TOOLS_RECORD_MODIFIERS_H
#define HLG_TOOLS_RECORD_MODIFIERS_H

#include <stdbool.h>

/*
 * Events in perf's words, as its users write them ("cycles", "cpu-clock,faults:u",
 * "{a,b}:S"), with the modifiers G or HG of perf-list(1): perf record leaves guests out
 * without. Guests alone, unless host; a clock samples the host in any case, so it is HG.
 * An event that has G or H keeps what it says; tracepoints and breakpoints have none. To
 * be freed; NULL without memory.
 */
char *hlg_record_modifiers_add(const char *events, bool host);

#endif
