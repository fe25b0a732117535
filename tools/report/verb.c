// SPDX-License-Identifier: GPL-2.0-only
/*
 * hlguest report: what hlguest.so does under perf script, straight from perf.data, over
 * any number of files.
 */
#include <stdlib.h>
#include <string.h>

#include "filter/run.h"
#include "filter/trust/base-search.h"
#include "tools/cli/output.h"
#include "tools/cli/pager.h"
#include "tools/cli/verb.h"
#include "tools/export/export.h"
#include "tools/inputs/sides.h"
#include "tools/pprof/pprof.h"
#include "tools/report/calibration.h"
#include "tools/report/html.h"
#include "tools/source/hint.h"

struct arguments {
	struct hlg_inputs inputs;
	const char *calibration;
	int reader; /* enum hlg_pprof_reader */
	struct hlg_verb_texts labels;
};

/* What is saved beside the run. */
struct saving {
	const struct hlg_recording_sums *sums;
	struct hlg_pprof_server server;
	const unsigned char *list; /* or NULL */
};

static int compare_files(const void *a, const void *b)
{
	return strcmp(((const struct hlg_report_file *)a)->path,
		      ((const struct hlg_report_file *)b)->path);
}

static bool has_base(const struct hlg_space *space, uint64_t base)
{
	for (size_t i = 0; i < space->n_images; i++)
		for (size_t k = 0; k < hlg_image_n_bases(space->images[i]); k++)
			if (hlg_image_base(space->images[i], k).base == base)
				return true;
	return false;
}

/* A recording that fits where no image came to lie, since others are at the base that the
 * file states, does not fit this report. */
static struct hlg_per_file_verdict fit_of(const struct hlg_batch_file *file,
					  const struct hlg_space *space)
{
	struct hlg_per_file_verdict fit = file->fit;

	if (fit.n_bases && !has_base(space, fit.base))
		fit.verdict = HLG_TRUST_MISMATCH;
	return fit;
}

/* The table of files, by name: the order they were given in must not show. The space is
 * settled. */
static struct hlg_report_file *list_files(const struct hlg_batch *batch,
					  const struct hlg_space *space)
{
	struct hlg_report_file *files = calloc(batch->n_paths + 1, sizeof(*files));

	for (size_t i = 0; files && i < batch->n_paths; i++) {
		const struct hlg_batch_file *file = &batch->files[i];

		files[i] = (struct hlg_report_file){
			batch->paths[i],    file->rc < 0 ? file->err.msg : NULL,
			file->sums.samples, file->sums.guest,
			file->sums.host,    file->sums.traced,
			file->sums.lost,    fit_of(file, space)};
	}
	if (files)
		qsort(files, batch->n_paths, sizeof(*files), compare_files);
	return files;
}

/* A saved profile keeps host rows, whatever mode= says: it may be read with another. */
static int prepare_pprof(struct hlg_run *run, struct hlg_err *err)
{
	run->options.mode = HLG_SHOW_ALL;
	return hlg_pprof_check(err);
}

static int save_pprof(struct hlg_run *run, const void *of, struct hlg_err *err)
{
	const struct saving *saving = of;
	struct hlg_pprof_server server = saving->server;

	return hlg_pprof_report(run, saving->sums,
				server.reader == HLG_PPROF_HLGUEST ? NULL : &server,
				saving->list, stdout, err);
}

static const struct hlg_format pprof = {.name = "pprof",
					.file = "x.pb.gz",
					.stacks = true,
					.whole = true,
					.prepare = prepare_pprof,
					.save = save_pprof};

static const struct hlg_format *const formats[] = {
	&hlg_format_text,
	&hlg_format_of_records,
	&hlg_format_json,
	&hlg_format_folded,
	&pprof,
	&hlg_callgrind_format,
	&hlg_speedscope_format,
	&hlg_report_html_format,
	NULL,
};

/* Who reads a saved profile again, or sums several, decides then what to leave out. */
static int check_kept(const struct arguments *args, const struct hlg_run *run,
		      struct hlg_err *err)
{
	bool gaps = run->options.gaps == HLG_GAPS_DROP;

