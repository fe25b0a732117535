// SPDX-License-Identifier: GPL-2.0-only
/*
 * hlguest windows: what counters counted from one sample of their group's leader to the
 * next, as rows, sums by function, or a plot.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "filter/options/number.h"
#include "filter/output/target.h"
#include "filter/run.h"
#include "tools/cli/output.h"
#include "tools/cli/pager.h"
#include "tools/cli/verb.h"
#include "tools/feed/noted-builds.h"
#include "tools/feed/window.h"
#include "tools/inputs/inputs.h"
#include "tools/inputs/unnamed.h"
#include "tools/windows/pairs.h"

struct arguments {
	struct hlg_inputs inputs;
	struct hlg_windows_style style;
	uint64_t every; /* ns */
	const char *function;
	struct hlg_between between;
	bool pairs; /* between is given */
};

static int set_between(void *arguments, const struct hlg_verb_option *option, char *value,
		       struct hlg_err *err)
{
	struct arguments *args = arguments;

	(void)option;
	hlg_between_finish(&args->between);
	args->pairs = true;
	return hlg_between_parse(&args->between, value, err);
}

static int set_every(void *arguments, const struct hlg_verb_option *option, char *value,
		     struct hlg_err *err)
{
	struct arguments *args = arguments;

	if (hlg_number_time(value, &args->every) && args->every)
		return 0;
	return hlg_err_set(err, HLG_EINPUT,
			   "--%s=%s: not a time (a number and ns, us, ms or s, as 100ms)",
			   option->name, value);
}

static int hand_out_records(void *data, struct hlg_records *to, struct hlg_err *err)
{
	const struct hlg_windows_shown *s = data;

	return s->pairs ? hlg_pairs_write_records(to, s->pairs, s->style, err)
			: hlg_windows_records(to, s->w, s->style, err);
}

static int write_text(void *data, FILE *f, struct hlg_err *err)
{
	struct hlg_windows_shown *s = data;

	if (s->wide)
		s->style->screen.columns = 0;
	return s->pairs ? hlg_pairs_write_text(f, s->pairs, s->w, s->style, err)
			: hlg_windows_text(f, s->w, s->style, err);
}

#if HLG_HAVE_JANSSON
static int write_json(void *data, FILE *f, struct hlg_err *err)
{
	const struct hlg_windows_shown *s = data;

	return s->pairs ? hlg_pairs_write_json(f, s->pairs, s->w, s->style, err)
			: hlg_windows_json(f, s->w, s->style, err);
}
#endif

static int write_svg(void *data, FILE *f, struct hlg_err *err)
{
	const struct hlg_windows_shown *s = data;

	return hlg_windows_svg(f, s->pairs ? &s->pairs->table : s->w, s->style, err);
}

static const struct hlg_format text = {
	.name = "text", .notes = true, .reader = true, .write = write_text};
static const struct hlg_format json = {
	.name = "json", .notes = true, HLG_FORMAT_JANSSON(write_json)};
static const struct hlg_format svg = {
	.name = "svg", .reader = true, .write = write_svg};
static const struct hlg_format html = {.name = "html",
				       .notes = true,
				       .reader = true,
				       .file = "windows.html",
				       .write = hlg_windows_html};
static const struct hlg_format *const formats[] = {
	&hlg_format_of_records, &text, &json, &svg, &html, NULL};

/*
 * Where none is asked for: rows, as scripts read them, or, where a person reads them, the
 * sums.
 */
static const struct hlg_format *choose_format(const struct hlg_options *options,
					      const struct arguments *args)
{
	bool rows = args->every || args->style.hpctool || args->style.summary;

	return !rows && hlg_target_is_stream(options->out) && isatty(STDOUT_FILENO)
		       ? &text
		       : hlg_format_find(formats, NULL);
}

/* Are windows added up by function? */
static bool has_sums(const struct hlg_format *format, const struct arguments *args)
{
	return args->style.summary || format == &text;
}

/* Words that do not go together. */
static int check_style(const struct hlg_format *format, const struct arguments *args,
		       struct hlg_err *err)
{
	const char *rows = args->function        ? "--function"
			   : args->every         ? "--every"
			   : args->style.hpctool ? "--hpctool"
			   : args->style.summary ? "--summary"
						 : NULL;

