// SPDX-License-Identifier: GPL-2.0-only
#include "tests/kit/fakeperf-host.h"

#include <dlfcn.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HOST_START        0x1000       /* no symbols below */
#define KERNEL            (1ULL << 63) /* the kernel's addresses */
#define FILTERED_BY_GUEST 0x10

static volatile sig_atomic_t interrupted;

static void on_sigint(int sig)
{
	(void)sig;
	interrupted = 1;
}

static void *xmalloc(size_t size)
{
	void *p = malloc(size);

	if (!p && size)
		abort();
	return p;
}

/* size bytes of *from; what a later perf has beyond room is not zero. */
static void *exactly(const void *from, size_t room, size_t size)
{
	unsigned char *p = xmalloc(size);

	if (size > room)
		memset(p + room, 0xa5, size - room);
	memcpy(p, from, size < room ? size : room);
	return p;
}

static char **host_args(void *ctx, int *n)
{
	const struct fakeperf *h = ctx;

	if (!n)
		return NULL;
	*n = 0;
	if (!h->in_start_or_stop && !h->in_sample)
		return NULL;
	*n = h->n_args;
	return h->args;
}

static struct perf_event_attr *host_attr(void *ctx)
{
	const struct fakeperf *h = ctx;

	return h->in_sample ? &h->event->attr : NULL;
}

static bool is_guest(const struct samples_row *row)
{
	return row->cpumode == PERF_RECORD_MISC_GUEST_KERNEL ||
	       row->cpumode == PERF_RECORD_MISC_GUEST_USER;
}

static const struct perf_dlfilter_al *host_resolve_ip(void *ctx)
{
	struct perf_dlfilter_al al;
	struct fakeperf *h = ctx;
	uint64_t ip;

	if (!h->in_sample)
		return NULL;
	if (h->al)
		return h->al;
	ip = h->row->ip;
	memset(&al, 0, sizeof(al));
	al.size = (__u32)h->al_size;
	al.addr = ip;
	al.comm = "vmm";
	al.is_64_bit = 1;
	al.is_kernel_ip = ip >= KERNEL;
	al.filtered = is_guest(h->row) ? FILTERED_BY_GUEST : 0;
	if (!is_guest(h->row) && ip >= HOST_START) {
		al.sym = ip >= KERNEL ? "kernel_function" : "vmm_function";
		al.dso = ip >= KERNEL ? "[kernel.kallsyms]" : "/usr/bin/vmm";
		al.sym_start = ip & ~0xfffULL;
		al.sym_end = al.sym_start + 0x1000;
		al.symoff = ip & 0xfff;
		al.sym_binding = 1;
	}
	h->al = exactly(&al, sizeof(al), h->al_size);
	return h->al;
}

/*
 * Every other page has a function of its own, what is between is in a file only. As in
 * perf, an address is looked for where the sample's mode says.
 */
static __s32 host_resolve_address(void *ctx, __u64 address, struct perf_dlfilter_al *to)
{
	struct perf_dlfilter_al al;
	struct fakeperf *h = ctx;
	bool kernel = address >= KERNEL;

	if (!h->in_sample || !to)
		return -1;
	memset(&al, 0, sizeof(al));
	al.is_kernel_ip = kernel;
	if (address >= HOST_START && !is_guest(h->row) &&
	    kernel == (h->row->cpumode == PERF_RECORD_MISC_KERNEL)) {
		snprintf(h->name, sizeof(h->name), "%s_%llx", kernel ? "kernel" : "vmm",
			 (unsigned long long)(address & ~KERNEL) >> 12);
		al.sym = address >> 12 & 1 ? NULL : h->name;
		al.dso = kernel ? "[kernel.kallsyms]" : "/usr/bin/vmm";
		al.symoff = address & 0xfff;
		al.sym_start = address & ~0xfffULL;
		al.sym_end = al.sym_start + 0x1000;
	}
	al.size = to->size;
	memcpy(to, &al, to->size < sizeof(al) ? to->size : sizeof(al));
	return 0;
}

/* The table is 1,024 bytes in every perf; what is not here is NULL. */
static void fill_fns(const struct fakeperf *h)
{
	struct perf_dlfilter_fns fns = {
		.args = host_args,
		.attr = h->no_attr ? NULL : host_attr,
		.resolve_ip = h->no_resolve_ip ? NULL : host_resolve_ip,
		.resolve_address = h->no_resolve_ip ? NULL : host_resolve_address,
	};
	void *theirs = dlsym(h->handle, "perf_dlfilter_fns");

	_Static_assert(sizeof(fns) == 1024, "perf's table of functions has grown");
	if (theirs)
		memcpy(theirs, &fns, sizeof(fns));
}

