// SPDX-License-Identifier: GPL-2.0-only
/*
 * While argp works, stderr is a stream in memory (a variable in glibc, "Standard
 * Streams", which getopt writes to as well). What came there is one message, and in its
 * last line perhaps argp's own hint; whatever else breaks a line is of some word.
 */
#include "tools/cli/argp-run.h"

#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "filter/options/nearest.h"
#include "filter/options/number.h"
#include "filter/options/options.h"
#include "filter/output/memstream.h"
#include "filter/write/format.h"
#include "symtab/escape.h"
#include "tools/cli/help.h"
#include "tools/cli/output.h"

enum {
	KEY_OPTION = 0x100, /* + place in the table, where there is no letter */
	KEY_USAGE = 0x10000,
};

/* What argp is to know of while it works. */
struct work {
	const struct hlg_argp_run *run;
	void *arguments;
	char formats[HLG_FORMAT_WORDS]; /* of the verb */
	bool format_given;
	bool helped;
	struct hlg_err err;
	int rc; /* of what argp does not tell: no memory */
};

static bool is_end(const struct hlg_verb_option *option)
{
	return !option->name && !option->kind;
}

/* word is value, or of several in it the one that is unknown. */
static int unknown_word(const struct hlg_verb_option *option, const char *value,
			const char *word, const char *words, struct hlg_err *err)
{
	char arg[sizeof(err->msg)];

	snprintf(arg, sizeof(arg), "--%s=%s", option->name, value);
	return hlg_options_unknown_value(arg, word, option->kind == HLG_VERB_SOME_OF,
					 words, err);
}

static int set_word(int *field, const struct hlg_verb_option *option, const char *value,
		    struct hlg_err *err)
{
	int i = hlg_options_place(option->value, value, strlen(value));

	if (i < 0)
		return unknown_word(option, value, value, option->value, err);
	*field = i;
	return 0;
}

static int set_bits(unsigned *field, const struct hlg_verb_option *option,
		    const char *value, struct hlg_err *err)
{
	const char *word = value;

	for (*field = 0;; word++) {
		size_t n = strcspn(word, ",");
		int i = hlg_options_place(option->value, word, n);

		if (i < 0 && option->old)
			i = hlg_options_place(option->old, word, n);
		if (i < 0)
			return unknown_word(option, value, word, option->value, err);
		*field |= 1u << i;
		word += n;
		if (*word == '\0')
			return 0;
	}
}

static const struct hlg_format **format_field(void *arguments,
					      const struct hlg_verb_option *option)
{
	return (const struct hlg_format **)((char *)arguments + option->field);
}

static int set_format(struct work *work, const struct hlg_verb_option *option,
		      const char *value)
{
	const struct hlg_format *format =
		hlg_format_find(work->run->verb->formats, value);
	struct hlg_err *err = &work->err;

	if (work->format_given)
		return hlg_err_set(err, HLG_EINPUT,
				   "--format=%s: format is given twice (give it once)",
				   value);
	work->format_given = true;
	*format_field(work->arguments, option) = format;
	if (format)
		return 0;
	if (!hlg_format_find(hlg_format_filter, value))
		return unknown_word(option, value, value, work->formats, err);
	return hlg_err_set(err, HLG_EINPUT,
			   "--format=%s: unknown or not of this verb (use one of %s)",
			   value, work->formats);
}

static int add_text(struct hlg_verb_texts *texts, char *value, struct hlg_err *err)
{
	char **more = reallocarray(texts->text, texts->n + 1, sizeof(*more));

	if (!more)
		return hlg_err_memory(err, "arguments");
	texts->text = more;
	more[texts->n++] = value;
	return 0;
}

/* Does its value name a file of whatever kind (FILES in verb.h)? */
static bool names_file(const struct hlg_verb_option *option)
{
	const char *files = option->name && option->files ? option->files : "=";

	return files[0] != '=' && strcmp(files, "pid") != 0 &&
	       strcmp(files, "command") != 0;
}

