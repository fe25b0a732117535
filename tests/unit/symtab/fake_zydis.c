// SPDX-License-Identifier: GPL-2.0-only
/* A library with every function of Zydis that is asked for, and the version 5.0. */
#include <stdint.h>

uint64_t ZydisGetVersion(void);
uint64_t ZydisGetVersion(void)
{
	return UINT64_C(0x0005000000000000);
}

/* Any of the others: it must not be called. */
#define OTHER(name)                                                                      \
	void name(void);                                                                 \
	void name(void)                                                                  \
	{                                                                                \
		__builtin_trap();                                                        \
	}
OTHER(ZydisDecoderInit)
OTHER(ZydisDecoderEnableMode)
OTHER(ZydisDecoderDecodeInstruction)
OTHER(ZydisDecoderDecodeFull)
OTHER(ZydisFormatterInit)
OTHER(ZydisFormatterSetProperty)
OTHER(ZydisFormatterFormatInstruction)
OTHER(ZydisCalcAbsoluteAddress)
OTHER(ZydisMnemonicGetString)
OTHER(ZydisCategoryGetString)
OTHER(ZydisISAExtGetString)
