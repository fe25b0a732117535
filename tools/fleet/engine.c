// SPDX-License-Identifier: GPL-2.0-only
#include "tools/fleet/engine.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "filter/output/memstream.h"
#include "symtab/escape.h"
#include "tools/cli/child.h"
#include "tools/cli/output.h"
#include "tools/cli/perf-find.h"
#include "symtab/shell.h"
#include "tools/fleet/command.h"
#include "tools/fleet/parallel.h"
#include "tools/fleet/work.h"

enum {
	PATIENCE = 120000 /* ms: a busy slurmctld takes its time */
};

/* "0-9,11": of sorted tasks; to be freed. */
static char *ranges(const size_t *tasks, size_t n)
{
	struct hlg_memstream m;
	FILE *f = hlg_memstream_open(&m);

	for (size_t i = 0, end; f && i < n; i = end) {
		for (end = i + 1; end < n && tasks[end] == tasks[end - 1] + 1; end++)
			;
		fprintf(f, "%s%zu", i ? "," : "", tasks[i]);
		if (end - i > 1)
			fprintf(f, "-%zu", tasks[end - 1]);
	}
	return hlg_memstream_close(&m);
}

/* Slurm */

/* A name as --output has it, where %j and the like stand for something (sbatch(1),
 * "filename pattern"); to be freed. */
static char *double_percents(const char *name)
{
	char *doubled = malloc(2 * strlen(name) + 1), *to = doubled;

	if (!doubled)
		return NULL;
	do {
		if (*name == '%')
			*to++ = '%';
		*to++ = *name;
	} while (*name++);
	return doubled;
}

/* What both jobs have: a script of one line. */
static void begin_sbatch(struct hlg_fleet_command *c, const struct hlg_fleet_plan *plan,
			 const char *sbatch, const char *what, const char *log)
{
	char *output;

	hlg_fleet_command_add(c, "%s", sbatch);
	hlg_fleet_command_add(c, "--parsable");
	hlg_fleet_command_add(c, "--job-name=hlguest-%s", what);
	hlg_fleet_command_add(c, "--cpus-per-task=%" PRIu64, plan->cpus);
	hlg_fleet_command_add(c, "--chdir=%s", plan->cwd);
	output = double_percents(plan->dir);
	c->failed |= !output;
	hlg_fleet_command_add(c, "--output=%s/log/%s", output ? output : "", log);
	free(output);
}

static void make_map(struct hlg_fleet_command *c, const struct hlg_fleet_plan *plan,
		     const char *sbatch, const size_t *tasks, size_t n)
{
	char *program = hlg_fleet_command_self(), *dir = hlg_shell_quote(plan->dir),
	     *array = ranges(tasks, n);

	c->failed |= !program || !dir || !array;
	begin_sbatch(c, plan, sbatch, "map", "%a.txt");
	if (plan->limit)
		hlg_fleet_command_add(c, "--array=%s%%%" PRIu64, array, plan->limit);
	else
		hlg_fleet_command_add(c, "--array=%s", array);
	hlg_fleet_command_add(c, "--wrap=exec %s fleet map %s \"$SLURM_ARRAY_TASK_ID\"",
			      program, dir);
	free(program);
	free(dir);
	free(array);
}

/* after: the job whose tasks it waits for, or NULL. */
static void make_reduce(struct hlg_fleet_command *c, const struct hlg_fleet_plan *plan,
			const char *sbatch, const char *after)
{
	char *program = hlg_fleet_command_self(), *dir = hlg_shell_quote(plan->dir);

	c->failed |= !program || !dir;
	begin_sbatch(c, plan, sbatch, "reduce", "reduce.txt");
	if (after) {
		hlg_fleet_command_add(c, "--dependency=afterok:%s", after);
		hlg_fleet_command_add(c, "--kill-on-invalid-dep=yes");
	}
	hlg_fleet_command_add(c, "--wrap=exec %s fleet reduce %s", program, dir);
	free(program);
	free(dir);
}

static int fail_child(const char *program, const struct hlg_child *child,
		      struct hlg_err *err)
{
	if (child->end == HLG_CHILD_TIMEOUT)
		return hlg_err_set(err, HLG_ESYSTEM,
				   "%s: does not answer (is slurmctld up?)", program);
	if (child->end == HLG_CHILD_FAILED)
		return hlg_err_set(err, HLG_ESYSTEM, "%s: cannot be run: %s", program,
				   strerrordesc_np(child->status));
	if (child->end == HLG_CHILD_EXITED && child->status == 0)
		return hlg_err_set(err, HLG_ESYSTEM,
				   "%s: names no job that it may have submitted (ask "
				   "squeue): %.*s",
				   program, (int)strcspn(child->text, "\n"), child->text);
	return hlg_err_set(err, HLG_ESYSTEM, "%s: refuses: %.*s", program,
			   (int)strcspn(child->text, "\n"), child->text);
}

/* "123", of "123;cluster" and whatever sbatch says besides, mostly before it: the last
 * such line. False if there is none. */
