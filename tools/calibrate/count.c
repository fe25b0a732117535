// SPDX-License-Identifier: GPL-2.0-only
#include "tools/calibrate/count.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include "filter/stats/spread.h"
#include "tools/cli/child.h"

#define PATIENCE 300000 /* ms for a program, where there is no deadline */
#define EMPTY    3      /* empty programs: the first meets cold caches */

/* guests/strings.S says why: seven instructions besides, eight with two pointers. */
const struct hlg_law hlg_count_laws[HLG_COUNT_PROGRAMS] = {
	{"rep_lodsb", 1, 7, 8},  {"rep_stosb", 1, 7, 8},  {"rep_movsb", 1, 8, 9},
	{"rep_scasb", 1, 7, 8},  {"rep_cmpsb", 1, 8, 9},  {"rep_lodsw", 1, 7, 8},
	{"rep_stosw", 1, 7, 8},  {"rep_movsw", 1, 8, 9},  {"rep_scasw", 1, 7, 8},
	{"rep_cmpsw", 1, 8, 9},  {"loop_lodsb", 2, 7, 0}, {"loop_stosb", 2, 7, 0},
	{"loop_movsb", 2, 8, 0}, {"loop_scasb", 2, 7, 0}, {"loop_cmpsb", 2, 8, 0},
	{"loop_lodsw", 2, 7, 0}, {"loop_stosw", 2, 7, 0}, {"loop_movsw", 2, 8, 0},
	{"loop_scasw", 2, 7, 0}, {"loop_cmpsw", 2, 8, 0},
};

const char *const hlg_count_sides[HLG_COUNT_SIDES] = {"guest", "native"};

uint64_t hlg_calibrate_steps(const struct hlg_law *law, uint64_t operations)
{
	return law->each * operations + law->besides;
}

uint64_t hlg_calibrate_retired(const struct hlg_law *law, uint64_t operations)
{
	return law->retired ? law->retired : hlg_calibrate_steps(law, operations);
}

struct hlg_variation hlg_calibrate_variation(const uint64_t *values, size_t n)
{
	uint64_t sorted[HLG_PMU_RUNS_MAX];
	struct hlg_spread spread;

	memcpy(sorted, values, n * sizeof(*sorted));
	hlg_spread_of(&spread, sorted, n);
	return (struct hlg_variation){
		spread.min,
		hlg_ticks_percentile(sorted, n, 50),
		spread.max,
		isnan(spread.variation) ? 0 : spread.variation / 100,
	};
}

/* In a guest: its own handler of #DB counts the steps. */
static int run_guest(struct hlg_guest *guest, const char *program, uint64_t operations,
		     bool trap, struct hlg_err *err)
{
	int rc = hlg_guest_start(guest, program, 3, trap, err);

	*hlg_guest_word(guest, GUESTS_OPERATIONS) = operations;
	*hlg_guest_word(guest, GUESTS_STEPS) = 0;
	while (rc == 0)
		rc = hlg_guest_step(guest, err);
	return rc < 0 ? rc : 0;
}

/* The last instruction leaves the guest before its #DB. */
static int step_guest(struct hlg_steps *steps, struct hlg_guest *guest,
		      const char *program, const uint64_t *sizes, struct hlg_err *err)
{
	int rc = 0;

	for (size_t k = 0; rc == 0 && k < HLG_COUNT_SIZES; k++) {
		rc = run_guest(guest, program, sizes[k], true, err);
		steps->steps[k] = *hlg_guest_word(guest, GUESTS_STEPS) + 1;
	}
	return rc;
}

static int count_in_guest(struct hlg_pmu_counted *counted, struct hlg_pmu *pmu,
			  struct hlg_guest *guest, const char *program, uint64_t runs,
			  uint64_t operations, struct hlg_err *err)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < runs; i++) {
		hlg_pmu_begin(pmu);
		rc = run_guest(guest, program, operations, false, err);
		hlg_pmu_end(pmu, counted, i);
		if (rc == 0)
			counted->runs = i + 1;
	}
	return rc;
}

static void count_guest(struct hlg_counts *counts, const struct hlg_guests *guests,
			uint64_t runs)
{
	struct hlg_guest guest;
	struct hlg_err err;
	int rc = hlg_guest_init(&guest, guests, &err);

	for (size_t i = 0; i < HLG_COUNT_PROGRAMS; i++) {
		struct hlg_steps *steps = &counts->steps[HLG_COUNT_GUEST][i];
		struct hlg_pmu_counted *counted = &counts->counted[HLG_COUNT_GUEST][i];
		const char *program = hlg_count_laws[i].program;
		struct hlg_pmu pmu;

		hlg_pmu_open(&pmu, true, counted->reason);
		if (rc == 0)
			rc = count_in_guest(counted, &pmu, &guest, program, runs,
					    counts->operations, &err);
		if (rc == 0)
			rc = step_guest(steps, &guest, program, counts->sizes, &err);
		if (rc < 0)
			snprintf(steps->reason, sizeof(steps->reason), "%.255s", err.msg);
		hlg_pmu_finish(&pmu);
	}
	hlg_guest_finish(&guest);
}

