/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Do sampled addresses fill the straight lines of the code, and lines that lead to each
 * other? On AArch64, where every fourth address is an instruction's, that is what tells
 * where code lies.
 *
 * Lines are those of all-lines.h. At the right place
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

#include "symtab/code/all-lines.h"
#include "symtab/code/code.h"

/* A distinct guest address and how many samples it has. */
struct hlg_sampled {
	uint64_t ip, samples;
};

struct hlg_line_fit;

/* Can an image be asked? One that has lines (all-lines.h). */
bool hlg_line_fit_applies(const struct hlg_image *image);

/*
 * The lines of an image that applies; none if its file cannot be read again. code, the
 * image's, keeps them until it is closed: they are found once. NULL without memory. Used
 * by one thread.
 */
struct hlg_line_fit *hlg_line_fit_of(struct hlg_code *code,
				     const struct hlg_image *image);

/* Does a line run at an address? */
bool hlg_line_fit_runs(const struct hlg_line_fit *fit, uint64_t addr);

/*
 * Scores n addresses, sorted by ip, as if each lay at ip + move. Of each, if it is not
 * NULL, becomes the part of the score that is each address's. False without memory.
 */
bool hlg_line_fit_score(struct hlg_line_fit *fit, const struct hlg_sampled *addrs,
			size_t n, uint64_t move, double *score, double *each);

/*
 * Samples whose parts are scored in many places: where each address lies, and how many
 * lie before each word. Filled by hlg_line_fit_samples_begin.
 */
struct hlg_line_fit_samples {
	const struct hlg_sampled *addrs; /* the caller's, which outlive it */
	size_t n;
	int64_t *word;    /* of each address, counted from the first of the code's */
	uint32_t *behind; /* of each the first later one that is not in a row with it */
	double *alone;    /* what all before each are worth alone */
	int64_t first;    /* address's word, */
	size_t n_words;   /* and how many there are from there to the last one's */
	/* Of each of these, and of one more: addresses before it, and their samples. */
	uint32_t *before;
	uint64_t *sum;
	bool odd; /* there are addresses that are no multiple of four */
};

#define HLG_LINE_FIT_FAR 32768 /* bytes: no part is moved farther */

/* Of addresses as hlg_line_fit_score takes them. False without memory; the caller
 * finishes *samples in any case. */
bool hlg_line_fit_samples_begin(struct hlg_line_fit_samples *samples,
				const struct hlg_line_fit *fit,
				const struct hlg_sampled *addrs, size_t n, uint64_t move);
void hlg_line_fit_samples_finish(struct hlg_line_fit_samples *samples);

/* An address of a whole line adds no more: it is no likelier than by itself, but for what
 * it costs to be alone. */
#define HLG_LINE_FIT_MOST 6.7

/*
 * What each address adds up to the i-th, of those of its line, if all are moved: each[],
 * from the returned one on.
 */
size_t hlg_line_fit_each(const struct hlg_line_fit *fit,
			 const struct hlg_line_fit_samples *samples, size_t i,
			 int64_t move, double *each);

/*
 * What addresses [from, to) add to the score of all, if all are moved by as many bytes, a
 * multiple of four; a number below `needed` if it is below that, which takes less time.
 */
double hlg_line_fit_part(const struct hlg_line_fit *fit,
			 const struct hlg_line_fit_samples *samples, size_t from,
			 size_t to, int64_t move, double needed);

#endif
