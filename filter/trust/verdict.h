/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The verdict: what samples on instruction boundaries prove.
 *
 * Every sample that is credited to a function or label either lies on an instruction
 * boundary or not (symtab/code/code.h). At the right base of the right ELF all do; at
 *random a share does that depends on the code: `chance`, here the boundaries per byte of
 *each function, weighted by the samples that fell into it. What fits beyond chance is
 *
 *	fit = (share - chance) / (1 - chance)
 *
 * A hot loop is one address many times, so what can be concluded depends on the number
 * of distinct addresses: with Wilson's 99 % interval of their share, and `half` the
 * share at which fit is one half,
 *
 * - verified: at least 99 % of samples and of addresses are on boundaries, and the
 *   interval lies above half; on AArch64, where all instructions have one length, the
 *   base must also be the one that the samples fit best (symtab/code/base-find.h);
 * - mismatch: of 12 addresses or more, the interval and the share of samples lie below
 *   half; or of fewer addresses some are off, or there are none, while 30 or more are
 *   strays: outside of every image, in data, or in padding; or samples fit another base
 *   better;
 * - mixed: neither, with 12 addresses or more;
 * - too few: anything else.
 */
#ifndef HLG_FILTER_TRUST_VERDICT_H
#define HLG_FILTER_TRUST_VERDICT_H

#include "filter/stats/interval.h"
#include "symtab/code/code.h"

enum hlg_trust_verdict {
	HLG_TRUST_UNTESTED, /* nothing that could be decoded */
	HLG_TRUST_TOO_FEW,
	HLG_TRUST_VERIFIED,
	HLG_TRUST_MIXED,
	HLG_TRUST_MISMATCH
};

#define HLG_TRUST_STRAYS 30 /* so many are no accident where little else fits */

/* Samples, or distinct addresses, in functions and labels. */
struct hlg_boundaries {
	uint64_t on, off, undecodable;
};

struct hlg_tested {
	struct hlg_boundaries samples, addrs;
	double starts, bytes; /* of the code, by samples: chance is their ratio */
	struct hlg_share by_samples, by_addrs; /* 99 % */
	double chance;
	enum hlg_trust_verdict verdict;
};

/* "verified", "mixed", "mismatch", "too few samples to tell", "not tested". */
const char *hlg_trust_word(enum hlg_trust_verdict verdict);

/* Adds a distinct address, of a place in any image; code may be NULL. */
void hlg_tested_add(struct hlg_tested *tested, struct hlg_code *code,
		    const struct hlg_place *place, uint64_t samples);

/*
 * The verdict on so many samples and addresses, which also fills shares and chance.
 * strays: distinct addresses outside of every image, in data, or in padding.
 */
void hlg_tested_judge(struct hlg_tested *tested, uint64_t strays);

#endif
