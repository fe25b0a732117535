// SPDX-License-Identifier: GPL-2.0-only
#include "tools/record/counters.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* 0, or why a counter of cycles cannot be opened. */
static int try_cycles(bool guests_only)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_HARDWARE,
				       .size = sizeof(attr),
				       .config = PERF_COUNT_HW_CPU_CYCLES,
				       .disabled = 1,
				       .exclude_host = guests_only};
	long fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0)
		return errno;
	close((int)fd);
	return 0;
}

bool hlg_record_counters_of_guests(void)
{
	return try_cycles(true) == 0;
}

/* Where it cannot be had, perf takes a clock in its place. */
static bool is_cycles(const char *name, size_t len)
{
	return (len == 6 && memcmp(name, "cycles", len) == 0) ||
	       (len == 10 && memcmp(name, "cpu-cycles", len) == 0);
}

/* Further generic names of perf-list(1). */
static bool is_counter(const char *name, size_t len)
{
	static const char *const names[] = {"instructions",
					    "branches",
					    "branch-instructions",
					    "branch-misses",
					    "cache-misses",
					    "cache-references",
					    "bus-cycles",
					    "ref-cycles",
					    "idle-cycles-backend",
					    "stalled-cycles-backend",
					    "stalled-cycles-frontend"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strlen(names[i]) == len && strncmp(names[i], name, len) == 0)
			return true;
	return false;
}

int hlg_record_counters_check(const char *events, bool cycles, struct hlg_err *err)
{
	for (const char *at = events; *at;) {
		size_t len = strcspn(at, "{},:");
		int error = is_counter(at, len) || (cycles && is_cycles(at, len))
				    ? try_cycles(false)
				    : 0;

		if (error == ENOENT || error == ENODEV || error == EOPNOTSUPP)
			return hlg_err_set(err, HLG_ESYSTEM,
					   "%.*s: no such counter here: this machine has "
					   "no hardware counters (try cpu-clock)",
					   (int)len, at);
		at += len;
		at += at[0] == ':' ? strcspn(at, ",}") : at[0] != '\0';
	}
	return 0;
}
