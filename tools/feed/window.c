// SPDX-License-Identifier: GPL-2.0-only
#include "tools/feed/window.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "symtab/file.h"

static inline __attribute__((always_inline)) void on_sample(void *ctx,
							    struct hlg_perfdata_raw *raw)
{
	hlg_sample_span_see(ctx, hlg_perfdata_time(raw));
}

/* Also one of a group that counted nothing, which is no sample of any of its events. */
static int on_group(void *ctx, const struct hlg_perfdata_group *group,
		    struct hlg_err *err)
{
	(void)err;
	hlg_sample_span_see(ctx, hlg_perfdata_time(group->raw));
	return 0;
}

/* Where perf did not note it, all samples are looked at. */
static int find_span(struct hlg_sample_span *span, struct hlg_perfdata *pd,
		     struct hlg_err *err)
{
	static const struct hlg_perfdata_sink sink = {.group = on_group};
	int rc = hlg_perfdata_sample_time(pd, &span->first, &span->last, err);

	if (rc < 0 || span->last)
		return rc;
	*span = HLG_SAMPLE_SPAN_NONE;
	return hlg_perfdata_read(pd, on_sample, &sink, span, err);
}

int hlg_feed_window(struct hlg_select_window *window, const char *path,
		    const struct hlg_options *options, struct hlg_err *err)
{
	struct hlg_sample_span span = {0, 0};
	struct hlg_perfdata *pd;
	int rc;

	*window = hlg_select_window(options);
	if (!window->open)
		return 0;
	if (!hlg_perfdata_is_kept(path))
		return hlg_err_set(err, HLG_EINPUT,
				   "%s: a pipe does not tell when the recording began "
				   "(save it to a file for this --time=)",
				   path);
	rc = hlg_perfdata_open(&pd, path, err);
	if (rc < 0)
		return rc;
	rc = find_span(&span, pd, err);
	hlg_perfdata_close(pd);
	if (rc == 0 && hlg_sample_span_known(&span))
		*window = hlg_select_window_of(options, span.first, span.last);
	return rc;
}

static uint64_t ns_of(const struct timespec *t)
{
	return (uint64_t)t->tv_sec * 1000000000 + (uint64_t)t->tv_nsec;
}

/* perf record writes to the file until its end, or to that in its folder; what is no file
 * is recorded now. */
static int last_written(uint64_t *ended, const struct hlg_perfdata *pd, const char *path,
			struct hlg_err *err)
{
	struct timespec when = {0};
	bool named = strcmp(path, "-") != 0;
	char in_folder[PATH_MAX];
	struct stat st;

	if (hlg_perfdata_host(pd)->directory &&
	    snprintf(in_folder, sizeof(in_folder), "%s/data", path) <
		    (int)sizeof(in_folder))
		path = in_folder;
	if (named && stat(path, &st) != 0)
		return hlg_file_fail_read(path, errno, err);
	if (named && S_ISREG(st.st_mode))
		when = st.st_mtim;
	else
		clock_gettime(CLOCK_REALTIME, &when);
	*ended = ns_of(&when);
	return 0;
}

int hlg_feed_when(const struct hlg_perfdata *pd, const char *path,
		  const struct hlg_sample_span *span, struct hlg_recording_sums *sums,
		  struct hlg_err *err)
{
	bool known = hlg_sample_span_known(span);
	uint64_t wall, clock, ended = 0;
	int rc = hlg_perfdata_clock(pd, &wall, &clock, err);

	if (rc < 0)
		return rc;
	sums->took = known ? span->last - span->first : 0;
	if (wall && known) {
		sums->began = wall + (span->first - clock);
		return 0;
	}
	rc = last_written(&ended, pd, path, err);
	if (rc < 0)
		return rc;
	sums->began = ended > sums->took ? ended - sums->took : 0;
	return 0;
}
