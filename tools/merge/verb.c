// SPDX-License-Identifier: GPL-2.0-only
/* hlguest merge: saved profiles summed into one. */
#include <argp.h>
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
	char **paths; /* not owned, but the list */
	size_t n_paths;
};

static error_t parse(int key, char *value, struct argp_state *state)
{
	struct arguments *args = state->input;

	switch (key) {
	case 'o':
		args->out = value;
		return 0;
	case 'q':
		args->quiet = true;
		return 0;
	case ARGP_KEY_ARG:
		args->paths[args->n_paths++] = value;
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_error(state, "no profile is given (hlguest report --format=pprof "
				  "--out=x.pb.gz saves one)");
		return 0;
	case ARGP_KEY_SUCCESS:
		if (hlg_target_is_stream(args->out) && isatty(STDOUT_FILENO))
			argp_error(state, "a profile is nothing for a terminal (say -o "
					  "FILE)");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static int merge(const struct arguments *args)
{
	struct hlg_progress progress;
	struct hlg_err err;
	int rc = hlg_pprof_check(&err);

	for (size_t i = 0; rc == 0 && i < args->n_paths; i++)
		rc = hlg_target_check_input(args->out, args->paths[i], &err);
	if (rc == 0)
		rc = hlg_out_check(args->out, HLG_MAGIC_NONE, &err);
	if (rc == 0) {
		hlg_progress_init(&progress, args->paths, args->n_paths, args->quiet);
		rc = hlg_pprof_merge(args->paths, args->n_paths, args->out, stdout,
				     &progress, &err);
		hlg_progress_end(&progress);
	}
	return rc < 0 ? hlg_output_error(&err) : 0;
}

int hlg_verb_merge(int argc, char **argv)
{
	static const struct argp_option options[] = {
		{"output", 'o', "FILE", 0,
		 "where the sum goes (standard output); whole or not at all", 0},
		{"quiet", 'q', NULL, 0, "no progress on the terminal", 0},
		{0}};
	const struct argp argp = {
		options,
		parse,
		"-o FILE PROFILE...",
		"Sums profiles that hlguest report --format=pprof saved. "
		"Nothing is lost, and neither order nor grouping "
		"matters.\v"
		"PROFILE may be -, standard input. Builds, and bases of one build, are "
		"kept apart.",
		NULL,
		NULL,
		NULL};
	struct arguments args = {0};
	int status;

	args.paths = calloc((size_t)argc + 1, sizeof(*args.paths));
	if (!args.paths)
		hlg_words_no_memory();
	hlg_words_parse(&argp, argc, argv, 0, &args);
	status = merge(&args);
	free(args.paths);
	return status;
}
