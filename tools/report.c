// SPDX-License-Identifier: GPL-2.0-only
/*
 * hlguest report: what hlguest.so does under perf script, straight from perf.data, over
 * any number of files. The options are those of the filter's table; argp's are made from
 * it, and the words they are turned back into go through the same parser.
 */
#include <argp.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../filter/run.h"
#include "argument.h"
#include "batch.h"
#include "output.h"
#include "pprof/pprof.h"
#include "verb.h"

#define DEFAULT_FILE "perf.data.guest" /* what record writes */

enum {
	KEY_OPTION = 0x100 /* + place in the table */
};

struct arguments {
	char **words; /* for hlg_run_start: --key=value and images */
	int n_words;
	unsigned n_images;
	char **files; /* recordings */
	size_t n_files;
	char **others; /* arguments, until all of them are known; not owned, but the list
			*/
	size_t n_others;
	unsigned threads;
	bool quiet;
	unsigned formats; /* how often format= is given */
	bool pprof;       /* it is pprof, which the filter's table does not know */
};

static char **append(char **list, size_t n, char *word)
{
	char **more = word ? reallocarray(list, n + 2, sizeof(*list)) : NULL;

	if (!more) {
		fputs("hlguest: arguments: out of memory\n", stderr);
		exit(1);
	}
	more[n] = word;
	more[n + 1] = NULL;
	return more;
}

static void add_word(struct arguments *args, char *word)
{
	args->words = append(args->words, (size_t)args->n_words, word);
	args->n_words++;
}

static void add_file(struct arguments *args, const char *path)
{
	args->files = append(args->files, args->n_files++, strdup(path));
}

static void set_threads(struct arguments *args, const char *value,
			struct argp_state *state)
{
	uint64_t n;

	if (!hlg_number_u64(value, &n) || n < 1 || n > 256)
		argp_error(state, "-j %s: not a number of threads (1 to 256)", value);
	args->threads = (unsigned)n;
}

static void set_option(struct arguments *args, int i, const char *value)
{
	char *word;

	if (strcmp(hlg_option_table[i].name, "format") == 0) {
		args->formats++;
		args->pprof |= strcmp(value, "pprof") == 0;
		if (strcmp(value, "pprof") == 0 && args->formats == 1)
			return;
	}
	if (asprintf(&word, "--%s=%s", hlg_option_table[i].name, value) < 0)
		word = NULL;
	add_word(args, word);
}

static void add_image(struct arguments *args, const char *path)
{
	add_word(args, strdup(path));
	args->n_images++;
}

/*
 * Images and recordings in any order. What is neither is a recording that cannot be read
 * if there is an image, else the first of these is an image that cannot.
 */
static void sort_others(struct arguments *args)
{
	for (size_t i = 0; i < args->n_others; i++)
		if (hlg_argument_kind(args->others[i]) == HLG_ARGUMENT_IMAGE)
			add_image(args, args->others[i]);
	for (size_t i = 0; i < args->n_others; i++) {
		enum hlg_argument kind = hlg_argument_kind(args->others[i]);

		if (kind == HLG_ARGUMENT_OTHER && args->n_images == 0)
			add_image(args, args->others[i]);
		else if (kind != HLG_ARGUMENT_IMAGE)
			add_file(args, args->others[i]);
	}
}

/* Without an image: was one of the recordings meant to be it? */
static int no_image(const struct arguments *args, struct hlg_err *err)
{
	for (size_t i = 0; i < args->n_others; i++)
		if (hlg_argument_kind(args->others[i]) == HLG_ARGUMENT_FOLDER)
			return hlg_err_set(err, HLG_EINPUT,
					   "%s: is a directory that holds no recording, "
					   "and no guest ELF is given (name files)",
					   args->others[i]);
	return hlg_err_set(err, HLG_EINPUT,
			   "report: no guest ELF is given (name it: guest.elf; hlguest "
			   "help report tells more)");
}

