// SPDX-License-Identifier: GPL-2.0-only
#include "symtab/code/insn.h"

#include <elf.h>

#include "config.h"

#if HLG_HAVE_ZYDIS
#include "symtab/code/zydis.h"

static bool decode(const struct hlg_zydis *zydis, const union hlg_zydis_decoder *decoder,
		   const unsigned char *p, size_t left, ZydisDecodedInstruction *z)
{
	return ZYAN_SUCCESS(zydis->decode(&decoder->decoder, NULL, p, left, z));
}

static unsigned length_x86(const unsigned char *p, size_t left)
{
	const struct hlg_zydis *zydis = hlg_zydis_get();
	ZydisDecodedInstruction z;

	return zydis && decode(zydis, &zydis->minimal, p, left, &z) ? z.length : 0;
}

static bool leaves_always_x86(enum hlg_mnemonic mnemonic)
{
	switch (mnemonic) {
	case HLG_MNEMONIC_IN:
	case HLG_MNEMONIC_INSB:
	case HLG_MNEMONIC_INSW:
	case HLG_MNEMONIC_INSD:
	case HLG_MNEMONIC_OUT:
	case HLG_MNEMONIC_OUTSB:
	case HLG_MNEMONIC_OUTSW:
	case HLG_MNEMONIC_OUTSD:
	case HLG_MNEMONIC_HLT:
	case HLG_MNEMONIC_CPUID:
	case HLG_MNEMONIC_VMCALL:
	case HLG_MNEMONIC_VMMCALL:
	case HLG_MNEMONIC_TDCALL:
	case HLG_MNEMONIC_XSETBV:
		return true;
	default:
		return false;
	}
}

/* rdrand and rdseed are not here: where they stay in the guest they take as long as
 * leaving it does. */
static bool may_leave_x86(const ZydisDecodedInstruction *z, enum hlg_mnemonic mnemonic)
{
	/* mov to and from control and debug registers */
	if (z->opcode_map == ZYDIS_OPCODE_MAP_0F && z->opcode >= 0x20 &&
	    z->opcode <= 0x23)
		return true;
	switch (mnemonic) {
	case HLG_MNEMONIC_RDMSR:
	case HLG_MNEMONIC_WRMSR:
	case HLG_MNEMONIC_RDTSC:
	case HLG_MNEMONIC_RDTSCP:
	case HLG_MNEMONIC_RDPMC:
	case HLG_MNEMONIC_PAUSE:
	case HLG_MNEMONIC_MONITOR:
	case HLG_MNEMONIC_MWAIT:
	case HLG_MNEMONIC_TPAUSE:
	case HLG_MNEMONIC_UMWAIT:
	case HLG_MNEMONIC_INVD:
	case HLG_MNEMONIC_WBINVD:
	case HLG_MNEMONIC_INVLPG:
	case HLG_MNEMONIC_INVPCID:
	case HLG_MNEMONIC_CLTS:
	case HLG_MNEMONIC_LMSW:
	case HLG_MNEMONIC_SMSW:
	case HLG_MNEMONIC_LGDT:
	case HLG_MNEMONIC_LIDT:
	case HLG_MNEMONIC_LLDT:
	case HLG_MNEMONIC_LTR:
	case HLG_MNEMONIC_SGDT:
	case HLG_MNEMONIC_SIDT:
	case HLG_MNEMONIC_SLDT:
	case HLG_MNEMONIC_STR:
		return true;
	default:
		return false;
	}
}

static enum hlg_leave leave_x86(const ZydisDecodedInstruction *z,
				enum hlg_mnemonic mnemonic)
{
	return leaves_always_x86(mnemonic)  ? HLG_LEAVE_ALWAYS
	       : may_leave_x86(z, mnemonic) ? HLG_LEAVE_MAY
					    : HLG_LEAVE_NEVER;
}

static bool ends_x86(enum hlg_mnemonic mnemonic, enum hlg_category category)
{
	switch (mnemonic) {
	case HLG_MNEMONIC_UD0:
	case HLG_MNEMONIC_UD1:
	case HLG_MNEMONIC_UD2:
	case HLG_MNEMONIC_INT3:
		return true;
	default:
		return category == HLG_CATEGORY_RET ||
		       category == HLG_CATEGORY_UNCOND_BR ||
		       category == HLG_CATEGORY_SYSRET;
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
static uint64_t refers_x86(const ZydisDecodedInstruction *z, enum hlg_mnemonic mnemonic,
			   uint64_t addr)
{
	if (mnemonic == HLG_MNEMONIC_LEA)
		return z->raw.modrm.mod == 0 && z->raw.modrm.rm == 5
			       ? addr + z->length + (uint64_t)z->raw.disp.value
			       : 0;
	return z->raw.imm[0].size && !z->raw.imm[0].is_relative ? z->raw.imm[0].value.u
								: 0;
}

static bool decode_x86(const unsigned char *p, size_t left, uint64_t addr,
		       struct hlg_insn *insn)
{
	const struct hlg_zydis *zydis = hlg_zydis_get();
	enum hlg_category category;
	ZydisDecodedInstruction z;
	enum hlg_mnemonic mnemonic;

	if (!zydis || !decode(zydis, &zydis->plain, p, left, &z))
		return false;
	mnemonic = hlg_zydis_mnemonic(zydis, &z);
	category = hlg_zydis_category(zydis, &z);
	*insn = (struct hlg_insn){.length = z.length,
				  .ends = ends_x86(mnemonic, category),
				  .leave = leave_x86(&z, mnemonic),
				  .refers = refers_x86(&z, mnemonic, addr),
				  .frame = frame_x86(p, z.length)};
	if (category == HLG_CATEGORY_CALL)
		insn->flow = HLG_FLOW_CALL;
	else if (category == HLG_CATEGORY_COND_BR || category == HLG_CATEGORY_UNCOND_BR)
		insn->flow = HLG_FLOW_BRANCH;
	if (insn->flow != HLG_FLOW_ON && z.raw.imm[0].is_relative) {
		insn->direct = true;
		insn->target = addr + z.length + (uint64_t)z.raw.imm[0].value.s;
	}
	return true;
}

static bool is_available_x86(void)
{
	return hlg_zydis_get() != NULL;
}

const char *hlg_insn_problem(void)
{
	return hlg_zydis_problem();
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

static bool is_available_x86(void)
{
	return false;
}

const char *hlg_insn_problem(void)
{
	return "this is a build without Zydis";
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

	if (left < 4 || addr % 4 || !hlg_insn_is_a64(p))
		return false;
	*insn = (struct hlg_insn){.length = 4};
	if (!hlg_insn_may_branch_a64(p))
		return true;
	word = (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 |
	       (uint32_t)p[3] << 24;
	insn->direct = true;
	insn->ends = ends_a64(word);
	insn->leave = leave_a64(word);
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
	return machine == EM_AARCH64 || (machine == EM_X86_64 && is_available_x86());
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