	if (args->pairs && rows)
		return hlg_err_set(
			err, HLG_EWORDS,
			"%s: is of windows, and --between has pairs (leave one "
			"of both out)",
			rows);
	if ((args->style.hpctool || args->style.summary) && !format->record)
		return hlg_err_set(err, HLG_EWORDS,
				   "%s: not with --format=%s (leave one of both out)",
				   args->style.hpctool ? "--hpctool" : "--summary",
				   format->name);
	if (args->style.hpctool && args->style.summary)
		return hlg_err_set(err, HLG_EWORDS,
				   "--hpctool: has rows of windows (leave --summary "
				   "out)");
	if (args->every && has_sums(format, args))
		return hlg_err_set(err, HLG_EWORDS,
				   "--every: has rows of intervals, and %s has sums of "
				   "functions (leave one of both out)",
				   args->style.summary ? "--summary" : "--format=text");
	return 0;
}

/* What the words say besides; all windows unless they say otherwise. */
static int settle_options(struct hlg_run *run, const struct hlg_inputs *in,
			  const struct arguments *args, struct hlg_err *err)
{
	struct hlg_options *options = &run->options;

	if (!hlg_options_given(options, "mode"))
		options->mode = HLG_SHOW_ALL;
	if (in->n_files != 1)
		return hlg_err_set(err, HLG_EWORDS,
				   "%s: is a second recording (windows are read of one "
				   "at a time)",
				   in->files[1]);
	return check_style(run->format, args, err);
}

/* What the recording must have for what is asked. */
static int check(const struct hlg_windows *w, const struct arguments *args,
		 const char *path, struct hlg_err *err)
{
	if (args->style.hpctool && !hlg_windows_rate_are_hpctool(w))
		return hlg_err_set(err, HLG_EINPUT,
				   "--hpctool: the group of %s does not begin with "
				   "instructions, cycles, ref-cycles (record with "
				   "--windows=instructions,cycles,ref-cycles,branches,"
				   "branch-misses,cache-references,cache-misses)",
				   path);
	if (args->every && w->n_rows && w->rows[w->n_rows - 1].time == HLG_NO_TIME)
		return hlg_err_set(
			err, HLG_EINPUT,
			"--every: the windows of %s have no times (record with "
			"perf record -T)",
			path);
	return 0;
}

/* Leaves the rows that are selected. If none of them is, *nothing says so. */
static void select_rows(struct hlg_windows *w, const struct hlg_run *run,
			const char *what, struct hlg_err *nothing)
{
	size_t n = w->n_rows;

	hlg_windows_rows_select(w, &run->options, &run->profile.window);
	if (w->n_rows || !n || !run->options.selection)
		return;
	hlg_err_set(nothing, HLG_EINPUT,
		    "%s: selects none of %zu %s (hlguest windows without it shows all)",
		    run->options.selected_by, n, what);
}

/* From all windows of the recording to the rows that are shown; *nothing: select_rows. */
static int choose(struct hlg_windows *w, struct hlg_run *run, struct hlg_report *fit,
		  const struct arguments *args, const char *path, struct hlg_err *nothing,
		  struct hlg_err *err)
{
	int rc = check(w, args, path, err);

	if (rc == 0)
		rc = hlg_run_build(run, fit, err);
	w->check = fit;
	if (rc < 0)
		return rc;
	select_rows(w, run, "windows", nothing);
	if (nothing->msg[0])
		return 0;
	if (!hlg_windows_places_locate(w, &run->space, run->options.demangle))
		return hlg_err_memory(err, path);
	if (args->function)
		rc = hlg_windows_places_in(w, &run->space, args->function, err);
	if (rc == 0 && args->every && !hlg_windows_rows_bin(w, args->every))
		rc = hlg_err_memory(err, path);
	return rc;
}

/* What the output has no room for: of a picture, and of others' records, warnings. */
static int tell_notes(const struct hlg_windows_shown *showing,
		      const struct hlg_format *format, struct hlg_err *err)
{
	const struct hlg_windows_style *style = showing->style;
	bool all = format->record && !style->hpctool;
	struct hlg_note_list notes = {0};
	bool lost;

	hlg_windows_shown_notes(&notes, showing);
	lost = notes.lost;
	hlg_output_notes(NULL, &notes,
			 all ? hlg_output_told(showing->quiet, style->verbose)
			     : HLG_OUTPUT_WARNINGS);
	hlg_note_list_finish(&notes);
	return lost ? hlg_err_memory(err, "windows") : 0;
}

