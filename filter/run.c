// SPDX-License-Identifier: GPL-2.0-only
#include "filter/run.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "filter/output/out.h"
#include "filter/report/banner.h"
#include "filter/report/build.h"
#include "filter/report/callgraph.h"
#include "filter/report/notes.h"
#include "filter/report/nothing.h"
#include "filter/report/origin-notes.h"
#include "filter/trust/base-search.h"
#include "symtab/escape.h"
#include "symtab/grow.h"
#include "symtab/image/base.h"
#include "symtab/shell.h"

/* Fails where FILE@WHAT does not exist, but FILE: WHAT was meant to be a base. */
static int check_base(const struct hlg_image_arg *arg, struct hlg_err *err)
{
	const char *path = arg->path, *at = arg->stated ? NULL : hlg_options_base(path);
	char *file =
		at && access(path, F_OK) != 0 ? strndup(path, (size_t)(at - path)) : NULL;
	int rc = 0;

	if (file && access(file, F_OK) == 0)
		rc = hlg_err_set(err, HLG_EINPUT,
				 "%s: no such file, and what follows %s is no base (as "
				 "in @0x4000, @16384, @auto)",
				 path, file);
	free(file);
	return rc;
}

/* A host stands for all of its guests only where they are told apart. */
static int fail_several(const struct hlg_image_arg *arg, const struct hlg_image *image,
			struct hlg_err *err)
{
	char *host = hlg_shell_quote(arg->path);
	int rc = hlg_err_set(err, HLG_EINPUT,
			     "%s: is a host with several guests inside (name one, as "
			     "%s; hlguest extract %s lists them)",
			     arg->path, image->typed, host ? host : arg->path);

	free(host);
	return rc;
}

int hlg_run_open_image(struct hlg_image **image, const struct hlg_image_arg *arg,
		       struct hlg_err *err)
{
	int rc = check_base(arg, err);

	*image = NULL;
	if (rc < 0)
		return rc;
	rc = arg->map ? hlg_image_open_map(image, arg->path, err)
		      : hlg_image_open_guest(image, arg->path, arg->guest, err);
	if (rc < 0)
		return rc;
	if ((*image)->next_guest && !arg->guest && !arg->each)
		rc = fail_several(arg, *image, err);
	else if (arg->stated)
		rc = hlg_image_set_base(*image, arg->base, HLG_BASE_STATED, err);
	(*image)->sought = arg->find;
	if (rc < 0) {
		hlg_image_destroy(*image);
		*image = NULL;
	}
	return rc;
}

/* Behind the i-th image, which is of one guest inside a host, comes that of the next. */
static int insert_guest(struct hlg_options *options, size_t i, size_t number,
			struct hlg_err *err)
{
	struct hlg_image_arg next = options->images[i];

	next.guest = number;
	next.path =
		HLG_GROW(options->images, options->n_images) ? strdup(next.path) : NULL;
	if (!next.path)
		return hlg_err_memory(err, options->images[i].path);
	memmove(&options->images[i + 2], &options->images[i + 1],
		(options->n_images - i - 1) * sizeof(next));
	options->images[i + 1] = next;
	options->n_images++;
	return 0;
}

static int add_image(struct hlg_run *run, size_t i, bool apart, struct hlg_err *err)
{
	struct hlg_image_arg *arg = &run->options.images[i];
	struct hlg_image *image;
	int rc;

	arg->each |= apart && !arg->guest && !hlg_options_states_who(arg);
	rc = hlg_run_open_image(&image, arg, err);
	if (rc == 0)
		rc = hlg_space_add(&run->space, image, err);
	if (rc == 0 && arg->each && image->next_guest)
		rc = insert_guest(&run->options, i, image->next_guest, err);
	if (rc < 0)
		return rc;
	arg = &run->options.images[i];
	/* Samples that are handed on one by one need a place before the last is seen. */
	if (run->options.emit != HLG_EMIT_NONE)
		return hlg_base_decide(image, err);
	return arg->find ? 0 : hlg_base_read(image, err);
}

static int open_images(struct hlg_run *run, bool apart, struct hlg_err *err)
{
	/* Which state a sample was taken in is told without an image. */
	if (run->options.n_images == 0 && run->options.stacks != HLG_STACKS_COUNTERS)
		return hlg_err_set(
			err, HLG_EINPUT,
			"no guest ELF is given (name it: --dlarg guest.elf; --dlarg "
			"help lists the options)");
	for (size_t i = 0; i < run->options.n_images; i++) {
		int rc = add_image(run, i, apart, err);

		if (rc < 0)
			return rc;
	}
	/* Tells overlaps before hours of samples; the bases are final at the end. */
	for (size_t i = 0; i < run->options.n_images; i++) {
		const struct hlg_image_arg *arg = &run->options.images[i];

		if (!hlg_options_states_who(arg))
			continue;
		if (!apart)
			return hlg_err_set(
				err, HLG_EINPUT,
				"%s: who runs it cannot be stated here (select "
				"them with tid= or sandbox= and name no other "
				"ELF, or use hlguest report, annotate, diff, "
				"exits, flame or windows)",
				arg->path);
		run->space.images[i]->owned = true;
		run->space.n_lanes = 1; /* at least: others run none of it */
	}
	return apart ? hlg_space_part(&run->space, err)
		     : hlg_space_arrange(&run->space, err);
}

