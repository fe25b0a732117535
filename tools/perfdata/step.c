// SPDX-License-Identifier: GPL-2.0-only
/*
 * Everything of a walk that is not a plain sample: other records, the end of the window,
 * compressed records, the end of a file.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "symtab/file.h"
#include "tools/perfdata/reader.h"
#include "tools/perfdata/sum.h"

struct hlg_perfdata_walk *hlg_perfdata_begin(struct hlg_perfdata *pd,
					     hlg_perfdata_sample_fn *sample,
					     const struct hlg_perfdata_sink *sink,
					     void *ctx)
{
	pd->sample = sample;
	pd->sink = sink;
	pd->ctx = ctx;
	return &pd->walk;
}

static int tell_progress(struct hlg_perfdata *pd, struct hlg_err *err)
{
	uint64_t here = hlg_window_offset(pd), samples = pd->counts.samples;
	uint64_t done = pd->done + (here > pd->part_from ? here - pd->part_from : 0);
	int rc = 0;

	if (pd->sink && pd->sink->progress)
		rc = pd->sink->progress(pd->ctx, done - pd->told,
					samples - pd->told_samples, err);
	pd->told = done;
	pd->told_samples = samples;
	return rc < 0 ? rc : 1;
}

/* On to the next data.N of a directory: 1, 0 if there is none, or an error. */
static int next_file(struct hlg_perfdata *pd, struct hlg_err *err)
{
	struct hlg_file_id id;
	char *path;
	int fd;

	if (pd->next_data_file == pd->n_data_files)
		return 0;
	if (asprintf(&path, "%s/%s", pd->path,
		     pd->data_files[pd->next_data_file]->d_name) < 0)
		return hlg_err_memory(err, pd->path);
	fd = hlg_file_open(path, &id, err);
	free(path);
	if (fd < 0)
		return fd;
	pd->next_data_file++;
	if (pd->data_fd >= 0)
		close(pd->data_fd);
	pd->data_fd = fd;
	pd->done += pd->source.limit - pd->part_from;
	hlg_window_open(pd, fd, (uint64_t)id.size);
	return 1;
}

/*
 * This file has no more to give: bytes is what lies behind its last whole record. Goes on
 * with the next file, if there is one.
 */
static int leave_file(struct hlg_perfdata *pd, uint64_t bytes, struct hlg_err *err)
{
	int rc;

	pd->counts.left += bytes;
	if (!pd->source.stream && pd->source.next < pd->source.limit &&
	    !pd->counts.corrupt)
		pd->counts.missing =
			hlg_sum(pd->counts.missing, pd->source.limit - pd->source.next);
	pd->unzipping = false;
	pd->walk.end = pd->walk.at;
	rc = next_file(pd, err);
	if (rc == 0)
		pd->stopped = true;
	return rc;
}

/* Not a record: nothing tells where the next one begins. */
static int leave_corrupt(struct hlg_perfdata *pd, struct hlg_err *err)
{
	uint64_t here = (uint64_t)(pd->hard_end - pd->walk.at), ahead = 0;
	uint64_t inflated = pd->unzipping ? here : 0;
	int rc = 0;

	pd->counts.corrupt = true;
	if (!pd->source.stream)
		ahead = pd->source.limit - hlg_window_offset(pd);
	else if (!pd->source.through)
		rc = hlg_window_drain(pd, &ahead, err);
	else /* who writes it may never end */
		ahead = here - inflated;
	return rc < 0 ? rc : leave_file(pd, inflated + ahead, err);
}

static int leave_end(struct hlg_perfdata *pd, struct hlg_err *err)
{
	uint64_t tail = (uint64_t)(pd->unzipped.end - pd->unzipped.at);

	return leave_file(pd, (uint64_t)(pd->hard_end - pd->walk.at) + tail, err);
}

static int more(struct hlg_perfdata *pd, struct hlg_err *err)
{
	bool unzipping = pd->unzipping;
	int rc = hlg_window_fill(pd, err);

	if (rc < 0 || unzipping)
		return rc;
	return rc > 0 ? tell_progress(pd, err) : leave_end(pd, err);
}

/* Bytes that the header of this file told of, and the file lacks: they are counted. */
static uint64_t promised(const struct hlg_perfdata *pd)
{
	const uint64_t there = pd->limit - pd->from, size = pd->header.data.size;

	return pd->next_data_file || size < there ? 0 : size - there;
}

/*
 * On with the n bytes behind a record of record_size bytes that are not in its size, to
 * dst if any. If they are cut off, so is the file.
 */
static int payload(struct hlg_perfdata *pd, uint8_t *dst, uint64_t n, size_t record_size,
		   struct hlg_err *err)
{
	int64_t got = hlg_window_take(pd, dst, n, err);
	uint64_t counted = promised(pd), lacks;

