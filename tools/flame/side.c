// SPDX-License-Identifier: GPL-2.0-only
#include "tools/flame/side.h"

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

/* Whole stacks are what a flame graph is for, where there are any. */
static bool wants_callgraph(const struct hlg_inputs *in)
{
	for (int i = 0; i < in->n_words; i++)
		if (strncmp(in->words[i], "--stacks=", 9) == 0)
			return false;
	for (size_t i = 0; i < in->n_files; i++)
		if (has_chains(in->files[i]))
			return true;
	return false;
}

/*
 * Words that are not images, then the images; a list of n + n_images + 2 to be freed. The
 * sides' stacks are of one kind: that of the recordings that are shown.
 */
static char **join_words(const struct hlg_inputs *in, char *const *images,
			 size_t n_images, int *n)
{
	static char callgraph[] = "--stacks=callgraph";
	char **words = calloc((size_t)in->n_words + n_images + 2, sizeof(*words));

	*n = 0;
	if (words && wants_callgraph(in))
		words[(*n)++] = callgraph;
	for (int i = 0; words && i < in->n_words; i++)
		if (n_images == 0 || strncmp(in->words[i], "--", 2) == 0)
			words[(*n)++] = in->words[i];
	for (size_t i = 0; words && i < n_images; i++)
		words[(*n)++] = images[i];
	return words;
}

int hlg_flame_side_start(struct hlg_flame_side *side, const struct hlg_inputs *in,
			 char *const *images, size_t n_images, struct hlg_err *err)
{
	struct hlg_options *options = &side->run.options;
	int n, rc;
	char **words = join_words(in, images, n_images, &n);

	if (!words)
		return hlg_err_memory(err, "arguments");
	rc = hlg_run_start(&side->run, n, words, err);
	free(words);
	if (rc < 0)
		return rc;
	if (!hlg_options_given(options, "mode"))
		options->mode = HLG_SHOW_ALL;
	if (options->format == HLG_FORMAT_TEXT)
		options->format = HLG_FORMAT_FOLDED; /* which has all rows */
	return 0;
}

int hlg_flame_side_read(struct hlg_flame_side *side, const struct hlg_inputs *in,
			char **files, size_t n_files, int *status, struct hlg_err *err)
{
	struct hlg_inputs these = *in;
	int rc;

	these.files = files;
	these.n_files = n_files;
	rc = hlg_inputs_read(&these, &side->run, &side->batch, status, err);
	if (rc == 0 && side->batch.n_read)
		hlg_batch_note(&side->batch, &side->run);
	return rc;
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

int hlg_flame_side_build(struct hlg_flame_side *side, const struct hlg_flame_side *like,
			 struct hlg_err *err)
{
	int rc = hlg_run_build(&side->run, &side->report, err);

	if (rc == 0 && like && !rename_images(&side->run.space, &like->run.space))
		rc = hlg_err_memory(err, "images");
	if (rc == 0)
		rc = hlg_frames_build(&side->tree, &side->report, err);
	return rc;
}

double hlg_flame_side_observations(const struct hlg_flame_side *side,
				   enum hlg_weight weight)
{
	const struct hlg_view *v = &side->report.all;
	double samples = (double)side->tree.nodes[HLG_TREE_ROOT].total.samples;

	if (weight == HLG_WEIGHT_SAMPLES || v->kept.samples == 0)
		return samples;
	return samples * v->observations / (double)v->kept.samples;
}

void hlg_flame_side_finish(struct hlg_flame_side *side)
{
	hlg_tree_finish(&side->tree);
	hlg_report_finish(&side->report);
	hlg_batch_finish(&side->batch);
	hlg_run_finish(&side->run);
}
