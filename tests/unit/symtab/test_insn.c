// SPDX-License-Identifier: GPL-2.0-only
/*
 * Proves how long an instruction is and where it leads, on a table for each machine.
 * x86-64 bytes are those of the Intel SDM's volume 2 (opcode, ModRM, prefixes), checked
 * with GNU as; AArch64 words are those of the Arm ARM's C6.2, checked the same way. Each
 * is decoded from an allocation of its exact size, for the sanitizer; without its last
 * byte, which must fail; and with bytes behind it, which must change nothing.
 */
#include "symtab/code/insn.h"

#include <elf.h>
#include <string.h>

#include "config.h"
#include "tests/kit/tap.h"

#define N(table) ((int)(sizeof(table) / sizeof((table)[0])))

#define AT        UINT64_C(0x401000)
#define MAX_BYTES 16

struct insn {
	const char *what;
	unsigned size;
	unsigned char b[MAX_BYTES];
	enum hlg_flow flow;
	bool direct;
	int64_t distance; /* of the target from the instruction's first byte */
};

#define X(what_, flow_, direct_, distance_, ...)                                         \
	{                                                                                \
		.what = (what_), .size = sizeof((unsigned char[]){__VA_ARGS__}),         \
		.b = {__VA_ARGS__}, .flow = HLG_FLOW_##flow_, .direct = (direct_),       \
		.distance = (distance_)                                                  \
	}
#define ON(what, ...)     X(what, ON, false, 0, __VA_ARGS__)
#define CALL(what, ...)   X(what, CALL, false, 0, __VA_ARGS__)
#define BRANCH(what, ...) X(what, BRANCH, false, 0, __VA_ARGS__)

