// SPDX-License-Identifier: GPL-2.0-only
/*
 * Everything of a walk that is not a plain sample: other records, the end of the window,
 * compressed records, the end of a file.
 */
#include "symtab/sum.h"
#include "tools/perfdata/reader.h"

static struct hlg_window window(const struct hlg_perfdata *pd)
{
	return (struct hlg_window){pd->walk.at, pd->hard_end};
}

void hlg_step_window(struct hlg_perfdata *pd, struct hlg_window w)
{
	uint64_t here, ahead;

	pd->walk.at = w.at;
	pd->walk.end = pd->hard_end = w.end;
	if (pd->range_to == UINT64_MAX || pd->unzipping)
		return;
	here = hlg_source_offset(&pd->source, &w);
	ahead = pd->range_to > here ? pd->range_to - here : 0;
	if (ahead < (uint64_t)(w.end - w.at))
		pd->walk.end = w.at + ahead;
}

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

/* Where walk.at is; of what is decompressed, where the compressed record ends. */
static uint64_t offset(const struct hlg_perfdata *pd)
{
	struct hlg_window w = window(pd);

	return hlg_source_offset(&pd->source, pd->unzipping ? &pd->raw : &w);
}

static bool past_range(const struct hlg_perfdata *pd)
{
	return pd->range_to != UINT64_MAX && !pd->unzipping && offset(pd) >= pd->range_to;
}

uint64_t hlg_perfdata_tell(const struct hlg_perfdata *pd)
{
	return offset(pd);
}

void hlg_perfdata_progress(const struct hlg_perfdata *pd, uint64_t *done, uint64_t *total)
{
	uint64_t here = offset(pd);

	*done = pd->done + (here > pd->part_from ? here - pd->part_from : 0);
	*total = pd->total;
}

static int tell_progress(struct hlg_perfdata *pd, struct hlg_err *err)
{
	uint64_t done, total;
	int rc = 0;

	if (pd->sink && pd->sink->progress) {
		hlg_perfdata_progress(pd, &done, &total);
		rc = pd->sink->progress(pd->ctx, done, total, err);
	}
	return rc < 0 ? rc : 1;
}

/*
 * This file has no more to give: at is where the last whole record ends, bytes what lies
 * behind. Goes on with the next file, if there is one.
 */
static int leave_file(struct hlg_perfdata *pd, uint64_t at, uint64_t bytes,
		      struct hlg_err *err)
{
	int rc;

	if (bytes) {
		pd->counts.left += bytes;
		pd->counts.left_at = at;
	}
	if (!pd->source.stream && pd->source.next < pd->source.limit &&
	    !pd->counts.corrupt)
		pd->counts.missing =
			hlg_sum(pd->counts.missing, pd->source.limit - pd->source.next);
	pd->unzipping = false;
	pd->walk.end = pd->walk.at;
	rc = hlg_directory_next(pd, err);
	if (rc == 0)
		pd->stopped = true;
	return rc;
}

/* Not a record: nothing tells where the next one begins. */
static int leave_corrupt(struct hlg_perfdata *pd, struct hlg_err *err)
{
	uint64_t at = offset(pd), rest = (uint64_t)(pd->hard_end - pd->walk.at);

	pd->counts.corrupt = true;
	if (!pd->source.stream)
		rest = pd->source.limit - at + (pd->unzipping ? rest : 0);
	return leave_file(pd, at, rest, err);
}

static int leave_end(struct hlg_perfdata *pd, struct hlg_err *err)
{
	uint64_t tail = (uint64_t)(pd->unzipped.end - pd->unzipped.at);

	return leave_file(pd, offset(pd), (uint64_t)(pd->hard_end - pd->walk.at) + tail,
			  err);
}

static int more_unzipped(struct hlg_perfdata *pd, struct hlg_err *err)
{
	struct hlg_window w = window(pd);
	int rc = hlg_unzip_more(pd->unzip, &w);

	if (rc < 0)
		return hlg_err_set(err, HLG_EINPUT,
				   "%s: compressed records before offset %ju are damaged "
				   "(record again)",
				   pd->path, (uintmax_t)offset(pd));
	if (rc == 0) {
		pd->unzipping = false;
		pd->unzipped = w;
		w = pd->raw;
	}
	hlg_step_window(pd, w);
	return 1;
}

static int more(struct hlg_perfdata *pd, struct hlg_err *err)
{
	struct hlg_window w = window(pd);
	int rc;

	if (pd->unzipping)
		return more_unzipped(pd, err);
	rc = hlg_source_fill(&pd->source, &w);
	hlg_step_window(pd, w);
	if (rc < 0)
		return hlg_reader_errno(pd, err);
	return rc > 0 ? tell_progress(pd, err) : leave_end(pd, err);
}

/* Hands n bytes on to the sink. Returns how many there were, or an error. */
static int64_t hand_on(struct hlg_perfdata *pd, struct hlg_window *w, uint64_t n,
		       struct hlg_err *err)
{
	uint8_t some[16384];
	uint64_t done = 0;

