/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Samples of guests that the calling thread runs, live. Host samples come along where an
 * event cannot leave the host out; they are told by their mode.
 */
#ifndef HLG_TOOLS_CALIBRATE_SAMPLER_H
#define HLG_TOOLS_CALIBRATE_SAMPLER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* An event to sample by, and its name as perf and `hlguest record` have it. */
struct hlg_sampling {
	const char *name;
	uint32_t type; /* linux/perf_event.h */
	uint64_t config;
	unsigned precise;
	bool timer; /* a timer of the host: its interrupt comes between two instructions
		     */
	bool time;  /* counts time: then the hot instruction of a guest has the samples */
};

#define HLG_SAMPLINGS 6
extern const struct hlg_sampling hlg_samplings[HLG_SAMPLINGS];

struct hlg_sampler {
	int fd;
	void *ring; /* a page about it, then its pages */
	size_t size;
	uint64_t lost;
};

/* Disabled at first (hlg_perf_event_enable of fd). Returns false with a reason if there
 * is no such event here; finish it in any case. */
bool hlg_sampler_open(struct hlg_sampler *sampler, const struct hlg_sampling *event,
		      char reason[static 256]);
void hlg_sampler_finish(struct hlg_sampler *sampler);

/* Calls each with the samples that have come, and forgets them. ip: the guest's, or the
 * host's. */
void hlg_sampler_drain(struct hlg_sampler *sampler,
		       void (*each)(void *ctx, uint64_t ip, bool guest), void *ctx);

#endif
