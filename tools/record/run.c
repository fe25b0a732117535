// SPDX-License-Identifier: GPL-2.0-only
#include "tools/record/run.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tools/cli/perf-find.h"

static const int signals[] = {SIGINT, SIGTERM};

static volatile sig_atomic_t perf_pid;

/* ^C reaches perf by itself, kill reaches us alone. */
static void hand_on(int sig, siginfo_t *info, void *context)
{
	(void)context;
	if (info->si_code <= 0)
		kill(perf_pid, sig);
}

static _Noreturn void become(const char *perf, const char **words, pid_t parent)
{
	if (prctl(PR_SET_PDEATHSIG, SIGTERM) < 0 || getppid() != parent)
		_exit(127);
	execv(perf, (char *const *)words);
	fprintf(stderr, "hlguest: perf: cannot be run: %s (install linux-perf)\n",
		strerrordesc_np(errno));
	_exit(127);
}

/* perf is to end, and we tell what it got. Behind that, signals are ours again. */
static int wait_for(pid_t pid)
{
	struct sigaction action = {.sa_sigaction = hand_on,
				   .sa_flags = SA_SIGINFO | SA_RESTART};
	struct sigaction before[2];
	siginfo_t ended;
	int status = 0;

	perf_pid = pid;
	for (size_t i = 0; i < 2; i++)
		sigaction(signals[i], &action, &before[i]);
	/* As long as nobody has asked for its status, no other process has its number. */
	while (waitid(P_PID, (id_t)pid, &ended, WEXITED | WNOWAIT) < 0 && errno == EINTR)
		;
	for (size_t i = 0; i < 2; i++)
		sigaction(signals[i], &before[i], NULL);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int hlg_record_run(const char **words)
{
	char perf[PATH_MAX];
	pid_t pid, self = getpid();

	if (!hlg_perf_find(perf)) {
		fputs("hlguest: perf: is in no folder of PATH; those that are not "
		      "absolute do not count (install linux-perf)\n",
		      stderr);
		return 127;
	}
	pid = fork();
	if (pid == 0)
		become(perf, words, self);
	if (pid < 0) {
		fprintf(stderr, "hlguest: perf: cannot be started: %s\n",
			strerrordesc_np(errno));
		return 1;
	}
	return wait_for(pid);
}
