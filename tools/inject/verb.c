// SPDX-License-Identifier: GPL-2.0-only
/*
 * hlguest inject: a recording written anew so that perf, and whatever reads its files,
 * shows the guest: guest samples become samples of a process that maps the guest's ELF.
 */
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "filter/report/banner.h"
#include "filter/report/build.h"
#include "filter/report/notes.h"
#include "filter/report/nothing.h"
#include "filter/run.h"
#include "filter/trust/base-search.h"
#include "filter/write/table.h"
#include "filter/write/text-line.h"
#include "symtab/escape.h"
#include "symtab/shell.h"
#include "tools/cli/output.h"
#include "tools/cli/signals.h"
#include "tools/cli/verb.h"
#include "tools/feed/lacks.h"
#include "tools/inject/copy.h"
#include "tools/inject/files.h"
#include "tools/inject/steps.h"
#include "tools/inputs/inputs.h"
#include "tools/inputs/unnamed.h"

struct arguments {
	struct hlg_inputs inputs;
	const char *out;
	bool direct;
};

/* All that an injection needs, from the words of the command to the sums. */
struct injection {
	const char *out;
	bool direct;
	const char *in;
	struct hlg_run run;
	struct hlg_report report;
	struct hlg_units *units; /* of each image */
	struct hlg_mappings mappings;
	struct hlg_choice choice;
	struct hlg_scan scan;
	struct hlg_files files;
	struct hlg_writer writer;
	struct hlg_copy copy;
	struct hlg_note_list lacks; /* of the recording */
	bool overlaps;              /* guests do, so that they are written one by one */
};

static int check_images(const struct hlg_space *space, struct hlg_err *err)
{
	for (size_t i = 0; i < space->n_images; i++)
		if (space->images[i]->map)
			return hlg_err_set(err, HLG_EINPUT,
					   "%s: is a perf map, and inject needs an ELF "
					   "(name the guest's ELF)",
					   space->images[i]->path);
	return 0;
}

static int scan(struct injection *j, struct hlg_err *err)
{
	struct hlg_perfdata *pd = NULL;
	int rc = hlg_choice_read(&j->choice, j->in, &j->run.options, err);

	if (rc == 0)
		rc = hlg_perfdata_open(&pd, j->in, err);
	if (rc < 0)
		return rc;
	rc = hlg_scan_read(&j->scan, j->in, pd, &j->choice, err);
	hlg_perfdata_close(pd);
	j->copy.offset = hlg_copy_offset(j->scan.highest);
	if (rc == 0 && j->copy.offset == 0)
		rc = hlg_err_set(err, HLG_EINPUT,
				 "%s: has processes up to number %" PRId32
				 ", as the third copy in a row that inject writes has: "
				 "no process numbers are left (begin with the recording "
				 "that perf wrote, and select more guests at a time)",
				 j->in, j->scan.highest);
	return rc;
}

/* The process of all guest samples; NULL if they are of several. */
static const int32_t *only_process(const struct hlg_scan *scan)
{
	if (scan->n_guests == 0 ||
	    scan->guests[0].pid != scan->guests[scan->n_guests - 1].pid)
		return NULL;
	return &scan->guests[0].pid;
}

static bool is_refused(const struct injection *j)
{
	return j->run.refused && !j->run.options.force;
}

/* Samples do not fit; where those of some guests do, they can be written alone. */
static int refuse(const struct injection *j, struct hlg_err *err)
{
	const struct hlg_trust *trust = &j->report.trust;
	bool some = trust->n_fitting && trust->n_threads && !j->choice.options;

	return hlg_err_set(err, HLG_EINPUT, "%s%s%s",
			   j->report.banner ? j->report.banner
					    : "samples do not fit (--force=yes)",
			   some ? "; inject writes those that fit alone, with " : "",
			   !some ? ""
			   : j->run.profile.sandboxes.n > 0
				   ? "--sandbox=, --pid= or --tid= of their guests"
				   : "--pid= or --tid= of their guests");
}

/* A process has no room for guests that lie across each other: perf would have no names
 * for the samples of all but one. */
