/* SPDX-License-Identifier: GPL-2.0-only */
/* What a recording holds beside its samples, whoever has read it. */
#ifndef HLG_FILTER_PROFILE_RECORDING_H
#define HLG_FILTER_PROFILE_RECORDING_H

#include <stdint.h>

/* Of one recording, or the sum of several. */
struct hlg_recording_sums {
	uint64_t samples, guest, host, deselected;
	uint64_t lost;      /* LOST records' sum, or LOST_SAMPLES' if larger */
	uint64_t throttled; /* THROTTLE records */
	uint64_t skipped;   /* samples of no known event, or malformed: not counted */
	uint64_t left;      /* bytes that could not be read: the recording was cut off */
};

#endif
