/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a run with a fault in it tells the driver (faults.py): a file of this layout,
 * mapped, so that it is there however the program ended.
 */
#ifndef HLG_TESTS_FAULTS_TOLD_H
#define HLG_TESTS_FAULTS_TOLD_H

#include <stdint.h>

struct told {
	uint64_t calls;  /* those that could have failed */
	uint64_t struck; /* those that did */
	char at[496];    /* the call that failed first, or where the program crashed */
};

#endif