static int check_overlaps(struct injection *j, struct hlg_err *err)
{
	const struct hlg_trust *trust = &j->report.trust;

	for (size_t i = 0; i < trust->n_images && !j->run.options.force; i++) {
		const struct hlg_image *image = trust->images[i].image;
		const struct hlg_fit *fit = hlg_trust_elsewhere(&trust->images[i]);

		if (!fit || !hlg_image_overlaps(image, fit->base))
			continue;
		j->overlaps = true;
		return hlg_err_set(
			err, HLG_EINPUT,
			"%s: %" PRIu64 " samples fit it at base 0x%" PRIx64
			", which overlaps where it lies, and a process cannot map both "
			"(inject them one after the other, with --tid=%s of one guest "
			"each; hlguest report -v %s@auto shows who lies where)",
			image->path, fit->on_samples, fit->base,
			j->run.profile.sandboxes.n > 0 ? " or --sandbox=" : "",
			image->typed);
	}
	return 0;
}

/* What a report would say, and the copy does not show. */
static void warn(const struct injection *j)
{
	struct hlg_note_list notes = {0};

	hlg_notes_tell_elsewhere(&j->report, &notes);
	hlg_output_notes(NULL, &notes, HLG_OUTPUT_WARNINGS);
	hlg_note_list_finish(&notes);
}

/* What was read, and what was not. */
static int note_lacks(struct injection *j, const struct hlg_batch *batch,
		      struct hlg_err *err)
{
	for (size_t i = 0; i < j->run.space.n_images; i++)
		if (hlg_image_unread(j->run.space.images[i]))
			return hlg_image_fail_unread(j->run.space.images[i], err);
	for (size_t i = 0; i < batch->n_paths; i++)
		hlg_note_list_append(&j->lacks, &batch->files[i].notes);
	hlg_lacks_note(&batch->sums, "", NULL, &j->lacks);
	return j->run.profile.unrecorded || j->lacks.lost ? hlg_err_memory(err, j->in)
							  : 0;
}

/* The profile, where the images lie, and whether that can be believed. */
static int judge(struct injection *j, const struct hlg_inputs *in, int *status,
		 struct hlg_err *err)
{
	struct hlg_batch batch = {0};
	int rc = hlg_run_start(&j->run, in->n_words, in->words, err);

	j->overlaps = j->run.space.overlaps;
	hlg_unnamed_ask(in, &j->run.options);
	j->run.options.stacks = HLG_STACKS_CALLGRAPH; /* callers are named, too */
	if (rc == 0 && !hlg_stacks_init(&j->run.stacks, &j->run.options))
		rc = hlg_err_memory(err, "stacks");
	if (rc == 0)
		rc = check_images(&j->run.space, err);
	if (rc == 0)
		rc = scan(j, err);
	/* A process has the bases that its own samples are at. */
	if (rc == 0 && !only_process(&j->scan))
		j->run.options.by |= HLG_BY_PID;
	if (rc == 0)
		rc = hlg_inputs_read(in, &j->run, &batch, status, err);
	if (rc == 0 && batch.n_read)
		rc = hlg_nothing_check(&j->run.profile, "", err);
	if (rc == 0 && batch.n_read) {
		j->run.options.border =
			HLG_BORDER_KEEP; /* functions keep their samples */
		rc = hlg_run_build(&j->run, &j->report, err);
	}
	/* Where nobody can be told, that is why samples do not fit. */
	if (rc == 0 && is_refused(j) && in->n_images > 1)
		rc = hlg_steps_check(in, NULL, err);
	if (rc == 0 && batch.n_read)
		hlg_base_search_warn(&j->run.space);
	if (rc == 0)
		rc = note_lacks(j, &batch, err);
	if (rc == 0 && is_refused(j)) {
		*status = hlg_run_status(&j->run, 0);
		rc = refuse(j, err);
	}
	if (rc == 0 && batch.n_read)
		rc = check_overlaps(j, err);
	if (rc == 0 && batch.n_read)
		warn(j);
	hlg_batch_finish(&batch);
	return rc;
}

