/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Many recordings into one profile. Threads take files in turn, each counts into a
 * profile of its own, and the profiles are added up at the end, so the result depends
 * neither on the order of the files nor on the number of threads, and memory on neither
 * the number of files nor their size; but it grows with the threads.
 */
#ifndef HLG_TOOLS_FEED_BATCH_H
#define HLG_TOOLS_FEED_BATCH_H

#include "filter/run.h"
#include "filter/trust/per-file.h"
#include "filter/trust/runners.h"
#include "tools/feed/again.h"
#include "tools/feed/feed.h"

struct hlg_batch_file {
	int rc; /* of reading it */
	struct hlg_err err;
	struct hlg_recording_sums sums;
	uint64_t
		telling; /* its guest samples, selected or not: they tell who runs what */
	struct hlg_per_file_verdict fit; /* if it was asked for */
	struct hlg_note_list notes;      /* of who runs which image */
	struct hlg_runners units;        /* who they are, if it was asked for; unless */
	bool whole;                      /* all of it is in one lane, */
	unsigned lane;                   /* this one */
	double period; /* of its guest samples, on average; 0: none is known */
	uint32_t rank; /* recordings of smaller names, as reports list them */
};

/* What was read of a recording by somebody else (hlg_feed_live), so far or in all. */
struct hlg_batch_given {
	const struct hlg_profile *profile; /* apart, if hlg_batch_wants_apart() says so */
	const struct hlg_host *host;       /* its rows */
	const struct hlg_stacks *stacks;   /* NULL: none were wanted */
	struct hlg_recording_sums sums;
	struct hlg_feed_recorded recorded;
};

struct hlg_batch {
	/* In: not owned. */
	char *const *paths;
	size_t n_paths;
	unsigned threads;
	bool quiet; /* no progress line */
	/* NULL, or what somebody else has read: it is copied instead of reading. n_paths
	 * is 1 then, and the path only a name for messages. */
	const struct hlg_batch_given *given;
	/* NULL, or what is noted beside each path (noted-builds.h), for who knows it. */
	const struct hlg_builds *noted;
	bool judge; /* fill in fit, if there are several: it costs */
	/* Only who lies where is wanted: fill in units, or whole and lane, where guests
	 * or images lie across each other (apart.h, guest-bases.h). */
	bool keep_units;
	/* NULL, or one for each path, zeroed: what each file that could be read held by
	 * itself. The caller finishes them. */
	struct hlg_profile *profiles;
	struct hlg_stacks
		*stacks; /* the same of stacks=callgraph, by its profile's series */
	/* Out. */
	struct hlg_batch_file *files;   /* one for each path */
	size_t n_read;                  /* files that could be read */
	struct hlg_recording_sums sums; /* over these */
	struct hlg_hostsyms syms;       /* for stacks; what it could not name */
	struct hlg_runners_moved moved; /* of what was given: see hlg_batch_given_ip */
	bool together;                  /* the same */
	bool refused; /* samples refuse a base of images that lie across each other */
};

/* Is what is given to this run, which is started, to be kept apart
 * (hlg_profile_keep_apart)? */
bool hlg_batch_wants_apart(const struct hlg_run *run);

/* Where an address of a series of what was given came to lie in the run's space. */
uint64_t hlg_batch_given_ip(const struct hlg_batch *batch, uint32_t series, uint64_t ip);

/*
 * Reads all files into run's profile (and host, if mode= asks for it, and stacks). A
 * file that cannot be read is told in files[] and counts nothing. Fails without memory,
 * and as hlg_image_add_base and hlg_space_arrange do of images at the bases that were
 * found. A thread that cannot be had leaves its files to the others. The caller finishes
 * the batch in any case.
 */
int hlg_batch_read(struct hlg_batch *batch, struct hlg_run *run, struct hlg_err *err);

/* Notes for the report what a filter cannot see: lost events, throttling, a cut. */
void hlg_batch_note(const struct hlg_batch *batch, struct hlg_run *run);

void hlg_batch_finish(struct hlg_batch *batch);

#endif