/*
 * The programs natively, in a child process: their bytes as in the guest, but for the
 * last instruction, which leaves the guest there. Stepped through it is the system call
 * that ends the child, and the handler of SIGTRAP counts; counted and timed it is a
 * return, and what an empty program counts is taken off.
 */
static const uint8_t end[] = {0xe6, GUESTS_PORT_DONE}; /* out %al, $GUESTS_PORT_DONE */
static const uint8_t leave[] = {0x0f, 0x05};           /* syscall */
static const uint8_t give_back[] = {0xc3, 0x90};       /* ret */

/* What parent and child share. */
struct result {
	uint64_t steps;
	struct hlg_pmu_counted counted;
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
static int step_child(void *arg)
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
			struct hlg_pmu_counted *counted, uint64_t *empty)
{
	memset(empty, 0xff, HLG_PMU_EVENTS * sizeof(*empty));
	for (size_t run = 0; run < EMPTY; run++) {
		hlg_pmu_begin(pmu);
		call(loaded->end);
		hlg_pmu_end(pmu, counted, 0);
		for (size_t i = 0; i < HLG_PMU_EVENTS; i++)
			if (counted->values[i][0] < empty[i])
				empty[i] = counted->values[i][0];
	}
	/* The return, which the program has too. */
	if (empty[HLG_PMU_INSTRUCTIONS])
		empty[HLG_PMU_INSTRUCTIONS]--;
}

/* In the child: the empty program first. */
static int count_child(void *arg)
{
	const struct job *job = arg;
	struct hlg_pmu_counted *counted = &job->result->counted;
	uint64_t empty[HLG_PMU_EVENTS];
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
		for (size_t k = 0; k < HLG_PMU_EVENTS; k++)
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
			 child->text[0] ? child->text : "the program failed");
}

/* Calls f in a child, unless another took all the time. */
static void call_child(int (*f)(void *arg), struct job *job, char reason[static 256])
{
	unsigned left = hlg_vm_deadline_left(PATIENCE);
	struct hlg_child child;

	if (left <= 1) {
		snprintf(reason, 256, HLG_VM_NOT_RUN);
		return;
	}
	hlg_child_call(&child, f, job, left);
	tell(&child, reason);
}

static void step_program(struct hlg_steps *steps, struct job *job, const uint64_t *sizes)
{
	for (size_t k = 0; k < HLG_COUNT_SIZES; k++) {
		job->operations = sizes[k];
		job->result->steps = 0;
		call_child(step_child, job, steps->reason);
		/* The last instruction ends the child before its trap. */
		steps->steps[k] = job->result->steps + 1;
		if (steps->reason[0])
			return;
	}
}

/* Fails without memory. */
static int count_native(struct hlg_counts *counts, const struct hlg_guests *guests,
			uint64_t runs, struct hlg_err *err)
{
	struct result *result = mmap(NULL, sizeof(*result), PROT_READ | PROT_WRITE,
				     MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (result == MAP_FAILED)
		return hlg_err_memory(err, "counts");
	for (size_t i = 0; i < HLG_COUNT_PROGRAMS; i++) {
		struct hlg_steps *steps = &counts->steps[HLG_COUNT_NATIVE][i];
		struct job job = {guests, hlg_count_laws[i].program, counts->operations,
				  runs, result};

		memset(result, 0, sizeof(*result));
		call_child(count_child, &job, steps->reason);
		counts->counted[HLG_COUNT_NATIVE][i] = result->counted;
		job.runs = 0;
		if (!steps->reason[0])
			step_program(steps, &job, counts->sizes);
	}
	munmap(result, sizeof(*result));
	return 0;
}

static void judge(struct hlg_counts *counts)
{
	for (size_t side = 0; side < HLG_COUNT_SIDES; side++)
		for (size_t i = 0; i < HLG_COUNT_PROGRAMS; i++) {
			struct hlg_steps *steps = &counts->steps[side][i];

			steps->exact = !steps->reason[0];
			for (size_t k = 0; k < HLG_COUNT_SIZES; k++)
				if (steps->steps[k] !=
				    hlg_calibrate_steps(&hlg_count_laws[i],
							counts->sizes[k]))
					steps->exact = false;
		}
}

static void no_guest(struct hlg_counts *counts, const char *reason)
{
	for (size_t i = 0; i < HLG_COUNT_PROGRAMS; i++) {
		snprintf(counts->steps[HLG_COUNT_GUEST][i].reason,
			 sizeof(counts->steps[0][0].reason), "%.255s", reason);
		for (size_t k = 0; k < HLG_PMU_EVENTS; k++)
			snprintf(counts->counted[HLG_COUNT_GUEST][i].reason[k], 96,
				 "%.95s", reason);
	}
}

int hlg_calibrate_count(struct hlg_counts *counts, const struct hlg_guests *guests,
			const char *no_kvm, uint64_t runs, struct hlg_err *err)
{
	int rc;

	counts->operations = GUESTS_OPERATES_MAX;
	if (no_kvm)
		no_guest(counts, no_kvm);
	else
		count_guest(counts, guests, runs);
	rc = count_native(counts, guests, runs, err);
	judge(counts);
	return rc;
}
