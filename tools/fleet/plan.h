/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The plan of a fleet: what its tasks read and how. It lies in a folder of its own, with
 * all else of the fleet:
 *
 *	plan       this, words that end with NUL; written last, so it is whole or absent
 *	list/K     what task K reads: names that end with NUL
 *	list/tasks, list/recordings, list/digests  parallel that sends files: its tasks
 *	part/K.pb.gz  the profile that task K saved
 *	log/K.txt, log/reduce.txt  what tasks said, and the sum of a job
 *	log/joblog  parallel's
 *	sum.PID.pb.gz  the parts' sum, while report reads it
 *	jobs       what the engine calls them, a line each
 *
 * A part is whole if it can be read to its end and says that it is of the list that the
 * plan has for its task, by SHA-256. Nothing else counts: no exit status, no state.
 */
#ifndef HLG_TOOLS_FLEET_PLAN_H
#define HLG_TOOLS_FLEET_PLAN_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symtab/err.h"
#include "symtab/sha256.h"

enum {
	HLG_FLEET_TASKS = 1000, /* at most: below Slurm's MaxArraySize, 1001 by default */
	HLG_FLEET_FILES =
		100000 /* the same where files are sent: one for each recording */
};

enum hlg_fleet_engine {
	HLG_FLEET_LOCAL, /* processes here */
	HLG_FLEET_SLURM,
	HLG_FLEET_PARALLEL /* GNU parallel */
};

struct hlg_fleet_task {
	unsigned char digest[HLG_SHA256_SIZE]; /* of its list */
	uint64_t n, bytes;                     /* recordings, and their size */
};

struct hlg_fleet_plan {
	char dir[PATH_MAX]; /* the folder; absolute, but for a fleet that is only shown */
	char cwd[PATH_MAX]; /* where names are relative to */
	char *out;          /* where the sum goes */
	char *list;         /* which named the recordings; "-": it is gone */
	bool nul;           /* its names end with NUL */
	unsigned char digest[HLG_SHA256_SIZE]; /* of its bytes */
	enum hlg_fleet_engine engine;
	uint64_t cpus;  /* for each task */
	uint64_t limit; /* tasks at a time; 0: the engine's business */
	char *logins;   /* parallel: its --sshloginfile; or NULL */
	bool sends;     /* parallel: machines share no files, which are sent there */
	char **words;   /* of report: images and options */
	size_t n_words;
	struct hlg_fleet_task *tasks;
	size_t n_tasks;
};

/* Writes the plan into its folder, which is there. */
int hlg_fleet_plan_write(const struct hlg_fleet_plan *plan, struct hlg_err *err);

/* Reads that of a folder. Refused is one that belongs to neither this user nor root,
 * or that others may write: it says what is run on. Finish it in any case. */
int hlg_fleet_plan_read(struct hlg_fleet_plan *plan, const char *dir,
			struct hlg_err *err);

/* Adds a word of report, which is copied. False without memory. */
bool hlg_fleet_plan_add_word(struct hlg_fleet_plan *plan, const char *word);

/* "DIR/list/7", "DIR/part/7.pb.gz"; fails if that is too long. */
int hlg_fleet_plan_list(char path[static PATH_MAX], const struct hlg_fleet_plan *plan,
			size_t task, struct hlg_err *err);
int hlg_fleet_plan_part(char path[static PATH_MAX], const struct hlg_fleet_plan *plan,
			size_t task, struct hlg_err *err);

/* "DIR/NAME", the same. */
int hlg_fleet_plan_path(char path[static PATH_MAX], const struct hlg_fleet_plan *plan,
			const char *name, struct hlg_err *err);

void hlg_fleet_plan_finish(struct hlg_fleet_plan *plan);

#endif
