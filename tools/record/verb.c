// SPDX-License-Identifier: GPL-2.0-only
/*
 * hlguest record: perf record with what a guest needs, and afterwards one line of what
 * was recorded. Nothing of the guest is needed yet. perf gets its words as words: no
 * shell sees a name. perf kvm record would do the same, but perf 7.2 ends that with
 * SIGABRT.
 */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "filter/options/number.h"
#include "filter/stats/rate.h"
#include "symtab/escape.h"
#include "tools/beside/beside.h"
#include "tools/cli/argp-run.h"
#include "tools/cli/output.h"
#include "tools/cli/verb.h"
#include "tools/inputs/images.h"
#include "tools/record/both.h"
#include "tools/record/command.h"
#include "tools/record/count.h"
#include "tools/record/counters.h"
#include "tools/record/guest-stacks.h"
#include "tools/record/keep.h"
#include "tools/record/modifiers.h"
#include "tools/record/perf.h"
#include "tools/record/process.h"
#include "tools/record/request.h"
#include "tools/record/runs.h"
#include "tools/record/tell.h"
#include "tools/record/tracing.h"

/* A prime, so that sampling does not fall into step with what is sampled. */
#define FREQUENCY "997"

/* A window of counters: with instructions some 100 us, with clocks 1 ms. */
#define WINDOW "1000000"

static int set_frequency(void *arguments, const struct hlg_verb_option *option,
			 char *value, struct hlg_err *err)
{
	struct hlg_record_request *args = arguments;
	uint64_t n;

	args->frequency = value;
	if (strcmp(value, "max") == 0 || (hlg_number_u64(value, &n) && n > 0))
		return 0;
	return hlg_err_set(err, HLG_EINPUT,
			   "-%c %s: not a frequency (samples a second, or max)",
			   option->letter, value);
}

static int refuse_threads(void *arguments, const struct hlg_verb_option *option,
			  char *value, struct hlg_err *err)
{
	(void)arguments;
	(void)value;
	return hlg_err_set(
		err, HLG_EINPUT,
		"--%s: perf makes a folder of files then, and record looks after "
		"one file (use perf record --threads -e cpu-clock:HG, whose "
		"folder hlguest report reads)",
		option->name);
}

static int set_count(void *arguments, const struct hlg_verb_option *option, char *value,
		     struct hlg_err *err)
{
	struct hlg_record_request *args = arguments;
	uint64_t n;

	args->count = value;
	if (hlg_number_u64(value, &n) && n > 0)
		return 0;
	return hlg_err_set(err, HLG_EINPUT, "-%c %s: not a number of events",
			   option->letter, value);
}

static int set_runs(void *arguments, const struct hlg_verb_option *option, char *value,
		    struct hlg_err *err)
{
	struct hlg_record_request *args = arguments;

	if (hlg_number_u64(value, &args->runs) && args->runs > 0 &&
	    args->runs <= HLG_RECORD_RUNS_MOST)
		return 0;
	return hlg_err_set(err, HLG_EINPUT, "--%s=%s: not a number of runs (1 to %d)",
			   option->name, value, HLG_RECORD_RUNS_MOST);
}

static int set_guest_stacks(void *arguments, const struct hlg_verb_option *option,
			    char *value, struct hlg_err *err)
{
	static const char *const words[] = {[HLG_GUEST_STACKS_AUTO] = "auto",
					    [HLG_GUEST_STACKS_FP] = "fp",
					    [HLG_GUEST_STACKS_CFI] = "cfi"};
	struct hlg_record_request *args = arguments;

	args->guest_stacks = true;
	args->way = HLG_GUEST_STACKS_AUTO;
	for (size_t i = 0; value && i < sizeof(words) / sizeof(words[0]); i++)
		if (strcmp(value, words[i]) == 0) {
			args->way = (enum hlg_guest_stacks_way)i;
			return 0;
		}
	if (!value)
		return 0;
	return hlg_err_set(err, HLG_EINPUT,
			   "--%s=%s: no such way (fp: by frame pointers, cfi: by unwind "
			   "tables, or auto: what the guest has)",
			   option->name, value);
}

static int set_stack_size(void *arguments, const struct hlg_verb_option *option,
			  char *value, struct hlg_err *err)
{
	struct hlg_record_request *args = arguments;

	if (hlg_number_size(value, &args->stack_bytes) &&
	    args->stack_bytes >= HLG_GUEST_STACKS_LEAST &&
	    args->stack_bytes <= HLG_WALK_COPY_MAX)
		return 0;
	return hlg_err_set(err, HLG_EINPUT,
			   "--%s=%s: not a size (bytes of each stack to copy, from 4K to "
			   "128K)",
			   option->name, value);
}

