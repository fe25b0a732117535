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
	bool comes;         /* more may come: with -a, and none named */
	size_t placed;      /* images in front that are never left out: view.h sets it */
	size_t found;       /* of the request's, that are in words */
	uint64_t looked;    /* ns, when it was looked for last, */
	uint64_t cost;      /* and what of CPU time that took */
};

/* An option of the filter, before they are found. */
int hlg_top_guests_option(struct hlg_top_guests *guests, const char *word,
			  struct hlg_err *err);

/* named: images FILE[@BASE], which count alone if there are any. Fails where there is no
 * guest and none can come. Finish it in any case. */
int hlg_top_guests_find(struct hlg_top_guests *guests, const struct hlg_verb_texts *named,
			struct hlg_record_request *request, struct hlg_err *err);

/* Has a VMM with another guest come meanwhile? Every two seconds, but a hundredth of the
 * time is spent on it at most. Fails without memory. */
int hlg_top_guests_look(struct hlg_top_guests *guests, struct hlg_record_request *request,
			uint64_t now, struct hlg_err *err);

/* The one that was added last is left out from now on, where more may come, it is not
 * the only one, and not one of those that are placed. Returns its file, to be freed; else
 * NULL. */
char *hlg_top_guests_leave(struct hlg_top_guests *guests);

/* The files to be noted beside a recording (tools/beside): where more may come those that
 * were not left out, else those of the options that the words make. Returns how many. */
size_t hlg_top_guests_paths(const struct hlg_top_guests *guests,
			    const struct hlg_options *options,
			    const char *paths[static HLG_BESIDE_GUESTS]);

void hlg_top_guests_finish(struct hlg_top_guests *guests);

#endif
