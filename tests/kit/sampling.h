/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Sampled addresses of an image, made up: which of its addresses are instruction
 * boundaries, and sets of them at a base, the same for the same seed. Images are real
 * ones or are written here.
 */
#ifndef HLG_TESTS_SYMTAB_SAMPLING_H
#define HLG_TESTS_SYMTAB_SAMPLING_H

#include "symtab/code/base-find.h"

struct sampling {
	struct hlg_image *image;
	struct hlg_code *code;
	uint64_t *on, *covered; /* own addresses: boundaries; all that is decoded */
	size_t n_on, n_covered;
};

enum {
	SAMPLING_GUESTS = 5,
	SAMPLING_CODE = 0x10000 /* bytes of the first; 16 times as many of the next */
};

/*
 * Opens an ELF and decodes it; false if it cannot be opened, or has no symbols, or this
 * build cannot decode it. Finish it in any case. sampling_guest(): those below
 * SAMPLING_GUESTS: 0 written here; 1 the same, larger, linked to no page's start; 2 the
 * demo; 3 the one in Rust; 4 this machine's C library.
 */
bool sampling_open(struct sampling *s, const char *path);
bool sampling_guest(struct sampling *s, int i);
void sampling_finish(struct sampling *s);

/* A file of the tests' data; valid until the next call. */
const char *sampling_data(const char *name);

/*
 * Writes an ELF of code only, functions of 64 bytes, linked at vaddr: on x86-64
 * instructions of 1 to 8 bytes in random order (length 0), or all of length 1 or 4.
 */
const char *sampling_write(const char *name, unsigned machine, uint64_t vaddr,
			   size_t size, unsigned length);

/* A number below n, as kit_random() of filter.h. */
uint64_t sampling_random(uint64_t *state, uint64_t n);

/* Sets of addresses, unordered at first. */
struct sampled_set {
	struct hlg_sampled *at;
	size_t n;
};

/* Adds n of the m own addresses, distinct if there are as many, at a base. */
void sampled_draw(struct sampled_set *set, const uint64_t *addrs, size_t m, size_t n,
		  uint64_t bias, uint64_t *random);
void sampled_add(struct sampled_set *set, uint64_t ip, uint64_t samples);

/* Sorts by ip; equal ones become one. */
void sampled_sort(struct sampled_set *set);
void sampled_finish(struct sampled_set *set);

#endif
