// SPDX-License-Identifier: GPL-2.0-only
#include "tests/fuzz/mutate-kvm.h"
#include "tools/exits/pair.h"

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed)
{
	static const struct mutate_kvm_kinds kinds = {
		.lost = HLG_EXITS_NONE, .exit = HLG_EXITS_EXIT, .entry = HLG_EXITS_ENTRY};

	return mutate_kvm(&kinds, data, size, most, seed);
}
