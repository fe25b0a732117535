// SPDX-License-Identifier: GPL-2.0-only
#include "tools/calibrate/crossing.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <x86intrin.h>

#define TURNS    2000
#define NOISE    0.1  /* medians that far apart are */
#define ADDERS   3    /* at least, in every x86-64 core since 2006 but the smallest */
#define WHOLE    0.04 /* the adds in a cycle are a whole number but for so much */
#define EMULATED 10   /* so many times as long in ring 0: rdtsc is not run, but read */

enum spans {
	ROUND,     /* one row: from the first reading to the last */
	IN_AND_OUT /* two: into the handler, and out of it */
};

struct kind {
	enum hlg_crossing_row row;
	enum spans spans;
	unsigned ring;
	uint64_t turns;
	const char *function;
	bool refusable; /* #UD and #GP mean that it is not to be had here */
};

static const struct kind kinds[] = {
	{HLG_CROSS_PAIR_USER, ROUND, 3, TURNS, "cross_nothing", false},
	{HLG_CROSS_PAIR_KERNEL, ROUND, 0, TURNS, "cross_nothing", false},
	{HLG_CROSS_FAULT_IN, IN_AND_OUT, 3, GUESTS_CROSSINGS, "cross_fault", false},
	{HLG_CROSS_INT_IN, IN_AND_OUT, 3, TURNS, "cross_int", true},
	{HLG_CROSS_TRAP_IN, IN_AND_OUT, 3, TURNS, "cross_trap", true},
	{HLG_CROSS_UD_IN, IN_AND_OUT, 3, TURNS, "cross_ud", false},
	{HLG_CROSS_SYSCALL_IN, IN_AND_OUT, 3, TURNS, "cross_syscall", true},
	{HLG_CROSS_CPUID, ROUND, 3, TURNS, "cross_cpuid", false},
	{HLG_CROSS_OUT, ROUND, 3, TURNS, "cross_out", false},
	{HLG_CROSS_HYPERCALL, ROUND, 3, TURNS, "cross_vmcall", true},
	{HLG_CROSS_HLT, ROUND, 0, TURNS, "cross_hlt", false},
};

#define N_KINDS (sizeof(kinds) / sizeof(kinds[0]))

const struct hlg_crossing_name hlg_crossing_names[HLG_CROSS_ROWS] = {
	[HLG_CROSS_PAIR_USER] = {"pair_user", "nothing (rdtsc twice), ring 3", false},
	[HLG_CROSS_PAIR_KERNEL] = {"pair_kernel", "nothing (rdtsc twice), ring 0", true},
	[HLG_CROSS_FAULT_IN] = {"fault_u2k", "page fault, u2k", true},
	[HLG_CROSS_FAULT_OUT] = {"fault_k2u", "page fault, k2u", true},
	[HLG_CROSS_INT_IN] = {"int_u2k", "int 0x81, u2k", true},
	[HLG_CROSS_INT_OUT] = {"int_k2u", "int 0x81, k2u", true},
	[HLG_CROSS_TRAP_IN] = {"int3_u2k", "int 3, u2k", true},
	[HLG_CROSS_TRAP_OUT] = {"int3_k2u", "int 3, k2u", true},
	[HLG_CROSS_UD_IN] = {"ud_u2k", "#UD, u2k", true},
	[HLG_CROSS_UD_OUT] = {"ud_k2u", "#UD, k2u", true},
	[HLG_CROSS_SYSCALL_IN] = {"syscall_u2k", "syscall, u2k", true},
	[HLG_CROSS_SYSCALL_OUT] = {"syscall_k2u", "sysret, k2u", true},
	[HLG_CROSS_CPUID] = {"cpuid", "cpuid, to the kernel and back", false},
	[HLG_CROSS_OUT] = {"out", "out, to the VMM and back", false},
	[HLG_CROSS_HYPERCALL] = {"hypercall", "hypercall and back", false},
	[HLG_CROSS_HLT] = {"hlt", "hlt, to the VMM and back", true},
	[HLG_CROSS_RUN] = {"kvm_run", "KVM_RUN, to the guest and back", false},
	[HLG_CROSS_PAIR_HOST] = {"pair_host", "nothing (rdtsc twice), native", false},
	[HLG_CROSS_GETPPID] = {"getppid", "getppid, native", false},
	[HLG_CROSS_HOST_FAULT] = {"host_fault", "page fault and back, native", false},
};

