/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The border: addresses whose samples are of entering and leaving the guest.
 *
 * A host turns interrupts off while it enters or leaves a guest. A timer that becomes due
 * meanwhile is taken at once where they are on again, and has the guest's address then:
 * that of the instruction that left the guest, of the one behind it, or of where the
 * guest is entered anew. So the host's time for an exit is told as the time of whatever
 * code makes it.
 *
 * An address is the border's if two things agree:
 *
 * - its instruction, or the one that runs before it, may leave a guest (insn.h), or was
 *   carried out by KVM for the guest (transits.h), which tells of accesses to a device's
 *   memory; or the guest is entered there: at the entry point of its ELF, at
 * `dispatch_function`, where Hyperlight's host enters a guest for each call, or where
 * kvm_entry tells so (transits.h);
 * - it has far more samples than its neighbours: the rest of its straight line (line.h),
 *   whose instructions run as often as it does, and, unless a loop may run it more often,
 *   the first line of its function. Far more is: more than `times` as many as they have
 *   in the mean, tested at HLG_BORDER_LEVEL. Given k samples on c addresses, and s on
 *   their m neighbours, k of k + s is binomial, with times * c / (times * c + m), if
 *   their own time is all there is (J. Przyborowski and H. Wilenski, Biometrika 31,
 *   1940). Tested are the two sides of an exit, the instruction and the next one,
 *   together, and each by itself. Of an exit that stands out so, each side is the
 *   border's that has more than `times` as many as its neighbours itself.
 *
 * What leaves every guest takes no time inside of one, and twice the mean is far more:
 * HLG_BORDER_TIMES. What only may leave it, as pause and wrmsr, takes long where it does
 * not: HLG_BORDER_TIMES_MAY is what no such instruction takes. Samples of events that
 * fire together are no independent observations, so each event is tested by itself; an
 * address that one of them tells is the border's for all.
 *
 * Where there is no neighbour, the rest of the function stands for them if the
 * instruction leaves every guest, else nothing is concluded. Nothing is in an image that
 * cannot be decoded, in a place of more than 1 MiB, or where symbols nest as they do in
 * no real program.
 *
 * Of an image that was made of a saved profile the border is what is called so: it was
 * found where the ELF was known.
 */
#ifndef HLG_FILTER_VIEW_BORDER_H
#define HLG_FILTER_VIEW_BORDER_H

#include "filter/profile/profile.h"
#include "symtab/image/space.h"

#define HLG_BORDER_LEVEL     0.001
#define HLG_BORDER_TIMES     2
#define HLG_BORDER_TIMES_MAY 200

/* An own address of an image of the space. */
struct hlg_border_addr {
	const struct hlg_image *image;
	uint64_t addr;
};

/* All zero: none. */
struct hlg_border {
	struct hlg_border_addr *at; /* by image and address */
	size_t n;
	uint64_t doubtful; /* samples where every guest is left or entered, which are more
			    * than the neighbours' but not enough to tell: not of it */
};

/* Samples of addresses, and of so many others that run as often. */
struct hlg_border_counts {
	uint64_t samples, addrs, near, near_addrs;
};

/* Have they more than `times` the samples of the others, by the test above? */
bool hlg_border_stands_out(const struct hlg_border_counts *counts, double times);

/*
 * Finds the border of a settled space by the cells of a profile, in any order. Fails only
 * without memory; the caller finishes *border in any case.
 */
int hlg_border_find(struct hlg_border *border, const struct hlg_space *space,
		    const struct hlg_profile *profile, const struct hlg_cell *cells,
		    size_t n_cells, struct hlg_err *err);

/* Adds what is of the border of one image, by another's, of the same build. False without
 * memory. */
bool hlg_border_share(struct hlg_border *border, const struct hlg_image *image,
		      const struct hlg_border *from, const struct hlg_image *of);

/* border may be NULL: none. */
bool hlg_border_has(const struct hlg_border *border, const struct hlg_image *image,
		    uint64_t addr);

/* Exits that were recorded at the border or right in front of it; 0: none were counted.
 */
uint64_t hlg_border_exits(const struct hlg_border *border, const struct hlg_space *space,
			  const struct hlg_profile *profile);

void hlg_border_finish(struct hlg_border *border);

#endif