/* The guest of the command, and a module that it runs, as far as they are found. */
static bool find_guest(struct hlg_record_request *args)
{
	const char *guest =
		args->command ? hlg_record_command_guest(args->command) : NULL;
	const char *module =
		args->command ? hlg_record_command_module(args->command) : NULL;

	if (guest)
		hlg_record_guests_add(&args->guests, guest);
	if (module)
		hlg_record_guests_add(&args->guests, module);
	args->guests.module = guest && module;
	return guest || module;
}

/* The guests of the command; of all processes those that are sampled and still run. */
static void find_guests(struct hlg_record_request *args)
{
	int32_t pids[HLG_BESIDE_GUESTS];
	size_t n = 0;

	if (!find_guest(args) && args->everything)
		n = hlg_record_count_pids(args->out, pids, HLG_BESIDE_GUESTS);
	for (size_t i = 0; i < n; i++)
		hlg_record_process_add(&args->guests, pids[i]);
}

/* Tells what came of it; returns the exit status, from perf's. */
static int finish(struct hlg_record_request *args, const char *event, int status,
		  const struct hlg_record_keep *keep, struct hlg_guest_stacks *stacks)
{
	if (hlg_record_keep_is_new(keep, status)) {
		find_guests(args);
		args->guest_stacks = hlg_guest_stacks_end(
			stacks, args->out, hlg_record_guests_only(&args->guests),
			args->quiet);
		/* Nothing but ^C ends what has no command. */
		if (!args->command && status == 128 + SIGINT)
			status = 0;
		if (hlg_record_tell(args, event, status, stacks) != 0 && status == 0)
			status = 1;
		if (!args->quiet)
			hlg_record_tell_old(keep);
	} else if (status != 0 && status != 127 && strcmp(args->out, "-") != 0) {
		fputs("hlguest: ", stderr);
		hlg_escape_print(stderr, args->out);
		fprintf(stderr, ": nothing was recorded: perf ended with status %d\n",
			status);
	}
	return status;
}

/* Words of others in the command's place: a guest as report takes it, or the way of
 * --guest-stacks, which has to follow a '='. */
static int check_command(const struct hlg_record_request *args, struct hlg_err *err)
{
	const char *first = args->command ? args->command[0] : "";

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
			    first, args->command[2] ? args->command[2] : "./vmm");
		return 2;
	}
	return hlg_record_command_check(first, err);
}

/* What perf would find out too late, when it has begun a file. Returns the exit status.
 */
static int refuse(const struct hlg_record_request *args, const char *event)
{
	struct hlg_err err;
	int status = check_command(args, &err);

	if (status != 0) {
		hlg_output_error(&err);
		return status;
	}
	/* In place of cycles alone perf takes a clock. */
	if ((args->windows || !strstr(event, "cycles")) &&
	    hlg_record_counters_check(event, &err) < 0)
		return hlg_output_error(&err);
	return 0;
}

/* The guest may be there already; if not, it is looked for when perf has ended. */
static void begin_guest_stacks(struct hlg_record_request *args,
			       struct hlg_guest_stacks *stacks)
{
	struct hlg_record_guests running = {0};
	struct hlg_guest_stacks_how how = {
		.way = args->way,
		.bytes = args->stack_bytes ? args->stack_bytes : HLG_GUEST_STACKS_BYTES,
		.command = args->command,
		.recording = args->out};

	/* Of all that run, those that will have samples are not known yet. */
	if (!find_guest(args) && args->everything)
		hlg_record_process_add_vmms(&running);
	how.guest = hlg_record_guests_only(running.n ? &running : &args->guests);
	hlg_guest_stacks_begin(stacks, &how);
	hlg_record_guests_finish(&running);
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
		begin_guest_stacks(args, stacks);
	if (args->both && !args->stacks)
		rc = hlg_record_both_host(&how, stacks, err);
	args->stacks |= rc > 0;
	args->both = false;
	return rc < 0 ? rc : 0;
}