static int write_result(const struct hlg_run *run, struct hlg_windows_shown *showing,
			const char *path, struct hlg_err *err)
{
	struct hlg_windows_style *style = showing->style;
	const struct hlg_result result = {run->format, showing,
					  .records = hand_out_records,
					  .screen = &style->screen,
					  .nothing = showing->nothing.msg[0]
							     ? &showing->nothing
							     : NULL};
	int rc;

	showing->wide = run->options.wide;
	style->selection = run->options.selection;
	style->verbose = run->options.verbose;
	style->pairs = showing->pairs;
	style->guest = run->space.n_images ? run->space.images[0]->path : NULL;
	style->recording = path;
	rc = hlg_format_write(
		&result, run->options.out,
		hlg_pager_stream(showing->no_pager, run->format, run->options.out), err);
	return rc == 0 && (run->format->record || !run->format->notes)
		       ? tell_notes(showing, run->format, err)
		       : rc;
}

/* Rows are selected by more than the samples of a report are. */
static int add_choice(struct hlg_run *run, const struct arguments *args,
		      struct hlg_err *err)
{
	struct hlg_options *options = &run->options;
	int rc = 0;

	if (options->mode != HLG_SHOW_ALL)
		rc = hlg_options_add_selection(
			options, "--", "mode",
			options->mode == HLG_SHOW_HOST ? "host" : "guest", err);
	if (rc == 0 && args->function)
		rc = hlg_options_add_selection(options, "--", "function", args->function,
					       err);
	return rc;
}

static int show_pairs(struct hlg_windows *w, struct hlg_run *run,
		      const struct arguments *args, const char *path, struct hlg_err *err)
{
	struct hlg_pairs pairs = {0};
	struct hlg_windows_style style = args->style;
	struct hlg_windows_shown showing = {
		w, &pairs, &style, false, args->inputs.no_pager, args->inputs.quiet,
		.nothing.msg = ""};
	int rc = 0;

	if (w->n_rows && w->rows[w->n_rows - 1].time == HLG_NO_TIME)
		rc = hlg_err_set(err, HLG_EINPUT,
				 "%s: markers have no times (record with perf record -T)",
				 path);
	else if (!hlg_pairs_make(&pairs, w))
		rc = hlg_err_memory(err, path);
	if (rc == 0)
		select_rows(&pairs.table, run, "pairs", &showing.nothing);
	if (rc == 0 && !hlg_pairs_measure(&pairs))
		rc = hlg_err_memory(err, path);
	if (rc == 0)
		rc = add_choice(run, args, err);
	if (rc == 0)
		rc = write_result(run, &showing, path, err);
	hlg_pairs_finish(&pairs);
	return rc;
}

static int show_windows(struct hlg_windows *w, struct hlg_run *run,
			const struct arguments *args, const char *path,
			struct hlg_err *err)
{
	struct hlg_windows_style style = args->style;
	struct hlg_windows_shown showing = {
		w, NULL, &style, false, args->inputs.no_pager, args->inputs.quiet,
		.nothing.msg = ""};
	struct hlg_report fit = {0};
	int rc = choose(w, run, &fit, args, path, &showing.nothing, err);

	if (rc == 0)
		rc = add_choice(run, args, err);
	if (rc == 0)
		rc = write_result(run, &showing, path, err);
	if (rc == 0)
		hlg_run_warn(&fit, run->format, "");
	hlg_report_finish(&fit);
	w->check = NULL;
	return rc;
}

/* Where guests lie at the same addresses, or may, as their bases are to be found, the
 * recording is read beforehand. */
static int find_whose(struct hlg_whose *whose, struct hlg_run *run,
		      const struct hlg_inputs *in, struct hlg_windows *w,
		      struct hlg_err *err)
{
	int rc;

	if (!hlg_batch_wants_apart(run) ||
	    (!run->space.n_lanes && !hlg_whose_may_learn(in->files, 1)))
		return 0;
	rc = hlg_whose_learn(whose, run, in->files, 1, in->threads, err);
	w->whose = whose;
	return rc == 0 ? hlg_whose_begin(whose, 0, err) : rc;
}

/* Did another build run? Samples are here by now. */
static void identify(struct hlg_run *run, const char *path)
{
	hlg_noted_builds_add(&run->profile.builds, path);
	hlg_identity_judge(&run->profile, &run->space, path);
}

