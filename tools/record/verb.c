// SPDX-License-Identifier: GPL-2.0-only
/*
 * hlguest record: perf record with what a guest needs, and afterwards one line of what
 * was recorded. Nothing of the guest is needed yet. perf gets its words as words: no
 * shell sees a name. perf kvm record would do the same, but perf 7.2 ends that with
 * SIGABRT.
 */
#include <string.h>

#include "filter/options/number.h"
#include "tools/cli/argp-run.h"
#include "tools/inputs/given.h"
#include "tools/record/options.h"
#include "tools/record/runs.h"
#include "tools/record/session.h"

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

static int run(const struct hlg_verb *verb, int argc, char **argv)
{
	struct hlg_record_request args = {0};
	int status;

	if (hlg_argp_run_verb(verb, argc, argv, &args, &status))
		status = args.runs ? hlg_record_session_runs(&args)
				   : hlg_record_session(&args);
	hlg_record_guests_finish(&args.guests);
	return status;
}

static const struct hlg_verb_option options[] = {
	HLG_RECORD_PID(struct hlg_record_request, pid),
	HLG_RECORD_ALL_CPUS(struct hlg_record_request, everything),
	HLG_RECORD_HOST(struct hlg_record_request, host),
	HLG_RECORD_EVENT(struct hlg_record_request, event),
	{.name = "count",
	 .heading = HLG_RECORD_HOW,
	 .letter = 'c',
	 .value = "N",
	 .help = "with --windows: one window every N of the first event",
	 .fallback = HLG_RECORD_WINDOW,
	 .kind = HLG_VERB_NUMBER,
	 .set = set_count},
	HLG_RECORD_FREQ(struct hlg_record_request, frequency),
	{.name = "runs",
	 .heading = HLG_RECORD_HOW,
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
	 .fallback = HLG_INPUTS_DEFAULT "; with --host " HLG_INPUTS_HOST,
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
	 .heading = HLG_RECORD_WHAT,
	 .help = "also what hlguest exits needs",
	 .kind = HLG_VERB_FLAG,
	 .field = offsetof(struct hlg_record_request, exits)},
	{.name = "call-graph",
	 .heading = HLG_RECORD_WHAT,
	 .letter = 'g',
	 .help = "stacks of host and guest, where they can be had",
	 .kind = HLG_VERB_FLAG,
	 .field = offsetof(struct hlg_record_request, both)},
	{.name = "stacks",
	 .heading = HLG_RECORD_WHAT,
	 .help = "stacks of the host, for hlguest flame",
	 .kind = HLG_VERB_FLAG,
	 .field = offsetof(struct hlg_record_request, stacks)},
	{.name = "guest-stacks",
	 .heading = HLG_RECORD_WHAT,
	 .value = "fp|cfi|auto",
	 .optional = true,
	 .help = "callers inside the guest: by its frame pointers, by its unwind tables, "
		 "or by what it has",
	 .fallback = "(auto)",
	 .kind = HLG_VERB_ONE_OF,
	 .set = set_guest_stacks},
	{.name = "stack-size",
	 .heading = HLG_RECORD_WHAT,
	 .value = "SIZE",
	 .help = "bytes of each stack that are copied, where unwind tables are used: 4K "
		 "to 128K",
	 .fallback = "16K",
	 .kind = HLG_VERB_NUMBER,
	 .set = set_stack_size},
	{.name = "sandboxes",
	 .heading = HLG_RECORD_WHAT,
	 .help = "also which sandbox each sample is of; by itself where COMMAND names "
		 "several guests",
	 .kind = HLG_VERB_FLAG,
	 .field = offsetof(struct hlg_record_request, sandboxes)},
	HLG_VERB_QUIET(struct hlg_record_request, quiet,
		       "print only errors, also of perf"),
	{.name = "windows",
	 .heading = HLG_RECORD_WHAT,
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
