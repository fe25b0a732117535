/* SPDX-License-Identifier: GPL-2.0-only */
/* What samples are of. Images and functions come first; a location is of both. */
#ifndef HLG_TOOLS_PPROF_DECODE_TABLES_H
#define HLG_TOOLS_PPROF_DECODE_TABLES_H

#include "tools/pprof/decode.h"

int hlg_decode_tables_images(struct hlg_decoder *d);
int hlg_decode_tables_functions(struct hlg_decoder *d);
int hlg_decode_tables_locations(struct hlg_decoder *d);
int hlg_decode_tables_events(struct hlg_decoder *d);
int hlg_decode_tables_series(struct hlg_decoder *d);
int hlg_decode_tables_hosts(struct hlg_decoder *d);

#endif
