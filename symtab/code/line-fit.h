/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Do sampled addresses fill the straight lines of the code, and lines that lead to each
 * other? On AArch64, where every fourth address is an instruction's, that is what tells
 * where code lies.
 *
 * A line is a run of instructions that control enters at the first only and leaves behind
 * the last only (line.h), here of a whole image: it begins at each symbol, at each target
 * of a direct branch or call, and behind each branch. At the right place
 *
 * - the instructions of a line run as often as each other, so that few lines have many of
 *   the samples, and are full of them;
 * - a line that runs is led to by another that runs, about as often, and leads to one: by
 *   a direct branch, a call, or falling through;
 * - a line that runs often has samples where it leads to;
 * - nothing runs in padding, in data, or outside of the code.
 *
 * The score is the logarithm of how likely that makes the samples, more than if each
 * address were a line of its own, without a neighbour. It is no likelihood in earnest:
 * samples of real processors gather at some instructions of a line and leave out others.
 * Therefore a line may have any share of instructions without samples, and a score is
 * only ever compared with those of the same samples at other places, by the thresholds of
 * who compares.
 *
 * All addresses are the image's own.
 */
#ifndef HLG_SYMTAB_CODE_LINE_FIT_H
#define HLG_SYMTAB_CODE_LINE_FIT_H

#include "symtab/code/code.h"

/* A distinct guest address and how many samples it has. */
struct hlg_sampled {
	uint64_t ip, samples;
};

struct hlg_line_fit;

/* Can an image be asked? One of AArch64 whose code is not larger than a kernel's. */
bool hlg_line_fit_applies(const struct hlg_image *image);

/*
 * The lines of an image that applies; none if its file cannot be read again. code, the
 * image's, keeps them until it is closed: they are found once. NULL without memory. Used
 * by one thread.
 */
struct hlg_line_fit *hlg_line_fit_of(struct hlg_code *code,
				     const struct hlg_image *image);
void hlg_line_fit_close(struct hlg_line_fit *fit); /* for code alone */

/* Does a line run at an address? */
bool hlg_line_fit_runs(const struct hlg_line_fit *fit, uint64_t addr);

/*
 * Scores n addresses, sorted by ip, as if each lay at ip + move. Of each, if it is not
 * NULL, becomes the part of the score that is each address's. False without memory.
 */
bool hlg_line_fit_score(struct hlg_line_fit *fit, const struct hlg_sampled *addrs,
			size_t n, uint64_t move, double *score, double *each);

#endif
