// SPDX-License-Identifier: GPL-2.0-only
/*
 * microvm: runs a guest program in virtual machines of its own, so that perf has a guest
 * to record.
 *
 *	$ microvm --seconds=3 --sandboxes=2 --base=0x4000 --base=0x7f3a51c26000 demo.elf
 *	microvm: sandbox 1: tid 4711, base 0x4000
 *	microvm: sandbox 2: tid 4712, base 0x7f3a51c26000
 *	microvm: 2 VMs, ring 3, 6305 runs; exits: 99 Log 6305, 101 CallFunction 6305, ...
 *
 * A sandbox is a virtual machine with a copy of the guest. Its line is printed before its
 * first run. It is run by way of enter_odd() or enter_even(), as its number is, so that
 * callchains of KVM_RUN tell threads apart; built with frame pointers.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "symtab/err.h"
#include "tests/rig/options.h"
#include "tests/rig/sandbox.h"

#define NS_PER_S UINT64_C(1000000000)

/* A thread and its sandboxes; nobody else touches them until it is joined. */
struct worker {
	const struct hlg_vm_options *options;
	struct hlg_vm_sandbox *sandboxes;
	uint64_t count;
	pthread_t thread;
	int rc;
	struct hlg_err err;
};

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

static int init_all(struct worker *worker)
{
	int rc = 0;

	for (uint64_t i = 0; rc == 0 && i < worker->count; i++) {
		struct hlg_vm_sandbox *sandbox = &worker->sandboxes[i];

		rc = hlg_vm_sandbox_init(sandbox, &worker->err);
		if (rc == 0)
			fprintf(stderr,
				"microvm: sandbox %" PRIu64 ": tid %d, base 0x%" PRIx64
				"\n",
				sandbox->number + 1, (int)sandbox->tid,
				sandbox->image.base);
	}
	return rc;
}

/*
 * Two ways into the guest, for tests that tell stacks apart. A compiler may put functions
 * that are alike into one: the texts for the assembler make a difference.
 */
static __attribute__((noinline)) int enter_odd(struct hlg_vm_sandbox *sandbox,
					       struct hlg_err *err)
{
	__asm__ volatile("# odd");
	return hlg_vm_sandbox_run(sandbox, err);
}

static __attribute__((noinline)) int enter_even(struct hlg_vm_sandbox *sandbox,
						struct hlg_err *err)
{
	__asm__ volatile("# even");
	return hlg_vm_sandbox_run(sandbox, err);
}

static int run_once(struct hlg_vm_sandbox *sandbox, struct hlg_err *err)
{
	return sandbox->number % 2 ? enter_even(sandbox, err) : enter_odd(sandbox, err);
}

static int run_until_done(struct worker *worker)
{
	const struct hlg_vm_options *options = worker->options;
	uint64_t end = now_ns() + options->duration;
	uint64_t rounds = 0;
	int rc = hlg_vm_deadline_start(
		(unsigned int)(options->duration / NS_PER_S + options->deadline),
		&worker->err);

	while (rc == 0 && (rounds < options->runs || now_ns() < end)) {
		for (uint64_t i = 0; rc == 0 && i < worker->count; i++)
			rc = run_once(&worker->sandboxes[i], &worker->err);
		rounds++;
	}
	hlg_vm_deadline_stop();
	return rc;
}

static void *work(void *arg)
{
	struct worker *worker = arg;

	worker->rc = init_all(worker);
	if (worker->rc == 0)
		worker->rc = run_until_done(worker);
	for (uint64_t i = 0; i < worker->count; i++)
		hlg_vm_sandbox_finish(&worker->sandboxes[i]);
	return NULL;
}

/* The first worker is the calling thread, as for a Hyperlight sandbox. */
static void work_all(struct worker *workers, uint64_t count)
{
	uint64_t started = 1;

	while (started < count) {
		struct worker *worker = &workers[started];
		int rc = pthread_create(&worker->thread, NULL, work, worker);

		if (rc) {
			workers[0].rc = hlg_err_set(&workers[0].err, -rc,
						    "thread: %s (lower --sandboxes)",
						    strerror(rc));
			break;
		}
		started++;
	}
	if (started == count)
		work(&workers[0]);
	for (uint64_t i = 1; i < started; i++)
		pthread_join(workers[i].thread, NULL);
}

static void print_exits(const struct hlg_vm_sandbox *total)
{
	const char *separator = " ";

	for (unsigned int port = 0; port < HLG_VM_PORT_COUNT; port++) {
		if (total->exits[port] == 0)
			continue;
		fprintf(stderr, "%s%u%s %" PRIu64, separator, port,
			hlg_vm_sandbox_port(port), total->exits[port]);
		separator = ", ";
	}
	if (total->hlts) {
		fprintf(stderr, "%shlt %" PRIu64, separator, total->hlts);
		separator = ", ";
	}
	if (total->calls)
		fprintf(stderr, "%ssyscall %" PRIu64, separator, total->calls);
	fputc('\n', stderr);
}

static void summarize(const struct hlg_vm_options *options,
		      const struct hlg_vm_sandbox *sandboxes)
{
	struct hlg_vm_sandbox total = {0};
	uint64_t count = options->sandboxes;

	for (uint64_t i = 0; i < count; i++) {
		total.runs += sandboxes[i].runs;
		total.hlts += sandboxes[i].hlts;
		total.calls += sandboxes[i].calls;
		for (unsigned int port = 0; port < HLG_VM_PORT_COUNT; port++)
			total.exits[port] += sandboxes[i].exits[port];
	}
	fprintf(stderr,
		"microvm: %" PRIu64 " VM%s, ring %" PRIu64 ", %" PRIu64 " run%s; exits:",
		count, count == 1 ? "" : "s", options->ring, total.runs,
		total.runs == 1 ? "" : "s");
	print_exits(&total);
}

static int run_all(const struct hlg_vm_options *options, struct worker *workers,
		   struct hlg_vm_sandbox *sandboxes)
{
	uint64_t count = options->in_turn ? 1 : options->sandboxes;
	int status = EXIT_SUCCESS;

	for (uint64_t i = 0; i < options->sandboxes; i++)
		sandboxes[i] = (struct hlg_vm_sandbox){.options = options, .number = i};
	for (uint64_t i = 0; i < count; i++)
		workers[i] = (struct worker){
			.options = options,
			.sandboxes = &sandboxes[i],
			.count = options->in_turn ? options->sandboxes : 1,
		};
	work_all(workers, count);
	for (uint64_t i = 0; i < count; i++) {
		if (workers[i].rc == 0)
			continue;
		fprintf(stderr, "microvm: %s\n", workers[i].err.msg);
		status = EXIT_FAILURE;
	}
	if (status == EXIT_SUCCESS)
		summarize(options, sandboxes);
	return status;
}

int main(int argc, char **argv)
{
	struct hlg_vm_options options;
	struct hlg_vm_sandbox *sandboxes;
	struct worker *workers;
	int status = EXIT_FAILURE;

	hlg_vm_options_parse(&options, argc, argv);
	sandboxes = calloc(options.sandboxes, sizeof(*sandboxes));
	workers = calloc(options.sandboxes, sizeof(*workers));
	if (sandboxes && workers)
		status = run_all(&options, workers, sandboxes);
	else
		fprintf(stderr, "microvm: out of memory (lower --sandboxes)\n");
	free(workers);
	free(sandboxes);
	return status;
}
