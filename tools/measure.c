// SPDX-License-Identifier: GPL-2.0-only
#include "tools/measure.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "symtab/image/image.h"
#include "symtab/shell.h"
#include "tools/beside/beside.h"
#include "tools/cli/argp-run.h"
#include "tools/cli/output.h"
#include "tools/feed/feed.h"
#include "tools/inputs/images.h"
#include "tools/inputs/inputs.h"
#include "tools/perfdata/count.h"
#include "tools/record/command.h"
#include "tools/record/keep.h"
#include "tools/record/tell.h"
#include "tools/record/tracing.h"

#define RATE "997" /* samples a second, as record has it by default */

enum {
	FEW = 100 /* samples: shares are uncertain by some 10 % then */
};

static char recording[] = HLG_INPUTS_DEFAULT;

static bool is_guest(const char *word)
{
	return word[0] != '-' && hlg_images_file_kind(word) == HLG_FILE_KIND_IMAGE;
}

/* A guest's name, from its looks, that is no file. */
static bool is_lost_elf(const char *word)
{
	size_t n = strlen(word);

	return word[0] != '-' && n > 4 && strcmp(word + n - 4, ".elf") == 0 &&
	       access(word, F_OK) != 0;
}

bool hlg_measure_is(int argc, char *const *argv)
{
	const char *first = argc > 1 ? argv[1] : "";

	return hlg_argp_run_dashes(argc, argv) < argc &&
	       (first[0] == '-' || is_guest(first) || is_lost_elf(first));
}

/* The first of the words up to end, or to NULL; NULL: there is none. */
static const char *find_lost(char *const *words, char *const *end)
{
	for (; words != end && *words; words++)
		if (is_lost_elf(*words))
			return *words;
	return NULL;
}

/* What the command tells to report: its guests, and a module that it runs, or NULL. */
struct found {
	const char *guests[HLG_BESIDE_GUESTS];
	size_t n;
	const char *module;
};

/* The guests' ELFs: those in front of --, which argv has already, or of the command. */
static int find_guests(int dashes, char **argv, struct found *found, struct hlg_err *err)
{
	char **command = argv + dashes + 1, word[PATH_MAX];
	const char *lost;

	found->n = 0;
	found->module = NULL;
	if (!command[0])
		return hlg_err_set(err, HLG_EWORDS,
				   "--: no command follows (use hlguest -- ./vmm "
				   "guest.elf)");
	for (int i = 1; i < dashes; i++)
		if (is_guest(argv[i]))
			return 0;
	lost = find_lost(argv + 1, argv + dashes);
	if (!lost) {
		found->n = hlg_record_command_guests(command, found->guests,
						     HLG_BESIDE_GUESTS);
		found->module = hlg_record_command_module(command);
	}
	if (found->n || found->module)
		return 0;
	if (!lost)
		lost = find_lost(command + 1, NULL);
	if (lost)
		return hlg_err_set(err, HLG_EINPUT,
				   "%s: no such file (is it the guest's ELF?)", lost);
	if (hlg_record_command_others(command, found->guests, 1))
		return hlg_err_set(err, HLG_EINPUT,
				   "%s: has no symbols (name the file that it was "
				   "stripped from: hlguest UNSTRIPPED.elf -- %s ...)",
				   found->guests[0],
				   hlg_shell_put(word, sizeof(word), command[0]));
	return hlg_err_set(err, HLG_EWORDS,
			   "%s: " HLG_RECORD_COMMAND_LACKS
			   " (name each that runs: hlguest guest.elf -- %s ...)",
			   command[0], hlg_shell_put(word, sizeof(word), command[0]));
}

static bool is_option(const char *word, const char *option)
{
	size_t n = strlen(option);

	return strncmp(word, option, n) == 0 && (word[n] == '\0' || word[n] == '=');
}

/* How many words are an option of record, which is taken in front of --, too, and its
 * value; 0: it is none. */
static int n_of_record(char *const *words)
{
	if (is_option(words[0], "--guest-stacks"))
		return 1;
	if (is_option(words[0], "--stack-size"))
		return strchr(words[0], '=') || !words[1] || strcmp(words[1], "--") == 0
			       ? 1
			       : 2;
	return 0;
}

static bool is_value_of_g(const char *word)
{
	return strcmp(word, "caller") == 0 || strcmp(word, "callee") == 0 ||
	       strcmp(word, "none") == 0;
}

/* Is it -g alone, as record has it? */
static bool is_bare_g(char *const *words)
{
	return strcmp(words[0], "-g") == 0 && !is_value_of_g(words[1]);
}

