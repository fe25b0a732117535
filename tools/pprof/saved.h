/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A saved profile: what a .pb.gz of hlguest's says, in flat tables.
 *
 * A table may hold a thing twice until hlg_pprof_resolve sorts and folds all of them;
 * afterwards the same profile has the same tables, in whatever order and groups it was
 * put together. That is what makes merging associative and commutative.
 *
 * All text in it (but unknown) is escaped, wherever it comes from: a file that somebody
 * else wrote may hold any, and what is read is written again by merge.
 */
#ifndef HLG_TOOLS_PPROF_SAVED_H
#define HLG_TOOLS_PPROF_SAVED_H

#include <stdio.h>

#include "filter/profile/profile.h"
#include "tools/cli/progress.h"

/* No recording has so many samples: what says so is broken, and sums stay below 2^64. */
#define HLG_SAVED_MAX_SAMPLES (UINT64_C(1) << 53)

/* Of the message: what is written is not larger, and what is larger is not read. */
#define HLG_SAVED_MAX_BYTES ((size_t)128 << 20)

#define HLG_SAVED_FORMAT  3           /* pprof.proto tells when it changes */
#define HLG_SAVED_COMMENT "hlguest: " /* how the profile's comment begins */

/* Memory that is given back all at once. A zeroed struct is an empty arena. */
struct hlg_saved_arena {
	struct hlg_saved_chunk *chunk; /* the newest first */
};

/* All of it adds up but overflow, which is 0 or 1. Nothing but uint64_t: see saved.c. */
struct hlg_saved_totals {
	struct hlg_count seen, deselected, host, guest;
	struct hlg_count unnamed; /* of host: in no row, for want of memory */
	uint64_t untold, unrecorded, overflow;
	/* Of the recordings: filter/profile/recording.h. */
	uint64_t samples, lost, throttled, skipped, left;
};

/* Each of them: X(its name in message Extra, the field here). */
#define HLG_SAVED_TOTALS(X)                                                              \
	X(seen_samples, seen.samples)                                                    \
	X(seen_period, seen.period)                                                      \
	X(deselected_samples, deselected.samples)                                        \
	X(deselected_period, deselected.period)                                          \
	X(host_samples, host.samples)                                                    \
	X(host_period, host.period)                                                      \
	X(guest_samples, guest.samples)                                                  \
	X(guest_period, guest.period)                                                    \
	X(unnamed_samples, unnamed.samples)                                              \
	X(unnamed_period, unnamed.period)                                                \
	X(untold, untold)                                                                \
	X(unrecorded, unrecorded)                                                        \
	X(overflow, overflow)                                                            \
	X(recorded, samples)                                                             \
	X(lost, lost)                                                                    \
	X(throttled, throttled)                                                          \
	X(skipped, skipped)                                                              \
	X(left, left)

/* An id is the place in the table before it is resolved. */
struct hlg_saved_event {
	uint32_t id, precise_ip;
	uint32_t kind, member; /* enum hlg_event_kind; 0 or 1 */
	const char *name;      /* escaped */
};

struct hlg_saved_image {
	uint32_t id;
	bool map;             /* a perf map */
	const char *path;     /* escaped */
	const char *build_id; /* lower-case hex, or ""; escaped */
	uint64_t base, bias;
	uint64_t start, limit; /* guest addresses [start, limit) */
};

struct hlg_saved_function {
	uint32_t id;
	const char *name, *symbol; /* escaped; readable, and as in the symbol table */
};

struct hlg_saved_key {
	uint32_t event;
	int32_t pid, tid, cpu; /* -1: not asked for, or not recorded */
};

struct hlg_saved_cell {
	uint64_t ip;
	uint32_t image; /* its place + 1; 0: outside */
	uint32_t function;
	struct hlg_saved_key key;
	struct hlg_count count;
};

struct hlg_saved_series {
	uint32_t id;
	struct hlg_saved_key key;
	hlg_u128 squares;
};