static const struct insn x86[] = {
	/* rel32 and rel8 count from the end of the instruction */
	X("call .+0x15", CALL, true, 0x15, 0xe8, 0x10, 0, 0, 0),
	X("call .-0x1b", CALL, true, -0x1b, 0xe8, 0xe0, 0xff, 0xff, 0xff),
	X("call, farthest", CALL, true, 0x80000004, 0xe8, 0xff, 0xff, 0xff, 0x7f),
	X("call of __tls_get_addr", CALL, true, 8, 0x66, 0x66, 0x48, 0xe8, 0, 0, 0, 0),
	CALL("call *%rax", 0xff, 0xd0),
	CALL("call *0x10(%rip)", 0xff, 0x15, 0x10, 0, 0, 0),
	CALL("call *8(%r12,%rax,4)", 0x41, 0xff, 0x54, 0x84, 0x08),
	CALL("lcall *(%rax)", 0xff, 0x18),
	X("jmp, short, back", BRANCH, true, -0x7e, 0xeb, 0x80),
	X("jmp, short, on", BRANCH, true, 0x81, 0xeb, 0x7f),
	X("jmp to itself", BRANCH, true, 0, 0xe9, 0xfb, 0xff, 0xff, 0xff),
	X("jmp, farthest back", BRANCH, true, -0x7ffffffb, 0xe9, 0, 0, 0, 0x80),
	X("bnd jmp", BRANCH, true, 6, 0xf2, 0xe9, 0, 0, 0, 0),
	BRANCH("jmp *%r11", 0x41, 0xff, 0xe3),
	BRANCH("jmp *(,%rax,8)", 0xff, 0x24, 0xc5, 0x78, 0x56, 0x34, 0x12),
	BRANCH("notrack jmp *%rax", 0x3e, 0xff, 0xe0),
	BRANCH("ljmp *(%rax)", 0xff, 0x28),
	X("je to itself", BRANCH, true, 0, 0x74, 0xfe),
	X("je,pn to itself", BRANCH, true, 0, 0x2e, 0x74, 0xfd),
	X("jg", BRANCH, true, 0x12, 0x7f, 0x10),
	X("jne, near", BRANCH, true, 0x106, 0x0f, 0x85, 0, 1, 0, 0),
	X("jo, near, back", BRANCH, true, -0xfa, 0x0f, 0x80, 0, 0xff, 0xff, 0xff),
	X("loop", BRANCH, true, -6, 0xe2, 0xf8),
	X("loope", BRANCH, true, 2, 0xe1, 0),
	X("loopne", BRANCH, true, -8, 0xe0, 0xf6),
	X("jrcxz", BRANCH, true, -10, 0xe3, 0xf4),
	X("jecxz", BRANCH, true, -12, 0x67, 0xe3, 0xf1),
	BRANCH("xabort $1: no target", 0xc6, 0xf8, 1),
	ON("ret", 0xc3),
	ON("ret $8", 0xc2, 8, 0),
	ON("repz ret", 0xf3, 0xc3),
	ON("lret", 0xcb),
	ON("iretq", 0x48, 0xcf),
	ON("syscall", 0x0f, 0x05),
	ON("sysretq", 0x48, 0x0f, 0x07),
	ON("int3", 0xcc),
	ON("int $0x80", 0xcd, 0x80),
	ON("ud2", 0x0f, 0x0b),
	ON("hlt", 0xf4),
	ON("out %eax,(%dx)", 0xef),
	ON("push %rbp", 0x55),
	ON("push %r12", 0x41, 0x54),
	ON("rep movsb", 0xf3, 0xa4),
	ON("rep stosq", 0xf3, 0x48, 0xab),
	ON("lock cmpxchg %rcx,(%rdi)", 0xf0, 0x48, 0x0f, 0xb1, 0x0f),
	ON("mov $imm32,%eax", 0xb8, 1, 2, 3, 4),
	ON("mov $imm16,%ax", 0x66, 0xb8, 1, 2),
	ON("movabs $imm64,%rax", 0x48, 0xb8, 8, 7, 6, 5, 4, 3, 2, 1),
	ON("movabs 0x807060504030201,%eax", 0xa1, 1, 2, 3, 4, 5, 6, 7, 8),
	ON("mov %fs:0x28,%rax", 0x64, 0x48, 0x8b, 0x04, 0x25, 0x28, 0, 0, 0),
	ON("movl $imm32,%fs:disp32(%rax,%rcx,8)", 0x64, 0xc7, 0x84, 0xc8, 0x88, 0x77,
	   0x66, 0x55, 0x44, 0x33, 0x22, 0x11),
	ON("test $imm8,%al: f6 /0 has an immediate", 0xf6, 0xc0, 1),
	ON("not %al: f6 /2 has none", 0xf6, 0xd0),
	ON("enter $imm16,$imm8", 0xc8, 0x10, 0, 1),
	ON("endbr64", 0xf3, 0x0f, 0x1e, 0xfa),
	ON("nopl 0(%rax,%rax)", 0x0f, 0x1f, 0x44, 0, 0),
	ON("nop of 15", 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x2e, 0x0f, 0x1f, 0x84, 0, 0,
	   0, 0, 0),
	ON("pshufb (0f 38)", 0x66, 0x0f, 0x38, 0x00, 0xd1),
	ON("palignr $1 (0f 3a)", 0x66, 0x0f, 0x3a, 0x0f, 0xd1, 1),
	ON("vaddps %ymm1,%ymm2,%ymm3 (VEX, c5)", 0xc5, 0xec, 0x58, 0xd9),
	ON("vpxor %xmm8,%xmm8,%xmm8 (VEX, c4)", 0xc4, 0x41, 0x39, 0xef, 0xc0),
	ON("vaddps %zmm1,%zmm2,%zmm3 (EVEX)", 0x62, 0xf1, 0x6c, 0x48, 0x58, 0xd9),
	ON("vmovups 0x40(%rax),%zmm1{%k1}{z} (EVEX, disp8)", 0x62, 0xf1, 0x7c, 0xc9, 0x10,
	   0x48, 1),
};