#define XPERF      "xperf, its README"
#define TORVALDS   "L. Torvalds, Google+, 30 April 2014"
#define UNTRACED   "published; original source unknown"
#define HYPERLIGHT "Hyperlight, benchmarks of its CI"

const struct hlg_crossing_reference hlg_crossing_references[HLG_CROSSING_REFERENCES] = {
	{"page fault, u2k, in a VM", "Xeon E5 v3, 2.4 GHz", XPERF, "fault_u2k", 600, 600,
	 "cycles"},
	{"page fault, k2u, in a VM", "Xeon E5 v3, 2.4 GHz", XPERF, "fault_k2u", 370, 370,
	 "cycles"},
	{"page fault, u2k, bare metal", "Xeon E5 v3, 2.4 GHz", XPERF, "fault_u2k", 440,
	 440, "cycles"},
	{"page fault, k2u, bare metal", "Xeon E5 v3, 2.4 GHz", XPERF, "fault_k2u", 270,
	 270, "cycles"},
	{"page fault, u2k, bare metal", "Haswell", TORVALDS, "fault_u2k", 715, 715,
	 "cycles"},
	{"iret, bare metal", "Haswell", TORVALDS, "fault_k2u", 330, 330, "cycles"},
	{"exit that KVM serves at once, and back", "Emerald Rapids", UNTRACED, "cpuid",
	 860, 1120, "cycles"},
	{"KVM_RUN and back (576 + 1,376 + 576)", "AMD, SVM", UNTRACED, "kvm_run", 2528,
	 2528, "cycles"},
	{"VMCALL and back", "i7-3960X", UNTRACED, "hypercall", 1600, 1700, "cycles"},
	{"a call into a Hyperlight guest", "not published", HYPERLIGHT, NULL, 11500,
	 13000, "ns"},
	{"the same, with one call to the host", "not published", HYPERLIGHT, NULL, 20700,
	 24500, "ns"},
};

static void sum_up(struct hlg_crossing *row, const uint64_t *times, uint64_t n,
		   unsigned from, unsigned to)
{
	static uint64_t room[GUESTS_CROSSINGS];

	for (size_t i = 0; i < n; i++)
		room[i] = times[i * GUESTS_TIMES + to] - times[i * GUESTS_TIMES + from];
	row->state = HLG_CROSS_MEASURED;
	hlg_ticks_sum(&row->ticks, room, n);
}

/*
 * How many crossings were not read in order: then the handler was not entered, or the TSC
 * does not go on steadily.
 */
static uint64_t unordered(const uint64_t *times, const struct kind *kind)
{
	uint64_t wrong = 0;

	for (size_t i = 0; i < kind->turns; i++) {
		const uint64_t *t = times + i * GUESTS_TIMES;

		wrong += kind->spans == ROUND ? t[3] < t[0]
					      : t[1] < t[0] || t[2] < t[1] || t[3] < t[2];
	}
	return wrong;
}

static void skip(struct hlg_crossings *crossings, const struct kind *kind,
		 const char *reason)
{
	for (unsigned i = 0; i <= (unsigned)kind->spans; i++) {
		struct hlg_crossing *row = &crossings->rows[kind->row + i];

		row->state = HLG_CROSS_SKIPPED;
		snprintf(row->reason, sizeof(row->reason), "%.255s", reason);
	}
}

/* Runs a function to its end; host: room for how long each of turns stays took, or NULL.
 */
static int run(struct hlg_guest *guest, const char *function, unsigned ring,
	       uint64_t turns, uint64_t *host, struct hlg_err *err)
{
	int rc = hlg_guest_start(guest, function, ring, false, err);
	uint64_t n = 0;

	*hlg_guest_word(guest, GUESTS_ITERATIONS) = turns;
	while (rc == 0) {
		uint64_t before = __rdtsc();

		rc = hlg_guest_step(guest, err);
		if (host && n < turns)
			host[n++] = __rdtsc() - before;
	}
	return rc < 0 ? rc : 0;
}