struct hlg_saved_host {
	uint32_t id;
	struct hlg_saved_key key;
	const char *dso, *comm; /* escaped */
	struct hlg_count count;
};

/* Which message of Extra's; all but the whole are one of a table each. */
enum hlg_saved_message {
	HLG_SAVED_WHOLE,
	HLG_SAVED_EVENT,
	HLG_SAVED_IMAGE,
	HLG_SAVED_SERIES,
	HLG_SAVED_HOST
};

/* A field that a later hlguest has put into a message: its bytes as they came. */
struct hlg_saved_unknown {
	enum hlg_saved_message of;
	uint32_t item; /* the message's place in its table; 0 for the whole */
	uint32_t number, wire_type;
	const unsigned char *bytes; /* behind number and type */
	size_t size;
};

struct hlg_saved_table {
	void *items;
	uint32_t n, room;
};

struct hlg_saved {
	unsigned by; /* HLG_BY_ bits of pid, tid, cpu: which of these the keys tell */
	struct hlg_saved_totals totals;
	struct hlg_saved_table events, images, functions, cells, series, hosts, unknown;
	struct hlg_saved_arena arena; /* of all strings */
};

/* table->items as an array of struct hlg_saved_TYPE, item i of it. */
#define HLG_SAVED(type, table, i) (&((struct hlg_saved_##type *)(table)->items)[i])

/* Zeroed memory for n things of size bytes, aligned for anything; NULL without memory. */
void *hlg_saved_arena_alloc(struct hlg_saved_arena *arena, size_t n, size_t size);

/* A copy of len bytes of text, with a NUL behind it. */
char *hlg_saved_arena_text(struct hlg_saved_arena *arena, const char *text, size_t len);

/* Takes over what from holds; from is empty then. */
void hlg_saved_arena_join(struct hlg_saved_arena *arena, struct hlg_saved_arena *from);

void hlg_saved_arena_finish(struct hlg_saved_arena *arena);

/* A copy of text in saved's arena, escaped (escape.h); NULL without memory. */
const char *hlg_saved_text(struct hlg_saved *saved, const char *text);

/* Room for one thing more of size bytes, zeroed; NULL without memory. */
void *hlg_saved_more(struct hlg_saved_table *table, size_t size);

/* Sorts and folds every table, drops what nothing refers to. False without memory. */
bool hlg_pprof_resolve(struct hlg_saved *saved);

/*
 * Adds from to saved, whose by must be the same; from's tables are taken, it is to be
 * finished still. To be resolved before it is used. False without memory.
 */
bool hlg_saved_add(struct hlg_saved *saved, struct hlg_saved *from);

/* Compares by event, pid, tid, cpu. */
int hlg_saved_compare_keys(const struct hlg_saved_key *a, const struct hlg_saved_key *b);

void hlg_saved_finish(struct hlg_saved *saved);

/* The bytes of a resolved profile in *data, to be freed; not yet compressed. */
int hlg_pprof_encode(const struct hlg_saved *saved, unsigned char **data, size_t *size,
		     struct hlg_err *err);

/*
 * Reads the bytes of a profile that this program wrote, checks every number in them and
 * resolves it; name is for messages. The caller finishes *saved in any case.
 */
int hlg_pprof_decode(struct hlg_saved *saved, const unsigned char *data, size_t size,
		     const char *name, struct hlg_err *err);

/* Writes a resolved profile to path, or to stream if path is NULL. */
int hlg_pprof_write(const struct hlg_saved *saved, const char *path, FILE *stream,
		    struct hlg_err *err);

/*
 * Reads the file at path ("-" is standard input), checked and resolved. A file that is
 * cut off, damaged, has something behind its end or inflates to suspiciously many bytes
 * for its size is refused. progress may be NULL. The caller finishes *saved always.
 */
int hlg_pprof_load(struct hlg_saved *saved, const char *path,
		   struct hlg_progress *progress, struct hlg_err *err);

/* What messages call path. */
const char *hlg_pprof_name(const char *path);

#endif
