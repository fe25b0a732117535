/* SPDX-License-Identifier: GPL-2.0-only */
/* Instructions as text. */
#ifndef HLG_TOOLS_LISTING_DISASM_H
#define HLG_TOOLS_LISTING_DISASM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum hlg_syntax {
	HLG_SYNTAX_ATT,
	HLG_SYNTAX_INTEL
};

/*
 * Writes the instruction at addr, whose bytes are at p, left of them (at least one), to
 * buf: x86-64 by Zydis; AArch64 by Capstone, or as a word (`.inst 0xd503201f`) where that
 * knows none or is not in this build; it has one syntax. *memory becomes the address of
 * an operand relative to the instruction, if *has_memory does become true. Returns false
 * when they are no whole instruction.
 */
bool hlg_disasm(unsigned machine, enum hlg_syntax syntax, const unsigned char *p,
		size_t left, uint64_t addr, char *buf, size_t size, uint64_t *memory,
		bool *has_memory);

#endif
