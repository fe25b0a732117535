// SPDX-License-Identifier: GPL-2.0-only
/* hlguest merge: saved profiles summed into one. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "filter/output/out.h"
#include "filter/profile/index.h"
#include "symtab/file.h"
#include "symtab/plural.h"
#include "tools/cli/argp-run.h"
#include "tools/cli/cpus.h"
#include "tools/cli/output.h"
#include "tools/cli/verb.h"
#include "tools/inputs/list.h"
#include "tools/inputs/twice.h"
#include "tools/pprof/pprof.h"

struct arguments {
	const char *out;
	bool quiet;
	const char *list;
	bool nul;
	uint64_t threads;
	int failures; /* enum hlg_pprof_failures */
	struct hlg_verb_texts paths;
};

static int check(void *arguments, struct hlg_err *err)
{
	const struct arguments *args = arguments;

	if (args->nul && !args->list)
		return hlg_err_set(err, HLG_EINPUT,
				   "-0: is of a list, and none is given (use -f FILE)");
	if (args->paths.n == 0 && !args->list)
		return hlg_err_set(err, HLG_EINPUT,
				   "no profile is given (hlguest report --format=pprof "
				   "-o x.pb.gz saves one)");
	if (hlg_target_is_stream(args->out) && isatty(STDOUT_FILENO))
		return hlg_err_set(
			err, HLG_EINPUT,
			"a profile is binary, and not for a terminal (use -o FILE)");
	return 0;
}

/* What tells a profile: how long it is, and the checksum and length of what is in it,
 * with which gzip ends. */
struct content {
	off_t size;
	unsigned char end[8];
};

static bool look(struct content *content, const char *path)
{
	struct hlg_file_id id;
	struct hlg_err err;
	struct stat st;
	ssize_t got = -1;
	int fd = stat(path, &st) == 0 && S_ISREG(st.st_mode) && hlg_pprof_is(path)
			 ? hlg_file_open(path, &id, &err)
			 : -1;

	if (fd < 0)
		return false;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode)) {
		content->size = st.st_size;
		got = pread(fd, content->end, sizeof(content->end),
			    st.st_size - (off_t)sizeof(content->end));
	}
	close(fd);
	return got == sizeof(content->end);
}

struct search {
	const struct content *seen;
	size_t i;
};

static bool is_same(const void *ctx, uint32_t number)
{
	const struct search *s = ctx;
	const struct content *a = &s->seen[number], *b = &s->seen[s->i];

	return a->size == b->size && memcmp(a->end, b->end, sizeof(a->end)) == 0;
}

/* Sums of one thing with itself are seldom meant. seen has room for all paths. Without
 * memory nothing more is said. */
static void warn_twice(const struct hlg_verb_texts *paths, struct content *seen)
{
	struct hlg_index index = {0};
	bool ok = true;

	for (size_t i = 0; ok && i < paths->n; i++) {
		const struct search search = {seen, i};
		uint64_t end, hash;
		uint32_t k;

		if (!look(&seen[i], paths->text[i]))
			continue;
		memcpy(&end, seen[i].end, sizeof(end));
		hash = hlg_hash_word(hlg_hash_word(HLG_HASH_SEED, end),
				     (uint64_t)seen[i].size);
		k = hlg_index_find(&index, hash, is_same, &search);
		if (k != HLG_INDEX_NONE)
			hlg_twice_tell(paths->text[i], paths->text[k], "profile",
				       "twice");
		else
			ok = hlg_index_add(&index, hash, (uint32_t)i);
	}
	hlg_index_finish(&index);
}

/* Adds the names of the list, which keeps them, to the profiles. */
static int take_list(struct arguments *args, struct hlg_list *list, struct hlg_err *err)
{
	int rc = args->list ? hlg_list_read(list, args->list, args->nul, err) : 0;
	char **all;

	if (rc < 0 || list->n == 0)
		return rc;
	all = reallocarray(args->paths.text, args->paths.n + list->n, sizeof(*all));
	if (!all)
		return hlg_err_memory(err, "arguments");
	memcpy(all + args->paths.n, list->names, list->n * sizeof(*all));
	args->paths.text = all;
	args->paths.n += list->n;
	return 0;
}

