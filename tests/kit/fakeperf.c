// SPDX-License-Identifier: GPL-2.0-only
/*
 * fakeperf: plays the part of `perf script --dlfilter FILTER.so` for a filter, so that
 * tests can give it perfs of other versions, samples no machine makes, and sanitizers.
 *
 *	fakeperf [OPTION]... FILTER.so SAMPLES.txt
 *
 *	--arg=ARG          a --dlarg; repeatable, in order
 *	--sample-size=N    size of struct perf_dlfilter_sample: 200 is perf 5.14 - 5.19,
 *	                   208 is 6.0 and later, other sizes are perfs that never were
 *	--al-size=N        the same for struct perf_dlfilter_al (80; 6.6 and later: 88)
 *	--no-attr          a perf whose attr() is not there
 *	--no-resolve-ip    a perf whose resolve_ip() and resolve_address() are not there
 *	--sigint-after=N   raise SIGINT once N samples have been passed on
 *	--header-only      perf script --header-only: stop() without start()
 *	--describe         only print filter_description(), as --list-dlfilters -v does
 *	--verbose          print each return value of the filter on stdout
 *
 * What the filter gets is in memory of exactly the size said, given back after the
 * call, so that address sanitizer sees a read past the end or too late. As in perf, guest
 * samples (cpumode 4 and 5) are given to filter_event_early only, args() works in start,
 * stop and the early hook, the others in the hooks only. resolve_ip() knows one symbol
 * for every host address from 0x1000 on and none for guests.
 *
 * The exit status is perf's: of start() and the hooks rc & 0xff, stop() ignored, 255
 * for what cannot be loaded. 2: usage, or a line of SAMPLES.txt that makes no sense.
 */
#include "tests/kit/fakeperf-host.h"

#include <dlfcn.h>
#include <errno.h>
#include <getopt.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PERF_CANNOT 255
#define USAGE       2

static void *xmalloc(size_t size)
{
	void *p = malloc(size);

	if (!p && size)
		abort();
	return p;
}

static const struct option long_options[] = {
	{"arg", required_argument, NULL, 'a'},
	{"sample-size", required_argument, NULL, 's'},
	{"al-size", required_argument, NULL, 'l'},
	{"sigint-after", required_argument, NULL, 'i'},
	{"no-attr", no_argument, NULL, 'A'},
	{"no-resolve-ip", no_argument, NULL, 'R'},
	{"header-only", no_argument, NULL, 'h'},
	{"describe", no_argument, NULL, 'd'},
	{"verbose", no_argument, NULL, 'v'},
	{0},
};

static void add_arg(struct fakeperf *h, char *arg)
{
	char **args = xmalloc(((size_t)h->n_args + 1) * sizeof(*args));

	if (h->n_args)
		memcpy(args, h->args, (size_t)h->n_args * sizeof(*args));
	free(h->args);
	h->args = args;
	h->args[h->n_args++] = arg;
}

static bool set_option(struct fakeperf *h, int option, bool *describe)
{
	char *end = NULL;
	uint64_t n = 0;

	if (option == 's' || option == 'l' || option == 'i') {
		n = strtoull(optarg, &end, 0);
		/* size, at least, must be there to be read */
		if (*end || (option != 'i' && (n < 4 || n > 65536)))
			return false;
	}
	switch (option) {
	case 'a':
		add_arg(h, optarg);
		break;
	case 's':
		h->sample_size = n;
		break;
	case 'l':
		h->al_size = n;
		break;
	case 'i':
		h->sigint_after = n;
		break;
	case 'A':
		h->no_attr = true;
		break;
	case 'R':
		h->no_resolve_ip = true;
		break;
	case 'h':
		h->header_only = true;
		break;
	case 'd':
		*describe = true;
		break;
	case 'v':
		h->verbose = true;
		break;
	default:
		return false;
	}
	return true;
}

static bool read_samples(struct samples *s, const char *path, int *status)
{
	unsigned line;

	if (!samples_read(s, path, &line))
		return true;
	if (line)
		fprintf(stderr, "fakeperf: %s:%u: not a sample\n", path, line);
	else
		fprintf(stderr, "fakeperf: %s: %s\n", path, strerror(errno));
	*status = line ? USAGE : PERF_CANNOT;
	return false;
}

int main(int argc, char **argv)
{
	struct fakeperf h = {
		.sample_size = sizeof(struct perf_dlfilter_sample),
		.al_size = sizeof(struct perf_dlfilter_al),
		.sigint_after = UINT64_MAX,
	};
	struct samples samples = {0};
	int status = PERF_CANNOT;
	int option;
	bool describe = false;
	bool good = true;

	while (good && (option = getopt_long(argc, argv, "", long_options, NULL)) != -1)
		good = set_option(&h, option, &describe);
	if (!good || argc - optind != (describe ? 1 : 2)) {
		fputs("usage: fakeperf [OPTION]... FILTER.so SAMPLES.txt\n", stderr);
		status = USAGE;
	} else if (describe) {
		if (fakeperf_load(&h, argv[optind]))
			status = fakeperf_describe(&h);
	} else if (read_samples(&samples, argv[optind + 1], &status)) {
		if (fakeperf_load(&h, argv[optind]))
			status = fakeperf_run(&h, &samples);
	}
	if (h.handle)
		dlclose(h.handle);
	free(h.args);
	samples_finish(&samples);
	return status;
}
