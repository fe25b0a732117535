/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One instruction: how long it is and where it may lead.
 *
 * x86-64 is decoded by Zydis (zydis.h); AArch64 has instructions of four bytes at
 * multiples of four (Arm ARM, B1.2). Addresses are the image's own.
 */
#ifndef HLG_SYMTAB_CODE_INSN_H
#define HLG_SYMTAB_CODE_INSN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum hlg_flow {
	HLG_FLOW_ON,    /* to the next instruction */
	HLG_FLOW_CALL,  /* the next instruction is a return point */
	HLG_FLOW_BRANCH /* a jump, perhaps on a condition */
};

/*
 * May a hypervisor be entered when the instruction runs in a guest? (Intel SDM volume 3,
 * "Instructions That Cause VM Exits"; AMD APM volume 2, 15.9; Arm ARM, D1.3 on traps.)
 * Accesses to memory may fault in any guest; they are not meant.
 */
enum hlg_leave {
	HLG_LEAVE_NEVER,
	HLG_LEAVE_MAY,   /* as the hypervisor or the processor is set up: pause, wrmsr */
	HLG_LEAVE_ALWAYS /* under every hypervisor, or nearly: out, cpuid, vmcall */
};

/* What the instruction does for a frame pointer, on x86-64 (psABI, 3.2.2). */
enum hlg_insn_frame {
	HLG_INSN_FRAME_NONE,
	HLG_INSN_FRAME_PUSH, /* push %rbp: keeps the caller's */
	HLG_INSN_FRAME_SET,  /* mov %rsp,%rbp: from here on it is the function's own */
	HLG_INSN_FRAME_DROP  /* pop %rbp, leave: from here on it is the caller's */
};

struct hlg_insn {
	unsigned length;
	enum hlg_flow flow;
	bool direct;     /* a call or branch whose target stands in the instruction */
	bool ends;       /* the next instruction is never run next: ret, jmp, ud2 */
	uint64_t target; /* where direct leads to */
	uint64_t refers; /* x86-64: the address that it has, beside, of rip's or as a
			  * number; 0: none */
	enum hlg_leave leave;
	enum hlg_insn_frame frame;
};

/* Can code for this ELF machine be decoded by this build, on this machine? */
bool hlg_insn_available(unsigned machine);

/* Why code for x86-64 cannot be, where it cannot, and what helps. */
const char *hlg_insn_problem(void);

/*
 * Decodes the instruction at addr from the left bytes at p, at least one. False if they
 * are no instruction, or the beginning of one.
 */
bool hlg_insn_decode(unsigned machine, const unsigned char *p, size_t left, uint64_t addr,
		     struct hlg_insn *insn);

/* The length of that instruction alone, in less time; 0 where hlg_insn_decode says false.
 */
unsigned hlg_insn_length(unsigned machine, const unsigned char *p, size_t left,
			 uint64_t addr);

/* Of AArch64: is it an instruction at all? The others are udf, permanently undefined. */
static inline bool hlg_insn_is_a64(const unsigned char *p)
{
	return p[2] || p[3];
}

/* And one that may lead elsewhere? All that do are of one class of the Arm ARM's C4.1:
 * branches, exceptions and system instructions. */
static inline bool hlg_insn_may_branch_a64(const unsigned char *p)
{
	return (p[3] & 0x1c) == 0x14;
}

#endif
