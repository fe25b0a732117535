// SPDX-License-Identifier: GPL-2.0-only
#include "tools/cli/child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct job {
	char *const *argv; /* or else */
	int (*f)(void *arg);
	void *arg;
	pid_t parent;
};

static long long now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000LL + t.tv_nsec / 1000000;
}

/*
 * In the child: a group of its own, so that all it starts can be ended with it. A ^C does
 * not reach that group, so it ends when its parent does.
 */
static void become(const struct job *job, int out)
{
	int null = open("/dev/null", O_RDONLY), status;

	setpgid(0, 0);
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != job->parent)
		_exit(127);
	if (null < 0 || dup2(null, STDIN_FILENO) < 0 || dup2(out, STDOUT_FILENO) < 0 ||
	    dup2(out, STDERR_FILENO) < 0)
		_exit(127);
	if (job->argv) {
		execv(job->argv[0], job->argv);
		fprintf(stderr, "%s", strerrordesc_np(errno));
		fflush(stderr);
		_exit(127);
	}
	status = job->f(job->arg);
	fflush(NULL);
	_exit(status);
}

/* n bytes more, no more of them than there is room for. */
static void keep_last(char last[static 512], const char *said, size_t n)
{
	size_t len = strlen(last), keep = 511 - n < len ? 511 - n : len;

	memmove(last, last + len - keep, keep);
	memcpy(last + keep, said, n);
	last[keep + n] = '\0';
}

/* Keeps what comes until the pipe is closed; false when time is up. */
static bool collect(struct hlg_child *child, int in, long long deadline)
{
	size_t len = 0;

	for (;;) {
		struct pollfd p = {.fd = in, .events = POLLIN};
		long long left = deadline - now();
		char rest[sizeof(child->last) - 1];
		ssize_t got;

		if (left <= 0)
			return false;
		if (poll(&p, 1, (int)left) <= 0)
			continue;
		got = read(in, rest, sizeof(rest));
		if (got <= 0)
			return true;
		keep_last(child->last, rest, (size_t)got);
		if ((size_t)got > sizeof(child->text) - 1 - len)
			got = (ssize_t)(sizeof(child->text) - 1 - len);
		memcpy(child->text + len, rest, (size_t)got);
		len += (size_t)got;
		child->text[len] = '\0';
	}
}

/* Waits for pid without closing an eye for longer than the time that is left. */
static bool reap(pid_t pid, int *status, long long deadline)
{
	for (;;) {
		struct timespec pause = {0, 2000000};
		pid_t got = waitpid(pid, status, WNOHANG);

		if (got == pid)
			return true;
		if ((got < 0 && errno != EINTR) || now() >= deadline)
			return false;
		nanosleep(&pause, NULL);
	}
}

static void watch(struct hlg_child *child, pid_t pid, int in, unsigned milliseconds)
{
	long long deadline = now() + milliseconds;
	int status;

	if (!collect(child, in, deadline) || !reap(pid, &status, deadline)) {
		kill(-pid, SIGKILL);
		kill(pid, SIGKILL);
		while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
			;
		child->end = HLG_CHILD_TIMEOUT;
	} else if (WIFSIGNALED(status)) {
		child->end = HLG_CHILD_KILLED;
		child->status = WTERMSIG(status);
	} else {
		child->end = HLG_CHILD_EXITED;
		child->status = WEXITSTATUS(status);
	}
}

static void start(struct hlg_child *child, const struct job *job, unsigned milliseconds)
{
	int ends[2];
	pid_t pid;

	*child = (struct hlg_child){.end = HLG_CHILD_FAILED};
	fflush(NULL); /* or the child prints it again */
	if (pipe2(ends, O_CLOEXEC) != 0) {
		child->status = errno;
		return;
	}
	pid = fork();
	if (pid == 0)
		become(job, ends[1]);
	child->status = errno;
	close(ends[1]);
	if (pid > 0) {
		setpgid(pid, pid); /* whoever is first */
		child->status = 0;
		watch(child, pid, ends[0], milliseconds);
	}
	close(ends[0]);
}

void hlg_child_run(struct hlg_child *child, char *const argv[], unsigned milliseconds)
{
	start(child, &(struct job){.argv = argv, .parent = getpid()}, milliseconds);
}

void hlg_child_call(struct hlg_child *child, int (*f)(void *arg), void *arg,
		    unsigned milliseconds)
{
	start(child, &(struct job){.f = f, .arg = arg, .parent = getpid()}, milliseconds);
}