/* SDM volume 2, appendix A: no instruction in 64-bit mode; and 16 bytes are too long. */
static const struct insn x86_none[] = {
	ON("push %es", 0x06, 0x90, 0x90, 0x90),
	ON("daa", 0x27, 0x90, 0x90, 0x90),
	ON("pusha", 0x60, 0x90, 0x90, 0x90),
	ON("lcall $imm16,$imm32", 0x9a, 0, 0, 0, 0, 0, 0, 0),
	ON("aam", 0xd4, 0x0a, 0x90),
	ON("ff /7", 0xff, 0xf8, 0x90),
	ON("0f 04", 0x0f, 0x04, 0x90, 0x90),
	ON("16 bytes", 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x2e, 0x0f, 0x1f, 0x84,
	   0, 0, 0, 0, 0),
	ON("prefixes alone", 0x66, 0xf3, 0x2e),
};

struct word {
	const char *what;
	uint32_t word;
	enum hlg_flow flow;
	bool direct;
	int64_t distance;
};

static const struct word a64[] = {
	{"b .", 0x14000000, HLG_FLOW_BRANCH, true, 0},
	{"b, back", 0x17ffffff, HLG_FLOW_BRANCH, true, -4},
	{"b, farthest", 0x15ffffff, HLG_FLOW_BRANCH, true, 0x7fffffc},
	{"b, farthest back", 0x16000000, HLG_FLOW_BRANCH, true, -0x8000000},
	{"bl", 0x94000002, HLG_FLOW_CALL, true, 8},
	{"bl, back", 0x97fffffe, HLG_FLOW_CALL, true, -8},
	{"bl, farthest back", 0x96000000, HLG_FLOW_CALL, true, -0x8000000},
	{"b.eq, farthest", 0x547fffe0, HLG_FLOW_BRANCH, true, 0xffffc},
	{"b.ne, farthest back", 0x54800001, HLG_FLOW_BRANCH, true, -0x100000},
	{"cbz x0", 0xb4000040, HLG_FLOW_BRANCH, true, 8},
	{"cbz w1, farthest back", 0x34800001, HLG_FLOW_BRANCH, true, -0x100000},
	{"cbnz w30", 0x35ffffde, HLG_FLOW_BRANCH, true, -8},
	{"cbnz x3, farthest", 0xb57fffe3, HLG_FLOW_BRANCH, true, 0xffffc},
	{"tbz w0, #0, farthest", 0x3603ffe0, HLG_FLOW_BRANCH, true, 0x7ffc},
	{"tbz w3, #31, back", 0x36ffffe3, HLG_FLOW_BRANCH, true, -4},
	{"tbnz x1, #32", 0xb7000021, HLG_FLOW_BRANCH, true, 4},
	{"tbnz x30, #63, farthest back", 0xb7fc001e, HLG_FLOW_BRANCH, true, -0x8000},
	{"blr x0", 0xd63f0000, HLG_FLOW_CALL, false, 0},
	{"blr x30", 0xd63f03c0, HLG_FLOW_CALL, false, 0},
	{"br x16", 0xd61f0200, HLG_FLOW_BRANCH, false, 0},
	{"br x30", 0xd61f03c0, HLG_FLOW_BRANCH, false, 0},
	{"ret", 0xd65f03c0, HLG_FLOW_ON, false, 0},
	{"ret x1", 0xd65f0020, HLG_FLOW_ON, false, 0},
	{"eret", 0xd69f03e0, HLG_FLOW_ON, false, 0},
	{"nop", 0xd503201f, HLG_FLOW_ON, false, 0},
	{"bti c", 0xd503245f, HLG_FLOW_ON, false, 0},
	{"svc #0", 0xd4000001, HLG_FLOW_ON, false, 0},
	{"brk #1", 0xd4200020, HLG_FLOW_ON, false, 0},
	{"ldr x0, .+8", 0x58000040, HLG_FLOW_ON, false, 0},
	{"adr x0, .-8", 0x10ffffc0, HLG_FLOW_ON, false, 0},
	{"the smallest word that is no udf", 0x00010000, HLG_FLOW_ON, false, 0},
};

