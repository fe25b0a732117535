// SPDX-License-Identifier: GPL-2.0-only
#include "tools/inputs/shared-options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "filter/options/help.h"
#include "filter/options/options.h"
#include "tools/cli/argp-run.h"
#include "tools/cli/cpus.h"

static int set_input(void *arguments, const struct hlg_verb_option *option, char *value,
		     struct hlg_err *err)
{
	struct hlg_inputs *in = arguments;

	(void)option;
	/* Which of two recordings is the first one counts. */
	if (hlg_inputs_is_pair(in))
		return hlg_inputs_add_other(in->behind ? in->second : in, value,
					    HLG_FILE_KIND_RECORDING, err);
	return hlg_inputs_add_file(in, value, err);
}

static int set_other(void *arguments, const struct hlg_verb_option *option, char *value,
		     struct hlg_err *err)
{
	struct hlg_inputs *in = arguments;

	(void)option;
	return hlg_inputs_add_other(in->behind ? in->second : in, value,
				    hlg_images_file_kind(value), err);
}

static int set_threads(void *arguments, const struct hlg_verb_option *option, char *value,
		       struct hlg_err *err)
{
	struct hlg_inputs *in = arguments;
	uint64_t n;

	(void)option;
	if (!hlg_number_u64(value, &n) || n > HLG_CPUS_MOST)
		return hlg_err_set(err, HLG_EINPUT,
				   "-j %s: not a number of threads (1 to %d; 0: one for "
				   "each CPU that may be used)",
				   value, HLG_CPUS_MOST);
	in->threads = n ? (unsigned)n : hlg_cpus_count();
	return 0;
}

static int set_digest(void *arguments, const struct hlg_verb_option *option, char *value,
		      struct hlg_err *err)
{
	struct hlg_inputs *in = arguments;

	(void)option;
	in->listed = hlg_sha256_parse(in->digest, value);
	if (in->listed)
		return 0;
	return hlg_err_set(err, HLG_EINPUT,
			   "--list-digest=%s: is no SHA-256 (64 digits of sha256sum)",
			   value);
}

static int set_shard(void *arguments, const struct hlg_verb_option *option, char *value,
		     struct hlg_err *err)
{
	(void)option;
	return hlg_shard_parse(&((struct hlg_inputs *)arguments)->shard, value, err);
}

static int set_after(void *arguments, const struct hlg_verb_option *option, char *value,
		     struct hlg_err *err)
{
	struct hlg_inputs *in = arguments;

	(void)option;
	(void)value;
	if (in->behind)
		return hlg_err_set(err, HLG_EINPUT,
				   "--after: is given twice (give it once)");
	in->behind = true;
	return 0;
}

/* An option of the filter's table, for both sides. */
static int set_filter(void *arguments, const struct hlg_verb_option *option, char *value,
		      struct hlg_err *err)
{
	struct hlg_inputs *in = arguments;
	char *word;
	int rc;

	if (asprintf(&word, "--%s=%s", option->alias ? option->alias : option->name,
		     value ? value : "yes") < 0)
		return hlg_err_memory(err, "arguments");
	rc = hlg_inputs_add_word(in, word, err);
	if (rc == 0 && in->second)
		rc = hlg_inputs_add_word(in->second, word, err);
	free(word);
	return rc;
}

/* Of a verb that splits by some of the words only: of these, an unknown one is told. */
static int set_by(void *arguments, const struct hlg_verb_option *option, char *value,
		  struct hlg_err *err)
{
	struct hlg_verb_option own = *option;
	unsigned bits;
	int rc;

	own.set = NULL;
	own.field = 0;
	rc = hlg_argp_run_set(&bits, &own, value, err);
	return rc < 0 ? rc : set_filter(arguments, option, value, err);
}

/* A file is no value: -g stands alone, as perf's does, and calls are shown from above. */
static int set_call_graph(void *arguments, const struct hlg_verb_option *option,
			  char *value, struct hlg_err *err)
{
	static char caller[] = "caller";
	enum hlg_file_kind kind = hlg_images_file_kind(value);
	int rc;

	if (kind != HLG_FILE_KIND_IMAGE && kind != HLG_FILE_KIND_RECORDING)
		return set_filter(arguments, option, value, err);
	rc = set_filter(arguments, option, caller, err);
	return rc < 0 ? rc : set_other(arguments, option, value, err);
}

