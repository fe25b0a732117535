// SPDX-License-Identifier: GPL-2.0-only
/*
 * hlguest diff: what changed from one recording, or several, to others; of one build of
 * the guest or of two.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "filter/report/banner.h"
#include "filter/report/nothing.h"
#include "filter/run.h"
#include "filter/stats/interval.h"
#include "symtab/escape.h"
#include "tools/cli/output.h"
#include "tools/cli/pager.h"
#include "tools/cli/verb.h"
#include "tools/diff/join.h"
#include "tools/diff/write.h"
#include "tools/inputs/sides.h"

struct arguments {
	struct hlg_inputs inputs, after;
	bool fails; /* --fail-if is given */
	bool all;
	double least; /* growth that fails: 0.05 for 5 % */
};

/* "5%" or "5". */
static bool parse_percent(const char *text, double *share)
{
	char number[32];
	size_t n = strlen(text);
	uint64_t nano;

	if (n && text[n - 1] == '%')
		n--;
	if (n == 0 || n >= sizeof(number))
		return false;
	memcpy(number, text, n);
	number[n] = '\0';
	if (!hlg_number_nano(number, &nano))
		return false;
	*share = (double)nano / 1e11;
	return true;
}

static int set_least(void *arguments, const struct hlg_verb_option *option, char *value,
		     struct hlg_err *err)
{
	struct arguments *args = arguments;

	args->fails = true;
	if (parse_percent(value, &args->least))
		return 0;
	return hlg_err_set(err, HLG_EINPUT, "--%s=%s: not a percentage (as 5%% or 2.5)",
			   option->name, value);
}