/* What may leave a guest, and what is never run on from: SDM volume 3, 26.1; Arm ARM. */
struct leaving {
	const char *what;
	unsigned size;
	unsigned char b[MAX_BYTES];
	enum hlg_leave leave;
	bool ends;
};

#define L(what_, leave_, ends_, ...)                                                     \
	{                                                                                \
		.what = (what_), .size = sizeof((unsigned char[]){__VA_ARGS__}),         \
		.b = {__VA_ARGS__}, .leave = HLG_LEAVE_##leave_, .ends = (ends_)         \
	}

static const struct leaving x86_leaving[] = {
	L("in $0x60,%al", ALWAYS, false, 0xe4, 0x60),
	L("in (%dx),%eax", ALWAYS, false, 0xed),
	L("out %al,$0x80", ALWAYS, false, 0xe6, 0x80),
	L("out %eax,(%dx)", ALWAYS, false, 0xef),
	L("out %ax,(%dx)", ALWAYS, false, 0x66, 0xef),
	L("rep insb", ALWAYS, false, 0xf3, 0x6c),
	L("rep outsl", ALWAYS, false, 0xf3, 0x6f),
	L("insw", ALWAYS, false, 0x66, 0x6d),
	L("insl", ALWAYS, false, 0x6d),
	L("outsb", ALWAYS, false, 0x6e),
	L("outsw", ALWAYS, false, 0x66, 0x6f),
	L("hlt", ALWAYS, false, 0xf4),
	L("cpuid", ALWAYS, false, 0x0f, 0xa2),
	L("vmcall", ALWAYS, false, 0x0f, 0x01, 0xc1),
	L("vmmcall", ALWAYS, false, 0x0f, 0x01, 0xd9),
	L("tdcall", ALWAYS, false, 0x66, 0x0f, 0x01, 0xcc),
	L("xsetbv", ALWAYS, false, 0x0f, 0x01, 0xd1),
	L("rdmsr", MAY, false, 0x0f, 0x32),
	L("wrmsr", MAY, false, 0x0f, 0x30),
	L("rdtsc", MAY, false, 0x0f, 0x31),
	L("rdtscp", MAY, false, 0x0f, 0x01, 0xf9),
	L("pause", MAY, false, 0xf3, 0x90),
	L("mov %rax,%cr3", MAY, false, 0x0f, 0x22, 0xd8),
	L("mov %cr8,%r8", MAY, false, 0x45, 0x0f, 0x20, 0xc0),
	L("mov %rax,%dr7", MAY, false, 0x0f, 0x23, 0xf8),
	L("clts", MAY, false, 0x0f, 0x06),
	L("invlpg (%rax)", MAY, false, 0x0f, 0x01, 0x38),
	L("wbinvd", MAY, false, 0x0f, 0x09),
	L("lgdt (%rax)", MAY, false, 0x0f, 0x01, 0x10),
	L("lidt (%rax)", MAY, false, 0x0f, 0x01, 0x18),
	L("lldt %ax", MAY, false, 0x0f, 0x00, 0xd0),
	L("ltr %ax", MAY, false, 0x0f, 0x00, 0xd8),
	L("sgdt (%rax)", MAY, false, 0x0f, 0x01, 0x00),
	L("sidt (%rax)", MAY, false, 0x0f, 0x01, 0x08),
	L("sldt %eax", MAY, false, 0x0f, 0x00, 0xc0),
	L("str %eax", MAY, false, 0x0f, 0x00, 0xc8),
	L("lmsw %ax", MAY, false, 0x0f, 0x01, 0xf0),
	L("smsw %eax", MAY, false, 0x0f, 0x01, 0xe0),
	L("invd", MAY, false, 0x0f, 0x08),
	L("invpcid (%rax),%rcx", MAY, false, 0x66, 0x0f, 0x38, 0x82, 0x08),
	L("rdpmc", MAY, false, 0x0f, 0x33),
	L("monitor", MAY, false, 0x0f, 0x01, 0xc8),
	L("mwait", MAY, false, 0x0f, 0x01, 0xc9),
	L("tpause %eax", MAY, false, 0x66, 0x0f, 0xae, 0xf0),
	L("umwait %eax", MAY, false, 0xf2, 0x0f, 0xae, 0xf0),
	L("verr %ax stays", NEVER, false, 0x0f, 0x00, 0xe0),
	L("nop is no pause", NEVER, false, 0x90),
	L("xgetbv", NEVER, false, 0x0f, 0x01, 0xd0),
	L("mov $imm32,%eax", NEVER, false, 0xb8, 1, 2, 3, 4),
	L("vmovups: 0f 11 is of another map", NEVER, false, 0xc5, 0xf8, 0x11, 0x00),
	L("and %al,(%rax): 20 of the first map", NEVER, false, 0x20, 0x00),
	L("rdrand %eax", NEVER, false, 0x0f, 0xc7, 0xf0),
	L("int $0x80", NEVER, false, 0xcd, 0x80),
	L("call", NEVER, false, 0xe8, 0, 0, 0, 0),
	L("je", NEVER, false, 0x74, 0xfe),
	L("jmp", NEVER, true, 0xeb, 0xfe),
	L("jmp *%rax", NEVER, true, 0xff, 0xe0),
	L("ret", NEVER, true, 0xc3),
	L("ret $8", NEVER, true, 0xc2, 8, 0),
	L("iretq", NEVER, true, 0x48, 0xcf),
	L("sysretq", NEVER, true, 0x48, 0x0f, 0x07),
	L("ud2", NEVER, true, 0x0f, 0x0b),
	L("int3", NEVER, true, 0xcc),
};

