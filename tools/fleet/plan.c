// SPDX-License-Identifier: GPL-2.0-only
#include "tools/fleet/plan.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "filter/options/number.h"
#include "filter/output/out.h"
#include "symtab/file.h"
#include "symtab/grow.h"
#include "tools/inputs/list.h"

#define FIRST "hlguest fleet plan 1"

static int fit(char path[static PATH_MAX], int n, struct hlg_err *err)
{
	if (n >= 0 && n < PATH_MAX)
		return 0;
	path[0] = '\0';
	return hlg_err_set(err, HLG_EINPUT, "fleet: its folder has too long a name");
}

int hlg_fleet_plan_path(char path[static PATH_MAX], const struct hlg_fleet_plan *plan,
			const char *name, struct hlg_err *err)
{
	return fit(path, snprintf(path, PATH_MAX, "%s/%s", plan->dir, name), err);
}

int hlg_fleet_plan_list(char path[static PATH_MAX], const struct hlg_fleet_plan *plan,
			size_t task, struct hlg_err *err)
{
	return fit(path, snprintf(path, PATH_MAX, "%s/list/%zu", plan->dir, task), err);
}

int hlg_fleet_plan_part(char path[static PATH_MAX], const struct hlg_fleet_plan *plan,
			size_t task, struct hlg_err *err)
{
	return fit(path, snprintf(path, PATH_MAX, "%s/part/%zu.pb.gz", plan->dir, task),
		   err);
}

/* Writing */

static void put(FILE *f, const char *key, const char *value)
{
	fprintf(f, "%s=%s%c", key, value, '\0');
}

static void put_number(FILE *f, const char *key, uint64_t value)
{
	fprintf(f, "%s=%" PRIu64 "%c", key, value, '\0');
}

static void put_task(FILE *f, const struct hlg_fleet_task *task)
{
	char digest[HLG_SHA256_TEXT];

	hlg_sha256_print(digest, task->digest);
	fprintf(f, "task=%s %" PRIu64 " %" PRIu64 "%c", digest, task->n, task->bytes,
		'\0');
}

static void write_words(FILE *f, const struct hlg_fleet_plan *plan)
{
	char digest[HLG_SHA256_TEXT];

	hlg_sha256_print(digest, plan->digest);
	fprintf(f, FIRST "%c", '\0');
	put(f, "cwd", plan->cwd);
	put(f, "out", plan->out);
	put(f, "list", plan->list);
	put(f, "digest", digest);
	put_number(f, "nul", plan->nul);
	put_number(f, "engine", plan->engine);
	put_number(f, "cpus", plan->cpus);
	put_number(f, "limit", plan->limit);
	put_number(f, "sends", plan->sends);
	if (plan->logins)
		put(f, "logins", plan->logins);
	for (size_t i = 0; i < plan->n_words; i++)
		put(f, "word", plan->words[i]);
	for (size_t i = 0; i < plan->n_tasks; i++)
		put_task(f, &plan->tasks[i]);
}

int hlg_fleet_plan_write(const struct hlg_fleet_plan *plan, struct hlg_err *err)
{
	char path[PATH_MAX];
	struct hlg_out out;
	int rc = hlg_fleet_plan_path(path, plan, "plan", err);

	if (rc < 0)
		return rc;
	rc = hlg_out_open_own(&out, path, err);
	if (rc < 0)
		return rc;
	write_words(out.f, plan);
	return hlg_out_commit(&out, err);
}

/* Reading */

bool hlg_fleet_plan_add_word(struct hlg_fleet_plan *plan, const char *word)
{
	char *copy = HLG_GROW(plan->words, plan->n_words) ? strdup(word) : NULL;

	if (copy)
		plan->words[plan->n_words++] = copy;
	return copy;
}

static bool keep(char **to, const char *value)
{
	free(*to);
	*to = strdup(value);
	return *to;
}

/* "DIGEST N BYTES" */
static bool read_task(struct hlg_fleet_plan *plan, char *value)
{
	struct hlg_fleet_task task = {0};
	char *n = strchr(value, ' '), *bytes = n ? strchr(n + 1, ' ') : NULL;

	if (!bytes || plan->n_tasks == HLG_FLEET_FILES)
		return false;
	*n++ = '\0';
	*bytes++ = '\0';
	if (!hlg_sha256_parse(task.digest, value) || !hlg_number_u64(n, &task.n) ||
	    !hlg_number_u64(bytes, &task.bytes) || !HLG_GROW(plan->tasks, plan->n_tasks))
		return false;
	plan->tasks[plan->n_tasks++] = task;
	return true;
}

