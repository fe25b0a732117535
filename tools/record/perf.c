// SPDX-License-Identifier: GPL-2.0-only
#include "tools/record/perf.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tools/cli/output.h"
#include "tools/cli/perf-find.h"
#include "tools/cli/signals.h"
#include "tools/record/tracing.h"

char *hlg_record_perf_group(const char *events)
{
	char *word;

	if (asprintf(&word, events[0] == '{' ? "%s" : "{%s}:S", events) < 0)
		return NULL;
	return word;
}

/* Appends what to record. */
static int event_words(const struct hlg_record_request *args, const char *event,
		       const char **words, size_t *n, struct hlg_err *err)
{
	const struct hlg_record_tracing how = hlg_record_request_tracing(args, event);

	if (hlg_record_request_traces(args))
		return hlg_record_tracing_words(&how, words, n, err);
	words[(*n)++] = "-e";
	words[(*n)++] = event;
	words[(*n)++] = args->windows ? "-c" : "-F";
	words[(*n)++] = args->windows ? args->count : args->frequency;
	if (args->windows) /* perf leaves times out else */
		words[(*n)++] = "-T";
	else
		hlg_record_tracing_halt("", words, n);
	return 0;
}

const char **hlg_record_perf_words(const struct hlg_record_request *args,
				   const char *event, struct hlg_guest_stacks *stacks,
				   struct hlg_err *err)
{
	size_t n = 0, command = 0;
	const char **words;

	while (args->command && args->command[command])
		command++;
	words = calloc(command + HLG_RECORD_TRACING_WORDS + 2 * HLG_GUEST_STACKS_WORDS +
			       20,
		       sizeof(*words));
	if (!words) {
		hlg_err_memory(err, "record");
		return NULL;
	}
	words[n++] = "perf";
	words[n++] = "record";
	if (args->quiet)
		words[n++] = "-q";
	/* Of BPF programs only the host's stacks have frames; and the thread that listens
	 * for them lets perf end up to a second late. */
	if (!args->stacks)
		words[n++] = "--no-bpf-event";
	if (event_words(args, event, words, &n, err) < 0) {
		free(words);
		return NULL;
	}
	if (!args->everything) /* with -a perf does it by itself */
		words[n++] = "--sample-cpu";
	hlg_guest_stacks_options(stacks, args->stacks, words, &n);
	if (args->compress)
		words[n++] = "-z";
	if (args->room)
		hlg_guest_stacks_room(args->stacks, words, &n);
	if (args->control)
		words[n++] = args->control;
	words[n++] = "-o";
	words[n++] = args->out;
	if (args->everything)
		words[n++] = "-a";
	if (args->pid) {
		words[n++] = "-p";
		words[n++] = args->pid;
	}
	if (args->command) {
		words[n++] = "--";
		hlg_guest_stacks_command(stacks, words, &n);
	}
	for (size_t i = 0; i < command; i++)
		words[n++] = args->command[i];
	return words;
}

static const int signals[] = {SIGINT, SIGTERM, SIGHUP};

enum {
	N_SIGNALS = sizeof(signals) / sizeof(signals[0])
};

static volatile sig_atomic_t perf_pid, interrupted;

bool hlg_record_perf_interrupted(void)
{
	return interrupted;
}

/* ^C reaches perf by itself, kill reaches us alone; see become() of a terminal that goes
 * away. */
static void hand_on(int sig, siginfo_t *info, void *context)
{
	(void)context;
	interrupted = 1;
	if (sig == SIGHUP)
		kill(perf_pid, SIGTERM);
	else if (info->si_code <= 0)
		kill(perf_pid, sig);
}

/* SIGHUP, which a terminal that goes away sends to all, would end perf with most of the
 * recording in its buffers. */
static _Noreturn void become(const char *perf, const char **words, pid_t parent)
{
	signal(SIGHUP, SIG_IGN);
	if (prctl(PR_SET_PDEATHSIG, SIGTERM) < 0 || getppid() != parent)
		_exit(127);
	execv(perf, (char *const *)words);
	fprintf(stderr, "hlguest: perf: cannot be run: %s (install linux-perf)\n",
		strerrordesc_np(errno));
	_exit(127);
}

/* perf is to end, and we tell what it got. Behind that, signals are ours again. */
static int wait_for(pid_t pid, struct hlg_guest_stacks *stacks)
{
	struct sigaction action = {.sa_sigaction = hand_on,
				   .sa_flags = SA_SIGINFO | SA_RESTART};
	struct sigaction before[N_SIGNALS];
	siginfo_t ended;
	int status = 0;

	perf_pid = pid;
	for (size_t i = 0; i < N_SIGNALS; i++) {
		sigaction(signals[i], NULL, &before[i]);
		if (signals[i] != SIGHUP || !hlg_signals_ignored(SIGHUP))
			sigaction(signals[i], &action, NULL);
	}
	hlg_guest_stacks_follow(stacks, pid);
	/* As long as nobody has asked for its status, no other process has its number. */
	while (waitid(P_PID, (id_t)pid, &ended, WEXITED | WNOWAIT) < 0 && errno == EINTR)
		;
	for (size_t i = 0; i < N_SIGNALS; i++)
		sigaction(signals[i], &before[i], NULL);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* The descriptor that stands in another's place: -1 leaves that as it is. */
static bool place(int fd, int at)
{
	return fd < 0 || dup2(fd, at) >= 0;
}

pid_t hlg_record_perf_start(const char **words, const struct hlg_record_perf_ends *ends,
			    struct hlg_err *err)
{
	char perf[PATH_MAX];
	pid_t pid, self = getpid();

	if (!hlg_perf_find(perf)) {
		hlg_err_set(err, HLG_EINPUT,
			    "perf: not found in the absolute folders of PATH (install "
			    "linux-perf)");
		return -1;
	}
	fflush(NULL);
	pid = fork();
	if (pid == 0) {
		sigset_t none;

		sigemptyset(&none);
		sigprocmask(SIG_SETMASK, &none, NULL);
		for (size_t i = 0; i < 2; i++)
			fcntl(ends->keep[i], F_SETFD, 0);
		if (!place(ends->in, STDIN_FILENO) || !place(ends->out, STDOUT_FILENO) ||
		    !place(ends->error, STDERR_FILENO))
			_exit(127);
		become(perf, words, self);
	}
	if (pid < 0)
		hlg_err_set(err, HLG_ESYSTEM, "perf: cannot be started: %s",
			    strerrordesc_np(errno));
	return pid;
}

int hlg_record_perf_run(const char **words, struct hlg_guest_stacks *stacks)
{
	struct hlg_record_perf_ends ends = {-1, -1, -1, {-1, -1}};
	struct hlg_err err;
	pid_t pid;

	if (stacks->program) {
		ends.keep[0] = stacks->from[1];
		ends.keep[1] = stacks->to[0];
	}
	pid = hlg_record_perf_start(words, &ends, &err);
	if (pid >= 0)
		return wait_for(pid, stacks);
	hlg_output_error(&err);
	return err.code == HLG_EINPUT ? 127 : 1;
}
