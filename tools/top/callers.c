// SPDX-License-Identifier: GPL-2.0-only
#include "tools/top/callers.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "tools/callers/program.h"

enum {
	TURN_MS = 100,  /* program.h: nothing wakes us */
	PIPE = 1 << 20, /* bytes */
};

#define KEEP_NS UINT64_C(5000000000) /* samples wait in perf's buffers for less */

static bool on_stack(void *ctx, const struct hlg_callers_stack *stack)
{
	return hlg_join_add(ctx, stack);
}

int hlg_top_callers_load(struct hlg_top_callers *c, struct hlg_err *err)
{
	*c = (struct hlg_top_callers){.from = -1};
	c->join.way = HLG_CHAIN_WAY_FRAMES;
	return hlg_callers_program_open(&c->program, on_stack, &c->join, err);
}

static void empty(struct hlg_top_callers *c)
{
	struct hlg_err err;

	if (atomic_load(&c->attached) && hlg_callers_program_empty(c->program, &err) < 0)
		atomic_store(&c->attached, false); /* samples have no callers then */
}

/* The samples before have been asked for; the stacks of those to come are taken. */
static ssize_t read_samples(void *ctx, void *to, size_t n)
{
	struct hlg_top_callers *c = ctx;
	struct pollfd fd = {.fd = c->from, .events = POLLIN};
	ssize_t got;

	hlg_join_forget(&c->join, KEEP_NS);
	for (;;) {
		int ready = poll(&fd, 1, TURN_MS);

		if (ready == 0 || (ready < 0 && errno == EINTR)) {
			empty(c);
			continue;
		}
		got = ready < 0 ? -1 : read(c->from, to, n);
		if (got < 0 && (errno == EAGAIN || errno == EINTR))
			continue;
		empty(c);
		return got;
	}
}

static void *run(void *arg)
{
	struct hlg_top_callers *c = arg;
	const struct hlg_perfdata_stream stream = {read_samples, c};
	struct hlg_rewrite_counts counts; /* the report has them, too */
	sigset_t all;

	/* Signals are the other thread's, and who reads no more ends us by EPIPE. */
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, NULL);
	if (hlg_rewrite_stream("perf's recording", &stream, c->to, &c->join, &counts,
			       &c->err) == 0)
		c->err.msg[0] = '\0';
	fclose(c->to);
	close(c->from); /* then perf ends, too, if it has not */
	return NULL;
}

int hlg_top_callers_begin(struct hlg_top_callers *c, int from, struct hlg_err *err)
{
	int ends[2];

	c->from = from;
	if (pipe2(ends, O_CLOEXEC) != 0) {
		hlg_err_set(err, HLG_ESYSTEM, "callers: no pipe: %s (raise ulimit -n)",
			    strerrordesc_np(errno));
		return -1;
	}
	fcntl(ends[0], F_SETPIPE_SZ, PIPE);
	fcntl(ends[0], F_SETFL, O_NONBLOCK);
	c->to = fdopen(ends[1], "w");
	c->runs = c->to && pthread_create(&c->thread, NULL, run, c) == 0;
	if (c->runs)
		return ends[0];
	if (c->to)
		fclose(c->to);
	else
		close(ends[1]);
	close(ends[0]);
	hlg_err_memory(err, "callers");
	return -1;
}

int hlg_top_callers_attach(struct hlg_top_callers *c, pid_t perf, struct hlg_err *err)
{
	int rc;

	if (!c->program || atomic_load(&c->attached))
		return 0;
	rc = hlg_callers_program_attach(c->program, perf, err);
	if (rc == 0)
		atomic_store(&c->attached, true);
	return rc;
}

static void wait_for_thread(struct hlg_top_callers *c)
{
	if (c->runs)
		pthread_join(c->thread, NULL);
	c->runs = false;
}

int hlg_top_callers_end(struct hlg_top_callers *c, struct hlg_err *err)
{
	wait_for_thread(c);
	if (!c->err.msg[0])
		return 0;
	*err = c->err;
	return HLG_ESYSTEM;
}

void hlg_top_callers_finish(struct hlg_top_callers *c)
{
	wait_for_thread(c);
	hlg_callers_program_close(c->program);
	hlg_join_finish(&c->join);
	*c = (struct hlg_top_callers){.from = -1};
}
