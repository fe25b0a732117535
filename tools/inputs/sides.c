// SPDX-License-Identifier: GPL-2.0-only
#include "tools/inputs/sides.h"

#include <stdlib.h>

#include "tools/pprof/pprof.h"

int hlg_sides_start(struct hlg_side *side, struct hlg_err *err)
{
	const struct hlg_inputs *in = side->in;
	int rc;

	if (in->n_images) {
		rc = hlg_run_start(&side->run, in->n_words, in->words, err);
		return rc < 0 ? rc : hlg_run_set_format(&side->run, in->format, err);
	}
	rc = hlg_run_begin(&side->run, in->n_words, in->words, err);
	/* Nor are the sizes known that regions are held to. */
	side->run.options.region = 0;
	if (rc == 0)
		rc = hlg_run_set_format(&side->run, in->format, err);
	if (rc == 0)
		rc = hlg_pprof_images(&side->run.space, in->files, in->n_files, err);
	return rc < 0 ? rc : hlg_space_settle(&side->run.space, err);
}

int hlg_sides_read(struct hlg_side *side, int *status, struct hlg_err *err)
{
	if (side->each) {
		side->profiles = calloc(side->in->n_files + 1, sizeof(*side->profiles));
		if (!side->profiles)
			return hlg_err_memory(err, "files");
	}
	side->batch.profiles = side->profiles;
	return hlg_inputs_read(side->in, &side->run, &side->batch, status, err);
}

void hlg_sides_finish(struct hlg_side *side)
{
	for (size_t i = 0; side->profiles && i < side->in->n_files; i++)
		hlg_profile_finish(&side->profiles[i]);
	free(side->profiles);
	hlg_batch_finish(&side->batch);
	hlg_run_finish(&side->run);
}
