/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The oracle: what symtab/ ought to say about a random image, by a slow and literal
 * reading of the rules in symbol.h, area.h, span.h and perfmap.h.
 *
 *	oracle-random.c  makes an image up: the description, nothing about its meaning
 *	oracle-rule.c    says what is at each of its addresses; no code of symtab/, no
 *	                 sorting: for each address it looks at every section and symbol
 *	oracle.c         asks both and compares
 */
#ifndef HLG_TESTS_SYMTAB_ORACLE_H
#define HLG_TESTS_SYMTAB_ORACLE_H

#include "symtab/image/span.h"
#include "tests/kit/mkelf.h"

#define ORACLE_MAX_SEGMENTS 5
#define ORACLE_MAX_SECTIONS 9
#define ORACLE_MAX_SYMBOLS  40
#define ORACLE_NAME         24
#define ORACLE_REGION       0x240 /* addresses from low on; nothing is loaded beyond */

/* A line of a perf map that can be used. */
struct oracle_line {
	uint64_t start, size;
};

struct oracle_case {
	/* Made up. */
	bool map;
	uint64_t low; /* the first address worth asking about */
	struct mkelf elf;
	struct mkelf_segment segments[ORACLE_MAX_SEGMENTS];
	struct mkelf_section sections[ORACLE_MAX_SECTIONS];
	struct mkelf_sym syms[ORACLE_MAX_SYMBOLS];
	char names[ORACLE_MAX_SYMBOLS][ORACLE_NAME];
	struct oracle_line lines[ORACLE_MAX_SYMBOLS];
	size_t n_lines, n_bad_lines;
	char text[ORACLE_MAX_SYMBOLS * 160]; /* of the map */

	/* Concluded, by oracle_conclude(). */
	struct oracle_byte {
		bool loaded, code;
		unsigned section;
		int owner; /* index into taken, or -1 */
	} bytes[ORACLE_REGION];
	struct oracle_taken {
		const char *name;
		uint64_t start, end;
		enum hlg_symbol_class class;
		unsigned bind;
	} taken[ORACLE_MAX_SYMBOLS]; /* in the table's order */
	int n_taken;
	bool code_overlaps; /* then the image is refused */
	bool data_overlaps; /* then it is not said which section owns data */
};

struct oracle_place {
	enum hlg_kind kind;
	int symbol;          /* index into taken, or -1 */
	uint64_t start, end; /* of function, label, gap or data */
	uint64_t area_start, area_end;
	unsigned section;
};

/* Fills what is made up, the same for the same seed. c is all zero before. */
void oracle_make_elf(struct oracle_case *c, uint64_t seed);
void oracle_make_map(struct oracle_case *c, uint64_t seed);

/* Fills what is concluded. */
void oracle_conclude(struct oracle_case *c);

struct oracle_place oracle_place(const struct oracle_case *c, uint64_t addr);

/* The symbols at the address of one of them, canonical first; returns how many. */
int oracle_aliases(const struct oracle_case *c, int symbol, int list[ORACLE_MAX_SYMBOLS]);

/* The owner of the byte in front of (dir < 0) or behind a gap, or -1. */
int oracle_neighbour(const struct oracle_case *c, const struct oracle_place *gap,
		     int dir);

#endif
