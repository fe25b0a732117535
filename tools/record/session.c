// SPDX-License-Identifier: GPL-2.0-only
#include "tools/record/session.h"

#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "filter/options/number.h"
#include "filter/output/out.h"
#include "filter/stats/rate.h"
#include "symtab/escape.h"
#include "symtab/shell.h"
#include "tools/beside/text.h"
#include "tools/cli/output.h"
#include "tools/inputs/given.h"
#include "tools/inputs/images.h"
#include "tools/perfdata/count.h"
#include "tools/record/both.h"
#include "tools/record/command.h"
#include "tools/record/counters.h"
#include "tools/record/event.h"
#include "tools/record/keep.h"
#include "tools/record/modifiers.h"
#include "tools/record/perf.h"
#include "tools/record/runs.h"
#include "tools/record/tell.h"

const char *hlg_record_session_event(const struct hlg_record_request *args)
{
	if (args->event)
		return args->event;
	if (!hlg_record_counters_of_guests())
		return "cpu-clock";
	return args->host ? "cycles:HG" : "cycles:G";
}

bool hlg_record_session_guest(struct hlg_record_request *args)
{
	return args->command &&
	       hlg_record_guests_add_command(&args->guests, args->command);
}

/* The guests of the command; of all processes those that are sampled and still run. */
static void find_guests(struct hlg_record_request *args)
{
	int32_t pids[1024]; /* many may run one guest */
	const size_t most = sizeof(pids) / sizeof(pids[0]);
	size_t n = 0;

	if (!hlg_record_session_guest(args) && args->everything)
		n = hlg_perfdata_count_pids(args->out, pids, most);
	for (size_t i = 0; i < n; i++)
		hlg_record_process_add(&args->guests, pids[i]);
	args->guests.full |= n == most;
}

/* perf says nothing of a full disk, nor of what ended it. */
static void tell_none(const char *out, int status, const struct hlg_record_keep *keep)
{
	const char *end = status > 128 ? sigdescr_np(status - 128) : NULL;

	fputs("hlguest: ", stderr);
	hlg_escape_print(stderr, out);
	fputs(": nothing was recorded: ", stderr);
	if (status && hlg_record_keep_is_full(keep))
		fputs("the disk is full (make room, or record on another: hlguest record "
		      "-o FILE)\n",
		      stderr);
	else if (end)
		fprintf(stderr, "perf was ended: %s%s\n", end,
			status == 128 + SIGXFSZ ? " (raise ulimit -f)" : "");
	else if (status)
		fprintf(stderr,
			"perf ended with status %d (see what it said; hlguest doctor "
			"shows what this machine can record)\n",
			status);
	else
		fputs("perf ended with status 0, and wrote no file (hlguest doctor shows "
		      "which perf that is)\n",
		      stderr);
}

/* A perf that was started without us knows of no lock. Returns the exit status. */
static int tell_lost(const char *out)
{
	struct hlg_err err;

	hlg_err_set(&err, HLG_EINPUT,
		    "%s: another recording took this name meanwhile; this one is %s.old, "
		    "or lost if there were two (" HLG_RECORD_KEEP_ELSEWHERE ")",
		    out, out);
	return hlg_output_error(&err);
}

/* Tells what came of it; returns the exit status, from perf's. */
static int finish(struct hlg_record_request *args, const char *event, int status,
		  struct hlg_record_keep *keep, struct hlg_guest_stacks *stacks)
{
	bool is_new = hlg_record_keep_is_new(keep);

	if (is_new) {
		find_guests(args);
		args->guest_stacks = hlg_guest_stacks_end(
			stacks, args->out, hlg_record_guests_only(&args->guests),
			args->quiet);
		is_new = hlg_record_keep_renew(keep);
	}
	if (is_new) {
		/* Nothing but ^C ends what has no command. */
		if (!args->command && status == 128 + SIGINT)
			status = 0;
		args->cut = status != 0 && hlg_record_keep_is_full(keep);
		if (args->cut)
			status = 1;
		if (hlg_record_tell(args, event, status, stacks) != 0 && status == 0)
			status = 1;
		if (!args->quiet)
			hlg_record_tell_old(keep);
	} else if (keep->lost) {
		int lost = tell_lost(args->out);

		status = status ? status : lost;
	} else if (strcmp(args->out, "-") != 0 && status != 127 &&
		   (status != 0 || hlg_record_keep_is_absent(keep))) {
		tell_none(args->out, status, keep);
		status = status ? status : 1;
	}
	return status;
}

/* Words of others in the command's place: a guest as report takes it, or the way of
 * --guest-stacks, which has to follow a '='. */
