/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The report of a recording that goes on: what report would say if it ended now. Images
 * are opened anew and bases found from all samples so far, so nothing that was concluded
 * from fewer is left over. That costs what report costs, and is done now and then;
 * between two times rows are made (rows.h) in the space that was settled by the last.
 */
#ifndef HLG_TOOLS_TOP_JUDGE_H
#define HLG_TOOLS_TOP_JUDGE_H

#include "filter/run.h"
#include "tools/feed/batch.h"
#include "tools/source/source.h"

struct hlg_top_judged {
	struct hlg_run run;
	struct hlg_batch batch;
	struct hlg_report report;
	struct hlg_sources sources;
	char *path[1]; /* what the recording is called */
	uint64_t cost; /* ns of this thread's CPU time */
};

/* What is done again and again takes a hundredth of the time at most: it waits until this
 * many times what the last one took have passed. */
#define HLG_TOP_JUDGE_PART 100

enum hlg_top_judge_for {
	HLG_TOP_JUDGE_TABLE,   /* report is built, as report has it */
	HLG_TOP_JUDGE_LISTING, /* the same, for instructions */
	HLG_TOP_JUDGE_REPORT,  /* report is not built: hlg_run_report does that */
	HLG_TOP_JUDGE_SAVE     /* the same of hlg_pprof_report */
};

/*
 * words: options of the filter and images, as hlg_run_start has them. given is what was
 * read so far of a recording that is called name; NULL: name is one in a file. Both
 * outlive *judged, which is to be finished; NULL after an error. Fails with HLG_EINPUT
 * where the images, or the samples in them, are why.
 */
int hlg_top_judge(struct hlg_top_judged **judged, int n_words, char *const *words,
		  const char *name, const struct hlg_batch_given *given,
		  enum hlg_top_judge_for what, struct hlg_err *err);
void hlg_top_judge_finish(struct hlg_top_judged *judged);

/* Is the profile of these words to be kept apart (hlg_batch_wants_apart)? Fails as the
 * images cannot be opened. */
int hlg_top_judge_apart(int n_words, char *const *words, bool *apart,
			struct hlg_err *err);

/* Writes the whole report to standard output, as the verb report does. Returns the exit
 * status, or fails: with HLG_EINPUT as above, or as there is nothing to report, and then
 * nothing has been written. */
int hlg_top_judge_report(int n_words, char *const *words, const char *name,
			 const struct hlg_batch_given *given, struct hlg_err *err);

/* What this thread has taken so far, in ns. */
uint64_t hlg_top_judge_cpu_time(void);

/*
 * Is it time for another one? samples: of guests so far; now, and when the last one was,
 * in ns. When there are more by an eighth, or ten seconds have passed, but a hundredth of
 * the time is spent on it at most. last may be NULL.
 */
bool hlg_top_judge_due(const struct hlg_top_judged *last, uint64_t samples, uint64_t when,
		       uint64_t now);

#endif
