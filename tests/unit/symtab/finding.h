/* SPDX-License-Identifier: GPL-2.0-only */
/* What the programs that find bases, or none, have in common: a guest, a set, a result.
 */
#ifndef HLG_TESTS_SYMTAB_FINDING_H
#define HLG_TESTS_SYMTAB_FINDING_H

#include "tests/kit/sampling.h"

extern struct sampling finding_guest;
extern struct sampled_set finding_set;
extern struct hlg_found finding_found;

/* A checked fixture. */
void finding_setup(void);
void finding_teardown(void);

uint64_t finding_base(uint64_t *random);

/* Adds n of the guest's boundaries at a base to the set. */
void finding_draw(size_t n, uint64_t base, uint64_t *random);

/* Finds the bases of the set. */
void finding_run(void);

/* None was found. */
void finding_expect_none(void);

#endif
