// SPDX-License-Identifier: GPL-2.0-only
/*
 * microvm: runs a guest program in a virtual machine of its own, so that perf has a guest
 * to record.
 *
 *	$ microvm --ring=3 --seconds=3 demo.elf
 *	microvm: 1 VM, ring 3, base 0x4000, 3158 runs; exits: 99 Log 3158, ...
 *
 * The guest speaks to it as a Hyperlight guest speaks to its host: with out to a port.
 * A run lasts from the entry point to Halt; guest memory is kept between the runs.
 */
#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../../symtab/err.h"
#include "kvm.h"
#include "load.h"

#define EXIT_USAGE  2
#define THREADS_MAX 256
#define MIB         (UINT64_C(1) << 20)
#define STACK_SIZE  (UINT64_C(64) << 10)
#define PORT_COUNT  256
#define NS_PER_S    UINT64_C(1000000000)

enum port {
	PORT_LOG = 99,
	PORT_CALL = 101,
	PORT_ABORT = 102,
	PORT_PRINT = 103,
	PORT_HALT = 108,
};

enum key {
	KEY_RING = 256,
	KEY_BASE,
	KEY_RUNS,
	KEY_SECONDS,
	KEY_THREADS,
	KEY_MEMORY,
	KEY_DEADLINE,
};

struct options {
	const char *guest;
	uint64_t base;     /* guest address, or MVM_BASE_UNSET */
	uint64_t ring;     /* 0 or 3 */
	uint64_t runs;     /* at least this many ... */
	uint64_t seconds;  /* ... and until this much time is over */
	uint64_t threads;  /* VMs, one on each */
	uint64_t memory;   /* MiB */
	uint64_t deadline; /* seconds after the requested ones */
	int verbose;
};

/* One VM and what it did; each is touched by one thread only until that is joined. */
struct worker {
	const struct options *options;
	pthread_t thread;
	struct mvm_image image;
	uint64_t runs;
	uint64_t exits[PORT_COUNT];
	uint64_t hlts;
	int rc;
	struct hlg_err err;
};

