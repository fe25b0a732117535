// SPDX-License-Identifier: GPL-2.0-only
#include "symtab/code/insn.h"

#include <elf.h>

#include "config.h"

#if HLG_HAVE_ZYDIS
#include <Zydis/Zydis.h>
#include <pthread.h>

static ZydisDecoder decoders[2]; /* the second is minimal */
static bool made;

static void make(void)
{
	bool ok = true;

	for (int i = 0; i < 2; i++)
		ok &= ZYAN_SUCCESS(ZydisDecoderInit(&decoders[i],
						    ZYDIS_MACHINE_MODE_LONG_64,
						    ZYDIS_STACK_WIDTH_64)) &&
		      ZYAN_SUCCESS(ZydisDecoderEnableMode(
			      &decoders[i], ZYDIS_DECODER_MODE_MINIMAL, i == 1));
	made = ok;
}

/*
 * Made once: a tenth of what an instruction takes otherwise. Nothing changes them then.
 * Not once for each thread: a library that is loaded late, as a filter is, gets such
 * variables when they are first used, and without memory for them libc ends the program.
 */
static const ZydisDecoder *decoder_of(bool minimal)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, make);
	return made ? &decoders[minimal] : NULL;
}

static bool decode(bool minimal, const unsigned char *p, size_t left,
		   ZydisDecodedInstruction *z)
{
	const ZydisDecoder *decoder = decoder_of(minimal);

	return decoder &&
	       ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(decoder, NULL, p, left, z));
}

static unsigned length_x86(const unsigned char *p, size_t left)
{
	ZydisDecodedInstruction z;

	return decode(true, p, left, &z) ? z.length : 0;
}

static bool leaves_always_x86(const ZydisDecodedInstruction *z)
{
	switch (z->mnemonic) {
	case ZYDIS_MNEMONIC_IN:
	case ZYDIS_MNEMONIC_INSB:
	case ZYDIS_MNEMONIC_INSW:
	case ZYDIS_MNEMONIC_INSD:
	case ZYDIS_MNEMONIC_OUT:
	case ZYDIS_MNEMONIC_OUTSB:
	case ZYDIS_MNEMONIC_OUTSW:
	case ZYDIS_MNEMONIC_OUTSD:
	case ZYDIS_MNEMONIC_HLT:
	case ZYDIS_MNEMONIC_CPUID:
	case ZYDIS_MNEMONIC_VMCALL:
	case ZYDIS_MNEMONIC_VMMCALL:
	case ZYDIS_MNEMONIC_TDCALL:
	case ZYDIS_MNEMONIC_XSETBV:
		return true;
	default:
		return false;
	}
}

/* rdrand and rdseed are not here: where they stay in the guest they take as long as
 * leaving it does. */
static bool may_leave_x86(const ZydisDecodedInstruction *z)
{
	/* mov to and from control and debug registers */
	if (z->opcode_map == ZYDIS_OPCODE_MAP_0F && z->opcode >= 0x20 &&
	    z->opcode <= 0x23)
		return true;
	switch (z->mnemonic) {
	case ZYDIS_MNEMONIC_RDMSR:
	case ZYDIS_MNEMONIC_WRMSR:
	case ZYDIS_MNEMONIC_RDTSC:
	case ZYDIS_MNEMONIC_RDTSCP:
	case ZYDIS_MNEMONIC_RDPMC:
	case ZYDIS_MNEMONIC_PAUSE:
	case ZYDIS_MNEMONIC_MONITOR:
	case ZYDIS_MNEMONIC_MWAIT:
	case ZYDIS_MNEMONIC_TPAUSE:
	case ZYDIS_MNEMONIC_UMWAIT:
	case ZYDIS_MNEMONIC_INVD:
	case ZYDIS_MNEMONIC_WBINVD:
	case ZYDIS_MNEMONIC_INVLPG:
	case ZYDIS_MNEMONIC_INVPCID:
	case ZYDIS_MNEMONIC_CLTS:
	case ZYDIS_MNEMONIC_LMSW:
	case ZYDIS_MNEMONIC_SMSW:
	case ZYDIS_MNEMONIC_LGDT:
	case ZYDIS_MNEMONIC_LIDT:
	case ZYDIS_MNEMONIC_LLDT:
	case ZYDIS_MNEMONIC_LTR:
	case ZYDIS_MNEMONIC_SGDT:
	case ZYDIS_MNEMONIC_SIDT:
	case ZYDIS_MNEMONIC_SLDT:
	case ZYDIS_MNEMONIC_STR:
		return true;
	default:
		return false;
	}
}

