/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Zydis, opened when the first instruction of x86-64 is decoded: so what one Debian built
 * works on another, whose libZydis has another name, and without any.
 *
 * 4.0 and 4.1 have the same structures (tests/unit/symtab/test_zydis.c has where their
 * members stand), but for the decoder's own. In both, the numbers of mnemonics,
 * categories and extensions go by the alphabet, so a newer library has moved them: they
 * are told by their names.
 */
#ifndef HLG_SYMTAB_CODE_ZYDIS_H
#define HLG_SYMTAB_CODE_ZYDIS_H

#include <Zydis/Zydis.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symtab/err.h"

/* What hlguest asks for, by name. */
/* clang-format off */
#define HLG_ZYDIS_MNEMONICS(X)                                                           \
	X(CLTS) X(CPUID) X(CVTSI2SD) X(CVTSI2SS) X(HLT) X(IN) X(INSB) X(INSD) X(INSW)    \
	X(INT3) X(INVD) X(INVLPG) X(INVPCID) X(LEA) X(LGDT) X(LIDT) X(LLDT) X(LMSW)      \
	X(LTR) X(MONITOR) X(MOV) X(MOVSX) X(MOVSXD) X(MOVZX) X(MWAIT) X(NOP) X(OUT)      \
	X(OUTSB) X(OUTSD) X(OUTSW) X(PAUSE) X(POP) X(PUSH) X(RDMSR) X(RDPMC) X(RDTSC)    \
	X(RDTSCP) X(SGDT) X(SHLD) X(SHRD) X(SIDT) X(SLDT) X(SMSW) X(STR) X(SYSRET)       \
	X(TDCALL) X(TPAUSE) X(UD0) X(UD1) X(UD2) X(UMWAIT) X(VMCALL) X(VMMCALL)          \
	X(WBINVD) X(WRMSR) X(XSETBV)
#define HLG_ZYDIS_CATEGORIES(X)                                                          \
	X(BINARY) X(BITBYTE) X(CALL) X(COND_BR) X(IOSTRINGOP) X(LOGICAL) X(RET)          \
	X(ROTATE) X(SHIFT) X(STRINGOP) X(SYSRET) X(UNCOND_BR)
#define HLG_ZYDIS_ISA_EXTS(X) X(BASE) X(X87)
/* clang-format on */

#define HLG_ZYDIS_MNEMONIC(name) HLG_MNEMONIC_##name,
#define HLG_ZYDIS_CATEGORY(name) HLG_CATEGORY_##name,
#define HLG_ZYDIS_ISA_EXT(name)  HLG_ISA_EXT_##name,
enum hlg_mnemonic {
	HLG_MNEMONIC_OTHER,
	HLG_ZYDIS_MNEMONICS(HLG_ZYDIS_MNEMONIC)
};
enum hlg_category {
	HLG_CATEGORY_OTHER,
	HLG_ZYDIS_CATEGORIES(HLG_ZYDIS_CATEGORY)
};
enum hlg_isa_ext {
	HLG_ISA_EXT_OTHER,
	HLG_ZYDIS_ISA_EXTS(HLG_ZYDIS_ISA_EXT)
};

enum {
	HLG_ZYDIS_MNEMONICS_MAX = 4096, /* 4.1 has 1,800 */
	HLG_ZYDIS_CATEGORIES_MAX = 256,
	HLG_ZYDIS_ISA_EXTS_MAX = 256
};

/* As large as any version's: that of 4.0 has 20 bytes, that of 4.1 has 12. */
union hlg_zydis_decoder {
	ZydisDecoder decoder;
	uint8_t room[128];
};

struct hlg_zydis {
	void *library;
	__typeof__(ZydisGetVersion) *version;
	__typeof__(ZydisDecoderInit) *init;
	__typeof__(ZydisDecoderEnableMode) *enable;
	__typeof__(ZydisDecoderDecodeInstruction) *decode;
	__typeof__(ZydisDecoderDecodeFull) *decode_full;
	__typeof__(ZydisFormatterInit) *formatter_init;
	__typeof__(ZydisFormatterSetProperty) *formatter_set;
	__typeof__(ZydisFormatterFormatInstruction) *format;
	__typeof__(ZydisCalcAbsoluteAddress) *absolute;
	__typeof__(ZydisMnemonicGetString) *mnemonic_name;
	__typeof__(ZydisCategoryGetString) *category_name;
	__typeof__(ZydisISAExtGetString) *isa_ext_name;
	/* What the library's numbers mean. */
	uint8_t mnemonics[HLG_ZYDIS_MNEMONICS_MAX];
	uint8_t categories[HLG_ZYDIS_CATEGORIES_MAX];
	uint8_t isa_exts[HLG_ZYDIS_ISA_EXTS_MAX];
	union hlg_zydis_decoder plain, minimal; /* of 64-bit code */
};

/* The one of this machine, opened once; NULL: there is none. */
const struct hlg_zydis *hlg_zydis_get(void);

/* Why there is none, and what helps. */
const char *hlg_zydis_problem(void);

/* Opens the library of that name, for hlg_zydis_get; false, and why, if it is another
 * version or lacks something. Such a one is not kept open. */
bool hlg_zydis_open(struct hlg_zydis *zydis, const char *name, struct hlg_err *err);

static inline enum hlg_mnemonic hlg_zydis_mnemonic(const struct hlg_zydis *zydis,
						   const ZydisDecodedInstruction *insn)
{
	unsigned n = insn->mnemonic;

	return n < HLG_ZYDIS_MNEMONICS_MAX ? zydis->mnemonics[n] : HLG_MNEMONIC_OTHER;
}

static inline enum hlg_category hlg_zydis_category(const struct hlg_zydis *zydis,
						   const ZydisDecodedInstruction *insn)
{
	unsigned n = insn->meta.category;

	return n < HLG_ZYDIS_CATEGORIES_MAX ? zydis->categories[n] : HLG_CATEGORY_OTHER;
}

static inline enum hlg_isa_ext hlg_zydis_isa_ext(const struct hlg_zydis *zydis,
						 const ZydisDecodedInstruction *insn)
{
	unsigned n = insn->meta.isa_ext;

	return n < HLG_ZYDIS_ISA_EXTS_MAX ? zydis->isa_exts[n] : HLG_ISA_EXT_OTHER;
}

#endif