static const struct argp_option option_table[] = {
	{"ring", KEY_RING, "0|3", 0, "Privilege level of the guest (default 3)", 0},
	{"base", KEY_BASE, "ADDR", 0,
	 "Load address of the guest, page-aligned, below 2^47 (default 0x4000; for an "
	 "ET_EXEC its own)",
	 0},
	{"runs", KEY_RUNS, "N", 0, "Run the guest N times (default 1)", 0},
	{"seconds", KEY_SECONDS, "S", 0, "And go on until S seconds are over", 0},
	{"threads", KEY_THREADS, "N", 0, "N virtual machines, one on each thread", 0},
	{"memory", KEY_MEMORY, "MIB", 0, "Guest memory (default 16, at most 1024)", 0},
	{"deadline", KEY_DEADLINE, "S", 0,
	 "Kill a guest S seconds after the requested ones (default 30)", 0},
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

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct options *options = state->input;

	switch (key) {
	case KEY_RING:
		options->ring = number(state, arg, 0, 3);
		if (options->ring != 0 && options->ring != 3)
			argp_error(state, "--ring=%s: neither 0 nor 3", arg);
		return 0;
	case KEY_BASE:
		options->base = number(state, arg, 0, MVM_ADDRESS_END);
		return 0;
	case KEY_RUNS:
		options->runs = number(state, arg, 1, UINT64_MAX);
		return 0;
	case KEY_SECONDS:
		options->seconds = number(state, arg, 0, 1000000);
		return 0;
	case KEY_THREADS:
		options->threads = number(state, arg, 1, THREADS_MAX);
		return 0;
	case KEY_MEMORY:
		options->memory = number(state, arg, 1, MVM_WINDOW_MAX / MIB);
		return 0;
	case KEY_DEADLINE:
		options->deadline = number(state, arg, 1, 1000000);
		return 0;
	case 'v':
		options->verbose = 1;
		return 0;
	case ARGP_KEY_ARG:
		if (options->guest)
			argp_error(state, "%s: one guest is enough", arg);
		options->guest = arg;
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_error(state, "no guest given");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const char *port_name(unsigned int port)
{
	switch (port) {
	case PORT_LOG:
		return " Log";
	case PORT_CALL:
		return " CallFunction";
	case PORT_ABORT:
		return " Abort";
	case PORT_PRINT:
		return " DebugPrint";
	case PORT_HALT:
		return " Halt";
	default:
		return "";
	}
}

/* Returns 1 if the exit ends the run, 0 if the guest goes on, or a negative errno. */
static int take_exit(struct worker *worker, const struct mvm_exit *exit)
{
	if (exit->halted) {
		worker->hlts++;
		return 1;
	}
	if (worker->options->verbose)
		printf("port %u%s: 0x%" PRIx32 "\n", exit->port, port_name(exit->port),
		       exit->value);
	if (exit->port >= PORT_COUNT)
		return hlg_err_set(&worker->err, -EIO,
				   "guest: out to port %u (only ports below %d are used)",
				   exit->port, PORT_COUNT);
	worker->exits[exit->port]++;
	if (exit->port == PORT_ABORT)
		return hlg_err_set(&worker->err, -EIO,
				   "guest: it aborted with code 0x%" PRIx32
				   " (see --verbose)",
				   exit->value);
	return exit->port == PORT_HALT;
}

static int run_once(struct worker *worker, struct mvm_machine *machine)
{
	const struct mvm_image *image = &worker->image;
	struct mvm_start start = {
		.rip = image->entry,
		/* As if called: 8 below a multiple of 16 (System V ABI, 3.2.2). */
		.rsp = image->base + machine->window - 8,
		.ring = (uint8_t)worker->options->ring,
	};
	struct mvm_exit exit;
	int rc = mvm_machine_start(machine, &start, &worker->err);

	while (rc == 0) {
		rc = mvm_machine_step(machine, &exit, &worker->err);
		if (rc == 0)
			rc = take_exit(worker, &exit);
	}
	if (rc < 0)
		return rc;
	worker->runs++;
	return 0;
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

static int run_until_done(struct worker *worker, struct mvm_machine *machine)
{
	const struct options *options = worker->options;
	uint64_t end = now_ns() + options->seconds * NS_PER_S;
	int rc = mvm_machine_deadline(
		machine, (unsigned int)(options->seconds + options->deadline),
		&worker->err);

	while (rc == 0 && (worker->runs < options->runs || now_ns() < end))
		rc = run_once(worker, machine);
	return rc;
}

static int load_guest(struct worker *worker, struct mvm_machine *machine)
{
	struct mvm_window window = {.mem = machine->memory,
				    .size = machine->window - STACK_SIZE};
	int rc = mvm_load(worker->options->guest, worker->options->base, window,
			  &worker->image, &worker->err);

	if (rc < 0)
		return rc;
	return mvm_machine_map(machine, worker->image.base, &worker->err);
}

static void *work(void *arg)
{
	struct worker *worker = arg;
	struct mvm_machine machine;

	worker->rc =
		mvm_machine_init(&machine, worker->options->memory * MIB, &worker->err);
	if (worker->rc < 0)
		return NULL;
	worker->rc = load_guest(worker, &machine);
	if (worker->rc == 0)
		worker->rc = run_until_done(worker, &machine);
	mvm_machine_finish(&machine);
	return NULL;
}

/* The first VM runs on the calling thread, as a Hyperlight sandbox does. */
static int work_all(struct worker *workers, size_t count)
{
	size_t started = 1;

	while (started < count) {
		struct worker *worker = &workers[started];
		int rc = pthread_create(&worker->thread, NULL, work, worker);

		if (rc) {
			workers[0].rc =
				hlg_err_set(&workers[0].err, -rc,
					    "thread: %s (lower --threads)", strerror(rc));
			break;
		}
		started++;
	}
	if (started == count)
		work(&workers[0]);
	for (size_t i = 1; i < started; i++)
		pthread_join(workers[i].thread, NULL);
	return (int)started;
}

static void summarize(const struct worker *workers, size_t count)
{
	const struct options *options = workers[0].options;
	uint64_t runs = 0;
	uint64_t hlts = 0;
	const char *separator = " ";

	for (size_t i = 0; i < count; i++) {
		runs += workers[i].runs;
		hlts += workers[i].hlts;
	}
	fprintf(stderr,
		"microvm: %zu VM%s, ring %" PRIu64 ", base 0x%" PRIx64 ", %" PRIu64
		" run%s; exits:",
		count, count == 1 ? "" : "s", options->ring, workers[0].image.base, runs,
		runs == 1 ? "" : "s");
	for (unsigned int port = 0; port < PORT_COUNT; port++) {
		uint64_t exits = 0;

		for (size_t i = 0; i < count; i++)
			exits += workers[i].exits[port];
		if (exits == 0)
			continue;
		fprintf(stderr, "%s%u%s %" PRIu64, separator, port, port_name(port),
			exits);
		separator = ", ";
	}
	if (hlts)
		fprintf(stderr, "%shlt %" PRIu64, separator, hlts);
	fputc('\n', stderr);
}

static int run_all(const struct options *options)
{
	size_t count = options->threads;
	struct worker *workers = calloc(count, sizeof(*workers));
	int status = EXIT_SUCCESS;

	if (!workers) {
		fprintf(stderr, "microvm: out of memory (lower --threads)\n");
		return EXIT_FAILURE;
	}
	for (size_t i = 0; i < count; i++)
		workers[i].options = options;
	count = (size_t)work_all(workers, count);
	for (size_t i = 0; i < count; i++) {
		if (workers[i].rc == 0)
			continue;
		fprintf(stderr, "microvm: %s\n", workers[i].err.msg);
		status = EXIT_FAILURE;
	}
	if (status == EXIT_SUCCESS)
		summarize(workers, count);
	free(workers);
	return status;
}

int main(int argc, char **argv)
{
	static const struct argp argp = {
		.options = option_table,
		.parser = parse_option,
		.args_doc = "GUEST",
		.doc = "Runs a guest program in a KVM virtual machine, until it halts.",
	};
	struct options options = {
		.base = MVM_BASE_UNSET,
		.ring = 3,
		.runs = 1,
		.threads = 1,
		.memory = 16,
		.deadline = 30,
	};

	argp_err_exit_status = EXIT_USAGE;
	if (argp_parse(&argp, argc, argv, 0, NULL, &options))
		return EXIT_USAGE;
	return run_all(&options);
}
