/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the new processes map: for each VM, each image at each base that its samples are
 * at, PT_LOAD by PT_LOAD: those that hold code, and others that have samples all the
 * same.
 *
 * An image is mapped from its ELF if all of it that has samples or calls is plain
 * (companion.h), else from its companion, and then wholly, in all processes. One file
 * mapped in pieces from both would do for perf 6.1, but perf annotate of 6.12 frees a
 * mapping that is in use when code in it calls into another one (maps__find_ams,
 * util/maps.c).
 */
#ifndef HLG_TOOLS_INJECT_MAPPINGS_H
#define HLG_TOOLS_INJECT_MAPPINGS_H

#include "filter/report/paths.h"
#include "tools/inject/companion.h"

/*
 * perf reads one by one what is mapped, in all processes: this many would take it
 * minutes. (1,000 VMs of 100 segments at 10 bases.)
 */
#define HLG_MAPPINGS_MAX ((size_t)1 << 20)

struct hlg_mapping {
	int32_t pid;    /* the VMM's */
	uint32_t image; /* in the space */
	uint64_t bias;  /* of the base */
	uint32_t load;  /* in the image's ELF */
};

struct hlg_mappings {
	struct hlg_mapping *at; /* by pid, image, base, address */
	size_t n;
	size_t limit;    /* of n: those that are there twice go when it is passed */
	bool *companion; /* of each image in the space: mapped from its companion */
};

/*
 * Of a report on all samples, with stacks. units: of each image of the space. pid: of all
 * guest samples; NULL if they are of several, and the report's series are split by it.
 * path: the recording, for messages. 0, HLG_EINPUT for more than HLG_MAPPINGS_MAX,
 * HLG_ESYSTEM; finish in any case.
 */
int hlg_mappings_build(struct hlg_mappings *mappings, const struct hlg_report *report,
		       const struct hlg_units *units, const int32_t *pid,
		       const char *path, struct hlg_err *err);
void hlg_mappings_finish(struct hlg_mappings *mappings);

#endif
