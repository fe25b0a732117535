// SPDX-License-Identifier: GPL-2.0-only
#include "tools/top/follow.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tools/record/perf.h"

enum {
	PIPE = 1 << 20, /* bytes: some seconds of samples, while a report is made */
	PATIENCE_MS = 5000,
	STEP_MS = 10
};

static void close_one(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static void make_quiet(int fd)
{
	fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
}

static int start(struct hlg_top_follow *f, const char **words, bool capture,
		 struct hlg_err *err)
{
	int data[2] = {-1, -1}, said[2] = {-1, -1}, null = -1;
	bool ok = pipe2(data, O_CLOEXEC) == 0 && pipe2(f->to, O_CLOEXEC) == 0 &&
		  pipe2(f->from, O_CLOEXEC) == 0;
	struct hlg_record_perf_ends ends;
	pid_t pid = -1;

	if (ok && capture) {
		null = open("/dev/null", O_RDONLY | O_CLOEXEC);
		ok = null >= 0 && pipe2(said, O_CLOEXEC) == 0;
	}
	if (!ok) {
		hlg_err_set(err, HLG_ESYSTEM, "perf: no pipe: %s (raise ulimit -n)",
			    strerrordesc_np(errno));
	} else {
		fcntl(data[0], F_SETPIPE_SZ,
		      PIPE); /* without it the usual size will do */
		ends = (struct hlg_record_perf_ends){
			null, data[1], said[1], {f->to[0], f->from[1]}};
		snprintf(f->control, sizeof(f->control), "--control=fd:%d,%d", f->to[0],
			 f->from[1]);
		pid = hlg_record_perf_start(words, &ends, err);
	}
	close_one(&data[1]);
	close_one(&said[1]);
	close_one(&null);
	close_one(&f->to[0]);
	close_one(&f->from[1]);
	f->data = data[0];
	f->said = said[0];
	if (pid < 0)
		return HLG_ESYSTEM;
	f->pid = pid;
	make_quiet(f->to[1]);
	make_quiet(f->from[0]);
	make_quiet(f->data);
	if (f->said >= 0)
		make_quiet(f->said);
	return 0;
}

int hlg_top_follow_begin(struct hlg_top_follow *f, struct hlg_record_request *request,
			 const char *event, bool capture, struct hlg_err *err)
{
	struct hlg_guest_stacks none = {0};
	const char **words;
	int rc;

	*f = (struct hlg_top_follow){
		.data = -1, .said = -1, .to = {-1, -1}, .from = {-1, -1}};
	f->text = malloc(HLG_TOP_SAID + 1);
	if (!f->text)
		return hlg_err_memory(err, "perf");
	request->control = f->control; /* start() writes it */
	request->out = "-";
	request->quiet = true;
	words = hlg_record_perf_words(request, event, &none, err);
	if (!words)
		return HLG_ESYSTEM;
	rc = start(f, words, capture, err);
	free(words);
	return rc;
}

/* A write to a pipe that nobody may read any more, and that must not end us: SIGPIPE is
 * for standard output. */
static ssize_t write_unless_gone(int fd, const char *text, size_t n)
{
	const struct timespec now = {0, 0};
	sigset_t sigpipe, before;
	ssize_t put;

	sigemptyset(&sigpipe);
	sigaddset(&sigpipe, SIGPIPE);
	pthread_sigmask(SIG_BLOCK, &sigpipe, &before);
	put = write(fd, text, n);
	if (put < 0 && errno == EPIPE)
		sigtimedwait(&sigpipe, NULL, &now);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return put;
}

void hlg_top_follow_ping(struct hlg_top_follow *f)
{
	static const char word[] = "ping\n";

	if (f->pinged || f->to[1] < 0)
		return;
	f->pinged =
		write_unless_gone(f->to[1], word, strlen(word)) == (ssize_t)strlen(word);
}

/* Keeps the end of all that was said. */
static void keep(struct hlg_top_follow *f, const char *text, size_t n)
{
	size_t over;

	if (n > HLG_TOP_SAID) {
		text += n - HLG_TOP_SAID;
		n = HLG_TOP_SAID;
	}
	over = f->n_text + n > HLG_TOP_SAID ? f->n_text + n - HLG_TOP_SAID : 0;
	memmove(f->text, f->text + over, f->n_text - over);
	f->n_text -= over;
	memcpy(f->text + f->n_text, text, n);
	f->n_text += n;
}

bool hlg_top_follow_hear(struct hlg_top_follow *f)
{
	char bytes[4096];
	bool any = false;
	ssize_t got;

	while (f->from[0] >= 0 && read(f->from[0], bytes, sizeof(bytes)) > 0) {
		f->pinged = false;
		f->answers = true;
	}
	/* A little at a time: who says much must not keep others waiting. */
	if (f->said < 0)
		return false;
	got = read(f->said, bytes, sizeof(bytes));
	if (got > 0) {
		keep(f, bytes, (size_t)got);
		any = true;
	} else if (got == 0) {
		close_one(&f->said);
	}
	return any;
}

char *hlg_top_follow_last(const struct hlg_top_follow *f)
{
	size_t end = f->n_text, begin;

	while (end && (f->text[end - 1] == '\n' || f->text[end - 1] == '\r'))
		end--;
	begin = end;
	while (begin && f->text[begin - 1] != '\n')
		begin--;
	return end > begin ? strndup(f->text + begin, end - begin) : NULL;
}

void hlg_top_follow_stop(const struct hlg_top_follow *f)
{
	if (f->pid > 0)
		kill(f->pid, SIGTERM);
}

int hlg_top_follow_end(struct hlg_top_follow *f)
{
	const struct timespec step = {0, STEP_MS * 1000000L};
	int status = 0;

	if (f->pid <= 0)
		return 0;
	/* Nobody reads any more: what it still wants to write must not stop it. */
	close_one(&f->data);
	close_one(&f->to[1]);
	for (int waited = 0;; waited += STEP_MS) {
		pid_t got = waitpid(f->pid, &status, WNOHANG);

		if (got == f->pid)
			break;
		if (got < 0 && errno != EINTR) {
			status = 0;
			break;
		}
		if (waited >= PATIENCE_MS)
			kill(f->pid, SIGKILL);
		(void)hlg_top_follow_hear(f);
		nanosleep(&step, NULL);
	}
	while (hlg_top_follow_hear(f))
		;
	f->pid = 0;
	f->killed = WIFSIGNALED(status);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

void hlg_top_follow_finish(struct hlg_top_follow *f)
{
	if (f->pid > 0) {
		hlg_top_follow_stop(f);
		hlg_top_follow_end(f);
	}
	close_one(&f->data);
	close_one(&f->said);
	for (size_t i = 0; i < 2; i++) {
		close_one(&f->to[i]);
		close_one(&f->from[i]);
	}
	free(f->text);
	f->text = NULL;
}
