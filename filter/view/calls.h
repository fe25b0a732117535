/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Calls of Hyperlight's guests: those of the guest by its host, those of host functions
 * by the guest. Which port means what has moved with the versions: the enum OutBAction of
 * hyperlight-common.
 */
#ifndef HLG_FILTER_VIEW_CALLS_H
#define HLG_FILTER_VIEW_CALLS_H

#include <stdbool.h>
#include <stdint.h>

#include "filter/profile/profile.h"
#include "symtab/image/space.h"

/* What versions say of ports. All zero: no version is known. */
struct hlg_calls_ports {
	bool before_0_18; /* 101 is a host call, 99 a line for the log */
	bool since_0_18;  /* 109 is a host call (VirtqNotify), 99 and 101 are gone */
	bool halts;       /* since 0.13.1: 108 ends a guest call */
};

/* Adds what the version of an ELF's note says; "" says nothing. */
void hlg_calls_ports_add(struct hlg_calls_ports *ports, const char *version);

/* Hyperlight's function that a guest's calls enter at (hyperlight-guest-bin, src/arch).
 */
#define HLG_CALLS_DISPATCH "dispatch_function"
#define HLG_CALLS_FLUSH    4 /* bytes behind it, on AArch64: enters so after a restore */

/*
 * Does Hyperlight's host enter a guest there for a call: at that function, or on AArch64
 * HLG_CALLS_FLUSH behind? symbol may be NULL; offset is from its start.
 */
bool hlg_calls_enter(const struct hlg_image *image, const struct hlg_symbol *symbol,
		     uint64_t offset);

/* The same of a guest's address, in any lane. */
bool hlg_calls_enter_at(const struct hlg_space *space, uint64_t ip);

/* Does a guest write there to call a function of its host? */
bool hlg_calls_is_host_call(const struct hlg_calls_ports *ports, uint64_t port);

struct hlg_calls {
	uint64_t guest; /* that ended */
	uint64_t host;
	uint64_t host_ns; /* from the exits for these to the next entries; of */
	uint64_t time_ns; /* in the guest and in exits, but not from the end of a guest
			   * call to the next entry; 0: times are not known */
};

/*
 * False if exits were not recorded, or there are no calls, or no image says that its
 * calls can be counted. The guest's start ends as a call does: starts that were seen are
 * taken off, so that none are counted where some samples were left out, or a sandbox runs
 * an ELF that is not in the space.
 */
bool hlg_calls_count(struct hlg_calls *calls, const struct hlg_space *space,
		     const struct hlg_profile *profile);

/* The same of a sandbox, by its number; also if there are none of its calls. */
bool hlg_calls_of_sandbox(struct hlg_calls *calls, const struct hlg_space *space,
			  const struct hlg_profile *profile, uint32_t number);

#endif
