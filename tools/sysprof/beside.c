// SPDX-License-Identifier: GPL-2.0-only
#include "tools/sysprof/beside.h"

#include <stdlib.h>
#include <string.h>

#include "tools/feed/batch.h"

/* Options of report, then the images; to be freed. */
static char **make_words(char *const *elfs, size_t n_elfs)
{
	char **words = calloc(n_elfs + 2, sizeof(*words));

	if (!words)
		return NULL;
	/* Lua's numbers are samples, too. */
	words[0] = (char *)"--weight=samples";
	words[1] = (char *)"--format=folded";
	for (size_t i = 0; i < n_elfs; i++)
		words[i + 2] = elfs[i];
	return words;
}

static int fold(struct hlg_beside *beside, struct hlg_run *run, struct hlg_err *err)
{
	size_t size;
	FILE *f = open_memstream(&beside->folded, &size);
	int rc;

	if (!f)
		return hlg_err_memory(err, "--merge");
	rc = hlg_run_report(run, f, err);
	if ((fclose(f) != 0 || !beside->folded) && rc == 0)
		rc = hlg_err_memory(err, "--merge");
	beside->mismatch = run->mismatch;
	return rc;
}

int hlg_beside_read(struct hlg_beside *beside, char *path, char *const *elfs,
		    size_t n_elfs, struct hlg_err *err)
{
	struct hlg_batch batch = {
		.paths = &path, .n_paths = 1, .threads = 1, .quiet = true};
	char **words = make_words(elfs, n_elfs);
	struct hlg_run run;
	int rc;

	if (!words)
		return hlg_err_memory(err, "--merge");
	rc = hlg_run_start(&run, (int)n_elfs + 2, words, err);
	if (rc == 0)
		rc = hlg_batch_read(&batch, &run, err);
	if (rc == 0 && batch.files[0].rc < 0) {
		*err = *batch.files[0].err;
		rc = batch.files[0].rc;
	}
	if (rc == 0)
		rc = fold(beside, &run, err);
	hlg_batch_finish(&batch);
	hlg_run_finish(&run);
	free(words);
	return rc;
}

void hlg_beside_write(const struct hlg_beside *beside, FILE *f)
{
	const char *line = beside->folded ? beside->folded : "";

	while (*line) {
		size_t n = strcspn(line, "\n");

		fprintf(f, "[guest];%.*s\n", (int)n, line);
		line += n + (line[n] == '\n');
	}
}

void hlg_beside_finish(struct hlg_beside *beside)
{
	free(beside->folded);
	beside->folded = NULL;
}
