// SPDX-License-Identifier: GPL-2.0-only
#include "tests/kit/perfdata.h"

#include <check.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static void keep(struct kit_seen *seen, struct hlg_sample sample)
{
	if (seen->n == seen->room) {
		seen->room = 2 * seen->room + 64;
		seen->samples =
			reallocarray(seen->samples, seen->room, sizeof(*seen->samples));
		ck_assert_ptr_nonnull(seen->samples);
	}
	seen->samples[seen->n++] = sample;
}

static inline __attribute__((always_inline)) void on_sample(void *ctx,
							    struct hlg_perfdata_raw *raw)
{
	do
		keep(ctx, hlg_perfdata_sample(raw));
	while (hlg_perfdata_next(raw));
}

static void note(struct kit_seen *seen, const char *kind, const char *name)
{
	size_t n = strlen(seen->names);

	snprintf(seen->names + n, sizeof(seen->names) - n, "%s%s;", kind, name);
}

static int on_event(void *ctx, const struct hlg_perfdata_event *event,
		    struct hlg_err *err)
{
	struct kit_seen *seen = ctx;

	(void)err;
	seen->n_events++;
	note(seen, "", event->name);
	return 0;
}

static int on_task(void *ctx, const struct hlg_perfdata_task *task, struct hlg_err *err)
{
	(void)err;
	note(ctx, "task:", task->name);
	return 0;
}

static int on_round(void *ctx, struct hlg_err *err)
{
	struct kit_seen *seen = ctx;

	(void)err;
	seen->rounds++;
	return 0;
}

static const struct hlg_perfdata_sink sink = {
	.event = on_event, .task = on_task, .round = on_round};

static void read_all(struct kit_seen *seen, struct hlg_perfdata *pd)
{
	seen->rc = hlg_perfdata_read(pd, on_sample, &sink, seen, &seen->err);
	seen->counts = *hlg_perfdata_counts(pd);
	seen->machine = hlg_perfdata_host(pd)->machine;
	seen->attached = hlg_perfdata_host(pd)->attached;
	for (char **word = hlg_perfdata_host(pd)->command; word && *word; word++) {
		size_t n = strlen(seen->command);

		snprintf(seen->command + n, sizeof(seen->command) - n, "%s|", *word);
	}
	seen->tell = hlg_perfdata_tell(pd);
	if (seen->rc == 0)
		ck_assert_uint_eq(seen->counts.samples, seen->n);
}

void kit_read(struct kit_seen *seen, const char *path)
{
	struct hlg_perfdata *pd;

	*seen = (struct kit_seen){0};
	seen->rc = hlg_perfdata_open(&pd, path, &seen->err);
	if (seen->rc == 0)
		read_all(seen, pd);
	else
		ck_assert_ptr_null(pd);
	ck_assert(seen->rc == 0 || seen->err.msg[0]);
	hlg_perfdata_close(pd);
}

const char *kit_name(const void *bytes, size_t n)
{
	static char path[64];
	int fd = memfd_create("recording", MFD_CLOEXEC);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(ftruncate(fd, (off_t)n), 0);
	ck_assert(pwrite(fd, bytes, n, 0) == (ssize_t)n);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return path;
}

void kit_unname(const char *path)
{
	close(atoi(strrchr(path, '/') + 1));
}

void kit_read_bytes(struct kit_seen *seen, const void *bytes, size_t n)
{
	const char *path = kit_name(bytes, n);

	kit_read(seen, path);
	kit_unname(path);
}

void kit_read_piped(struct kit_seen *seen, const void *bytes, size_t n, size_t step)
{
	int ends[2], status;
	char path[64];
	pid_t child;

	ck_assert_int_eq(pipe(ends), 0);
	child = fork();
	ck_assert_int_ge(child, 0);
	if (child == 0) {
		close(ends[0]);
		signal(SIGPIPE, SIG_DFL);
		for (size_t at = 0; at < n; at += step)
			if (write(ends[1], (const char *)bytes + at,
				  n - at < step ? n - at : step) < 0)
				break;
		_exit(0);
	}
	close(ends[1]);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", ends[0]);
	kit_read(seen, path);
	close(ends[0]);
	ck_assert_int_eq(waitpid(child, &status, 0), child);
}

void kit_read_split(struct kit_seen *seen, const void *bytes, size_t n, uint64_t at)
{
	const char *path = kit_name(bytes, n);
	struct kit_seen second = {0};
	struct hlg_perfdata *pd, *copy;

	*seen = (struct kit_seen){0};
	ck_assert_int_eq(hlg_perfdata_open(&pd, path, &seen->err), 0);
	seen->split = at || hlg_perfdata_split(pd, &at);
	if (!seen->split) {
		read_all(seen, pd);
		goto out;
	}
	ck_assert_int_eq(hlg_perfdata_clone(&copy, pd, &seen->err), 0);
	hlg_perfdata_range(pd, 0, at);
	hlg_perfdata_range(copy, at, UINT64_MAX);
	read_all(&second, copy);
	read_all(seen, pd);
	seen->split = hlg_perfdata_split_holds(pd, copy, at);
	for (size_t i = 0; seen->split && i < second.n; i++)
		keep(seen, second.samples[i]);
	if (!seen->split) {
		hlg_perfdata_range(pd, seen->tell, UINT64_MAX);
		read_all(seen, pd);
	}
	kit_finish(&second);
	hlg_perfdata_close(copy);
out:
	hlg_perfdata_close(pd);
	kit_unname(path);
}

void kit_finish(struct kit_seen *seen)
{
	free(seen->samples);
	seen->samples = NULL;
}
