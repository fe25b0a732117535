/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The inside of fakeperf: perf as a dlfilter sees it, from dlopen() to stop(). What it
 * does and does not do is told at the top of fakeperf.c.
 */
#ifndef HLG_TESTS_FAKEPERF_HOST_H
#define HLG_TESTS_FAKEPERF_HOST_H

#include "tests/kit/samples.h"

#include <perf/perf_dlfilter.h>
#include <stdbool.h>

struct fakeperf {
	/* What perf is asked to be; set before fakeperf_load(). */
	char **args; /* exactly n_args of them: perf does not end them with NULL either */
	int n_args;
	size_t sample_size;
	size_t al_size;
	uint64_t sigint_after;
	bool no_attr, no_resolve_ip, header_only, verbose;

	/* The filter, from fakeperf_load(); the caller closes handle when not NULL. */
	void *handle;
	int (*start)(void **data, void *ctx);
	int (*stop)(void *data, void *ctx);
	int (*early)(void *data, const struct perf_dlfilter_sample *sample, void *ctx);
	int (*late)(void *data, const struct perf_dlfilter_sample *sample, void *ctx);
	void *data;

	/* The call under way. */
	bool in_start_or_stop, in_sample;
	const struct samples *samples;
	struct samples_event *event;
	const struct samples_row *row;
	struct perf_dlfilter_al *al; /* of this sample; NULL: not asked for yet */
	char name[32];               /* the function resolve_address() told of last */
	unsigned char raw[40];       /* of this sample */
};

/*
 * Loads the filter, a bare name from the current directory. False, with dlerror() on
 * stderr, when that fails.
 */
bool fakeperf_load(struct fakeperf *h, const char *path);

/*
 * Prints the description on stdout. Returns an exit status: 1 when there is none or
 * *long_description was not set, which crashes perf.
 */
int fakeperf_describe(const struct fakeperf *h);

/* start(), the samples, stop(). Returns perf's exit status. */
int fakeperf_run(struct fakeperf *h, struct samples *s);

#endif
