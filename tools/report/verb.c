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

static int save_pprof(struct hlg_run *run, const void *sums, struct hlg_err *err)
{
	return hlg_pprof_report(run, sums, stdout, err);
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

static int write_report(const struct hlg_inputs *in, struct hlg_run *run,
			const struct hlg_batch *batch, struct hlg_err *err)
{
	struct hlg_sources sources = {0};
	struct hlg_hint hint;
	struct hlg_report_file *files;
	const struct hlg_err *nothing;
	int rc;

	if (run->format->save) {
		rc = run->format->save(run, &batch->sums, err);
		nothing = hlg_run_nothing(run);
		return rc == 0 && nothing
			       ? hlg_err_set(err, HLG_EINPUT, "%s", nothing->msg)
			       : rc;
	}
	rc = hlg_run_settle(run, err);
	if (rc < 0)
		return rc;
	files = list_files(batch, &run->space);
	if (!files)
		return hlg_err_memory(err, "files");
	run->files = files;
	run->n_files = batch->n_paths;
	run->recordings = batch->sums.recordings;
	hlg_batch_note(batch, run);
	if (hlg_source_open_all(&sources, &run->space)) {
		hint = (struct hlg_hint){&sources, run->options.demangle};
		run->hint = (struct hlg_twins_hint){hlg_hint_of, &hint};
		if (in->inlines)
			run->inlines = (struct hlg_inlined_source){hlg_source_inlined_at,
								   &sources};
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

/* Reads the files and writes the report. Returns the exit status. */
static int profile(struct hlg_inputs *in, const char *calibration)
{
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
	if (rc == 0 && calibration)
		rc = hlg_calibration_file_read(&calibrated, calibration, &err);
	batch.judge = in->format->files && in->n_images;
	if (rc == 0)
		rc = hlg_inputs_read(in, &run, &batch, &status, &err);
	if (rc == 0 && calibration)
		rc = hlg_report_calibration_apply(&run, &calibrated, calibration,
						  batch.paths, batch.n_paths, &err);
	if (rc == 0 && batch.n_read)
		rc = write_report(in, &run, &batch, &err);
	/* Where the output has no room for it. */
	if (rc == 0 && batch.n_read && !run.format->notes)
		hlg_base_search_warn(&run.space);
	if (rc < 0)
		status = hlg_output_error(&err);
	if (status == 0 && (run.mismatch || (run.mixed && run.options.strict)))
		status = 3;
	hlg_batch_finish(&batch);
	hlg_run_finish(&run);
	return status;
}

static int run(const struct hlg_verb *verb, int argc, char **argv)
{
	struct arguments args = {0};
	int status;

	if (hlg_inputs_parse(&args.inputs, verb, argc, argv, &status))
		status = profile(&args.inputs, args.calibration);
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
	.shared = "input jobs quiet aliases assume-shift border by call-graph children "
		  "color cpu "
		  "demangle event force "
		  "format "
		  "gaps inline min mode no-pager output pid raw region regions roots "
		  "sandbox "
		  "skid sort "
		  "stacks strict strict-base tid time top verbose weight wide",
	.formats = formats,
	.options = options,
	.size = sizeof(struct arguments),
	.run = run,
};
