// SPDX-License-Identifier: GPL-2.0-only
/*
 * perf.data, in file and in pipe mode, compressed or not: read by the feed with host
 * rows, and once more with all that a sample can hold. What the feed has counted adds up.
 */
#include <stdio.h>
#include <stdlib.h>

#include "tests/fuzz/door.h"
#include "tools/feed/feed.h"
#include "tools/perfdata/perfdata.h"
#include "tools/perfdata/record.h"

static void check(const struct hlg_profile *profile,
		  const struct hlg_recording_sums *sums)
{
	uint64_t guest = 0;

	for (size_t i = 0; i < hlg_profile_room(profile); i++)
		guest += profile->cells[i].count.samples;
	if (guest != sums->guest ||
	    sums->guest + sums->host + sums->deselected != profile->seen.samples)
		door_fail("samples are not conserved");
}

static void count(const char *path)
{
	char *words[] = {(char *)"mode=all", (char *)"by=pid,cpu"};
	const struct hlg_feed_how how = {.threads = 1};
	struct hlg_profile profile;
	struct hlg_options options;
	struct hlg_recording_sums sums;
	struct hlg_host host = {0};
	struct hlg_err err;

	if (hlg_options_parse(&options, 2, words, &err) < 0 ||
	    !hlg_profile_init(&profile, &options))
		door_fail("options");
	if (hlg_feed_read(path, &how, &profile, &host, &sums, &err) == 0)
		check(&profile, &sums);
	hlg_host_sort(&host, &profile, HLG_WEIGHT_PERIOD);
	hlg_host_finish(&host);
	hlg_profile_finish(&profile);
	hlg_options_finish(&options);
}

static void on_sample(void *ctx, struct hlg_perfdata_raw *raw)
{
	struct hlg_perfdata *pd = ctx;
	struct hlg_perfdata_fields fields;
	struct hlg_perfdata_bytes data;

	hlg_perfdata_decode(&fields, &hlg_perfdata_event(pd, raw->layout->event)->attr,
			    raw->record, (uint16_t)raw->size);
	hlg_perfdata_data(raw, &data);
}

static int on_group(void *ctx, const struct hlg_perfdata_group *group,
		    struct hlg_err *err)
{
	(void)err;
	for (uint32_t i = 0; i < group->n; i++)
		if (!hlg_perfdata_event(ctx, group->members[i].event)->name)
			door_fail("a member has no event");
	return 0;
}

static void decode(const char *path)
{
	static const struct hlg_perfdata_sink sink = {.group = on_group};
	struct hlg_perfdata *pd;
	struct hlg_err err;
	size_t size;
	void *data;

	if (hlg_perfdata_open(&pd, path, &err) < 0)
		return;
	hlg_perfdata_read(pd, on_sample, &sink, pd, &err);
	if (hlg_perfdata_tracing(pd, &data, &size, &err) == 0)
		free(data);
	hlg_perfdata_close(pd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *path = door_path(data, size);

	count(path);
	decode(path);
	return 0;
}