static const struct leaving a64_leaving[] = {
	L("hvc #0", ALWAYS, false, 0x02, 0x00, 0x00, 0xd4),
	L("hvc #0xffff", ALWAYS, false, 0xe2, 0xff, 0x1f, 0xd4),
	L("smc #0", ALWAYS, false, 0x03, 0x00, 0x00, 0xd4),
	L("wfi", MAY, false, 0x7f, 0x20, 0x03, 0xd5),
	L("wfe", MAY, false, 0x5f, 0x20, 0x03, 0xd5),
	L("wfit x3", MAY, false, 0x23, 0x10, 0x03, 0xd5),
	L("svc #0", NEVER, false, 0x01, 0x00, 0x00, 0xd4),
	L("nop", NEVER, false, 0x1f, 0x20, 0x03, 0xd5),
	L("yield", NEVER, false, 0x3f, 0x20, 0x03, 0xd5),
	L("bl", NEVER, false, 0x02, 0x00, 0x00, 0x94),
	L("blr x0", NEVER, false, 0x00, 0x00, 0x3f, 0xd6),
	L("b.eq", NEVER, false, 0x40, 0x00, 0x00, 0x54),
	L("b", NEVER, true, 0x02, 0x00, 0x00, 0x14),
	L("br x16", NEVER, true, 0x00, 0x02, 0x1f, 0xd6),
	L("ret", NEVER, true, 0xc0, 0x03, 0x5f, 0xd6),
	L("eret", NEVER, true, 0xe0, 0x03, 0x9f, 0xd6),
	L("brk #1", NEVER, true, 0x20, 0x00, 0x20, 0xd4),
};

/* size bytes at b, decoded at addr from an allocation that ends with them. */
static bool decode(unsigned machine, const unsigned char *b, size_t size, uint64_t addr,
		   struct hlg_insn *insn)
{
	unsigned char *copy = malloc(size);
	bool ok;

