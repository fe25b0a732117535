// SPDX-License-Identifier: GPL-2.0-only
#include "filter/profile/event.h"

#include <linux/perf_event.h>

enum hlg_event_kind hlg_event_kind(uint32_t type, uint64_t config)
{
	switch (type) {
	case PERF_TYPE_SOFTWARE:
		return config == PERF_COUNT_SW_CPU_CLOCK ||
				       config == PERF_COUNT_SW_TASK_CLOCK
			       ? HLG_EVENT_TIMER
			       : HLG_EVENT_SOFTWARE;
	case PERF_TYPE_TRACEPOINT:
		return HLG_EVENT_TRACEPOINT;
	case PERF_TYPE_BREAKPOINT:
		return HLG_EVENT_BREAKPOINT;
	default:
		/* HARDWARE, HW_CACHE, RAW, and the PMUs that the kernel numbers. */
		return HLG_EVENT_COUNTER;
	}
}

bool hlg_event_member(uint64_t sample_type, uint64_t read_format)
{
	return sample_type & PERF_SAMPLE_READ && read_format & PERF_FORMAT_GROUP;
}

const char *hlg_event_word(enum hlg_event_kind kind)
{
	static const char *const words[] = {
		[HLG_EVENT_UNKNOWN] = "unknown",
		[HLG_EVENT_TIMER] = "timer",
		[HLG_EVENT_COUNTER] = "counter",
		[HLG_EVENT_SOFTWARE] = "software",
		[HLG_EVENT_TRACEPOINT] = "tracepoint",
		[HLG_EVENT_BREAKPOINT] = "breakpoint",
	};

	return words[kind];
}

const char *hlg_event_meaning(enum hlg_event_kind kind, unsigned precise_ip)
{
	switch (kind) {
	case HLG_EVENT_TIMER:
		return "a timer of the host: samples are time; where the guest was "
		       "interrupted is exact, but a late interrupt finds it further on";
	case HLG_EVENT_COUNTER:
		return precise_ip ? "a hardware counter; precise_ip asks for exact "
				    "addresses, which hardware gives for the host's own "
				    "code only: guest addresses skid all the same"
				  : "a hardware counter: its overflow is noticed some "
				    "instructions late, so guest addresses skid";
	case HLG_EVENT_SOFTWARE:
		return "counted by the host's kernel: samples are where it happened, "
		       "not time";
	case HLG_EVENT_TRACEPOINT:
		return "a tracepoint: samples are where it was passed, not time";
	case HLG_EVENT_BREAKPOINT:
		return "a breakpoint: samples are where it was hit, not time";
	default:
		return "of a kind that the profile does not tell";
	}
}