static int find_mappings(struct injection *j, struct hlg_err *err)
{
	const struct hlg_space *space = &j->run.space;
	int rc;

	j->units = calloc(space->n_images + 1, sizeof(*j->units));
	if (!j->units)
		return hlg_err_memory(err, "images");
	for (size_t i = 0; i < space->n_images; i++)
		if (!hlg_companion_units_init(&j->units[i], space->images[i],
					      j->run.options.gaps))
			return hlg_err_memory(err, "images");
	rc = hlg_mappings_build(&j->mappings, &j->report, j->units,
				only_process(&j->scan), j->in, err);
	for (size_t i = 0; rc == 0 && j->direct && i < space->n_images; i++)
		j->mappings.companion[i] = false;
	return rc;
}

static int open_files(struct injection *j, struct hlg_err *err)
{
	return hlg_files_open(&j->files, j->out, &j->run.space, j->units,
			      j->mappings.companion, j->run.options.demangle, err);
}

/* Entries for the build-id feature, of all files that are mapped; NULL: no memory. */
static uint8_t *list_build_ids(const struct hlg_files *files, size_t *size)
{
	uint8_t *list = malloc(2 * files->n_images * HLG_WRITER_RECORD_MAX +
			       HLG_WRITER_RECORD_MAX);

	*size = 0;
	for (size_t i = 0; list && i < files->n_images; i++) {
		const struct hlg_files_image *file = &files->images[i];

		if (file->elf_id.size)
			*size += hlg_writer_build_id(list + *size, file->elf,
						     file->elf_id.bytes,
						     file->elf_id.size);
		if (file->companion && file->companion_id.size)
			*size += hlg_writer_build_id(list + *size, file->companion,
						     file->companion_id.bytes,
						     file->companion_id.size);
	}
	return list;
}

static int write_records(struct injection *j, struct hlg_perfdata *pd,
			 struct hlg_err *err)
{
	struct hlg_writer *writer = &j->writer;
	uint8_t *build_ids;
	int rc = hlg_writer_begin(writer, j->files.out.f, j->out, pd, err);

	if (rc < 0)
		return rc;
	build_ids = list_build_ids(&j->files, &writer->build_ids_size);
	if (!build_ids)
		return hlg_err_memory(err, j->out);
	writer->build_ids = build_ids;
	j->copy.space = &j->run.space;
	j->copy.gaps = j->run.options.gaps;
	j->copy.choice = &j->choice;
	j->copy.scan = &j->scan;
	j->copy.mappings = &j->mappings;
	j->copy.files = &j->files;
	j->copy.callers.stacks = &j->run.stacks;
	j->copy.callers.proof = j->report.proof;
	rc = hlg_copy_records(&j->copy, pd, writer, err);
	if (rc == 0)
		rc = hlg_writer_finish(writer, err);
	free(build_ids);
	return rc;
}

static int write_files(struct injection *j, struct hlg_err *err)
{
	struct hlg_perfdata *pd;
	int rc = hlg_perfdata_open(&pd, j->in, err);

	if (rc < 0)
		return rc;
	/* Until now a signal found nothing to be removed, and ended the program itself.
	 */
	hlg_signals_note();
	rc = open_files(j, err);
	if (rc == 0)
		rc = write_records(j, pd, err);
	hlg_perfdata_close(pd);
	return rc;
}

static void print_count(const char *what, uint64_t n, const char *note)
{
	const struct hlg_screen screen = hlg_screen_of(stdout);
	int column = printf("%-20s %12" PRIu64 "%s", what, n, note[0] ? "  " : "");

	hlg_text_line_fold(stdout, &screen, (size_t)column, "      ", note);
}

static void print_process(const struct injection *j, const struct hlg_scan_thread *first,
			  size_t n)
{
	const char *comm = hlg_scan_comm(&j->scan, first->pid);

	/* As copy.c names it: it is too late for want of memory. */
	printf("process    %" PRId32 "  guest:", hlg_copy_id(j->copy.offset, first->pid));
	if (comm[0])
		hlg_escape_print(stdout, comm);
	else
		printf("%" PRId32, first->pid);
	printf("  (of VMM %" PRId32 ", %zu %s)\n", first->pid, n,
	       n == 1 ? "thread" : "threads");
}