/* Nothing is written over what is read. */
static int check_out(const struct hlg_options *options, struct hlg_err *err)
{
	int rc = 0;

	if (!options->out)
		return 0;
	for (size_t i = 0; rc == 0 && i < options->n_images; i++)
		rc = hlg_target_check_input(options->out, options->images[i].path, err);
	return rc < 0 ? rc : hlg_out_check(options->out, HLG_MAGIC_NONE, err);
}

int hlg_run_set_format(struct hlg_run *run, const struct hlg_format *format,
		       struct hlg_err *err)
{
	int rc = hlg_format_choose(format, &run->options, err);

	run->format = format;
	return rc == 0 && format->prepare ? format->prepare(run, err) : rc;
}

static int choose_format(struct hlg_run *run, struct hlg_err *err)
{
	const char *name = run->options.format;
	const struct hlg_format *format = hlg_format_find(hlg_format_filter, name);
	char words[HLG_FORMAT_WORDS], arg[128];

	if (format)
		return hlg_run_set_format(run, format, err);
	snprintf(arg, sizeof(arg), "format=%s", name);
	return hlg_options_unknown_value(arg, name, false,
					 hlg_format_words(words, hlg_format_filter), err);
}

int hlg_run_begin(struct hlg_run *run, int argc, char *const *argv, struct hlg_err *err)
{
	int rc;

	memset(run, 0, sizeof(*run));
	rc = hlg_options_parse(&run->options, argc, argv, err);
	if (rc == 0)
		rc = choose_format(run, err);
	if (rc == 0)
		rc = check_out(&run->options, err);
	if (rc == 0 && run->options.stacks == HLG_STACKS_CALLGRAPH &&
	    !hlg_stacks_init(&run->stacks, &run->options))
		rc = hlg_err_memory(err, "stacks");
	if (rc == 0 && !hlg_profile_init(&run->profile, &run->options))
		rc = hlg_err_memory(err, "profile");
	return rc;
}

int hlg_run_start(struct hlg_run *run, int argc, char *const *argv, struct hlg_err *err)
{
	int rc = hlg_run_begin(run, argc, argv, err);

	return rc < 0 ? rc : open_images(run, false, err);
}

int hlg_run_start_apart(struct hlg_run *run, int argc, char *const *argv,
			struct hlg_err *err)
{
	int rc = hlg_run_begin(run, argc, argv, err);

	run->apart = rc == 0;
	return rc < 0 ? rc : open_images(run, true, err);
}

void hlg_run_note(struct hlg_run *run, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	hlg_note_list_vadd(&run->notes, HLG_NOTE_PLAIN, fmt, ap);
	va_end(ap);
}

void hlg_run_remark(struct hlg_run *run, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	hlg_note_list_vadd(&run->remarks, HLG_NOTE_DETAIL, fmt, ap);
	va_end(ap);
}

int hlg_run_settle(struct hlg_run *run, struct hlg_err *err)
{
	int rc;

	if (run->settled)
		return 0;
	rc = hlg_base_search_all(&run->space, &run->profile, err);
	if (rc == 0)
		rc = hlg_space_share(&run->space, err);
	if (rc == 0)
		rc = hlg_space_settle(&run->space, err);
	run->settled = rc == 0;
	return rc;
}

/* Slices by address and by stack are as long as each other: a range that is chosen is of
 * whole slices of both. Stacks for whose sake they would be much longer have none. */
static void settle_slices(struct hlg_run *run)
{
	struct hlg_slices *by_address = &run->profile.by_address,
			  *stacks = &run->stacks.slices;

	hlg_slices_sort(&run->profile.by_thread);
	hlg_slices_lengthen(by_address, run->profile.by_thread.doubled);
	hlg_slices_sort(by_address);
	hlg_slices_lengthen(stacks, by_address->doubled);
	hlg_slices_sort(stacks);
	stacks->lost |= stacks->doubled > by_address->doubled &&
			stacks->total < HLG_SLICES_FEW * stacks->n_spans;
	stacks->lost |= stacks->n > HLG_SLICES_ENTRIES;
	if (stacks->lost || stacks->doubled <= by_address->doubled)
		return;
	hlg_slices_lengthen(by_address, stacks->doubled);
	hlg_slices_sort(by_address);
}