int hlg_argp_run_set(void *arguments, const struct hlg_verb_option *option, char *value,
		     struct hlg_err *err)
{
	void *field = (char *)arguments + option->field;

	if (value && !value[0] && names_file(option))
		return hlg_err_set(err, HLG_EINPUT, "--%s=: names no file (name one)",
				   option->name);
	if (option->set)
		return option->set(arguments, option, value, err);
	if (!value && option->kind == HLG_VERB_ONE_OF)
		return set_word(field, option, "yes", err);
	switch (option->kind) {
	case HLG_VERB_FLAG:
		*(bool *)field = true;
		return 0;
	case HLG_VERB_TEXTS:
		return add_text(field, value, err);
	case HLG_VERB_ONE_OF:
		return set_word(field, option, value, err);
	case HLG_VERB_SOME_OF:
		return set_bits(field, option, value, err);
	case HLG_VERB_NUMBER:
		if (hlg_number_u64(value, field) && *(uint64_t *)field >= option->low &&
		    *(uint64_t *)field <= option->high)
			return 0;
		return hlg_err_set(err, HLG_EINPUT,
				   "--%s=%s: not a number from %ju to %ju", option->name,
				   value, (uintmax_t)option->low,
				   (uintmax_t)option->high);
	default:
		*(const char **)field = value;
		return 0;
	}
}

/* Where argp's hint begins, with the end of the line in front of it; "" if there is none.
 */
static char *find_hint(char *message)
{
	char *hint = NULL;

	for (char *s = message; (s = strstr(s, "\nTry `hlguest ")); s++)
		hint = s;
	return hint ? hint : message + strlen(message);
}

/* The option that may be meant where message is getopt's of an unknown one; or NULL. */
static const char *find_meant(const struct hlg_argp_run *run, const char *message)
{
	static const char unknown[] = ": unrecognized option '--";
	const char *at = strstr(message, unknown);
	struct hlg_nearest nearest = {.word = at ? at + strlen(unknown) : ""};

	nearest.n = strcspn(nearest.word, "='\n");
	for (const struct hlg_verb_option *o = run->options; !is_end(o); o++)
		if (o->name)
			hlg_nearest_look(&nearest, o->name, strlen(o->name));
	return nearest.best;
}

static void tell(const struct hlg_argp_run *run, char *message)
{
	static const char no_verb[] = "Try `hlguest --help'"; /* of hlguest -- VMM */
	const char *meant = find_meant(run, message);
	char *hint = find_hint(message), *line;
	size_t n = strlen(message);

	if (n && message[n - 1] == '\n')
		message[n - 1] = '\0';
	if (*hint == '\n')
		*hint++ = '\0';
	if (n) {
		hlg_escape_print(stderr, message);
		if (meant)
			fprintf(stderr, " (did you mean --%s?)", meant);
		else if (run->verb->others &&
			 (strstr(message, ": unrecognized option '") ||
			  strstr(message, ": invalid option -- '")))
			fprintf(stderr, " (%s)", run->verb->others);
		fputc('\n', stderr);
	}
	if (strncmp(hint, no_verb, strlen(no_verb)) == 0) {
		fputs("Options in front of -- are those of hlguest report (hlguest "
		      "report --help);\nthe VMM's own go behind it.\n",
		      stderr);
		return;
	}
	while ((line = strsep(&hint, "\n")) && *line) { /* argp wraps it */
		hlg_escape_print(stderr, line);
		fputc('\n', stderr);
	}
}

/* Where words are at fault argp says so, with its hint of --help and status 2; else we
 * do, with status 1. */
static error_t fail(struct work *work, struct argp_state *state, int rc)
{
	if (rc == 0)
		return 0;
	if (rc == HLG_ESYSTEM) {
		work->rc = rc;
		return ENOMEM;
	}
	argp_error(state, "%s", work->err.msg);
	return EINVAL;
}

