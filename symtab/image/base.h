/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where an image lies when the user did not say.
 *
 * In order: the Hyperlight version note of the ELF (0.13 to 0.16 load at 0x1000, 0.17
 * and later at 0x4000, but an ET_EXEC since 0.18 at its own addresses); an ET_EXEC's own
 * addresses; a perf map's own addresses; else, with a warning, 0x1000, Hyperlight's base
 * for four years, or of a module of WebAssembly 0x100000000. Hyperlight's own loader is
 * the source of the constants (its `BASE_ADDRESS`, its snapshot/mod.rs, and
 * hyperlight-wasm's `MAPPED_BINARY_VA`).
 */
#ifndef HLG_SYMTAB_IMAGE_BASE_H
#define HLG_SYMTAB_IMAGE_BASE_H

#include "symtab/image/image.h"

/* Sets the base of an image that has none yet, if its file states one. */
int hlg_base_read(struct hlg_image *image, struct hlg_err *err);

/* Sets the base of an image that has none yet, to the last resort if need be. */
int hlg_base_decide(struct hlg_image *image, struct hlg_err *err);

/* Said behind how a base was found, where the samples have found others. */
#define HLG_BASE_OTHERS "; others from the samples"

/* How the base was found, in words for a report: "stated", "Hyperlight note 0.17.0" ...;
 * and HLG_BASE_OTHERS, if there are such. */
void hlg_base_describe(const struct hlg_image *image, char *buf, size_t size);

/* The same of a base that is not its base, from elsewhere. */
void hlg_base_describe_from(const struct hlg_image *image, enum hlg_base_from from,
			    char *buf, size_t size);

/* Where the image lies, which is said in front of that: "base 0x4000", "2 bases", "no
 * base". */
void hlg_base_where(const struct hlg_image *image, char *buf, size_t size);

/* How a base was found, in one word for programs, which never changes: stated, note,
 * exec, map, kvm, found, default. */
const char *hlg_base_word(enum hlg_base_from from);

#endif
