// SPDX-License-Identifier: GPL-2.0-only
#include "tools/cli/progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define SECOND   UINT64_C(1000000000)
#define PATIENCE SECOND        /* shorter work needs no line */
#define INTERVAL (SECOND / 10) /* between two looks of the line */

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * SECOND + (uint64_t)t.tv_nsec;
}

/* Bytes of all these files; 0 if one does not tell. */
static uint64_t total_size(char *const *paths, size_t n)
{
	uint64_t total = 0;
	struct stat st;

	for (size_t i = 0; i < n; i++) {
		if (stat(paths[i], &st) != 0 || !S_ISREG(st.st_mode))
			return 0;
		total += (uint64_t)st.st_size;
	}
	return total;
}

void hlg_progress_init(struct hlg_progress *p, char *const *paths, size_t n, bool quiet)
{
	const char *term = getenv("TERM");

	p->on = !quiet && isatty(STDERR_FILENO) && term && strcmp(term, "dumb") != 0;
	p->total = p->on ? total_size(paths, n) : 0;
	p->start = now();
	p->bytes = p->samples = 0;
	p->next = p->start + PATIENCE;
	p->shown = false;
}

static void show(struct hlg_progress *p, uint64_t at)
{
	double seconds = (double)(at - p->start) / (double)SECOND;
	uint64_t bytes = p->bytes, percent = p->total ? bytes * 100 / p->total : 0;

	fprintf(stderr, "\r%" PRIu64 " MiB", bytes >> 20);
	if (p->total && bytes && bytes <= p->total)
		fprintf(stderr, " of %" PRIu64 ", %" PRIu64 " %%, %.0f s left",
			p->total >> 20, percent,
			seconds * (double)(p->total - bytes) / (double)bytes);
	if (p->samples) /* those of saved profiles are not read one by one */
		fprintf(stderr, ", %.1f million samples/s",
			(double)p->samples / seconds / 1e6);
	fputs("\033[K", stderr);
	p->shown = true;
}

void hlg_progress_add(struct hlg_progress *p, uint64_t bytes, uint64_t samples)
{
	uint64_t at, next;

	if (!p || !p->on)
		return;
	atomic_fetch_add(&p->bytes, bytes);
	atomic_fetch_add(&p->samples, samples);
	at = now();
	next = p->next;
	/* Who wins the exchange shows the line. */
	if (at >= next && atomic_compare_exchange_strong(&p->next, &next, at + INTERVAL))
		show(p, at);
}

void hlg_progress_end(struct hlg_progress *p)
{
	if (p->on && p->shown)
		fputs("\r\033[K", stderr);
}
