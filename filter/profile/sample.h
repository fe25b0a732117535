/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One sample, as both feeds hand it over: perf through the dlfilter, and the reader of
 * perf.data. Nothing behind this structure knows where a sample came from.
 */
#ifndef HLG_FILTER_PROFILE_SAMPLE_H
#define HLG_FILTER_PROFILE_SAMPLE_H

#include <stdbool.h>
#include <stdint.h>

#define HLG_NO_TIME UINT64_MAX /* time was not recorded */

/* Ids of the tasks that hlguest inject makes of guests begin here: above PID_MAX_LIMIT.
 */
#define HLG_SAMPLE_INJECTED 10000000

/* PERF_RECORD_MISC_CPUMODE_MASK's values (linux/perf_event.h). */
enum hlg_cpumode {
	HLG_MODE_GUEST_KERNEL = 4,
	HLG_MODE_GUEST_USER = 5
};

/* What was running, by cpumode, in the order of reports; what is none of the five is
 * other. */
enum hlg_state {
	HLG_GUEST_KERNEL,
	HLG_GUEST_USER,
	HLG_HOST_KERNEL,
	HLG_HOST_USER,
	HLG_HYPERVISOR,
	HLG_OTHER
};

enum {
	HLG_N_STATES = HLG_OTHER + 1
};

struct hlg_sample {
	uint64_t ip;      /* guest address, when the mode is a guest's */
	uint64_t period;  /* in the event's unit */
	uint64_t time;    /* ns, perf's clock; HLG_NO_TIME */
	int32_t pid, tid; /* the VMM's process, the vCPU's thread; -1 not recorded */
	int32_t cpu;      /* -1 not recorded */
	uint32_t event;   /* from hlg_profile_event */
	uint32_t sandbox; /* of the recording's, from 1 on; 0: not known */
	uint32_t stretch; /* of the sandbox: another one may run another guest */
	uint8_t cpumode;
};

/* From the first sample to the last, in ns of perf's clock. */
struct hlg_sample_span {
	uint64_t first, last; /* UINT64_MAX and 0: of no sample that has a time */
};

#define HLG_SAMPLE_SPAN_NONE ((struct hlg_sample_span){UINT64_MAX, 0})

static inline bool hlg_sample_span_known(const struct hlg_sample_span *span)
{
	return span->first <= span->last;
}

/* Makes the span reach to a sample's time; HLG_NO_TIME changes nothing. */
static inline void hlg_sample_span_see(struct hlg_sample_span *span, uint64_t time)
{
	/* HLG_NO_TIME + 1 is 0. */
	if (time + 1 > span->last + 1)
		span->last = time;
	if (time < span->first)
		span->first = time;
}

static inline bool hlg_sample_is_guest(unsigned cpumode)
{
	return cpumode == HLG_MODE_GUEST_KERNEL || cpumode == HLG_MODE_GUEST_USER;
}

#endif