static int check_command(const struct hlg_record_request *args, struct hlg_err *err)
{
	const char *first = args->command ? args->command[0] : "";
	char vmm[PATH_MAX];

	if (!args->command)
		return 0;
	if (args->guest_stacks && access(first, F_OK) != 0 &&
	    (strcmp(first, "fp") == 0 || strcmp(first, "cfi") == 0 ||
	     strcmp(first, "auto") == 0)) {
		hlg_err_set(err, HLG_EINPUT, "%s: is no command (use --guest-stacks=%s)",
			    first, first);
		return 2;
	}
	if (args->command[1] && strcmp(args->command[1], "--") == 0 &&
	    hlg_images_file_kind(first) == HLG_FILE_KIND_IMAGE) {
		hlg_err_set(err, HLG_EINPUT,
			    "%s: stands in front of --, where record takes no guest (use "
			    "hlguest record -- %s ..., and name the guest to report)",
			    first,
			    hlg_shell_put(vmm, sizeof(vmm),
					  args->command[2] ? args->command[2] : "./vmm"));
		return 2;
	}
	return hlg_record_command_check(first, err);
}

int hlg_record_session_check(const struct hlg_record_request *args, const char *event,
			     struct hlg_err *err)
{
	int rc = hlg_record_counters_check(event, args->windows != NULL, err);

	/* What is given of these is the same in each run. */
	if (rc == 0 && args->run == 0 && args->pid)
		rc = hlg_record_process_check_list(args->pid, err);
	if (rc == 0 && args->run == 0)
		rc = hlg_record_event_check(event, args->windows ? 'W' : 'e',
					    args->windows ? args->windows : event, err);
	if (rc == 0 && args->run == 0 && !args->both && hlg_record_request_traces(args)) {
		const struct hlg_record_tracing how =
			hlg_record_request_tracing(args, event);

		rc = hlg_record_tracing_check(&how, err);
	}
	return rc;
}

/* Can the recording be written? Where nobody has named it, as behind "hlguest --", where
 * -o is the report's, it is told how that is done. */
static int check_out(const struct hlg_record_request *args, struct hlg_err *err)
{
	const char *advice = strcmp(args->out, HLG_INPUTS_DEFAULT) == 0
				     ? HLG_RECORD_KEEP_ELSEWHERE
				     : "name another";

	return hlg_out_check_or(args->out, HLG_MAGIC_RECORDING, advice, err);
}

/* What perf would find out too late. Returns the exit status. */
static int refuse(const struct hlg_record_request *args, const char *event)
{
	struct hlg_err err;
	int status = check_command(args, &err);

	/* perf gives a folder that has the name another one. */
	if (status == 0 && hlg_target_look(args->out) != HLG_TARGET_FOLDER &&
	    check_out(args, &err) < 0)
		status = 1;
	if (status == 0 && hlg_record_session_check(args, event, &err) < 0)
		return hlg_output_error(&err);
	if (status != 0)
		hlg_output_error(&err);
	return status;
}

/* The guest may be there already; if not, it is looked for when perf has ended. */
static int begin_guest_stacks(struct hlg_record_request *args,
			      struct hlg_guest_stacks *stacks, struct hlg_err *err)
{
	struct hlg_record_guests running = {0};
	struct hlg_guest_stacks_how how = {
		.way = args->way,
		.bytes = args->stack_bytes ? args->stack_bytes : HLG_GUEST_STACKS_BYTES,
		.command = args->command,
		.recording = args->out};
	int rc;

	/* Of all that run, those that will have samples are not known yet. */
	if (!hlg_record_session_guest(args) && args->everything)
		hlg_record_process_add_vmms(&running);
	how.guest = hlg_record_guests_only(running.n ? &running : &args->guests);
	rc = hlg_guest_stacks_begin(stacks, &how, err);
	hlg_record_guests_finish(&running);
	return rc;
}

/* Begins with guest stacks, and with -g settles what is recorded. */
static int begin_stacks(struct hlg_record_request *args, const char *event,
			struct hlg_guest_stacks *stacks, struct hlg_err *err)
{
	const struct hlg_record_tracing how = hlg_record_request_tracing(args, event);
	int rc = 0;

	if (args->both && !args->guest_stacks)
		args->guest_stacks = hlg_record_both_callers(args->out);
	if (args->guest_stacks)
		rc = begin_guest_stacks(args, stacks, err);
	if (rc == 0 && args->both && !args->stacks)
		rc = hlg_record_both_host(&how, stacks, err);
	args->stacks |= rc > 0;
	if (rc >= 0)
		hlg_guest_stacks_warn(stacks, args->run > 0);
	args->both = false;
	return rc < 0 ? rc : 0;
}