static bool find_id(char id[static 32], const struct hlg_child *child)
{
	const char *said = child->last;
	bool found = false;

	if (strlen(said) == sizeof(child->last) - 1)
		said += strcspn(said, "\n"); /* the rest of a line */
	while (*said) {
		size_t n = strspn(said, "0123456789");

		if (n && n < 31 && (said[n] == '\n' || said[n] == ';' || !said[n])) {
			snprintf(id, 32, "%.*s", (int)n, said);
			found = true;
		}
		said += strcspn(said, "\n");
		said += *said == '\n';
	}
	return found;
}

/* Runs sbatch; id becomes the job's. Where it fails, *refused: no job is there. */
static int sbatch(struct hlg_fleet_command *c, const struct hlg_fleet_plan *plan,
		  const char *what, char id[static 32], bool *refused,
		  struct hlg_err *err)
{
	struct hlg_child child;
	char path[PATH_MAX];
	FILE *f;

	*refused = c->failed;
	if (c->failed)
		return hlg_err_memory(err, "sbatch");
	hlg_child_run(&child, c->words, PATIENCE);
	*refused = child.end == HLG_CHILD_FAILED ||
		   (child.end == HLG_CHILD_EXITED && child.status != 0);
	if (child.end != HLG_CHILD_EXITED || child.status != 0 || !find_id(id, &child))
		return fail_child(c->words[0], &child, err);
	/* For who asks later; the jobs are there without it. */
	f = hlg_fleet_plan_path(path, plan, "jobs", err) == 0 ? fopen(path, "ae") : NULL;
	if (f) {
		fprintf(f, "%s %s\n", what, id);
		fclose(f);
	}
	return 0;
}

static int submit_slurm(const struct hlg_fleet_plan *plan, const size_t *tasks, size_t n,
			struct hlg_err *err)
{
	char program[PATH_MAX], dir[4 * PATH_MAX], map[32] = "", reduce[32];
	struct hlg_fleet_command c = {0};
	bool refused;
	int rc = 0;

	if (!hlg_perf_find_program(program, "sbatch"))
		return hlg_err_set(err, HLG_EINPUT,
				   "sbatch: not found in PATH (install slurm-client, or "
				   "use another --engine)");
	if (n) {
		make_map(&c, plan, program, tasks, n);
		rc = sbatch(&c, plan, "map", map, &refused, err);
		hlg_fleet_command_finish(&c);
	}
	hlg_shell_put(dir, sizeof(dir), plan->dir);
	if (rc < 0) {
		fprintf(stderr,
			"hlguest: note: %s (%shlguest fleet submit --resume %s%s)\n",
			refused ? "nothing has been submitted"
				: "the tasks may have been submitted",
			refused ? "" : "ask squeue before ", dir,
			refused ? " tries again, also by another --engine" : "");
		return rc;
	}
	make_reduce(&c, plan, program, n ? map : NULL);
	rc = sbatch(&c, plan, "reduce", reduce, &refused, err);
	hlg_fleet_command_finish(&c);
	if (rc < 0 && n)
		fprintf(stderr,
			"hlguest: note: job %s runs the tasks, and no job sums them "
			"(when it "
			"has ended: hlguest fleet submit --resume %s)\n",
			map, dir);
	if (rc == 0 && n)
		printf("job %s runs %zu task%s, job %s sums them (hlguest fleet "
		       "status %s)\n",
		       map, n, n == 1 ? "" : "s", reduce, dir);
	else if (rc == 0)
		printf("job %s sums the parts (hlguest fleet status %s)\n", reduce, dir);
	return rc;
}

/* Any */

int hlg_fleet_engine_check(const struct hlg_fleet_plan *plan, struct hlg_err *err)
{
	return plan->engine == HLG_FLEET_PARALLEL ? hlg_fleet_parallel_check(plan, err)
						  : 0;
}

int hlg_fleet_engine_submit(const struct hlg_fleet_plan *plan, const size_t *tasks,
			    size_t n)
{
	struct hlg_err err;
	int rc = 0, status = 0;

	switch (plan->engine) {
	case HLG_FLEET_LOCAL:
		return hlg_fleet_work_local(plan, tasks, n);
	case HLG_FLEET_SLURM:
		rc = submit_slurm(plan, tasks, n, &err);
		break;
	case HLG_FLEET_PARALLEL:
		rc = hlg_fleet_parallel_submit(plan, tasks, n, &status, &err);
		break;
	}
	return rc < 0 ? hlg_output_error(&err) : status;
}

/* What would be done */

static void print_slurm(const struct hlg_fleet_plan *plan, const size_t *tasks, size_t n,
			struct hlg_fleet_command *c)
{
	struct hlg_fleet_command reduce = {0};