static int show(const struct hlg_inputs *in, const struct arguments *args)
{
	struct hlg_progress progress;
	struct hlg_whose whose = {0};
	struct hlg_windows w = {.progress = &progress};
	struct hlg_run run;
	struct hlg_err err;
	int status;
	int rc = hlg_run_start_apart(&run, in->n_words, in->words, &err);

	hlg_progress_init(&progress, in->files, 1, in->quiet);
	hlg_unnamed_ask(in, &run.options);

	if (rc == 0)
		rc = hlg_run_set_format(
			&run, in->format ? in->format : choose_format(&run.options, args),
			&err);
	if (rc == 0)
		rc = settle_options(&run, in, args, &err);
	if (rc == 0)
		rc = find_whose(&whose, &run, in, &w, &err);
	if (rc == 0)
		rc = hlg_feed_window(&run.profile.window, in->files[0], &run.options,
				     &err);
	if (rc == 0)
		rc = args->pairs ? hlg_between_read(&w, in->files[0], &run.profile,
						    &args->between, &err)
				 : hlg_windows_read(&w, in->files[0], &run.profile, NULL,
						    &err);
	hlg_progress_end(&progress);
	if (rc == 0 && !w.whose)
		identify(&run, in->files[0]);
	if (rc == 0)
		hlg_whose_note(&whose, "windows", &run.notes);
	if (rc == 0)
		rc = args->pairs ? show_pairs(&w, &run, args, in->files[0], &err)
				 : show_windows(&w, &run, args, in->files[0], &err);
	status = hlg_run_status(&run, 0);
	hlg_windows_read_finish(&w);
	hlg_whose_finish(&whose);
	hlg_run_finish(&run);
	if (rc == 0)
		return status;
	return hlg_output_error(&err);
}

static int run(const struct hlg_verb *verb, int argc, char **argv)
{
	struct arguments args = {0};
	int status;

	if (hlg_inputs_parse(&args.inputs, verb, argc, argv, &status))
		status = show(&args.inputs, &args);
	hlg_between_finish(&args.between);
	hlg_inputs_finish(&args.inputs);
	return status;
}

static const struct hlg_verb_option options[] = {
	{.name = "between",
	 .value = "FROM..TO",
	 .help = "count between two markers: port:101..port:108, or "
		 "SYSTEM:NAME:FIELD=VALUE..SYSTEM:NAME:FIELD=VALUE",
	 .kind = HLG_VERB_TEXT,
	 .set = set_between},
	{.name = "every",
	 .value = "TIME",
	 .help = "add windows up in intervals, each thread's for itself (100ms, 2s, "
		 "50us)",
	 .kind = HLG_VERB_TEXT,
	 .set = set_every},
	{.name = "function",
	 .value = "NAME",
	 .help = "only windows that end in this function",
	 .kind = HLG_VERB_TEXT,
	 .field = offsetof(struct arguments, function)},
	{.name = "hpctool",
	 .help = "CSV with HPCTool's header: ins,l_cycle,ref_cycle,event1...",
	 .kind = HLG_VERB_FLAG,
	 .field = offsetof(struct arguments, style.hpctool)},
	{.name = "rates",
	 .help = "IPC, branch-miss and LLC-miss percentages behind the counts",
	 .kind = HLG_VERB_FLAG,
	 .field = offsetof(struct arguments, style.rates)},
	{.name = "summary",
	 .help = "CSV of functions instead of windows",
	 .kind = HLG_VERB_FLAG,
	 .field = offsetof(struct arguments, style.summary)},
	{0},
};

const struct hlg_verb hlg_verb_windows = {
	.name = "windows",
	.args = "guest.elf[@BASE] [FILE]",
	.help = "counters, window by window",
	.group = HLG_VERB_SHOWS,
	.usage = "guest.elf[@BASE]... [FILE]",
	.doc = "Shows what counters counted from one sample of their group to the next: "
	       "a row for each window, sums by function, or a plot.\v"
	       "Record them with hlguest record --windows=EVENTS -c N. Without --mode= "
	       "all windows are shown. Without --format a terminal gets sums by "
	       "function, and a file or a pipe CSV.",
	.examples = "hlguest windows guest.elf perf.data.guest\tsums by function\n"
		    "hlguest windows --format=csv guest.elf\ta row for each window\n"
		    "hlguest windows --format=html -o windows.html guest.elf\ta picture "
		    "and the sums, to send on",
	.record = "--windows=EVENTS -c N",
	.files = "elf recording",
	.shared = "input quiet cpu demangle event force format mode no-pager output pid "
		  "strict-base tid time verbose wide",
	.fallbacks = (const struct hlg_verb_fallback[]){{"mode", "all"}, {0}},
	.formats = formats,
	.chooses_format = true,
	.options = options,
	.run = run,
};
