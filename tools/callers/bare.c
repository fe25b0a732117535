// SPDX-License-Identifier: GPL-2.0-only
#include "tools/callers/bare.h"

#include <string.h>

/* Bytes of a function that are looked at, at most two for each push. */
#define LOOKED_AT 24

bool hlg_callers_bare_pushes(const struct hlg_image *image, int fd, uint64_t start,
			     uint8_t pushes[static HLG_CALLERS_BARE_PUSHES], size_t *n)
{
	static const uint8_t endbr[] = {0xf3, 0x0f, 0x1e, 0xfa};
	uint8_t code[LOOKED_AT] = {0};
	size_t size = hlg_image_pread(image, fd, start, code, LOOKED_AT);
	size_t at = size >= 4 && memcmp(code, endbr, 4) == 0 ? 4 : 0;

	for (*n = 0; *n < HLG_CALLERS_BARE_PUSHES; (*n)++) {
		bool high = code[at] == 0x41; /* r8 to r15 */
		uint8_t byte = code[at + high];

		if (byte < 0x50 || byte > 0x57)
			break;
		pushes[*n] = (uint8_t)(byte - 0x50 + (high ? 8 : 0));
		at += high ? 2 : 1;
	}
	/* sub $N, %rsp; in 8 bits, or in 32 */
	return code[at] != 0x48 || (code[at + 1] != 0x83 && code[at + 1] != 0x81) ||
	       code[at + 2] != 0xec;
}

/*
 * Bytes of an instruction ff /2 (Intel SDM volume 2, tables 2-2 and 2-3), without
 * prefixes. sib_byte: the byte behind modrm, which is a SIB byte if modrm says so.
 */
static size_t indirect_size(uint8_t modrm, uint8_t sib_byte)
{
	unsigned mod = modrm >> 6, rm = modrm & 7, sib = rm == 4;

	switch (mod) {
	case 0:
		if (sib)
			return (sib_byte & 7) == 5 ? 7 : 3;
		return rm == 5 ? 6 : 2;
	case 1:
		return 3 + sib;
	case 2:
		return 6 + sib;
	default:
		return 2;
	}
}

bool hlg_callers_bare_is_call(const uint8_t code[static HLG_CALLERS_BARE_CALL])
{
	if (code[2] == 0xe8)
		return true;
	for (size_t size = 2; size <= HLG_CALLERS_BARE_CALL; size++) {
		const uint8_t *call = code + HLG_CALLERS_BARE_CALL - size;

		if (call[0] == 0xff && (call[1] >> 3 & 7) == 2 &&
		    indirect_size(call[1], size > 2 ? call[2] : 0) == size)
			return true;
	}
	return false;
}

bool hlg_callers_bare_is_return(const struct hlg_image *image, int fd, uint64_t addr)
{
	uint8_t code[HLG_CALLERS_BARE_CALL];

	return hlg_image_pread(image, fd, addr - sizeof(code), code, sizeof(code)) ==
		       sizeof(code) &&
	       hlg_callers_bare_is_call(code);
}