static void print_files(const struct injection *j)
{
	const struct hlg_screen screen = hlg_screen_of(stdout);

	for (size_t i = 0; i < j->files.n_images; i++) {
		const char *path = j->files.images[i].companion;

		if (!path)
			continue;
		fputs("companion  ", stdout);
		hlg_escape_print(stdout, path);
		hlg_text_line_fold(stdout, &screen,
				   strlen("companion  ") + (size_t)hlg_table_cells(path),
				   "           ",
				   "  (keep it there: perf reads its symbols)");
	}
}

static void print_sums(const struct injection *j)
{
	const struct hlg_copy_counts *c = &j->copy.counts;
	const struct hlg_scan_thread *g = j->scan.guests;
	const struct hlg_options *o = &j->run.options;
	char out[2 * PATH_MAX], said[80];

	fputs("written    ", stdout);
	hlg_escape_print(stdout, j->out);
	printf("  (check %s)\n", hlg_banner_said(said, &j->report));
	print_files(j);
	/* By default it adds up processes of one name. */
	printf("show       perf report %s-i ",
	       only_process(&j->scan) ? "" : "--sort=pid,dso,sym ");
	puts(hlg_shell_put(out, sizeof(out), j->out));
	if (c->unwanted && (o->pid.n || o->tid.n || o->sandbox.n))
		printf("then       hlguest inject OTHER.elf %s -o NEW.data  (guests that "
		       "are "
		       "not selected)\n",
		       out);
	for (size_t i = 0, k; i < j->scan.n_guests; i = k) {
		for (k = i; k < j->scan.n_guests && g[k].pid == g[i].pid; k++)
			;
		print_process(j, &g[i], k - i);
	}
	putchar('\n');
	print_count("records", c->guest + c->host + c->traced + c->other, "");
	print_count("  guest samples", c->guest, "");
	print_count("    rewritten", c->rewritten, "as samples of guest processes");
	print_count("    dropped", c->dropped, "");
	print_count("    kept as guest's", c->kept,
		    c->kept ? "perf needs their counter values" : "");
	if (j->choice.options)
		print_count("    not selected", c->unwanted, "as they are");
	print_count("  host samples", c->host, "as they are");
	if (c->traced)
		print_count("  tracepoint hits", c->traced, "as they are");
	print_count("  other", c->other - c->rounds, "as they are");
	print_count("  left out", c->rounds, c->rounds ? "marks between files" : "");
	print_count("added", c->added, "for guest processes");
	for (size_t i = 0; i < j->lacks.n; i++)
		hlg_output_line(stdout, j->lacks.line[i]);
}

static void finish(struct injection *j)
{
	hlg_files_finish(&j->files);
	hlg_scan_finish(&j->scan);
	hlg_choice_finish(&j->choice);
	hlg_mappings_finish(&j->mappings);
	for (size_t i = 0; j->units && i < j->run.space.n_images; i++)
		hlg_companion_units_finish(&j->units[i]);
	free(j->units);
	hlg_note_list_finish(&j->lacks);
	hlg_report_finish(&j->report);
	hlg_run_finish(&j->run);
}

/* What cannot be told is not done: files appear once the sums are out. */
static int tell_and_commit(struct injection *j, struct hlg_err *err)
{
	int rc;

	print_sums(j);
	if (!hlg_output_flush())
		return 0; /* whoever has the last word says why */
	rc = hlg_signals_check(err);
	return rc < 0 ? rc : hlg_files_commit(&j->files, err);
}

static int inject_into(struct injection *j, const struct hlg_inputs *in, int *status,
		       struct hlg_err *err)
{
	int rc = judge(j, in, status, err);

	if (rc == 0 && *status == 0)
		rc = find_mappings(j, err);
	if (rc == 0 && *status == 0)
		rc = write_files(j, err);
	if (rc == 0 && *status == 0)
		rc = tell_and_commit(j, err);
	finish(j);
	hlg_signals_end();
	return rc;
}

