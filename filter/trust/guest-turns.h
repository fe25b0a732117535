/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A thread that ran guests of several ELFs in turn, at the same addresses, whose bases
 * nothing states. Its samples fit no base of any: only all of these together have nearly
 * all of them (HLG_VERDICT_NEARLY_ALL) on instruction boundaries.
 *
 * That one is taken which most samples fit, at the base that comes nearest. In what does
 * not fit it each other is sought: at a base that stands out, or at one that was taken;
 * and so on. Each must fit HLG_APART_TURNS addresses more.
 */
#ifndef HLG_FILTER_TRUST_GUEST_TURNS_H
#define HLG_FILTER_TRUST_GUEST_TURNS_H

#include "filter/trust/addresses.h"
#include "symtab/code/code.h"

/* all: of one thread, which fits no base. codes: of each image of the space, or NULL.
 * *is: it ran several of them. False without memory. */
bool hlg_guest_turns_find(const struct hlg_space *space, struct hlg_code *const *codes,
			  const struct hlg_addresses *all, bool *is);

#endif
