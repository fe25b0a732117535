// SPDX-License-Identifier: GPL-2.0-only
#include "tools/inputs/inputs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "filter/output/target.h"
#include "tools/cli/argp-run.h"
#include "tools/cli/output.h"
#include "tools/inputs/file-kind.h"
#include "tools/inputs/input-words.h"

#define DEFAULT_FILE "perf.data.guest" /* what record writes */

enum {
	KEY_OPTION = 0x100, /* + place in the table */
	KEY_AFTER = 0x1000,
};

static void set_threads(struct hlg_inputs *in, const char *value,
			struct argp_state *state)
{
	uint64_t n;

	if (!hlg_number_u64(value, &n) || n < 1 || n > 256)
		argp_error(state, "-j %s: not a number of threads (1 to 256)", value);
	in->threads = (unsigned)n;
}

static const char *format_words(const struct hlg_inputs *in)
{
	return in->format_words ? in->format_words
				: "text|csv|json|folded|pprof|callgrind|speedscope";
}

/* Is word one of words, "a|b|c"? */
static bool is_one_of(const char *words, const char *word)
{
	size_t n = strlen(word);

	for (; words; words = strchr(words, '|') ? strchr(words, '|') + 1 : NULL)
		if (n && strcspn(words, "|") == n && strncmp(words, word, n) == 0)
			return true;
	return false;
}

/* True if it is nothing for the filter. */
static bool set_format(struct hlg_inputs *in, const struct hlg_option *option,
		       const char *value, struct argp_state *state)
{
	in->formats++;
	if (is_one_of(option->value, value)) {
		if (!is_one_of(format_words(in), value))
			argp_error(state, "--format=%s: not here (one of %s)", value,
				   format_words(in));
		return false;
	}
	if (!is_one_of(format_words(in), value))
		argp_error(state, "--format=%s: unknown value (one of %s)", value,
			   format_words(in));
	in->format = value;
	return in->formats == 1;
}

static void set_option(struct hlg_inputs *in, int i, const char *value,
		       struct argp_state *state)
{
	char *word;

	if (strcmp(hlg_option_table[i].name, "format") == 0 &&
	    set_format(in, &hlg_option_table[i], value, state))
		return;
	if (asprintf(&word, "--%s=%s", hlg_option_table[i].name, value ? value : "yes") <
	    0)
		word = NULL;
	hlg_inputs_add_word(in, word);
	if (in->after)
		hlg_inputs_add_word(in->after, strdup(word));
}

/* -o, which is --out. */
static void set_out(struct hlg_inputs *in, const char *value, struct argp_state *state)
{
	for (size_t i = 0; i < hlg_n_options; i++)
		if (strcmp(hlg_option_table[i].name, "out") == 0)
			set_option(in, (int)i, value, state);
}

/* The first argument of a kind, or NULL. */
static const char *find_other(const struct hlg_inputs *in, enum hlg_file_kind kind)
{
	for (size_t i = 0; i < in->n_others; i++)
		if (in->others[i].kind == kind)
			return in->others[i].word;
	return NULL;
}

/* Without an image: was one of the recordings meant to be it? */
static int no_image(const struct hlg_inputs *in, const char *verb, struct hlg_err *err)
{
	const char *folder = find_other(in, HLG_FILE_KIND_FOLDER);

	if (folder)
		return hlg_err_set(err, HLG_EINPUT,
				   "%s: is a directory that holds no recording, and no "
				   "guest ELF is given (name files)",
				   folder);
	return hlg_err_set(err, HLG_EINPUT,
			   "%s: no guest ELF is given (name it: guest.elf; hlguest help "
			   "%s tells more)",
			   verb, verb);
}

/* The same without a recording, where there is none by default. */
static int no_recording(const struct hlg_inputs *in, const char *verb,
			struct hlg_err *err)
{
	const char *other = find_other(in, HLG_FILE_KIND_OTHER);

