/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The machines that stacks are of, numbered from 1 on as their first stacks come, which
 * is in the order of time: the sandboxes of a recording.
 *
 * A machine that is made when another is gone may have the same identity, where the
 * kernel gives none that is used but once. It is another one as one of its vCPUs has
 * fewer exits than before.
 */
#ifndef HLG_TOOLS_CALLERS_MACHINES_H
#define HLG_TOOLS_CALLERS_MACHINES_H

#include "filter/profile/index.h"
#include "tools/callers/stack.h"

/* All 0 before; finish it in any case. */
struct hlg_machines {
	struct hlg_machines_vcpu *vcpus;
	struct hlg_machines_one *machines;  /* of each identity the latest */
	uint32_t n_vcpus, n_machines, last; /* the last number */
	struct hlg_index vcpu_index, machine_index;
};

/* The number of a stack's machine; 0 without memory. Stacks come in the order of time. */
uint32_t hlg_machines_number(struct hlg_machines *machines,
			     const struct hlg_callers_stack *stack);

void hlg_machines_finish(struct hlg_machines *machines);

#endif