	if (run->format != &pprof || args->reader != HLG_PPROF_HLGUEST ||
	    (!gaps && run->options.border != HLG_BORDER_DROP))
		return 0;
	return hlg_err_set(err, HLG_EINPUT,
			   "--%s=drop: a saved profile keeps all samples (give this to "
			   "the report or diff of it; --for=parca saves without them)",
			   gaps ? "gaps" : "border");
}

static struct hlg_pprof_server server_of(const struct arguments *args)
{
	return (struct hlg_pprof_server){.reader = (enum hlg_pprof_reader)args->reader,
					 .labels = args->labels.text,
					 .n_labels = args->labels.n};
}

/* Opens the lines of the images, and has the run find inlined functions there. */
static bool open_sources(const struct hlg_inputs *in, struct hlg_run *run,
			 struct hlg_sources *sources)
{
	if (!hlg_source_open_all(sources, &run->space))
		return false;
	if (in->inlines)
		run->inlines = (struct hlg_inlined_source){hlg_source_inlined_at, sources,
							   in->inlines > 0};
	return true;
}

static int save(const struct arguments *args, struct hlg_run *run,
		const struct hlg_batch *batch, struct hlg_err *err)
{
	const struct saving saving = {&batch->sums, server_of(args),
				      args->inputs.listed ? args->inputs.digest : NULL};
	struct hlg_sources sources = {0};
	const struct hlg_err *nothing;
	int rc = open_sources(&args->inputs, run, &sources)
			 ? run->format->save(run, &saving, err)
			 : hlg_err_memory(err, "lines");

	hlg_source_close_all(&sources);
	nothing = hlg_run_nothing(run);
	return rc == 0 && nothing ? hlg_err_set(err, HLG_EINPUT, "%s", nothing->msg) : rc;
}

static int write_report(const struct arguments *args, struct hlg_run *run,
			const struct hlg_batch *batch, struct hlg_err *err)
{
	const struct hlg_inputs *in = &args->inputs;
	struct hlg_sources sources = {0};
	struct hlg_hint hint;
	struct hlg_report_file *files;
	int rc;

	if (run->format->save)
		return save(args, run, batch, err);
	rc = hlg_run_settle(run, err);
	if (rc < 0)
		return rc;
	files = list_files(batch, &run->space);
	if (!files)
		return hlg_err_memory(err, "files");
	run->files = files;
	run->n_files = batch->n_paths;
	run->recordings = batch->sums.recordings;
	run->took = batch->sums.took;
	run->sums = &batch->sums;
	hlg_batch_note(batch, run);
	if (open_sources(in, run, &sources)) {
		hint = (struct hlg_hint){&sources, run->options.demangle};
		run->hint = (struct hlg_twins_hint){hlg_hint_of, &hint};
		rc = hlg_run_report(
			run,
			hlg_pager_stream(in->no_pager, run->format, run->options.out),
			err);
	} else {
		rc = hlg_err_memory(err, "lines");
	}
	hlg_source_close_all(&sources);
	free(files);
	return rc;
}

/* Reads the files and writes the report. Returns the exit status. A profile of a list is
 * saved also if nothing on it can be read: who sums profiles must know that. */
