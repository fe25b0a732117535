// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <string.h>

#include "tools/calibrate/perf-event.h"

const char *hlg_perf_event_why(int error)
{
	switch (error) {
	case ENOENT:
	case EOPNOTSUPP:
	case ENODEV:
		return "this machine has no such counter";
	case EACCES:
	case EPERM:
		return "perf_event_paranoid forbids it";
	case ENOSYS:
		return "this kernel has no perf events";
	case EINVAL:
		return "this counter cannot do that";
	case EBUSY:
		return "somebody else has the counters";
	default:
		return strerrordesc_np(error);
	}
}
