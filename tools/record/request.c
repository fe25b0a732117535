// SPDX-License-Identifier: GPL-2.0-only
#include "tools/record/request.h"

#include <string.h>
#include <unistd.h>

#include "filter/output/target.h"

bool hlg_record_request_traces(const struct hlg_record_request *args)
{
	return args->exits || args->stacks || args->sandboxes || args->both;
}

struct hlg_record_tracing hlg_record_request_tracing(
	const struct hlg_record_request *args, const char *event)
{
	return (struct hlg_record_tracing){.exits = args->exits,
					   .stacks = args->stacks || args->both,
					   .sandboxes = args->sandboxes,
					   .event = event,
					   .frequency = args->frequency,
					   .root = ""};
}

/* What guest stacks do not go together with. */
static int check_guest_stacks(const struct hlg_record_request *args, struct hlg_err *err)
{
	if (args->stack_bytes &&
	    !(args->guest_stacks ? args->way != HLG_GUEST_STACKS_FP : args->both))
		return hlg_err_set(
			err, HLG_EINPUT,
			"--stack-size: only stacks that are unwound by tables are copied "
			"(use it with -g, or --guest-stacks=cfi or auto)");
	if (args->guest_stacks && args->windows)
		return hlg_err_set(
			err, HLG_EINPUT,
			"--guest-stacks and --windows: record different things "
			"(give one)");
	if (args->guest_stacks && args->out && strcmp(args->out, "-") == 0)
		return hlg_err_set(err, HLG_EINPUT,
				   "--guest-stacks: writes the recording twice (give a "
				   "file: -o FILE)");
	return 0;
}

/* What several runs do not go together with. */
static int check_runs(const struct hlg_record_request *args, struct hlg_err *err)
{
	if (!args->runs)
		return 0;
	if (!args->command)
		return hlg_err_set(err, HLG_EINPUT,
				   "--runs: of what is not known (give the command that "
				   "each run is of: -- COMMAND)");
	if (args->windows)
		return hlg_err_set(err, HLG_EINPUT,
				   "--runs and --windows: runs are for hlguest diff, "
				   "which compares samples (give one)");
	if (args->out && strcmp(args->out, "-") == 0)
		return hlg_err_set(err, HLG_EINPUT,
				   "--runs: each run has a file of its own (give their "
				   "name: -o FILE)");
	return 0;
}

int hlg_record_request_check_whom(const struct hlg_record_request *args,
				  struct hlg_err *err)
{
	if (!args->pid || !args->everything)
		return 0;
	return hlg_err_set(err, HLG_EINPUT,
			   "-p %s and -a: these processes or all (use one of both)",
			   args->pid);
}

int hlg_record_request_check(void *arguments, struct hlg_err *err)
{
	const struct hlg_record_request *args = arguments;

	if (args->compress && !HLG_HAVE_ZSTD)
		return hlg_err_set(err, HLG_EINPUT,
				   "-z: this build reads no compressed recordings (leave "
				   "it out, or build with libzstd)");
	if (args->windows && hlg_record_request_traces(args))
		return hlg_err_set(err, HLG_EINPUT,
				   "%s and --windows: record different things (give one)",
				   args->both     ? "-g"
				   : args->exits  ? "--exits"
				   : args->stacks ? "--stacks"
						  : "--sandboxes");
	if (check_guest_stacks(args, err) < 0 || check_runs(args, err) < 0 ||
	    hlg_target_check_magic(args->out, HLG_MAGIC_RECORDING, err) < 0)
		return HLG_EINPUT;
	if (!args->command && !args->pid && !args->everything)
		return hlg_err_set(err, HLG_EINPUT,
				   "nothing to record (use -- COMMAND, -p PID or -a)");
	if (args->out && strcmp(args->out, "-") == 0 && isatty(STDOUT_FILENO))
		return hlg_err_set(err, HLG_EINPUT,
				   "-o -: a recording is binary, and not for a terminal "
				   "(use -o FILE, or a pipe)");
	if (hlg_record_request_check_whom(args, err) < 0)
		return HLG_EINPUT;
	if (args->count && !args->windows)
		return hlg_err_set(err, HLG_EINPUT,
				   "-c %s: only with --windows=EVENTS (use -F)",
				   args->count);
	if (args->windows && (args->event || args->frequency))
		return hlg_err_set(err, HLG_EINPUT,
				   "--windows=%s: its first event samples (use -c N, and "
				   "neither -e nor -F)",
				   args->windows);
	return 0;
}