	memcpy(copy, b, size);
	memset(insn, 0xa5, sizeof(*insn));
	ok = hlg_insn_decode(machine, copy, size, addr, insn);
	free(copy);
	return ok;
}

static void expect(const struct hlg_insn *insn, const struct insn *want, uint64_t addr)
{
	ck_assert_msg(insn->length == want->size, "%s: %u bytes", want->what,
		      insn->length);
	ck_assert_msg(insn->flow == want->flow, "%s: flow %d", want->what,
		      (int)insn->flow);
	ck_assert_msg(insn->direct == want->direct, "%s: direct %d", want->what,
		      insn->direct);
	ck_assert_msg(!want->direct || insn->target == addr + (uint64_t)want->distance,
		      "%s: target 0x%lx", want->what, (unsigned long)insn->target);
}

static void check(unsigned machine, const struct insn *want, uint64_t addr)
{
	unsigned char more[MAX_BYTES + 8];
	struct hlg_insn insn;

	ck_assert_msg(decode(machine, want->b, want->size, addr, &insn), "%s: refused",
		      want->what);
	expect(&insn, want, addr);
	memset(more, 0xff, sizeof(more));
	memcpy(more, want->b, want->size);
	ck_assert(decode(machine, more, sizeof(more), addr, &insn));
	expect(&insn, want, addr);
	for (size_t size = 1; size < want->size; size++)
		ck_assert_msg(!decode(machine, want->b, size, addr, &insn),
			      "%s: taken of %zu bytes", want->what, size);
}

/* Targets wrap as addresses do. */
START_TEST(x86_instructions)
{
	check(EM_X86_64, &x86[_i], AT);
	check(EM_X86_64, &x86[_i], 0);
	check(EM_X86_64, &x86[_i], UINT64_C(0xffffffff81000003));
}
END_TEST

START_TEST(x86_none_of_them)
{
	struct hlg_insn insn;

	for (size_t size = 1; size <= x86_none[_i].size; size++)
		ck_assert_msg(!decode(EM_X86_64, x86_none[_i].b, size, AT, &insn),
			      "%s: %u bytes", x86_none[_i].what, insn.length);
}
END_TEST

/* What a build without the decoder says of x86-64: nothing. */
START_TEST(x86_needs_the_decoder)
{
	struct hlg_insn insn;

	ck_assert(hlg_insn_available(EM_X86_64) == (HLG_HAVE_ZYDIS != 0));
	ck_assert(decode(EM_X86_64, x86[0].b, x86[0].size, AT, &insn) ==
		  (HLG_HAVE_ZYDIS != 0));
	ck_assert(hlg_insn_available(EM_AARCH64));
	ck_assert(!hlg_insn_available(EM_RISCV));
	ck_assert(!hlg_insn_available(EM_NONE));
}
END_TEST

static void put_word(unsigned char *b, uint32_t word)
{
	for (int i = 0; i < 4; i++)
		b[i] = (unsigned char)(word >> 8 * i);
}

START_TEST(a64_instructions)
{
	const struct word *w = &a64[_i];
	struct insn want = {.what = w->what,
			    .size = 4,
			    .flow = w->flow,
			    .direct = w->direct,
			    .distance = w->distance};
	struct hlg_insn insn;

	put_word(want.b, w->word);
	check(EM_AARCH64, &want, AT);
	check(EM_AARCH64, &want, 0);
	check(EM_AARCH64, &want, UINT64_C(0xfffffffffffffff8));
	for (uint64_t addr = AT + 1; addr < AT + 4; addr++)
		ck_assert_msg(!decode(EM_AARCH64, want.b, 4, addr, &insn),
			      "%s: taken at 0x%lx", w->what, (unsigned long)addr);
}
END_TEST

