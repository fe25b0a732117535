/* SPDX-License-Identifier: GPL-2.0-only */
/* SHA-256 (FIPS 180-4, 6.2): to tell whether a file is the one that was meant. */
#ifndef HLG_SYMTAB_SHA256_H
#define HLG_SYMTAB_SHA256_H

#include <stdbool.h>
#include <stddef.h>

enum {
	HLG_SHA256_SIZE = 32,                     /* bytes */
	HLG_SHA256_TEXT = 2 * HLG_SHA256_SIZE + 1 /* of its hexadecimal digits and NUL */
};

void hlg_sha256(unsigned char digest[static HLG_SHA256_SIZE], const void *data,
		size_t size);

/* As sha256sum(1) writes it, in small letters; and back: false if it is none. */
void hlg_sha256_print(char text[static HLG_SHA256_TEXT],
		      const unsigned char digest[static HLG_SHA256_SIZE]);
bool hlg_sha256_parse(unsigned char digest[static HLG_SHA256_SIZE], const char *text);

#endif
