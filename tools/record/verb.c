// SPDX-License-Identifier: GPL-2.0-only
/*
 * hlguest record: perf kvm record with what a guest needs, and afterwards one line of
 * what was recorded. Nothing of the guest is needed yet. perf gets its words as words: no
 * shell sees a name.
 */
#include <argp.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "filter/options/number.h"
#include "filter/output/target.h"
#include "symtab/escape.h"
#include "tools/cli/argp-run.h"
#include "tools/cli/output.h"
#include "tools/cli/verb.h"
#include "tools/record/run.h"
#include "tools/record/tell.h"
#include "tools/record/tracing.h"

/* A prime, so that sampling does not fall into step with what is sampled. */
#define FREQUENCY "997"

/* A window of counters: with instructions some 100 us, with clocks 1 ms. */
#define WINDOW "1000000"

struct arguments {
	bool host, everything, exits, stacks;
	const char *event, *frequency, *out, *pid;
	const char *windows, *count; /* a group, and its leader's period */
	char **command;
};

enum {
	KEY_EXITS = 0x100,
	KEY_STACKS
};

static const struct argp_option options[] = {
	{"host", 'H', NULL, 0, "sample the host as well", 0},
	{"event", 'e', "EVENT", 0,
	 "what to sample by (cycles:G where guests have it, else cpu-clock)", 0},
	{"count", 'c', "N", 0,
	 "with --windows: a window each N of the first event "
	 "(" WINDOW ")",
	 0},
	{"freq", 'F', "HZ", 0, "samples a second (" FREQUENCY ")", 0},
	{"output", 'o', "FILE", 0,
	 "where to (perf.data.guest; with --host perf.data.kvm)", 0},
	{"exits", KEY_EXITS, NULL, 0, "what hlguest exits needs, beside samples", 0},
	{"stacks", KEY_STACKS, NULL, 0,
	 "callchains, and those of KVM_RUN, for the stacks of hlguest report", 0},
	{"pid", 'p', "PID", 0, "a VMM that runs already", 0},
	{"all-cpus", 'a', NULL, 0, "all VMMs", 0},
	{"windows", 'W', "EVENTS", 0,
	 "counters for hlguest windows: EVENTS as one group, read each N of the first",
	 0},
	{0},
};

static void set_frequency(struct arguments *args, const char *value,
			  struct argp_state *state)
{
	uint64_t n;

	if (strcmp(value, "max") != 0 && (!hlg_number_u64(value, &n) || n == 0))
		argp_error(state, "-F %s: not a frequency (samples a second, or max)",
			   value);
	args->frequency = value;
}

static void set_count(struct arguments *args, const char *value, struct argp_state *state)
{
	uint64_t n;

	if (!hlg_number_u64(value, &n) || n == 0)
		argp_error(state, "-c %s: not a number of events", value);
	args->count = value;
}

/* What does not go together. */
static void check_words(const struct arguments *args, struct argp_state *state)
{
	struct hlg_err err;

	if (args->stacks && (args->exits || args->windows))
		argp_error(state, "--stacks and --%s: record different things (give one)",
			   args->exits ? "exits" : "windows");
	if (args->exits && args->windows)
		argp_error(state, "--exits and --windows: record different things (give "
				  "one)");
	if (hlg_target_check_magic(args->out, HLG_MAGIC_RECORDING, &err) < 0)
		argp_error(state, "%s", err.msg);
	if (!args->command && !args->pid && !args->everything)
		argp_error(state, "say what to record: -- COMMAND, -p PID or -a");
	if (args->pid && args->everything)
		argp_error(state,
			   "-p %s and -a: these processes or all (say one of both)",
			   args->pid);
	if (args->count && !args->windows)
		argp_error(state, "-c %s: goes with --windows=EVENTS (or say -F)",
			   args->count);
	if (args->windows && (args->event || args->frequency))
		argp_error(state,
			   "--windows=%s: its first event samples (say -c N, and "
			   "neither -e nor -F)",
			   args->windows);
}

static error_t parse(int key, char *value, struct argp_state *state)
{
	struct arguments *args = state->input;

	switch (key) {
	case 'H':
		args->host = true;
		return 0;
	case 'e':
		args->event = value;
		return 0;
	case 'F':
		set_frequency(args, value, state);
		return 0;
	case 'c':
		set_count(args, value, state);
		return 0;
	case 'W':
		args->windows = value;
		return 0;
	case KEY_EXITS:
		args->exits = true;
		return 0;
	case KEY_STACKS:
		args->stacks = true;
		return 0;
	case 'o':
		args->out = value;
		return 0;
	case 'p':
		args->pid = value;
		return 0;
	case 'a':
		args->everything = true;
		return 0;
	case ARGP_KEY_ARG: /* the command and all that follows are its own */
		args->command = &state->argv[state->next - 1];
		state->next = state->argc;
		return 0;
	case ARGP_KEY_END:
		check_words(args, state);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* Can a counter of cycles be opened that counts guests only? */
static bool cycles_count_guests(void)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_HARDWARE,
				       .size = sizeof(attr),
				       .config = PERF_COUNT_HW_CPU_CYCLES,
				       .disabled = 1,
				       .exclude_host = 1};
	long fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);

	if (fd >= 0)
		close((int)fd);
	return fd >= 0;
}

