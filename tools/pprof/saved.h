/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Saved profiles in memory: what one .pb.gz of hlguest's says, or several, in flat lists.
 * What is in the message Extra (pprof.proto) is kept as protobuf-c has it, so that fields
 * which a later hlguest has put in stay with their rows.
 *
 * A list may hold a thing twice until hlg_pprof_resolve sorts and folds all of them;
 * afterwards the same profile has the same lists, in whatever order and groups it was
 * put together. That is what makes merging associative and commutative.
 *
 * All text in it (but unknown fields) is escaped, wherever it comes from: a file that
 * somebody else wrote may hold any, and what is read is written again by merge.
 */
#ifndef HLG_TOOLS_PPROF_SAVED_H
#define HLG_TOOLS_PPROF_SAVED_H

#include <stdio.h>

#include "filter/profile/profile.h"
#include "pprof.pb-c.h"
#include "symtab/grow.h"
#include "symtab/sha256.h"
#include "tools/cli/progress.h"

/* No recording has so many samples: what says so is broken, and sums stay below 2^64. */
#define HLG_SAVED_MAX_SAMPLES (UINT64_C(1) << 53)

/* Of the message: what is written is not larger, and what is larger is not read. */
#define HLG_SAVED_MAX_BYTES ((size_t)128 << 20)

#define HLG_SAVED_FORMAT  5           /* pprof.proto tells when it changes */
#define HLG_SAVED_STACKS  4           /* without inlined functions: older ones read it, */
#define HLG_SAVED_FLAT    3           /* and without stacks, too */
#define HLG_SAVED_COMMENT "hlguest: " /* how the profile's comment begins */
#define HLG_SAVED_SERVER  "server="   /* and goes on where it is for a server */

/* What splits samples: names of labels. Bit i of Extra.by says whether key i does. */
#define HLG_SAVED_N_KEYS 4
extern const char *const hlg_saved_key_names[HLG_SAVED_N_KEYS];

/* HLG_BY_ bits of options as bits of Extra.by, which are in that order. */
#define HLG_SAVED_BY(by) ((by) / HLG_BY_PID & 15)

/* Memory that is given back all at once. A zeroed struct is an empty arena. */
struct hlg_saved_arena {
	struct hlg_saved_chunk *chunk; /* the newest first */
	size_t size;                   /* bytes, of all chunks */
	bool raw;                      /* its memory is not zeroed */
};

struct hlg_pprof_server; /* server.h */

struct hlg_saved_image {
	Pprof__Extra__Image extra; /* but ran, which is below */
	const char *path;          /* escaped */
	const char *build_id;      /* lower-case hex, or ""; escaped */
	uint64_t start, limit;     /* guest addresses [start, limit) */
	/* Extra's ran, as struct hlg_ran (filter/profile/rans.h) has it; escaped. */
	unsigned identities;
	const char *ran_file, *ran_id;
};

struct hlg_saved_function {
	const char *name, *symbol; /* escaped; readable, and as in the symbol table */
};

struct hlg_saved_key {
	uint32_t event;
	int32_t part[HLG_SAVED_N_KEYS]; /* 0: by has it not; -1: not recorded */
};

/* A location: an address and what is there; all but function 0 without an address. */
struct hlg_saved_frame {
	uint64_t ip;
	uint32_t image; /* its place + 1; 0: outside */
	uint32_t function;
};

/* What was inlined at an address: functions, innermost first, into which that of the
 * frames there is the outermost. */
struct hlg_saved_inlines {
	uint64_t ip;
	uint32_t image; /* as of a frame; not 0 */
	uint32_t n;
	uint32_t *functions; /* in the arena */
};

/* Of the host's half of a stack. */
struct hlg_saved_host {
	uint32_t function, kind; /* enum hlg_frame */
};

/* Message Stack, and the frames above a sample's own. Arrays are in the arena. */
struct hlg_saved_stack {
	uint32_t end, way;
	size_t n_callers, n_frames, n_host;
	uint64_t *callers;
	struct hlg_saved_frame *frames;
	struct hlg_saved_host *host;
};

struct hlg_saved_cell {
	struct hlg_saved_frame at;
	uint32_t stack; /* its place + 1; 0: it is not kept */
	struct hlg_saved_key key;
	struct hlg_count count;
};