static int profile(struct arguments *args)
{
	const char *calibration = args->calibration;
	struct hlg_inputs *in = &args->inputs;
	struct hlg_calibration_file calibrated;
	struct hlg_batch batch = {0};
	struct hlg_run run;
	struct hlg_err err;
	bool whole = false;
	int rc = 0, status = 0;

	memset(&run, 0, sizeof(run));
	if (in->format->whole)
		rc = hlg_sides_want_whole(in, &whole, &err);
	if (rc == 0 && whole)
		rc = hlg_inputs_add_word(in, HLG_SIDES_WHOLE, &err);
	if (rc == 0)
		rc = hlg_run_start_apart(&run, in->n_words, in->words, &err);
	if (rc == 0)
		rc = hlg_run_set_format(&run, in->format, &err);
	if (rc == 0)
		rc = check_kept(args, &run, &err);
	if (rc == 0 && calibration)
		rc = hlg_calibration_file_read(&calibrated, calibration, &err);
	batch.judge = in->format->files && in->n_images;
	if (rc == 0)
		rc = hlg_inputs_read(in, &run, &batch, &status, &err);
	if (rc == 0 && calibration)
		rc = hlg_report_calibration_apply(&run, &calibrated, calibration,
						  batch.paths, batch.n_paths, &err);
	if (rc == 0 && (batch.n_read || (in->list && in->format == &pprof)))
		rc = write_report(args, &run, &batch, &err);
	/* Where the output has no room for it; a saved profile says itself what its
	 * recordings lack. */
	if (rc == 0 && batch.n_read && !run.format->notes)
		hlg_base_search_warn(&run.space);
	if (batch.n_read && !run.format->save && (rc < 0 || !run.format->notes))
		hlg_output_notes(NULL, &run.notes, HLG_OUTPUT_WARNINGS);
	if (rc < 0)
		status = hlg_output_error(&err);
	status = hlg_run_status(&run, status);
	hlg_batch_finish(&batch);
	hlg_run_finish(&run);
	return status;
}

static int check(void *arguments, struct hlg_err *err)
{
	const struct arguments *args = arguments;
	const struct hlg_pprof_server server = server_of(args);

	if (args->reader != HLG_PPROF_HLGUEST && args->inputs.format != &pprof)
		return hlg_err_set(err, HLG_EINPUT,
				   "--for: is about saved profiles (give --format=pprof, "
				   "too)");
	return hlg_pprof_server_check(&server, err);
}

static int run(const struct hlg_verb *verb, int argc, char **argv)
{
	struct arguments args = {0};
	int status;

	if (hlg_inputs_parse(&args.inputs, verb, argc, argv, &status))
		status = profile(&args);
	free(args.labels.text);
	hlg_inputs_finish(&args.inputs);
	return status;
}

static const struct hlg_verb_option options[] = {
	{.name = "calibration",
	 .value = "FILE",
	 .help = "a file of hlguest calibrate --save: it sets skid, and notes say what "
		 "it has",
	 .files = "file",
	 .kind = HLG_VERB_TEXT,
	 .reads = true,
	 .field = offsetof(struct arguments, calibration)},
	{.name = "for",
	 .value = HLG_PPROF_SERVERS,
	 .help = "who is to take a saved profile; for a server, as it takes it",
	 .kind = HLG_VERB_ONE_OF,
	 .field = offsetof(struct arguments, reader),
	 .fallback = "hlguest"},
	{.name = "label",
	 .value = "KEY=VALUE",
	 .help = "a label of all samples, for the server; may be repeated",
	 .kind = HLG_VERB_TEXTS,
	 .field = offsetof(struct arguments, labels)},
	{0},
};

const struct hlg_verb hlg_verb_report = {
	.name = "report",
	.args = "guest.elf[@BASE] [FILE...]",
	.help = "profile recordings",
	.group = HLG_VERB_SHOWS,
	.usage = "guest.elf[@BASE]... [FILE...]",
	.doc = "Profiles recordings of guests: every sample once, by function, gap and "
	       "region of the guest's own ELF.\v"
	       "An argument that is a recording (or -, or a folder) is read; any other "
	       "names an image: FILE[@BASE] or map:FILE[@BASE].",
	.examples = "hlguest report guest.elf\tthe functions of perf.data.guest, hottest "
		    "first\n"
		    "hlguest report --top=0 guest.elf a.data b.data\tevery function, "
		    "over two recordings\n"
		    "hlguest report --format=json -o report.json guest.elf\tevery "
		    "figure, for programs",
	.files = "elf recording profile",
	/* All but emit=, perf's business. */
	.shared = "input input-list null list-digest shard jobs quiet aliases "
		  "assume-shift border by call-graph children "
		  "color cpu "
		  "demangle event force "
		  "format "
		  "gaps inline min mode no-pager output pid raw region regions roots "
		  "sandbox "
		  "skid sort "
		  "stacks strict-base tid time top verbose weight wide",
	.formats = formats,
	.options = options,
	.size = sizeof(struct arguments),
	.check = check,
	.run = run,
};
