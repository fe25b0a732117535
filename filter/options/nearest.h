/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What was meant by a word that nobody knows: the nearest of those that are known, so
 * that a message can ask "did you mean --top?".
 */
#ifndef HLG_FILTER_OPTIONS_NEAREST_H
#define HLG_FILTER_OPTIONS_NEAREST_H

#include <stddef.h>

struct hlg_nearest {
	const char *word; /* of the user; not ended by NUL */
	size_t n;         /* its bytes */
	const char *best; /* the nearest so far, or NULL: none is near */
	size_t best_n;
	size_t edits; /* to get from one to the other */
};

/*
 * Looks at a known word of n bytes. Near is one that the user's begins, from three bytes
 * on; one that ends the user's, behind a dash; or one that takes an edit for each three
 * bytes of the user's, and at least one: a letter too many, missing, another, or two
 * swapped (optimal string alignment distance). Of two that are as near the first counts.
 */
void hlg_nearest_look(struct hlg_nearest *nearest, const char *known, size_t n);

/* The same at each of "a|b|c" or "a,b,c". */
void hlg_nearest_look_words(struct hlg_nearest *nearest, const char *words);

#endif
