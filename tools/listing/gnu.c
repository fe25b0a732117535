// SPDX-License-Identifier: GPL-2.0-only
#include "tools/listing/gnu.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum {
	LONGEST = 256
};

struct rewrite {
	const struct hlg_zydis *zydis;
	const ZydisDecodedInstruction *insn;
	enum hlg_mnemonic mnemonic;
	enum hlg_category category;
	enum hlg_isa_ext isa_ext;
	const ZydisDecodedOperand *operands;
	uint64_t addr;
	char name[64];
	char rest[LONGEST]; /* the operands */
};

/* Zydis' word: GNU's. */
struct pair {
	const char *from, *to;
};

static const char *find(const struct pair *pairs, size_t n, const char *word)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(pairs[i].from, word) == 0)
			return pairs[i].to;
	return NULL;
}

#define FIND(pairs, word) find(pairs, sizeof(pairs) / sizeof((pairs)[0]), word)

static const ZydisDecodedOperand *memory_of(const struct rewrite *r)
{
	for (unsigned i = 0; i < r->insn->operand_count_visible; i++)
		if (r->operands[i].type == ZYDIS_OPERAND_TYPE_MEMORY)
			return &r->operands[i];
	return NULL;
}

static bool has_register(const struct rewrite *r)
{
	for (unsigned i = 0; i < r->insn->operand_count_visible; i++)
		if (r->operands[i].type == ZYDIS_OPERAND_TYPE_REGISTER)
			return true;
	return false;
}

static bool is_branch(const struct rewrite *r)
{
	return r->category == HLG_CATEGORY_CALL || r->category == HLG_CATEGORY_UNCOND_BR;
}

static bool is_string(const struct rewrite *r)
{
	return r->category == HLG_CATEGORY_STRINGOP ||
	       r->category == HLG_CATEGORY_IOSTRINGOP;
}

static const char *size_letter(unsigned bits)
{
	return bits == 8    ? "b"
	       : bits == 16 ? "w"
	       : bits == 32 ? "l"
	       : bits == 64 ? "q"
			    : "";
}

/* The condition behind one of these words has GNU's name, if it is another. */
static void name_condition(char *name)
{
	static const struct pair conditions[] = {{"z", "e"},   {"nz", "ne"},
						 {"nb", "ae"}, {"nbe", "a"},
						 {"nl", "ge"}, {"nle", "g"}};
	static const char *const heads[] = {"j", "set", "cmov"};

	for (size_t i = 0; i < 3; i++) {
		size_t n = strlen(heads[i]);
		const char *to = strncmp(name, heads[i], n) == 0
					 ? FIND(conditions, name + n)
					 : NULL;

		if (to)
			strcpy(name + n, to);
	}
}

/* movzbl: from which size to which. */
static bool name_extension(struct rewrite *r)
{
	bool zero = r->mnemonic == HLG_MNEMONIC_MOVZX;

	if (!zero && r->mnemonic != HLG_MNEMONIC_MOVSX &&
	    r->mnemonic != HLG_MNEMONIC_MOVSXD)
		return false;
	snprintf(r->name, sizeof(r->name), "mov%c%s%s", zero ? 'z' : 's',
		 size_letter(r->operands[1].size), size_letter(r->operands[0].size));
	return true;
}

/* What AT&T calls the other way round if the result is not in %st(0): binutils' own. */
static void name_reversed(struct rewrite *r)
{
	static const struct pair reversed[] = {{"fsub", "fsubr"},   {"fsubr", "fsub"},
					       {"fdiv", "fdivr"},   {"fdivr", "fdiv"},
					       {"fsubp", "fsubrp"}, {"fsubrp", "fsubp"},
					       {"fdivp", "fdivrp"}, {"fdivrp", "fdivp"}};
	bool other = r->insn->opcode == 0xdc || r->insn->opcode == 0xde;
	const char *to =
		other && r->insn->raw.modrm.mod == 3 ? FIND(reversed, r->name) : NULL;

	if (to)
		strcpy(r->name, to);
}

