/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Callchains whose user's part stands in a record of its own (perf record --call-graph
 * fp,defer, Linux 6.18 on): a sample in the kernel ends with a cookie
 * (hlg_chains_is_deferred), and as the thread goes back to user mode,
 * PERF_RECORD_CALLCHAIN_DEFERRED has the addresses for that thread and cookie, once for
 * all samples since it entered the kernel. A KVM_RUN goes back when it is over: behind
 * the guest's samples. So all these records are read beforehand.
 *
 * Memory: 32 bytes for each such record, and distinct user's parts.
 */
#ifndef HLG_TOOLS_FEED_DEFERRED_H
#define HLG_TOOLS_FEED_DEFERRED_H

#include "filter/stacks/chains.h"
#include "symtab/err.h"
#include "tools/perfdata/record.h"

struct hlg_deferred;

/*
 * Reads path, if it can be read twice and has such callchains; else *deferred is NULL,
 * which has none.
 */
int hlg_deferred_read(struct hlg_deferred **deferred, const char *path,
		      struct hlg_err *err);

void hlg_deferred_free(struct hlg_deferred *deferred);

/*
 * The whole of such a callchain, of thread tid, as perf joins it; what is longer than
 * joined is cut. Returns its words. *missing: the user's part is not there, only the
 * kernel's.
 */
size_t hlg_deferred_join(const struct hlg_deferred *deferred, int32_t tid,
			 uint64_t cookie, const struct hlg_perfdata_bytes *chain,
			 uint64_t joined[static HLG_CHAIN_MAX], bool *missing);

#endif