static enum hlg_leave leave_x86(const ZydisDecodedInstruction *z)
{
	return leaves_always_x86(z) ? HLG_LEAVE_ALWAYS
	       : may_leave_x86(z)   ? HLG_LEAVE_MAY
				    : HLG_LEAVE_NEVER;
}

static bool ends_x86(const ZydisDecodedInstruction *z)
{
	switch (z->mnemonic) {
	case ZYDIS_MNEMONIC_UD0:
	case ZYDIS_MNEMONIC_UD1:
	case ZYDIS_MNEMONIC_UD2:
	case ZYDIS_MNEMONIC_INT3:
		return true;
	default:
		return z->meta.category == ZYDIS_CATEGORY_RET ||
		       z->meta.category == ZYDIS_CATEGORY_UNCOND_BR ||
		       z->meta.category == ZYDIS_CATEGORY_SYSRET;
	}
}

/* By their bytes: compilers write each in one or two ways. */
static enum hlg_insn_frame frame_x86(const unsigned char *p, unsigned length)
{
	enum {
		PUSH_RBP = 0x55,
		POP_RBP = 0x5d,
		LEAVE = 0xc9
	};

	if (length == 1)
		return p[0] == PUSH_RBP                   ? HLG_INSN_FRAME_PUSH
		       : p[0] == POP_RBP || p[0] == LEAVE ? HLG_INSN_FRAME_DROP
							  : HLG_INSN_FRAME_NONE;
	if (length == 3 && p[0] == 0x48 &&
	    ((p[1] == 0x89 && p[2] == 0xe5) || (p[1] == 0x8b && p[2] == 0xec)))
		return HLG_INSN_FRAME_SET;
	return HLG_INSN_FRAME_NONE;
}

/* lea of a function, or its address as an immediate; behind a load or a store there is
 * none of a function. */
static uint64_t refers_x86(const ZydisDecodedInstruction *z, uint64_t addr)
{
	if (z->mnemonic == ZYDIS_MNEMONIC_LEA)
		return z->raw.modrm.mod == 0 && z->raw.modrm.rm == 5
			       ? addr + z->length + (uint64_t)z->raw.disp.value
			       : 0;
	return z->raw.imm[0].size && !z->raw.imm[0].is_relative ? z->raw.imm[0].value.u
								: 0;
}

static bool decode_x86(const unsigned char *p, size_t left, uint64_t addr,
		       struct hlg_insn *insn)
{
	ZydisDecodedInstruction z;

	if (!decode(false, p, left, &z))
		return false;
	*insn = (struct hlg_insn){.length = z.length,
				  .ends = ends_x86(&z),
				  .leave = leave_x86(&z),
				  .refers = refers_x86(&z, addr),
				  .frame = frame_x86(p, z.length)};
	if (z.meta.category == ZYDIS_CATEGORY_CALL)
		insn->flow = HLG_FLOW_CALL;
	else if (z.meta.category == ZYDIS_CATEGORY_COND_BR ||
		 z.meta.category == ZYDIS_CATEGORY_UNCOND_BR)
		insn->flow = HLG_FLOW_BRANCH;
	if (insn->flow != HLG_FLOW_ON && z.raw.imm[0].is_relative) {
		insn->direct = true;
		insn->target = addr + z.length + (uint64_t)z.raw.imm[0].value.s;
	}
	return true;
}
#else
static unsigned length_x86(const unsigned char *p, size_t left)
{
	(void)p;
	(void)left;
	return 0;
}