static void name_x87(struct rewrite *r)
{
	static const char *const plain[] = {"fldcw",  "fnstcw",  "fnstsw",
					    "fldenv", "fnstenv", "fnsave",
					    "frstor", "fbld",    "fbstp"};
	const ZydisDecodedOperand *memory = memory_of(r);
	const char *letter = "";

	name_reversed(r);
	for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++)
		if (strcmp(r->name, plain[i]) == 0)
			return;
	if (!memory)
		return;
	if (memory->element_type == ZYDIS_ELEMENT_TYPE_INT)
		letter = memory->size == 16 ? "s" : memory->size == 32 ? "l" : "ll";
	else
		letter = memory->size == 32 ? "s" : memory->size == 64 ? "l" : "t";
	strcat(r->name, letter);
}

/* Where no register tells the size of what is in memory. */
static void name_size(struct rewrite *r)
{
	const ZydisDecodedOperand *memory = memory_of(r);
	enum hlg_category category = r->category;
	bool shift = category == HLG_CATEGORY_SHIFT || category == HLG_CATEGORY_ROTATE;

	if (!memory || (has_register(r) && !shift) || r->isa_ext != HLG_ISA_EXT_BASE)
		return;
	if (shift ? r->mnemonic != HLG_MNEMONIC_SHLD && r->mnemonic != HLG_MNEMONIC_SHRD
		  : category == HLG_CATEGORY_BINARY || category == HLG_CATEGORY_LOGICAL ||
			    category == HLG_CATEGORY_BITBYTE ||
			    r->mnemonic == HLG_MNEMONIC_MOV)
		strcat(r->name, size_letter(memory->size));
}

/* vpcmpb $0x0,... is vpcmpeqb, cmpsd $0x1,... cmpltsd. */
static void name_comparison(struct rewrite *r)
{
	static const char *const floats[] = {"eq",  "lt",  "le",  "unord",
					     "neq", "nlt", "nle", "ord"};
	static const char *const ints[] = {"eq", "lt", "le", NULL, "neq", "nlt", "nle"};
	bool wide = strncmp(r->name, "vpcmp", 5) == 0;
	size_t head = wide ? 5 : r->name[0] == 'v' ? 4 : 3;
	const ZydisDecodedOperand *last;
	const char *comma, *word = NULL;
	char tail[16];

	if (strncmp(r->name + (wide ? 2 : head - 3), "cmp", 3) != 0 ||
	    r->insn->operand_count_visible < 3)
		return;
	last = &r->operands[r->insn->operand_count_visible - 1];
	comma = strchr(r->rest, ',');
	if (last->type != ZYDIS_OPERAND_TYPE_IMMEDIATE || !comma || !r->name[head] ||
	    strlen(r->name + head) > 2)
		return;
	if (last->imm.value.u < 7 || (!wide && last->imm.value.u == 7))
		word = (wide ? ints : floats)[last->imm.value.u];
	if (!word)
		return;
	snprintf(tail, sizeof(tail), "%s", r->name + head);
	snprintf(r->name + head, sizeof(r->name) - head, "%s%s", word, tail);
	memmove(r->rest, comma + 1, strlen(comma));
}

/* Calls, jumps and returns to other segments. */
static void name_far(struct rewrite *r)
{
	enum hlg_category category = r->category;

	if (r->insn->meta.branch_type != ZYDIS_BRANCH_TYPE_FAR)
		return;
	if (category == HLG_CATEGORY_RET)
		strcpy(r->name, r->insn->operand_width == 64 ? "lretq" : "lret");
	else if (is_branch(r))
		strcpy(r->name, category == HLG_CATEGORY_CALL ? "lcall" : "ljmp");
}

