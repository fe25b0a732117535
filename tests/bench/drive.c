// SPDX-License-Identifier: GPL-2.0-only
/*
 * drive [--samples=N] FILTER.so IN.data [DLARG...]
 *
 * Calls a dlfilter as perf script does, without perf: start, filter_event_early for N
 * samples (those of IN.data in time order, again and again), stop. What perf spends on a
 * record is left out, so that a filter's own nanoseconds, or under valgrind its own
 * instructions, can be seen. The cost of this loop is the same for every filter: compare
 * with null_filter.so.
 *
 * The figures go to stderr, as the filter's report has stdout.
 */
#include "tests/bench/recording.h"

#include <dlfcn.h>
#include <getopt.h>
#include <perf/perf_dlfilter.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct drive {
	struct recording in;
	struct perf_dlfilter_sample *samples;
	int dlargc;
	char **dlargv;
	struct perf_event_attr *attr; /* of the sample at hand */
};

struct filter {
	int (*start)(void **data, void *ctx);
	int (*stop)(void *data, void *ctx);
	int (*early)(void *data, const struct perf_dlfilter_sample *sample, void *ctx);
};

static char **host_args(void *ctx, int *dlargc)
{
	struct drive *d = ctx;

	*dlargc = d->dlargc;
	return d->dlargv;
}

static struct perf_event_attr *host_attr(void *ctx)
{
	struct drive *d = ctx;

	return d->attr;
}

static const struct perf_dlfilter_al *host_resolve(void *ctx)
{
	(void)ctx;
	return NULL;
}

static __s32 host_resolve_address(void *ctx, __u64 address, struct perf_dlfilter_al *al)
{
	(void)ctx;
	(void)address;
	(void)al;
	return -1;
}

static const __u8 *host_insn(void *ctx, __u32 *length)
{
	(void)ctx;
	*length = 0;
	return NULL;
}

static const char *host_srcline(void *ctx, __u32 *line)
{
	(void)ctx;
	*line = 0;
	return NULL;
}

static __s32 host_object_code(void *ctx, __u64 ip, void *buf, __u32 len)
{
	(void)ctx;
	(void)ip;
	(void)buf;
	(void)len;
	return -1;
}

static bool load(struct filter *f, const char *path)
{
	struct perf_dlfilter_fns *fns;
	void *handle = dlopen(path, RTLD_NOW);

	if (!handle) {
		fprintf(stderr, "%s (build it first)\n", dlerror());
		return false;
	}
	/* POSIX gives functions as object pointers; C has no cast for that. */
	*(void **)&f->start = dlsym(handle, "start");
	*(void **)&f->stop = dlsym(handle, "stop");
	*(void **)&f->early = dlsym(handle, "filter_event_early");
	fns = dlsym(handle, "perf_dlfilter_fns");
	if (fns) {
		fns->resolve_ip = host_resolve;
		fns->resolve_addr = host_resolve;
		fns->args = host_args;
		fns->resolve_address = host_resolve_address;
		fns->insn = host_insn;
		fns->srcline = host_srcline;
		fns->attr = host_attr;
		fns->object_code = host_object_code;
	}
	if (!f->early)
		fprintf(stderr, "%s: no filter_event_early (give a dlfilter)\n", path);
	return f->early;
}

/* What perf puts where the recording has nothing: -1, and the period asked for. */
static void fill(const struct recording *in, const struct record *rec,
		 struct perf_dlfilter_sample *s)
{
	const struct layout *l = &in->layouts[rec->layout];
	struct perf_event_header h;
	uint64_t tid;

	memcpy(&h, in->map + rec->offset, sizeof(h));
	tid = recording_field(in, rec, FIELD_TID, UINT64_MAX);
	s->size = sizeof(*s);
	s->ip = recording_field(in, rec, FIELD_IP, 0);
	s->pid = (int32_t)tid;
	s->tid = (int32_t)(tid >> 32);
	s->time = rec->time;
	s->addr = recording_field(in, rec, FIELD_ADDR, 0);
	s->id = recording_field(in, rec, FIELD_ID, UINT64_MAX);
	if (l->at[FIELD_IDENTIFIER])
		s->id = recording_field(in, rec, FIELD_IDENTIFIER, UINT64_MAX);
	s->stream_id = recording_field(in, rec, FIELD_STREAM_ID, UINT64_MAX);
	s->cpu = (int32_t)recording_field(in, rec, FIELD_CPU, UINT64_MAX);
	s->period = recording_field(in, rec, FIELD_PERIOD, l->attr.sample_period);
	s->cpumode = h.misc & PERF_RECORD_MISC_CPUMODE_MASK;
	s->misc = h.misc;
	s->event = "event";
	s->vcpu = -1;
}

static bool prepare(struct drive *d)
{
	uint64_t i;

	d->samples = calloc(d->in.samples.n, sizeof(*d->samples));
	if (!d->samples)
		return false;
	for (i = 0; i < d->in.samples.n; i++)
		fill(&d->in, &d->in.samples.at[i], &d->samples[i]);
	return true;
}

static double cpu_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static int drive(struct drive *d, const struct filter *f, uint64_t samples)
{
	void *data = NULL;
	uint64_t i, k = 0;
	double begin;
	struct perf_dlfilter_sample one;
	int rc = f->start ? f->start(&data, d) : 0;

	begin = cpu_seconds();
	for (i = 0; !rc && i < samples; i++) {
		/* Like perf, the same memory for each sample: it is in the cache. */
		one = d->samples[k];
		d->attr = &d->in.layouts[d->in.samples.at[k].layout].attr;
		if (f->early(data, &one, d) < 0)
			rc = -1;
		if (++k == d->in.samples.n)
			k = 0;
	}
	fprintf(stderr, "drive: %llu samples, %.2f ns each\n", (unsigned long long)i,
		i ? (cpu_seconds() - begin) * 1e9 / (double)i : 0);
	if (f->stop && f->stop(data, d) < 0)
		rc = -1;
	return rc ? 1 : 0;
}

static int run(struct drive *d, const char *filter, const char *recording,
	       uint64_t samples)
{
	const char *problem = recording_open(&d->in, recording);
	struct filter f;

	if (!problem && !prepare(d))
		problem = "out of memory (give a shorter recording)";
	if (problem) {
		fprintf(stderr, "%s: %s\n", recording, problem);
		return 1;
	}
	return load(&f, filter) ? drive(d, &f, samples) : 1;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{"samples", required_argument, NULL, 's'},
		{NULL, 0, NULL, 0},
	};
	unsigned long long samples = 10000000;
	struct drive d = {0};
	int c, status;

	while ((c = getopt_long(argc, argv, "+", options, NULL)) != -1)
		if (c != 's' || (samples = strtoull(optarg, NULL, 10)) == 0)
			argc = 0;
	if (argc - optind < 2) {
		fputs("usage: drive [--samples=N] FILTER.so IN.data [DLARG...]\n",
		      stderr);
		return 2;
	}
	d.dlargv = argv + optind + 2;
	d.dlargc = argc - optind - 2;
	status = run(&d, argv[optind], argv[optind + 1], samples);
	free(d.samples);
	recording_close(&d.in);
	return status;
}
