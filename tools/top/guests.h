/* SPDX-License-Identifier: GPL-2.0-only */
/* Which guests are looked at: those that were named, else those that the command, or
 * running processes, tell of (tools/record/process.h says which of these are opened). */
#ifndef HLG_TOOLS_TOP_GUESTS_H
#define HLG_TOOLS_TOP_GUESTS_H

#include "filter/options/options.h"
#include "tools/cli/verb.h"
#include "tools/record/request.h"

/* All zero before. */
struct hlg_top_guests {
	char **words;       /* for hlg_top_judge: options and images */
	size_t n, n_images; /* with -a there may be none so far */
	uint64_t looked;    /* ns, when it was looked for last */
};

/* An option of the filter, before they are found. */
int hlg_top_guests_option(struct hlg_top_guests *guests, const char *word,
			  struct hlg_err *err);

/* named: images FILE[@BASE], which count alone if there are any. Fails where there is no
 * guest and none can come. Finish it in any case. */
int hlg_top_guests_find(struct hlg_top_guests *guests, const struct hlg_verb_texts *named,
			struct hlg_record_request *request, struct hlg_err *err);

/* While there is none: has a VMM come meanwhile? now and then. */
int hlg_top_guests_look(struct hlg_top_guests *guests, struct hlg_record_request *request,
			uint64_t now, struct hlg_err *err);

/* The files to be noted beside a recording (tools/beside), of the options that the words
 * make, else of the request. Returns how many. */
size_t hlg_top_guests_paths(const struct hlg_options *options,
			    const struct hlg_record_request *request,
			    const char *paths[static HLG_BESIDE_GUESTS]);

void hlg_top_guests_finish(struct hlg_top_guests *guests);

#endif