	while (done < n) {
		uint64_t now = n - done < sizeof(some) ? n - done : sizeof(some);
		int64_t got = hlg_source_take(&pd->source, w, some, now);
		int rc;

		if (got < 0)
			return hlg_reader_errno(pd, err);
		rc = pd->sink->payload(pd->ctx, some, (size_t)got, err);
		if (rc < 0)
			return rc;
		done += (uint64_t)got;
		if ((uint64_t)got < now)
			break;
	}
	return (int64_t)done;
}

int hlg_step_payload(struct hlg_perfdata *pd, void *dst, uint64_t n, size_t record_size,
		     struct hlg_err *err)
{
	struct hlg_window w = window(pd);
	uint64_t at = hlg_source_offset(&pd->source, &w) - record_size;
	int64_t got;

	if (pd->unzipping)
		return hlg_err_set(err, HLG_EINPUT,
				   "%s: compressed records hold what is never compressed "
				   "(damaged; record again)",
				   pd->path);
	if (!dst && pd->sink && pd->sink->payload) {
		got = hand_on(pd, &w, n, err);
		if (got < 0)
			return (int)got;
	} else {
		got = hlg_source_take(&pd->source, &w, dst, n);
	}
	if (got < 0)
		return hlg_reader_errno(pd, err);
	hlg_step_window(pd, w);
	if ((uint64_t)got == n)
		return 0;
	pd->counts.missing = hlg_sum(pd->counts.missing, n - (uint64_t)got);
	return leave_file(pd, at, record_size + (uint64_t)got, err);
}

/* COMPRESSED: all of it; COMPRESSED2: u64 size, then that much, padded. */
static int unzip(struct hlg_perfdata *pd, uint32_t type, const uint8_t *record,
		 size_t size, struct hlg_err *err)
{
	size_t skip = type == HLG_RECORD_COMPRESSED2 ? 16 : HLG_HEADER_SIZE;
	size_t n = size - HLG_HEADER_SIZE;

	if (!hlg_unzip_possible()) {
		pd->counts.no_zstd++;
		return 0;
	}
	if (skip == 16)
		n = size >= 16 && hlg_perfdata_u64(record + 8) <= size - 16
			    ? hlg_perfdata_u64(record + 8)
			    : SIZE_MAX;
	if (n == SIZE_MAX) {
		pd->counts.bad_record++;
		return 0;
	}
	if (pd->unzipping)
		return hlg_step_payload(pd, NULL, n, size, err);
	if (!pd->unzip)
		pd->unzip = hlg_unzip_create();
	if (!pd->unzip)
		return hlg_err_memory(err, pd->path);
	pd->host.compressed = true;
	hlg_unzip_feed(pd->unzip, record + skip, n);
	pd->raw = window(pd);
	pd->unzipping = true;
	hlg_step_window(pd, pd->unzipped);
	return 0;
}

/* How another record ends; NULL without events. perf's own have no id of an event. */
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

static unsigned time_back(const struct hlg_perfdata *pd, const uint8_t *record,
			  size_t size)
{
	const struct hlg_perfdata_layout *l = layout_of(pd, record, size);

	return l ? l->time_back : 0;
}

static int read_task(struct hlg_perfdata *pd, const uint8_t *record, size_t size,
		     struct hlg_err *err)
{
	struct hlg_perfdata_task task;

	if (!hlg_perfdata_task(&task, record, size, time_back(pd, record, size))) {
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

static int auxtrace(struct hlg_perfdata *pd, const uint8_t *record, size_t size,
		    struct hlg_err *err)
{
	uint64_t n, missing = pd->counts.missing;
	int rc;

	if (size < 16)
		return leave_corrupt(pd, err);
	n = hlg_perfdata_u64(record + 8);
	pd->counts.missing = 0;
	rc = hlg_step_payload(pd, NULL, n, size, err);
	pd->counts.aux_bytes += n - pd->counts.missing;
	pd->counts.missing = hlg_sum(missing, pd->counts.missing);
	return rc;
}

static int dispatch(struct hlg_perfdata *pd, uint32_t type, const uint8_t *record,
		    uint16_t size, struct hlg_err *err)
{
	switch (type) {
	case PERF_RECORD_SAMPLE:
		return hlg_sample_step(pd, record, size, err);
	case PERF_RECORD_COMM:
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		return read_task(pd, record, size, err);
	case PERF_RECORD_LOST:
		return read_lost(pd, record, size, err);
	case PERF_RECORD_LOST_SAMPLES: /* u64 lost */
		add_to(pd, &pd->counts.lost_samples, record, size, 8);
		return 0;
	case HLG_RECORD_FINISHED_ROUND:
		return pd->sink && pd->sink->round ? pd->sink->round(pd->ctx, err) : 0;
	case HLG_RECORD_AUXTRACE:
		return auxtrace(pd, record, size, err);
	case HLG_RECORD_COMPRESSED:
	case HLG_RECORD_COMPRESSED2:
		return unzip(pd, type, record, size, err);
	default:
		return hlg_pipe_record(pd, type, record, size, err);
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
		layout = hlg_sample_layout(pd, record, size);
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
	if (pd->stopped || past_range(pd))
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
