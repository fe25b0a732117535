// SPDX-License-Identifier: GPL-2.0-only
#include "tools/fleet/work.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "filter/output/out.h"
#include "symtab/escape.h"
#include "symtab/file.h"
#include "symtab/shell.h"
#include "tools/cli/cpus.h"
#include "tools/cli/output.h"
#include "tools/fleet/words.h"

bool hlg_fleet_work_is_whole(const struct hlg_fleet_plan *plan, size_t task,
			     struct hlg_pprof_of *of, struct hlg_err *err)
{
	char path[PATH_MAX];

	if (hlg_fleet_plan_part(path, plan, task, err) < 0 ||
	    hlg_pprof_look(path, of, err) < 0)
		return false;
	if (of->listed &&
	    memcmp(of->list, plan->tasks[task].digest, sizeof(of->list)) == 0)
		return true;
	hlg_err_set(err, HLG_EINPUT, "%s: is of another list than that of its task",
		    path);
	return false;
}

/* Words */

static void begin(struct hlg_fleet_command *c, const struct hlg_fleet_plan *plan,
		  const char *out, bool of_parts)
{
	hlg_fleet_command_add(c, "hlguest");
	hlg_fleet_command_add(c, "report");
	hlg_fleet_command_add(c, "-q");
	hlg_fleet_command_add(c, "-j%" PRIu64, plan->cpus);
	hlg_fleet_command_add(c, "--format=pprof");
	hlg_fleet_command_add(c, "--output=%s", out);
	/* The parts have only samples that are selected. */
	for (size_t i = 0; i < plan->n_words; i++)
		if (!of_parts || !hlg_fleet_words_select(plan->words[i]))
			hlg_fleet_command_add(c, "%s", plan->words[i]);
}

void hlg_fleet_work_words(struct hlg_fleet_command *c, const struct hlg_fleet_plan *plan,
			  size_t task)
{
	char list[PATH_MAX], part[PATH_MAX], digest[HLG_SHA256_TEXT];
	struct hlg_err err;

	*c = (struct hlg_fleet_command){0};
	if (hlg_fleet_plan_list(list, plan, task, &err) < 0 ||
	    hlg_fleet_plan_part(part, plan, task, &err) < 0) {
		c->failed = true;
		return;
	}
	hlg_sha256_print(digest, plan->tasks[task].digest);
	begin(c, plan, part, false);
	hlg_fleet_command_add(c, "-0");
	hlg_fleet_command_add(c, "--input-list=%s", list);
	hlg_fleet_command_add(c, "--list-digest=%s", digest);
}

/* Running */

/* Of a child: it ends with its parent. */
static void tie(pid_t parent)
{
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != parent)
		_exit(1);
}

/* Runs hlguest, finishes the command, and returns its exit status; 1 if it could not be
 * run. */
static int run(struct hlg_fleet_command *c)
{
	pid_t parent = getpid(), pid = -1;
	struct hlg_err err;

	fflush(NULL);
	errno = ENOMEM;
	if (!c->failed)
		pid = fork();
	if (pid == 0) {
		tie(parent);
		execv("/proc/self/exe", c->words);
		_exit(127);
	}
	if (pid < 0)
		hlg_err_set(&err, HLG_ESYSTEM, "fleet: hlguest report cannot be run: %s",
			    strerrordesc_np(errno));
	hlg_fleet_command_finish(c);
	return pid < 0 ? hlg_output_error(&err) : hlg_fleet_command_wait(pid);
}

static int enter(const struct hlg_fleet_plan *plan, struct hlg_err *err)
{
	if (chdir(plan->cwd) == 0)
		return 0;
	return hlg_err_set(err, HLG_ESYSTEM,
			   "%s: %s (machines of a fleet need the same folders)",
			   plan->cwd, strerrordesc_np(errno));
}

int hlg_fleet_work_map(const struct hlg_fleet_plan *plan, size_t task)
{
	struct hlg_fleet_command c;
	struct hlg_pprof_of of;
	struct hlg_err err;
	int status;

	if (enter(plan, &err) < 0)
		return hlg_output_error(&err);
	hlg_fleet_work_words(&c, plan, task);
	status = run(&c);
	/* What could not be read is told by the part. */
	if (hlg_fleet_work_is_whole(plan, task, &of, &err))
		return 0;
	if (status == 0 || status >= 126) /* else report has said why */
		hlg_output_error(&err);
	return status ? status : 1;
}

/* The sum */

