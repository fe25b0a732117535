/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Host samples by (series, process, mapping), for mode=host and mode=all: dso is what the
 * address is mapped from ("/usr/bin/vmm", "[vdso]", "[kernel.kallsyms]", "[kvm]"), comm
 * the thread's name. The feed knows both, as perf script prints them; here they are only
 * counted. Memory grows with distinct names.
 */
#ifndef HLG_FILTER_PROFILE_HOST_H
#define HLG_FILTER_PROFILE_HOST_H

#include "filter/profile/index.h"
#include "filter/profile/profile.h"

struct hlg_host_row {
	uint32_t series;
	char *dso, *comm; /* never NULL; "[unknown]" stands in */
	struct hlg_count count;
};

struct hlg_host {
	struct hlg_host_row *rows; /* in the order of first sight until sorted */
	uint32_t n_rows;
	struct hlg_index index;   /* of rows, until they are sorted */
	struct hlg_count unnamed; /* for want of memory */
};

/* Counts a host sample; dso and comm may be NULL and are copied. */
void hlg_host_add(struct hlg_host *host, uint32_t series, const char *dso,
		  const char *comm, uint64_t period);

/* Adds the rows of from, whose series are those of its profile, to host, of another. */
void hlg_host_merge(struct hlg_host *host, struct hlg_profile *profile,
		    const struct hlg_host *from, const struct hlg_profile *from_profile);

/*
 * Sorts by weight, then names; rows of tracepoints, which tell when and no time, behind
 * all others. Returns how many others there are. Nothing can be added afterwards.
 */
uint32_t hlg_host_sort(struct hlg_host *host, const struct hlg_profile *profile,
		       enum hlg_weight weight);

void hlg_host_finish(struct hlg_host *host);

#endif
