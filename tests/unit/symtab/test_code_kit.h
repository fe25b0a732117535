/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the tests of code.h and of what is built on it share: one image and the code of it
 * at a time, made from a sketch of some bytes at TEXT, and pictures of what is known of
 * them: `o` where an instruction begins, `.` inside one, `?` where nothing is known.
 */
#ifndef HLG_TESTS_SYMTAB_TEST_CODE_KIT_H
#define HLG_TESTS_SYMTAB_TEST_CODE_KIT_H

#include "symtab/code/code.h"
#include "tests/kit/mkelf.h"

#define N(table) ((int)(sizeof(table) / sizeof((table)[0])))

#define TEXT     0x1000
#define MAX_TEXT 64
#define MAX_SYMS 6

struct sketch {
	const char *what;
	const char *picture; /* a character for each byte of the text */
	uint16_t machine;
	unsigned char text[MAX_TEXT];
	struct mkelf_sym syms[MAX_SYMS]; /* up to one without a name */
};

#define SYM(name, at, size, type)                                                        \
	MKELF_SYM(name, TEXT + (at), size, STB_GLOBAL, STT_##type, MKELF_SEC(0))
#define FUNC(name, at, size) SYM(name, at, size, FUNC)
#define LABEL(name, at)      SYM(name, at, 0, NOTYPE)
#define MARK(name, at)       SYM(name, at, 0, NOTYPE)

#define MOV      0xb8, 1, 2, 3, 4 /* mov $imm32,%eax */
#define RET      0xc3
#define NOP      0x90
#define BAD      0x06 /* push %es: none in 64-bit mode */
#define A64_ADD  0x00, 0x04, 0x00, 0x91
#define A64_RET  0xc0, 0x03, 0x5f, 0xd6
#define A64_UDF  0x07, 0x00, 0x00, 0x00
#define A64_DATA A64_ADD /* data that reads as code */

extern struct hlg_image *code_image;
extern struct hlg_code *code;

/* Opens path; the image that was open before is closed, and its code. */
void code_open_image(const char *path);
void code_open(void);

/* Opens the image of a sketch and its code; the file has filesz bytes of the text. */
void code_load(const struct sketch *sketch, size_t filesz);
/* The same, without opening its code. */
void code_load_image(const struct sketch *sketch, size_t filesz);

/* Opens a program at TEXT with these symbols, and its code. */
void code_load_text(const void *text, size_t size, uint16_t machine,
		    const struct mkelf_sym *syms, size_t n);

/* The same of two functions, `one` up to end and `next` behind it. */
void code_load_two(const void *text, size_t size, uint16_t machine, uint64_t end);

/* Closes both; a checked fixture of every test case. */
void code_close_all(void);

/* One character of a picture: by the address's place; of what is decoded already. */
char code_draw(uint64_t addr);
char code_draw_decoded(uint64_t addr);

#endif
