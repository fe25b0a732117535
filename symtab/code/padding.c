// SPDX-License-Identifier: GPL-2.0-only
#include "symtab/code/padding.h"

#include <elf.h>
#include <stdbool.h>

/*
 * Length of a ModRM operand in memory and what follows it (SDM volume 2, 2.1.3); at
 * least one byte is left.
 */
static size_t modrm_length(const unsigned char *p, size_t left)
{
	size_t len = 1;
	unsigned mod, rm;

	mod = p[0] >> 6;
	rm = p[0] & 7;
	if (mod == 3 || (p[0] & 0x38)) /* nop is /0 with a memory operand */
		return 0;
	if (rm == 4) {
		if (left < 2)
			return 0;
		len++;
		if (mod == 0 && (p[1] & 7) == 5)
			len += 4;
	} else if (mod == 0 && rm == 5) {
		len += 4;
	}
	return len + (mod == 1 ? 1 : mod == 2 ? 4 : 0);
}

/* Length of the filler instruction at p, 0 if it is none. */
static size_t x86_filler(const unsigned char *p, size_t left)
{
	size_t i = 0, operand;

	if (p[0] == 0x90 || p[0] == 0xcc || p[0] == 0x00)
		return 1;
	while (i < left && i < 14 && p[i] == 0x66)
		i++;
	if (i && i < left && p[i] == 0x90)
		return i + 1;
	if (i < left && p[i] == 0x2e)
		i++;
	if (left - i < 3 || p[i] != 0x0f || p[i + 1] != 0x1f)
		return 0;
	operand = modrm_length(p + i + 2, left - i - 2);
	if (operand == 0 || operand > left - i - 2)
		return 0;
	return i + 2 + operand;
}

static size_t a64_filler(const unsigned char *p, size_t left)
{
	uint32_t word;

	if (left < 4)
		return 0;
	word = (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 |
	       (uint32_t)p[3] << 24;
	return word == 0xd503201f || word >> 16 == 0 ? 4 : 0;
}

/*
 * x86 cannot be read backwards: the trailing filler is the longest suffix that reads as
 * filler from its first byte to the end, found from the back one byte at a time. No
 * filler is longer than 23 bytes, so of those behind a byte no more has to be known than
 * 64 bits: bit k is set if the suffix that begins k bytes behind the next one reads so.
 */
static uint64_t find_trail(size_t (*filler)(const unsigned char *, size_t),
			   const unsigned char *bytes, size_t lead, size_t size)
{
	uint64_t good = 1; /* the empty one */
	size_t start = size;

	for (size_t i = size; i-- > lead;) {
		size_t len = filler(bytes + i, size - i);
		bool reads = len && (good >> (len - 1) & 1);

		good = good << 1 | reads;
		if (reads)
			start = i;
		else if (size - i > 16 && start > i + 16)
			break; /* longer than any instruction: nothing leads across */
	}
	return size - start;
}

struct hlg_padding hlg_padding_find(unsigned machine, const unsigned char *bytes,
				    size_t size)
{
	size_t (*filler)(const unsigned char *, size_t) =
		machine == EM_X86_64    ? x86_filler
		: machine == EM_AARCH64 ? a64_filler
					: NULL;
	struct hlg_padding pad = {0, 0};

	if (!filler)
		return pad;
	while (pad.lead < size) {
		size_t len = filler(bytes + pad.lead, size - pad.lead);

		if (len == 0)
			break;
		pad.lead += len;
	}
	if (pad.lead < size)
		pad.trail = find_trail(filler, bytes, pad.lead, size);
	return pad;
}