/* How often to sample better. */
static void advise_rate(const struct hlg_record_request *args)
{
	uint64_t n;

	if (args->quiet || args->run || args->windows ||
	    !hlg_number_u64(args->frequency, &n))
		return;
	if (n >= HLG_RATE_DENSE)
		fprintf(stderr,
			"hlguest: -F %" PRIu64 ": so often, taking samples is much of "
			"what runs, and shares may be wrong (use -F 4999 or less, for "
			"longer)\n",
			n);
	else if (hlg_rate_is_round(n))
		fprintf(stderr,
			"hlguest: -F %" PRIu64 ": a round rate may fall into step with "
			"a clock of the guest, and shares be wrong (use -F %" PRIu64
			")\n",
			n, hlg_rate_beside(n));
}

/* Of several guests that one command runs, each sandbox is recorded where that is
 * allowed: addresses do not tell which of two ran that lie at one base. */
static void choose_sandboxes(struct hlg_record_request *args, const char *event)
{
	struct hlg_record_tracing how;
	struct hlg_err err;
	char *line = NULL;
	int rc;

	hlg_record_session_guest(args);
	if (args->sandboxes || args->windows || !args->guests.several)
		return;
	how = hlg_record_request_tracing(args, event);
	how.sandboxes = true;
	args->sandboxes = hlg_record_tracing_check(&how, &err) == 0;
	if (args->quiet || args->run)
		return;
	if (args->sandboxes)
		rc = asprintf(&line,
			      "hlguest: several guests may run in turn: --sandboxes is "
			      "on, to know which one each sample is of");
	else
		rc = asprintf(&line,
			      "hlguest: several guests may run in turn, and which one "
			      "each sample is of cannot be recorded: %s",
			      err.msg);
	if (rc < 0)
		return;
	hlg_output_fold(stderr, 0, 0, line);
	free(line);
}

/* Returns the exit status. */
static int record_event(struct hlg_record_request *args, const char *event)
{
	struct hlg_guest_stacks stacks = {0};
	struct hlg_record_keep keep;
	const char **words = NULL;
	struct hlg_err err;
	int status = refuse(args, event);
	char *counted;

	if (status != 0)
		return status;
	advise_rate(args);
	if (args->pid) /* as long as it runs */
		hlg_record_process_add_list(&args->guests, args->pid);
	counted = hlg_record_modifiers_add(event, args->host);
	if (counted)
		choose_sandboxes(args, counted);
	if (!counted)
		hlg_err_memory(&err, "record");
	else if (begin_stacks(args, counted, &stacks, &err) == 0)
		words = hlg_record_perf_words(args, counted, &stacks, &err);
	if (words && hlg_record_keep_begin(&keep, args->out, &err) == 0) {
		status = hlg_record_perf_run(words, &stacks);
		status = finish(args, event, status, &keep, &stacks);
	} else {
		status = hlg_output_error(&err);
	}
	free(counted);
	hlg_guest_stacks_finish(&stacks);
	free(words);
	return status;
}

int hlg_record_session(struct hlg_record_request *args)
{
	struct hlg_err err;
	char *group;
	int status;

	if (!args->out)
		args->out = args->host ? HLG_INPUTS_HOST : HLG_INPUTS_DEFAULT;
	if (!args->frequency)
		args->frequency = HLG_RECORD_FREQUENCY;
	if (!args->count)
		args->count = HLG_RECORD_WINDOW;
	if (!args->windows)
		return record_event(args, hlg_record_session_event(args));
	group = hlg_record_perf_group(args->windows);
	if (!group) {
		hlg_err_memory(&err, "record");
		return hlg_output_error(&err);
	}
	status = record_event(args, group);
	free(group);
	return status;
}

int hlg_record_session_runs(struct hlg_record_request *args)
{
	const char *out = args->out;
	uint64_t good = 0;
	int status = 0;

	if (!out)
		out = args->host ? HLG_INPUTS_HOST : HLG_INPUTS_DEFAULT;
	while (status == 0 && good < args->runs && !hlg_record_perf_interrupted()) {
		struct hlg_record_request one = *args;
		char name[PATH_MAX];
		struct hlg_err err;

		if (!hlg_record_runs_name(name, out, good + 1)) {
			hlg_err_set(&err, HLG_EINPUT, "%s: the name is too long", out);
			return hlg_output_error(&err);
		}
		one.out = name;
		one.run = good;
		one.guests = (struct hlg_record_guests){0};
		status = hlg_record_session(&one);
		hlg_record_guests_finish(&args->guests);
		args->guests = one.guests;
		good += status == 0 && !hlg_record_perf_interrupted();
	}
	hlg_record_tell_runs(args, out, good);
	return status == 0 && good < args->runs ? 128 + SIGINT : status;
}
