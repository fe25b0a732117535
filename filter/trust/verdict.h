/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The verdict: what samples on instruction boundaries prove.
 *
 * Every sample in a function or label either lies on an instruction boundary or not
 * (symtab/code/code.h). One in a part of an image that is not executable (data) does not:
 * no instruction can be there. What lies in gaps proves nothing, nor what lies in an
 * image that cannot be decoded. At the right base of the right ELF all samples are on
 * boundaries; at random a share is that depends on the code: `chance`, here the
 * boundaries per byte of each function, weighted by the samples that fell into it. What
 * fits beyond chance is
 *
 *	fit = (share - chance) / (1 - chance)
 *
 * Stray addresses are distinct addresses where nothing can run: outside of every image,
 * in data, or in the padding of a gap. Under gaps=drop those in padding are left out, as
 * they are of all else in a report.
 *
 * A hot loop is one address many times, so what can be concluded depends on the number
 * of distinct addresses: with Wilson's 99 % interval of their share, and `half` the
 * share at which fit is one half,
 *
 * - verified: at least 99 % of samples and of addresses are on boundaries, and the
 *   interval lies above half; on AArch64, where all instructions have one length, the
 *   base must also be the one that the samples fit best (symtab/code/base-find.h);
 * - mismatch: of 12 addresses or more, the interval and the share of samples lie below
 *   half; or of fewer addresses some are off, or there are none, while there are 30
 *   stray addresses or more; or samples fit another base better;
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

#define HLG_TRUST_STRAY_ADDRS 30 /* so many are no accident where little else fits */

/* Samples, or distinct addresses: in functions and labels, off also those in data. */
struct hlg_boundaries {
	uint64_t on, off, undecodable;
};

struct hlg_tested {
	struct hlg_boundaries samples, addrs;
	uint64_t stray_addrs;
	/* Of the functions, by samples: chance is their ratio; 0: none has any. */
	double starts, bytes;
	struct hlg_share by_samples, by_addrs; /* 99 % */
	double chance;
	enum hlg_trust_verdict verdict;
};

/* "verified", "mixed", "mismatch", "too few samples to tell", "not tested". */
const char *hlg_verdict_word(enum hlg_trust_verdict verdict);

/*
 * On or off a boundary, by the rule above; unknown where it says nothing. code is that of
 * the place's image; NULL: cannot be decoded.
 */
enum hlg_boundary hlg_verdict_at(struct hlg_code *code, const struct hlg_place *place);

/*
 * Adds a distinct address, at place, and how many samples it has. filler: really in the
 * padding of a gap (gap.h), whatever it is credited to. code as above.
 */
void hlg_verdict_add(struct hlg_tested *tested, struct hlg_code *code,
		     const struct hlg_place *place, bool filler, uint64_t samples);

/*
 * The verdict on what was added, which also fills shares and chance; with so many stray
 * addresses, as those that are in no image are of no one's.
 */
void hlg_verdict_judge(struct hlg_tested *tested, uint64_t stray_addrs);

#endif
