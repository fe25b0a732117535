// SPDX-License-Identifier: GPL-2.0-only
#include "tools/inputs/inputs.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "filter/output/target.h"
#include "symtab/grow.h"
#include "tools/beside/beside.h"
#include "tools/cli/argp-run.h"
#include "tools/cli/cpus.h"
#include "tools/cli/output.h"
#include "tools/feed/turns.h"
#include "tools/inputs/noted.h"
#include "tools/inputs/snapshot.h"
#include "tools/inputs/twice.h"
#include "tools/pprof/pprof.h"

#define DEFAULT_FILE "perf.data.guest" /* what record writes; and with --host */
#define HOST_FILE    "perf.data.kvm"

/* Lists */

static int append(char ***list, size_t n, const char *word, struct hlg_err *err)
{
	char *copy = HLG_GROW(*list, n) ? strdup(word) : NULL;

	if (!copy)
		return hlg_err_memory(err, "arguments");
	(*list)[n] = copy;
	return 0;
}

int hlg_inputs_add_word(struct hlg_inputs *in, const char *word, struct hlg_err *err)
{
	int rc = append(&in->words, (size_t)in->n_words, word, err);

	in->n_words += rc == 0;
	return rc;
}

static int add_file(struct hlg_inputs *in, const char *path, struct hlg_err *err)
{
	int rc = append(&in->files, in->n_files, path, err);

	in->n_files += rc == 0;
	return rc;
}

int hlg_inputs_add_other(struct hlg_inputs *in, char *word, enum hlg_file_kind kind,
			 struct hlg_err *err)
{
	if (!HLG_GROW(in->others, in->n_others))
		return hlg_err_memory(err, "arguments");
	in->others[in->n_others++] = (struct hlg_inputs_other){word, kind};
	return 0;
}

static int add_image(struct hlg_inputs *in, const char *path, struct hlg_err *err)
{
	char *word;
	int rc = hlg_snapshot_word(&word, path, err);

	in->n_images++;
	if (rc == 0)
		rc = hlg_inputs_add_word(in, word ? word : path, err);
	free(word);
	return rc;
}

/* Options */

/* Is word, of n bytes, one of words, which have a c between them? */
static bool is_one_of(const char *words, char c, const char *word, size_t n)
{
	for (const char *next; n && words; words = next ? next + 1 : NULL) {
		next = strchr(words, c);
		if ((next ? (size_t)(next - words) : strlen(words)) == n &&
		    memcmp(words, word, n) == 0)
			return true;
	}
	return false;
}

static bool has(const struct hlg_verb *verb, const char *option)
{
	return is_one_of(verb->shared, ' ', option, strlen(option));
}

/* Two recordings are two sides. */
static bool is_pair(const struct hlg_inputs *in)
{
	return in->second && has(in->verb, "after");
}

static int set_input(void *arguments, const struct hlg_verb_option *option, char *value,
		     struct hlg_err *err)
{
	struct hlg_inputs *in = arguments;

	(void)option;
	/* Which of two recordings is the first one counts. */
	if (is_pair(in))
		return hlg_inputs_add_other(in->behind ? in->second : in, value,
					    HLG_FILE_KIND_RECORDING, err);
	return add_file(in, value, err);
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
	 .fallback = DEFAULT_FILE,
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
	{.name = "jobs",
	 .letter = 'j',
	 .value = "N",
	 .help = "threads; 0: one for each CPU that may be used",
	 .fallback = "0",
	 .kind = HLG_VERB_NUMBER,
	 .set = set_threads},
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

	option.heading = hlg_options_heading_text(hlg_options_heading(option.name));
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
		.heading = hlg_options_heading_text(hlg_options_heading(from->name))};

	if (option.letter == 'g')
		option.set = set_call_graph;
	if (strcmp(from->name, "format") == 0) {
		option.kind = HLG_VERB_FORMAT;
		option.field = offsetof(struct hlg_inputs, format);
	} else if (strcmp(from->name, "by") == 0 && verb->by) {
		option.value = verb->by;
	}
	return option;
}

