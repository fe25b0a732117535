// SPDX-License-Identifier: GPL-2.0-only
#include "tools/flame/stacks.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "filter/report/frames.h"
#include "tools/perfdata/perfdata.h"

/* Do samples of a recording have callchains? What can be read but once is not asked. */
static bool has_chains(const char *path)
{
	struct hlg_perfdata *pd;
	struct hlg_err err;
	struct stat st;
	bool found = false;

	if (stat(path, &st) < 0 || !(S_ISREG(st.st_mode) || S_ISDIR(st.st_mode)) ||
	    hlg_perfdata_open(&pd, path, &err) < 0)
		return false;
	for (uint32_t i = 0; !found && i < hlg_perfdata_n_events(pd); i++)
		found = hlg_perfdata_event(pd, i)->attr.sample_type &
			PERF_SAMPLE_CALLCHAIN;
	hlg_perfdata_close(pd);
	return found;
}

bool hlg_flame_stacks_are_whole(const struct hlg_inputs *in)
{
	for (int i = 0; i < in->n_words; i++)
		if (strncmp(in->words[i], "--stacks=", 9) == 0)
			return false;
	for (size_t i = 0; i < in->n_files; i++)
		if (has_chains(in->files[i]))
			return true;
	return false;
}

/* After the report, whose notes name files as they are. */
static bool rename_images(struct hlg_space *space, const struct hlg_space *like)
{
	for (size_t i = 0; i < space->n_images && i < like->n_images; i++) {
		char *path = strdup(like->images[i]->path);

		if (!path)
			return false;
		free(space->images[i]->path);
		space->images[i]->path = path;
	}
	return true;
}

int hlg_flame_stacks_build(struct hlg_flame_stacks *stacks, struct hlg_side *side,
			   const struct hlg_side *like, struct hlg_err *err)
{
	int rc = hlg_run_build(&side->run, &stacks->report, err);

	if (rc == 0 && like && !rename_images(&side->run.space, &like->run.space))
		rc = hlg_err_memory(err, "images");
	if (rc == 0)
		rc = hlg_frames_build(&stacks->tree, &stacks->report, err);
	return rc;
}

double hlg_flame_stacks_observations(const struct hlg_flame_stacks *stacks,
				     enum hlg_weight weight)
{
	const struct hlg_view *v = &stacks->report.all;
	double samples = (double)stacks->tree.nodes[HLG_TREE_ROOT].total.samples;

	if (weight == HLG_WEIGHT_SAMPLES || v->kept.samples == 0)
		return samples;
	return samples * v->observations / (double)v->kept.samples;
}

void hlg_flame_stacks_finish(struct hlg_flame_stacks *stacks)
{
	hlg_tree_finish(&stacks->tree);
	hlg_report_finish(&stacks->report);
}
