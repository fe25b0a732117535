/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Allocations that fail on demand. The linker sends the calls of everything linked from
 * archives here (-Wl,--wrap); those inside libc stay as they are. The test program's own
 * and check's calls come here too: nothing may be asserted while a failure is due.
 */
#ifndef HLG_TESTS_OOM_H
#define HLG_TESTS_OOM_H

#include <stdbool.h>

/* The nth allocation from now on fails (1 is the next); with all, each one behind it. */
void oom_arm(unsigned n, bool all);

/* Back to normal. Did one fail? */
bool oom_disarm(void);

#endif
