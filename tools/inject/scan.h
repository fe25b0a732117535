/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The first look at a recording's records: whose guest samples are wanted, what their
 * VMMs are called, and which numbers of processes are in use.
 */
#ifndef HLG_TOOLS_INJECT_SCAN_H
#define HLG_TOOLS_INJECT_SCAN_H

#include "filter/profile/index.h"
#include "tools/inject/choice.h"
#include "tools/perfdata/perfdata.h"

#define HLG_SCAN_COMM 32 /* TASK_COMM_LEN is 16 */

struct hlg_scan_thread {
	int32_t pid, tid;
	bool guest;               /* has guest samples that are wanted */
	char comm[HLG_SCAN_COMM]; /* of a process, the last it had; else "" */
	uint64_t named;           /* when it got that; 0: not recorded */
};

struct hlg_scan {
	const char *path;                /* for messages; not owned */
	const struct hlg_choice *choice; /* of guest samples; not owned */
	struct hlg_scan_thread *threads; /* in the order of first sight */
	size_t n;
	struct hlg_index index;         /* of threads */
	uint32_t last;                  /* thread of a guest sample; HLG_INDEX_NONE */
	int32_t highest;                /* number of a process or thread */
	struct hlg_scan_thread *guests; /* those with guest samples, by pid, tid */
	size_t n_guests;
};

/*
 * Reads all of pd, the recording at path, of whose guest samples choice says which are
 * wanted. Fails as hlg_perfdata_read does, where a guest
 * sample does not tell its process, where a compressed record cannot be read, and without
 * memory. The caller finishes *scan in any case.
 */
int hlg_scan_read(struct hlg_scan *scan, const char *path, struct hlg_perfdata *pd,
		  const struct hlg_choice *choice, struct hlg_err *err);
void hlg_scan_finish(struct hlg_scan *scan);

/* What a process is called, "" if nothing tells. */
const char *hlg_scan_comm(const struct hlg_scan *scan, int32_t pid);

#endif