	if (got < 0)
		return (int)got;
	if ((uint64_t)got == n)
		return 0;
	lacks = n - (uint64_t)got;
	pd->counts.missing =
		hlg_sum(pd->counts.missing, lacks > counted ? lacks - counted : 0);
	return leave_file(pd, record_size + (uint64_t)got, err);
}

/* COMPRESSED: all of it; COMPRESSED2: u64 size, then that much, padded. */
static int unzip(struct hlg_perfdata *pd, uint32_t type, const uint8_t *record,
		 size_t size, struct hlg_err *err)
{
	size_t skip = type == HLG_RECORD_COMPRESSED2 ? 16 : HLG_HEADER_SIZE;
	uint64_t n = size - HLG_HEADER_SIZE;

	if (type == HLG_RECORD_COMPRESSED2 && size >= skip)
		n = hlg_perfdata_u64(record + 8);
	if (size < skip || n > size - skip) {
		pd->counts.bad_record++;
		return 0;
	}
	if (pd->unzipping)
		return payload(pd, NULL, n, size, err);
	return hlg_window_unzip(pd, record + skip, n, err);
}

/* u32 size, then behind the record that many bytes. */
static int read_tracing(struct hlg_perfdata *pd, const uint8_t *record, size_t size,
			struct hlg_err *err)
{
	uint8_t *copy = NULL;
	uint32_t n;
	int rc;

	if (size < 12)
		return hlg_err_set(err, HLG_EINPUT,
				   "%s: a record of tracing data is too short (damaged; "
				   "record again)",
				   pd->path);
	n = hlg_perfdata_u32(record + 8);
	if (!pd->source.stream) {
		pd->features[HLG_FEATURE_TRACING_DATA] =
			(struct hlg_file_section){hlg_window_offset(pd), n};
	} else if (n && n <= HLG_MAX_FEATURE) {
		copy = calloc(1, n);
		if (!copy)
			return hlg_err_memory(err, pd->path);
	}
	rc = payload(pd, copy, n, size, err);
	if (copy) {
		free(pd->tracing_copy);
		pd->tracing_copy = copy;
		pd->tracing_size = n;
	}
	return rc;
}

/* The layout by which a record that is no sample ends (sample_id_all): of the first event
 * where it has no id, as perf's own have not. NULL without events. */
static const struct hlg_perfdata_layout *layout_of(const struct hlg_perfdata *pd,
						   const uint8_t *record, size_t size)
{
	uint32_t event = HLG_NO_ID;

	if (pd->id_back && size >= HLG_HEADER_SIZE + (size_t)pd->id_back)
		event = hlg_ids_find(pd->ids.entries, pd->ids.shift,
				     hlg_perfdata_u64(record + size - pd->id_back));
	if (pd->n_events == 0)
		return NULL;
	return &pd->layouts[event == HLG_NO_ID ? 0 : event];
}

static int read_task(struct hlg_perfdata *pd, const uint8_t *record, size_t size,
		     struct hlg_err *err)
{
	const struct hlg_perfdata_layout *l = layout_of(pd, record, size);
	struct hlg_perfdata_task task;

	if (!hlg_perfdata_task(&task, record, size, l ? l->time_back : 0)) {
		pd->counts.bad_record++;
		return 0;
	}
	return pd->sink && pd->sink->task ? pd->sink->task(pd->ctx, &task, err) : 0;
}

/* Adds the u64 at of a record to a sum. */
static void add_to(struct hlg_perfdata *pd, uint64_t *sum, const uint8_t *record,
		   size_t size, size_t at)
{
	if (size >= at + 8)
		*sum = hlg_sum(*sum, hlg_perfdata_u64(record + at));
	else
		pd->counts.bad_record++;
}

/* LOST: u64 id, u64 lost, and of which CPU and when. */
static int read_lost(struct hlg_perfdata *pd, const uint8_t *record, size_t size,
		     struct hlg_err *err)
{
	const struct hlg_perfdata_layout *l = layout_of(pd, record, size);
	struct hlg_perfdata_lost lost = {.time = UINT64_MAX, .cpu = -1};

	add_to(pd, &pd->counts.lost, record, size, 16);
	if (size < HLG_HEADER_SIZE + 16 || !pd->sink || !pd->sink->lost)
		return 0;
	lost.n = hlg_perfdata_u64(record + 16);
	size -= HLG_HEADER_SIZE + 16;
	record += HLG_HEADER_SIZE + 16 + size;
	if (l && l->time_back && l->time_back <= size)
		lost.time = hlg_perfdata_u64(record - l->time_back);
	if (l && l->cpu_back && l->cpu_back <= size)
		lost.cpu = (int32_t)hlg_perfdata_u32(record - l->cpu_back);
	return pd->sink->lost(pd->ctx, &lost, err);
}

/* CALLCHAIN_DEFERRED: u64 cookie, n, then n addresses, and of which thread. */
static int read_deferred(struct hlg_perfdata *pd, const uint8_t *record, size_t size,
			 struct hlg_err *err)
{
	const struct hlg_perfdata_layout *l = layout_of(pd, record, size);
	const size_t fixed = HLG_HEADER_SIZE + 16;
	struct hlg_perfdata_deferred deferred = {.tid = -1};

