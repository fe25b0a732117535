/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What sampler.bpf.c hands over for each sample of a guest: its stack; or, where it is to
 * copy, a copy, of which the stack is made later.
 */
#ifndef HLG_TOOLS_CALLERS_STACK_H
#define HLG_TOOLS_CALLERS_STACK_H

#include <stdint.h>

#include "tools/callers/walk.h"

struct hlg_callers_stack {
	uint64_t time; /* ns of CLOCK_MONOTONIC: the sample's if exact, else before it */
	/*
	 * The machine's, equal for equal ones, with no other meaning. Where the kernel
	 * has no debugfs, a later one may get that of one that is gone; exits, which a
	 * vCPU counts, may be fewer then than before.
	 */
	uint64_t machine, exits;
	uint64_t ip;      /* 0: KVM had an old one */
	int32_t pid, tid; /* of the VMM, as the session that loaded it sees them */
	int32_t vcpu;     /* as KVM_CREATE_VCPU was told */
	uint8_t end;      /* enum hlg_walk_end */
	uint8_t exact;
	uint16_t n;                      /* callers */
	uint64_t callers[HLG_WALK_ROOM]; /* n of them are there */
};

/* Bytes of one with n callers. */
#define HLG_CALLERS_STACK_SIZE(n)                                                        \
	(__builtin_offsetof(struct hlg_callers_stack, callers) + 8 * (n))

/* Registers as KVM numbers them (enum kvm_reg, arch/x86/kvm/kvm_cache_regs.h): rax, rcx,
 * rdx, rbx, rsp, rbp, rsi, rdi, r8 to r15, rip. */
#define HLG_CALLERS_REGS 17

struct hlg_callers_copy {
	/* A struct hlg_callers_stack with n = 0 and no room for callers. Its end is
	 * HLG_WALK_CUT where the room was full; else what is there is all. */
	uint64_t head[HLG_CALLERS_STACK_SIZE(0) / 8];
	uint64_t regs[HLG_CALLERS_REGS];
	uint64_t from; /* bytes of the guest's from this address on */
	uint64_t size;
	uint64_t holes; /* a bit for each page, that of from on, that is not there */
	uint8_t bytes[HLG_WALK_COPY_MAX + HLG_WALK_PAGE]; /* size of them are there */
};

/* Bytes of one with a stack of size bytes. */
#define HLG_CALLERS_COPY_SIZE(size)                                                      \
	(__builtin_offsetof(struct hlg_callers_copy, bytes) + (size))

#endif
