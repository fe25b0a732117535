// SPDX-License-Identifier: GPL-2.0-only
/*
 * A filter that tells what perf makes of a recording: each sample of perf's early hook as
 * a line of perfdata-dump, into the file its --dlarg names. Events come by name. With a
 * second --dlarg, only host samples, each with its process and mapping, as
 * perfdata-hosts has them.
 */
#include <perf/perf_dlfilter.h>

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#define EXPORT __attribute__((visibility("default")))

EXPORT struct perf_dlfilter_fns perf_dlfilter_fns;
EXPORT int start(void **data, void *ctx);
EXPORT int stop(void *data, void *ctx);
EXPORT int filter_event_early(void *data, const struct perf_dlfilter_sample *sample,
			      void *ctx);

static bool hosts;

int start(void **data, void *ctx)
{
	int argc = 0;
	char **argv = perf_dlfilter_fns.args(ctx, &argc);

	hosts = argc == 2;
	*data = argc >= 1 && argc <= 2 ? fopen(argv[0], "w") : NULL;
	return *data ? 0 : 1;
}

int stop(void *data, void *ctx)
{
	(void)ctx;
	if (data && fclose(data) != 0)
		exit(1);
	return 0;
}

static void tell_host(FILE *f, const struct perf_dlfilter_sample *s, void *ctx)
{
	const struct perf_dlfilter_al *al;

	if (s->cpumode == PERF_RECORD_MISC_GUEST_KERNEL ||
	    s->cpumode == PERF_RECORD_MISC_GUEST_USER)
		return;
	al = perf_dlfilter_fns.resolve_ip(ctx);
	fprintf(f, "%" PRId32 " %" PRId32 " %" PRIu64 " %" PRIx64 " %u\t%s\t%s\n", s->pid,
		s->tid, (uint64_t)s->time, (uint64_t)s->ip, s->cpumode,
		al && al->comm ? al->comm : "[unknown]",
		al && al->dso ? al->dso : "[unknown]");
}

/* Tells what is in it, and in which order; as perfdata-dump does. */
static uint64_t digest(const void *bytes, uint64_t n)
{
	const unsigned char *at = bytes;
	uint64_t sum = 0;

	for (uint64_t i = 0; i < n; i++)
		sum = sum * 31 + at[i];
	return sum;
}

int filter_event_early(void *data, const struct perf_dlfilter_sample *s, void *ctx)
{
	if (hosts) {
		tell_host(data, s, ctx);
		return 1;
	}
	fprintf(data,
		"%s\t%" PRId32 " %" PRId32 " %" PRIu64 " %" PRId32 " %" PRIx64 " %" PRIu64
		" %u %" PRIu64 " %" PRIu64 " %" PRIx64 " %" PRIx64 "\n",
		s->event, s->pid, s->tid, (uint64_t)s->time, (int32_t)s->cpu,
		(uint64_t)s->ip, (uint64_t)s->period, s->cpumode,
		(uint64_t)s->raw_callchain_nr, (uint64_t)s->raw_size,
		digest(s->raw_callchain, s->raw_callchain_nr * sizeof(uint64_t)),
		digest(s->raw_data, s->raw_size));
	return 1;
}