/* Pages that are there for the host, and not for the guest. */
static int prepare_faults(struct hlg_guest *guest, struct hlg_err *err)
{
	int rc = run(guest, "touch_field", 3, 0, NULL, err);

	return rc < 0 ? rc : run(guest, "take_field", 0, 0, NULL, err);
}

/* Why a crossing is not to be had here; NULL: it was made. */
static const char *refusal(const struct hlg_guest *guest, const struct kind *kind)
{
	if (kind->refusable && *hlg_guest_word(guest, GUESTS_REFUSED))
		return "KVM refuses it here, with an exception";
	if (kind->row == HLG_CROSS_SYSCALL_IN &&
	    *hlg_guest_word(guest, GUESTS_CALL_RING) != 0)
		return "software handles it here, without leaving ring 3";
	return NULL;
}

static void take(struct hlg_crossings *crossings, const struct hlg_guest *guest,
		 const struct kind *kind)
{
	struct hlg_crossing *row = &crossings->rows[kind->row];
	const uint64_t *times = hlg_guest_bytes(guest, "samples");
	const char *refused = refusal(guest, kind);
	char reason[128];

	if (refused) {
		skip(crossings, kind, refused);
		return;
	}
	if (kind->row == HLG_CROSS_FAULT_IN)
		crossings->served = *hlg_guest_word(guest, GUESTS_SERVED);
	row->unordered = unordered(times, kind);
	if (row->unordered) {
		snprintf(reason, sizeof(reason),
			 "%" PRIu64 " of %" PRIu64 " time stamps were out of order",
			 row->unordered, kind->turns);
		skip(crossings, kind, reason);
	} else if (kind->spans == ROUND) {
		sum_up(row, times, kind->turns, 0, 3);
	} else {
		sum_up(row, times, kind->turns, 0, 1);
		sum_up(row + 1, times, kind->turns, 2, 3);
	}
}

/* A machine of its own: what one crossing breaks is no harm to the next. */
static void measure(struct hlg_crossings *crossings, const struct hlg_guests *guests,
		    const struct kind *kind)
{
	struct hlg_crossing *in_host = &crossings->rows[HLG_CROSS_RUN];
	bool out = kind->row == HLG_CROSS_OUT;
	static uint64_t host[TURNS];
	struct hlg_guest guest;
	struct hlg_err err;
	int rc = hlg_guest_init(&guest, guests, &err);

	if (rc == 0 && kind->row == HLG_CROSS_FAULT_IN)
		rc = prepare_faults(&guest, &err);
	if (rc == 0)
		rc = run(&guest, kind->function, kind->ring, kind->turns,
			 out ? host : NULL, &err);
	if (rc < 0)
		skip(crossings, kind, err.msg);
	else
		take(crossings, &guest, kind);
	if (out && rc < 0) {
		memcpy(in_host->reason, crossings->rows[kind->row].reason,
		       sizeof(in_host->reason));
	} else if (out) {
		in_host->state = HLG_CROSS_MEASURED;
		hlg_ticks_sum(&in_host->ticks, host, kind->turns);
	}
	hlg_guest_finish(&guest);
}

/* KVM knows the processor's own hypercall, and most often the other vendor's as well. */
static void measure_hypercall(struct hlg_crossings *crossings,
			      const struct hlg_guests *guests, const struct kind *intel)
{
	struct kind amd = *intel;

	amd.function = "cross_vmmcall";
	measure(crossings, guests, intel);
	if (crossings->rows[intel->row].state != HLG_CROSS_SKIPPED)
		return;
	crossings->rows[intel->row].reason[0] = '\0';
	measure(crossings, guests, &amd);
}

