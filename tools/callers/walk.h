/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Who called the function that a guest is in? Read from the guest's memory, by its frame
 * pointers; or the top of its stack is copied, for unwind.h. walk.c is the same text
 * twice: a part of sampler.bpf.c, which the kernel runs at each sample, and a program's,
 * where tests give it guests.
 *
 * A frame is two words, as the x86-64 psABI has them: at rbp the caller's rbp, behind it
 * the return address. Their addresses are the guest's: its page tables translate them
 * (Intel SDM volume 3, 4.5: 4 or 5 levels, pages of 4 KiB, 2 MiB and 1 GiB) to physical
 * addresses, KVM's memory slots those to addresses of the VMM.
 *
 * Everything that is read may be hostile: the guest writes its registers, page tables and
 * stacks, and changes them meanwhile. What holds all the same: each read lies wholly in
 * a memory slot of the guest; a walk ends, after HLG_WALK_FRAMES callers; a page table is
 * descended HLG_WALK_LEVELS times, the tree of slots HLG_WALK_NODES.
 *
 * Only long mode is understood. CR3 is what KVM had last, and that is old where a guest
 * loads it without an exit.
 */
#ifndef HLG_TOOLS_CALLERS_WALK_H
#define HLG_TOOLS_CALLERS_WALK_H

#include <stdbool.h>
#include <stdint.h>

/* With the sampled address itself 127, perf's default (kernel.perf_event_max_stack). */
#define HLG_WALK_FRAMES 126
#define HLG_WALK_ROOM   128 /* a power of two, so that a mask bounds an index */
#define HLG_WALK_LEVELS 5
/* KVM has 32,767 slots at most (KVM_USER_MEM_SLOTS), a red-black tree of n nodes a depth
 * of at most 2 log2(n + 1). */
#define HLG_WALK_NODES 32

/* Bytes of a stack that are copied at most, a power of two; below RSP, what the psABI's
 * red zone has: registers that were saved may lie there still when they are back. */
#define HLG_WALK_COPY_MAX (128 * 1024)
#define HLG_WALK_RED_ZONE 128
#define HLG_WALK_PAGE     4096

/* Why no more callers are known. The numbers are kept in what the kernel hands over. */
enum hlg_walk_end {
	HLG_WALK_WHOLE,     /* a frame pointer or return address of 0: the outermost */
	HLG_WALK_DEEP,      /* there are more than HLG_WALK_FRAMES callers */
	HLG_WALK_MODE,      /* the guest is not in long mode, or does not page */
	HLG_WALK_ALIGNMENT, /* the frame pointer is no multiple of 8 */
	HLG_WALK_ORDER,     /* it does not lie above the one before: a circle, too */
	HLG_WALK_ADDRESS,   /* it, or the return address, is not canonical */
	HLG_WALK_UNMAPPED,  /* the guest's page tables have nothing there */
	HLG_WALK_HOLE,      /* they lead to where the guest has no memory */
	HLG_WALK_FAULT,     /* the VMM's memory there could not be read */
	HLG_WALK_NO_RSP,    /* KVM has an old stack pointer: nothing was copied */
	HLG_WALK_NO_CFI,    /* no unwind table has the address, or it leads nowhere */
	HLG_WALK_CUT,       /* what was copied of the stack ends */
	HLG_WALK_ENDS
};

/* A memory slot of KVM's, which is a node of a tree by gfn. Node 0: none. */
struct hlg_walk_slot {
	uint64_t left, right; /* nodes: of lower and of higher addresses */
	uint64_t gfn, pages;  /* guest physical, in pages of 4 KiB */
	uint64_t hva;         /* the VMM's address of the first */
	uint64_t invalid;     /* not 0: it is being removed */
};

struct hlg_walk {
	/* In. */
	uint64_t cr0, cr3, cr4, efer;
	uint64_t rbp;
	uint64_t rsp;  /* these two for a copy */
	uint64_t room; /* bytes of it, HLG_WALK_COPY_MAX at most */
	uint64_t root; /* node of the slots' tree */
	uint64_t back; /* for who reads nodes */
	/* Out. */
	uint64_t callers[HLG_WALK_ROOM]; /* return addresses, the innermost first */
	uint32_t n;
	uint32_t end;          /* enum hlg_walk_end; HLG_WALK_CUT: the room is full */
	uint64_t from, copied; /* bytes from this address on */
	uint64_t holes;        /* a bit for each page of these that could not be read */
	/* Its own. */
	uint64_t frame, before; /* the frame pointer, and that of the frame below */
	uint64_t virt;          /* what is being translated, */
	uint64_t table, shift;  /* by the table at this physical address */
	uint64_t phys, host;    /* what it comes to */
	uint64_t node;
	struct hlg_walk_slot slot; /* the last that was found; pages 0: none */
	uint64_t page, page_host;  /* the last page that was translated */
	uint32_t has_page, failed; /* failed: enum hlg_walk_end */
};

/* Fills in what is Out; the rest of *walk need not be 0. */
#ifdef __bpf__
#define HLG_WALK_API static inline __attribute__((always_inline))
#else
#define HLG_WALK_API
#endif
HLG_WALK_API void hlg_walk_callers(struct hlg_walk *walk);

/* Where a copy goes. */
struct hlg_walk_copy {
	struct hlg_walk *walk; /* the first: what has a walk has this */
	uint8_t *bytes;        /* HLG_WALK_COPY_MAX + HLG_WALK_PAGE of them */
};

/*
 * Copies the guest's stack from its red zone upwards, as far as room goes or to the first
 * page that the guest does not have. Where the red zone begins in the page before, it is
 * left out. What the VMM has not in memory is a hole: a guest's buffer that nobody wrote
 * to yet, mostly.
 */
HLG_WALK_API void hlg_walk_stack(struct hlg_walk_copy *copy);

/*
 * Whoever runs a walk has these. The first three are false where nothing can be read: 8
 * bytes of the VMM's at host; n bytes, HLG_WALK_PAGE at most, to where at are before, or
 * any others there; a node. The others call step(i, &walk) or step(i, copy) for i from 0
 * on, n times at most, until it returns other than 0.
 */
typedef long hlg_walk_step_fn(uint32_t i, void *walk);
HLG_WALK_API bool hlg_walk_env_read(uint64_t host, uint64_t *to);
HLG_WALK_API bool hlg_walk_env_copy(struct hlg_walk_copy *copy, uint64_t at,
				    uint64_t host, uint64_t n);
HLG_WALK_API bool hlg_walk_env_slot(uint64_t node, uint64_t back,
				    struct hlg_walk_slot *slot);
HLG_WALK_API void hlg_walk_env_repeat(uint32_t n, hlg_walk_step_fn *step,
				      struct hlg_walk *walk);
HLG_WALK_API void hlg_walk_env_repeat_copy(uint32_t n, hlg_walk_step_fn *step,
					   struct hlg_walk_copy *copy);

#endif
