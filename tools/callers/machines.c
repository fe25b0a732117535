// SPDX-License-Identifier: GPL-2.0-only
#include "tools/callers/machines.h"

#include <stdlib.h>

#include "symtab/grow.h"

struct hlg_machines_one {
	uint64_t id;
	uint32_t number;
};

struct hlg_machines_vcpu {
	uint64_t machine;
	int32_t id;
	uint32_t number; /* of its machine when it had */
	uint64_t exits;  /* so many */
};

struct search {
	const struct hlg_machines *m;
	uint64_t machine;
	int32_t vcpu;
};

static bool same_machine(const void *ctx, uint32_t i)
{
	const struct search *search = ctx;

	return search->m->machines[i].id == search->machine;
}

static bool same_vcpu(const void *ctx, uint32_t i)
{
	const struct search *search = ctx;
	const struct hlg_machines_vcpu *vcpu = &search->m->vcpus[i];

	return vcpu->machine == search->machine && vcpu->id == search->vcpu;
}

/* One that is known, else a new one; NULL without memory. */
static struct hlg_machines_one *machine_of(struct hlg_machines *m,
					   const struct search *search)
{
	uint64_t hash = hlg_hash_word(HLG_HASH_SEED, search->machine);
	uint32_t i = hlg_index_find(&m->machine_index, hash, same_machine, search);

	if (i != HLG_INDEX_NONE)
		return &m->machines[i];
	if (!HLG_GROW(m->machines, m->n_machines) ||
	    !hlg_index_add(&m->machine_index, hash, m->n_machines))
		return NULL;
	m->machines[m->n_machines] =
		(struct hlg_machines_one){search->machine, ++m->last};
	return &m->machines[m->n_machines++];
}

static struct hlg_machines_vcpu *vcpu_of(struct hlg_machines *m,
					 const struct search *search)
{
	uint64_t hash = hlg_hash_word(hlg_hash_word(HLG_HASH_SEED, search->machine),
				      (uint32_t)search->vcpu);
	uint32_t i = hlg_index_find(&m->vcpu_index, hash, same_vcpu, search);

	if (i != HLG_INDEX_NONE)
		return &m->vcpus[i];
	if (!HLG_GROW(m->vcpus, m->n_vcpus) ||
	    !hlg_index_add(&m->vcpu_index, hash, m->n_vcpus))
		return NULL;
	m->vcpus[m->n_vcpus] = (struct hlg_machines_vcpu){.machine = search->machine,
							  .id = search->vcpu};
	return &m->vcpus[m->n_vcpus++];
}

uint32_t hlg_machines_number(struct hlg_machines *m,
			     const struct hlg_callers_stack *stack)
{
	const struct search search = {m, stack->machine, stack->vcpu};
	struct hlg_machines_one *machine = machine_of(m, &search);
	struct hlg_machines_vcpu *vcpu = vcpu_of(m, &search);

	if (!machine || !vcpu)
		return 0;
	/* What another vCPU of an earlier machine had is of no use. */
	if (vcpu->number == machine->number && stack->exits < vcpu->exits)
		machine->number = ++m->last;
	vcpu->number = machine->number;
	vcpu->exits = stack->exits;
	return machine->number;
}

void hlg_machines_finish(struct hlg_machines *m)
{
	free(m->vcpus);
	free(m->machines);
	hlg_index_finish(&m->vcpu_index);
	hlg_index_finish(&m->machine_index);
	*m = (struct hlg_machines){0};
}