void hlg_crossing_judge(struct hlg_crossings *crossings)
{
	const struct hlg_crossing *user = &crossings->rows[HLG_CROSS_PAIR_USER];
	const struct hlg_crossing *kernel = &crossings->rows[HLG_CROSS_PAIR_KERNEL];

	crossings->emulated = user->state != HLG_CROSS_SKIPPED &&
			      kernel->state != HLG_CROSS_SKIPPED &&
			      kernel->ticks.p50 / EMULATED > user->ticks.p50;
	for (size_t i = 0; crossings->emulated && i < HLG_CROSS_ROWS; i++)
		if (hlg_crossing_names[i].ring0 &&
		    crossings->rows[i].state == HLG_CROSS_MEASURED)
			crossings->rows[i].state = HLG_CROSS_EMULATED;
}

/* The guests' rows, a visit of the native ones between each two. */
static void measure_all(struct hlg_crossings *crossings, const struct hlg_guests *guests,
			const char *no_kvm, struct hlg_native *native)
{
	for (size_t i = 0; i < N_KINDS; i++) {
		hlg_native_visit(native);
		if (no_kvm)
			skip(crossings, &kinds[i], no_kvm);
		else if (kinds[i].row == HLG_CROSS_HYPERCALL)
			measure_hypercall(crossings, guests, &kinds[i]);
		else
			measure(crossings, guests, &kinds[i]);
	}
	if (no_kvm)
		snprintf(crossings->rows[HLG_CROSS_RUN].reason,
			 sizeof(crossings->rows[0].reason), "%.255s", no_kvm);
}

/* After the last visit. */
static void sum_native(struct hlg_crossings *crossings, struct hlg_native *native)
{
	hlg_native_judge(native);
	for (size_t i = 0; i < HLG_NATIVE_ROWS; i++) {
		struct hlg_crossing *row = &crossings->rows[HLG_CROSS_PAIR_HOST + i];

		hlg_native_sum(native, i, &row->ticks, &crossings->batches[i]);
		row->state = HLG_CROSS_MEASURED;
	}
	hlg_native_clock(native, &crossings->clock);
	crossings->hz = hlg_native_rate(native);
}

int hlg_crossing_measure(struct hlg_crossings *crossings, const struct hlg_guests *guests,
			 const char *no_kvm, uint64_t wait_ns, struct hlg_err *err)
{
	struct hlg_native *native;
	int rc = hlg_native_open(&native, err);

	*crossings = (struct hlg_crossings){0};
	if (rc == 0) {
		measure_all(crossings, guests, no_kvm, native);
		hlg_crossing_judge(crossings);
		hlg_native_top_up(native, wait_ns);
		sum_native(crossings, native);
	}
	hlg_native_finish(native);
	return rc;
}

double hlg_crossing_noise(const struct hlg_crossings *crossings, bool raw)
{
	double worst = 0;

	for (size_t i = HLG_NATIVE_GETPPID; i < HLG_NATIVE_ROWS; i++) {
		double drift = raw ? crossings->batches[i].raw
				   : crossings->rows[HLG_CROSS_PAIR_HOST + i].ticks.drift;

		worst = drift > worst ? drift : worst;
	}
	return worst;
}

double hlg_crossing_quiet(const struct hlg_crossings *crossings)
{
	uint64_t quiet = 0, all = 0;

	for (size_t i = 0; i < HLG_NATIVE_ROWS; i++) {
		quiet += crossings->batches[i].whys[HLG_NATIVE_QUIET];
		all += crossings->batches[i].n;
	}
	return all ? (double)quiet / (double)all : 0;
}

/* A core alone does as many adds in a cycle as it has adders, and one that is shared for
 * all of a run some share of them. */
static bool was_alone(double width)
{
	double adders = round(width);

	return adders >= ADDERS && fabs(width - adders) <= WHOLE * adders;
}

bool hlg_crossing_is_noisy(const struct hlg_crossings *crossings)
{
	bool few = false;

	for (size_t i = 0; i < HLG_NATIVE_ROWS; i++)
		few |= !crossings->batches[i].undisturbed;
	return few || !was_alone(crossings->clock.width) ||
	       hlg_crossing_noise(crossings, false) > NOISE;
}

const char *hlg_crossing_verdict(const struct hlg_crossings *crossings)
{
	if (hlg_crossing_is_noisy(crossings))
		return "not idle: measure again";
	return hlg_crossing_noise(crossings, true) > NOISE ? "not idle" : "";
}
