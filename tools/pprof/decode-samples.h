/* SPDX-License-Identifier: GPL-2.0-only */
/* The samples of a saved profile, whose tables are decoded; then the times of some. */
#ifndef HLG_TOOLS_PPROF_DECODE_SAMPLES_H
#define HLG_TOOLS_PPROF_DECODE_SAMPLES_H

#include "tools/pprof/decode.h"

int hlg_decode_samples_of_guest(struct hlg_decoder *d);
int hlg_decode_samples_of_host(struct hlg_decoder *d);
int hlg_decode_samples_moments(struct hlg_decoder *d);

#endif