/* Parts of other lists, or none at all, are no parts. */
static int sum(const struct hlg_fleet_plan *plan, const char *out, struct hlg_err *err)
{
	unsigned char(*digests)[HLG_SHA256_SIZE] =
		calloc(plan->n_tasks + 1, sizeof(*digests));
	char **paths = calloc(plan->n_tasks + 1, sizeof(char *));
	struct hlg_pprof_merging merging = {.paths = paths,
					    .n = plan->n_tasks,
					    .threads = hlg_cpus_count(),
					    .digests = digests};
	int rc = paths && digests ? 0 : hlg_err_memory(err, "parts");

	if (merging.threads > plan->cpus)
		merging.threads = (unsigned)plan->cpus;
	for (size_t i = 0; rc == 0 && paths && digests && i < plan->n_tasks; i++) {
		char path[PATH_MAX];

		memcpy(digests[i], plan->tasks[i].digest, sizeof(*digests));
		rc = hlg_fleet_plan_part(path, plan, i, err);
		if (rc == 0 && !(paths[i] = strdup(path)))
			rc = hlg_err_memory(err, "parts");
	}
	if (rc == 0)
		rc = hlg_pprof_merge(&merging, out, NULL, err);
	free(merging.left_out);
	for (size_t i = 0; paths && i < plan->n_tasks; i++)
		free(paths[i]);
	free(paths);
	free(digests);
	return rc;
}

/* What is in the sum; fails if that is nothing. */
static int check_sum(const struct hlg_fleet_plan *plan, const char *path,
		     struct hlg_pprof_of *of, struct hlg_err *err)
{
	int rc = hlg_pprof_look(path, of, err);

	if (rc < 0 || of->recordings || !of->unread)
		return rc;
	return hlg_err_set(err, HLG_EINPUT,
			   "%s: none of %" PRIu64
			   " recordings could be read (%s/log says why)",
			   plan->list, of->unread, plan->dir);
}

static void tell_sum(const struct hlg_fleet_plan *plan, const struct hlg_pprof_of *of)
{
	hlg_escape_print(stdout, plan->out);
	printf(" has %" PRIu64 " of %" PRIu64 " recordings", of->recordings,
	       of->recordings + of->unread);
	if (of->unread)
		printf("; %" PRIu64 " left out (a report of it says why)", of->unread);
	putchar('\n');
}

int hlg_fleet_work_reduce(const struct hlg_fleet_plan *plan)
{
	struct hlg_fleet_command c = {0};
	char name[64], path[PATH_MAX];
	struct hlg_pprof_of of;
	struct hlg_err err;
	int rc = enter(plan, &err), status = 1;

	/* Its own: who runs two at a time has two sums that are the same. */
	snprintf(name, sizeof(name), "sum.%ld.pb.gz", (long)getpid());
	if (rc == 0)
		rc = hlg_fleet_plan_path(path, plan, name, &err);
	if (rc == 0)
		rc = sum(plan, path, &err);
	if (rc < 0)
		return hlg_output_error(&err);
	rc = check_sum(plan, path, &of, &err);
	if (rc == 0) {
		begin(&c, plan, plan->out, true);
		hlg_fleet_command_add(&c, "--input=%s", path);
		status = run(&c);
	}
	unlink(path);
	if (rc < 0)
		return hlg_output_error(&err);
	if (status == 0 || status == 3)
		tell_sum(plan, &of);
	return hlg_output_end(status);
}

/* Here */

/* In a child: what a task says goes where an engine would put it. */
static void run_task(const struct hlg_fleet_plan *plan, size_t task, pid_t parent)
{
	char name[32], path[PATH_MAX];
	struct hlg_err err;
	int fd;

	tie(parent);
	snprintf(name, sizeof(name), "log/%zu.txt", task);
	if (hlg_fleet_plan_path(path, plan, name, &err) < 0)
		_exit(hlg_output_error(&err));
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0666);
	if (fd < 0 || dup2(fd, STDERR_FILENO) < 0) {
		hlg_out_fail(path, "written", errno, &err);
		_exit(hlg_output_error(&err));
	}
	_exit(hlg_fleet_work_map(plan, task));
}

static size_t most_at_once(const struct hlg_fleet_plan *plan)
{
	size_t n = hlg_cpus_count() / plan->cpus;

	if (plan->limit)
		n = plan->limit;
	return n ? n : 1;
}

/* Waits for any; 1 if it failed. */
static size_t wait_for_one(void)
{
	int status;

	while (wait(&status) < 0)
		if (errno != EINTR)
			return 1;
	return !WIFEXITED(status) || WEXITSTATUS(status) != 0;
}

int hlg_fleet_work_local(const struct hlg_fleet_plan *plan, const size_t *tasks, size_t n)
{
	const size_t most = most_at_once(plan);
	const pid_t parent = getpid();
	size_t running = 0, failed = 0;
	char dir[2 * PATH_MAX];
	struct hlg_err err;

	fflush(NULL);
	for (size_t i = 0; i < n; i++) {
		pid_t pid;

		if (running == most) {
			failed += wait_for_one();
			running--;
		}
		pid = fork();
		if (pid == 0)
			run_task(plan, tasks[i], parent);
		running += pid > 0;
		failed += pid < 0;
	}
	for (; running; running--)
		failed += wait_for_one();
	if (failed == 0)
		return hlg_fleet_work_reduce(plan);
	hlg_err_set(
		&err, HLG_EINPUT,
		"fleet: %zu of %zu tasks failed (%s/log says why; hlguest fleet submit "
		"--resume %s runs them again)",
		failed, n, plan->dir, hlg_shell_put(dir, sizeof(dir), plan->dir));
	return hlg_output_error(&err);
}
