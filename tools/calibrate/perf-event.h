/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Events of perf, on the calling thread. Nothing else here calls perf_event_open, so that
 * a test can be linked with another perf-event.c, which has the counters its machine has
 * not.
 */
#ifndef HLG_TOOLS_CALIBRATE_PERF_EVENT_H
#define HLG_TOOLS_CALIBRATE_PERF_EVENT_H

#include <stdbool.h>
#include <stdint.h>

struct perf_event_attr;

/* A file descriptor, for the caller to close; -1 with errno set. attr: disabled, or not.
 */
int hlg_perf_event_open(const struct perf_event_attr *attr);

void hlg_perf_event_enable(int fd);
void hlg_perf_event_disable(int fd);

/* As read_format TOTAL_TIME_ENABLED and TOTAL_TIME_RUNNING have it: count, and ns. */
struct hlg_perf_event_count {
	uint64_t value, enabled, running;
};

bool hlg_perf_event_read(int fd, struct hlg_perf_event_count *count);

#endif
