// SPDX-License-Identifier: GPL-2.0-only
/*
 * The programs natively, in a child process: their bytes as in the guest, but for the
 * last instruction, which leaves the guest there. Stepped through it is the system call
 * that ends the child, and the handler of SIGTRAP counts; counted and timed it is a
 * return, and what an empty program counts is taken off.
 */
#include <assert.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include "tools/calibrate/count.h"
#include "tools/calibrate/pmu.h"
#include "tools/cli/child.h"
#include "tools/vm/deadline.h"

#define PATIENCE 300000 /* ms for a program, where there is no deadline */
#define EMPTY    3      /* empty programs: the first meets cold caches */

static const uint8_t end[] = {0xe6, GUESTS_PORT_DONE}; /* out %al, $GUESTS_PORT_DONE */
static const uint8_t leave[] = {0x0f, 0x05};           /* syscall */
static const uint8_t give_back[] = {0xc3, 0x90};       /* ret */

/* What parent and child share. */
struct result {
	uint64_t steps;
	struct hlg_counted counted;
};

struct job {
	const struct hlg_guests *guests;
	const char *program;
	uint64_t operations, runs; /* runs: 0 to step through */
	struct result *result;
};

static struct result *stepped;
static uint64_t began;

static void on_step(int signal, siginfo_t *info, void *context)
{
	const ucontext_t *at = context;

	(void)signal;
	(void)info;
	/* The first is of the jump into the program. */
	if ((uint64_t)at->uc_mcontext.gregs[REG_RIP] != began)
		stepped->steps++;
}

/* A program in memory, and its last instruction. */
struct loaded {
	uint8_t *code, *end;
};