/* The same without a recording, where there is none by default. */
static int no_recording(const struct arguments *args, struct hlg_err *err)
{
	for (size_t i = 0; i < args->n_others; i++)
		if (hlg_argument_kind(args->others[i]) == HLG_ARGUMENT_OTHER)
			return hlg_err_set(err, HLG_EINPUT,
					   "%s: is no recording and no ELF, or cannot be "
					   "read (name both: guest.elf perf.data)",
					   args->others[i]);
	return hlg_err_set(err, HLG_EINPUT,
			   "report: no recording is given, and there is no " DEFAULT_FILE
			   " (name one, or make one: hlguest record -- VMM)");
}

static error_t parse(int key, char *value, struct argp_state *state)
{
	struct arguments *args = state->input;

	if (key >= KEY_OPTION && key < KEY_OPTION + (int)hlg_n_options) {
		set_option(args, key - KEY_OPTION, value);
		return 0;
	}
	switch (key) {
	case 'i':
		add_file(args, value);
		return 0;
	case 'q':
		args->quiet = true;
		return 0;
	case 'j':
		set_threads(args, value, state);
		return 0;
	case ARGP_KEY_ARG:
		args->others = append(args->others, args->n_others++, value);
		return 0;
	case ARGP_KEY_SUCCESS:
		sort_others(args);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* The table's options as argp has them, and our own. emit= is perf's business. */
static struct argp_option *make_options(void)
{
	struct argp_option *options = calloc(hlg_n_options + 4, sizeof(*options));
	size_t n = 0;

	if (!options)
		return NULL;
	options[n++] = (struct argp_option){
		"input", 'i', "FILE", 0, "a recording; - is standard input", 0};
	options[n++] = (struct argp_option){"jobs", 'j', "N", 0, "threads (1)", 0};
	options[n++] = (struct argp_option){
		"quiet", 'q', NULL, 0, "no progress on the terminal", 0};
	for (size_t i = 0; i < hlg_n_options; i++)
		if (strcmp(hlg_option_table[i].name, "emit") != 0)
			options[n++] = (struct argp_option){
				hlg_option_table[i].name,
				KEY_OPTION + (int)i,
				strcmp(hlg_option_table[i].name, "format") == 0
					? "text|csv|json|folded|pprof"
					: hlg_option_table[i].value,
				0,
				hlg_option_table[i].help,
				1};
	return options;
}

static void free_list(char **list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(list[i]);
	free(list);
}

static int compare_files(const void *a, const void *b)
{
	return strcmp(((const struct hlg_report_file *)a)->path,
		      ((const struct hlg_report_file *)b)->path);
}

/* The table of files, by name: the order they were given in must not show. */
static struct hlg_report_file *list_files(const struct hlg_batch *batch)
{
	struct hlg_report_file *files = calloc(batch->n_paths + 1, sizeof(*files));

	for (size_t i = 0; files && i < batch->n_paths; i++) {
		const struct hlg_batch_file *file = &batch->files[i];

		files[i] = (struct hlg_report_file){
			batch->paths[i], file->rc < 0 ? file->err->msg : NULL,
			file->sums.samples, file->sums.guest, file->sums.lost};
	}
	if (files)
		qsort(files, batch->n_paths, sizeof(*files), compare_files);
	return files;
}

/* What a filter cannot see. */
static void note_sums(struct hlg_run *run, const struct hlg_feed_sums *sums)
{
	if (sums->lost)
		hlg_run_note(run,
			     "%" PRIu64
			     " events were lost while recording (a larger -m, or "
			     "a lower -F, loses less)",
			     sums->lost);
	if (sums->throttled)
		hlg_run_note(run,
			     "the kernel throttled sampling %" PRIu64
			     " times: busy periods "
			     "have too few samples",
			     sums->throttled);
	if (sums->skipped)
		hlg_run_note(run,
			     "%" PRIu64
			     " samples or frames of the recording make no sense "
			     "and were skipped",
			     sums->skipped);
	if (sums->left)
		hlg_run_note(run,
			     "the recording was cut off: its last %" PRIu64
			     " bytes hold no "
			     "whole record",
			     sums->left);
}

static int write_report(struct hlg_run *run, const struct hlg_batch *batch,
			struct hlg_err *err)
{
	struct hlg_report_file *files = list_files(batch);
	int rc;

	if (!files)
		return hlg_err_memory(err, "files");
	run->files = files;
	run->n_files = batch->n_paths;
	note_sums(run, &batch->sums);
	rc = hlg_run_report(run, stdout, err);
	free(files);
	return rc;
}

/* A saved profile keeps host rows, whatever mode= says: it may be read with another. */
static int start_pprof(const struct arguments *args, struct hlg_run *run,
		       struct hlg_err *err)
{
	if (args->formats > 1)
		return hlg_err_set(
			err, HLG_EINPUT,
			"--format=pprof: format is given twice (give it once)");
	if (!run->options.out && isatty(STDOUT_FILENO))
		return hlg_err_set(err, HLG_EINPUT,
				   "--format=pprof: is nothing for a terminal (say "
				   "--out=x.pb.gz)");
	run->options.mode = HLG_SHOW_ALL;
	return hlg_pprof_check(err);
}

/* Reads the files and writes the report. Returns the exit status. */
static int profile(const struct arguments *args)
{
	struct hlg_batch batch = {.paths = args->files,
				  .n_paths = args->n_files,
				  .threads = args->threads,
				  .quiet = args->quiet};
	struct hlg_run run;
	struct hlg_err err;
	int rc = hlg_run_start(&run, args->n_words, args->words, &err), status = 0;

	if (rc == 0 && args->pprof)
		rc = start_pprof(args, &run, &err);
	if (rc == 0)
		rc = hlg_batch_read(&batch, &run, &err);
	for (size_t i = 0; i < batch.n_paths && batch.files; i++)
		if (batch.files[i].rc < 0)
			status = hlg_output_error(batch.files[i].err);
	if (rc == 0 && batch.n_read == 0)
		status = 1;
	else if (rc == 0)
		rc = args->pprof ? hlg_pprof_report(&run, &batch.sums, stdout, &err)
				 : write_report(&run, &batch, &err);
	if (rc < 0)
		status = hlg_output_error(&err);
	hlg_batch_finish(&batch);
	hlg_run_finish(&run);
	return status;
}

/* Words that make no sense are told before any file is opened; 2 is their status. */
static int check_words(struct arguments *args)
{
	struct hlg_options options;
	struct hlg_err err;
	int rc = hlg_options_parse(&options, args->n_words, args->words, &err);

	/* "--out FILE.data" is easily written for "--out=x FILE.data". */
	if (rc == 0 && options.out && hlg_argument_is_precious(options.out))
		rc = hlg_err_set(&err, HLG_EINPUT,
				 "--out=%s: is a recording or an ELF (name another, or "
				 "remove it)",
				 options.out);
	hlg_options_finish(&options);
	if (rc == 0 && args->n_images == 0)
		rc = no_image(args, &err);
	if (rc == 0 && args->n_files == 0 && access(DEFAULT_FILE, F_OK) != 0)
		rc = no_recording(args, &err);
	if (rc < 0)
		hlg_output_error(&err);
	return rc;
}

int hlg_verb_report(int argc, char **argv)
{
	struct arguments args = {.threads = 1};
	struct argp_option *options = make_options();
	struct argp argp = {
		options,
		parse,
		"guest.elf[@BASE]... FILE...",
		"Profiles recordings of guests: every sample once, by function, "
		"gap and region of the guest's own ELF.\v"
		"An argument that is a recording (or -, or a folder) is read; any "
		"other names an image: FILE[@BASE] or map:FILE[@BASE].",
		NULL,
		NULL,
		NULL};
	int status;

	if (!options)
		return 1;
	argp_parse(&argp, argc, argv, 0, NULL, &args);
	free(options);
	status = check_words(&args) < 0 ? 2 : 0;
	if (args.n_files == 0)
		add_file(&args, DEFAULT_FILE);
	if (status == 0)
		status = profile(&args);
	free_list(args.words, (size_t)args.n_words);
	free_list(args.files, args.n_files);
	free(args.others);
	return status;
}