/* Adds those of the shared options that the verb has and this heading. */
static void add_shared(struct hlg_verb_option *options, size_t *n,
		       const struct hlg_verb *verb, size_t heading)
{
	for (size_t i = 0; i < N_SHARED; i++)
		if (shared[i].name && has(verb, shared[i].name) &&
		    hlg_options_heading(shared[i].name) == heading)
			options[(*n)++] = shared_option(verb, i);
	for (size_t i = 0; i < hlg_n_options; i++)
		if (has(verb, hlg_option_table[i].name) &&
		    hlg_options_heading(hlg_option_table[i].name) == heading)
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
	for (size_t heading = 0; verb->shared && hlg_options_heading_text(heading);
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

/* Which file is what */

/* What the verb itself takes; NULL: nothing but files. */
static const struct hlg_verb_option *own_word(const struct hlg_verb *verb)
{
	const struct hlg_verb_option *option = verb->options;

	while (option && option->name)
		option++;
	return option && option->kind ? option : NULL;
}

/* Is it for the verb itself? Neither is there a file of that name nor a / in it. */
static bool is_own(const struct hlg_inputs *in, const struct hlg_inputs_other *other)
{
	return own_word(in->verb) && other->kind == HLG_FILE_KIND_OTHER &&
	       !strchr(other->word, '/') && access(other->word, F_OK) != 0;
}

static bool ends_with(const char *word, const char *end)
{
	size_t n = strlen(word), n_end = strlen(end);

	return n >= n_end && strcmp(word + n - n_end, end) == 0;
}

/*
 * Is what is not there the name of a recording, rather than a mistyped ELF? Where an ELF
 * is named anything may be one but what is called as ELFs are; else by its own name.
 */
static bool seems_recording(const char *word, bool named)
{
	static const char *const images[] = {".elf", ".so",    ".o",     ".bin",
					     ".dbg", ".debug", ".cwasm", ".aot"};
	const char *slash = strrchr(word, '/'), *name = slash ? slash + 1 : word;

	if (strstr(name, ".data") || ends_with(name, ".gz"))
		return true;
	for (size_t i = 0; i < sizeof(images) / sizeof(images[0]); i++)
		if (ends_with(name, images[i]))
			return false;
	return named;
}

/* Nothing is reported of what was meant for something else. */
static int check_there(const char *word, bool named, struct hlg_err *err)
{
	if (hlg_target_is_stream(word) || seems_recording(word, named) ||
	    access(word, F_OK) == 0 || errno != ENOENT)
		return 0;
	return hlg_err_set(err, HLG_EINPUT, "%s: no such file (check the path)", word);
}

static bool has_word(const struct hlg_inputs *in, const char *word)
{
	for (int i = 0; i < in->n_words; i++)
		if (strcmp(in->words[i], word) == 0)
			return true;
	return false;
}

/* Takes the ELFs that record noted beside n recordings of a side that names none. */
static int take_noted(struct hlg_inputs *in, char *const *files, size_t n,
		      struct hlg_err *err)
{
	struct hlg_noted noted;
	int rc = hlg_noted_find(&noted, files, n, err);

	for (size_t i = 0; rc == 0 && i < noted.n; i++)
		if (!has_word(in, noted.paths[i]))
			rc = add_image(in, noted.paths[i], err);
	in->noted = in->n_images > 0;
	hlg_noted_finish(&noted);
	return rc;
}

/* Is an image named? Of two sides by either. */
static bool names_image(const struct hlg_inputs *in)
{
	for (size_t i = 0; i < in->n_others; i++)
		if (in->others[i].kind == HLG_FILE_KIND_IMAGE)
			return true;
	return in->second && names_image(in->second);
}

/*
 * Where no image is named: those that are noted of the recordings, of two sides of the
 * first one's. What cannot be used is an error only if an image is needed.
 */
static int find_noted(struct hlg_inputs *in, struct hlg_err *err)
{
	char standard[] = DEFAULT_FILE, *only = NULL;
	struct hlg_err why;
	size_t n = 0;
	int rc = 0;

	if (names_image(in))
		return 0;
	rc = take_noted(in, in->files, in->n_files, &why);
	for (size_t i = 0; rc == 0 && i < in->n_others; i++) {
		if (in->others[i].kind != HLG_FILE_KIND_RECORDING)
			continue;
		only = in->others[i].word;
		rc = take_noted(in, &only, 1, &why);
		n++;
		if (is_pair(in) && !in->behind)
			break;
	}
	if (rc == 0 && in->n_files + n == 0) {
		only = standard;
		rc = take_noted(in, &only, 1, &why);
	}
	if (rc == HLG_EINPUT)
		in->not_noted = why;
	else if (rc < 0)
		*err = why;
	return rc == HLG_EINPUT ? 0 : rc;
}

/*
 * Images and recordings in any order. What is neither is a recording that cannot be read
 * if there is an image, here or on the other side, else the first of these is an image
that cannot: but one that is not there, and not called as recordings are, is a mistake.
 */
static int sort(struct hlg_inputs *in, bool images, bool named, struct hlg_err *err)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < in->n_others; i++)
		if (in->others[i].kind == HLG_FILE_KIND_IMAGE)
			rc = add_image(in, in->others[i].word, err);
	for (size_t i = 0; rc == 0 && i < in->n_others; i++) {
		const struct hlg_inputs_other *other = &in->others[i];

		if (other->kind == HLG_FILE_KIND_OTHER && !images && in->n_images == 0) {
			rc = add_image(in, other->word, err);
		} else if (is_own(in, other)) {
			rc = hlg_argp_run_set(in, own_word(in->verb), other->word, err);
		} else if (other->kind != HLG_FILE_KIND_IMAGE) {
			if (check_there(other->word, named, &in->missing) == 0)
				rc = add_file(in, other->word, err);
		}
	}
	return rc;
}

