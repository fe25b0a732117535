// SPDX-License-Identifier: GPL-2.0-only
/*
 * hlguest diff: what changed from one recording, or several, to others; of one build of
 * the guest or of two.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "filter/output/out.h"
#include "filter/run.h"
#include "tools/cli/output.h"
#include "tools/cli/verb.h"
#include "tools/diff/words.h"
#include "tools/diff/write.h"
#include "tools/inputs/inputs.h"
#include "tools/pprof/pprof.h"

enum {
	KEY_FAIL = 0x200
};

struct arguments {
	bool fails;   /* --fail-if is given */
	double least; /* growth that fails: 0.05 for 5 % */
};

static const struct argp_option own_options[] = {
	{"fail-if", KEY_FAIL, "PERCENT", 0,
	 "exit 3 if the share of a row grew significantly, and by more than so much of "
	 "what it was (5%)",
	 2},
	{0},
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

static error_t parse(int key, char *value, struct argp_state *state)
{
	struct arguments *args = state->input;

	if (key != KEY_FAIL)
		return ARGP_ERR_UNKNOWN;
	args->fails = true;
	if (!parse_percent(value, &args->least))
		argp_error(state, "--fail-if=%s: not a percentage (as 5%% or 2.5)",
			   value);
	return 0;
}

/* A side as it is read. */
struct reading {
	struct hlg_inputs *in;
	struct hlg_run run;
	struct hlg_batch batch;
	struct hlg_profile *profiles; /* of each file */
};

static int compare_paths(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void note_sums(struct hlg_diff *diff, const char *side,
		      const struct hlg_recording_sums *sums)
{
	if (sums->lost)
		hlg_diff_note(diff, "%s: %" PRIu64 " events were lost while recording",
			      side, sums->lost);
	if (sums->throttled)
		hlg_diff_note(diff,
			      "%s: the kernel throttled sampling %" PRIu64
			      " times: busy periods have too few samples",
			      side, sums->throttled);
	if (sums->skipped)
		hlg_diff_note(diff,
			      "%s: %" PRIu64 " samples or frames make no sense and were "
			      "skipped",
			      side, sums->skipped);
	if (sums->left)
		hlg_diff_note(diff,
			      "%s: a recording was cut off: its last %" PRIu64
			      " bytes hold no whole record",
			      side, sums->left);
}

/* Without an image, what was saved with the profiles does. */
static int start_side(struct reading *r, struct hlg_err *err)
{
	struct hlg_inputs *in = r->in;
	int rc;

	if (in->n_images)
		return hlg_run_start(&r->run, in->n_words, in->words, err);
	rc = hlg_run_begin(&r->run, in->n_words, in->words, err);
	r->run.options.region = 0; /* nor are the sizes known that regions are held to */
	if (rc == 0)
		rc = hlg_pprof_images(&r->run.space, in->files, in->n_files, err);
	return rc < 0 ? rc : hlg_space_settle(&r->run.space, err);
}

/* Recordings of a side, in an order that is not that of the words: sums are rounded. */
static int read_side(struct reading *r, int *status, struct hlg_err *err)
{
	struct hlg_inputs *in = r->in;
	int rc;

	qsort(in->files, in->n_files, sizeof(*in->files), compare_paths);
	r->profiles = calloc(in->n_files + 1, sizeof(*r->profiles));
	if (!r->profiles)
		return hlg_err_memory(err, "files");
	rc = start_side(r, err);
	if (rc < 0)
		return rc;
	r->batch.profiles = r->profiles;
	rc = hlg_inputs_read(in, &r->run, &r->batch, status, err);
	if (rc < 0 || *status)
		return rc;
	return hlg_run_settle(&r->run, err);
}

static void finish_side(struct reading *r)
{
	for (size_t i = 0; r->profiles && i < r->in->n_files; i++)
		hlg_profile_finish(&r->profiles[i]);
	free(r->profiles);
	hlg_batch_finish(&r->batch);
	hlg_run_finish(&r->run);
}

static int write_diff(const struct hlg_diff *diff, const char *path, struct hlg_err *err)
{
	struct hlg_colour colours = {0};
	struct hlg_out out;
	int rc = hlg_out_open(&out, path, stdout, err);

	if (rc < 0)
		return rc;
	if (hlg_target_is_stream(path))
		colours = hlg_colour_of(out.f);
	rc = hlg_diff_write(out.f, diff, &colours, err);
	if (rc == 0)
		return hlg_out_commit(&out, err);
	hlg_out_abort(&out);
	return rc;
}

/* 3 if the samples do not fit, or as --fail-if says. */
static int judge(const struct hlg_diff *diff, const struct arguments *args)
{
	const struct hlg_diff_row *row =
		args->fails ? hlg_diff_grown(diff, args->least) : NULL;
	struct hlg_err err;

	for (int s = 0; s < 2; s++)
		if (diff->side[s].report.trust.all.verdict == HLG_TRUST_MISMATCH)
			return 3;
	if (!row)
		return 0;
	hlg_err_set(&err, HLG_EINPUT,
		    "%s: its share grew from %.2f %% to %.2f %% (--fail-if allows a "
		    "growth of %g %%)",
		    hlg_diff_name(row), 100 * row->share[0].share,
		    100 * row->share[1].share, 100 * args->least);
	hlg_output_error(&err);
	return 3;
}

static int compare(struct reading sides[2], const struct arguments *args, int *status,
		   struct hlg_err *err)
{
	struct hlg_diff diff = {0};
	int rc;

	for (int s = 0; s < 2; s++) {
		struct reading *r = &sides[s];

		diff.side[s].options = &r->run.options;
		diff.side[s].space = &r->run.space;
		diff.side[s].profile = &r->run.profile;
		diff.side[s].runs = r->profiles;
		diff.side[s].paths = r->in->files;
		diff.side[s].n_runs = r->in->n_files;
	}
	rc = hlg_diff_build(&diff, err);
	for (int s = 0; rc == 0 && s < 2; s++)
		note_sums(&diff, s ? "after" : "before", &sides[s].batch.sums);
	if (rc == 0)
		rc = write_diff(&diff, sides[0].run.options.out, err);
	if (rc == 0)
		*status = judge(&diff, args);
	hlg_diff_finish(&diff);
	return rc;
}

static int diff(struct hlg_inputs *in, const struct arguments *args)
{
	struct reading sides[2] = {{.in = in}, {.in = in->after}};
	struct hlg_err err;
	int rc = 0, status = 0;

	in->after->threads = in->threads;
	in->after->quiet = in->quiet;
	/* A recording that is missing would make another comparison of it. */
	for (int s = 0; rc == 0 && status == 0 && s < 2; s++)
		rc = read_side(&sides[s], &status, &err);
	if (rc == 0 && status == 0)
		rc = compare(sides, args, &status, &err);
	if (rc < 0)
		status = hlg_output_error(&err);
	finish_side(&sides[0]);
	finish_side(&sides[1]);
	return status;
}

static bool takes(const char *option)
{
	static const char *const options[] = {
		"gaps", "region", "weight", "event", "pid",    "tid",   "cpu",
		"time", "top",    "min",    "out",   "format", "force", "demangle"};

	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++)
		if (strcmp(option, options[i]) == 0)
			return true;
	return false;
}

int hlg_verb_diff(int argc, char **argv)
{
	static const struct argp own = {own_options, parse, NULL, NULL, NULL, NULL, NULL};
	struct arguments args = {0};
	struct hlg_inputs after = {.takes = takes};
	struct hlg_inputs in = {.takes = takes,
				.own = &own,
				.own_input = &args,
				.format_words = "text|csv|json",
				.after = &after};
	int status = hlg_inputs_parse(
		&in, argc, argv,
		"guest.elf[@BASE] BEFORE AFTER\n"
		"guest.elf[@BASE] BEFORE... --after [guest.elf[@BASE]] AFTER...",
		"Compares recordings, or saved profiles, of guests: which functions and "
		"regions take another share than before, and how sure that is.\v"
		"Two recordings are the one before and the one after. Of more, or of two "
		"builds, --after says where the side after begins. From three recordings "
		"of a side on, the spread between them is what counts.");

	if (status == 0)
		status = diff(&in, &args);
	hlg_inputs_finish(&in);
	return status;
}
