/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Profiles saved in pprof's format, compressed by gzip (x.pb.gz): for `go tool pprof`,
 * and to be read again here without any loss.
 *
 * The idea: a sample is an exact guest address (a location in a mapping, or in none),
 * labels for what by= asks for, and a pair of values (samples, period) for each event.
 * Function names, and those of inlined functions, are there for pprof only; read back,
 * addresses are resolved anew. What
 * the format has no field for is a message of hlguest's own (Extra, in pprof.proto).
 *
 * In a build without protobuf-c or zlib all of these fail and say so.
 */
#ifndef HLG_TOOLS_PPROF_PPROF_H
#define HLG_TOOLS_PPROF_PPROF_H

#include "filter/profile/count.h"
#include "filter/run.h"
#include "symtab/sha256.h"
#include "tools/cli/progress.h"
#include "tools/pprof/server.h"

/* Can this build do it? Asked before work is begun. */
int hlg_pprof_check(struct hlg_err *err);

/*
 * Is there a gzip file at path, or in standard input for "-"? By its first bytes, which
 * stay to be read; a FIFO's writer is waited for.
 */
bool hlg_pprof_is(const char *path);

/*
 * Saves what run has counted: to out=, else to stream; with stacks, if it has them. run
 * must have collected host rows (mode=all), or a selection made later could not be exact.
 * sums are told in the file, and the SHA-256 of the list that named the recordings, if
 * that is not NULL. For a server, if that is not NULL, as it takes it; standard
 * error tells what had to be folded for that.
 */
int hlg_pprof_report(struct hlg_run *run, const struct hlg_recording_sums *sums,
		     struct hlg_pprof_server *server, const unsigned char *list,
		     FILE *stream, struct hlg_err *err);

struct hlg_pprof_how {
	struct hlg_progress *progress; /* or NULL */
	bool stay; /* samples of an image at one base, that is not stated, do not move */
	struct hlg_note_list *notes;   /* of images that lie elsewhere now; or NULL */
};

/*
 * Adds the saved profile at path ("-" is standard input) to profile, its host rows to
 * host and its stacks to stacks unless these are NULL; what options ask for is selected
 * from it. Samples inside an image keep their place in it when its base in space (settled)
 * is another, but for those that shifts.h names. Fails, before anything is counted, if
 * options ask for what was not saved, or an image with samples is not in space.
 */
int hlg_pprof_read(const char *path, const struct hlg_space *space,
		   const struct hlg_pprof_how *how, struct hlg_profile *profile,
		   struct hlg_host *host, struct hlg_stacks *stacks,
		   struct hlg_recording_sums *sums, struct hlg_err *err);

/* Has the saved profile at path stacks? */
int hlg_pprof_has_stacks(const char *path, bool *found, struct hlg_err *err);

/*
 * Adds to space, which is empty, the images that the saved profiles at n paths have
 * samples in, as far as these tell: at each sampled address a function of the name that
 * was saved (also where it was none: a gap, data), and the bases. They have no file, so
 * nothing can be tested. space is to be settled.
 */
int hlg_pprof_images(struct hlg_space *space, char *const *paths, size_t n,
		     struct hlg_err *err);

/* What a saved profile is of: the SHA-256 of the list of its recordings, if it has one,
 * which a sum has not; and how many recordings it sums. */
struct hlg_pprof_of {
	bool listed;
	unsigned char list[HLG_SHA256_SIZE];
	uint64_t recordings, unread;
};

/* Reads all of the saved profile at path, which is whole then. */
int hlg_pprof_look(const char *path, struct hlg_pprof_of *of, struct hlg_err *err);

/* What is made of profiles that cannot be read. */
enum hlg_pprof_failures {
	HLG_PPROF_ANY, /* there is no sum then; this is 0 */
	HLG_PPROF_ALL, /* the sum is of the others, and says so; none if there are none */
	HLG_PPROF_WARN /* the same, but for the last: of none, too */
};

struct hlg_pprof_merging {
	/* In: not owned; - is standard input. */
	char *const *paths;
	size_t n;
	unsigned threads; /* 1 or more */
	enum hlg_pprof_failures failures;
	struct hlg_progress *progress; /* or NULL */
	/* NULL, or of each the list that it must be of. */
	unsigned char (*digests)[HLG_SHA256_SIZE];
	/* Out: those left out, in their order; to be freed. */
	struct hlg_pprof_left_out {
		size_t number;
		struct hlg_err err;
	} * left_out;
	size_t n_left_out;
};

/*
 * Sums saved profiles into one: to out, else to stream. The same bytes, whatever the
 * order, groups and threads. Memory is that of the sum and one profile, for each thread.
 */
int hlg_pprof_merge(struct hlg_pprof_merging *merging, const char *out, FILE *stream,
		    struct hlg_err *err);

#endif