/* What is left out is told, and in the sum. */
static int sum(const struct arguments *args, struct hlg_err *err)
{
	struct hlg_progress progress;
	struct hlg_pprof_merging merging = {
		.paths = args->paths.text,
		.n = args->paths.n,
		.threads = args->threads ? (unsigned)args->threads : hlg_cpus_count(),
		.failures = (enum hlg_pprof_failures)args->failures,
		.progress = &progress};
	int rc;

	hlg_progress_init(&progress, args->paths.text, args->paths.n, args->quiet);
	rc = hlg_pprof_merge(&merging, args->out, stdout, err);
	hlg_progress_end(&progress);
	for (size_t i = 0; rc == 0 && i < merging.n_left_out; i++)
		hlg_output_error(&merging.left_out[i].err);
	if (rc == 0 && merging.n_left_out)
		fprintf(stderr,
			"hlguest: note: %zu of %zu profile%s could not be read and %s "
			"left out, as reports of the sum say\n",
			merging.n_left_out, args->paths.n, hlg_plural_s(args->paths.n),
			hlg_plural_word(merging.n_left_out, "is", "are"));
	free(merging.left_out);
	return rc;
}

static int merge(struct arguments *args)
{
	struct hlg_list list = {0};
	struct content *seen = NULL;
	struct hlg_err err;
	int rc = hlg_pprof_check(&err);

	if (rc == 0)
		rc = take_list(args, &list, &err);
	if (rc == 0 && args->list)
		rc = hlg_target_check_input(args->out, args->list, &err);
	if (rc == 0)
		seen = calloc(args->paths.n + 1, sizeof(*seen));
	if (rc == 0 && !seen)
		rc = hlg_err_memory(&err, "arguments");
	for (size_t i = 0; rc == 0 && i < args->paths.n; i++)
		rc = hlg_target_check_input(args->out, args->paths.text[i], &err);
	if (rc == 0)
		rc = hlg_out_check(args->out, HLG_MAGIC_NONE, &err);
	if (rc == 0)
		rc = sum(args, &err);
	if (rc == 0 && seen)
		warn_twice(&args->paths, seen);
	free(seen);
	hlg_list_finish(&list);
	return rc < 0 ? hlg_output_error(&err) : 0;
}

static int run(const struct hlg_verb *verb, int argc, char **argv)
{
	struct arguments args = {0};
	int status;

	if (hlg_argp_run_verb(verb, argc, argv, &args, &status))
		status = merge(&args);
	free(args.paths.text);
	return status;
}

static const struct hlg_verb_option options[] = {
	{.name = "input-list",
	 .letter = 'f',
	 .value = "FILE",
	 .help = "a file that names profiles, a line each; - is standard input",
	 .files = "file",
	 .kind = HLG_VERB_TEXT,
	 .reads = true,
	 .field = offsetof(struct arguments, list)},
	HLG_LIST_NULL(struct arguments, nul),
	{HLG_CPUS_JOBS, .field = offsetof(struct arguments, threads), .low = 0,
	 .high = HLG_CPUS_MOST},
	{.name = "failures",
	 .value = "any|all|warn",
	 .help = "there is no sum if any profile cannot be read, or only if all cannot; "
		 "or there always is, and a warning",
	 .kind = HLG_VERB_ONE_OF,
	 .fallback = "any",
	 .field = offsetof(struct arguments, failures)},
	HLG_VERB_OUTPUT(struct arguments, out, "where the sum goes; written atomically"),
	HLG_VERB_QUIET(struct arguments, quiet, "no progress on the terminal"),
	{.kind = HLG_VERB_TEXTS, .field = offsetof(struct arguments, paths)},
	{0},
};

const struct hlg_verb hlg_verb_merge = {
	.name = "merge",
	.args = "-o FILE PROFILE...",
	.help = "sum saved profiles",
	.group = HLG_VERB_CONVERTS,
	.usage = "-o FILE PROFILE...",
	.doc = "Sums profiles that hlguest report --format=pprof saved. Nothing is "
	       "lost, and neither order nor grouping matters.\v"
	       "PROFILE may be -, standard input. Builds, and bases of one build, are "
	       "kept apart.",
	.examples = "hlguest report --format=pprof -o one.pb.gz guest.elf\tfirst: a "
		    "recording as a saved profile\n"
		    "hlguest merge -o all.pb.gz one.pb.gz two.pb.gz\tthe sum of two\n"
		    "hlguest report guest.elf all.pb.gz\tits report",
	.files = "profile",
	.options = options,
	.check = check,
	.run = run,
};
