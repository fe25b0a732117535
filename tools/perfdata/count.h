/* SPDX-License-Identifier: GPL-2.0-only */
/* What a recording holds, in what tells a good one from one in vain. */
#ifndef HLG_TOOLS_PERFDATA_COUNT_H
#define HLG_TOOLS_PERFDATA_COUNT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symtab/err.h"

/* Samples of tracepoints: with --stacks vCPU entries, with --exits KVM's events; what
 * guests halt with (tracing.h). */
int hlg_perfdata_count_traced(const char *path, uint64_t *n, struct hlg_err *err);

/* Processes with guest samples: the first of them, n at most; returns how many. */
size_t hlg_perfdata_count_pids(const char *path, int32_t *pids, size_t n);

/* Is this a recording that has a sample of a guest, or of one of KVM's tracepoints other
 * than kvm_pio, which any has? Reads it up to there. */
bool hlg_perfdata_count_is_good(const char *path);

#endif