static void name(struct rewrite *r)
{
	static const struct pair other[] = {{"cdqe", "cltq"},    {"cwde", "cwtl"},
					    {"cbw", "cbtw"},     {"cwd", "cwtd"},
					    {"cdq", "cltd"},     {"cqo", "cqto"},
					    {"pushfq", "pushf"}, {"popfq", "popf"},
					    {"iretd", "iret"},   {"sysret", "sysretl"}};
	const ZydisDecodedOperand *memory = memory_of(r);
	const char *to;

	snprintf(r->name, sizeof(r->name), "%s",
		 r->zydis->mnemonic_name(r->insn->mnemonic));
	if (name_extension(r))
		return;
	to = FIND(other, r->name);
	if (to)
		strcpy(r->name, to);
	if (r->mnemonic == HLG_MNEMONIC_SYSRET && r->insn->operand_width == 64)
		strcpy(r->name, "sysretq");
	name_far(r);
	name_condition(r->name);
	if (r->isa_ext == HLG_ISA_EXT_X87)
		name_x87(r);
	else if (r->mnemonic == HLG_MNEMONIC_MOV &&
		 (r->insn->raw.imm[0].size == 64 || r->insn->raw.disp.size == 64))
		strcpy(r->name, "movabs");
	else if ((r->mnemonic == HLG_MNEMONIC_NOP && r->insn->operand_count_visible) ||
		 ((r->mnemonic == HLG_MNEMONIC_PUSH || r->mnemonic == HLG_MNEMONIC_POP) &&
		  r->insn->operand_width == 16 && !has_register(r)))
		strcat(r->name, size_letter(r->insn->operand_width));
	else if ((r->mnemonic == HLG_MNEMONIC_CVTSI2SD ||
		  r->mnemonic == HLG_MNEMONIC_CVTSI2SS) &&
		 memory)
		strcat(r->name, size_letter(memory->size));
	else
		name_size(r);
}

/* Puts word in the place of n bytes of text at `at`. */
static void replace(char *text, char *at, size_t n, const char *word)
{
	size_t len = strlen(word), tail = strlen(at + n) + 1;

	if (strlen(text) + len - n >= LONGEST)
		return;
	memmove(at + len, at + n, tail);
	memcpy(at, word, len);
}

/* No spaces: ", " and " {%k1}". */
static void close_up(char *text)
{
	for (char *p = text; *p; p++)
		while (*p == ' ')
			memmove(p, p + 1, strlen(p));
}

static uint64_t value_of(const struct rewrite *r, const ZydisDecodedOperand *op)
{
	uint64_t value = op->imm.value.u;
	unsigned width = r->insn->operand_width;

	if ((r->mnemonic == HLG_MNEMONIC_PUSH && width != 16) || width >= 64 ||
	    !op->imm.is_signed)
		return value;
	return value & ((UINT64_C(1) << width) - 1);
}

/* Numbers without a sign, in the order they are written: the last operand's first. */
static void put_numbers(struct rewrite *r)
{
	bool once = r->insn->opcode == 0xd0 || r->insn->opcode == 0xd1;
	char *at = r->rest;

	for (int i = r->insn->operand_count_visible; i-- > 0;) {
		const ZydisDecodedOperand *op = &r->operands[i];
		char word[32];

		if (op->type != ZYDIS_OPERAND_TYPE_IMMEDIATE)
			continue;
		at = op->imm.is_relative ? r->rest : strchr(at, '$');
		if (!at)
			return;
		if (op->imm.is_relative)
			snprintf(word, sizeof(word), "%" PRIx64,
				 r->addr + r->insn->length + op->imm.value.u);
		else
			snprintf(word, sizeof(word), "$0x%" PRIx64, value_of(r, op));
		replace(r->rest, at, strcspn(at, ","), word);
		/* A shift by one that does not say so */
		if (once && r->insn->raw.imm[0].size == 0)
			replace(r->rest, at, strcspn(at, ",") + (strchr(at, ',') != NULL),
				"");
		else
			at += strlen(word);
	}
}