	if (other && !in->take_word)
		return hlg_err_set(err, HLG_EINPUT,
				   "%s: is no recording and no ELF, or cannot be read "
				   "(name both: guest.elf perf.data)",
				   other);
	return hlg_err_set(err, HLG_EINPUT,
			   "%s: no recording is given, and there is no " DEFAULT_FILE
			   " (name one, or make one: hlguest record -- VMM)",
			   verb);
}

static error_t parse(int key, char *value, struct argp_state *state)
{
	struct hlg_inputs *in = state->input, *side = in->behind ? in->after : in;

	if (key >= KEY_OPTION && key < KEY_OPTION + (int)hlg_n_options) {
		set_option(in, key - KEY_OPTION, value, state);
		return 0;
	}
	switch (key) {
	case ARGP_KEY_INIT:
		if (in->own)
			state->child_inputs[0] = in->own_input;
		return 0;
	case 'i':
		/* Which of two recordings is the first one counts. */
		if (in->after)
			hlg_inputs_add_other(side, value, HLG_FILE_KIND_RECORDING);
		else
			hlg_inputs_add_file(in, value);
		return 0;
	case KEY_AFTER:
		if (in->behind)
			argp_error(state, "--after: is given twice (give it once)");
		in->behind = true;
		return 0;
	case 'q':
		in->quiet = true;
		return 0;
	case 'o':
		set_out(in, value, state);
		return 0;
	case 'j':
		set_threads(in, value, state);
		return 0;
	case ARGP_KEY_ARG:
		hlg_inputs_add_other(side, value, hlg_file_kind_guess(value));
		return 0;
	case ARGP_KEY_SUCCESS:
		hlg_inputs_sort(in);
		if (in->after)
			hlg_inputs_part(in, state);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const char *shown_value(const struct hlg_inputs *in,
			       const struct hlg_option *option)
{
	if (strcmp(option->name, "format") == 0)
		return format_words(in);
	if (strcmp(option->name, "by") == 0 && in->by_words)
		return in->by_words;
	return option->value;
}

/* The table's options as argp has them, and our own. Alone, what is yes or no is yes. */
static struct argp_option *make_options(const struct hlg_inputs *in)
{
	struct argp_option *options = calloc(hlg_n_options + 5, sizeof(*options));
	const char *threads = in->threads == 2 ? "threads (2)" : "threads (1)";
	size_t n = 0;

	if (!options)
		return NULL;
	options[n++] = (struct argp_option){
		"input", 'i', "FILE", 0, "a recording; - is standard input", 0};
	if (!in->one_thread)
		options[n++] = (struct argp_option){"jobs", 'j', "N", 0, threads, 0};
	options[n++] = (struct argp_option){
		"quiet", 'q', NULL, 0, "no progress on the terminal", 0};
	if (in->after)
		options[n++] = (struct argp_option){
			"after",
			KEY_AFTER,
			NULL,
			0,
			"what follows is of the side after: its build, if it is another, "
			"and its recordings",
			0};
	for (size_t i = 0; i < hlg_n_options; i++) {
		if (!in->takes(hlg_option_table[i].name))
			continue;
		options[n++] = (struct argp_option){
			hlg_option_table[i].name,
			KEY_OPTION + (int)i,
			shown_value(in, &hlg_option_table[i]),
			strcmp(hlg_option_table[i].value, "no|yes") == 0
				? OPTION_ARG_OPTIONAL
				: 0,
			hlg_option_table[i].help,
			1};
		if (in->short_out && strcmp(hlg_option_table[i].name, "out") == 0)
			options[n++] = (struct argp_option){NULL,         'o',  NULL,
							    OPTION_ALIAS, NULL, 1};
	}
	return options;
}

static void free_list(char **list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(list[i]);
	free(list);
}

/* Of recordings and images of one side. */
static int check_side(const struct hlg_inputs *in, const char *out, struct hlg_err *err)
{
	struct hlg_options options;
	int rc = hlg_options_parse(&options, in->n_words, in->words, err);

	for (size_t i = 0; rc == 0 && i < options.n_images; i++)
		rc = hlg_target_check_input(out, options.images[i].path, err);
	for (size_t i = 0; rc == 0 && i < in->n_files; i++)
		rc = hlg_target_check_input(out, in->files[i], err);
	hlg_options_finish(&options);
	return rc;
}

int hlg_inputs_check_out(const struct hlg_inputs *in, const char *out,
			 struct hlg_err *err)
{
	const char *path;
	int rc;

	if (hlg_target_is_stream(out))
		return 0;
	rc = check_side(in, out, err);
	if (rc == 0 && in->after)
		rc = check_side(in->after, out, err);
	for (size_t i = 0; rc == 0 && in->reads && (path = in->reads(in->own_input, i));
	     i++)
		rc = hlg_target_check_input(out, path, err);
	return rc;
}

/* Words that make no sense are told before any file is opened. Returns the status. */
static int check_words(const struct hlg_inputs *in, const char *verb)
{
	struct hlg_options options;
	struct hlg_err err;
	bool counts; /* no image is needed */
	int rc = hlg_options_parse(&options, in->n_words, in->words, &err);

	if (rc == 0)
		rc = hlg_inputs_check_out(in, options.out, &err);
	/* "--out FILE.data" is easily written for "--out=x FILE.data". */
	if (rc == 0)
		rc = hlg_target_check_magic(options.out, HLG_MAGIC_NONE, &err);
	counts = options.stacks == HLG_STACKS_COUNTERS;
	hlg_options_finish(&options);
	if (rc == 0 && in->n_images == 0 && !in->no_images && !counts)
		rc = no_image(in, verb, &err);
	if (rc == 0 && in->n_files == 0 && access(DEFAULT_FILE, F_OK) != 0)
		rc = no_recording(in, verb, &err);
	if (rc < 0)
		hlg_output_error(&err);
	return rc == HLG_ESYSTEM ? 1 : rc < 0 ? 2 : 0;
}

/* The verb's name, from "hlguest VERB". */
static const char *verb_of(const char *name)
{
	const char *blank = strchr(name, ' ');

	return blank ? blank + 1 : name;
}

int hlg_inputs_parse(struct hlg_inputs *in, int argc, char **argv, const char *args,
		     const char *doc)
{
	struct argp_option *options = make_options(in);
	const struct argp_child own[] = {{in->own, 0, NULL, 0}, {0}};
	struct argp argp = {options, parse, args, doc, in->own ? own : NULL, NULL, NULL};
	int status;

	if (!in->threads)
		in->threads = 1;
	if (!options)
		hlg_words_no_memory();
	/* Which side an argument is of is told by its place. */
	hlg_words_parse(&argp, argc, argv, in->after ? ARGP_IN_ORDER : 0, in);
	free(options);
	status = check_words(in, verb_of(argv[0]));
	if (status == 0 && in->n_files == 0)
		hlg_inputs_add_file(in, DEFAULT_FILE);
	return status;
}

int hlg_inputs_read(const struct hlg_inputs *in, struct hlg_run *run,
		    struct hlg_batch *batch, int *status, struct hlg_err *err)
{
	int rc;

	batch->paths = in->files;
	batch->n_paths = in->n_files;
	batch->threads = in->threads;
	batch->quiet = in->quiet;
	rc = hlg_batch_read(batch, run, err);
	for (size_t i = 0; i < batch->n_paths && batch->files; i++)
		if (batch->files[i].rc < 0)
			*status = hlg_output_error(batch->files[i].err);
	if (rc == 0 && batch->n_read == 0)
		*status = 1;
	return rc;
}

void hlg_inputs_finish(struct hlg_inputs *in)
{
	free_list(in->words, (size_t)in->n_words);
	free_list(in->files, in->n_files);
	free(in->others);
	if (in->after)
		hlg_inputs_finish(in->after);
}
