/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where guests were left and entered, as the tracepoints kvm_exit and kvm_entry tell, and
 * where KVM carried out an instruction for the guest, as kvm_emulate_insn tells: how
 * often at each guest address. Only the command's feed reads these; a filter knows none.
 */
#ifndef HLG_FILTER_PROFILE_TRANSITS_H
#define HLG_FILTER_PROFILE_TRANSITS_H

#include "filter/profile/index.h"
#include "filter/profile/ports.h"

struct hlg_transit {
	uint64_t ip, exits, entries, emulated;
};

/* All zero before the first use. */
struct hlg_transits {
	struct hlg_transit *at; /* in the order they were met */
	uint32_t n;
	struct hlg_index index;
	bool crossed; /* some are exits or entries */
	struct hlg_ports ports;
	bool lost; /* some, for want of memory: then nothing is known */
};

/* Adds transits at one address. */
void hlg_transits_add(struct hlg_transits *transits, struct hlg_transit add);
void hlg_transits_merge(struct hlg_transits *to, const struct hlg_transits *from);

/* What is known of an address; all zero: nothing. */
struct hlg_transit hlg_transits_at(const struct hlg_transits *transits, uint64_t ip);

/*
 * Is the guest entered there by its host's will, not because it was left there? Then more
 * than twice as many entries are there as exits at what may end in front of it, or at it.
 */
bool hlg_transits_is_entry(const struct hlg_transits *transits, uint64_t ip);

void hlg_transits_finish(struct hlg_transits *transits);

enum {
	HLG_TRANSITS_INSN = 15 /* bytes of the longest instruction */
};

#endif
