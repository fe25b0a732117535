// SPDX-License-Identifier: GPL-2.0-only
#include "tools/feed/sandbox-of.h"

#include "tools/feed/turns-read.h"

int hlg_sandbox_of_read(struct hlg_sandbox_of *of, const char *path, bool asked,
			struct hlg_err *err)
{
	const char *why;
	int rc;

	*of = (struct hlg_sandbox_of){0};
	rc = hlg_turns_read(&of->turns, path, false, &why, err);
	if (rc == 0 && !of->turns)
		rc = hlg_tails_read(&of->tails, path, err);
	if (rc == 0 && !of->turns && !of->tails && asked)
		rc = hlg_err_set(err, HLG_EINPUT, "%s: %s", path, why);
	return rc;
}

void hlg_sandbox_of_finish(struct hlg_sandbox_of *of)
{
	hlg_turns_free(of->turns);
	hlg_tails_free(of->tails);
	*of = (struct hlg_sandbox_of){0};
}

const struct hlg_sandboxes *hlg_sandbox_of_all(const struct hlg_sandbox_of *of)
{
	const struct hlg_sandboxes *all = of->turns   ? hlg_turns_sandboxes(of->turns)
					  : of->tails ? hlg_tails_sandboxes(of->tails)
						      : NULL;

	return all && all->n ? all : NULL;
}

void hlg_sandbox_of_tell(const struct hlg_sandbox_of *of,
			 const struct hlg_perfdata_raw *raw, struct hlg_sample *sample)
{
	hlg_turns_tell(of->turns, sample);
	if (of->tails)
		sample->sandbox = hlg_tails_tell(of->tails, raw);
}
