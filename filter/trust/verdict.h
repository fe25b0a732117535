/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The verdict: do the samples fit the images where these lie? This is the whole rule.
 *
 * WHAT IS COUNTED. A sample in a function or label lies on an instruction boundary or off
 * it (symtab/code/code.h); one in data, a part of an image that is not executable, is
 * off: no instruction can be there. What lies in gaps proves nothing, nor what lies in an
 * image that cannot be decoded; but of padding see below. At the right base of the right
 * ELF all samples are on boundaries; at random a share is that depends on the code:
 * `chance`, the boundaries per byte of each function, weighted by the samples that fell
 * into it. What fits beyond chance is fit = (share - chance) / (1 - chance), and `half`
 * the share at which fit is one half. A hot loop is one address many times, so what can
 * be concluded depends on the number of distinct addresses, by Wilson's 99 % interval of
 * their share. Stray addresses are distinct addresses where nothing can run: outside of
 * every image, in data, or in the padding of a gap (under gaps=drop those in padding are
 * left out, as they are of all else in a report).
 *
 * FIRST, of a recording, an image or a whole report (hlg_verdict_judge, verdict.c). What
 * is true first counts:
 *
 * - untested: there are addresses, but none that can be decoded;
 * - mismatch: fewer than LEAST_ADDRS addresses, and more of the samples, or of the
 *   addresses, are off boundaries than one in a hundred explains (binomial, 99 %): at the
 *   right base of the right ELF none can be;
 * - mismatch: fewer than LEAST_ADDRS addresses, none or some of them off boundaries, and
 *   LEAST_STRAY_ADDRS stray addresses or more, or LEAST_ADDRS of them where nothing lies
 *   in an image but in padding; never of one image, as no image has those that lie
 *   outside;
 * - too few: fewer than LEAST_ADDRS addresses;
 * - verified, if the interval lies above half, else too few: NEARLY_ALL of the addresses
 *   and of the samples are on boundaries. But mixed, not verified, if more samples lie in
 *   padding than one in a hundred explains: functions do not fall through to the next;
 * - mismatch: the share of addresses, or that of samples, lies below half, and more are
 *   off than one in a hundred explains: one hot loop that fits by chance must not outvote
 *   all others, nor they it;
 * - mixed: anything else.
 *
 * THEN, of a whole report (hlg_trust_build, trust.c), which also tests at which other
 * bases the samples would fit (trust.c, symtab/code/base-find.h):
 *
 * - a verified report is mixed if one of its images is a mismatch: many samples in one
 *   image must not hide that those in another do not fit;
 * - a verified image of AArch64, where all instructions have one length and nearly all
 *   addresses are on boundaries at any base, has too few, and so has a verified report,
 *   unless the samples of each part of it bear out that it lies there
 *   (symtab/code/part-fit.h);
 * - a report of one ELF whose base is assumed has too few where no base can be found:
 *   none stands out on AArch64, or there are fewer than LEAST_ADDRS distinct addresses.
 *   It is refused all the same (hlg_trust_guess);
 * - any report is a mismatch if recordings tell that another build of an image ran
 *   (identity.h): functions of one shape fit each other. If others tell that this one
 *   ran, too, it is mixed, at least. A recording alone is a mismatch if it tells so;
 * - any report is mixed, at least, if much of it lies outside, record noted a guest that
 *   is none of its images, and one of these, which has no sample, is nothing that any
 *   recording tells of (HLG_IDENTITY_ABSENT);
 * - any report is a mismatch if, of an image that is not verified, more samples lie on
 *   boundaries at another base than where it is (of AArch64: a base that overlaps it is
 *   ahead of it and holds half of them), or those from some address on do when
 *   they are moved (symtab/code/tail-fit.h): another build of it ran.
 */
#ifndef HLG_FILTER_TRUST_VERDICT_H
#define HLG_FILTER_TRUST_VERDICT_H

#include "filter/profile/checked.h"
#include "filter/stats/interval.h"
#include "symtab/code/code.h"

enum {
	HLG_VERDICT_LEAST_ADDRS = 12, /* fewer distinct addresses prove nothing */
	/* So many distinct stray addresses are no accident where little else fits; nor
	 * are they in a report that is verified: then other bases are tried, too; and of
	 * LEAST_ADDRS if one of its images is not (trust.c). */
	HLG_VERDICT_LEAST_STRAY_ADDRS = 30
};

/* More than one in so many samples outside of all images is much: no test can tell
 * anything of them. */
#define HLG_VERDICT_OUTSIDE 20

/* At the right base this share of samples is on boundaries: of an image, of a thread. */
#define HLG_VERDICT_NEARLY_ALL 0.99

enum hlg_trust_verdict {
	HLG_TRUST_UNTESTED, /* nothing that could be decoded */
	HLG_TRUST_TOO_FEW,
	HLG_TRUST_VERIFIED,
	HLG_TRUST_MIXED,
	HLG_TRUST_MISMATCH
};

/* Samples, or distinct addresses: in functions and labels, off also those in data. */
struct hlg_boundaries {
	uint64_t on, off, undecodable;
};

struct hlg_tested {
	struct hlg_boundaries samples, addrs;
	uint64_t stray_addrs;
	uint64_t inside;     /* addresses in an image, and not in padding */
	uint64_t data_addrs; /* in both: stray, and off boundaries */
	uint64_t padding;    /* samples */
	/* Of the functions, by samples: chance is their ratio; 0: none has any. */
	double starts, bytes;
	struct hlg_share by_samples, by_addrs; /* 99 % */
	double chance;
	enum hlg_trust_verdict verdict;
};

/* "verified", "mixed", "mismatch", "too few samples to tell", "not tested". */
const char *hlg_verdict_word(enum hlg_trust_verdict verdict);

/*
 * The same as a report for people says it: "OK", "MIXED", "WRONG ELF OR BASE",
 * "cannot tell", "not checked". The words above are those of CSV, JSON and callgrind.
 */
const char *hlg_verdict_said(enum hlg_trust_verdict verdict);

/* The verdict as saved profiles have it; and back, UNTESTED for nothing. */
enum hlg_checked_word hlg_verdict_to_checked(enum hlg_trust_verdict verdict);
enum hlg_trust_verdict hlg_verdict_of_checked(enum hlg_checked_word word);

/*
 * On or off a boundary, by the rule above; unknown where it says nothing. code is that of
 * the place's image; NULL: cannot be decoded.
 */
enum hlg_boundary hlg_verdict_at(struct hlg_code *code, const struct hlg_place *place);

/* Adds n samples, or addresses, that are on or off; undecodable where that is unknown. */
void hlg_verdict_count(struct hlg_boundaries *to, enum hlg_boundary is, uint64_t n);

/*
 * Adds a distinct address, at place, and how many samples it has. filler: really in the
 * padding of a gap, whatever it is credited to. code as hlg_verdict_at takes it.
 */
void hlg_verdict_add(struct hlg_tested *tested, struct hlg_code *code,
		     const struct hlg_place *place, bool filler, uint64_t samples);

/* Are so many outside, of all samples, much? */
bool hlg_verdict_is_much(uint64_t outside, uint64_t all);

/* Are more of these off boundaries than one in a hundred explains (binomial, 99 %)? */
bool hlg_verdict_is_off(const struct hlg_boundaries *b);

/* And are more in padding than that? */
bool hlg_verdict_is_padded(const struct hlg_tested *tested);

/* The verdict on what was added, which also fills shares and chance; stray_addrs is 0 of
 * one image. */
void hlg_verdict_judge(struct hlg_tested *tested, uint64_t stray_addrs);

#endif