/* How often to sample better. */
static void advise_rate(const struct hlg_record_request *args)
{
	uint64_t n;

	if (args->quiet || args->windows || !hlg_number_u64(args->frequency, &n))
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
	if (!counted)
		hlg_err_memory(&err, "record");
	else if (begin_stacks(args, counted, &stacks, &err) == 0)
		words = hlg_record_perf_words(args, counted, &stacks, &err);
	if (words) {
		hlg_record_keep_begin(&keep, args->out);
		status = hlg_record_perf_run(words, &stacks);
	}
	free(counted);
	status = words ? finish(args, event, status, &keep, &stacks)
		       : hlg_output_error(&err);
	hlg_guest_stacks_finish(&stacks);
	free(words);
	return status;
}

/* Returns the exit status. */
static int record(struct hlg_record_request *args)
{
	struct hlg_err err;
	char *group;
	int status;

	if (!args->out)
		args->out = args->host ? "perf.data.kvm" : "perf.data.guest";
	if (!args->frequency)
		args->frequency = FREQUENCY;
	if (!args->count)
		args->count = WINDOW;
	if (!args->windows)
		return record_event(args, args->event                        ? args->event
					  : !hlg_record_counters_of_guests() ? "cpu-clock"
					  : args->host                       ? "cycles:HG"
						       : "cycles:G");
	group = hlg_record_perf_group(args->windows);
	if (!group) {
		hlg_err_memory(&err, "record");
		return hlg_output_error(&err);
	}
	status = record_event(args, group);
	free(group);
	return status;
}

/* Each run as if it were the only one; the first that fails, or is interrupted, ends it.
 * Returns the exit status. */
static int record_runs(struct hlg_record_request *args)
{
	const char *out = args->out;
	uint64_t good = 0;
	int status = 0;

	if (!out)
		out = args->host ? "perf.data.kvm" : "perf.data.guest";
	while (status == 0 && good < args->runs && !hlg_record_perf_interrupted()) {
		struct hlg_record_request one = *args;
		char name[PATH_MAX];
		struct hlg_err err;

		if (!hlg_record_runs_name(name, out, good + 1)) {
			hlg_err_set(&err, HLG_EINPUT, "%s: the name is too long", out);
			return hlg_output_error(&err);
		}
		one.out = name;
		one.guests = (struct hlg_record_guests){0};
		status = record(&one);
		hlg_record_guests_finish(&args->guests);
		args->guests = one.guests;
		good += status == 0 && !hlg_record_perf_interrupted();
	}
	hlg_record_tell_runs(args, out, good);
	return status == 0 && good < args->runs ? 128 + SIGINT : status;
}

static int run(const struct hlg_verb *verb, int argc, char **argv)
{
	struct hlg_record_request args = {0};
	int status;

	if (hlg_argp_run_verb(verb, argc, argv, &args, &status))
		status = args.runs ? record_runs(&args) : record(&args);
	hlg_record_guests_finish(&args.guests);
	return status;
}

/* Headings of help. */
#define WHOM "Which guests:"
#define WHAT "What is recorded:"
#define HOW  "How often:"

