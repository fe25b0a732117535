/* SPDX-License-Identifier: GPL-2.0-only */
/* The key w: the recording so far, and its profile, in new files of the current folder.
 */
#ifndef HLG_TOOLS_TOP_SAVE_H
#define HLG_TOOLS_TOP_SAVE_H

#include "tools/record/process.h"
#include "tools/top/judge.h"
#include "tools/top/spool.h"

struct hlg_top_saving {
	const struct hlg_top_spool *spool;
	uint64_t whole; /* bytes of it that end with a record */
	int n_words;    /* as of hlg_top_judge */
	char *const *words;
	size_t n_images;           /* in words; without any there is no profile */
	const char *const *guests; /* their files, which are noted beside the recording */
	size_t n_guests;
	const struct hlg_record_guests *others; /* and what else may be one */
};

/*
 * Makes hlguest-top-DATE-TIME.data and, where this build saves profiles, from that
 * .pb.gz; never in place of a file that is there. Says what came of it in message.
 */
void hlg_top_save(const struct hlg_top_saving *saving, char *message, size_t size);

#endif
