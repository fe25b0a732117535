/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where the sections of a recording's file stand, for who writes another one from it: see
 * perf.data-file-format.txt ("perf_header", "Flags section"). Offsets are in bytes from
 * the start of the file with the header, which for a directory is its "data".
 */
#ifndef HLG_TOOLS_PERFDATA_SECTIONS_H
#define HLG_TOOLS_PERFDATA_SECTIONS_H

#include <stdio.h>

#include "tools/perfdata/format.h"
#include "tools/perfdata/perfdata.h"

struct hlg_sections {
	int fd;              /* of the reader, which must stay open */
	const char *path;    /* the reader's, for messages */
	bool pipe;           /* what follows but records_at is then 0 */
	uint64_t records_at; /* pipe mode: the first record that is no header's */
	uint64_t attr_size;  /* of an attribute, without its section of ids */
	uint64_t n_attrs;
	uint64_t attrs_at; /* attributes, each with the section of its ids behind it */
	uint64_t has[HLG_FEATURES / 64]; /* features that are wholly there, as bits */
	struct hlg_file_section features[HLG_FEATURES];
};

/*
 * pd: a regular file or a directory, just opened. Features of a recording that was cut
 * off are not there. Fails where sections of features are larger than the file together.
 */
int hlg_sections_read(struct hlg_sections *sections, const struct hlg_perfdata *pd,
		      struct hlg_err *err);

#endif
