/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Padding told from code that has no label, by the bytes of a gap.
 *
 * A gap is filler, then perhaps code, then perhaps filler: assemblers and linkers fill
 * in front of whatever comes next. Filler is, on x86-64, any run of nop in its
 * recommended one- to multi-byte forms (Intel SDM volume 2, NOP; with the operand-size
 * and cs prefixes that assemblers add), int3 (0xcc) and zero bytes; on AArch64, words
 * that are NOP (0xd503201f) or UDF (upper half zero), which includes zero.
 */
#ifndef HLG_SYMTAB_CODE_PADDING_H
#define HLG_SYMTAB_CODE_PADDING_H

#include <stddef.h>
#include <stdint.h>

struct hlg_padding {
	uint64_t lead, trail; /* bytes of filler at either end; lead == size: no code */
};

/* machine is EM_X86_64 or EM_AARCH64; for any other (and for size 0) all is code. Nothing
 * is allocated. */
struct hlg_padding hlg_padding_find(unsigned machine, const unsigned char *bytes,
				    size_t size);

#endif
