// SPDX-License-Identifier: GPL-2.0-only
/* hlguest merge: saved profiles summed into one. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "filter/output/out.h"
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
				   "--out=x.pb.gz saves one)");
	if (hlg_target_is_stream(args->out) && isatty(STDOUT_FILENO))
		return hlg_err_set(
			err, HLG_EINPUT,
			"a profile is binary, and not for a terminal (use -o FILE)");
	return 0;
}

static int merge(const struct arguments *args)
{
	struct hlg_progress progress;
	struct hlg_err err;
	int rc = hlg_pprof_check(&err);

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
