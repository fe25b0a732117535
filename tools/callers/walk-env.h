/* SPDX-License-Identifier: GPL-2.0-only */
/* What walk.c asks for, where it runs in the kernel. */
#ifndef HLG_TOOLS_CALLERS_WALK_ENV_H
#define HLG_TOOLS_CALLERS_WALK_ENV_H

#include <linux/bpf.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "tools/callers/kernel.bpf.h"
#include "tools/callers/walk.h"

#define HLG_WALK_ENV_INVALID (1u << 16) /* KVM_MEMSLOT_INVALID, linux/kvm_host.h */

HLG_WALK_API bool hlg_walk_env_read(uint64_t host, uint64_t *to)
{
	return bpf_probe_read_user(to, sizeof(*to), (const void *)host) == 0;
}

/* The verifier of Linux 6.1 has forgotten what the compiler knows of n, and so it is
 * asked again, of a value that the compiler knows nothing of. */
HLG_WALK_API bool hlg_walk_env_copy(struct hlg_walk_copy *copy, uint64_t at,
				    uint64_t host, uint64_t n)
{
	__asm__ volatile("" : "+r"(n), "+r"(at));
	if (at >= HLG_WALK_COPY_MAX || n > HLG_WALK_PAGE)
		return false;
	return bpf_probe_read_user(copy->bytes + at, n, (const void *)host) == 0;
}

HLG_WALK_API bool hlg_walk_env_slot(uint64_t node, uint64_t back,
				    struct hlg_walk_slot *slot)
{
	const struct rb_node *tree = (const struct rb_node *)node;
	const struct kvm_memory_slot *from = (const void *)(node - back);
	struct rb_node *left, *right;
	unsigned long pages, hva;
	unsigned long long gfn;
	unsigned int flags;

	if (bpf_core_read(&left, sizeof(left), &tree->rb_left) ||
	    bpf_core_read(&right, sizeof(right), &tree->rb_right) ||
	    bpf_core_read(&gfn, sizeof(gfn), &from->base_gfn) ||
	    bpf_core_read(&pages, sizeof(pages), &from->npages) ||
	    bpf_core_read(&hva, sizeof(hva), &from->userspace_addr) ||
	    bpf_core_read(&flags, sizeof(flags), &from->flags))
		return false;
	slot->left = (uint64_t)left;
	slot->right = (uint64_t)right;
	slot->gfn = gfn;
	slot->pages = pages;
	slot->hva = hva;
	slot->invalid = flags & HLG_WALK_ENV_INVALID;
	return true;
}

HLG_WALK_API void hlg_walk_env_repeat(uint32_t n, hlg_walk_step_fn *step,
				      struct hlg_walk *walk)
{
	bpf_loop(n, step, &walk, 0);
}

HLG_WALK_API void hlg_walk_env_repeat_copy(uint32_t n, hlg_walk_step_fn *step,
					   struct hlg_walk_copy *copy)
{
	bpf_loop(n, step, copy, 0);
}

#endif
