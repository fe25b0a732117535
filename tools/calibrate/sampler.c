// SPDX-License-Identifier: GPL-2.0-only
#include "tools/calibrate/sampler.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tools/calibrate/perf-event.h"
#include "tools/calibrate/pmu.h"

#define RING_PAGES 64     /* a power of two; perf_event_mlock_kb allows 128 */
#define TIMER_NS   249989 /* a prime, so as not to beat with what a guest does */
#define FREQUENCY  4000

const struct hlg_sampling hlg_samplings[HLG_SAMPLINGS] = {
	{"cpu-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, 0, true, true},
	{"task-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK, 0, true, true},
	{"cycles:G", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, 0, false, true},
	{"cycles:Gp", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, 1, false, true},
	{"instructions:G", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, 0, false,
	 false},
	{"instructions:Gp", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, 1, false,
	 false},
};

bool hlg_sampler_open(struct hlg_sampler *sampler, const struct hlg_sampling *event,
		      char reason[static 256])
{
	struct perf_event_attr attr = {
		.type = event->type,
		.size = sizeof(attr),
		.config = event->config,
		.sample_type = PERF_SAMPLE_IP,
		.disabled = 1,
		.precise_ip = event->precise,
		.exclude_host = !event->timer,
	};

	*sampler = (struct hlg_sampler){.fd = -1, .ring = MAP_FAILED};
	if (event->timer) {
		attr.sample_period = TIMER_NS;
	} else {
		attr.freq = 1;
		attr.sample_freq = FREQUENCY;
	}
	sampler->fd = hlg_perf_event_open(&attr);
	/* Without privileges ring 3 only, which is where the guests are. A timer would
	 * then drop them, since it interrupts the host's kernel. */
	if (sampler->fd < 0 && errno == EACCES && !event->timer) {
		attr.exclude_kernel = 1;
		sampler->fd = hlg_perf_event_open(&attr);
	}
	if (sampler->fd < 0) {
		snprintf(reason, 256, "%s", hlg_pmu_why(errno));
		return false;
	}
	sampler->size = (RING_PAGES + 1) * (size_t)sysconf(_SC_PAGESIZE);
	sampler->ring = mmap(NULL, sampler->size, PROT_READ | PROT_WRITE, MAP_SHARED,
			     sampler->fd, 0);
	if (sampler->ring == MAP_FAILED)
		snprintf(reason, 256, "no room for samples: %s", strerrordesc_np(errno));
	return sampler->ring != MAP_FAILED;
}

void hlg_sampler_finish(struct hlg_sampler *sampler)
{
	if (sampler->ring != MAP_FAILED)
		munmap(sampler->ring, sampler->size);
	if (sampler->fd >= 0)
		close(sampler->fd);
}

/* Bytes of the ring from a position on, which may go around its end. */
static void take(const struct hlg_sampler *sampler, uint64_t at, void *to, size_t n)
{
	size_t page = sampler->size / (RING_PAGES + 1), size = RING_PAGES * page;
	const char *data = (const char *)sampler->ring + page;

	for (size_t i = 0; i < n; i++)
		((char *)to)[i] = data[(at + i) % size];
}

void hlg_sampler_drain(struct hlg_sampler *sampler,
		       void (*each)(void *ctx, uint64_t ip, bool guest), void *ctx)
{
	struct perf_event_mmap_page *about = sampler->ring;
	uint64_t head = __atomic_load_n(&about->data_head, __ATOMIC_ACQUIRE);
	uint64_t at = about->data_tail, values[2];
	struct perf_event_header header;

	while (at < head) {
		unsigned mode;

		take(sampler, at, &header, sizeof(header));
		if (header.size < sizeof(header))
			break;
		take(sampler, at + sizeof(header), values, sizeof(values));
		mode = header.misc & PERF_RECORD_MISC_CPUMODE_MASK;
		if (header.type == PERF_RECORD_SAMPLE)
			each(ctx, values[0],
			     mode == PERF_RECORD_MISC_GUEST_USER ||
				     mode == PERF_RECORD_MISC_GUEST_KERNEL);
		else if (header.type == PERF_RECORD_LOST)
			sampler->lost += values[1];
		at += header.size;
	}
	__atomic_store_n(&about->data_tail, head, __ATOMIC_RELEASE);
}