/* Puts the guests into memory and turns the program's end into another. */
static bool load(struct loaded *loaded, const struct job *job, const uint8_t *instead)
{
	uint8_t *memory =
		mmap(NULL, HLG_GUEST_IMAGE_ROOM, PROT_READ | PROT_WRITE | PROT_EXEC,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	struct hlg_place place;

	if (memory == MAP_FAILED) {
		printf("memory to run code in: %s", strerrordesc_np(errno));
		return false;
	}
	hlg_guest_image_load(job->guests, memory);
	memcpy(memory + (hlg_guest_image_symbol(job->guests, "shared") - GUESTS_BASE) +
		       GUESTS_OPERATIONS,
	       &job->operations, sizeof(job->operations));
	hlg_image_lookup(job->guests->image,
			 hlg_guest_image_symbol(job->guests, job->program), &place);
	loaded->code = memory + (place.start - GUESTS_BASE);
	loaded->end = memory + (place.end - GUESTS_BASE) - sizeof(end);
	assert(place.symbol && memcmp(loaded->end, end, sizeof(end)) == 0);
	memcpy(loaded->end, instead, sizeof(end));
	return true;
}

/* In the child; does not come back. */
static int step_through(void *arg)
{
	const struct job *job = arg;
	struct sigaction action = {.sa_sigaction = on_step, .sa_flags = SA_SIGINFO};
	struct loaded loaded;

	if (!load(&loaded, job, leave))
		return 1;
	stepped = job->result;
	began = (uint64_t)(uintptr_t)loaded.code;
	sigaction(SIGTRAP, &action, NULL);
	__asm__ volatile("pushfq\n\torq $0x100, (%%rsp)\n\tpopfq\n\tjmp *%0"
			 :
			 : "r"(loaded.code)
			 : "memory");
	__builtin_unreachable();
}

static void call(const uint8_t *code)
{
	__asm__ volatile("sub $128, %%rsp\n\tcall *%0\n\tadd $128, %%rsp"
			 :
			 : "b"(code)
			 : "rax", "rcx", "rsi", "rdi", "cc", "memory");
}

/* What calling costs: the least that a program with nothing but the return counts. */
static void count_empty(struct hlg_pmu *pmu, const struct loaded *loaded,
			struct hlg_counted *counted, uint64_t *empty)
{
	memset(empty, 0xff, HLG_COUNT_EVENTS * sizeof(*empty));
	for (size_t run = 0; run < EMPTY; run++) {
		hlg_pmu_begin(pmu);
		call(loaded->end);
		hlg_pmu_end(pmu, counted, 0);
		for (size_t i = 0; i < HLG_COUNT_EVENTS; i++)
			if (counted->values[i][0] < empty[i])
				empty[i] = counted->values[i][0];
	}
	/* The return, which the program has too. */
	if (empty[HLG_COUNT_INSTRUCTIONS])
		empty[HLG_COUNT_INSTRUCTIONS]--;
}

/* In the child: the empty program first. */
static int count(void *arg)
{
	const struct job *job = arg;
	struct hlg_counted *counted = &job->result->counted;
	uint64_t empty[HLG_COUNT_EVENTS];
	struct loaded loaded;
	struct hlg_pmu pmu;

	if (!load(&loaded, job, give_back))
		return 1;
	hlg_pmu_open(&pmu, false, counted->reason);
	count_empty(&pmu, &loaded, counted, empty);
	for (size_t i = 0; i < job->runs; i++) {
		hlg_pmu_begin(&pmu);
		call(loaded.code);
		hlg_pmu_end(&pmu, counted, i);
		for (size_t k = 0; k < HLG_COUNT_EVENTS; k++)
			counted->values[k][i] -= counted->values[k][i] < empty[k]
							 ? counted->values[k][i]
							 : empty[k];
		counted->runs = i + 1;
	}
	hlg_pmu_finish(&pmu);
	return 0;
}

/* Empty if the child did as it should; else why not. */
static void tell(const struct hlg_child *child, char reason[static 256])
{
	reason[0] = '\0';
	if (child->end == HLG_CHILD_TIMEOUT)
		snprintf(reason, 256,
			 "killed at its deadline (hung? else raise --deadline)");
	else if (child->end == HLG_CHILD_KILLED)
		snprintf(reason, 256, "the program was killed by signal %d",
			 child->status);
	else if (child->end == HLG_CHILD_FAILED)
		snprintf(reason, 256, "no process: %s", strerrordesc_np(child->status));
	else if (child->status != 0)
		snprintf(reason, 256, "%.200s",
			 child->text[0] ? child->text : "it failed");
}

static void step_program(struct hlg_steps *steps, struct job *job, const uint64_t *sizes)
{
	struct hlg_child child;

	for (size_t k = 0; k < HLG_COUNT_SIZES; k++) {
		job->operations = sizes[k];
		job->result->steps = 0;
		hlg_child_call(&child, step_through, job, hlg_vm_deadline_left(PATIENCE));
		tell(&child, steps->reason);
		/* The last instruction ends the child before its trap. */
		steps->steps[k] = job->result->steps + 1;
		if (steps->reason[0])
			return;
	}
}

int hlg_calibrate_count_native(struct hlg_counts *counts, const struct hlg_guests *guests,
			       uint64_t runs)
{
	struct result *result = mmap(NULL, sizeof(*result), PROT_READ | PROT_WRITE,
				     MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (result == MAP_FAILED)
		return HLG_ESYSTEM;
	for (size_t i = 0; i < HLG_COUNT_PROGRAMS; i++) {
		struct hlg_steps *steps = &counts->steps[HLG_COUNT_NATIVE][i];
		struct job job = {guests, hlg_count_laws[i].program, counts->operations,
				  runs, result};
		struct hlg_child child;

		memset(result, 0, sizeof(*result));
		hlg_child_call(&child, count, &job, hlg_vm_deadline_left(PATIENCE));
		tell(&child, steps->reason);
		counts->counted[HLG_COUNT_NATIVE][i] = result->counted;
		job.runs = 0;
		if (!steps->reason[0])
			step_program(steps, &job, counts->sizes);
	}
	munmap(result, sizeof(*result));
	return 0;
}