/* Appends what to record. */
static int event_words(const struct arguments *args, const char *event, char **words,
		       size_t *n, struct hlg_err *err)
{
	if (args->exits)
		return hlg_record_tracing_exits((const char **)words, n, event,
						args->frequency, "", err);
	if (args->stacks)
		return hlg_record_tracing_stacks((const char **)words, n, event,
						 args->frequency, "", err);
	words[(*n)++] = (char *)"-e";
	words[(*n)++] = (char *)event;
	words[(*n)++] = (char *)(args->windows ? "-c" : "-F");
	words[(*n)++] = (char *)(args->windows ? args->count : args->frequency);
	if (args->windows) { /* whose row, and when: perf leaves them out else */
		words[(*n)++] = (char *)"-T";
		words[(*n)++] = (char *)"--sample-cpu";
	}
	return 0;
}

/* perf's words; the last is NULL. To be freed; NULL after an error. */
static char **perf_words(const struct arguments *args, const char *event,
			 struct hlg_err *err)
{
	size_t n = 0, command = 0;
	char **words;

	while (args->command && args->command[command])
		command++;
	words = calloc(command + HLG_RECORD_TRACING_WORDS + 18, sizeof(*words));
	if (!words) {
		hlg_err_memory(err, "record");
		return NULL;
	}
	words[n++] = (char *)"perf";
	words[n++] = (char *)"kvm";
	if (args->host)
		words[n++] = (char *)"--host";
	words[n++] = (char *)"--guest";
	words[n++] = (char *)"record";
	if (event_words(args, event, words, &n, err) < 0) {
		free(words);
		return NULL;
	}
	words[n++] = (char *)"-o";
	words[n++] = (char *)args->out;
	if (args->everything)
		words[n++] = (char *)"-a";
	if (args->pid) {
		words[n++] = (char *)"-p";
		words[n++] = (char *)args->pid;
	}
	if (args->command)
		words[n++] = (char *)"--";
	for (size_t i = 0; i < command; i++)
		words[n++] = args->command[i];
	return words;
}

/* Which file path names, to know afterwards whether perf has made another. */
static struct stat look_at(const char *path)
{
	struct stat st;

	if (stat(path, &st) != 0)
		memset(&st, 0, sizeof(st));
	return st;
}

static bool is_same(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino &&
	       a->st_mtim.tv_sec == b->st_mtim.tv_sec &&
	       a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

/* EVENTS as perf takes a group that is sampled by its leader; to be freed. */
static char *group_word(const char *events)
{
	char *word;

	if (asprintf(&word, events[0] == '{' ? "%s" : "{%s}:S", events) < 0)
		return NULL;
	return word;
}

static int tell(const struct arguments *args, const char *event)
{
	const struct hlg_recorded recorded = {
		.path = args->out,
		.event = event,
		.verb = args->windows  ? "windows"
			: args->exits  ? "exits"
			: args->stacks ? "report --stacks=callgraph"
				       : "report",
		.of_command = args->command && !args->pid && !args->everything,
	};

	return hlg_record_tell(&recorded);
}

/* Tells what came of it; returns the exit status, from perf's. */
static int finish(const struct arguments *args, const char *event, int status,
		  bool recorded)
{
	if (recorded) {
		/* Nothing but ^C ends what has no command. */
		if (!args->command && status == 128 + SIGINT)
			status = 0;
		if (tell(args, event) != 0 && status == 0)
			status = 1;
	} else if (status != 0 && status != 127 && strcmp(args->out, "-") != 0) {
		fputs("hlguest: ", stderr);
		hlg_escape_print(stderr, args->out);
		fprintf(stderr, ": nothing was recorded: perf ended with status %d\n",
			status);
	}
	return status;
}

int hlg_verb_record(int argc, char **argv)
{
	static const struct argp argp = {
		options,
		parse,
		"-- COMMAND [ARGUMENT...]\n-p PID [-- COMMAND...]\n-a [-- COMMAND...]",
		"Records guest samples with perf kvm. -p and -a end with ^C, or with "
		"COMMAND, whose exit status is kept.",
		NULL,
		NULL,
		NULL};
	struct arguments args = {0};
	struct stat before, after;
	struct hlg_err err;
	const char *event;
	char **words, *group;
	int status;

	hlg_words_parse(&argp, argc, argv, ARGP_IN_ORDER, &args);
	if (!args.out)
		args.out = args.host ? "perf.data.kvm" : "perf.data.guest";
	if (!args.frequency)
		args.frequency = FREQUENCY;
	if (!args.count)
		args.count = WINDOW;
	group = args.windows ? group_word(args.windows) : NULL;
	event = args.windows            ? group
		: args.event            ? args.event
		: cycles_count_guests() ? "cycles:G"
					: "cpu-clock";
	if (args.windows && !event) {
		hlg_err_memory(&err, "record");
		return hlg_output_error(&err);
	}
	words = perf_words(&args, event, &err);
	if (!words)
		return hlg_output_error(&err);
	before = look_at(args.out);
	status = hlg_record_run(words);
	free(words);
	after = look_at(args.out);
	status = finish(&args, event, status,
			S_ISREG(after.st_mode) && !is_same(&before, &after));
	free(group);
	return status;
}
