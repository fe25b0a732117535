/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Code: where instructions begin.
 *
 * An interrupt reports the address of an instruction, never one in the middle, so these
 * boundaries tell whether a sampled address can be of this image at all. Known are the
 * instructions of bytes that a function or label covers: decoded one after the other
 * from its first byte, when they are first asked for, to its last. Where bytes are no
 * instruction (data in code, AArch64's `$d`), nothing is known up to the next symbol.
 *
 * Symbols inside of symbols are decoded each on its own, as often as one may nest in a
 * real program; where a hostile file nests them deeper, the rest is unknown.
 *
 * All addresses are the image's own. Memory is two bits for each byte of code in the
 * file, as far as it was asked for.
 */
#ifndef HLG_SYMTAB_CODE_CODE_H
#define HLG_SYMTAB_CODE_CODE_H

#include "symtab/code/insn.h"
#include "symtab/image/space.h"

struct hlg_code;

enum hlg_boundary {
	HLG_BOUNDARY_ON,
	HLG_BOUNDARY_OFF,    /* in the middle of an instruction */
	HLG_BOUNDARY_UNKNOWN /* no function or label, or not to be decoded */
};

/* Part of a function or label that is decoded, and the instructions in it. */
struct hlg_density {
	uint64_t starts, bytes;
};

/*
 * For an image that outlives *code. Fails for a perf map, a machine that cannot be
 * decoded or a file without code (HLG_EINPUT), when the file is not the one that was
 * opened any more, or without memory. *code is NULL after a failure.
 */
int hlg_code_open(struct hlg_code **code, const struct hlg_image *image,
		  struct hlg_err *err);
void hlg_code_close(struct hlg_code *code);

/* The same of each image of a space that outlives them, by number; NULL for what cannot
 * be opened. Returns NULL where that is for want of memory. */
struct hlg_code **hlg_code_open_all(const struct hlg_space *space);
void hlg_code_close_all(struct hlg_code **codes, const struct hlg_space *space);

/* What place->addr is, a place of the code's image. */
enum hlg_boundary hlg_code_at(struct hlg_code *code, const struct hlg_place *place);

/* Of the bytes that the function or label of a place owns. */
struct hlg_density hlg_code_density(struct hlg_code *code, const struct hlg_place *place);

/*
 * Decodes all that is covered; what is asked below is answered from then on. On AArch64
 * the padding of gaps is known then, too, to have no boundaries.
 */
void hlg_code_decode_all(struct hlg_code *code);

/* Of that, the padding of gaps alone. */
void hlg_code_find_padding(struct hlg_code *code);

/* Something that was found of the code and is kept with it, and what frees it when the
 * code is closed; NULL before. One place, which line-fit.c has. */
void *hlg_code_kept(const struct hlg_code *code);
void hlg_code_keep(struct hlg_code *code, void *kept, void (*close)(void *kept));

/* What an own address is. */
enum hlg_boundary hlg_code_test(const struct hlg_code *code, uint64_t addr);

/* Of all that is covered. */
struct hlg_density hlg_code_total(const struct hlg_code *code);

/*
 * Calls each with every instruction of place's function, label or gap, in order, until
 * each says false: returns that. What follows bytes that are no instruction is left out,
 * up to the next symbol. each must ask code nothing.
 */
bool hlg_code_walk(struct hlg_code *code, const struct hlg_place *place,
		   bool (*each)(void *ctx, uint64_t addr, const struct hlg_insn *insn),
		   void *ctx);

#endif
