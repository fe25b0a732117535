// SPDX-License-Identifier: GPL-2.0-only
#include "tools/top/judge.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "filter/report/notes.h"
#include "tools/cli/output.h"
#include "tools/source/hint.h"

#define GROWTH  8 /* samples are more by such a part */
#define LATE_NS UINT64_C(10000000000)

uint64_t hlg_top_judge_cpu_time(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* As the verb annotate: each instruction has what is its, and there are no regions. */
static void for_listing(struct hlg_run *run)
{
	run->options.region = 0;
	run->options.border = HLG_BORDER_KEEP;
}

/* As the verb report has them. */
static int open_sources(struct hlg_top_judged *j, struct hlg_err *err)
{
	if (!hlg_source_open_all(&j->sources, &j->run.space))
		return hlg_err_memory(err, "lines");
	j->run.inlines =
		(struct hlg_inlined_source){hlg_source_inlined_at, &j->sources, false};
	return 0;
}

/* Rows of one name are told apart by their addresses: lines of the source would be read
 * anew each time. */
static int build(struct hlg_top_judged *j, enum hlg_top_judge_for what,
		 struct hlg_err *err)
{
	int rc = hlg_run_build(&j->run, &j->report, err);

	if (rc == 0 && what == HLG_TOP_JUDGE_LISTING) { /* as annotate has it */
		rc = hlg_notes_add_exits(&j->report, err);
		if (!j->report.callers.stacks) /* all are on their way, none is lost */
			j->report.stacks = NULL;
	}
	if (rc == 0 && !j->report.suppressed)
		rc = hlg_twins_tell(&j->report, &(struct hlg_twins_hint){NULL, NULL},
				    err);
	return rc;
}

static int judge(struct hlg_top_judged *j, int n_words, char *const *words,
		 enum hlg_top_judge_for what, struct hlg_err *err)
{
	int rc = hlg_run_start_apart(&j->run, n_words, words, err);

	j->run.options.again = hlg_feed_again_recorded;
	j->run.options.unnamed_of = &j->batch.given->recorded;
	if (what == HLG_TOP_JUDGE_LISTING)
		for_listing(&j->run);
	/* A saved profile has the host's rows, whatever is shown. */
	if (what == HLG_TOP_JUDGE_SAVE)
		j->run.options.mode = HLG_SHOW_ALL;
	if (rc == 0)
		rc = hlg_batch_read(&j->batch, &j->run, err);
	if (rc == 0 && j->batch.files[0].rc < 0) {
		*err = j->batch.files[0].err;
		rc = j->batch.files[0].rc;
	}
	if (rc == 0) {
		j->run.recordings = j->batch.sums.recordings;
		hlg_batch_note(&j->batch, &j->run);
		rc = open_sources(j, err);
	}
	if (rc == 0 && (what == HLG_TOP_JUDGE_TABLE || what == HLG_TOP_JUDGE_LISTING))
		rc = build(j, what, err);
	return rc;
}

int hlg_top_judge(struct hlg_top_judged **judged, int n_words, char *const *words,
		  const char *name, const struct hlg_batch_given *given,
		  enum hlg_top_judge_for what, struct hlg_err *err)
{
	struct hlg_top_judged *j = calloc(1, sizeof(*j));
	uint64_t began = hlg_top_judge_cpu_time();
	int rc;

	*judged = NULL;
	if (!j) {
		hlg_err_memory(err, "report");
		return HLG_ESYSTEM;
	}
	j->path[0] = (char *)name;
	j->batch = (struct hlg_batch){.paths = j->path,
				      .n_paths = 1,
				      .threads = 1,
				      .quiet = true,
				      .given = given};
	rc = judge(j, n_words, words, what, err);
	if (rc < 0) {
		hlg_top_judge_finish(j);
		return rc;
	}
	j->cost = hlg_top_judge_cpu_time() - began;
	*judged = j;
	return 0;
}

void hlg_top_judge_finish(struct hlg_top_judged *j)
{
	if (!j)
		return;
	hlg_report_finish(&j->report);
	if (j->sources.space)
		hlg_source_close_all(&j->sources);
	hlg_batch_finish(&j->batch);
	hlg_run_finish(&j->run);
	free(j);
}

int hlg_top_judge_apart(int n_words, char *const *words, bool *apart, struct hlg_err *err)
{
	struct hlg_run run;
	int rc = hlg_run_start_apart(&run, n_words, words, err);

	*apart = rc == 0 && hlg_batch_wants_apart(&run);
	hlg_run_finish(&run);
	return rc;
}

int hlg_top_judge_report(int n_words, char *const *words, const char *name,
			 const struct hlg_batch_given *given, struct hlg_err *err)
{
	struct hlg_top_judged *j;
	struct hlg_hint hint;
	int rc =
		hlg_top_judge(&j, n_words, words, name, given, HLG_TOP_JUDGE_REPORT, err);

	if (rc < 0)
		return rc;
	hint = (struct hlg_hint){&j->sources, j->run.options.demangle};
	j->run.hint = (struct hlg_twins_hint){hlg_hint_of, &hint};
	rc = hlg_run_report(&j->run, stdout, err);
	if (rc == 0)
		rc = hlg_output_end(hlg_run_status(&j->run, 0));
	hlg_top_judge_finish(j);
	return rc;
}

bool hlg_top_judge_due(const struct hlg_top_judged *last, uint64_t samples, uint64_t when,
		       uint64_t now)
{
	uint64_t had;

	if (samples == 0)
		return false;
	if (!last)
		return true;
	had = last->batch.sums.guest;
	return samples > had && now - when >= HLG_TOP_JUDGE_PART * last->cost &&
	       (samples - had > had / GROWTH || now - when >= LATE_NS);
}