/*
 * Without --after, two recordings are the sides. An image in between might be meant for
 * either.
 */
static int part_pair(struct hlg_inputs *in, struct hlg_err *err)
{
	bool met = false;
	size_t left = in->n_files;
	int rc = 0;

	for (size_t i = 0; i < in->n_others; i++) {
		bool image = in->others[i].kind == HLG_FILE_KIND_IMAGE;

		if (image && met && left)
			return hlg_err_set(
				err, HLG_EINPUT,
				"%s: an image between recordings (put --after in front "
				"of it if it is the build of the second side)",
				in->others[i].word);
		met = met || !image;
		left -= !image && left;
	}
	if (in->n_files > 2)
		return hlg_err_set(err, HLG_EINPUT,
				   "%s: is a third recording (put --after in front of "
				   "the first recording of the second side)",
				   in->files[2]);
	if (in->n_files == 2) {
		rc = add_file(in->second, in->files[1], err);
		free(in->files[--in->n_files]);
	}
	return rc;
}

/* Saved profiles do without images; what is read only once is not looked into. */
static bool are_saved(const struct hlg_inputs *in)
{
	for (size_t i = 0; i < in->n_others; i++)
		if (in->others[i].kind != HLG_FILE_KIND_RECORDING ||
		    !hlg_turns_is_kept(in->others[i].word) ||
		    !hlg_pprof_is(in->others[i].word))
			return false;
	return true;
}

/* Gives the second side what it has no words for. */
static int part(struct hlg_inputs *in, struct hlg_err *err)
{
	struct hlg_inputs *second = in->second;
	bool pair = is_pair(in);
	int rc = 0;

	if (in->missing.msg[0])
		return 0;
	in->no_images = pair && in->n_images == 0 && in->n_others && are_saved(in) &&
			are_saved(second);
	if (in->n_images == 0 && !in->no_images) /* which is told later */
		return 0;
	if (pair && !in->behind)
		rc = part_pair(in, err);
	if (rc == 0)
		rc = sort(second, in->n_images, names_image(in), err);
	if (second->missing.msg[0]) {
		in->missing = second->missing;
		return rc;
	}
	if (rc == 0 && in->noted && second->n_images == 0)
		rc = take_noted(second, second->files, second->n_files, err);
	for (int i = 0; rc == 0 && i < in->n_words && second->n_images == 0; i++)
		if (strncmp(in->words[i], "--", 2) != 0)
			rc = hlg_inputs_add_word(second, in->words[i], err);
	if (second->n_images == 0)
		second->n_images = in->n_images;
	if (rc == 0 && pair && (in->n_files == 0 || second->n_files == 0))
		return hlg_err_set(err, HLG_EINPUT,
				   "%s (use guest.elf before.data after.data, or "
				   "guest.elf BEFORE... --after AFTER...)",
				   in->n_files || second->n_files
					   ? "one side has no recording"
					   : "no recording is given");
	return rc;
}