static void check_leaving(unsigned machine, const struct leaving *want)
{
	struct hlg_insn insn;

	ck_assert_msg(decode(machine, want->b, want->size, AT & ~UINT64_C(3), &insn),
		      "%s: refused", want->what);
	ck_assert_uint_eq(insn.length, want->size);
	ck_assert_msg(insn.leave == want->leave, "%s: leave %d", want->what,
		      (int)insn.leave);
	ck_assert_msg(insn.ends == want->ends, "%s: ends %d", want->what, insn.ends);
}

START_TEST(x86_leaves_the_guest)
{
	check_leaving(EM_X86_64, &x86_leaving[_i]);
}
END_TEST

START_TEST(a64_leaves_the_guest)
{
	check_leaving(EM_AARCH64, &a64_leaving[_i]);
}
END_TEST

/* Arm ARM, C6.2, UDF: the upper half is zero, the lower one anything. */
START_TEST(a64_udf_is_none)
{
	static const uint32_t words[] = {0, 1, 0x1234, 0xffff};

	for (int i = 0; i < N(words); i++) {
		unsigned char b[4];
		struct hlg_insn insn;

		put_word(b, words[i]);
		ck_assert(!decode(EM_AARCH64, b, 4, AT, &insn));
	}
}
END_TEST

/* Every conditional branch, compare and test of a register, to every kind of place. */
START_TEST(a64_offsets_are_signed)
{
	for (int64_t k = -0x2000; k < 0x2000; k++) {
		const uint32_t bits = (uint32_t)(uint64_t)k;
		const uint32_t words[] = {0x14000000 | (bits & 0x3ffffff),
					  0x5400000d | (bits & 0x7ffff) << 5,
					  0xb400001f | (bits & 0x7ffff) << 5,
					  0xb7f8001f | (bits & 0x3fff) << 5};

		for (int i = 0; i < N(words); i++) {
			struct hlg_insn insn;
			unsigned char b[4];

			put_word(b, words[i]);
			ck_assert(decode(EM_AARCH64, b, 4, AT, &insn));
			ck_assert_int_eq(insn.flow, HLG_FLOW_BRANCH);
			ck_assert(insn.direct);
			ck_assert_uint_eq(insn.target, AT + (uint64_t)(4 * k));
		}
	}
}
END_TEST

/* Nothing but four bytes and what is read: the sanitizer's part of the proof. */
START_TEST(random_bytes_stay_inside)
{
	unsigned seed = 1;

	for (int round = 0; round < 200000; round++) {
		unsigned machine = round % 4 ? EM_X86_64 : EM_AARCH64;
		size_t size = 1 + (size_t)rand_r(&seed) % MAX_BYTES;
		unsigned char b[MAX_BYTES];
		struct hlg_insn insn;

		for (size_t i = 0; i < size; i++)
			b[i] = (unsigned char)(rand_r(&seed) >> 8);
		if (!decode(machine, b, size, AT, &insn))
			continue;
		ck_assert_uint_ge(insn.length, 1);
		ck_assert_uint_le(insn.length, size);
		ck_assert(!insn.direct || insn.flow != HLG_FLOW_ON);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("insn");
	TCase *tc = tap_case(suite, "insn");

	tcase_add_loop_test(tc, x86_instructions, 0, HLG_HAVE_ZYDIS ? N(x86) : 0);
	tcase_add_loop_test(tc, x86_none_of_them, 0, N(x86_none));
	tcase_add_test(tc, x86_needs_the_decoder);
	tcase_add_loop_test(tc, a64_instructions, 0, N(a64));
	tcase_add_loop_test(tc, x86_leaves_the_guest, 0,
			    HLG_HAVE_ZYDIS ? N(x86_leaving) : 0);
	tcase_add_loop_test(tc, a64_leaves_the_guest, 0, N(a64_leaving));
	tcase_add_test(tc, a64_udf_is_none);
	tcase_add_test(tc, a64_offsets_are_signed);
	tcase_add_test(tc, random_bytes_stay_inside);
	return tap_main(suite);
}
