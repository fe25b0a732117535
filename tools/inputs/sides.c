// SPDX-License-Identifier: GPL-2.0-only
#include "tools/inputs/sides.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tools/perfdata/perfdata.h"
#include "tools/pprof/pprof.h"

int hlg_sides_start(struct hlg_side *side, struct hlg_err *err)
{
	const struct hlg_inputs *in = side->in;
	int rc;

	if (in->n_images) {
		rc = hlg_run_start_apart(&side->run, in->n_words, in->words, err);
		return rc < 0 ? rc : hlg_run_set_format(&side->run, in->format, err);
	}
	rc = hlg_run_begin(&side->run, in->n_words, in->words, err);
	/* Nor are the sizes known that regions are held to. */
	side->run.options.region = 0;
	if (rc == 0)
		rc = hlg_run_set_format(&side->run, in->format, err);
	if (rc == 0)
		rc = hlg_pprof_images(&side->run.space, in->files, in->n_files, err);
	return rc < 0 ? rc : hlg_space_part(&side->run.space, err);
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

/* Do samples of a recording, or a saved profile, have stacks? What can be read but once
 * is not asked. */
static bool has_chains(const char *path)
{
	struct hlg_perfdata *pd;
	struct hlg_err err;
	struct stat st;
	bool found = false;

	if (stat(path, &st) < 0 || !(S_ISREG(st.st_mode) || S_ISDIR(st.st_mode)))
		return false;
	if (hlg_pprof_is(path))
		return hlg_pprof_has_stacks(path);
	if (hlg_perfdata_open(&pd, path, &err) < 0)
		return false;
	for (uint32_t i = 0; !found && i < hlg_perfdata_n_events(pd); i++)
		found = hlg_perfdata_event(pd, i)->attr.sample_type &
			PERF_SAMPLE_CALLCHAIN;
	hlg_perfdata_close(pd);
	return found;
}

bool hlg_sides_have_chains(const struct hlg_inputs *in)
{
	for (size_t i = 0; i < in->n_files; i++)
		if (has_chains(in->files[i]))
			return true;
	return false;
}

bool hlg_sides_want_whole(const struct hlg_inputs *in)
{
	for (int i = 0; i < in->n_words; i++)
		if (strncmp(in->words[i], "--stacks=", 9) == 0)
			return false;
	return hlg_sides_have_chains(in);
}