/* Lists of n things, which grow as symtab/grow.h has it. */
struct hlg_saved {
	uint64_t began, took;                  /* ns, as hlg_recording_sums has them */
	const struct hlg_pprof_server *server; /* NULL: it is to be read again */
	Pprof__Extra extra;                    /* its rows are in the lists below */
	struct {
		Pprof__Extra__Event *at;
		size_t n;
	} events;
	struct {
		struct hlg_saved_image *at;
		size_t n;
	} images;
	struct {
		struct hlg_saved_function *at;
		size_t n;
	} functions;
	struct {
		struct hlg_saved_inlines *at;
		size_t n;
	} inlines;
	struct {
		struct hlg_saved_stack *at;
		size_t n;
	} stacks;
	struct {
		struct hlg_saved_cell *at;
		size_t n;
	} cells;
	struct {
		struct hlg_saved_cell *at; /* all zero: at */
		size_t n;
	} host_stacks;
	struct {
		Pprof__Extra__Series *at;
		size_t n;
	} series;
	struct {
		Pprof__Extra__HostRow *at;
		size_t n;
	} hosts;
	struct {
		Pprof__Extra__Check *at;
		size_t n;
	} checks;
	uint64_t recordings;                 /* that were summed */
	struct hlg_origins origins;          /* escaped */
	unsigned char list[HLG_SHA256_SIZE]; /* as Recordings has it, of the last file */
	bool listed;                         /* is there one? */
	struct hlg_moments moments;   /* of cells: series is the place of one, ip 0 */
	struct hlg_saved_arena arena; /* of all strings and unknown fields */
};

/* An empty one, to be finished in any case. */
#define HLG_SAVED_INIT                                                                   \
	{                                                                                \
		.extra = PPROF__EXTRA__INIT                                              \
	}

/* The address of one thing more in a list, to be filled; NULL without memory. */
#define HLG_SAVED_MORE(list)                                                             \
	(HLG_GROW((list).at, (list).n) ? &(list).at[(list).n++] : NULL)

/* Zeroed memory for n things of size bytes, aligned for anything; NULL without memory. */
void *hlg_saved_arena_alloc(struct hlg_saved_arena *arena, size_t n, size_t size);

/* Empties a raw arena, but for some memory that is used again. */
void hlg_saved_arena_clear(struct hlg_saved_arena *arena);

void hlg_saved_arena_finish(struct hlg_saved_arena *arena);

/* Are an event's counts nanoseconds? What it is called says so only of profiles that do
 * not tell its kind. */
bool hlg_saved_event_is_clock(const Pprof__Extra__Event *event);

/* A copy of text in saved's arena, escaped (escape.h); NULL without memory. */
char *hlg_saved_text(struct hlg_saved *saved, const char *text);

/*
 * Adds a field to those that a message of saved does not know; its bytes are not copied.
 * False without memory.
 */
bool hlg_saved_add_unknown(struct hlg_saved *saved, ProtobufCMessage *message,
			   const ProtobufCMessageUnknownField *field);

/* How the things of a list are sorted and folded. */
struct hlg_saved_kind {
	size_t size;
	int (*compare)(const void *a, const void *b); /* 0: one thing */
	void (*add)(void *to, const void *from); /* what is one; NULL: nothing to do */
	bool message; /* they begin with one, which may have unknown fields */
};

extern const struct hlg_saved_kind hlg_saved_event_kind, hlg_saved_image_kind,
	hlg_saved_function_kind, hlg_saved_stack_kind, hlg_saved_series_kind,
	hlg_saved_host_kind, hlg_saved_check_kind;

/* Where events, images and functions have gone, by their old places. */
struct hlg_saved_places {
	uint32_t *events, *images, *functions;
};

/* Has all that is of these say where they are now. */
void hlg_pprof_renumber(struct hlg_saved *saved, const struct hlg_saved_places *to);

/* Adds what a profile says of all its samples and recordings, but those fields that are
 * not known. False if there would be more than HLG_SAVED_MAX_SAMPLES. */
bool hlg_saved_add_totals(struct hlg_saved *to, const Pprof__Extra *from, uint64_t began,
			  uint64_t took);

/* Sorts the fields that a message does not know, those of a later hlguest: by number, the
 * same bytes once. */
void hlg_pprof_fold_unknown(ProtobufCMessage *message);
int hlg_pprof_compare_unknown(const ProtobufCMessageUnknownField *a,
			      const ProtobufCMessageUnknownField *b);

/* Adds what a recording told of an image; of several other builds the least is kept. */
void hlg_saved_add_ran(struct hlg_saved_image *image, enum hlg_identity identity,
		       const char *file, const char *id);