/* Is it -g or --call-graph, and not of no callers? next may be the value. */
static bool is_graph(const char *word, const char *next)
{
	const char *value;

	if (strncmp(word, "-g", 2) == 0)
		value = word + 2;
	else if (is_option(word, "--call-graph"))
		value = word + strlen("--call-graph");
	else
		return false;
	value += *value == '=';
	return strcmp(*value ? value : next, "none") != 0;
}

/* Are callers to be shown? */
static bool shows_callers(int dashes, char *const *argv)
{
	for (int i = 1; i < dashes; i++)
		if (is_graph(argv[i], argv[i + 1]) ||
		    strcmp(argv[i], "--children") == 0 ||
		    strcmp(argv[i], "--children=yes") == 0)
			return true;
	return false;
}

/* Are callers to be recorded? */
static bool records_callers(int dashes, char *const *argv)
{
	for (int i = 1; i < dashes; i++)
		if (is_option(argv[i], "--guest-stacks"))
			return true;
	return false;
}

/* Report's words, the last is NULL: those in front of --, the recording, what was found.
 * To be freed. */
static char **report_words(int dashes, char **argv, const struct found *found, int *n)
{
	char **words = calloc((size_t)dashes + found->n + 6, sizeof(*words));

	if (!words)
		return NULL;
	*n = 0;
	words[(*n)++] = argv[0];
	for (int i = 1, own; i < dashes; i += own ? own : 1) {
		own = n_of_record(argv + i);
		if (is_bare_g(argv + i))
			words[(*n)++] = (char *)"--children";
		else if (!own)
			words[(*n)++] = argv[i];
	}
	if (records_callers(dashes, argv) && !shows_callers(dashes, argv))
		words[(*n)++] = (char *)"--children";
	words[(*n)++] = (char *)"-i";
	words[(*n)++] = recording;
	if (found->n || found->module)
		words[(*n)++] = (char *)"--";
	for (size_t i = 0; i < found->n; i++)
		words[(*n)++] = (char *)found->guests[i];
	if (found->module)
		words[(*n)++] = (char *)found->module;
	return words;
}

/* Is the recording to be made the only one? Else *status is that of the command. */
static bool check_files(const struct hlg_inputs *in, int *status)
{
	struct hlg_err err;

	for (size_t i = 0; i < in->n_files; i++)
		if (strcmp(in->files[i], recording) != 0) {
			hlg_err_set(&err, HLG_EWORDS,
				    "%s: is a recording, and one is made here (use "
				    "hlguest report for those there are)",
				    in->files[i]);
			*status = hlg_output_error(&err);
			return false;
		}
	return true;
}

/* Does report take these words? Else *status is that of the command. argp moves them. */
static bool check_words(const struct hlg_verb *report, int n, char *const *words,
			bool *quiet, int *status)
{
	struct hlg_inputs *in = calloc(1, report->size);
	char **copy = calloc((size_t)n + 1, sizeof(*copy)), name[] = "hlguest";
	struct hlg_err err;
	bool go_on = false;

	if (in && copy) {
		memcpy(copy, words, (size_t)n * sizeof(*copy));
		copy[0] = name;
		go_on = hlg_inputs_parse(in, report, n, copy, status) &&
			check_files(in, status);
		*quiet = in->quiet;
		hlg_inputs_finish(in);
	} else {
		hlg_err_memory(&err, "arguments");
		*status = hlg_output_error(&err);
	}
	free(copy);
	free(in);
	return go_on;
}

/* Are there several guests in front of --, of which record does not know? */
static bool names_several(int dashes, char **argv)
{
	size_t n = 0;

	for (int i = 1; i < dashes; i++)
		n += is_guest(argv[i]);
	return n > 1;
}

/* record -q -o FILE -F RATE -- COMMAND, with its options that stand in front of --.
 * Returns its exit status; *good: there is what to report. */
static int record(const struct hlg_measure *measure, int dashes, char **argv, bool quiet,
		  bool *good)
{
	const struct hlg_record_keep keep = {.path = recording};
	const struct hlg_record_tracing how = {
		.sandboxes = true, .event = "cpu-clock", .frequency = RATE, .root = ""};
	struct hlg_err err;
	size_t n = 0, first = 6;
	char **command = argv + dashes + 1, **words;
	int status;

	*good = false;
	while (command[n])
		n++;
	words = calloc(n + (size_t)dashes + 10, sizeof(*words));
	if (!words) {
		hlg_err_memory(&err, "arguments");
		return hlg_output_error(&err);
	}
	words[1] = (char *)"-q";
	words[2] = (char *)"-o";
	words[3] = recording;
	words[4] = (char *)"-F";
	words[5] = (char *)RATE;
	for (int i = 1; i < dashes; i++)
		for (int own = n_of_record(argv + i); own; own--)
			words[first++] = argv[own > 1 ? i++ : i];
	if (shows_callers(dashes, argv) && !records_callers(dashes, argv))
		words[first++] = (char *)"--guest-stacks";
	if (names_several(dashes, argv) && hlg_record_tracing_check(&how, &err) == 0)
		words[first++] = (char *)"--sandboxes";
	words[first++] = (char *)"--";
	memcpy(words + first, command, n * sizeof(*words));
	status = measure->run(measure->record, (int)(first + n), words);
	*good = hlg_record_keep_is_ours(recording) &&
		hlg_perfdata_count_is_good(recording);
	if (hlg_record_keep_is_ours(recording) && !quiet) /* record's -q is ours */
		hlg_record_tell_old(&keep);
	free(words);
	return status;
}

