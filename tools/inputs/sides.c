// SPDX-License-Identifier: GPL-2.0-only
#include "tools/inputs/sides.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tools/perfdata/perfdata.h"
#include "tools/pprof/pprof.h"

/* What was saved has names only: where gaps and VM exits are, an ELF tells. */
static int check_kept(const struct hlg_options *o, struct hlg_err *err)
{
	bool gaps = o->gaps == HLG_GAPS_DROP;

	if (!gaps && o->border != HLG_BORDER_DROP)
		return 0;
	return hlg_err_set(err, HLG_EINPUT,
			   "--%s=drop: saved profiles have no %s to leave out without an "
			   "ELF (name guest.elf, too)",
			   gaps ? "gaps" : "border", gaps ? "gaps" : "VM exits");
}

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
		rc = check_kept(&side->run.options, err);
	if (rc == 0)
		rc = hlg_run_set_format(&side->run, in->format, err);
	if (rc == 0)
		rc = hlg_pprof_images(&side->run.space, in->files, in->n_files, err);
	return rc < 0 ? rc : hlg_space_part(&side->run.space, err);
}

int hlg_sides_read(struct hlg_side *side, int *status, struct hlg_err *err)
{
	int rc;

	if (side->each) {
		side->recordings =
			calloc(side->in->n_files + 1, sizeof(*side->recordings));
		side->profiles = calloc(side->in->n_files + 1, sizeof(*side->profiles));
		if (side->run.options.children)
			side->stacks =
				calloc(side->in->n_files + 1, sizeof(*side->stacks));
		if (!side->recordings || !side->profiles ||
		    (side->run.options.children && !side->stacks))
			return hlg_err_memory(err, "files");
	}
	side->batch.profiles = side->profiles;
	side->batch.stacks = side->stacks;
	rc = hlg_inputs_read(side->in, &side->run, &side->batch, status, err);
	for (size_t i = 0; rc == 0 && side->each && i < side->in->n_files; i++) {
		uint64_t n = side->batch.files[i].sums.recordings;

		side->recordings[i] = n ? n : 1;
	}
	return rc;
}

void hlg_sides_finish(struct hlg_side *side)
{
	for (size_t i = 0; side->profiles && i < side->in->n_files; i++)
		hlg_profile_finish(&side->profiles[i]);
	free(side->profiles);
	for (size_t i = 0; side->stacks && i < side->in->n_files; i++)
		hlg_stacks_finish(&side->stacks[i]);
	free(side->stacks);
	free(side->recordings);
	hlg_batch_finish(&side->batch);
	hlg_run_finish(&side->run);
}

/* Do samples of a recording, or a saved profile, have stacks? */
static int look(const char *path, bool *found, struct hlg_err *err)
{
	struct hlg_perfdata *pd;
	int rc;

	if (hlg_pprof_is(path))
		return hlg_pprof_has_stacks(path, found, err);
	rc = hlg_perfdata_open(&pd, path, err);
	if (rc < 0)
		return rc;
	for (uint32_t i = 0; !*found && i < hlg_perfdata_n_events(pd); i++)
		*found = hlg_perfdata_event(pd, i)->attr.sample_type &
			 PERF_SAMPLE_CALLCHAIN;
	hlg_perfdata_close(pd);
	return 0;
}

/*
 * What can be read but once is not asked; what cannot be read at all is told by who reads
 * it. But what could not be read for a moment, and can be then, would have another
 * report: so it is looked at twice.
 */
static int find_chains(const char *path, bool *found, struct hlg_err *err)
{
	struct stat st;
	int rc;

	*found = false;
	if (strcmp(path, "-") == 0)
		return 0;
	if (stat(path, &st) == 0 && !(S_ISREG(st.st_mode) || S_ISDIR(st.st_mode)))
		return 0;
	rc = look(path, found, err);
	if (rc == HLG_EINPUT)
		rc = look(path, found, err);
	return rc == HLG_EINPUT ? 0 : rc;
}

int hlg_sides_have_chains(const struct hlg_inputs *in, bool *found, struct hlg_err *err)
{
	int rc = 0;

	*found = false;
	for (size_t i = 0; rc == 0 && !*found && i < in->n_files; i++)
		rc = find_chains(in->files[i], found, err);
	return rc;
}

int hlg_sides_want_whole(const struct hlg_inputs *in, bool *whole, struct hlg_err *err)
{
	*whole = false;
	for (int i = 0; i < in->n_words; i++)
		if (strncmp(in->words[i], "--stacks=", 9) == 0)
			return 0;
	return hlg_sides_have_chains(in, whole, err);
}
