/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A recording whose guest samples have their callers: its own, written anew, once, in its
 * place (filter/output/temp-file.h). A guest sample's callchain gets, behind the words it
 * has, PERF_CONTEXT_GUEST_USER or PERF_CONTEXT_GUEST_KERNEL as the sample's mode is, its
 * address, its callers, and the tail that tells of them (filter/stacks/chains.h).
 * Everything else is copied: host samples, other events, what was lost, facts.
 *
 * The recording was made with callchains (perf record --call-graph=fp), threads and
 * times; events without are copied.
 */
#ifndef HLG_TOOLS_CALLERS_REWRITE_H
#define HLG_TOOLS_CALLERS_REWRITE_H

#include <stdio.h>

#include "symtab/err.h"
#include "tools/callers/join.h"
#include "tools/perfdata/perfdata.h"
#include "tools/perfdata/record.h"

/* Bytes of a record, at most. */
#define HLG_REWRITE_MAX (UINT16_MAX + 1)

/* guest = ends[...] + alone. */
struct hlg_rewrite_counts {
	uint64_t guest;               /* samples of guests */
	uint64_t ends[HLG_WALK_ENDS]; /* got a stack, which ended so */
	uint64_t alone;               /* have none */
	uint64_t with_callers; /* of those with one: whose stack is not only cut off */
};

/*
 * A guest sample with its callers, n words, and their tail; returns its size, or 0 if its
 * event has no callchain, it cannot be read, or would be larger than a record can be.
 */
size_t hlg_rewrite_sample(uint8_t to[static HLG_REWRITE_MAX], const uint8_t *record,
			  uint16_t size, const struct hlg_perfdata_layout *layout,
			  const uint64_t *callers, size_t n,
			  const struct hlg_chain_tail *tail);

/*
 * The same of a recording in pipe mode while it is made, from a stream (name is its
 * subject in errors) to out, which gets whole records as soon as they have come. Before
 * the stream's read returns bytes, the stacks of their samples have been added to join.
 * Ends with the stream, cut off or not, or when out takes no more, which is no error;
 * what is no record is one, and out has what came before.
 */
int hlg_rewrite_stream(const char *name, const struct hlg_perfdata_stream *stream,
		       FILE *out, struct hlg_join *join,
		       struct hlg_rewrite_counts *counts, struct hlg_err *err);

/* On failure path is as it was. */
int hlg_rewrite_file(const char *path, struct hlg_join *join,
		     struct hlg_rewrite_counts *counts, struct hlg_err *err);

#endif
