// SPDX-License-Identifier: GPL-2.0-only
#include "tools/calibrate/perf-event.h"

#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

int hlg_perf_event_open(const struct perf_event_attr *attr)
{
	return (int)syscall(SYS_perf_event_open, attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

void hlg_perf_event_enable(int fd)
{
	ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
}

void hlg_perf_event_disable(int fd)
{
	ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
}

bool hlg_perf_event_read(int fd, struct hlg_perf_event_count *count)
{
	return read(fd, count, sizeof(*count)) == sizeof(*count);
}
