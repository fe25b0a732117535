/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which sandbox a sample of a recording is of: by what threads ran (turns.h), which is of
 * the host's samples, too, else by the samples' own word (tails.h).
 */
#ifndef HLG_TOOLS_FEED_SANDBOX_OF_H
#define HLG_TOOLS_FEED_SANDBOX_OF_H

#include "tools/feed/tails.h"
#include "tools/feed/turns.h"

struct hlg_sandbox_of {
	struct hlg_turns *turns; /* both NULL: nothing tells */
	struct hlg_tails *tails;
};

/* asked: that nothing tells is an error. Finish in any case. */
int hlg_sandbox_of_read(struct hlg_sandbox_of *of, const char *path, bool asked,
			struct hlg_err *err);
void hlg_sandbox_of_finish(struct hlg_sandbox_of *of);

/* All that there are, counts zero; NULL: none is known. */
const struct hlg_sandboxes *hlg_sandbox_of_all(const struct hlg_sandbox_of *of);

/* Fills in the sandbox and the stretch of a sample; 0: not known. */
void hlg_sandbox_of_tell(const struct hlg_sandbox_of *of,
			 const struct hlg_perfdata_raw *raw, struct hlg_sample *sample);

#endif
