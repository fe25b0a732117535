// SPDX-License-Identifier: GPL-2.0-only
#include "tools/fleet/split.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "filter/output/out.h"
#include "tools/inputs/twice.h"

/*
 * Nobody can read it, as it is named: its task leaves it out and tells why. Any other
 * error is the system's, and says nothing of the recording.
 */
static bool cannot_be_read(int error)
{
	return error == ENOENT || error == ENOTDIR || error == EACCES || error == ELOOP ||
	       error == ENAMETOOLONG;
}

static bool add_size(uint64_t *sum, int folder, const char *name, mode_t *mode)
{
	struct stat st = {0};

	if (fstatat(folder, name, &st, 0) != 0)
		return cannot_be_read(errno);
	*mode = st.st_mode & S_IFMT;
	if (*mode == S_IFREG)
		*sum += (uint64_t)st.st_size;
	return true;
}

/* Of the files in a folder. */
static bool add_folder(uint64_t *sum, const char *path)
{
	DIR *dir = opendir(path);
	struct dirent *entry = NULL;
	bool ok = true;
	mode_t mode;
	int why;

	if (!dir)
		return cannot_be_read(errno);
	do {
		errno = 0;
		entry = readdir(dir);
		ok = entry ? add_size(sum, dirfd(dir), entry->d_name, &mode) : !errno;
	} while (entry && ok);
	why = errno;
	closedir(dir);
	errno = why;
	return ok;
}

/* Of a recording, which can be a folder (perf record --threads). */
static int size_of(const char *path, uint64_t *sum, struct hlg_err *err)
{
	mode_t mode = 0;

	*sum = 0;
	if (add_size(sum, AT_FDCWD, path, &mode) &&
	    (mode != S_IFDIR || add_folder(sum, path)))
		return 0;
	if (errno == ENOMEM)
		return hlg_err_memory(err, path);
	return hlg_err_set(err, HLG_ESYSTEM,
			   "%s: its size cannot be read: %s (try again)", path,
			   strerrordesc_np(errno));
}

/* The largest first; of one size by name, as places are. */
static int compare(const void *a, const void *b, void *of)
{
	const uint64_t *bytes = ((const struct hlg_fleet_split *)of)->bytes;
	size_t x = *(const size_t *)a, y = *(const size_t *)b;

	if (bytes[x] != bytes[y])
		return bytes[x] > bytes[y] ? -1 : 1;
	return x < y ? -1 : x > y;
}

/* Whichever has the least: bytes, then recordings, so that empty ones are spread, too. */
static size_t least(const struct hlg_fleet_plan *plan)
{
	size_t found = 0;

	for (size_t i = 1; i < plan->n_tasks; i++) {
		const struct hlg_fleet_task *a = &plan->tasks[i],
					    *b = &plan->tasks[found];

		if (a->bytes < b->bytes || (a->bytes == b->bytes && a->n < b->n))
			found = i;
	}
	return found;
}

static void divide(struct hlg_fleet_split *split, const size_t *order,
		   struct hlg_fleet_plan *plan)
{
	for (size_t i = 0; i < split->n; i++) {
		/* Each has one, even if the others are all empty. */
		size_t k = i < plan->n_tasks ? i : least(plan);

		split->tasks[order[i]] = k;
		plan->tasks[k].n++;
		plan->tasks[k].bytes += split->bytes[order[i]];
	}
}

int hlg_fleet_split(struct hlg_fleet_split *split, struct hlg_list *list, size_t n_tasks,
		    struct hlg_fleet_plan *plan, struct hlg_err *err)
{
	size_t *order;
	int rc;

	*split = (struct hlg_fleet_split){.names = list->names, .n = list->n};
	hlg_list_sort(list->names, list->n);
	rc = hlg_twice_part(list->names, list->n, &split->n, err);
	if (rc < 0)
		return rc;
	plan->n_tasks = n_tasks < split->n ? n_tasks : split->n;
	free(plan->tasks);
	plan->tasks = calloc(plan->n_tasks + 1, sizeof(*plan->tasks));
	split->bytes = calloc(split->n + 1, sizeof(*split->bytes));
	split->tasks = calloc(split->n + 1, sizeof(*split->tasks));
	order = calloc(split->n + 1, sizeof(*order));
	if (plan->tasks && split->bytes && split->tasks && order) {
		for (size_t i = 0; rc == 0 && i < split->n; i++) {
			rc = size_of(split->names[i], &split->bytes[i], err);
			order[i] = i;
		}
		if (rc == 0) {
			qsort_r(order, split->n, sizeof(*order), compare, split);
			divide(split, order, plan);
		}
	} else {
		rc = hlg_err_memory(err, "recordings");
	}
	free(order);
	return rc;
}

static int write_list(const char *path, const char *names, size_t size,
		      struct hlg_err *err)
{
	struct hlg_out out;
	int rc = hlg_out_open(&out, path, NULL, err);

	if (rc < 0)
		return rc;
	hlg_out_write(&out, names, size);
	return hlg_out_commit(&out, err);
}

/* Names one behind the other, sorted by their task; ends[k] is where those of task k end,
 * which begin where those of the task before do. */
static void sort_names(char *names, size_t *ends, const struct hlg_fleet_split *split,
		       size_t n_tasks)
{
	size_t at = 0;

	for (size_t i = 0; i < split->n; i++)
		ends[split->tasks[i]] += strlen(split->names[i]) + 1;
	for (size_t k = 0; k < n_tasks; k++) {
		size_t size = ends[k];

		ends[k] = at;
		at += size;
	}
	for (size_t i = 0; i < split->n; i++) {
		size_t *end = &ends[split->tasks[i]];

		*end = (size_t)(stpcpy(names + *end, split->names[i]) + 1 - names);
	}
}

int hlg_fleet_split_write(const struct hlg_fleet_split *split,
			  struct hlg_fleet_plan *plan, bool wanted, struct hlg_err *err)
{
	size_t *ends = calloc(plan->n_tasks + 1, sizeof(*ends)), begin = 0, all = 1;
	char path[PATH_MAX], *names;
	int rc = 0;

	for (size_t i = 0; i < split->n; i++)
		all += strlen(split->names[i]) + 1;
	names = malloc(all);
	if (!names || !ends) {
		free(names);
		free(ends);
		return hlg_err_memory(err, "recordings");
	}
	sort_names(names, ends, split, plan->n_tasks);
	for (size_t k = 0; rc == 0 && k < plan->n_tasks; k++) {
		size_t size = ends[k] - begin;

		hlg_sha256(plan->tasks[k].digest, names + begin, size);
		rc = hlg_fleet_plan_list(path, plan, k, err);
		if (rc == 0 && wanted)
			rc = write_list(path, names + begin, size, err);
		begin = ends[k];
	}
	free(names);
	free(ends);
	return rc;
}

void hlg_fleet_split_finish(struct hlg_fleet_split *split)
{
	free(split->bytes);
	free(split->tasks);
	*split = (struct hlg_fleet_split){0};
}