/* The images that are named in front of --. */
static int parse_named(struct hlg_options *options, int dashes, char **argv,
		       struct hlg_err *err)
{
	char **named = calloc((size_t)dashes + 1, sizeof(*named));
	size_t n = 0;
	int rc;

	if (!named)
		return hlg_err_memory(err, "arguments");
	for (int i = 1; i < dashes; i++)
		if (is_guest(argv[i]))
			named[n++] = argv[i];
	rc = hlg_images_parse(options, named, n, err);
	free(named);
	return rc;
}

/* Can the ELFs that are named be reported with? A perf map comes as the guest runs. */
static int check_named(int dashes, char **argv, struct hlg_err *err)
{
	struct hlg_options options = {0};
	int rc = parse_named(&options, dashes, argv, err);

	for (size_t i = 0; rc == 0 && i < options.n_images; i++) {
		const struct hlg_image_arg *arg = &options.images[i];
		struct hlg_image *image = NULL;

		if (!arg->map)
			rc = hlg_image_open_guest(&image, arg->path, arg->guest, err);
		hlg_image_destroy(image);
	}
	hlg_options_finish(&options);
	return rc;
}

/* Notes the ELFs that were named in front of --, which the command may not tell of. */
static void note_named(int dashes, char **argv)
{
	const char *paths[HLG_BESIDE_GUESTS];
	struct hlg_options options = {0};
	struct hlg_err err;
	size_t n = 0;
	int rc = parse_named(&options, dashes, argv, &err);

	for (size_t i = 0; rc == 0 && i < options.n_images; i++)
		if (!options.images[i].map && n < HLG_BESIDE_GUESTS)
			paths[n++] = options.images[i].path;
	if (rc == 0 && n)
		rc = hlg_beside_write(recording, paths, n, NULL, 0, &err);
	if (rc < 0)
		hlg_output_error(&err);
	hlg_options_finish(&options);
}

/* Says how long the guest ran if that was too short for many samples, and what to do. */
static void tell_few(const char *command)
{
	struct hlg_recording_sums sums;
	char *line, word[PATH_MAX];
	struct hlg_err err;
	uint64_t n;

	if (hlg_feed_count(recording, &sums, &err) < 0 || sums.guest >= FEW)
		return;
	n = sums.guest;
	if (asprintf(&line,
		     "hlguest: only %" PRIu64 " guest sample%s at " RATE
		     " a second: the guest ran for about %" PRIu64
		     " ms (let it run longer, or sample more often: hlguest record -F "
		     "4999 -- %s ...)",
		     n, n == 1 ? "" : "s", n * 1000 / strtoul(RATE, NULL, 10),
		     hlg_shell_put(word, sizeof(word), command)) < 0)
		return;
	hlg_output_fold(stderr, 0, 0, line);
	free(line);
}

int hlg_measure_run(const struct hlg_measure *measure, int argc, char **argv)
{
	int dashes = hlg_argp_run_dashes(argc, argv), status, n;
	char **command = argv + dashes + 1, **words;
	struct found found;
	struct hlg_err err;
	bool good, quiet;

	status = command[0] ? hlg_record_command_check(command[0], &err) : 0;
	if (status != 0) {
		hlg_output_error(&err);
		return status;
	}
	if (find_guests(dashes, argv, &found, &err) < 0 ||
	    check_named(dashes, argv, &err) < 0)
		return hlg_output_error(&err);
	words = report_words(dashes, argv, &found, &n);
	if (!words) {
		hlg_err_memory(&err, "arguments");
		return hlg_output_error(&err);
	}
	if (check_words(measure->report, n, words, &quiet, &status)) {
		status = record(measure, dashes, argv, quiet, &good);
		if (good)
			note_named(dashes, argv);
		if (!good && status == 0)
			status = 1;
		if (good && !quiet)
			hlg_output_fold(stderr, 0, 0,
					"hlguest: " HLG_INPUTS_DEFAULT
					": the recording, kept for "
					"hlguest report, annotate, flame");
		if (good) {
			int reported = measure->run(measure->report, n, words);

			status = status ? status : reported;
			if (!quiet)
				tell_few(command[0]);
		}
	}
	free(words);
	return status;
}
