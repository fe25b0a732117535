/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a profile that grows has gained: in the last slices of time, and since it was
 * zeroed. At each end of a slice the profile is compared with what it was at the one
 * before, so nothing is done per sample, and each sample is in one slice.
 *
 * Memory: 64 bytes for each distinct (series, address) that the profile has, and 24 for
 * each that a slice has samples of; so of n addresses and k slices at most (64 + 24 k) n,
 * and of a slice no more than it has samples.
 */
#ifndef HLG_TOOLS_TOP_WINDOW_H
#define HLG_TOOLS_TOP_WINDOW_H

#include "filter/profile/profile.h"

/* Of all samples, besides those of each address. */
struct hlg_top_sums {
	struct hlg_count seen, host, deselected; /* as the profile has them */
	hlg_u128 squares;                        /* of all its series */
	uint64_t exits, vmm_exits; /* hits of kvm:kvm_exit, kvm:kvm_userspace_exit */
	uint64_t traced;           /* of host: hits of any tracepoint */
	uint64_t lost;
};

struct hlg_top_cell {
	uint64_t ip;
	uint32_t series;
	struct hlg_count last; /* at the end of the last slice */
	struct hlg_count zero; /* when it was zeroed */
	struct hlg_count recent;
};

struct hlg_top_slice;

/* All zero before hlg_top_window_begin. */
struct hlg_top_window {
	struct hlg_top_cell *cells; /* in the order they were met */
	uint32_t n_cells;
	struct hlg_index index;
	struct hlg_top_slice
		*slices; /* a ring of n_slices, of which at was closed last */
	size_t n_slices, at;
	struct hlg_top_sums last, zero;
	uint64_t began, zeroed; /* ns, of the clock of hlg_top_window_close */
	uint64_t closed;
};

/* Which samples: those of the slices, or all since it was zeroed. */
enum hlg_top_which {
	HLG_TOP_RECENT,
	HLG_TOP_SINCE
};

/* n: slices that are kept. now: ns of any clock that only goes on. False without memory;
 * finish it in any case. */
bool hlg_top_window_begin(struct hlg_top_window *window, size_t n, uint64_t now);
void hlg_top_window_finish(struct hlg_top_window *window);

/* Ends a slice: what the profile has more than at the end of the last one is in it; the
 * oldest is forgotten if there is no room. False without memory: what has no room is in
 * the next slice. */
bool hlg_top_window_close(struct hlg_top_window *window,
			  const struct hlg_profile *profile, uint64_t lost, uint64_t now);

/* Begins anew: there are no slices, and nothing since. */
void hlg_top_window_zero(struct hlg_top_window *window);

/* What a cell has. */
struct hlg_count hlg_top_window_count(const struct hlg_top_cell *cell,
				      enum hlg_top_which which);

struct hlg_top_sums hlg_top_window_sums(const struct hlg_top_window *window,
					enum hlg_top_which which);

/* How long that was, in ns. */
uint64_t hlg_top_window_took(const struct hlg_top_window *window,
			     enum hlg_top_which which);

/* Guests' samples of these. */
struct hlg_count hlg_top_window_guest(const struct hlg_top_sums *sums);

#endif
