/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How long a vCPU ran, and was out for what: kvm_entry to kvm_exit to the next kvm_entry,
 * in the order of time. What lies between an exit and an entry of the same vCPU is that
 * exit's, whichever thread ran it. A half whose other half is missing counts nothing, nor
 * does one that lies behind it in time.
 */
#ifndef HLG_TOOLS_FEED_RUNS_H
#define HLG_TOOLS_FEED_RUNS_H

#include <stdbool.h>
#include <stdint.h>

#include "filter/profile/ports.h"

/* Of one vCPU. All zero: nothing was seen of it. */
struct hlg_runs {
	uint64_t time; /* of its last entry or exit */
	uint64_t port; /* that the exit was for; 0: none so far */
	bool in, out;
};

/* Times go to ports, those of the sandbox. */
void hlg_runs_enter(struct hlg_runs *run, struct hlg_ports *ports, uint64_t time);
void hlg_runs_leave(struct hlg_runs *run, struct hlg_ports *ports, uint64_t time);

/* The guest has written to a port. */
void hlg_runs_out(struct hlg_runs *run, struct hlg_ports *ports, uint64_t port);

#endif
