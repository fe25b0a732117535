// SPDX-License-Identifier: GPL-2.0-only
#include "tools/perfdata/count.h"

#include <string.h>

#include "tools/perfdata/perfdata.h"

struct count {
	const struct hlg_perfdata *pd;
	uint64_t guest, traced, kvm;
	bool enough;   /* stop at the first guest sample */
	int32_t *pids; /* NULL: not wanted */
	size_t n_pids, max_pids;
};

static void add_pid(struct count *count, int32_t pid)
{
	for (size_t i = 0; i < count->n_pids; i++)
		if (count->pids[i] == pid)
			return;
	if (count->n_pids < count->max_pids)
		count->pids[count->n_pids++] = pid;
}

static inline __attribute__((always_inline)) void on_sample(void *ctx,
							    struct hlg_perfdata_raw *raw)
{
	unsigned mode = hlg_perfdata_cpumode(raw);
	struct count *count = ctx;
	const char *name;

	bool guest = mode == PERF_RECORD_MISC_GUEST_KERNEL ||
		     mode == PERF_RECORD_MISC_GUEST_USER;

	count->guest += guest;
	if (guest && count->pids)
		add_pid(count, hlg_perfdata_pid(raw));
	if (raw->layout->attr->type != PERF_TYPE_TRACEPOINT)
		return;
	count->traced++;
	name = hlg_perfdata_event(count->pd, raw->event)->name;
	count->kvm += strncmp(name, "kvm:", 4) == 0 && strcmp(name, "kvm:kvm_pio") != 0 &&
		      strcmp(name, "kvm:kvm_mmio") != 0;
}

/* A negative value ends the read. */
static int on_progress(void *ctx, uint64_t bytes, uint64_t samples, struct hlg_err *err)
{
	const struct count *count = ctx;

	(void)bytes;
	(void)samples;
	(void)err;
	return count->enough && (count->guest || count->kvm) ? -1 : 0;
}

static int read_counts(const char *path, struct count *count, struct hlg_err *err)
{
	static const struct hlg_perfdata_sink sink = {.progress = on_progress};
	struct hlg_perfdata *pd;
	int rc = hlg_perfdata_open(&pd, path, err);

	if (rc < 0)
		return rc;
	count->pd = pd;
	rc = hlg_perfdata_read(pd, on_sample, &sink, count, err);
	hlg_perfdata_close(pd);
	return rc;
}

int hlg_perfdata_count_traced(const char *path, uint64_t *n, struct hlg_err *err)
{
	struct count count = {0};
	int rc = read_counts(path, &count, err);

	*n = count.traced;
	return rc;
}

size_t hlg_perfdata_count_pids(const char *path, int32_t *pids, size_t n)
{
	struct count count = {.pids = pids, .max_pids = n};
	struct hlg_err err;

	read_counts(path, &count, &err);
	return count.n_pids;
}

bool hlg_perfdata_count_is_good(const char *path)
{
	struct count count = {.enough = true};
	struct hlg_err err;

	/* One that ends in the middle has what was met. */
	read_counts(path, &count, &err);
	return count.guest || count.kvm;
}
