// SPDX-License-Identifier: GPL-2.0-only
/*
 * perfdata-hosts FILE: what the command makes of each host sample, for comparison with
 * perf. One line for each, of fields parted by tabs:
 *
 *	pid tid time ip cpumode	process	mapping	period
 *
 * Each sample counts for a series of its own, so that its row can be told.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "tools/feed/timeline.h"
#include "tools/perfdata/perfdata.h"

struct hosts {
	struct hlg_timeline timeline;
	struct hlg_host rows;
	struct hlg_sample *samples;
	uint32_t n;
};

static void on_sample(void *ctx, struct hlg_perfdata_raw *raw)
{
	struct hlg_sample s = hlg_perfdata_sample(raw);
	struct hosts *h = ctx;

	if (hlg_sample_is_guest(s.cpumode))
		return;
	if (h->n % 1024 == 0)
		h->samples = realloc(h->samples, (h->n + 1024) * sizeof(*h->samples));
	if (!h->samples)
		abort();
	h->samples[h->n] = s;
	hlg_timeline_add(&h->timeline, &s, h->n++, HLG_NO_CHAIN, HLG_TIMELINE_ROW);
}

static int on_task(void *ctx, const struct hlg_perfdata_task *task, struct hlg_err *err)
{
	struct hosts *h = ctx;

	return hlg_timeline_task(&h->timeline, task) ? 0 : hlg_err_memory(err, "tasks");
}

static int on_round(void *ctx, struct hlg_err *err)
{
	struct hosts *h = ctx;

	return hlg_queue_round(&h->timeline.queue) ? 0 : hlg_err_memory(err, "round");
}

static void print(const struct hosts *h)
{
	for (size_t i = 0; i < h->rows.n_rows; i++) {
		const struct hlg_host_row *row = &h->rows.rows[i];
		const struct hlg_sample *s = &h->samples[row->series];

		printf("%" PRId32 " %" PRId32 " %" PRIu64 " %" PRIx64
		       " %u\t%s\t%s\t%" PRIu64 "\n",
		       s->pid, s->tid, s->time, s->ip, s->cpumode, row->comm, row->dso,
		       s->period);
	}
}

int main(int argc, char **argv)
{
	const struct hlg_perfdata_sink sink = {.task = on_task, .round = on_round};
	struct hosts h = {.n = 0};
	struct hlg_perfdata *pd;
	struct hlg_err err;
	int rc;

	if (argc != 2 || !hlg_timeline_init(&h.timeline, &h.rows)) {
		fputs("usage: perfdata-hosts FILE\n", stderr);
		return 2;
	}
	rc = hlg_perfdata_open(&pd, argv[1], &err);
	if (rc == 0)
		rc = hlg_perfdata_read(pd, on_sample, &sink, &h, &err);
	if (rc == 0 && !hlg_queue_end(&h.timeline.queue))
		rc = hlg_err_memory(&err, "end");
	if (rc < 0)
		fprintf(stderr, "perfdata-hosts: %s\n", err.msg);
	else
		print(&h);
	hlg_perfdata_close(pd);
	hlg_timeline_finish(&h.timeline);
	hlg_host_finish(&h.rows);
	free(h.samples);
	return rc < 0;
}
