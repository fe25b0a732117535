// SPDX-License-Identifier: GPL-2.0-only
#include "tools/pprof/pprof.h"
#include "tools/pprof/save.h"

/* Settling costs a sort: done when what was added is as much as was there. */
enum {
	SETTLE_AT_LEAST = 1 << 16 /* cells and host rows */
};

static size_t weight(const struct hlg_saved *saved)
{
	return (size_t)saved->cells.n + saved->hosts.n + saved->functions.n;
}

static const char *by_words(unsigned by)
{
	static const char *const words[] = {"nothing", "pid",        "tid",
					    "pid,tid", "cpu",        "pid,cpu",
					    "tid,cpu", "pid,tid,cpu"};

	return words[by / HLG_BY_PID % 8];
}

static int add_file(struct hlg_saved *sum, struct hlg_saved *from, const char *first,
		    const char *path, struct hlg_err *err)
{
	if (from->by != sum->by)
		return hlg_err_set(err, HLG_EINPUT,
				   "%s: is split by %s, but %s by %s (save both with the "
				   "same --by=)",
				   path, by_words(from->by), first, by_words(sum->by));
	if (!hlg_saved_add(sum, from))
		return hlg_err_memory(err, path);
	if (sum->totals.seen.samples > HLG_SAVED_MAX_SAMPLES)
		return hlg_err_set(err, HLG_EINPUT,
				   "%s: there would be more than 2^53 samples (are the "
				   "files what they seem?)",
				   path);
	return 0;
}

int hlg_pprof_merge(char *const *paths, size_t n, const char *out, FILE *stream,
		    struct hlg_progress *progress, struct hlg_err *err)
{
	struct hlg_saved sum = {0};
	size_t settled = SETTLE_AT_LEAST;
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < n; i++) {
		struct hlg_saved from;

		rc = hlg_pprof_load(&from, paths[i], progress, err);
		if (rc == 0 && i == 0)
			sum.by = from.by;
		if (rc == 0)
			rc = add_file(&sum, &from, hlg_pprof_name(paths[0]),
				      hlg_pprof_name(paths[i]), err);
		hlg_saved_finish(&from);
		if (rc < 0 || (weight(&sum) < 2 * settled && i + 1 < n))
			continue;
		if (!hlg_saved_settle(&sum))
			rc = hlg_err_memory(err, paths[i]);
		if (weight(&sum) > settled)
			settled = weight(&sum);
	}
	if (rc == 0)
		rc = hlg_pprof_write(&sum, out, stream, err);
	hlg_saved_finish(&sum);
	return rc;
}