static int take_option(struct work *work, const struct hlg_verb_option *option,
		       char *value)
{
	const struct hlg_argp_run *run = work->run;
	int rc = option->kind == HLG_VERB_FORMAT
			 ? set_format(work, option, value)
			 : hlg_argp_run_set(work->arguments, option, value, &work->err);

	return rc == 0 && run->taken
		       ? run->taken(work->arguments, option, value, &work->err)
		       : rc;
}

static error_t take_other(struct work *work, struct argp_state *state, char *value)
{
	const struct hlg_verb_option *option = work->run->options;

	while (!is_end(option) && option->name)
		option++;
	if (is_end(option))
		return fail(work, state,
			    hlg_err_set(&work->err, HLG_EINPUT, "%s: %s takes no file",
					value, work->run->verb->name));
	if (option->kind != HLG_VERB_REST)
		return fail(work, state,
			    hlg_argp_run_set(work->arguments, option, value, &work->err));
	*(char ***)((char *)work->arguments + option->field) =
		&state->argv[state->next - 1];
	state->next = state->argc;
	return 0;
}

static error_t show_help(struct work *work, struct argp_state *state, bool all)
{
	const struct hlg_argp_run *run = work->run;

	if (all)
		hlg_help_print(stdout, run->verb, run->options, work->formats);
	else
		argp_state_help(state, stdout, ARGP_HELP_USAGE | ARGP_HELP_EXIT_OK);
	work->helped = true;
	return ECANCELED;
}

static error_t parse(int key, char *value, struct argp_state *state)
{
	struct work *work = state->input;
	const struct hlg_argp_run *run = work->run;

	switch (key) {
	case '?':
	case 'h':
		return show_help(work, state, true);
	case KEY_USAGE:
		return show_help(work, state, false);
	case ARGP_KEY_ARG:
		return take_other(work, state, value);
	case ARGP_KEY_END:
		return fail(work, state,
			    run->check ? run->check(work->arguments, &work->err) : 0);
	default:
		break;
	}
	for (int i = 0; !is_end(&run->options[i]); i++) {
		const struct hlg_verb_option *option = &run->options[i];

		if (option->name &&
		    key == (option->letter ? option->letter : KEY_OPTION + i))
			return fail(work, state, take_option(work, option, value));
	}
	return ARGP_ERR_UNKNOWN;
}

/* The words of --format are those of the verb's formats. */
static const char *value_of(const struct hlg_verb_option *option, const char *formats)
{
	return option->kind == HLG_VERB_FORMAT ? formats : option->value;
}

static size_t count(const struct hlg_verb_option *options)
{
	size_t n = 0;

	while (!is_end(&options[n]))
		n++;
	return n;
}

/* The table's options as argp has them, and the two of every verb; NULL: no memory. */
static struct argp_option *make_options(const struct hlg_verb_option *options,
					const char *formats)
{
	struct argp_option *to = calloc(2 * count(options) + 4, sizeof(*to));
	size_t n = 0;

	for (int i = 0; to && !is_end(&options[i]); i++) {
		const struct hlg_verb_option *o = &options[i];

		if (!o->name)
			continue;
		to[n++] = (struct argp_option){o->name,
					       o->letter ? o->letter : KEY_OPTION + i,
					       value_of(o, formats),
					       (o->optional ? OPTION_ARG_OPTIONAL : 0) |
						       (o->hidden ? OPTION_HIDDEN : 0),
					       o->help,
					       0};
		if (o->alias)
			to[n++] = (struct argp_option){
				o->alias, 0, NULL, OPTION_ALIAS | OPTION_HIDDEN, NULL, 0};
	}
	if (to) {
		to[n++] = (struct argp_option){"help", '?', NULL, 0, "this help", -1};
		to[n++] = (struct argp_option){NULL, 'h', NULL, OPTION_HIDDEN, NULL, -1};
		to[n++] = (struct argp_option){
			"usage", KEY_USAGE, NULL, 0, "the options in short", -1};
	}
	return to;
}

