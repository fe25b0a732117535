// SPDX-License-Identifier: GPL-2.0-only
#include "tools/callers/rewrite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "filter/output/out.h"
#include "tools/perfdata/perfdata.h"
#include "tools/perfdata/writer.h"

struct rewrite {
	struct hlg_join *join;
	struct hlg_rewrite_counts *counts;
	struct hlg_writer *writer;
	uint8_t room[HLG_REWRITE_MAX];
};

static size_t put(uint8_t *to, size_t at, const void *bytes, size_t n)
{
	memcpy(to + at, bytes, n);
	return at + n;
}

static size_t put_u64(uint8_t *to, size_t at, uint64_t value)
{
	return put(to, at, &value, sizeof(value));
}

size_t hlg_rewrite_sample(uint8_t to[static HLG_REWRITE_MAX], const uint8_t *record,
			  uint16_t size, const struct hlg_perfdata_layout *layout,
			  const uint64_t *callers, size_t n,
			  const struct hlg_chain_tail *tail)
{
	unsigned mode = hlg_perfdata_u32(record + 4) & PERF_RECORD_MISC_CPUMODE_MASK;
	struct hlg_perfdata_fields fields;
	struct perf_event_header header;
	const uint8_t *chain;
	size_t at, words;

	if (!layout->ip || !(layout->attr->sample_type & PERF_SAMPLE_CALLCHAIN))
		return 0;
	hlg_perfdata_decode(&fields, layout->attr, record, size);
	chain = fields.callchain.at;
	if (!(fields.has & PERF_SAMPLE_CALLCHAIN) || !chain ||
	    size + 8 * (n + 2 + HLG_CHAIN_TAIL) > UINT16_MAX)
		return 0;
	words = fields.callchain.n;
	at = put(to, 0, record, (size_t)(chain - record) - 8);
	at = put_u64(to, at, words + n + 2 + HLG_CHAIN_TAIL);
	at = put(to, at, chain, 8 * words);
	at = put_u64(to, at,
		     mode == PERF_RECORD_MISC_GUEST_USER
			     ? (uint64_t)PERF_CONTEXT_GUEST_USER
			     : (uint64_t)PERF_CONTEXT_GUEST_KERNEL);
	at = put_u64(to, at, hlg_perfdata_u64(record + layout->ip));
	if (n)
		at = put(to, at, callers, 8 * n);
	at = put_u64(to, at, (uint64_t)PERF_CONTEXT_GUEST);
	at = put_u64(to, at, hlg_chains_tail_word(tail));
	chain += 8 * words;
	at = put(to, at, chain, (size_t)(record + size - chain));
	memcpy(&header, to, sizeof(header));
	header.size = (uint16_t)at;
	memcpy(to, &header, sizeof(header));
	return at;
}

/*
 * Callers are the guest's words. One that a callchain takes for a mark (PERF_CONTEXT_*
 * of linux/perf_event.h, from -PERF_CONTEXT_MAX on) would say what follows in the
 * guest's stead: the stack ends before it.
 */
static size_t before_marks(const uint64_t *callers, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (callers[i] >= (uint64_t)PERF_CONTEXT_MAX)
			return i;
	return n;
}

static enum hlg_chain_end end_of(unsigned walk_end)
{
	static const enum hlg_chain_end ends[HLG_WALK_ENDS] = {
		[HLG_WALK_WHOLE] = HLG_CHAIN_END_WHOLE,
		[HLG_WALK_DEEP] = HLG_CHAIN_END_DEEP,
		[HLG_WALK_MODE] = HLG_CHAIN_END_MODE,
		[HLG_WALK_ALIGNMENT] = HLG_CHAIN_END_FRAME,
		[HLG_WALK_ORDER] = HLG_CHAIN_END_FRAME,
		[HLG_WALK_ADDRESS] = HLG_CHAIN_END_FRAME,
		[HLG_WALK_UNMAPPED] = HLG_CHAIN_END_FRAME,
		[HLG_WALK_HOLE] = HLG_CHAIN_END_MEMORY,
		[HLG_WALK_FAULT] = HLG_CHAIN_END_MEMORY,
		[HLG_WALK_NO_CFI] = HLG_CHAIN_END_CFI,
		[HLG_WALK_CUT] = HLG_CHAIN_END_COPY,
	};