static bool decode_x86(const unsigned char *p, size_t left, uint64_t addr,
		       struct hlg_insn *insn)
{
	(void)p;
	(void)left;
	(void)addr;
	(void)insn;
	return false;
}
#endif

/* The signed field of word's bits [low, low + bits), in instructions. */
static uint64_t a64_offset(uint32_t word, unsigned low, unsigned bits)
{
	return (uint64_t)((int64_t)((uint64_t)word << (64 - low - bits)) >> (64 - bits)) *
	       4;
}

/* hvc and smc; wfe, wfi and their kin. */
static enum hlg_leave leave_a64(uint32_t word)
{
	if ((word & 0xffe0001f) == 0xd4000002 || (word & 0xffe0001f) == 0xd4000003)
		return HLG_LEAVE_ALWAYS;
	if (word == 0xd503205f || word == 0xd503207f || (word & 0xffffffc0) == 0xd5031000)
		return HLG_LEAVE_MAY;
	return HLG_LEAVE_NEVER;
}

/* b; br, ret, eret; brk. */
static bool ends_a64(uint32_t word)
{
	return (word & 0xfc000000) == 0x14000000 ||
	       ((word & 0xfe000000) == 0xd6000000 && (word & 0xfefff000) != 0xd63f0000) ||
	       (word & 0xffe0001f) == 0xd4200000;
}

/* Branches of the Arm ARM, C4.1.65 (branches, exception generating, system). */
static bool decode_a64(const unsigned char *p, size_t left, uint64_t addr,
		       struct hlg_insn *insn)
{
	uint32_t word;

	if (left < 4 || addr % 4)
		return false;
	word = (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 |
	       (uint32_t)p[3] << 24;
	if (word >> 16 == 0)
		return false; /* udf: permanently undefined */
	*insn = (struct hlg_insn){.length = 4,
				  .direct = true,
				  .ends = ends_a64(word),
				  .leave = leave_a64(word)};
	if ((word & 0x7c000000) == 0x14000000) { /* b, bl */
		insn->flow = word >> 31 ? HLG_FLOW_CALL : HLG_FLOW_BRANCH;
		insn->target = addr + a64_offset(word, 0, 26);
	} else if ((word & 0xff000000) == 0x54000000 || /* b.cond */
		   (word & 0x7e000000) == 0x34000000) { /* cbz, cbnz */
		insn->flow = HLG_FLOW_BRANCH;
		insn->target = addr + a64_offset(word, 5, 19);
	} else if ((word & 0x7e000000) == 0x36000000) { /* tbz, tbnz */
		insn->flow = HLG_FLOW_BRANCH;
		insn->target = addr + a64_offset(word, 5, 14);
	} else {
		insn->direct = false;
		if ((word & 0xfefff000) == 0xd63f0000) /* blr, blraa ... */
			insn->flow = HLG_FLOW_CALL;
		else if ((word & 0xfefff000) == 0xd61f0000) /* br, braa ... */
			insn->flow = HLG_FLOW_BRANCH;
	}
	return true;
}

bool hlg_insn_available(unsigned machine)
{
	return machine == EM_AARCH64 || (machine == EM_X86_64 && HLG_HAVE_ZYDIS);
}

bool hlg_insn_decode(unsigned machine, const unsigned char *p, size_t left, uint64_t addr,
		     struct hlg_insn *insn)
{
	return machine == EM_AARCH64 ? decode_a64(p, left, addr, insn)
				     : decode_x86(p, left, addr, insn);
}

unsigned hlg_insn_length(unsigned machine, const unsigned char *p, size_t left,
			 uint64_t addr)
{
	struct hlg_insn insn;

	if (machine == EM_AARCH64)
		return decode_a64(p, left, addr, &insn) ? insn.length : 0;
	return length_x86(p, left);
}