/* ISO C has no cast from a data pointer to a function pointer. */
static void find(const struct fakeperf *h, const char *name, void *function)
{
	void *symbol = dlsym(h->handle, name);

	memcpy(function, &symbol, sizeof(symbol));
}

bool fakeperf_load(struct fakeperf *h, const char *path)
{
	char here[4096];

	/* perf looks for a bare name in the current directory first. */
	snprintf(here, sizeof(here), "%s%s", strchr(path, '/') ? "" : "./", path);
	h->handle = dlopen(here, RTLD_NOW);
	if (!h->handle) {
		fprintf(stderr, "fakeperf: %s\n", dlerror());
		return false;
	}
	find(h, "start", &h->start);
	find(h, "stop", &h->stop);
	find(h, "filter_event_early", &h->early);
	find(h, "filter_event", &h->late);
	fill_fns(h);
	return true;
}

int fakeperf_describe(const struct fakeperf *h)
{
	/* perf passes what happens to be on its stack. */
	static const char unset[] = "(filter_description left long_description unset)";
	const char *(*description)(const char **) = NULL;
	const char *longer = unset;
	const char *shorter;

	find(h, "filter_description", &description);
	shorter = description ? description(&longer) : NULL;
	printf("%s\n", shorter ? shorter : "(no description)");
	if (description && longer)
		printf("%s\n", longer);
	return description && longer != unset ? 0 : 1;
}

static void fill_sample(struct perf_dlfilter_sample *s, struct fakeperf *h)
{
	const struct samples_row *row = h->row;

	memset(s, 0, sizeof(*s));
	s->size = (__u32)h->sample_size;
	s->ip = row->ip;
	s->pid = row->pid;
	s->tid = row->tid;
	s->time = row->time;
	s->id = UINT64_MAX;
	s->stream_id = UINT64_MAX;
	s->period = row->period;
	s->cpu = row->cpu;
	s->cpumode = row->cpumode;
	s->misc = row->cpumode;
	s->event = h->event->name;
	s->raw_callchain_nr = row->n_chain;
	s->raw_callchain =
		row->n_chain ? (const __u64 *)(h->samples->words + row->chain) : NULL;
	if (row->ioctl >= 0) {
		/* struct syscall_trace_enter: args[1] is cmd */
		memset(h->raw, 0, sizeof(h->raw));
		memcpy(h->raw + 24, &row->ioctl, sizeof(row->ioctl));
		s->raw_data = h->raw;
		s->raw_size = sizeof(h->raw);
	}
#ifdef PERF_DLFILTER_HAS_MACHINE_PID
	s->vcpu = -1;
#endif
}

/* One call of one hook, with a sample of its own. */
static int call(struct fakeperf *h, const char *name,
		int (*hook)(void *, const struct perf_dlfilter_sample *, void *))
{
	struct perf_dlfilter_sample full;
	struct perf_dlfilter_sample *sample;
	int rc;

	if (!hook)
		return 0;
	fill_sample(&full, h);
	sample = exactly(&full, sizeof(full), h->sample_size);
	h->in_sample = true;
	rc = hook(h->data, sample, h);
	h->in_sample = false;
	free(sample);
	free(h->al);
	h->al = NULL;
	if (h->verbose)
		printf("%s %d 0x%llx %d\n", name, h->row->cpumode,
		       (unsigned long long)h->row->ip, rc);
	return rc;
}

/* Returns what ended it: a negative return value, or 0. */
static int run_sample(struct fakeperf *h)
{
	int rc = call(h, "early", h->early);

	if (rc || is_guest(h->row))
		return rc < 0 ? rc : 0;
	rc = call(h, "late", h->late);
	return rc < 0 ? rc : 0;
}

static int run_samples(struct fakeperf *h, struct samples *s)
{
	uint64_t passed = 0;

	h->samples = s;
	for (size_t i = 0; i < s->n_rows; i++) {
		h->row = &s->rows[i];
		h->event = &s->events[h->row->event];
		for (uint64_t n = 0; n < h->row->count; n++) {
			int rc;

			if (passed++ == h->sigint_after)
				raise(SIGINT);
			if (interrupted)
				return 0;
			rc = run_sample(h);
			if (rc)
				return rc;
		}
	}
	if (passed == h->sigint_after)
		raise(SIGINT);
	return 0;
}

int fakeperf_run(struct fakeperf *h, struct samples *s)
{
	int rc = 0;

	h->in_start_or_stop = true;
	if (h->start && !h->header_only)
		rc = h->start(&h->data, h);
	h->in_start_or_stop = false;
	if (!rc && !h->header_only) {
		/* After start(), as perf does: a filter that wants it must chain. */
		signal(SIGINT, on_sigint);
		rc = run_samples(h, s);
	}
	h->in_start_or_stop = true;
	if (h->stop)
		h->stop(h->data, h);
	h->in_start_or_stop = false;
	return rc & 0xff;
}