static const char *list_formats(const struct hlg_verb *verb,
				char words[static HLG_FORMAT_WORDS])
{
	return verb->formats ? hlg_format_words(words, verb->formats) : NULL;
}

/* argp_parse; what it tells is fit for a terminal. */
static error_t parse_words(const struct argp *argp, int argc, char **argv, unsigned flags,
			   struct work *work)
{
	struct hlg_memstream caught;
	FILE *real = stderr;
	error_t rc;

	if (hlg_memstream_open(&caught))
		stderr = caught.f;
	rc = argp_parse(argp, argc, argv, flags, NULL, work);
	stderr = real;
	/* Told before it is closed: what there was no memory for is not told, but the
	 * rest. */
	if (caught.f && hlg_memstream_size(&caught))
		tell(work->run, caught.text);
	free(hlg_memstream_close(&caught));
	return rc;
}

int hlg_argp_run_dashes(int argc, char *const *argv)
{
	int i = 1;

	while (i < argc && strcmp(argv[i], "--") != 0)
		i++;
	return i;
}

bool hlg_argp_run_words(const struct hlg_argp_run *run, int argc, char **argv,
			void *arguments, int *status)
{
	struct work work = {.run = run, .arguments = arguments};
	const struct hlg_verb *verb = run->verb;
	const char *formats = list_formats(verb, work.formats);
	struct argp_option *options = make_options(run->options, formats);
	const struct argp argp = {options, parse, verb->usage, verb->doc,
				  NULL,    NULL,  NULL};
	error_t rc = ENOMEM;

	for (const struct hlg_verb_option *o = run->options; !is_end(o); o++)
		if (o->kind == HLG_VERB_FORMAT)
			*format_field(arguments, o) =
				verb->chooses_format
					? NULL
					: hlg_format_find(verb->formats, NULL);
	if (options)
		rc = parse_words(&argp, argc, argv,
				 ARGP_NO_EXIT | ARGP_NO_HELP |
					 (verb->in_order ? ARGP_IN_ORDER : 0),
				 &work);
	free(options);
	if (rc == ENOMEM && work.rc == 0)
		hlg_err_memory(&work.err, "arguments");
	if (rc == ENOMEM)
		*status = hlg_output_error(&work.err);
	else
		*status = work.helped ? 0 : 2;
	return rc == 0;
}

bool hlg_argp_run_verb(const struct hlg_verb *verb, int argc, char **argv,
		       void *arguments, int *status)
{
	static const struct hlg_verb_option none[] = {{0}};
	const struct hlg_argp_run run = {verb, verb->options ? verb->options : none,
					 verb->check, NULL};

	return hlg_argp_run_words(&run, argc, argv, arguments, status);
}

void hlg_argp_run_list(const struct hlg_argp_run *run)
{
	static const char *const kinds[] = {
		[HLG_VERB_FLAG] = "flag",    [HLG_VERB_TEXT] = "any",
		[HLG_VERB_TEXTS] = "many",   [HLG_VERB_ONE_OF] = "one",
		[HLG_VERB_SOME_OF] = "some", [HLG_VERB_NUMBER] = "any",
		[HLG_VERB_FORMAT] = "one",   [HLG_VERB_REST] = "any"};
	char words[HLG_FORMAT_WORDS];
	const char *formats = list_formats(run->verb, words);

	for (const struct hlg_verb_option *o = run->options; !is_end(o); o++) {
		char letter[] = {'-', o->letter, '\0'};
		const char *value = value_of(o, formats);

		if (o->name && !o->hidden)
			printf("option\t%s\t--%s\t%s\t%s\t%s\t%s\t%s\t%s\n",
			       run->verb->name, o->name, o->letter ? letter : "",
			       value ? value : "", kinds[o->kind],
			       o->optional ? "optional" : "", o->files ? o->files : "",
			       o->help);
	}
}
