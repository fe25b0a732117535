// SPDX-License-Identifier: GPL-2.0-only
/* hlguest merge: saved profiles summed into one. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "filter/output/out.h"
#include "symtab/escape.h"
#include "symtab/file.h"
#include "tools/cli/argp-run.h"
#include "tools/cli/output.h"
#include "tools/cli/verb.h"
#include "tools/pprof/pprof.h"

struct arguments {
	const char *out;
	bool quiet;
	struct hlg_verb_texts paths;
};

static int check(void *arguments, struct hlg_err *err)
{
	const struct arguments *args = arguments;

	if (args->paths.n == 0)
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

static void warn(const char *path, const char *same)
{
	fputs("hlguest: ", stderr);
	hlg_escape_print(stderr, path);
	if (strcmp(path, same) == 0) {
		fputs(": is named twice (it counts twice)\n", stderr);
		return;
	}
	fputs(": is the same profile as ", stderr);
	hlg_escape_print(stderr, same);
	fputs(" (it counts twice)\n", stderr);
}

/* Sums of one thing with itself are seldom meant. seen has room for all paths. */
static void warn_twice(const struct hlg_verb_texts *paths, struct content *seen)
{
	for (size_t i = 0; i < paths->n; i++) {
		size_t k = 0;

		if (!look(&seen[i], paths->text[i])) {
			seen[i].size = 0;
			continue;
		}
		while (k < i &&
		       (seen[k].size != seen[i].size ||
			memcmp(seen[k].end, seen[i].end, sizeof(seen->end)) != 0))
			k++;
		if (k < i)
			warn(paths->text[i], paths->text[k]);
	}
}

static int merge(const struct arguments *args)
{
	struct content *seen = calloc(args->paths.n + 1, sizeof(*seen));
	struct hlg_progress progress;
	struct hlg_err err;
	int rc = seen ? hlg_pprof_check(&err) : hlg_err_memory(&err, "arguments");

	for (size_t i = 0; rc == 0 && i < args->paths.n; i++)
		rc = hlg_target_check_input(args->out, args->paths.text[i], &err);
	if (rc == 0)
		rc = hlg_out_check(args->out, HLG_MAGIC_NONE, &err);
	if (rc == 0) {
		hlg_progress_init(&progress, args->paths.text, args->paths.n,
				  args->quiet);
		rc = hlg_pprof_merge(args->paths.text, args->paths.n, args->out, stdout,
				     &progress, &err);
		hlg_progress_end(&progress);
	}
	if (rc == 0)
		warn_twice(&args->paths, seen);
	free(seen);
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