/* Adds what the list names. One that cannot be read is no matter of words. */
static int take_list(struct hlg_inputs *in, struct hlg_err *err)
{
	char is[HLG_SHA256_TEXT], meant[HLG_SHA256_TEXT];
	struct hlg_list list;
	int rc = 0;

	if (!in->list && (in->nul || in->listed))
		return hlg_err_set(err, HLG_EINPUT,
				   "%s: is of a list, and none is given (use "
				   "--input-list=FILE)",
				   in->nul ? "-0" : "--list-digest");
	if (!in->list)
		return 0;
	if (hlg_list_read(&list, in->list, in->nul, &in->missing) == 0 && in->listed &&
	    memcmp(list.digest, in->digest, sizeof(in->digest)) != 0) {
		hlg_sha256_print(is, list.digest);
		hlg_sha256_print(meant, in->digest);
		hlg_err_set(&in->missing, HLG_EINPUT,
			    "%s: is another list than was meant: its SHA-256 is %s, not "
			    "%s (has it changed?)",
			    in->list, is, meant);
	}
	for (size_t i = 0; rc == 0 && i < list.n && !in->missing.msg[0]; i++)
		rc = add_file(in, list.names[i], err);
	hlg_list_finish(&list);
	return rc;
}

/* Behind the last word. */
static int sort_all(void *arguments, struct hlg_err *err)
{
	struct hlg_inputs *in = arguments;
	int rc = take_list(in, err);

	if (rc == 0 && !in->missing.msg[0])
		rc = find_noted(in, err);
	if (rc == 0)
		rc = sort(in, in->n_images || in->not_noted.msg[0], names_image(in), err);
	if (rc == 0 && in->second)
		rc = part(in, err);
	return rc == 0 && in->verb->check && !in->missing.msg[0]
		       ? in->verb->check(arguments, err)
		       : rc;
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
static int no_image(const struct hlg_inputs *in, struct hlg_err *err)
{
	const char *folder = find_other(in, HLG_FILE_KIND_FOLDER);
	const char *file = in->n_files                       ? in->files[0]
			   : access(DEFAULT_FILE, F_OK) == 0 ? DEFAULT_FILE
							     : NULL;

	if (file && !hlg_turns_is_kept(file))
		file = NULL; /* nothing stands beside a pipe */
	if (in->not_noted.msg[0]) {
		*err = in->not_noted;
		return HLG_EINPUT;
	}
	if (folder && hlg_snapshot_is(folder))
		return hlg_err_set(err, HLG_EINPUT,
				   "%s: is a snapshot of Hyperlight, and no guest ELF is "
				   "given (use guest.elf@snapshot:%s)",
				   folder, folder);
	if (folder)
		return hlg_err_set(err, HLG_EINPUT,
				   "%s: is a directory that holds no recording, and no "
				   "guest ELF is given (name files)",
				   folder);
	return hlg_err_set(err, HLG_EINPUT,
			   "%s: no guest ELF is given%s%s (name it: guest.elf; hlguest "
			   "help %s shows more)",
			   in->verb->name, file ? ", and none is noted beside " : "",
			   file ? file : "", in->verb->name);
}

/* The same without a recording, where there is none by default. */
static int no_recording(const struct hlg_inputs *in, struct hlg_err *err)
{
	const char *other = find_other(in, HLG_FILE_KIND_OTHER);

	if (other && !own_word(in->verb))
		return hlg_err_set(err, HLG_EINPUT,
				   "%s: is no recording and no ELF, or cannot be read "
				   "(name both: guest.elf perf.data)",
				   other);
	return hlg_err_set(err, HLG_EINPUT,
			   "%s: no recording is given, and there is no " DEFAULT_FILE
			   " (name one, or make one: hlguest record -- VMM)",
			   in->verb->name);
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
	if (rc == 0 && in->list)
		rc = hlg_target_check_input(out, in->list, err);
	hlg_options_finish(&options);
	return rc;
}

int hlg_inputs_check_out(const struct hlg_inputs *in, const char *out,
			 struct hlg_err *err)
{
	const struct hlg_verb_option *own = in->verb->options;
	int rc;

	if (hlg_target_is_stream(out))
		return 0;
	rc = check_side(in, out, err);
	if (rc == 0 && in->second)
		rc = check_side(in->second, out, err);
	for (; rc == 0 && own && (own->name || own->kind); own++) {
		const char *path =
			own->reads ? *(const char *const *)((const char *)in + own->field)
				   : NULL;

		if (path)
			rc = hlg_target_check_input(out, path, err);
	}
	return rc;
}

/* What makes no sense is told before any file is opened, but for what is noted. */
static int check_words(const struct hlg_inputs *in, struct hlg_err *err)
{
	struct hlg_options options;
	bool counts; /* no image is needed */
	int rc;

	if (in->missing.msg[0]) {
		*err = in->missing;
		return HLG_ESYSTEM;
	}
	rc = hlg_options_parse(&options, in->n_words, in->words, err);

	if (rc == 0)
		rc = hlg_inputs_check_out(in, options.out, err);
	/* "--out FILE.data" is easily written for "--out=x FILE.data". */
	if (rc == 0)
		rc = hlg_target_check_magic(options.out, HLG_MAGIC_NONE, err);
	counts = options.stacks == HLG_STACKS_COUNTERS;
	hlg_options_finish(&options);
	if (rc == 0 && in->n_images == 0 && !in->no_images && !counts)
		rc = no_image(in, err);
	if (rc == 0 && in->n_files == 0 && access(DEFAULT_FILE, F_OK) != 0)
		rc = no_recording(in, err);
	return rc;
}

static void keep_first(struct hlg_inputs *in, size_t n)
{
	while (in->n_files > n)
		free(in->files[--in->n_files]);
}

/* A recording that is named twice counts once: also in one part of many, so of two names
 * the same one has to count in each. */
static int drop_same(struct hlg_inputs *in, struct hlg_err *err)
{
	size_t all, once = in->n_files;
	int rc;

	if (in->shard.n)
		hlg_list_sort(in->files, in->n_files);
	rc = hlg_twice_part(in->files, in->n_files, &once, err);
	keep_first(in, once);
	if (rc < 0)
		return rc;
	all = in->n_files;
	keep_first(in, hlg_shard_part(&in->shard, in->files, in->n_files));
	if (in->n_files || in->shard.n == 0)
		return 0;
	return hlg_err_set(
		err, HLG_EINPUT,
		"--shard=%" PRIu64 "/%" PRIu64
		": has nothing to read, as there are %zu recordings (use fewer "
		"parts)",
		in->shard.index, in->shard.n, all);
}

bool hlg_inputs_parse(struct hlg_inputs *in, const struct hlg_verb *verb, int argc,
		      char **argv, int *status)
{
	struct hlg_verb_option *options = hlg_inputs_options(verb);
	const struct hlg_argp_run run = {verb, options, sort_all};
	struct hlg_err err;
	bool go_on = false;
	int rc = options ? 0 : hlg_err_memory(&err, "arguments");

	in->verb = verb;
	in->threads = hlg_cpus_count();
	in->inlines = -1;
	if (in->second)
		in->second->verb = verb;
	if (rc == 0)
		go_on = hlg_argp_run_words(&run, argc, argv, in, status);
	free(options);
	if (go_on)
		rc = check_words(in, &err);
	if (go_on && rc == 0 && in->n_files == 0) {
		in->by_default = true;
		rc = add_file(in, DEFAULT_FILE, &err);
	}
	if (go_on && rc == 0)
		rc = drop_same(in, &err);
	if (go_on && rc == 0 && in->second)
		rc = drop_same(in->second, &err);
	if (in->second) {
		in->second->threads = in->threads;
		in->second->quiet = in->quiet;
		in->second->format = in->format;
	}
	if (rc == 0)
		return go_on;
	hlg_output_error(&err);
	*status = rc == HLG_ESYSTEM ? 1 : 2;
	return false;
}

/* What record noted beside a recording, and when that was written. What cannot be read
 * says nothing. */
static void find_builds(struct hlg_builds *builds, const char *path)
{
	struct hlg_beside beside;
	struct hlg_err err;
	struct stat st;
	int rc = hlg_beside_read(&beside, path, &err);

	/* A profile is saved later. */
	if (stat(path, &st) == 0 && S_ISREG(st.st_mode) && !hlg_pprof_is(path))
		builds->written = st.st_mtime;
	for (size_t k = 0; rc == 0 && k < beside.n_guests; k++) {
		struct hlg_build build = {.file = beside.guests[k].file,
					  .crc = beside.guests[k].crc,
					  .size = beside.guests[k].size,
					  .noted = true};

		strcpy(build.id, beside.guests[k].build_id);
		hlg_builds_add(builds, &build);
	}
	hlg_beside_finish(&beside);
}

/* Which recording was read, where no word says so; and that another is newer. */
static void tell_default(struct hlg_run *run)
{
	struct stat st, other;
	struct tm tm;
	char made[32];

	if (stat(DEFAULT_FILE, &st) != 0 || !localtime_r(&st.st_mtime, &tm) ||
	    !strftime(made, sizeof(made), "%Y-%m-%d %H:%M", &tm))
		return;
	snprintf(run->recording, sizeof(run->recording), DEFAULT_FILE " of %s", made);
	if (stat(HOST_FILE, &other) == 0 && S_ISREG(other.st_mode) &&
	    (other.st_mtim.tv_sec > st.st_mtim.tv_sec ||
	     (other.st_mtim.tv_sec == st.st_mtim.tv_sec &&
	      other.st_mtim.tv_nsec > st.st_mtim.tv_nsec)))
		hlg_note_list_warn(&run->notes,
				   HOST_FILE " is newer than " DEFAULT_FILE
					     ", which is shown (name it to see it)");
}

int hlg_inputs_read(const struct hlg_inputs *in, struct hlg_run *run,
		    struct hlg_batch *batch, int *status, struct hlg_err *err)
{
	struct hlg_builds *builds = calloc(in->n_files + 1, sizeof(*builds));
	int rc;

	if (!builds)
		return hlg_err_memory(err, "builds");
	for (size_t i = 0; i < in->n_files; i++)
		find_builds(&builds[i], in->files[i]);
	for (size_t i = 0; in->noted && i < run->space.n_images; i++)
		run->space.images[i]->noted = true;
	batch->builds = builds;
	if (in->by_default)
		tell_default(run);
	batch->paths = in->files;
	batch->n_paths = in->n_files;
	batch->threads = in->threads;
	batch->quiet = in->quiet;
	rc = hlg_batch_read(batch, run, err);
	batch->builds = NULL;
	for (size_t i = 0; i < in->n_files; i++)
		hlg_builds_finish(&builds[i]);
	free(builds);
	for (size_t i = 0; i < batch->n_paths && batch->files; i++)
		if (batch->files[i].rc < 0)
			*status = hlg_output_error(&batch->files[i].err);
	if (rc == 0 && batch->n_read == 0)
		*status = 1;
	return rc;
}

void hlg_inputs_finish(struct hlg_inputs *in)
{
	for (int i = 0; i < in->n_words; i++)
		free(in->words[i]);
	free(in->words);
	for (size_t i = 0; i < in->n_files; i++)
		free(in->files[i]);
	free(in->files);
	free(in->others);
	if (in->second)
		hlg_inputs_finish(in->second);
}