static int compare_paths(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Recordings of a side, in an order that is not that of the words: sums are rounded. */
static int read_side(struct hlg_side *side, int *status, struct hlg_err *err)
{
	int rc;

	qsort(side->in->files, side->in->n_files, sizeof(*side->in->files),
	      compare_paths);
	rc = hlg_sides_start(side, err);
	if (rc == 0 && side->run.options.children)
		side->run.options.region = 0; /* code calls code, not regions */
	if (rc == 0)
		rc = hlg_sides_read(side, status, err);
	if (rc < 0 || *status)
		return rc;
	return hlg_run_settle(&side->run, err);
}

/* Is a side refused? Then nothing is known of what grew. */
static bool misfits(const struct hlg_diff *diff)
{
	return hlg_banner_is_refusal(&diff->side[0].report) ||
	       hlg_banner_is_refusal(&diff->side[1].report);
}

/* What --fail-if finds, without a row, or NULL; total is that of the others. False:
 * nothing. */
static bool find_growth(struct hlg_diff *diff, const struct hlg_diff_total *total,
			const struct hlg_diff_row *but)
{
	struct hlg_diff_gate *gate = &diff->gate;
	bool grew = total->significant && hlg_diff_total_growth(total) > gate->least;

	gate->total = grew ? total : NULL;
	gate->row = grew ? NULL : hlg_diff_grown(diff, gate->least, but);
	return gate->total || gate->row;
}

/* Of what lies outside nothing tells whether it is worse, where record noted an ELF that
 * is not named: the rest counts, and if that did not grow, nothing is decided. */
static void leave_outside(struct hlg_diff *diff)
{
	const struct hlg_options *options = diff->side[1].options;
	const struct hlg_diff_row *outside = hlg_diff_outside(diff);
	struct hlg_diff_gate *gate = &diff->gate;
	char *unnamed = NULL, was[16], is[16];

	if (outside && options->unnamed)
		unnamed = options->unnamed(options->unnamed_of,
					   &diff->side[1].report.trust);
	if (unnamed && !find_growth(diff, &diff->inside, outside)) {
		gate->set = false;
		hlg_interval_percent(was, outside->share[0].share);
		hlg_interval_percent(is, outside->share[1].share);
		if (asprintf(
			    &gate->undecided,
			    "--fail-if cannot judge what grew outside of the ELFs (%s %% "
			    "before, %s %% after): %s",
			    was, is, unnamed) < 0)
			gate->undecided = NULL;
		diff->notes.lost |= !gate->undecided;
		hlg_note_list_warn(&diff->notes, "%s",
				   gate->undecided ? gate->undecided : "");
	}
	free(unnamed);
}

/* What --fail-if says. */
static void look_at_growth(struct hlg_diff *diff, const struct arguments *args)
{
	struct hlg_diff_gate *gate = &diff->gate;
	char was[16], is[16], times[32];
	bool timed;

	gate->least = args->least;
	gate->set = args->fails && !misfits(diff);
	if (!gate->set || !find_growth(diff, &diff->total, NULL))
		return;
	leave_outside(diff);
	if (gate->total) {
		const char *of =
			gate->total == &diff->inside ? " inside of the ELFs" : "";

		snprintf(gate->said, sizeof(gate->said),
			 "the guest's total%s is %.2f times what it was before "
			 "(--fail-if allows a growth of %g %%)",
			 of, 1 + hlg_diff_total_growth(gate->total), 100 * args->least);
		return;
	}
	if (!gate->row)
		return;
	timed = hlg_diff_total_times(times, diff, gate->row->count);
	snprintf(gate->said, sizeof(gate->said),
		 "%.300s: its share grew from %s %% to %s %%%s%s (--fail-if allows a "
		 "growth of %g %%)",
		 hlg_diff_name(gate->row),
		 hlg_interval_percent(was, gate->row->share[0].share),
		 hlg_interval_percent(is, gate->row->share[1].share),
		 timed ? ", its time " : "", timed ? times : "", 100 * args->least);
}

/* That of what is refused, 4 if --fail-if found what it looks for. */
static int judge(const struct hlg_diff *diff)
{
	struct hlg_err err;

	if (misfits(diff))
		return HLG_BANNER_STATUS;
	if (diff->gate.undecided) {
		fputs("hlguest: ", stderr);
		hlg_escape_print(stderr, diff->gate.undecided);
		fputc('\n', stderr);
		return HLG_BANNER_STATUS;
	}
	if (!diff->gate.said[0])
		return 0;
	hlg_err_set(&err, HLG_EINPUT, "%s", diff->gate.said);
	hlg_output_error(&err);
	return 4;
}

/* Why there is nothing to compare, in *nothing; NULL if both sides have something. */
static const struct hlg_err *nothing_of(const struct hlg_side sides[2],
					struct hlg_err *nothing)
{
	for (int s = 0; s < 2; s++)
		if (hlg_nothing_check(&sides[s].run.profile,
				      s ? "after: " : "before: ", nothing) < 0)
			return nothing;
	return NULL;
}

/* What each side has, and that not both have callers. */
static int note(struct hlg_diff *diff, struct hlg_side sides[2], struct hlg_err *err)
{
	bool chains[2] = {false, false};
	int rc = 0;

	for (int s = 0; s < 2; s++)
		hlg_batch_note(&sides[s].batch, &sides[s].run);
	for (int s = 0; s < 2; s++)
		hlg_diff_tell_notes(diff, s, &sides[s].run.notes, &sides[!s].run.notes);
	for (int s = 0; rc == 0 && s < 2; s++)
		rc = hlg_sides_have_chains(sides[s].in, &chains[s], err);
	if (rc == 0 && chains[0] != chains[1] && !sides[0].run.options.children)
		hlg_note_list_add(
			&diff->notes,
			"only one side was recorded with call stacks: functions "
			"are compared without callers");
	return rc == 0 && diff->notes.lost ? hlg_err_memory(err, "diff") : rc;
}

static int compare(struct hlg_side sides[2], const struct arguments *args, int *status,
		   struct hlg_err *err)
{
	struct hlg_diff diff = {.every = args->all};
	struct hlg_err nothing;
	int rc;

	for (int s = 0; s < 2; s++) {
		struct hlg_side *r = &sides[s];

		diff.side[s].options = &r->run.options;
		diff.side[s].space = &r->run.space;
		diff.side[s].profile = &r->run.profile;
		diff.side[s].runs = r->profiles;
		diff.side[s].stacks = &r->run.stacks;
		diff.side[s].run_stacks = r->stacks;
		diff.side[s].paths = r->in->files;
		diff.side[s].n_runs = r->in->n_files;
		diff.side[s].of = r->recordings;
		diff.side[s].attached = r->batch.sums.attached;
	}
	rc = hlg_diff_build(&diff, err);
	if (rc == 0)
		look_at_growth(&diff, args);
	if (rc == 0)
		rc = note(&diff, sides, err);
	if (rc == 0)
		rc = hlg_format_write(
			&(struct hlg_result){sides[0].run.format, &diff, hlg_diff_records,
					     &diff.colours, sides[0].run.options.color,
					     &diff.screen, nothing_of(sides, &nothing)},
			sides[0].run.options.out,
			hlg_pager_stream(sides[0].in->no_pager, sides[0].run.format,
					 sides[0].run.options.out),
			err);
	for (int s = 0; rc == 0 && s < 2; s++)
		hlg_run_warn(&diff.side[s].report, sides[0].run.format,
			     s ? "after: " : "before: ");
	if (rc == 0)
		*status = judge(&diff);
	hlg_diff_finish(&diff);
	return rc;
}

/* A saved profile that counts as one recording though it sums several, and made a side
 * have too few; NULL if there is none. */
static const char *sum_of(const struct hlg_side sides[2], uint64_t *recordings)
{
	for (int s = 0; s < 2; s++)
		for (size_t i = 0; i < sides[s].in->n_files; i++) {
			*recordings = sides[s].recordings[i];
			if (*recordings > 1 && sides[s].in->n_files < HLG_COMPARE_RUNS)
				return sides[s].in->files[i];
		}
	return NULL;
}

/* With fewer recordings, how much runs of the same thing differ is not known: what fails
 * may be chance. */
static int check_runs(const struct hlg_side sides[2], struct hlg_err *err)
{
	const bool strict = sides[1].run.options.strict;
	const char *refuses = strict ? "" : "; --strict refuses", *sum;
	uint64_t recordings;

	if (sides[0].in->n_files >= HLG_COMPARE_RUNS &&
	    sides[1].in->n_files >= HLG_COMPARE_RUNS)
		return 0;
	sum = sum_of(sides, &recordings);
	if (sum)
		hlg_err_set(
			err, HLG_EINPUT,
			"--fail-if: %s sums %" PRIu64
			" recordings, and counts as one: with fewer than three of each "
			"side, runs may differ by chance (name the profiles that were "
			"summed, one by one%s)",
			sum, recordings, refuses);
	else
		hlg_err_set(err, HLG_EINPUT,
			    "--fail-if: fewer than three recordings of each side, whose "
			    "runs may differ by chance (record three or more of each%s)",
			    refuses);
	if (strict)
		return err->code;
	hlg_output_error(err);
	return 0;
}

static bool is_cut(const struct hlg_batch_file *file)
{
	return file->sums.left || file->sums.damaged || file->sums.no_end;
}

/* What is missing of a recording makes it shorter, and hides what grew: the notes tell,
 * and who wants to be sure is refused. */
static int check_whole(const struct hlg_side sides[2], struct hlg_err *err)
{
	const char *first = NULL;
	size_t n = 0;

	if (!sides[1].run.options.strict)
		return 0;
	for (int s = 0; s < 2; s++)
		for (size_t i = 0; i < sides[s].batch.n_paths; i++)
			if (is_cut(&sides[s].batch.files[i]) && n++ == 0)
				first = sides[s].batch.paths[i];
	if (n == 0)
		return 0;
	if (n == 1)
		return hlg_err_set(err, HLG_EINPUT,
				   "%s: is cut off or damaged, and --fail-if cannot tell "
				   "what is missing (record it again)",
				   first);
	return hlg_err_set(err, HLG_EINPUT,
			   "%s: this and %zu other file%s cut off or damaged, and "
			   "--fail-if cannot tell what is missing (record them again)",
			   first, n - 1, n == 2 ? " are" : "s are");
}

static int diff(const struct hlg_inputs *in, const struct arguments *args)
{
	/* Once in a run; they are too large for some stacks. */
	static struct hlg_side sides[2];
	struct hlg_err err;
	int rc = 0, status = 0;

	sides[0].in = in;
	sides[1].in = in->second;
	sides[0].each = sides[1].each = true;
	/* A recording that is missing would make another comparison of it. */
	for (int s = 0; rc == 0 && status == 0 && s < 2; s++)
		rc = read_side(&sides[s], &status, &err);
	if (rc == 0 && status == 0 && args->fails)
		rc = check_runs(sides, &err);
	if (rc == 0 && status == 0 && args->fails)
		rc = check_whole(sides, &err);
	if (rc == 0 && status == 0)
		rc = compare(sides, args, &status, &err);
	if (rc < 0)
		status = hlg_output_error(&err);
	hlg_sides_finish(&sides[0]);
	hlg_sides_finish(&sides[1]);
	return status;
}

static int run(const struct hlg_verb *verb, int argc, char **argv)
{
	struct arguments args = {.inputs.second = &args.after};
	int status;

	if (hlg_inputs_parse(&args.inputs, verb, argc, argv, &status))
		status = diff(&args.inputs, &args);
	hlg_inputs_finish(&args.inputs);
	return status;
}

static const struct hlg_verb_option options[] = {
	{.name = "all",
	 .help = "in text, also rows that did not change significantly",
	 .kind = HLG_VERB_FLAG,
	 .field = offsetof(struct arguments, all)},
	{.name = "fail-if",
	 .value = "PERCENT",
	 .help = "exit with status 4 if the total, or the share of a row, grew "
		 "significantly and by more than this part of its value before, as 5%; "
		 "both sides must do the same work",
	 .kind = HLG_VERB_TEXT,
	 .set = set_least},
	{0},
};

const struct hlg_verb hlg_verb_diff = {
	.name = "diff",
	.args = "guest.elf BEFORE AFTER",
	.help = "what changed between recordings",
	.group = HLG_VERB_SHOWS,
	.usage = "guest.elf[@BASE] BEFORE AFTER\n"
		 "guest.elf BEFORE... --after [new.elf] AFTER...",
	.doc = "Compares recordings, or saved profiles, of guests: which functions and "
	       "regions have a larger or smaller share than before, and how certain that "
	       "is.\vOf two recordings, the first is before and the second is after. "
	       "With more of them, or with two builds, put --after in front of the "
	       "second side. With three or more recordings of each side, a change counts "
	       "if it is larger than the differences between runs.",
	.examples = "hlguest diff guest.elf before.data after.data\ttwo recordings of "
		    "one build\n"
		    "hlguest diff old.elf before.data --after new.elf after.data\tof two "
		    "builds\n"
		    "hlguest diff --fail-if=5% guest.elf before.data after.data\tfor CI: "
		    "status 4 if a function grew by more than 5 %",
	.files = "elf recording profile",
	.shared = "input jobs quiet after border children color cpu demangle event force "
		  "format "
		  "gaps min "
		  "no-pager output pid region sandbox strict strict-base tid time top "
		  "verbose "
		  "weight "
		  "wide",
	.formats = hlg_diff_formats,
	.in_order = true, /* which side a word is of is told by its place */
	.options = options,
	.run = run,
};