static const struct hlg_verb_option options[] = {
	{.name = "pid",
	 .heading = WHOM,
	 .letter = 'p',
	 .value = "PID",
	 .help = "a running VMM",
	 .files = "pid",
	 .kind = HLG_VERB_TEXT,
	 .field = offsetof(struct hlg_record_request, pid)},
	{.name = "all-cpus",
	 .heading = WHOM,
	 .letter = 'a',
	 .help = "all VMMs",
	 .kind = HLG_VERB_FLAG,
	 .field = offsetof(struct hlg_record_request, everything)},
	{.name = "host",
	 .heading = WHAT,
	 .letter = 'H',
	 .help = "sample the host as well",
	 .kind = HLG_VERB_FLAG,
	 .field = offsetof(struct hlg_record_request, host)},
	{.name = "event",
	 .heading = HOW,
	 .letter = 'e',
	 .value = "EVENT",
	 .help = "what to sample by",
	 .fallback = "cycles:G where guests have it, else cpu-clock",
	 .files = "=cycles:G cpu-clock",
	 .kind = HLG_VERB_TEXT,
	 .field = offsetof(struct hlg_record_request, event)},
	{.name = "count",
	 .heading = HOW,
	 .letter = 'c',
	 .value = "N",
	 .help = "with --windows: one window every N of the first event",
	 .fallback = WINDOW,
	 .kind = HLG_VERB_NUMBER,
	 .set = set_count},
	{.name = "freq",
	 .heading = HOW,
	 .letter = 'F',
	 .value = "HZ",
	 .help = "samples a second",
	 .fallback = FREQUENCY,
	 .kind = HLG_VERB_NUMBER,
	 .set = set_frequency},
	{.name = "runs",
	 .heading = HOW,
	 .value = "N",
	 .help = "run COMMAND N times, each into a recording of its own, for hlguest "
		 "diff",
	 .kind = HLG_VERB_NUMBER,
	 .set = set_runs},
	{.name = "output",
	 .alias = "out",
	 .letter = 'o',
	 .value = "FILE",
	 .heading = HLG_VERB_TO,
	 .help = "where the recording goes",
	 .fallback = "perf.data.guest; with --host perf.data.kvm",
	 .files = "file",
	 .kind = HLG_VERB_TEXT,
	 .field = offsetof(struct hlg_record_request, out)},
	{.name = "compress",
	 .letter = 'z',
	 .heading = HLG_VERB_TO,
	 .help = "have perf compress the recording",
	 .kind = HLG_VERB_FLAG,
	 .field = offsetof(struct hlg_record_request, compress)},
	{.name = "threads",
	 .value = "SPEC",
	 .optional = true,
	 .hidden = true,
	 .help = "",
	 .kind = HLG_VERB_TEXT,
	 .set = refuse_threads},
	{.name = "exits",
	 .heading = WHAT,
	 .help = "also what hlguest exits needs",
	 .kind = HLG_VERB_FLAG,
	 .field = offsetof(struct hlg_record_request, exits)},
	{.name = "call-graph",
	 .heading = WHAT,
	 .letter = 'g',
	 .help = "stacks of host and guest, where they can be had",
	 .kind = HLG_VERB_FLAG,
	 .field = offsetof(struct hlg_record_request, both)},
	{.name = "stacks",
	 .heading = WHAT,
	 .help = "stacks of the host, for hlguest flame",
	 .kind = HLG_VERB_FLAG,
	 .field = offsetof(struct hlg_record_request, stacks)},
	{.name = "guest-stacks",
	 .heading = WHAT,
	 .value = "fp|cfi|auto",
	 .optional = true,
	 .help = "callers inside the guest: by its frame pointers, by its unwind tables, "
		 "or by what it has",
	 .fallback = "(auto)",
	 .kind = HLG_VERB_ONE_OF,
	 .set = set_guest_stacks},
	{.name = "stack-size",
	 .heading = WHAT,
	 .value = "SIZE",
	 .help = "bytes of each stack that are copied, where unwind tables are used: 4K "
		 "to 128K",
	 .fallback = "16K",
	 .kind = HLG_VERB_NUMBER,
	 .set = set_stack_size},
	{.name = "sandboxes",
	 .heading = WHAT,
	 .help = "also which sandbox each sample is of",
	 .kind = HLG_VERB_FLAG,
	 .field = offsetof(struct hlg_record_request, sandboxes)},
	HLG_VERB_QUIET(struct hlg_record_request, quiet,
		       "print only errors, also of perf"),
	{.name = "windows",
	 .heading = WHAT,
	 .letter = 'W',
	 .value = "EVENTS",
	 .help = "counters for hlguest windows: EVENTS as one group, read every N of the "
		 "first",
	 .kind = HLG_VERB_TEXT,
	 .field = offsetof(struct hlg_record_request, windows)},
	/* The command and all that follow are its own. */
	{.kind = HLG_VERB_REST, .field = offsetof(struct hlg_record_request, command)},
	{0},
};

const struct hlg_verb hlg_verb_record = {
	.name = "record",
	.args = "[-a | -p PID | -- COMMAND]",
	.help = "record guests with perf",
	.group = HLG_VERB_PREPARES,
	.usage = "-- COMMAND [ARGUMENT...]\n-p PID [-- COMMAND...]\n-a [-- COMMAND...]",
	.doc = "Records guest samples with perf. -p and -a end with ^C, or with "
	       "COMMAND. The exit status is COMMAND's.",
	.examples = "hlguest record -- ./vmm guest.elf\ta VMM from its start to its end\n"
		    "hlguest record -p 17 -- sleep 10\tten seconds of one that runs\n"
		    "hlguest record -g -- ./vmm guest.elf\twith stacks of host and "
		    "guest, for hlguest flame",
	.files = "command",
	.in_order = true,
	.options = options,
	.check = hlg_record_request_check,
	.run = run,
};
