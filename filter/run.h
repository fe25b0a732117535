/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A run: from words of a command line to a report. What the filter does in start(), for
 * each sample and in stop(), without anything of perf's; the command does the same.
 */
#ifndef HLG_FILTER_RUN_H
#define HLG_FILTER_RUN_H

#include <stdio.h>

#include "filter/report/report.h"
#include "filter/report/twins.h"
#include "filter/write/format.h"

struct hlg_run {
	struct hlg_options options;
	const struct hlg_format *format; /* as the options say; a verb may set another */
	struct hlg_space space;
	struct hlg_profile profile; /* the feed adds samples here */
	struct hlg_host host;       /* and host samples here, if mode asks for rows */
	struct hlg_stacks stacks;   /* and stacks here, for stacks=callgraph */
	const struct hlg_report_file *files; /* of the feed, not owned, for the report */
	size_t n_files;
	struct hlg_twins_hint hint;        /* of a feed that knows more than symbols */
	struct hlg_inlined_source inlines; /* likewise, of stacks */
	struct hlg_border *exits; /* of who knows more of the border than the samples:
				   * hlg_report_build's; or NULL */
	bool refused;             /* set by hlg_run_build: hlg_banner_is_refusal */
	bool settled;             /* hlg_run_settle has decided the bases */
	bool apart;               /* guests are told apart while recordings are read, */
	bool apart_only;          /* and if any is found, the others are nobody's */
	uint64_t recordings;      /* as of struct hlg_report */
	uint64_t took;            /* the same */
	const struct hlg_recording_sums *sums; /* the same */
	char recording[64];                    /* and so; or empty */
	struct hlg_err nothing;                /* hlg_run_nothing's */
	struct hlg_note_list notes, remarks;   /* of the feed, for the report */
};

/*
 * Parses the options, opens the images, checks that the report can be written. The
 * caller finishes *run in any case. It must not move afterwards.
 */
int hlg_run_start(struct hlg_run *run, int argc, char *const *argv, struct hlg_err *err);

/* The same, where images may lie at the same addresses: who runs which is found out for
 * each recording (filter/trust/apart.h). */
int hlg_run_start_apart(struct hlg_run *run, int argc, char *const *argv,
			struct hlg_err *err);

/* The same without any image: the caller adds some to run->space, and settles it. */
int hlg_run_begin(struct hlg_run *run, int argc, char *const *argv, struct hlg_err *err);

/* Writes in another format than the options say. */
int hlg_run_set_format(struct hlg_run *run, const struct hlg_format *format,
		       struct hlg_err *err);

/* Opens an image as a user named it, at its base if stated. *image is NULL after a
 * failure. */
int hlg_run_open_image(struct hlg_image **image, const struct hlg_image_arg *arg,
		       struct hlg_err *err);

/* Adds a note to the report to come; without memory there will be none. */
__attribute__((format(printf, 2, 3))) void hlg_run_note(struct hlg_run *run,
							const char *fmt, ...);

/* Adds a detail to what the report says of its check. */
__attribute__((format(printf, 2, 3))) void hlg_run_remark(struct hlg_run *run,
							  const char *fmt, ...);

/* Decides the bases, from the samples where nothing states them: once, when all samples
 * are there. */
int hlg_run_settle(struct hlg_run *run, struct hlg_err *err);

/*
 * Settles the bases and builds the report, for a writer of the caller's own. The caller
 * finishes *report in any case, before the run.
 */
int hlg_run_build(struct hlg_run *run, struct hlg_report *report, struct hlg_err *err);

/* Why there is nothing to report (filter/report/nothing.h), once all is read; else NULL.
 */
const struct hlg_err *hlg_run_nothing(struct hlg_run *run);

/* The same as hlg_run_build, and writes it: to out=, else to stream. Fails too, with
 * HLG_EINPUT, if there is nothing to report; see hlg_result. */
int hlg_run_report(struct hlg_run *run, FILE *stream, struct hlg_err *err);

/*
 * Says on standard error why the samples of a report do not fit, if they do not, and it
 * has gone, in this format, where nobody reads it at once. of: which report ("before: ").
 */
void hlg_run_warn(const struct hlg_report *report, const struct hlg_format *format,
		  const char *of);

/* Says there which images could not be read again, and which ELFs are not named though
 * samples lie outside: of a report whose remarks are not written. */
void hlg_run_warn_remarks(const struct hlg_report *report, const char *of);

/* The exit status of a verb that has come this far with one: 3, if that is 0 and what it
 * shows is refused. */
int hlg_run_status(const struct hlg_run *run, int status);

void hlg_run_finish(struct hlg_run *run);

#endif