	if (size < fixed || hlg_perfdata_u64(record + 16) > (size - fixed) / 8) {
		pd->counts.bad_record++;
		return 0;
	}
	if (!pd->sink || !pd->sink->deferred)
		return 0;
	deferred.cookie = hlg_perfdata_u64(record + 8);
	deferred.chain = (struct hlg_perfdata_bytes){record + fixed,
						     hlg_perfdata_u64(record + 16)};
	/* The trailer: u32 pid, tid */
	if (l && l->tid_back && l->tid_back <= size - fixed - 8 * deferred.chain.n)
		deferred.tid = (int32_t)hlg_perfdata_u32(record + size - l->tid_back + 4);
	return pd->sink->deferred(pd->ctx, &deferred, err);
}

/* u64 size, then behind the record that many bytes. */
static int auxtrace(struct hlg_perfdata *pd, const uint8_t *record, size_t size,
		    struct hlg_err *err)
{
	return size < 16 ? leave_corrupt(pd, err)
			 : payload(pd, NULL, hlg_perfdata_u64(record + 8), size, err);
}

static int dispatch(struct hlg_perfdata *pd, uint32_t type, const uint8_t *record,
		    uint16_t size, struct hlg_err *err)
{
	switch (type) {
	case PERF_RECORD_SAMPLE:
		return hlg_perfdata_sample_step(pd, record, size, err);
	case PERF_RECORD_COMM:
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		return read_task(pd, record, size, err);
	case PERF_RECORD_LOST:
		return read_lost(pd, record, size, err);
	case PERF_RECORD_LOST_SAMPLES: /* u64 lost */
		/* What the user's own filter left out is not lost. */
		if (!(hlg_perfdata_u32(record + 4) & HLG_MISC_LEFT_OUT))
			add_to(pd, &pd->counts.lost_samples, record, size, 8);
		return 0;
	case HLG_RECORD_CALLCHAIN_DEFERRED:
		return read_deferred(pd, record, size, err);
	case HLG_RECORD_FINISHED_ROUND:
		/* Of one of several files it says nothing of the others. */
		return pd->sink && pd->sink->round && !pd->host.directory
			       ? pd->sink->round(pd->ctx, err)
			       : 0;
	case HLG_RECORD_AUXTRACE:
		return auxtrace(pd, record, size, err);
	case HLG_RECORD_COMPRESSED:
	case HLG_RECORD_COMPRESSED2:
		return unzip(pd, type, record, size, err);
	case HLG_RECORD_TRACING_DATA:
		return read_tracing(pd, record, size, err);
	default:
		return hlg_header_record(pd, type, record, size, err);
	}
}

/* For a sink that copies: 1 if the record is for nobody else, 0, or an error. */
static int hand_record(struct hlg_perfdata *pd, uint32_t type, const uint8_t *record,
		       uint16_t size, struct hlg_err *err)
{
	const struct hlg_perfdata_layout *layout = NULL;
	int rc;

	if (type == HLG_RECORD_COMPRESSED || type == HLG_RECORD_COMPRESSED2)
		return 0;
	if (type == PERF_RECORD_SAMPLE)
		layout = hlg_perfdata_sample_layout(pd, record, size);
	rc = pd->sink->record(pd->ctx, record, size, layout, err);
	return rc < 0 ? rc : type == PERF_RECORD_SAMPLE;
}

int hlg_perfdata_step(struct hlg_perfdata *pd, struct hlg_err *err)
{
	const uint8_t *record = pd->walk.at;
	size_t rest = (size_t)(pd->hard_end - record);
	uint16_t size;
	uint32_t type;
	int rc;

	/* What the loop has counted itself. */
	pd->counts.samples += pd->walk.samples;
	pd->counts.types[PERF_RECORD_SAMPLE] += pd->walk.samples;
	pd->walk.samples = 0;
	if (pd->stopped || hlg_window_past_range(pd))
		return 0;
	if (rest < HLG_HEADER_SIZE)
		return more(pd, err);
	type = hlg_perfdata_u32(record);
	size = (uint16_t)(hlg_perfdata_u32(record + 4) >> 16);
	if (size < HLG_HEADER_SIZE)
		return leave_corrupt(pd, err);
	if (size > rest)
		return more(pd, err);
	pd->walk.at += size;
	if (pd->walk.at > pd->walk.end)
		pd->walk.end = pd->walk.at;
	*(type < HLG_PERFDATA_TYPES ? &pd->counts.types[type]
				    : &pd->counts.unknown_types) += 1;
	rc = pd->sink && pd->sink->record ? hand_record(pd, type, record, size, err) : 0;
	if (rc == 0)
		rc = dispatch(pd, type, record, size, err);
	return rc < 0 ? rc : 1;
}
