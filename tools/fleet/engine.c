// SPDX-License-Identifier: GPL-2.0-only
#include "tools/fleet/engine.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "filter/output/out.h"
#include "symtab/escape.h"
#include "symtab/grow.h"
#include "tools/cli/child.h"
#include "tools/cli/output.h"
#include "tools/cli/perf-find.h"
#include "tools/fleet/words.h"
#include "tools/fleet/work.h"
#include "tools/inputs/list.h"

enum {
	PATIENCE = 120000 /* ms: a busy slurmctld takes its time */
};

/* A command: ends with NULL, as execv has it. Sticky: failed without memory. */
struct command {
	char **words;
	size_t n;
	bool failed;
};

__attribute__((format(printf, 2, 3))) static void add(struct command *c, const char *fmt,
						      ...)
{
	va_list ap;
	char *word = NULL;

	va_start(ap, fmt);
	if (c->failed || vasprintf(&word, fmt, ap) < 0 || !HLG_GROW(c->words, c->n + 1)) {
		c->failed = true;
		va_end(ap);
		return;
	}
	va_end(ap);
	c->words[c->n++] = word;
	c->words[c->n] = NULL;
}

static void finish(struct command *c)
{
	for (size_t i = 0; i < c->n; i++)
		free(c->words[i]);
	free(c->words);
	*c = (struct command){0};
}

/* A word as a shell takes it, to be freed; NULL without memory. */
static char *quote(const char *word)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789_@%+=:,./-";
	char *quoted = malloc(4 * strlen(word) + 3), *to = quoted;

	if (!quoted)
		return NULL;
	if (word[0] && strspn(word, plain) == strlen(word))
		return strcpy(quoted, word);
	*to++ = '\'';
	for (; *word; word++) {
		if (*word == '\'')
			to = stpcpy(to, "'\\''");
		else
			*to++ = *word;
	}
	strcpy(to, "'");
	return quoted;
}

/* This program, by its path: quoted for a shell, to be freed. */
static char *self(void)
{
	char path[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);

	if (n <= 0)
		return NULL;
	path[n] = '\0';
	return quote(path);
}

/* "0-9,11": of sorted tasks; to be freed. */
static char *ranges(const size_t *tasks, size_t n)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	for (size_t i = 0, end; f && i < n; i = end) {
		for (end = i + 1; end < n && tasks[end] == tasks[end - 1] + 1; end++)
			;
		fprintf(f, "%s%zu", i ? "," : "", tasks[i]);
		if (end - i > 1)
			fprintf(f, "-%zu", tasks[end - 1]);
	}
	if (f && fclose(f) == 0)
		return text;
	free(text);
	return NULL;
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
static void begin_sbatch(struct command *c, const struct hlg_fleet_plan *plan,
			 const char *sbatch, const char *what, const char *log)
{
	char *output;

	add(c, "%s", sbatch);
	add(c, "--parsable");
	add(c, "--job-name=hlguest-%s", what);
	add(c, "--cpus-per-task=%" PRIu64, plan->cpus);
	add(c, "--chdir=%s", plan->cwd);
	output = double_percents(plan->dir);
	c->failed |= !output;
	add(c, "--output=%s/log/%s", output ? output : "", log);
	free(output);
}

static void make_map(struct command *c, const struct hlg_fleet_plan *plan,
		     const char *sbatch, const size_t *tasks, size_t n)
{
	char *program = self(), *dir = quote(plan->dir), *array = ranges(tasks, n);

	c->failed |= !program || !dir || !array;
	begin_sbatch(c, plan, sbatch, "map", "%a.txt");
	if (plan->limit)
		add(c, "--array=%s%%%" PRIu64, array, plan->limit);
	else
		add(c, "--array=%s", array);
	add(c, "--wrap=exec %s fleet map %s \"$SLURM_ARRAY_TASK_ID\"", program, dir);
	free(program);
	free(dir);
	free(array);
}

