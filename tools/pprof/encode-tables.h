/* SPDX-License-Identifier: GPL-2.0-only */
/* What samples are of, and what their values are. */
#ifndef HLG_TOOLS_PPROF_ENCODE_TABLES_H
#define HLG_TOOLS_PPROF_ENCODE_TABLES_H

#include "tools/pprof/encode.h"

/* samples and EVENT; where there are several events, samples:EVENT and EVENT. */
bool hlg_encode_tables_types(struct hlg_encoder *e);
/* When, for how long, and how much of the first event a sample stands for. */
bool hlg_encode_tables_period(struct hlg_encoder *e);
bool hlg_encode_tables_images(struct hlg_encoder *e);
bool hlg_encode_tables_functions(struct hlg_encoder *e);

/* Finds what locations there are, and counts the samples; later they are encoded. */
bool hlg_encode_tables_sort_locations(struct hlg_encoder *e);
bool hlg_encode_tables_locations(struct hlg_encoder *e);
/* The id of one of those. */
uint64_t hlg_encode_tables_location(const struct hlg_encoder *e,
				    const struct hlg_saved_frame *frame);

#endif
