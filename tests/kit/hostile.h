/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A run in which everything somebody else can choose is hostile: symbol names, an image's
 * path, event names, host modules and symbols. What comes of it is known to the sample.
 */
#ifndef HLG_TESTS_HOSTILE_H
#define HLG_TESTS_HOSTILE_H

#include "tests/kit/filter.h"

#define HOSTILE_PATH "./a;\"g\x1b]0;\ae\nst,\xff.elf"

/* A symbol's own address and name, and how many samples of period 10 it gets. */
struct hostile_symbol {
	uint64_t addr;
	const char *name;
	const char *safe; /* the name as it may be shown */
	unsigned samples;
};
extern const struct hostile_symbol hostile_symbols[];
extern const size_t hostile_n_symbols;

/* Samples in functions and labels; in gaps and outside; of the host. */
enum {
	HOSTILE_NAMED = 90 + 80 + 70 + 60 + 50 + 40 + 30,
	HOSTILE_GAP = 7,
	HOSTILE_OUTSIDE = 5,
	HOSTILE_HOST = 3
};

/* Writes the guest, starts the run with words besides, feeds it. */
void hostile_start(struct hlg_run *run, const char *words);

/* No byte that could move a cursor or break a line but '\n', and valid UTF-8. */
void hostile_check_safe(const char *text);

#endif
