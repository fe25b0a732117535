// SPDX-License-Identifier: GPL-2.0-only
#include "tests/rig/options.h"

#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "tests/rig/load.h"
#include "tools/vm/machine.h"

#define EXIT_USAGE  2
#define NS_PER_S    1e9
#define SECONDS_MAX 1000000
#define SLOTS_MAX   256

enum key {
	KEY_RING = 256,
	KEY_BASE,
	KEY_RUNS,
	KEY_SECONDS,
	KEY_SANDBOXES,
	KEY_IN_TURN,
	KEY_MEMORY,
	KEY_DEADLINE,
	KEY_SLOTS,
	KEY_LARGE_PAGES,
	KEY_TWO_TABLES,
	KEY_FIVE_LEVELS,
	KEY_HOSTILE,
};

static const struct argp_option option_table[] = {
	{"ring", KEY_RING, "0|3", 0, "Privilege level of the guest (default 3)", 0},
	{"base", KEY_BASE, "ADDR|random[:SEED]", 0,
	 "Load address of the guest, page-aligned, below 2^47 less --memory (default "
	 "0x4000; for an ET_EXEC its own). Repeated: the next sandbox's; the last one "
	 "goes "
	 "for all others. random: one for each sandbox",
	 0},
	{"runs", KEY_RUNS, "N", 0, "Run the guest N times (default 1)", 0},
	{"seconds", KEY_SECONDS, "S", 0, "And go on until S seconds are over", 0},
	{"sandboxes", KEY_SANDBOXES, "N", 0, "N virtual machines, one on each thread", 0},
	{"in-turn", KEY_IN_TURN, NULL, 0,
	 "All virtual machines on one thread, a run of one after a run of another", 0},
	{"memory", KEY_MEMORY, "MIB", 0, "Guest memory (default 64, at most 1024)", 0},
	{"deadline", KEY_DEADLINE, "S", 0,
	 "Kill a guest S seconds after the requested ones (default 30)", 0},
	{"slots", KEY_SLOTS, "N", 0, "Cut the guest's memory into N slots", 0},
	{"large-pages", KEY_LARGE_PAGES, NULL, 0, "Pages of 2 MiB; so must --base be", 0},
	{"two-tables", KEY_TWO_TABLES, NULL, 0,
	 "Two tables of pages, in turn, each with a stack; --base as for large pages", 0},
	{"five-levels", KEY_FIVE_LEVELS, NULL, 0,
	 "Tables of pages of five levels, where KVM has them", 0},
	{"hostile", KEY_HOSTILE, NULL, 0, "Tables of pages that lead astray (layout.h)",
	 0},
	{"verbose", 'v', NULL, 0, "Print every exit to standard output", 0},
	{0},
};

static uint64_t number(struct argp_state *state, const char *text, uint64_t min,
		       uint64_t max)
{
	unsigned long long value;
	char *end;

	errno = 0;
	value = strtoull(text, &end, 0);
	if (errno || end == text || *end || *text == '-' || value < min || value > max)
		argp_error(state,
			   "%s: not a number from %" PRIu64 " to %" PRIu64
			   " (see --help)",
			   text, min, max);
	return value;
}

static uint64_t seconds(struct argp_state *state, const char *text)
{
	char *end;
	double value = strtod(text, &end);

	if (end == text || *end || !isfinite(value) || value < 0 || value > SECONDS_MAX)
		argp_error(state, "%s: not seconds from 0 to %d (see --help)", text,
			   SECONDS_MAX);
	return (uint64_t)(value * NS_PER_S);
}

static void take_base(struct hlg_vm_options *options, struct argp_state *state,
		      const char *text)
{
	static const char word[] = "random";
	const char *rest = text + strlen(word);

	if (strncmp(text, word, strlen(word)) != 0) {
		if (options->base_count == HLG_VM_SANDBOXES_MAX)
			argp_error(state, "--base=%s: one too many", text);
		options->bases[options->base_count++] =
			number(state, text, 0, HLG_VM_ADDRESS_END);
		return;
	}
	options->random = true;
	if (*rest == ':')
		options->seed = number(state, rest + 1, 0, UINT64_MAX);
	else if (*rest)
		argp_error(state, "--base=%s: not random or random:SEED", text);
	else if (getrandom(&options->seed, sizeof(options->seed), 0) < 0)
		argp_error(state, "--base=random: no random numbers here (give a seed)");
}

