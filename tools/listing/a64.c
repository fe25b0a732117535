// SPDX-License-Identifier: GPL-2.0-only
#include "tools/listing/a64.h"

#include <capstone/capstone.h>
#include <ctype.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Text that is put together; what does not fit is left out. */
struct out {
	char *at;
	size_t left;
};

static void put(struct out *o, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void put(struct out *o, const char *format, ...)
{
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(o->at, o->left, format, args);
	va_end(args);
	if (n < 0)
		return;
	if ((size_t)n >= o->left)
		n = o->left ? (int)o->left - 1 : 0;
	o->at += n;
	o->left -= (size_t)n;
}

static bool is_one_of(const char *word, size_t n, const char *const *words)
{
	for (; *words; words++)
		if (strlen(*words) == n && memcmp(word, *words, n) == 0)
			return true;
	return false;
}

static char register_of(uint32_t word, bool sp, char *name, size_t size)
{
	char wide = word >> 31 ? 'x' : 'w';
	unsigned number = word & 31;

	if (number < 31)
		snprintf(name, size, "%c%u", wide, number);
	else
		snprintf(name, size, "%s",
			 sp ? (wide == 'x' ? "sp" : "wsp")
			    : (wide == 'x' ? "xzr" : "wzr"));
	return wide;
}

/* Can movz or movn make it, so that objdump calls the orr of it by its own name? */
static bool is_move_wide(uint64_t value, bool wide)
{
	uint64_t all = wide ? UINT64_MAX : UINT32_MAX;

	for (int shift = 0; shift < (wide ? 64 : 32); shift += 16) {
		uint64_t others = all & ~(UINT64_C(0xffff) << shift);

		if ((value & others) == 0 || (~value & others) == 0)
			return true;
	}
	return false;
}

/* movz, movn and orr that are called mov; value is the orr's. */
static bool write_mov(uint32_t word, const cs_insn *insn, struct out *o)
{
	bool wide = word >> 31, negative = (word & 0x7f800000) == 0x12800000;
	unsigned shift = (word >> 21 & 3) * 16;
	uint64_t value = (uint64_t)(word >> 5 & 0xffff) << shift;
	const char *number = strchr(insn->op_str, '#');
	char name[8];

	if ((word & 0x7f800000) == 0x52800000 || negative) {
		if ((value == 0 && shift) ||
		    (negative && !wide && (word >> 5 & 0xffff) == 0xffff))
			return false;
		if (negative)
			value = wide ? ~value : ~value & UINT32_MAX;
		register_of(word, false, name, sizeof(name));
	} else if ((word & 0x7f8003e0) == 0x320003e0 && number) {
		value = strtoull(number + 1, NULL, 0);
		register_of(word, true, name, sizeof(name));
		if (is_move_wide(value, wide)) { /* which Capstone 5 calls mov, too */
			put(o, "orr %s, %czr, #0x%" PRIx64, name, wide ? 'x' : 'w',
			    value);
			return true;
		}
	} else {
		return false;
	}
	put(o, "mov %s, #0x%" PRIx64, name, value);
	return true;
}

static bool write_hint(uint32_t word, struct out *o)
{
	static const char *const names[] = {
		[0] = "nop",        [1] = "yield",      [2] = "wfe",
		[3] = "wfi",        [4] = "sev",        [5] = "sevl",
		[6] = "dgh",        [7] = "xpaclri",    [8] = "pacia1716",
		[10] = "pacib1716", [12] = "autia1716", [14] = "autib1716",
		[16] = "esb",       [17] = "psb csync", [18] = "tsb csync",
		[20] = "csdb",      [24] = "paciaz",    [25] = "paciasp",
		[26] = "pacibz",    [27] = "pacibsp",   [28] = "autiaz",
		[29] = "autiasp",   [30] = "autibz",    [31] = "autibsp",
		[32] = "bti",       [34] = "bti c",     [36] = "bti j",
		[38] = "bti jc",
	};
	unsigned number = word >> 5 & 0x7f;

	if ((word & 0xfffff01f) != 0xd503201f)
		return false;
	if (number < sizeof(names) / sizeof(names[0]) && names[number])
		put(o, "%s", names[number]);
	else
		put(o, "hint #0x%x", number);
	return true;
}

/* Permanently undefined: Capstone 4 does not know it. */
static bool write_udf(uint32_t word, struct out *o)
{
	if (word >> 16)
		return false;
	put(o, "udf #%u", word);
	return true;
}

/* Condition codes have two names each; objdump takes the older ones. Indices of lanes
 * are decimal there. */
static void write_word(struct out *o, const char *word, size_t n)
{
	if (n == 2 && memcmp(word, "hs", 2) == 0)
		put(o, "cs");
	else if (n == 2 && memcmp(word, "lo", 2) == 0)
		put(o, "cc");
	else if (n > 2 && memcmp(word, "0x", 2) == 0)
		put(o, "%lu", strtoul(word, NULL, 16));
	else
		put(o, "%.*s", (int)n, word);
}

static void write_name(struct out *o, const char *name)
{
	if (strcmp(name, "ins") == 0)
		put(o, "mov");
	else if (strncmp(name, "b.", 2) == 0) {
		put(o, "b.");
		write_word(o, name + 2, strlen(name + 2));
	} else {
		put(o, "%s", name);
	}
}

/* What a number is. */
enum number {
	PLAIN, /* an address */
	DECIMAL,
	HEX
};

static bool is_target(const char *name, unsigned operand)
{
	static const char *const first[] = {"b", "bl", NULL};
	static const char *const second[] = {"cbz", "cbnz",  "adr",  "adrp",
					     "ldr", "ldrsw", "prfm", NULL};
	static const char *const third[] = {"tbz", "tbnz", NULL};
	size_t n = strlen(name);

	return operand == 0   ? is_one_of(name, n, first) || strncmp(name, "b.", 2) == 0
	       : operand == 1 ? is_one_of(name, n, second)
	       : operand == 2 ? is_one_of(name, n, third)
			      : false;
}

static bool is_counting(const char *name)
{
	static const char *const names[] = {
		"lsl",      "lsr",      "asr",       "ror",     "ubfx",     "ubfiz",
		"sbfx",     "sbfiz",    "bfi",       "bfxil",   "bfc",      "extr",
		"ext",      "tbz",      "tbnz",      "shl",     "sshr",     "ushr",
		"sli",      "sri",      "ssra",      "usra",    "srshr",    "urshr",
		"srsra",    "ursra",    "sqshl",     "uqshl",   "sqshlu",   "shrn",
		"shrn2",    "rshrn",    "rshrn2",    "sshll",   "sshll2",   "ushll",
		"ushll2",   "shll",     "shll2",     "uqshrn",  "uqshrn2",  "sqshrn",
		"sqshrn2",  "sqshrun",  "sqshrun2",  "uqrshrn", "uqrshrn2", "sqrshrn",
		"sqrshrn2", "sqrshrun", "sqrshrun2", "scvtf",   "ucvtf",    "fcvtzs",
		"fcvtzu",   "fcmla",    "fcadd",     "cmeq",    "cmge",     "cmgt",
		"cmle",     "cmlt",     NULL};

	return is_one_of(name, strlen(name), names);
}

/* before: the text of the operands up to the number. */
static enum number kind_of(const char *name, unsigned operand, const char *operands,
			   const char *at)
{
	static const char *const shifts[] = {"lsl",  "lsr",  "asr",  "ror",  "msl",
					     "uxtb", "uxth", "uxtw", "uxtx", "sxtb",
					     "sxth", "sxtw", "sxtx", NULL};
	const char *word = at;

	while (word > operands && word[-1] == ' ')
		word--;
	at = word;
	while (word > operands && isalpha((unsigned char)word[-1]))
		word--;
	if (is_one_of(word, (size_t)(at - word), shifts))
		return DECIMAL;
	if (memchr(operands, '[', (size_t)(at - operands)) || is_counting(name))
		return is_target(name, operand) && operand == 2 ? PLAIN : DECIMAL;
	return is_target(name, operand) ? PLAIN : HEX;
}

/* The number behind a '#'; returns what follows it. */
static const char *write_number(struct out *o, const char *at, enum number kind)
{
	size_t n = strspn(at, "-0123456789abcdefx.");
	char *end;
	int64_t value;

	if (memchr(at, '.', n)) {
		double real = strtod(at, &end);

		if (n == 3)
			put(o, "#0.0");
		else
			put(o, "#%.18e", real);
		return end;
	}
	value = *at == '-' ? (int64_t)strtoll(at, &end, 0)
			   : (int64_t)strtoull(at, &end, 0);
	if (kind == PLAIN)
		put(o, "%" PRIx64, (uint64_t)value);
	else if (kind == DECIMAL)
		put(o, "#%" PRId64, value);
	else
		put(o, "#0x%" PRIx64, (uint64_t)value);
	return end;
}

/* Three registers or four in a row are "{v0.16b-v2.16b}"; returns what follows, or p.
 * Behind v31 comes v0, which is no row. */
static const char *write_list(struct out *o, const char *p)
{
	const char *end = strchr(p, '}'), *first = strchr(p, ','), *last;

	if (!end || !first || first > end)
		return p;
	last = memrchr(p, ' ', (size_t)(end - p));
	if (!last || !strchr(first + 1, ',') || strchr(first + 1, ',') > last ||
	    strtol(p + 2, NULL, 10) > strtol(last + 2, NULL, 10))
		return p;
	put(o, "%.*s-%.*s", (int)(first - p), p, (int)(end - last - 1), last + 1);
	return end;
}

static void write_operands(struct out *o, const char *name, const char *operands)
{
	unsigned operand = 0, depth = 0;

	for (const char *p = operands; *p;) {
		size_t n = 0;

		while (isalnum((unsigned char)p[n]) || p[n] == '.' || p[n] == '_')
			n++;
		if (n) {
			write_word(o, p, n);
			p += n;
		} else if (*p == '{' && write_list(o, p) != p) {
			p = strchr(p, '}');
		} else if (*p == '#') {
			p = write_number(o, p + 1, kind_of(name, operand, operands, p));
		} else {
			depth += *p == '[' || *p == '{';
			depth -= *p == ']' || *p == '}';
			operand += *p == ',' && depth == 0;
			put(o, "%c", *p++);
		}
	}
}

/* Lengthening by no shift has a name of its own. */
static bool write_long(const cs_insn *insn, struct out *o)
{
	const char *end = strstr(insn->op_str, ", #0");
	bool is_signed = insn->mnemonic[0] == 's';

	if (!end || end[4] ||
	    (strncmp(insn->mnemonic, "sshll", 5) != 0 &&
	     strncmp(insn->mnemonic, "ushll", 5) != 0))
		return false;
	put(o, "%cxtl%s %.*s", is_signed ? 's' : 'u', insn->mnemonic + 5,
	    (int)(end - insn->op_str), insn->op_str);
	return true;
}

/* Opened once: it takes longer than an instruction. */
static cs_insn *decode(uint32_t word, uint64_t addr)
{
	static csh handle;
	static cs_insn *insn;
	const uint8_t bytes[] = {(uint8_t)word, (uint8_t)(word >> 8),
				 (uint8_t)(word >> 16), (uint8_t)(word >> 24)};
	const uint8_t *at = bytes;
	size_t left = sizeof(bytes);

	if (!handle &&
	    cs_open(CS_ARCH_ARM64, CS_MODE_LITTLE_ENDIAN, &handle) != CS_ERR_OK)
		handle = 0;
	if (handle && !insn)
		insn = cs_malloc(handle);
	return insn && cs_disasm_iter(handle, &at, &left, &addr, insn) ? insn : NULL;
}

bool hlg_a64_write(uint32_t word, uint64_t addr, char *buf, size_t size)
{
	struct out o = {buf, size};
	const cs_insn *insn;

	if (write_hint(word, &o) || write_udf(word, &o))
		return true;
	insn = decode(word, addr);
	if (!insn)
		return false;
	if (write_mov(word, insn, &o) || write_long(insn, &o))
		return true;
	write_name(&o, insn->mnemonic);
	if (insn->op_str[0])
		put(&o, " ");
	write_operands(&o, insn->mnemonic, insn->op_str);
	return true;
}

bool hlg_a64_memory(uint32_t word, uint64_t addr, uint64_t *memory)
{
	int64_t pages = (int32_t)(word << 8) >> 13; /* bits 5 to 23 */

	if ((word & 0x9f000000) == 0x10000000) /* adr */
		*memory = addr + (uint64_t)(pages * 4 + (word >> 29 & 3));
	else if ((word & 0x3b000000) == 0x18000000) /* ldr, ldrsw, prfm */
		*memory = addr + (uint64_t)(pages * 4);
	else
		return false;
	return true;
}
