/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Finding: at which bases would sampled addresses make sense in an image?
 *
 * Every sampled address is an instruction's. A base is therefore a guess that can be
 * tested: it puts each address on an instruction boundary of the image, or not. At the
 * right base all are on one, at a wrong one as many as chance has it, about a quarter on
 * x86-64. A fit's score is the logarithm of how much more likely its addresses are if the
 * base is right (95 % on boundaries, to leave room for what is not of this image) than by
 * chance.
 *
 * On AArch64 any base puts all addresses on boundaries but those in the padding between
 * functions. There the score is that of the lines they fill (line-fit.h), all bases that
 * have votes are candidates, and the best must beat each that overlaps it not by that
 * factor but by 25 nats and a tenth of a nat for each address; in each quarter of its
 * samples it must be ahead, too, or be far ahead in all and hardly behind in any; and it
 * must fit better there than a few instructions beside. Some two hundred addresses are
 * needed where x86-64 needs twenty.
 *
 * Bases are multiples of 4096. Addresses that lie further apart than the image is long
 * cannot share a base, so each cluster of them is searched on its own: up to 512 of its
 * addresses vote for the bases that put them on a boundary, the candidates with most
 * votes are scored over all addresses, and the best is taken if it stands out: its score
 * must pay for the number of bases that have votes, by a factor of 10,000 for each and
 * for one more, and beat each candidate that overlaps it by a factor of 1000. What it
 * explains is removed and the search goes on, as long as eight addresses are left.
 *
 * References: the likelihood ratio as a stopping rule is A. Wald's (Sequential Analysis,
 * 1947).
 */
#ifndef HLG_SYMTAB_CODE_BASE_FIND_H
#define HLG_SYMTAB_CODE_BASE_FIND_H

#include "symtab/code/line-fit.h"

/* How addresses lie in an image at a base. */
struct hlg_fit {
	uint64_t base; /* first, for hlg_bsearch_compare */
	uint64_t on, off, unknown; /* distinct addresses inside; unknown: gaps and such */
	uint64_t data;             /* of unknown: where nothing runs */
	uint64_t on_samples, off_samples, samples; /* samples: all inside */
	double score;                              /* in nats */
};

struct hlg_found {
	struct hlg_fit *fits; /* by samples, then base; they do not overlap */
	size_t n;
	struct hlg_fit rival; /* the best that overlaps fits[0]; on == 0: none */
	struct hlg_fit best;  /* if n == 0: what came nearest; on == 0: nothing did */
};

/*
 * Finds all bases. Decodes code in full; addrs is sorted by ip and not changed. Returns
 * false without memory; the caller finishes *found in any case.
 */
bool hlg_base_find_all(struct hlg_code *code, const struct hlg_image *image,
		       const struct hlg_sampled *addrs, size_t n,
		       struct hlg_found *found);

/* How addresses lie at one base that is known, by boundaries; no score. Code is decoded
 * in full, as hlg_base_find_all leaves it. */
void hlg_base_find_fit(struct hlg_code *code, const struct hlg_image *image,
		       const struct hlg_sampled *addrs, size_t n, uint64_t base,
		       struct hlg_fit *fit);

/* Puts fits in their order. */
void hlg_base_find_sort(struct hlg_found *found);

void hlg_base_find_finish(struct hlg_found *found);

#endif