/* The keys of the rows of Extra that have one. */
struct hlg_saved_key hlg_saved_series_key(const Pprof__Extra__Series *series);
struct hlg_saved_key hlg_saved_host_key(const Pprof__Extra__HostRow *row);

/* Compares by image, address, function. */
int hlg_saved_compare_frames(const struct hlg_saved_frame *a,
			     const struct hlg_saved_frame *b);

/* Adds to saved that n functions were inlined at an address; to be filled in. NULL
 * without memory. */
uint32_t *hlg_saved_add_inlines(struct hlg_saved *saved, uint32_t image, uint64_t ip,
				uint32_t n);

/* By address, as a resolved profile has them. */
int hlg_saved_compare_inlines(const void *a, const void *b);

/* What was inlined at a frame of a resolved profile; NULL: nothing. */
const struct hlg_saved_inlines *hlg_saved_inlines_at(const struct hlg_saved *saved,
						     const struct hlg_saved_frame *frame);

/* Compares by event, pid, tid, cpu, sandbox. */
int hlg_saved_compare_keys(const struct hlg_saved_key *a, const struct hlg_saved_key *b);

/* Are they of one sample in the file? Its cells stand side by side, by event. */
bool hlg_saved_same_sample(const struct hlg_saved_cell *a,
			   const struct hlg_saved_cell *b);

void hlg_saved_finish(struct hlg_saved *saved);

/*
 * Adds the moments that a file has of its samples. first: of each of the n samples, and
 * of one more, where its cells begin in saved, which are by event; events: how many of
 * these are from before. False if they are damaged.
 */
bool hlg_saved_moments_decode(struct hlg_saved *saved, const Pprof__Extra *from,
			      const uint32_t *first, size_t n, uint32_t events);

/*
 * Which cell of a resolved profile has the moments of each, to be freed: nothing tells
 * which stack a sample had, so of cells that differ in it alone the first has all. False
 * without memory.
 */
bool hlg_saved_moments_first(const struct hlg_saved *saved, uint32_t **first);

/* Sorts the moments of cells that are resolved now; places: where each has gone. False
 * without memory. */
bool hlg_saved_moments_resolve(struct hlg_saved *saved, const uint32_t *places);

/* Of a resolved profile. samples: of each cell, the place of its sample in the file.
 * False without memory. */
bool hlg_saved_moments_encode(const struct hlg_saved *saved, const uint32_t *samples,
			      struct hlg_saved_arena *arena, Pprof__Extra *to);

/* Sorts and folds every list, drops functions of no frame. False without memory. */
bool hlg_pprof_resolve(struct hlg_saved *saved);

/* Each address becomes the smallest of its function at which the same was inlined, and
 * what is alike then is added up. saved is resolved. False without memory. */
bool hlg_pprof_forget_addresses(struct hlg_saved *saved);

/* The message of saved's recordings, in memory of the arena; NULL without. */
Pprof__Extra__Recordings *hlg_saved_origins_encode(const struct hlg_saved *saved,
						   struct hlg_saved_arena *arena);

/* Adds what a file says of its recordings; NULL, or what is wrong with it. */
const char *hlg_saved_origins_decode(struct hlg_saved *saved, const Pprof__Extra *from);

/* The bytes of a resolved profile in *data, to be freed; not yet compressed. */
int hlg_pprof_encode(const struct hlg_saved *saved, unsigned char **data, size_t *size,
		     struct hlg_err *err);

/*
 * Adds the bytes of a profile that this program wrote to saved, every number in them
 * checked; refused where unpacking them takes more than so many bytes of memory. name is
 * for messages, and outlives saved.
 */
int hlg_pprof_decode(struct hlg_saved *saved, const unsigned char *data, size_t size,
		     size_t memory, const char *name, struct hlg_err *err);

/* Writes a resolved profile to path, or to stream if path is NULL. */
int hlg_pprof_write(const struct hlg_saved *saved, const char *path, FILE *stream,
		    struct hlg_err *err);

/*
 * Adds the file at path ("-" is standard input) to saved, checked, to be resolved before
 * it is used. A file that is cut off, damaged, has something behind its end or takes far
 * more memory than its size tells is refused; saved is good for nothing then.
 * progress may be NULL.
 */
int hlg_pprof_load(struct hlg_saved *saved, const char *path,
		   struct hlg_progress *progress, struct hlg_err *err);

/* "PATH: there would be more than 2^53 samples (...)": of what is added, or the sum. */
int hlg_pprof_fail_samples(const char *path, struct hlg_err *err);

/* What messages call path. */
const char *hlg_pprof_name(const char *path);

#endif