static void check(struct hlg_vm_options *options, struct argp_state *state)
{
	if (options->random && options->base_count > 0)
		argp_error(state, "--base: either random or addresses");
	if (options->base_count > options->sandboxes)
		argp_error(state, "--base: more of them than --sandboxes");
	if (options->guest_count > options->sandboxes)
		argp_error(state, "%s: more guests than --sandboxes",
			   options->guests[options->guest_count - 1]);
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct hlg_vm_options *options = state->input;

	switch (key) {
	case KEY_RING:
		options->ring = number(state, arg, 0, 3);
		if (options->ring != 0 && options->ring != 3)
			argp_error(state, "--ring=%s: neither 0 nor 3", arg);
		return 0;
	case KEY_BASE:
		take_base(options, state, arg);
		return 0;
	case KEY_RUNS:
		options->runs = number(state, arg, 1, UINT64_MAX);
		return 0;
	case KEY_SECONDS:
		options->duration = seconds(state, arg);
		return 0;
	case KEY_SANDBOXES:
		options->sandboxes = number(state, arg, 1, HLG_VM_SANDBOXES_MAX);
		return 0;
	case KEY_IN_TURN:
		options->in_turn = true;
		return 0;
	case KEY_MEMORY:
		options->memory = number(state, arg, 1, HLG_VM_WINDOW_MAX / HLG_VM_MIB);
		return 0;
	case KEY_DEADLINE:
		options->deadline = number(state, arg, 1, SECONDS_MAX);
		return 0;
	case KEY_SLOTS:
		options->slots = number(state, arg, 1, SLOTS_MAX);
		return 0;
	case KEY_LARGE_PAGES:
		options->large_pages = true;
		return 0;
	case KEY_TWO_TABLES:
		options->two_tables = true;
		return 0;
	case KEY_FIVE_LEVELS:
		options->five_levels = true;
		return 0;
	case KEY_HOSTILE:
		options->hostile = true;
		return 0;
	case 'v':
		options->verbose = true;
		return 0;
	case ARGP_KEY_ARG:
		if (options->guest_count == HLG_VM_SANDBOXES_MAX)
			argp_error(state, "%s: one guest too many", arg);
		options->guests[options->guest_count++] = arg;
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_error(state, "no guest given");
		return 0;
	case ARGP_KEY_END:
		check(options, state);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

void hlg_vm_options_parse(struct hlg_vm_options *options, int argc, char **argv)
{
	static const struct argp argp = {
		.options = option_table,
		.parser = parse_option,
		.args_doc = "GUEST...",
		.doc = "Runs a guest program in KVM virtual machines, until it ends. Of "
		       "several, "
		       "each is the next machine's; the last one goes for all others.",
	};

	*options = (struct hlg_vm_options){
		.ring = 3,
		.runs = 1,
		.sandboxes = 1,
		.memory = 64,
		.deadline = 30,
	};
	argp_err_exit_status = EXIT_USAGE;
	if (argp_parse(&argp, argc, argv, 0, NULL, options))
		exit(EXIT_USAGE);
}

/* SplitMix64 by Sebastiano Vigna: the number after seed + n steps of the golden ratio. */
static uint64_t random_number(uint64_t seed, uint64_t n)
{
	uint64_t z = seed + (n + 1) * UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

const char *hlg_vm_options_guest(const struct hlg_vm_options *options, uint64_t sandbox)
{
	return options->guests[sandbox < options->guest_count ? sandbox
							      : options->guest_count - 1];
}

uint64_t hlg_vm_options_base(const struct hlg_vm_options *options, uint64_t sandbox)
{
	uint64_t highest = HLG_VM_ADDRESS_END - options->memory * HLG_VM_MIB;

	if (options->random)
		return random_number(options->seed, sandbox) %
		       (highest / HLG_VM_PAGE_SIZE + 1) * HLG_VM_PAGE_SIZE;
	if (options->base_count == 0)
		return HLG_VM_BASE_UNSET;
	if (sandbox >= options->base_count)
		sandbox = options->base_count - 1;
	return options->bases[sandbox];
}
