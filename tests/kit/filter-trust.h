/* SPDX-License-Identifier: GPL-2.0-only */
/* The small guest as AArch64, whose boundaries every build knows: each fourth byte. */
#ifndef HLG_TESTS_KIT_TRUST_H
#define HLG_TESTS_KIT_TRUST_H

#include "tests/kit/filter.h"

enum {
	KIT_TRUST_SIZE = 0x3110 /* own addresses, from 0 */
};

void kit_trust_guest(const char *path);

/* Is an own address one of its bytes? Not executable? Of a function or label? */
bool kit_trust_inside(uint64_t addr);
bool kit_trust_data(uint64_t addr);
bool kit_trust_named(uint64_t addr);

#endif