/* after: the job whose tasks it waits for, or NULL. */
static void make_reduce(struct command *c, const struct hlg_fleet_plan *plan,
			const char *sbatch, const char *after)
{
	char *program = self(), *dir = quote(plan->dir);

	c->failed |= !program || !dir;
	begin_sbatch(c, plan, sbatch, "reduce", "reduce.txt");
	if (after) {
		add(c, "--dependency=afterok:%s", after);
		add(c, "--kill-on-invalid-dep=yes");
	}
	add(c, "--wrap=exec %s fleet reduce %s", program, dir);
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

/* "123", of "123;cluster" and whatever sbatch says besides; false if there is none. */
static bool find_id(char id[static 32], const char *said)
{
	for (; *said; said += strcspn(said, "\n"), said += *said == '\n') {
		size_t n = strspn(said, "0123456789");

		if (n && n < 31 && (said[n] == '\n' || said[n] == ';' || !said[n])) {
			snprintf(id, 32, "%.*s", (int)n, said);
			return true;
		}
	}
	return false;
}

/* Runs sbatch; id becomes the job's. */
static int sbatch(struct command *c, const struct hlg_fleet_plan *plan, const char *what,
		  char id[static 32], struct hlg_err *err)
{
	struct hlg_child child;
	char path[PATH_MAX];
	FILE *f;
	int rc;

	if (c->failed)
		return hlg_err_memory(err, "sbatch");
	hlg_child_run(&child, c->words, PATIENCE);
	if (child.end != HLG_CHILD_EXITED || child.status != 0 ||
	    !find_id(id, child.text))
		return fail_child(c->words[0], &child, err);
	rc = hlg_fleet_plan_path(path, plan, "jobs", err);
	if (rc < 0)
		return rc;
	/* For who asks later; the jobs are there without it. */
	f = fopen(path, "ae");
	if (f) {
		fprintf(f, "%s %s\n", what, id);
		fclose(f);
	}
	return 0;
}

static int submit_slurm(const struct hlg_fleet_plan *plan, const size_t *tasks, size_t n,
			struct hlg_err *err)
{
	char program[PATH_MAX], map[32] = "", reduce[32];
	struct command c = {0};
	int rc = 0;

	if (!hlg_perf_find_program(program, "sbatch"))
		return hlg_err_set(err, HLG_EINPUT,
				   "sbatch: not found in PATH (install slurm-client, or "
				   "use another --engine)");
	if (n) {
		make_map(&c, plan, program, tasks, n);
		rc = sbatch(&c, plan, "map", map, err);
		finish(&c);
	}
	if (rc < 0)
		return rc;
	make_reduce(&c, plan, program, n ? map : NULL);
	rc = sbatch(&c, plan, "reduce", reduce, err);
	finish(&c);
	if (rc < 0 && n)
		fprintf(stderr,
			"hlguest: note: job %s runs the tasks, and no job sums them "
			"(when it "
			"has ended: hlguest fleet submit --resume %s)\n",
			map, plan->dir);
	if (rc == 0 && n)
		printf("job %s runs %zu tasks, job %s sums them (hlguest fleet status "
		       "%s)\n",
		       map, n, reduce, plan->dir);
	else if (rc == 0)
		printf("job %s sums the parts (hlguest fleet status %s)\n", reduce,
		       plan->dir);
	return rc;
}

/* GNU parallel */

/* parallel replaces {}, {1} and {= perl =} before a shell sees what is quoted. */
int hlg_fleet_engine_check(const struct hlg_fleet_plan *plan, struct hlg_err *err)
{
	char *program;
	int rc = 0;

	if (plan->engine != HLG_FLEET_PARALLEL)
		return 0;
	program = self();
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
static bool add_sent(struct command *c, const struct hlg_fleet_plan *plan)
{
	struct hlg_options options;
	struct hlg_err err;
	bool ok = hlg_fleet_words_images(&options, plan->words, plan->n_words, &err) == 0;

	for (size_t i = 0; ok && i < options.n_images; i++) {
		add(c, "--transferfile");
		add(c, "%s", options.images[i].path);
	}
	hlg_options_finish(&options);
	return ok;
}

/* What runs on a machine that shares nothing: in a new folder, with one recording, whose
 * name comes by standard input; of the words {1} is the task, {2} the recording, {3} the
 * digest of a list that names it. */
static char *line_of(const struct hlg_fleet_plan *plan, const char *program)
{
	char *line = NULL;
	size_t size;
	bool ok = true;
	FILE *f = open_memstream(&line, &size);

	if (!f)
		return NULL;
	fprintf(f,
		"mkdir -p part && printf '%%s\\0' {2} | %s report -q --format=pprof -o "
		"part/{1}.pb.gz",
		program);
	for (size_t i = 0; ok && i < plan->n_words; i++) {
		char *word = quote(plan->words[i]);

		ok = word;
		fprintf(f, " %s", word ? word : "");
		free(word);
	}
	fputs(" -0 --input-list=- --list-digest={3}; test -f part/{1}.pb.gz", f);
	if (fclose(f) == 0 && ok)
		return line;
	free(line);
	return NULL;
}

/* parallel takes tasks, their recordings and digests from files in the fleet's folder. */
static void make_transfer(struct command *c, const struct hlg_fleet_plan *plan,
			  const char *program)
{
	static const char *const names[] = {"tasks", "recordings", "digests"};
	char *line = line_of(plan, program);

	c->failed |= !line;
	add(c, "--workdir");
	add(c, "...");
	add(c, "--cleanup");
	/* Its own, and times: when a recording ended is when its file was written. */
	add(c, "--rsync-opts");
	add(c, "-rlDzRt");
	c->failed |= !add_sent(c, plan);
	add(c, "--transferfile");
	add(c, "{2}");
	add(c, "--return");
	add(c, "%s/./part/{1}.pb.gz", plan->dir);
	add(c, "--null");
	add(c, "%s", line ? line : "");
	for (size_t i = 0; i < 3; i++) {
		add(c, i ? "::::+" : "::::");
		add(c, "%s/list/%s", plan->dir, names[i]);
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

static void make_parallel(struct command *c, const struct hlg_fleet_plan *plan,
			  const char *parallel, const size_t *tasks, size_t n)
{
	char *program = self(), *dir = quote(plan->dir);

	c->failed |= !program || !dir;
	add(c, "%s", parallel);
	add(c, "--will-cite");
	add(c, "--joblog");
	add(c, "%s/log/joblog", plan->dir);
	if (plan->limit) {
		add(c, "--jobs");
		add(c, "%" PRIu64, plan->limit);
	}
	if (plan->logins) {
		add(c, "--sshloginfile");
		add(c, "%s", plan->logins);
	}
	if (plan->sends)
		make_transfer(c, plan, program ? program : "");
	else
		add(c, "%s fleet map %s {}", program, dir);
	if (!plan->sends)
		add(c, ":::");
	for (size_t i = 0; !plan->sends && i < n; i++)
		add(c, "%zu", tasks[i]);
	free(program);
	free(dir);
}

/* Runs a command that has the terminal; its exit status. */
static int run(char *const *words)
{
	int status;
	pid_t pid;

	fflush(NULL);
	pid = fork();
	if (pid == 0) {
		execv(words[0], words);
		_exit(127);
	}
	while (pid < 0 || waitpid(pid, &status, 0) < 0)
		if (pid < 0 || errno != EINTR)
			return 1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static int submit_parallel(const struct hlg_fleet_plan *plan, const size_t *tasks,
			   size_t n, int *status, struct hlg_err *err)
{
	char program[PATH_MAX];
	struct command c = {0};
	int rc = hlg_fleet_engine_check(plan, err); /* a link has been resolved */

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
	make_parallel(&c, plan, program, tasks, n);
	*status = c.failed ? 1 : n ? run(c.words) : 0;
	finish(&c);
	if (*status)
		return hlg_err_set(
			err, HLG_EINPUT,
			"parallel: not all tasks have run (%s/log/joblog says "
			"which; hlguest fleet submit --resume %s runs the rest)",
			plan->dir, plan->dir);
	*status = hlg_fleet_work_reduce(plan);
	return 0;
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
		rc = submit_parallel(plan, tasks, n, &status, &err);
		break;
	}
	return rc < 0 ? hlg_output_error(&err) : status;
}

/* What would be done */

static void print(struct command *c, const char *begin, const char *end)
{
	fputs(begin, stdout);
	for (size_t i = 0; i < c->n; i++) {
		char *word = quote(c->words[i]);

		c->failed |= !word;
		if (i)
			putchar(' ');
		if (word)
			hlg_escape_print(stdout, word);
		free(word);
	}
	fputs(end, stdout);
}

static void print_slurm(const struct hlg_fleet_plan *plan, const size_t *tasks, size_t n,
			struct command *c)
{
	struct command reduce = {0};

	if (n) {
		make_map(c, plan, "sbatch", tasks, n);
		print(c, "", "\n");
	}
	make_reduce(&reduce, plan, "sbatch", n ? "JOB" : NULL);
	print(&reduce, "", n ? " # JOB: the first one's\n" : "\n");
	c->failed |= reduce.failed;
	finish(&reduce);
}

/* The words of report, as a task has them. */
static bool print_task(const struct hlg_fleet_plan *plan, size_t task)
{
	char **words = hlg_fleet_work_words(plan, task);
	struct command c = {.words = words, .failed = !words};

	while (words && words[c.n])
		c.n++;
	printf("# task %zu, %" PRIu64 " recordings, %" PRIu64 " bytes:\n# ", task,
	       plan->tasks[task].n, plan->tasks[task].bytes);
	print(&c, "", "\n");
	hlg_fleet_work_free(words);
	return !c.failed;
}

int hlg_fleet_engine_print(const struct hlg_fleet_plan *plan, const size_t *tasks,
			   size_t n, struct hlg_err *err)
{
	struct command c = {0};

	if (plan->engine == HLG_FLEET_SLURM)
		print_slurm(plan, tasks, n, &c);
	if (plan->engine == HLG_FLEET_PARALLEL) {
		make_parallel(&c, plan, "parallel", tasks, n);
		print(&c, "", "\n");
	}
	for (size_t i = 0; i < n && (i == 0 || plan->engine == HLG_FLEET_LOCAL); i++)
		c.failed |= !print_task(plan, tasks[i]);
	if (c.failed)
		hlg_err_memory(err, "commands");
	finish(&c);
	return c.failed ? HLG_ESYSTEM : 0;
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
