/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One small guest with one of everything, for tests to load and to break. Its
 * addresses, from base on:
 *
 *	0x1000 entrypoint  function of 0x20
 *	0x1020 dispatch    local function of 0x34, then 0xc bytes of padding (nops)
 *	0x1060 compute     function of 0x80, with the weak alias compute_alias
 *	0x10e0             0x40 bytes of code without a symbol
 *	0x1120 handler     NOTYPE, no size: a label of 0x60
 *	0x1180 cold        function of 0x40
 *	0x11c0 last        function of 0x20, then 0x20 bytes of padding (int3; udf)
 *	0x1200 copy        ifunc of 0x20, then 0x20 bytes of padding (zeroes)
 *	0x3000 counter     object of 8 in .data
 *	0x3010 buffer      object of 0x100 in .bss
 *
 * Three PT_LOADs: 0x0 (R: build id, note 0.17.0), 0x1000 (R-X), 0x3000 (RW).
 */
#ifndef HLG_TESTS_MKELF_GUEST_H
#define HLG_TESTS_MKELF_GUEST_H

#include "tests/kit/mkelf.h"

#define MKELF_TEXT      0x1000
#define MKELF_TEXT_SIZE 0x240
#define MKELF_DATA      0x3000
#define MKELF_N_SYMS    13

enum {
	MKELF_SEC_TEXT,
	MKELF_SEC_DATA,
	MKELF_SEC_BSS,
	MKELF_N_SEC
};
enum {
	MKELF_SEG_HEAD,
	MKELF_SEG_TEXT,
	MKELF_SEG_DATA,
	MKELF_N_SEG
};

/*
 * The description and what it points to; change what is to be different, then
 * mkelf_build(&g->elf, &g->img). It points into itself: do not copy it.
 */
struct mkelf_guest {
	struct mkelf elf;
	struct mkelf_segment seg[MKELF_N_SEG];
	struct mkelf_section sec[MKELF_N_SEC];
	struct mkelf_sym syms[MKELF_N_SYMS];
	uint8_t text[MKELF_TEXT_SIZE];
	struct mkelf_image img; /* empty until built */
};

/* x86-64, ET_DYN, symbols in .symtab, all addresses moved up by base. */
void mkelf_guest_init(struct mkelf_guest *g, uint64_t base);

/* Writes g->text anew, for the machine now in g->elf (AArch64, else x86-64). */
void mkelf_guest_code(struct mkelf_guest *g);

/*
 * The same of four-byte instructions on x86-64, too. Without Zydis that cannot be
 * decoded, so decodable false makes it an AArch64 guest; but there a base hardly stands
 * out.
 */
void mkelf_guest_words(struct mkelf_guest *g, bool decodable);

#endif
