/* SPDX-License-Identifier: GPL-2.0-only */
/* Words of report that a fleet is submitted with: guest ELFs, and what stands behind --.
 * All tasks have them, and so has the sum. */
#ifndef HLG_TOOLS_FLEET_WORDS_H
#define HLG_TOOLS_FLEET_WORDS_H

#include <stdbool.h>
#include <stddef.h>

#include "filter/options/options.h"
#include "symtab/err.h"

/*
 * Fails unless the n words are files, one at least, and options as --name=value, by
 * their whole names. What says which recordings are read, or where a profile goes, is the
 * fleet's: a recording among the words would be read by every task.
 */
int hlg_fleet_words_check(char *const *words, size_t n, struct hlg_err *err);

/* Can the images among them be read? */
int hlg_fleet_words_check_images(char *const *words, size_t n, struct hlg_err *err);

/* Does one of such words select samples? */
bool hlg_fleet_words_select(const char *word);

/* Takes the images of such words apart; the caller finishes *options in any case. */
int hlg_fleet_words_images(struct hlg_options *options, char *const *words, size_t n,
			   struct hlg_err *err);

#endif
