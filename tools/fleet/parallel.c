// SPDX-License-Identifier: GPL-2.0-only
#include "tools/fleet/parallel.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "filter/output/memstream.h"
#include "filter/output/out.h"
#include "symtab/shell.h"
#include "tools/cli/perf-find.h"
#include "tools/fleet/words.h"
#include "tools/fleet/work.h"
#include "tools/inputs/list.h"

/* parallel replaces {}, {1} and {= perl =} before a shell sees what is quoted. */
int hlg_fleet_parallel_check(const struct hlg_fleet_plan *plan, struct hlg_err *err)
{
	char *program = hlg_fleet_command_self();
	int rc = 0;

	if (!program)
		return hlg_err_memory(err, "fleet");
	if (strchr(program, '{') || strchr(plan->dir, '{'))
		rc = hlg_err_set(err, HLG_EINPUT,
				 "%s: parallel replaces { in names (use one without it)",
				 strchr(program, '{') ? program : plan->dir);
	free(program);
	for (size_t i = 0; rc == 0 && plan->sends && i < plan->n_words; i++)
		if (strchr(plan->words[i], '{'))
			rc = hlg_err_set(
				err, HLG_EINPUT,
				"%s: parallel replaces { in names (use one without it)",
				plan->words[i]);
	return rc;
}

/* A file that is sent: of an image its path. False without memory. */
static bool add_sent(struct hlg_fleet_command *c, const struct hlg_fleet_plan *plan)
{
	struct hlg_options options;
	struct hlg_err err;
	bool ok = hlg_fleet_words_images(&options, plan->words, plan->n_words, &err) == 0;

	for (size_t i = 0; ok && i < options.n_images; i++) {
		hlg_fleet_command_add(c, "--transferfile");
		hlg_fleet_command_add(c, "%s", options.images[i].path);
	}
	hlg_options_finish(&options);
	return ok;
}

/* What runs on a machine that shares nothing: in a new folder, with one recording, whose
 * name comes by standard input; of the words {1} is the task, {2} the recording, {3} the
 * digest of a list that names it. */
static char *line_of(const struct hlg_fleet_plan *plan, const char *program)
{
	struct hlg_memstream m;
	bool ok = true;
	FILE *f = hlg_memstream_open(&m);

	if (!f)
		return NULL;
	fprintf(f,
		"mkdir -p part && printf '%%s\\0' {2} | %s report -q --format=pprof -o "
		"part/{1}.pb.gz",
		program);
	for (size_t i = 0; ok && i < plan->n_words; i++) {
		char *word = hlg_shell_quote(plan->words[i]);

		ok = word;
		fprintf(f, " %s", word ? word : "");
		free(word);
	}
	fputs(" -0 --input-list=- --list-digest={3}; test -f part/{1}.pb.gz", f);
	m.lost |= !ok;
	return hlg_memstream_close(&m);
}

/* parallel takes tasks, their recordings and digests from files in the fleet's folder. */
static void make_transfer(struct hlg_fleet_command *c, const struct hlg_fleet_plan *plan,
			  const char *program)
{
	static const char *const names[] = {"tasks", "recordings", "digests"};
	char *line = line_of(plan, program);

	c->failed |= !line;
	hlg_fleet_command_add(c, "--workdir");
	hlg_fleet_command_add(c, "...");
	hlg_fleet_command_add(c, "--cleanup");
	/* Its own, and times: when a recording ended is when its file was written. */
	hlg_fleet_command_add(c, "--rsync-opts");
	hlg_fleet_command_add(c, "-rlDzRt");
	c->failed |= !add_sent(c, plan);
	hlg_fleet_command_add(c, "--transferfile");
	hlg_fleet_command_add(c, "{2}");
	hlg_fleet_command_add(c, "--return");
	hlg_fleet_command_add(c, "%s/./part/{1}.pb.gz", plan->dir);
	hlg_fleet_command_add(c, "--null");
	hlg_fleet_command_add(c, "%s", line ? line : "");
	for (size_t i = 0; i < 3; i++) {
		hlg_fleet_command_add(c, i ? "::::+" : "::::");
		hlg_fleet_command_add(c, "%s/list/%s", plan->dir, names[i]);
	}
	free(line);
}

