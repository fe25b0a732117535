/* SPDX-License-Identifier: GPL-2.0-only */
/* Who reads a recording, and what is handed over. */
#ifndef HLG_TOOLS_PERFDATA_SINK_H
#define HLG_TOOLS_PERFDATA_SINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symtab/err.h"
#include "tools/perfdata/record.h"

struct hlg_perfdata_event;

/*
 * Gets a sample, and may take those that follow as well: as long as hlg_perfdata_next
 * returns true, raw is the next one.
 */
typedef void hlg_perfdata_sample_fn(void *ctx, struct hlg_perfdata_raw *raw);

/* Records that a buffer had no room for: they stood right before this one (LOST). */
struct hlg_perfdata_lost {
	uint64_t n;
	uint64_t time; /* ns, behind the last of them; UINT64_MAX not recorded */
	int32_t cpu;   /* whose buffer; -1 not recorded */
};

/* One counter of a group. */
struct hlg_perfdata_member {
	uint64_t delta; /* what it moved by since its last sample; may be 0 */
	uint32_t event;
};

/* A sample of counter values in one piece. Valid during the call only. */
struct hlg_perfdata_group {
	const struct hlg_perfdata_raw *raw;        /* as the leader's; its period is 0 */
	const struct hlg_perfdata_member *members; /* as recorded: the leader first */
	uint32_t n;       /* members, those of no known event left out */
	uint32_t counter; /* the same for samples of one counter, from 0 on */
	int32_t thread;   /* the same for those of one thread of it, if inherited; or -1
			   */
	bool first;       /* of this counter and thread: counted since it was enabled */
	bool late; /* stands behind a later one: what it counted is in that one's */
};

/* The user's part of callchains (PERF_RECORD_CALLCHAIN_DEFERRED): see feed/deferred.h. */
struct hlg_perfdata_deferred {
	int32_t tid; /* -1 not recorded */
	uint64_t cookie;
	struct hlg_perfdata_bytes chain; /* addresses, 8 bytes each */
};

/* Functions may be NULL. A negative value ends the read, which then returns it. */
struct hlg_perfdata_sink {
	/* If there is one, samples of counter values go here and to nobody else. */
	int (*group)(void *ctx, const struct hlg_perfdata_group *group,
		     struct hlg_err *err);
	/* Before the first sample of each event. */
	int (*event)(void *ctx, const struct hlg_perfdata_event *event,
		     struct hlg_err *err);
	/* Processes and mappings, in the order of the file. */
	int (*task)(void *ctx, const struct hlg_perfdata_task *task, struct hlg_err *err);
	int (*lost)(void *ctx, const struct hlg_perfdata_lost *lost, struct hlg_err *err);
	int (*deferred)(void *ctx, const struct hlg_perfdata_deferred *deferred,
			struct hlg_err *err);
	/* FINISHED_ROUND: perf has emptied all its buffers once. Never of a directory. */
	int (*round)(void *ctx, struct hlg_err *err);
	/*
	 * For who copies: every record as it stands, those of a compressed one in its
	 * place, before it is taken apart; samples are then taken apart by nobody else.
	 * layout: of a sample that is whole and of a known event, else NULL.
	 */
	int (*record)(void *ctx, const uint8_t *record, uint16_t size,
		      const struct hlg_perfdata_layout *layout, struct hlg_err *err);
	/* What follows such a record without being in its size (AUXTRACE), in pieces. */
	int (*payload)(void *ctx, const uint8_t *bytes, size_t n, struct hlg_err *err);
	/* Now and then: the bytes and samples that were read since the last time. */
	int (*progress)(void *ctx, uint64_t bytes, uint64_t samples, struct hlg_err *err);
};

#endif