static bool read_number(const char *value, uint64_t most, uint64_t *to)
{
	return hlg_number_u64(value, to) && *to <= most;
}

static bool read_word(struct hlg_fleet_plan *plan, const char *key, char *value)
{
	uint64_t n = 0;
	bool ok = true;

	if (strcmp(key, "task") == 0)
		return read_task(plan, value);
	if (strcmp(key, "word") == 0)
		return hlg_fleet_plan_add_word(plan, value);
	if (strcmp(key, "cwd") == 0)
		return value[0] == '/' && strlen(value) < sizeof(plan->cwd) &&
		       strcpy(plan->cwd, value);
	if (strcmp(key, "out") == 0)
		return keep(&plan->out, value);
	if (strcmp(key, "list") == 0)
		return keep(&plan->list, value);
	if (strcmp(key, "logins") == 0)
		return keep(&plan->logins, value);
	if (strcmp(key, "digest") == 0)
		return hlg_sha256_parse(plan->digest, value);
	if (strcmp(key, "cpus") == 0)
		return read_number(value, UINT32_MAX, &plan->cpus);
	if (strcmp(key, "limit") == 0)
		return read_number(value, UINT32_MAX, &plan->limit);
	if (strcmp(key, "sends") == 0)
		ok = read_number(value, 1, &n) && ((plan->sends = n), true);
	else if (strcmp(key, "nul") == 0)
		ok = read_number(value, 1, &n) && ((plan->nul = n), true);
	else if (strcmp(key, "engine") == 0)
		ok = read_number(value, HLG_FLEET_PARALLEL, &n) &&
		     ((plan->engine = (enum hlg_fleet_engine)n), true);
	else
		ok = false;
	return ok;
}

static int fail(const char *path, struct hlg_err *err)
{
	return hlg_err_set(err, HLG_EINPUT,
			   "%s: is no plan that this hlguest reads (submit the fleet "
			   "again, with another --dir)",
			   path);
}

static int read_words(struct hlg_fleet_plan *plan, const struct hlg_list *words,
		      const char *path, struct hlg_err *err)
{
	if (strcmp(words->names[0], FIRST) != 0)
		return fail(path, err);
	for (size_t i = 1; i < words->n; i++) {
		char *value = strchr(words->names[i], '=');

		if (!value)
			return fail(path, err);
		*value++ = '\0';
		if (!read_word(plan, words->names[i], value))
			return fail(path, err);
	}
	return plan->cwd[0] && plan->out && plan->list && plan->n_words &&
			       plan->n_tasks && plan->cpus
		       ? 0
		       : fail(path, err);
}

int hlg_fleet_plan_read(struct hlg_fleet_plan *plan, const char *dir, struct hlg_err *err)
{
	struct hlg_list words = {0};
	char path[PATH_MAX];
	int rc;

	*plan = (struct hlg_fleet_plan){0};
	if (!realpath(dir, plan->dir))
		return hlg_file_fail(dir, errno, err);
	rc = hlg_fleet_plan_path(path, plan, "plan", err);
	if (rc == 0 && access(path, F_OK) != 0)
		rc = hlg_err_set(err, HLG_EINPUT,
				 "%s: %s (is this the folder of a fleet? hlguest fleet "
				 "submit makes one)",
				 path, strerrordesc_np(errno));
	if (rc == 0)
		rc = hlg_list_read_own(&words, path, "submit the fleet yourself", err);
	if (rc == 0)
		rc = read_words(plan, &words, path, err);
	hlg_list_finish(&words);
	return rc;
}

void hlg_fleet_plan_finish(struct hlg_fleet_plan *plan)
{
	for (size_t i = 0; i < plan->n_words; i++)
		free(plan->words[i]);
	free(plan->words);
	free(plan->tasks);
	free(plan->out);
	free(plan->list);
	free(plan->logins);
	*plan = (struct hlg_fleet_plan){0};
}