static const struct hlg_verb_option shared[] = {
	{.name = "input",
	 .letter = 'i',
	 .value = "FILE",
	 .help = "a recording; - is standard input",
	 .fallback = HLG_INPUTS_DEFAULT,
	 .kind = HLG_VERB_TEXTS,
	 .set = set_input},
	{.name = "input-list",
	 .value = "FILE",
	 .help = "a file that names recordings, a line each; - is standard input",
	 .files = "file",
	 .kind = HLG_VERB_TEXT,
	 .field = offsetof(struct hlg_inputs, list)},
	HLG_LIST_NULL(struct hlg_inputs, nul),
	{.name = "list-digest",
	 .value = "DIGITS",
	 .help = "refuse another list than the one with this SHA-256, which a saved "
		 "profile then has in it",
	 .kind = HLG_VERB_TEXT,
	 .set = set_digest},
	{.name = "shard",
	 .value = "I/N|slurm",
	 .help = "only part I, from 0 on, of N: of the recordings, sorted by name, each "
		 "Nth; slurm: what this task of a job array is",
	 .kind = HLG_VERB_TEXT,
	 .set = set_shard},
	{HLG_CPUS_JOBS, .set = set_threads},
	HLG_VERB_QUIET(struct hlg_inputs, quiet, "no progress on the terminal"),
	{.name = "no-pager",
	 .help = "text on a terminal: do not show it in a pager",
	 .kind = HLG_VERB_FLAG,
	 .field = offsetof(struct hlg_inputs, no_pager)},
	{.name = "inline",
	 .value = "no|yes",
	 .help = "callers in the guest: frames of inlined functions, where the ELF has "
		 "debug information",
	 .fallback = "yes",
	 .kind = HLG_VERB_ONE_OF,
	 .optional = true,
	 .field = offsetof(struct hlg_inputs, inlines)},
	{.name = "after",
	 .help = "the second side follows: its guest ELF, if it is another one, and its "
		 "recordings",
	 .kind = HLG_VERB_FLAG,
	 .set = set_after},
	{.name = "output",
	 .alias = "out", /* which it is in the filter */
	 .letter = 'o',
	 .value = "FILE",
	 .help = "where the result goes; written atomically",
	 .files = "file",
	 .fallback = "standard output",
	 .kind = HLG_VERB_TEXT,
	 .set = set_filter},
	{.kind = HLG_VERB_TEXTS, .set = set_other}, /* all that is no option */
};

enum {
	N_SHARED = sizeof(shared) / sizeof(shared[0])
};

/* One of our own as this verb has it. */
static struct hlg_verb_option shared_option(const struct hlg_verb *verb, size_t i)
{
	struct hlg_verb_option option = shared[i];

	option.heading =
		hlg_options_help_heading_text(hlg_options_help_heading(option.name));
	if (option.set == set_input && verb->files) /* which has elf in front */
		option.files = verb->files + strlen("elf ");
	return option;
}

/* What counts without an option of the filter's table, or NULL. */
static const char *fallback_of(const struct hlg_verb *verb, const struct hlg_option *from)
{
	const struct hlg_verb_fallback *own = verb->fallbacks;

	for (; own && own->option; own++)
		if (strcmp(own->option, from->name) == 0)
			return own->value;
	return from->fallback[0] ? from->fallback : NULL;
}

/* One of the filter's table. */
static struct hlg_verb_option filter_option(const struct hlg_verb *verb,
					    const struct hlg_option *from)
{
	struct hlg_verb_option option = {
		.name = from->name,
		.value = from->value,
		.help = from->help,
		.kind = from->kind == HLG_OPT_CHOICE ? HLG_VERB_ONE_OF
			: from->kind == HLG_OPT_SET  ? HLG_VERB_SOME_OF
						     : HLG_VERB_TEXT,
		.optional = strcmp(from->value, "no|yes") == 0,
		.letter = strcmp(from->name, "verbose") == 0      ? 'v'
			  : strcmp(from->name, "call-graph") == 0 ? 'g'
								  : 0,
		.set = set_filter,
		.fallback = fallback_of(verb, from),
		.heading = hlg_options_help_heading_text(
			hlg_options_help_heading(from->name))};

	if (option.letter == 'g')
		option.set = set_call_graph;
	if (strcmp(from->name, "format") == 0) {
		option.kind = HLG_VERB_FORMAT;
		option.field = offsetof(struct hlg_inputs, format);
	} else if (strcmp(from->name, "by") == 0 && verb->by) {
		option.value = verb->by;
		option.set = set_by;
	}
	return option;
}

/* Adds those of the shared options that the verb has and this heading. */
static void add_shared(struct hlg_verb_option *options, size_t *n,
		       const struct hlg_verb *verb, size_t heading)
{
	for (size_t i = 0; i < N_SHARED; i++)
		if (shared[i].name && hlg_inputs_has(verb, shared[i].name) &&
		    hlg_options_help_heading(shared[i].name) == heading)
			options[(*n)++] = shared_option(verb, i);
	for (size_t i = 0; i < hlg_n_options; i++)
		if (hlg_inputs_has(verb, hlg_option_table[i].name) &&
		    hlg_options_help_heading(hlg_option_table[i].name) == heading)
			options[(*n)++] = filter_option(verb, &hlg_option_table[i]);
}

struct hlg_verb_option *hlg_inputs_options(const struct hlg_verb *verb)
{
	const struct hlg_verb_option *own = verb->options;
	size_t n = 0, n_own = 0;
	struct hlg_verb_option *options;

	while (own && (own[n_own].name || own[n_own].kind))
		n_own++;
	options = calloc(N_SHARED + hlg_n_options + n_own + 1, sizeof(*options));
	if (!options)
		return NULL;
	for (size_t heading = 0; verb->shared && hlg_options_help_heading_text(heading);
	     heading++)
		add_shared(options, &n, verb, heading);
	/* Of two without a name the first counts. */
	if (verb->shared)
		options[n++] = shared[N_SHARED - 1];
	for (size_t i = 0; i < n_own; i++)
		options[n++] = own[i];
	options[n] = (struct hlg_verb_option){0};
	return options;
}
