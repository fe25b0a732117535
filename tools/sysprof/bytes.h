/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The bytes of a stream, one value after the other. Each function returns 1; 0 where the
 * input ends within the value; or an error, for bytes that make no sense and for the
 * system's.
 */
#ifndef HLG_TOOLS_SYSPROF_BYTES_H
#define HLG_TOOLS_SYSPROF_BYTES_H

#include <stdint.h>
#include <stdio.h>

#include "symtab/err.h"

struct hlg_bytes {
	FILE *f;
	const char *path; /* for messages */
	struct hlg_err *err;
	uint64_t at; /* bytes read */
	char *text;  /* of the last string; ends with NUL */
	size_t room;
};

/* Opens path; "-" is standard input. The caller finishes *bytes in any case. */
int hlg_bytes_open(struct hlg_bytes *bytes, const char *path, struct hlg_err *err);
void hlg_bytes_finish(struct hlg_bytes *bytes);

int hlg_bytes_u8(struct hlg_bytes *bytes, uint8_t *value);

/* ULEB128 (DWARF 5, 7.6), at most ten bytes; more than 64 bits make no sense. */
int hlg_bytes_uleb(struct hlg_bytes *bytes, uint64_t *value);

/* A length as ULEB128, and as many bytes, into text; a NUL among them as "\x00". */
int hlg_bytes_string(struct hlg_bytes *bytes);

/* "PATH: byte N: WHAT (...)" for a record that begins there. */
int hlg_bytes_bad(const struct hlg_bytes *bytes, uint64_t at, const char *what);

/* Reads to the end of the input: *n bytes were left. */
int hlg_bytes_drain(struct hlg_bytes *bytes, uint64_t *n);

/* A longer string makes no sense: the longest are chunks that are given as text. */
#define HLG_BYTES_MAX_STRING ((uint64_t)16 << 20)

#endif
