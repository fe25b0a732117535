// SPDX-License-Identifier: GPL-2.0-only
/* Batches: which of them count, and what they come to. */
#include <stdlib.h>
#include <string.h>

#include "tools/calibrate/native.h"

#define SLOWER 1.03 /* than the fastest, and a probe had no core of its own */

/* What adds that wait for nothing took, in core cycles: whatever the clock was. */
static double cycles_of(const struct hlg_native_batch *batch)
{
	return (double)batch->wide / (double)batch->clock * HLG_PROBE_CHAIN;
}

static double fastest(const struct hlg_native *native)
{
	double least = 0;

	for (size_t row = 0; row < HLG_NATIVE_ROWS; row++)
		for (size_t i = 0; i < native->n; i++) {
			double cycles = cycles_of(&native->logs[row].batches[i]);

			least = least == 0 || cycles < least ? cycles : least;
		}
	return least;
}

void hlg_native_sum_judge(struct hlg_native *native)
{
	double least = fastest(native);

	for (size_t row = 0; row < HLG_NATIVE_ROWS; row++)
		for (size_t i = 0; i < native->n; i++) {
			struct hlg_native_batch *batch = &native->logs[row].batches[i];

			if (batch->why == HLG_NATIVE_SHARED)
				batch->why = HLG_NATIVE_QUIET;
			if (batch->why == HLG_NATIVE_QUIET &&
			    cycles_of(batch) > least * SLOWER)
				batch->why = HLG_NATIVE_SHARED;
		}
}

/* Medians of batches: least and most of all, and of the quiet ones. */
static void note_median(struct hlg_batches *batches, uint64_t median, bool quiet)
{
	batches->least = median < batches->least ? median : batches->least;
	batches->most = median > batches->most ? median : batches->most;
	if (!quiet)
		return;
	batches->quiet_least =
		median < batches->quiet_least ? median : batches->quiet_least;
	batches->quiet_most = median > batches->quiet_most ? median : batches->quiet_most;
}

static void count_batches(const struct hlg_native_log *log, size_t n, uint64_t *room,
			  struct hlg_batches *batches)
{
	*batches = (struct hlg_batches){
		.n = n, .least = UINT64_MAX, .quiet_least = UINT64_MAX};
	for (size_t i = 0; i < n; i++) {
		enum hlg_native_why why = log->batches[i].why;

		batches->whys[why]++;
		memcpy(room, log->readings + i * log->turns, log->turns * sizeof(*room));
		hlg_ticks_sort(room, log->turns);
		note_median(batches, hlg_ticks_percentile(room, log->turns, 50),
			    why == HLG_NATIVE_QUIET);
	}
	if (batches->whys[HLG_NATIVE_QUIET] == 0)
		batches->quiet_least = 0;
	batches->undisturbed = batches->whys[HLG_NATIVE_QUIET] >= HLG_NATIVE_FEW &&
			       batches->whys[HLG_NATIVE_QUIET] >= n / HLG_NATIVE_SHARE;
}

bool hlg_native_sum(const struct hlg_native *native, enum hlg_native_row row,
		    struct hlg_ticks *ticks, struct hlg_batches *batches)
{
	const struct hlg_native_log *log = &native->logs[row];
	size_t size = log->turns * sizeof(*log->readings), n = 0;
	uint64_t *room = malloc((native->n + 1) * size);
	struct hlg_ticks all;
	bool ok = room && native->n;

	if (ok) {
		count_batches(log, native->n, room, batches);
		memcpy(room, log->readings, native->n * size);
		ok = hlg_ticks_sum(&all, room, native->n * log->turns);
		batches->raw = all.drift;
	}
	for (size_t i = 0; ok && i < native->n; i++)
		if (!batches->undisturbed || log->batches[i].why == HLG_NATIVE_QUIET)
			memcpy(room + n++ * log->turns, log->readings + i * log->turns,
			       size);
	ok = ok && hlg_ticks_sum(ticks, room, n * log->turns);
	free(room);
	return ok;
}

void hlg_native_sum_clock(const struct hlg_native *native, struct hlg_clock *clock)
{
	const struct hlg_native_log *log = &native->logs[0];
	uint64_t clocks[HLG_NATIVE_MOST]; /* 64 KB */

	*clock = (struct hlg_clock){0};
	if (native->n == 0)
		return;
	for (size_t i = 0; i < native->n; i++)
		clocks[i] = log->batches[i].clock;
	hlg_ticks_sort(clocks, native->n);
	clock->low = (double)hlg_ticks_percentile(clocks, native->n, 5) / HLG_PROBE_CHAIN;
	clock->ticks =
		(double)hlg_ticks_percentile(clocks, native->n, 50) / HLG_PROBE_CHAIN;
	clock->high =
		(double)hlg_ticks_percentile(clocks, native->n, 95) / HLG_PROBE_CHAIN;
	clock->width = HLG_PROBE_WIDE / fastest(native);
}
