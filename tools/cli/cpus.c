// SPDX-License-Identifier: GPL-2.0-only
#include "tools/cli/cpus.h"

#include <errno.h>
#include <sched.h>

unsigned hlg_cpus_count(void)
{
	int n = 0;

	/* The kernel wants room for all that there may be. */
	for (int room = 1024; room <= 1 << 20; room *= 2) {
		cpu_set_t *set = CPU_ALLOC(room);
		size_t size = CPU_ALLOC_SIZE(room);
		int rc = set ? sched_getaffinity(0, size, set) : -1;
		int why = errno;

		if (rc == 0)
			n = CPU_COUNT_S(size, set);
		CPU_FREE(set);
		if (rc == 0 || !set || why != EINVAL)
			break;
	}
	return n < 1 ? 1 : n > HLG_CPUS_MOST ? HLG_CPUS_MOST : (unsigned)n;
}