/* assume-shift: the report once more, of samples where they would lie. */
static int build_shifted(struct hlg_run *run, struct hlg_report *report,
			 struct hlg_err *err)
{
	bool callgraph = run->options.stacks == HLG_STACKS_CALLGRAPH;
	struct hlg_shift shift;
	bool ok = hlg_shift_find(&shift, report);
	int rc = 0;

	if (ok && shift.n) {
		hlg_report_finish(report);
		*report = (struct hlg_report){0};
		ok = hlg_shift_move(&shift, &run->space, &run->profile,
				    callgraph ? &run->stacks : NULL);
		if (ok)
			rc = hlg_report_build(report, &run->options, &run->space,
					      &run->profile, &run->host, &shift, NULL,
					      err);
	}
	hlg_shift_finish(&shift);
	return ok ? rc : hlg_err_memory(err, "report");
}

int hlg_run_build(struct hlg_run *run, struct hlg_report *report, struct hlg_err *err)
{
	int rc = hlg_run_settle(run, err);

	*report = (struct hlg_report){0};
	if (rc < 0)
		return rc;
	settle_slices(run);
	rc = hlg_report_build(report, &run->options, &run->space, &run->profile,
			      &run->host, NULL, run->exits, err);
	if (rc == 0 && run->options.assume_shift)
		rc = build_shifted(run, report, err);
	if (rc == 0)
		hlg_notes_add_border(report);
	if (rc == 0 && run->options.stacks == HLG_STACKS_CALLGRAPH) {
		report->stacks = &run->stacks;
		report->inlines = run->inlines;
		rc = hlg_callgraph_judge(report, err);
	}
	report->files = run->files;
	report->n_files = run->n_files;
	report->recordings = run->recordings;
	report->sums = run->sums;
	report->took = run->took;
	report->recording = run->recording;
	if (rc == 0)
		hlg_origin_notes_add(report);
	run->refused = rc == 0 && hlg_banner_is_refusal(report);
	hlg_note_list_append(&report->notes, &run->notes);
	hlg_note_list_append(&report->remarks, &run->remarks);
	return rc == 0 && (hlg_report_lost(report) || run->profile.origins.lost)
		       ? hlg_err_memory(err, "report")
		       : rc;
}

const struct hlg_err *hlg_run_nothing(struct hlg_run *run)
{
	return hlg_nothing_check(&run->profile, "", &run->nothing) < 0 ? &run->nothing
								       : NULL;
}

void hlg_run_warn(const struct hlg_report *report, const struct hlg_format *format,
		  const char *of)
{
	bool seen = format->reader && !format->file &&
		    hlg_target_is_stream(report->options->out);

	if (!report->banner || seen)
		return;
	fprintf(stderr, "hlguest: !! %s", of);
	hlg_escape_print(stderr, report->banner);
	fputc('\n', stderr);
}

void hlg_run_warn_remarks(const struct hlg_report *report, const char *of)
{
	struct hlg_note_list notes = {0};

	hlg_notes_tell_unread(report, &notes);
	hlg_notes_tell_unnamed(report, &notes);
	for (size_t i = 0; i < notes.n; i++) {
		fprintf(stderr, "hlguest: warning: %s", of);
		hlg_escape_print(stderr, notes.line[i]);
		fputc('\n', stderr);
	}
	hlg_note_list_finish(&notes);
}

int hlg_run_report(struct hlg_run *run, FILE *stream, struct hlg_err *err)
{
	struct hlg_report report;
	int rc = hlg_run_build(run, &report, err);

	if (rc == 0 && run->format->reader && !report.suppressed)
		rc = hlg_twins_tell(&report, &run->hint, err);
	if (rc == 0)
		rc = hlg_format_write(
			&(struct hlg_result){run->format, &report, hlg_report_records,
					     &report.colours, run->options.color,
					     &report.screen, hlg_run_nothing(run)},
			run->options.out, stream, err);
	if (rc == 0)
		hlg_run_warn(&report, run->format, "");
	if (rc == 0 && !run->format->remarks)
		hlg_run_warn_remarks(&report, "");
	hlg_report_finish(&report);
	return rc;
}

int hlg_run_status(const struct hlg_run *run, int status)
{
	return status == 0 && run->refused ? HLG_BANNER_STATUS : status;
}

void hlg_run_finish(struct hlg_run *run)
{
	hlg_note_list_finish(&run->notes);
	hlg_note_list_finish(&run->remarks);
	hlg_stacks_finish(&run->stacks);
	hlg_host_finish(&run->host);
	hlg_profile_finish(&run->profile);
	hlg_space_finish(&run->space);
	hlg_options_finish(&run->options);
}