	return ends[walk_end];
}

static void copy_guest(struct rewrite *r, const uint8_t *record, uint16_t size,
		       const struct hlg_perfdata_layout *layout)
{
	const struct hlg_join_stack *stack = NULL;
	size_t written = 0, n = 0, n_callers;
	unsigned end = HLG_WALK_WHOLE;

	r->counts->guest++;
	if (layout->tid && layout->time && layout->ip)
		stack = hlg_join_take(r->join,
				      (int32_t)hlg_perfdata_u32(record + layout->tid + 4),
				      hlg_perfdata_u64(record + layout->time),
				      hlg_perfdata_u64(record + layout->ip));
	if (stack) {
		const uint64_t *callers =
			hlg_chains_get(&r->join->chains, stack->chain, &n_callers);

		n = before_marks(callers, n_callers);
		end = n < n_callers ? HLG_WALK_ADDRESS : stack->end;
		written = hlg_rewrite_sample(
			r->room, record, size, layout, callers, n,
			&(struct hlg_chain_tail){.end = end_of(end),
						 .way = r->join->way,
						 .sandbox = stack->sandbox});
	}
	if (written) {
		r->counts->ends[end]++;
		r->counts->with_callers += n || end == HLG_WALK_WHOLE;
		hlg_writer_put(r->writer, r->room, written);
	} else {
		r->counts->alone++;
		hlg_writer_put(r->writer, record, size);
	}
}

static int on_record(void *ctx, const uint8_t *record, uint16_t size,
		     const struct hlg_perfdata_layout *layout, struct hlg_err *err)
{
	struct rewrite *r = ctx;

	(void)err;
	if (layout && hlg_sample_is_guest(hlg_perfdata_u32(record + 4) &
					  PERF_RECORD_MISC_CPUMODE_MASK))
		copy_guest(r, record, size, layout);
	else
		hlg_writer_put(r->writer, record, size);
	return 0;
}

static int on_payload(void *ctx, const uint8_t *bytes, size_t n, struct hlg_err *err)
{
	struct rewrite *r = ctx;

	(void)err;
	hlg_writer_put(r->writer, bytes, n);
	return 0;
}

static int on_progress(void *ctx, uint64_t bytes, uint64_t samples, struct hlg_err *err)
{
	const struct rewrite *r = ctx;

	(void)bytes;
	(void)samples;
	return hlg_writer_check(r->writer, err);
}

static int copy(struct rewrite *r, struct hlg_perfdata *pd, FILE *f, const char *path,
		struct hlg_err *err)
{
	static const struct hlg_perfdata_sink sink = {
		.record = on_record, .payload = on_payload, .progress = on_progress};
	int rc;

	r->writer = malloc(sizeof(*r->writer));
	if (!r->writer)
		return hlg_err_memory(err, path);
	rc = hlg_writer_begin(r->writer, f, path, pd, err);
	if (rc == 0)
		rc = hlg_perfdata_read(pd, hlg_perfdata_no_sample, &sink, r, err);
	/* What was cut off stays so: the recording as it is says it best. */
	if (rc == 0 && hlg_perfdata_n_left(hlg_perfdata_counts(pd)))
		rc = hlg_err_set(err, HLG_EINPUT,
				 "%s: was cut off, and is left as perf wrote it", path);
	if (rc == 0)
		rc = hlg_writer_finish(r->writer, err);
	free(r->writer);
	return rc;
}

/* Between the reader and a stream: what is read up to the first record is kept, as the
 * reader hands over what comes behind it only. */
