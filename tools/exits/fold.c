// SPDX-License-Identifier: GPL-2.0-only
#include "tools/exits/fold.h"

#include <stdlib.h>

bool hlg_exits_fold_init(struct hlg_exits_fold *fold, const struct hlg_space *space)
{
	*fold = (struct hlg_exits_fold){.space = space};
	fold->known = calloc(HLG_EXITS_FOLDED, sizeof(*fold->known));
	/* All zero says that 0 stands for 0, which is true of any place. */
	return fold->known;
}

void hlg_exits_fold_finish(struct hlg_exits_fold *fold)
{
	free(fold->known);
	fold->known = NULL;
}

static __attribute__((noinline)) uint64_t look_up(struct hlg_exits_fold *fold,
						  uint64_t ip)
{
	struct hlg_place place, start;
	uint64_t first;

	hlg_space_lookup(fold->space, ip, &place);
	if (place.kind == HLG_OUTSIDE) {
		if (!fold->any_outside)
			fold->outside = ip;
		fold->any_outside = true;
		return fold->outside;
	}
	/* Of two functions that begin together the start is but one's. */
	first = ip - (place.addr - place.start);
	hlg_space_lookup(fold->space, first, &start);
	return start.owner == place.owner && start.kind == place.kind ? first : ip;
}

uint64_t hlg_exits_fold(void *arg, uint64_t ip)
{
	struct hlg_exits_fold *fold = arg;
	/* Fibonacci hashing, to 12 bits. */
	size_t i = ip * UINT64_C(0x9e3779b97f4a7c15) >> 52;

	if (fold->known[i].ip != ip) {
		fold->known[i].ip = ip;
		fold->known[i].to = look_up(fold, ip);
	}
	return fold->known[i].to;
}
