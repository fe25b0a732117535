/* SPDX-License-Identifier: GPL-2.0-only */
/* The samples of guests, with labels and stacks, and those of the host. */
#ifndef HLG_TOOLS_PPROF_ENCODE_SAMPLES_H
#define HLG_TOOLS_PPROF_ENCODE_SAMPLES_H

#include "tools/pprof/encode.h"

/*
 * All but the values, of which a sample has two of each event, nearly all 0: they are
 * filled in one after the other, where the samples are packed.
 */
bool hlg_encode_samples_of_guest(struct hlg_encoder *e);

/* The stacks of the host's samples, as many as saved has, each packed. NULL without
 * memory. */
ProtobufCBinaryData *hlg_encode_samples_of_host(struct hlg_encoder *e);

/* The guests' as a part of the message, to at unless it is NULL; returns their size in
 * bytes. */
size_t hlg_encode_samples_pack(struct hlg_encoder *e, unsigned char *at);

#endif
