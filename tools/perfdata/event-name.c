// SPDX-License-Identifier: GPL-2.0-only
/*
 * perf's names of software, hardware, cache, breakpoint and raw events, with the
 * modifiers of perf-list(1) that the attribute stands for.
 */
#include "tools/perfdata/event-name.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

/* enum perf_hw_id */
static const char *const hardware[] = {
	"cycles",
	"instructions",
	"cache-references",
	"cache-misses",
	"branches",
	"branch-misses",
	"bus-cycles",
	"stalled-cycles-frontend",
	"stalled-cycles-backend",
	"ref-cycles",
};

/* enum perf_sw_ids */
static const char *const software[] = {
	"cpu-clock",        "task-clock",   "page-faults",  "context-switches",
	"cpu-migrations",   "minor-faults", "major-faults", "alignment-faults",
	"emulation-faults", "dummy",
};

/* enum perf_hw_cache_id, _op_id */
static const char *const cache[] = {
	"L1-dcache", "L1-icache", "LLC", "dTLB", "iTLB", "branch", "node",
};
/* What perf takes for possible: bit 0 loads, 1 stores, 2 prefetches. */
static const uint8_t cache_ops[] = {7, 5, 7, 7, 1, 1, 7};
static const char *const cache_accesses[] = {"loads", "stores", "prefetches"};
static const char *const cache_misses[] = {"load", "store", "prefetch"};

/* ":ukhpppHG", as much of it as applies; empty where that is what perf defaults to. */
static void modifiers(char text[16], const struct perf_event_attr *attr)
{
	bool levels = attr->exclude_user || attr->exclude_kernel || attr->exclude_hv;
	/* Either of the two makes excluding guests the default. */
	bool guests_out = levels || attr->precise_ip;
	char *p = text;

	*p++ = ':';
	if (levels && !attr->exclude_kernel)
		*p++ = 'k';
	if (levels && !attr->exclude_user)
		*p++ = 'u';
	if (levels && !attr->exclude_hv)
		*p++ = 'h';
	for (unsigned i = 0; i < attr->precise_ip; i++)
		*p++ = 'p';
	if (attr->exclude_host || attr->exclude_guest == guests_out) {
		if (!attr->exclude_host)
			*p++ = 'H';
		if (!attr->exclude_guest)
			*p++ = 'G';
	}
	p[p == text + 1 ? -1 : 0] = '\0';
}

static char *plain(const char *name, const struct perf_event_attr *attr)
{
	char *text, tail[16];

	modifiers(tail, attr);
	return asprintf(&text, "%s%s", name, tail) < 0 ? NULL : text;
}

static char *cache_name(const struct perf_event_attr *attr)
{
	/* PERF_TYPE_HW_CACHE: a byte each of cache, operation and result */
	uint64_t which = attr->config & 0xff, op = attr->config >> 8 & 0xff;
	uint64_t result = attr->config >> 16 & 0xff;
	char text[64];

	if (which >= LENGTH(cache))
		return plain("unknown-ext-hardware-cache-type", attr);
	if (op >= LENGTH(cache_accesses))
		return plain("unknown-ext-hardware-cache-op", attr);
	if (result > PERF_COUNT_HW_CACHE_RESULT_MISS)
		return plain("unknown-ext-hardware-cache-result", attr);
	if (!(cache_ops[which] >> op & 1))
		return plain("invalid-cache", attr);
	if (result == PERF_COUNT_HW_CACHE_RESULT_MISS)
		snprintf(text, sizeof(text), "%s-%s-misses", cache[which],
			 cache_misses[op]);
	else
		snprintf(text, sizeof(text), "%s-%s", cache[which], cache_accesses[op]);
	return plain(text, attr);
}

static char *breakpoint_name(const struct perf_event_attr *attr)
{
	char text[64];

	/* HW_BREAKPOINT_R 1, _W 2, _X 4 (linux/hw_breakpoint.h) */
	snprintf(text, sizeof(text), "mem:0x%llx:%s%s%s",
		 (unsigned long long)attr->bp_addr, attr->bp_type & 1 ? "r" : "",
		 attr->bp_type & 2 ? "w" : "", attr->bp_type & 4 ? "x" : "");
	return plain(text, attr);
}

char *hlg_event_name(const struct perf_event_attr *attr)
{
	/* On hybrid CPUs the upper half is the type of the PMU. */
	uint64_t low = attr->config & UINT32_MAX;
	char text[64];

	switch (attr->type) {
	case PERF_TYPE_HARDWARE:
		return plain(low < LENGTH(hardware) ? hardware[low] : "unknown-hardware",
			     attr);
	case PERF_TYPE_SOFTWARE:
		return plain(attr->config < LENGTH(software) ? software[attr->config]
							     : "unknown-software",
			     attr);
	case PERF_TYPE_HW_CACHE:
		return cache_name(attr);
	case PERF_TYPE_BREAKPOINT:
		return breakpoint_name(attr);
	case PERF_TYPE_TRACEPOINT:
		return strdup("unknown tracepoint");
	case PERF_TYPE_RAW:
		snprintf(text, sizeof(text), "raw 0x%llx",
			 (unsigned long long)attr->config);
		return plain(text, attr);
	default:
		snprintf(text, sizeof(text), "unknown attr type: %u", attr->type);
		return strdup(text);
	}
}