/* kept: the recording can be read again. Returns the exit status. */
static int inject(const struct hlg_inputs *in, const struct arguments *args, bool kept)
{
	struct injection *j = calloc(1, sizeof(*j)); /* too large for some stacks */
	struct hlg_err err, why;
	bool overlaps, by_sandbox;
	int status = 0, rc;

	if (!j) {
		hlg_err_memory(&err, in->files[0]);
		return hlg_output_error(&err);
	}
	j->out = args->out;
	j->in = in->files[0];
	j->direct = args->direct;
	rc = inject_into(j, in, &status, &err);
	overlaps = j->overlaps;
	free(j);
	/* No step works where nobody can be told. */
	if (rc < 0 && overlaps && hlg_steps_check(in, &by_sandbox, &why) < 0) {
		err = why;
		overlaps = false;
		status = 0;
	}
	if (rc < 0 && status == HLG_BANNER_STATUS) /* samples that do not fit */
		hlg_output_error(&err);
	else if (rc < 0)
		status = hlg_output_error(&err);
	if (rc < 0 && overlaps && kept)
		hlg_steps_tell(in, args->out, args->direct, by_sandbox);
	return hlg_output_end(status);
}

/* One recording; one that can be read only once is kept first. */
static int inject_one(struct arguments *args)
{
	struct hlg_inputs *in = &args->inputs;
	char *again = NULL, *name = NULL;
	struct hlg_err err;
	int fd = -1, status, rc;

	if (in->n_files != 1) {
		hlg_err_set(&err, HLG_EWORDS,
			    "%s: one recording at a time (%zu are given)", "inject",
			    in->n_files);
		return hlg_output_error(&err);
	}
	rc = hlg_inputs_check_out(in, args->out, &err);
	if (rc == 0)
		rc = hlg_files_check(args->out, &err);
	if (rc == 0)
		rc = hlg_files_spool(in->files[0], &again, &fd, &err);
	if (rc < 0)
		return hlg_output_error(&err);
	if (again) {
		name = in->files[0];
		in->files[0] = again;
		hlg_output_call(again, strcmp(name, "-") ? name : "standard input");
	}
	status = inject(in, args, !again);
	hlg_output_call(NULL, NULL);
	free(name);
	if (fd >= 0)
		close(fd);
	return status;
}

static int check(void *arguments, struct hlg_err *err)
{
	const struct arguments *args = arguments;

	if (args->out)
		return 0;
	return hlg_err_set(err, HLG_EINPUT,
			   "no output file (use -o FILE: where the new recording goes)");
}

static int run(const struct hlg_verb *verb, int argc, char **argv)
{
	struct arguments args = {0};
	int status;

	if (hlg_inputs_parse(&args.inputs, verb, argc, argv, &status))
		status = inject_one(&args);
	hlg_inputs_finish(&args.inputs);
	return status;
}

static const struct hlg_verb_option options[] = {
	HLG_VERB_OUTPUT_OR(NULL, struct arguments, out,
			   "where the new recording goes; written atomically"),
	{.name = "direct",
	 .help = "map guest.elf itself; perf may name some samples wrongly",
	 .kind = HLG_VERB_FLAG,
	 .field = offsetof(struct arguments, direct)},
	{0},
};

const struct hlg_verb hlg_verb_inject = {
	.name = "inject",
	.args = "guest.elf[@BASE] FILE -o OUT",
	.help = "a recording that perf can show",
	.group = HLG_VERB_CONVERTS,
	.usage = "guest.elf[@BASE]... FILE -o OUT",
	.doc = "Copies a recording so that perf report, annotate, script and diff, "
	       "hotspot and samply show the guest: its samples become those of a "
	       "process that maps guest.elf.\v"
	       "All else is copied as it is. Where perf would name samples wrongly, it "
	       "reads a copy of the ELF with other symbols instead: it is in OUT.elf, a "
	       "folder to keep beside OUT.",
	.examples = "hlguest inject guest.elf perf.data.guest -o perf.data\tthen: perf "
		    "report, perf annotate, hotspot, samply\n"
		    "hlguest inject --direct guest.elf perf.data.guest -o "
		    "perf.data\tperf reads guest.elf itself\n"
		    "hlguest inject guest.elf@0x4000 perf.data.guest -o perf.data\tat a "
		    "base that is known",
	.files = "elf recording",
	.shared = "input quiet demangle force gaps pid sandbox strict-base tid time",
	.options = options,
	.check = check,
	.run = run,
};
