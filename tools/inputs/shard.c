// SPDX-License-Identifier: GPL-2.0-only
#include "tools/inputs/shard.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "filter/options/number.h"

/* A number of Slurm's environment. */
static int get(const char *name, uint64_t *value, struct hlg_err *err)
{
	const char *text = getenv(name);

	if (text && hlg_number_u64(text, value))
		return 0;
	return hlg_err_set(err, HLG_EINPUT,
			   "--shard=slurm: %s is %s (this is for tasks of a job array: "
			   "sbatch --array)",
			   name, text ? text : "not set");
}

static int ask_slurm(struct hlg_shard *shard, struct hlg_err *err)
{
	uint64_t id = 0, first = 0, last = 0, count = 0;
	int rc = get("SLURM_ARRAY_TASK_ID", &id, err);

	if (rc == 0)
		rc = get("SLURM_ARRAY_TASK_MIN", &first, err);
	if (rc == 0)
		rc = get("SLURM_ARRAY_TASK_MAX", &last, err);
	if (rc == 0)
		rc = get("SLURM_ARRAY_TASK_COUNT", &count, err);
	if (rc < 0)
		return rc;
	if (last < first || id < first || id > last || last - first != count - 1)
		return hlg_err_set(
			err, HLG_EINPUT,
			"--shard=slurm: the job array has gaps, and what its "
			"missing tasks would read nobody does (use --array=0-N)");
	*shard = (struct hlg_shard){id - first, count};
	return 0;
}

int hlg_shard_parse(struct hlg_shard *shard, const char *word, struct hlg_err *err)
{
	const char *slash = strchr(word, '/');
	char index[32];

	if (strcmp(word, "slurm") == 0)
		return ask_slurm(shard, err);
	if (slash && (size_t)(slash - word) < sizeof(index)) {
		snprintf(index, sizeof(index), "%.*s", (int)(slash - word), word);
		if (hlg_number_u64(index, &shard->index) &&
		    hlg_number_u64(slash + 1, &shard->n) && shard->index < shard->n)
			return 0;
	}
	return hlg_err_set(err, HLG_EINPUT,
			   "--shard=%s: is no part (use I/N, I from 0 to N-1, or slurm)",
			   word);
}

size_t hlg_shard_part(const struct hlg_shard *shard, char **files, size_t n)
{
	size_t kept = 0;

	if (shard->n == 0)
		return n;
	for (size_t i = 0; i < n; i++)
		if (i % shard->n == shard->index) {
			char *file = files[i];

			files[i] = files[kept];
			files[kept++] = file;
		}
	return kept;
}