struct through {
	const struct hlg_perfdata_stream *from;
	struct rewrite *r;
	uint8_t *head;
	size_t n, room;
	bool begun, lost; /* there was no memory */
};

static void keep_head(struct through *t, const void *bytes, size_t n)
{
	if (t->n + n > t->room) {
		size_t room = 2 * (t->n + n);
		uint8_t *grown = realloc(t->head, room);

		t->lost |= !grown;
		if (!grown)
			return;
		t->head = grown;
		t->room = room;
	}
	memcpy(t->head + t->n, bytes, n);
	t->n += n;
}

static ssize_t read_through(void *ctx, void *to, size_t n)
{
	struct through *t = ctx;
	ssize_t got;

	hlg_writer_flush(t->r->writer);
	if (fflush(t->r->writer->f) != 0)
		return 0; /* nobody wants more */
	got = t->from->read(t->from->ctx, to, n);
	if (got > 0 && !t->begun)
		keep_head(t, to, (size_t)got);
	return got;
}

static int copy_stream(struct through *t, const char *name, struct hlg_err *err)
{
	static const struct hlg_perfdata_sink sink = {.record = on_record,
						      .payload = on_payload};
	const struct hlg_perfdata_stream stream = {read_through, t};
	struct hlg_perfdata *pd;
	int rc = hlg_perfdata_open_stream(&pd, name, &stream, err);

	if (rc < 0)
		return rc;
	t->begun = true;
	hlg_writer_put(t->r->writer, t->head, hlg_perfdata_tell(pd));
	rc = t->lost ? hlg_err_memory(err, name)
		     : hlg_perfdata_read(pd, hlg_perfdata_no_sample, &sink, t->r, err);
	/* One that was cut off ends with its last whole record. */
	if (rc == 0 && hlg_perfdata_counts(pd)->corrupt)
		rc = hlg_err_set(err, HLG_EINPUT,
				 "%s: is damaged: what is behind its last good record is "
				 "lost (record again)",
				 name);
	hlg_writer_flush(t->r->writer);
	fflush(t->r->writer->f);
	hlg_perfdata_close(pd);
	return rc;
}

int hlg_rewrite_stream(const char *name, const struct hlg_perfdata_stream *stream,
		       FILE *out, struct hlg_join *join,
		       struct hlg_rewrite_counts *counts, struct hlg_err *err)
{
	struct rewrite *r = calloc(1, sizeof(*r));
	struct hlg_writer *writer = calloc(1, sizeof(*writer));
	struct through t = {.from = stream, .r = r};
	int rc;

	*counts = (struct hlg_rewrite_counts){0};
	if (r && writer) {
		writer->f = out;
		writer->path = name;
		r->join = join;
		r->counts = counts;
		r->writer = writer;
		rc = copy_stream(&t, name, err);
	} else {
		rc = hlg_err_memory(err, name);
	}
	free(t.head);
	free(writer);
	free(r);
	return rc;
}

int hlg_rewrite_file(const char *path, struct hlg_join *join,
		     struct hlg_rewrite_counts *counts, struct hlg_err *err)
{
	struct rewrite *r = calloc(1, sizeof(*r));
	struct hlg_perfdata *pd = NULL;
	struct hlg_out out;
	int rc;

	*counts = (struct hlg_rewrite_counts){0};
	if (!r)
		return hlg_err_memory(err, path);
	r->join = join;
	r->counts = counts;
	rc = hlg_perfdata_open(&pd, path, err);
	if (rc == 0) {
		rc = hlg_out_open(&out, path, NULL, err);
		if (rc == 0) {
			rc = copy(r, pd, out.f, path, err);
			if (rc == 0)
				rc = hlg_out_commit(&out, err);
			else
				hlg_out_abort(&out);
		}
	}
	hlg_perfdata_close(pd);
	free(r);
	return rc;
}