/* A displacement of 0 that is in the instruction is written, too. */
static void put_displacement(struct rewrite *r)
{
	if (!memory_of(r) || r->insn->raw.disp.size == 0 || r->insn->raw.disp.value != 0)
		return;
	for (char *p = r->rest; *p; p++)
		if (*p == '(' && (p == r->rest || p[-1] == ',' || p[-1] == ':')) {
			replace(r->rest, p, 0, "0x0");
			return;
		}
}

/* %st0: %st(0) where the instruction names it, else %st. */
static void put_x87(struct rewrite *r)
{
	char *at = r->rest;

	if (r->isa_ext != HLG_ISA_EXT_X87)
		return;
	for (int i = r->insn->operand_count_visible; i-- > 0;) {
		const ZydisDecodedOperand *op = &r->operands[i];
		bool named = op->encoding == ZYDIS_OPERAND_ENCODING_MODRM_RM;
		char word[] = "%st(0)";

		if (op->type != ZYDIS_OPERAND_TYPE_REGISTER ||
		    !(at = strstr(at, "%st")) || !isdigit((unsigned char)at[3]))
			continue;
		word[4] = at[3];
		replace(r->rest, at, 4, named ? word : "%st");
		at += 3;
	}
}

/* Operands of strings are implied, and GNU writes them. */
static void put_string(struct rewrite *r)
{
	const char *name = r->name;
	unsigned width = r->insn->operand_width;
	const char *a = width == 8    ? "%al"
			: width == 16 ? "%ax"
			: width == 32 ? "%eax"
				      : "%rax";
	char stem[8];

	snprintf(stem, sizeof(stem), "%.4s", name);
	if (strcmp(stem, "movs") == 0)
		strcpy(r->rest, "%ds:(%rsi),%es:(%rdi)");
	else if (strcmp(stem, "cmps") == 0)
		strcpy(r->rest, "%es:(%rdi),%ds:(%rsi)");
	else if (strcmp(stem, "stos") == 0)
		snprintf(r->rest, sizeof(r->rest), "%s,%%es:(%%rdi)", a);
	else if (strcmp(stem, "lods") == 0)
		snprintf(r->rest, sizeof(r->rest), "%%ds:(%%rsi),%s", a);
	else if (strcmp(stem, "scas") == 0)
		snprintf(r->rest, sizeof(r->rest), "%%es:(%%rdi),%s", a);
	else if (strcmp(stem, "outs") == 0)
		strcpy(r->rest, "%ds:(%rsi),(%dx)");
	else
		strcpy(r->rest, "(%dx),%es:(%rdi)");
	if (strncmp(stem, "ins", 3) == 0)
		stem[3] = '\0';
	/* A register tells the size, memory alone does not. */
	snprintf(r->name, sizeof(r->name), "%s%s", stem,
		 strstr(r->rest, a) ? "" : size_letter(width));
}

/* (%dx), and debug registers. */
static void put_special(struct rewrite *r)
{
	char *dx = strstr(r->rest, "%dx"), *debug = strstr(r->rest, "%dr");

	if (debug)
		debug[2] = 'b';

	if (dx && (r->mnemonic == HLG_MNEMONIC_IN || r->mnemonic == HLG_MNEMONIC_OUT))
		replace(r->rest, dx, 3, "(%dx)");
}

