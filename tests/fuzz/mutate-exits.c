// SPDX-License-Identifier: GPL-2.0-only
#include "tests/fuzz/mutate-kvm.h"

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed)
{
	/* By the place of their formats in exits.c. */
	static const struct mutate_kvm_kinds kinds = {.lost = 7, .exit = 0, .entry = 1};

	return mutate_kvm(&kinds, data, size, most, seed);
}
