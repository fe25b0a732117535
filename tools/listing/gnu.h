/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * x86-64 instructions as GNU's objdump writes them, from Zydis' AT&T form, which has
 * other names (jz, movzx, cdqe), signed numbers and no sizes of x87: jump targets are
 * plain, numbers unsigned and as wide as the operation, one space goes behind the name.
 */
#ifndef HLG_TOOLS_LISTING_GNU_H
#define HLG_TOOLS_LISTING_GNU_H

#include <stddef.h>
#include <stdint.h>

#include "symtab/code/zydis.h"

/* Rewrites what Zydis' formatter has written to text of the instruction at addr. */
void hlg_gnu_rewrite(char *text, size_t size, const struct hlg_zydis *zydis,
		     const ZydisDecodedInstruction *insn,
		     const ZydisDecodedOperand *operands, uint64_t addr);

#endif