/* Of a prefix, its word; "" where it is a part of the instruction. */
static const char *prefix_word(const struct rewrite *r, unsigned i)
{
	ZydisInstructionAttributes has = r->insn->attributes;
	bool idle = r->insn->raw.prefixes[i].type == ZYDIS_PREFIX_TYPE_IGNORED;

	switch (r->insn->raw.prefixes[i].value) {
	case 0xf0:
		return "lock ";
	case 0xf2:
		return has & ZYDIS_ATTRIB_HAS_BND        ? "bnd "
		       : has & ZYDIS_ATTRIB_HAS_REPNE    ? "repnz "
		       : has & ZYDIS_ATTRIB_HAS_XACQUIRE ? "xacquire "
		       : idle                            ? "repnz "
							 : "";
	case 0xf3:
		return has & ZYDIS_ATTRIB_HAS_REP        ? "rep "
		       : has & ZYDIS_ATTRIB_HAS_REPE     ? "repz "
		       : has & ZYDIS_ATTRIB_HAS_XRELEASE ? "xrelease "
		       : idle                            ? "repz "
							 : "";
	case 0x2e:
		return idle ? "cs " : "";
	case 0x3e:
		return has & ZYDIS_ATTRIB_HAS_NOTRACK ? "notrack " : idle ? "ds " : "";
	case 0x66:
		/* Nor has it a meaning where REX.W says how wide the operation is. */
		return idle || (r->insn->operand_width == 64 &&
				r->isa_ext == HLG_ISA_EXT_BASE)
			       ? "data16 "
			       : "";
	case 0x67:
		return idle ? "addr32 " : "";
	default:
		return "";
	}
}

/* The operands that Zydis wrote: behind the last word that is none of them. */
static const char *operands_of(const struct rewrite *r, const char *text)
{
	static const char *const prefixes[] = {
		"lock ",  "rep ", "repe ",    "repne ",    "repz ",
		"repnz ", "bnd ", "notrack ", "xacquire ", "xrelease "};
	const char *space;

	if (r->insn->operand_count_visible == 0)
		return "";
	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
		if (strncmp(text, prefixes[i], strlen(prefixes[i])) == 0) {
			text += strlen(prefixes[i]);
			i = SIZE_MAX;
		}
	space = strchr(text, ' ');
	return space ? space + 1 : "";
}

void hlg_gnu_rewrite(char *text, size_t size, const struct hlg_zydis *zydis,
		     const ZydisDecodedInstruction *insn,
		     const ZydisDecodedOperand *operands, uint64_t addr)
{
	struct rewrite r = {.zydis = zydis,
			    .insn = insn,
			    .mnemonic = hlg_zydis_mnemonic(zydis, insn),
			    .category = hlg_zydis_category(zydis, insn),
			    .isa_ext = hlg_zydis_isa_ext(zydis, insn),
			    .operands = operands,
			    .addr = addr};
	bool star = false;
	size_t used = 0;

	snprintf(r.rest, sizeof(r.rest), "%s", operands_of(&r, text));
	close_up(r.rest);
	name(&r);
	put_numbers(&r);
	name_comparison(&r);
	put_displacement(&r);
	put_x87(&r);
	put_special(&r);
	if (is_string(&r))
		put_string(&r);
	/* The register of a nop is not written; two bytes of padding are none of theirs.
	 */
	if (r.mnemonic == HLG_MNEMONIC_NOP && strchr(r.rest, ',') &&
	    insn->operand_count_visible == 2)
		replace(r.rest, r.rest, strcspn(r.rest, ",") + 1, "");
	if (r.mnemonic == HLG_MNEMONIC_NOP && insn->opcode == 0x90 &&
	    insn->operand_width == 16) {
		strcpy(r.name, "xchg");
		strcpy(r.rest, "%ax,%ax");
	}
	if (is_branch(&r) && operands[0].type != ZYDIS_OPERAND_TYPE_IMMEDIATE &&
	    insn->operand_count_visible)
		star = true;
	text[0] = '\0';
	for (unsigned i = 0; i < insn->raw.prefix_count && used < size; i++)
		used += (size_t)snprintf(text + used, size - used, "%s",
					 prefix_word(&r, i));
	if (used < size)
		snprintf(text + used, size - used, "%s%s%s%s", r.name,
			 r.rest[0] ? " " : "", star ? "*" : "", r.rest);
}
