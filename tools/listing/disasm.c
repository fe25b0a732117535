// SPDX-License-Identifier: GPL-2.0-only
#include <elf.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "config.h"
#include "tools/listing/disasm.h"

#if HLG_HAVE_CAPSTONE
#include "tools/listing/a64.h"
#endif
#if HLG_HAVE_ZYDIS
#include "tools/listing/gnu.h"

static bool set_style(const struct hlg_zydis *zydis, ZydisFormatter *formatter,
		      enum hlg_syntax syntax)
{
	/* Numbers as objdump has them: 0x10(%rip), -0x8(%rbp), targets without zeros. */
	static const struct {
		ZydisFormatterProperty property;
		ZyanUPointer value;
	} properties[] = {
		{ZYDIS_FORMATTER_PROP_FORCE_RELATIVE_RIPREL, ZYAN_TRUE},
		{ZYDIS_FORMATTER_PROP_HEX_UPPERCASE, ZYAN_FALSE},
		{ZYDIS_FORMATTER_PROP_ADDR_PADDING_ABSOLUTE, ZYDIS_PADDING_DISABLED},
		{ZYDIS_FORMATTER_PROP_ADDR_PADDING_RELATIVE, ZYDIS_PADDING_DISABLED},
		{ZYDIS_FORMATTER_PROP_DISP_PADDING, ZYDIS_PADDING_DISABLED},
		{ZYDIS_FORMATTER_PROP_IMM_PADDING, ZYDIS_PADDING_DISABLED},
	};

	if (!ZYAN_SUCCESS(zydis->formatter_init(
		    formatter, syntax == HLG_SYNTAX_INTEL ? ZYDIS_FORMATTER_STYLE_INTEL
							  : ZYDIS_FORMATTER_STYLE_ATT)))
		return false;
	for (size_t i = 0; i < sizeof(properties) / sizeof(properties[0]); i++)
		if (!ZYAN_SUCCESS(zydis->formatter_set(formatter, properties[i].property,
						       properties[i].value)))
			return false;
	return true;
}

static bool disasm_x86(enum hlg_syntax syntax, const unsigned char *p, size_t left,
		       uint64_t addr, char *buf, size_t size, uint64_t *memory,
		       bool *has_memory)
{
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction insn;
	const struct hlg_zydis *zydis = hlg_zydis_get();
	ZydisFormatter formatter;

	if (!zydis ||
	    !ZYAN_SUCCESS(zydis->decode_full(&zydis->plain.decoder, p, left, &insn,
					     operands)) ||
	    !set_style(zydis, &formatter, syntax) ||
	    !ZYAN_SUCCESS(zydis->format(&formatter, &insn, operands,
					insn.operand_count_visible, buf, size, addr,
					NULL)))
		return false;
	if (syntax == HLG_SYNTAX_ATT)
		hlg_gnu_rewrite(buf, size, zydis, &insn, operands, addr);
	for (unsigned i = 0; i < insn.operand_count_visible; i++) {
		const ZydisDecodedOperand *op = &operands[i];

		if (op->type == ZYDIS_OPERAND_TYPE_MEMORY &&
		    op->mem.base == ZYDIS_REGISTER_RIP &&
		    ZYAN_SUCCESS(zydis->absolute(&insn, op, addr, memory)))
			*has_memory = true;
	}
	return true;
}
#endif

static bool disasm_aarch64(const unsigned char *p, uint64_t addr, char *buf, size_t size,
			   uint64_t *memory, bool *has_memory)
{
	uint32_t word = p[0] | p[1] << 8 | p[2] << 16 | (uint32_t)p[3] << 24;

#if HLG_HAVE_CAPSTONE
	if (hlg_a64_write(word, addr, buf, size)) {
		*has_memory = hlg_a64_memory(word, addr, memory);
		return true;
	}
#else
	(void)addr, (void)memory, (void)has_memory;
#endif
	snprintf(buf, size, ".inst 0x%08" PRIx32, word);
	return true;
}

bool hlg_disasm(unsigned machine, enum hlg_syntax syntax, const unsigned char *p,
		size_t left, uint64_t addr, char *buf, size_t size, uint64_t *memory,
		bool *has_memory)
{
	*has_memory = false;
	if (machine == EM_AARCH64)
		return left >= 4 &&
		       disasm_aarch64(p, addr, buf, size, memory, has_memory);
#if HLG_HAVE_ZYDIS
	return disasm_x86(syntax, p, left, addr, buf, size, memory, has_memory);
#else
	(void)syntax, (void)addr, (void)memory;
	return false;
#endif
}