/* Writes these files; of each task its only recording. */
static int write_transfer(const struct hlg_fleet_plan *plan, const size_t *tasks,
			  size_t n, struct hlg_err *err)
{
	static const char *const names[] = {"list/tasks", "list/recordings",
					    "list/digests"};
	struct hlg_out out[3];
	int rc = 0, opened = 0;

	for (; rc == 0 && opened < 3; opened += rc == 0) {
		char path[PATH_MAX];

		rc = hlg_fleet_plan_path(path, plan, names[opened], err);
		if (rc == 0)
			rc = hlg_out_open(&out[opened], path, NULL, err);
	}
	for (size_t i = 0; rc == 0 && i < n; i++) {
		char path[PATH_MAX], digest[HLG_SHA256_TEXT];
		struct hlg_list list = {0};

		rc = hlg_fleet_plan_list(path, plan, tasks[i], err);
		if (rc == 0)
			rc = hlg_list_read(&list, path, true, err);
		hlg_sha256_print(digest, plan->tasks[tasks[i]].digest);
		if (rc == 0) {
			fprintf(out[0].f, "%zu%c", tasks[i], '\0');
			fprintf(out[1].f, "%s%c", list.names[0], '\0');
			fprintf(out[2].f, "%s%c", digest, '\0');
		}
		hlg_list_finish(&list);
	}
	for (int i = 0; i < opened; i++) {
		if (rc == 0)
			rc = hlg_out_commit(&out[i], err);
		else
			hlg_out_abort(&out[i]);
	}
	return rc;
}

void hlg_fleet_parallel_make(struct hlg_fleet_command *c,
			     const struct hlg_fleet_plan *plan, const char *parallel,
			     const size_t *tasks, size_t n)
{
	char *program = hlg_fleet_command_self(), *dir = hlg_shell_quote(plan->dir);

	c->failed |= !program || !dir;
	hlg_fleet_command_add(c, "%s", parallel);
	hlg_fleet_command_add(c, "--will-cite");
	hlg_fleet_command_add(c, "--joblog");
	hlg_fleet_command_add(c, "%s/log/joblog", plan->dir);
	if (plan->limit) {
		hlg_fleet_command_add(c, "--jobs");
		hlg_fleet_command_add(c, "%" PRIu64, plan->limit);
	}
	if (plan->logins) {
		hlg_fleet_command_add(c, "--sshloginfile");
		hlg_fleet_command_add(c, "%s", plan->logins);
	}
	if (plan->sends)
		make_transfer(c, plan, program ? program : "");
	else
		hlg_fleet_command_add(c, "%s fleet map %s {}", program, dir);
	if (!plan->sends)
		hlg_fleet_command_add(c, ":::");
	for (size_t i = 0; !plan->sends && i < n; i++)
		hlg_fleet_command_add(c, "%zu", tasks[i]);
	free(program);
	free(dir);
}

/* Runs a command that has the terminal; its exit status, or an error. */
static int run(char *const *words, struct hlg_err *err)
{
	pid_t pid;

	fflush(NULL);
	pid = fork();
	if (pid == 0) {
		execv(words[0], words);
		_exit(127);
	}
	if (pid < 0)
		return hlg_err_set(err, HLG_ESYSTEM,
				   "parallel: cannot be started: %s (try again)",
				   strerrordesc_np(errno));
	return hlg_fleet_command_wait(pid);
}

int hlg_fleet_parallel_submit(const struct hlg_fleet_plan *plan, const size_t *tasks,
			      size_t n, int *status, struct hlg_err *err)
{
	char program[PATH_MAX], dir[2 * PATH_MAX];
	struct hlg_fleet_command c = {0};
	int rc = hlg_fleet_parallel_check(plan, err); /* a link has been resolved */

	if (rc < 0)
		return rc;
	if (!hlg_perf_find_program(program, "parallel"))
		return hlg_err_set(
			err, HLG_EINPUT,
			"parallel: not found in PATH (install GNU parallel, or "
			"use another --engine)");
	if (plan->sends && n)
		rc = write_transfer(plan, tasks, n, err);
	if (rc < 0)
		return rc;
	hlg_fleet_parallel_make(&c, plan, program, tasks, n);
	rc = c.failed ? hlg_err_memory(err, "parallel") : n ? run(c.words, err) : 0;
	hlg_fleet_command_finish(&c);
	if (rc < 0)
		return rc;
	if (rc)
		return hlg_err_set(
			err, HLG_EINPUT,
			"parallel: not all tasks have run (%s/log/joblog says "
			"which; hlguest fleet submit --resume %s runs the rest)",
			plan->dir, hlg_shell_put(dir, sizeof(dir), plan->dir));
	*status = hlg_fleet_work_reduce(plan);
	return 0;
}