	if (n) {
		make_map(c, plan, "sbatch", tasks, n);
		hlg_fleet_command_print(c, "", "\n");
	}
	make_reduce(&reduce, plan, "sbatch", n ? "JOB" : NULL);
	hlg_fleet_command_print(&reduce, "", n ? " # JOB: the first one's\n" : "\n");
	c->failed |= reduce.failed;
	hlg_fleet_command_finish(&reduce);
}

/* The words of report, as a task has them. */
static bool print_task(const struct hlg_fleet_plan *plan, size_t task)
{
	struct hlg_fleet_command c;
	bool ok;

	hlg_fleet_work_words(&c, plan, task);
	printf("# task %zu, %" PRIu64 " recording%s, %" PRIu64 " bytes:\n# ", task,
	       plan->tasks[task].n, plan->tasks[task].n == 1 ? "" : "s",
	       plan->tasks[task].bytes);
	hlg_fleet_command_print(&c, "", "\n");
	ok = !c.failed;
	hlg_fleet_command_finish(&c);
	return ok;
}

static bool print_sum(const struct hlg_fleet_plan *plan)
{
	struct hlg_fleet_command c = {0};
	bool ok;

	hlg_fleet_command_add(&c, "hlguest");
	hlg_fleet_command_add(&c, "fleet");
	hlg_fleet_command_add(&c, "reduce");
	hlg_fleet_command_add(&c, "%s", plan->dir);
	hlg_fleet_command_print(&c, "# the sum:\n# ", "\n");
	ok = !c.failed;
	hlg_fleet_command_finish(&c);
	return ok;
}

int hlg_fleet_engine_print(const struct hlg_fleet_plan *plan, const size_t *tasks,
			   size_t n, struct hlg_err *err)
{
	struct hlg_fleet_command c = {0};
	bool failed;

	if (plan->engine == HLG_FLEET_SLURM)
		print_slurm(plan, tasks, n, &c);
	if (plan->engine == HLG_FLEET_PARALLEL && n) {
		hlg_fleet_parallel_make(&c, plan, "parallel", tasks, n);
		hlg_fleet_command_print(&c, "", "\n");
	}
	for (size_t i = 0; i < n && (i == 0 || plan->engine == HLG_FLEET_LOCAL); i++)
		c.failed |= !print_task(plan, tasks[i]);
	if (plan->engine != HLG_FLEET_SLURM) /* whose job it is */
		c.failed |= !print_sum(plan);
	failed = c.failed;
	hlg_fleet_command_finish(&c);
	return failed ? hlg_err_memory(err, "commands") : 0;
}

/* What is */

/* "12,13": all that were submitted; "" if none is known. */
static void read_jobs(const struct hlg_fleet_plan *plan, char *ids, size_t size)
{
	char path[PATH_MAX], line[64];
	struct hlg_err err;
	size_t n = 0;
	FILE *f;

	ids[0] = '\0';
	if (hlg_fleet_plan_path(path, plan, "jobs", &err) < 0)
		return;
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f)) {
		char *id = strchr(line, ' ');
		size_t len = id ? strspn(id + 1, "0123456789") : 0;

		if (len && n + len + 2 < size)
			n += (size_t)snprintf(ids + n, size - n, "%s%.*s", n ? "," : "",
					      (int)len, id + 1);
	}
	if (f)
		fclose(f);
}

/* A line each; of a text that is cut off, those that are whole. */
static void print_jobs(char *text, bool cut)
{
	for (char *rest = text, *line; (line = strsep(&rest, "\n"));) {
		if (!line[0] || (cut && !rest))
			continue;
		fputs("          ", stdout);
		hlg_escape_print(stdout, line);
		putchar('\n');
	}
	if (cut)
		puts("          (more: squeue lists all)");
}

void hlg_fleet_engine_status(const struct hlg_fleet_plan *plan)
{
	char program[PATH_MAX], ids[1024], jobs[1040];
	char *words[] = {program, (char *)"--noheader", (char *)"--format=%i %T %R", jobs,
			 NULL};
	struct hlg_child child;
	struct hlg_err err;

	read_jobs(plan, ids, sizeof(ids));
	if (plan->engine != HLG_FLEET_SLURM || !ids[0])
		return;
	printf("jobs      %s", ids);
	snprintf(jobs, sizeof(jobs), "--jobs=%s", ids);
	if (!hlg_perf_find_program(program, "squeue")) {
		puts(" (squeue is not there to ask)");
		return;
	}
	hlg_child_run(&child, words, PATIENCE);
	if (child.end == HLG_CHILD_EXITED && child.status == 0 && child.text[0]) {
		putchar('\n');
		print_jobs(child.text, strlen(child.text) == sizeof(child.text) - 1);
		return;
	}
	/* What has ended is forgotten soon, and then all is refused. */
	if (child.end == HLG_CHILD_EXITED &&
	    (child.status == 0 || strstr(child.text, "Invalid job id"))) {
		puts(": none is queued or runs");
		return;
	}
	fail_child("squeue", &child, &err);
	fputs(": ", stdout);
	hlg_escape_print(stdout, err.msg);
	putchar('\n');
}
