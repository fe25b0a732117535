// SPDX-License-Identifier: GPL-2.0-only
#include "tools/inject/copy.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "filter/options/options.h"
#include "filter/profile/sample.h"
#include "symtab/escape.h"
#include "tools/inject/rewrite.h"
#include "tools/perfdata/sum.h"
#include "tools/perfdata/writer.h"

/* "guest:VMM", or "guest:PID": what a VMM's new process is called. To be freed. */
static char *make_name(const struct hlg_scan *scan, int32_t pid)
{
	const char *comm = hlg_scan_comm(scan, pid);
	char safe[4 * HLG_SCAN_COMM]; /* perf shows all bytes */
	char *name;
	int n;

	hlg_escape(safe, sizeof(safe), comm);
	n = comm[0] ? asprintf(&name, "guest:%s", safe)
		    : asprintf(&name, "guest:%" PRId32, pid);
	return n < 0 ? NULL : name;
}

static void add_record(struct hlg_copy *copy, const uint8_t *record, size_t size)
{
	hlg_writer_put(copy->writer, record, size);
	copy->counts.added++;
}

static void add_mapping(struct hlg_copy *copy, const struct hlg_mapping *mapping,
			size_t trailer)
{
	const struct hlg_load *load =
		&copy->space->images[mapping->image]->elf.loads[mapping->load];
	const struct hlg_files_image *file = &copy->files->images[mapping->image];
	const struct hlg_build_id *id =
		file->companion ? &file->companion_id : &file->elf_id;
	uint8_t record[HLG_WRITER_RECORD_MAX];
	struct hlg_writer_map map = {
		.pid = hlg_rewrite_id(copy->offset, mapping->pid),
		.start = load->addr + mapping->bias,
		.size = load->end - load->addr,
		.file_offset = load->offset,
		.exec = load->exec,
		.path = file->companion ? file->companion : file->elf,
		.build_id = id->size ? id->bytes : NULL,
		.build_id_size = id->size,
	};

	add_record(copy, record, hlg_writer_mmap2(record, &map, trailer));
}

/* A VMM's new process: its name, what it maps, then its other threads. */
static int add_process(struct hlg_copy *copy, const struct hlg_scan_thread *threads,
		       size_t n, size_t trailer, struct hlg_err *err)
{
	int32_t pid = hlg_rewrite_id(copy->offset, threads[0].pid);
	char *name = make_name(copy->scan, threads[0].pid);
	const struct hlg_mappings *mappings = copy->mappings;
	uint8_t record[HLG_WRITER_RECORD_MAX];

	if (!name)
		return hlg_err_memory(err, "processes");
	add_record(copy, record, hlg_writer_comm(record, pid, pid, name, trailer));
	/* Mappings are in the order of processes, as these are. */
	for (; copy->mapping < mappings->n; copy->mapping++) {
		if (mappings->at[copy->mapping].pid > threads[0].pid)
			break;
		if (mappings->at[copy->mapping].pid == threads[0].pid)
			add_mapping(copy, &mappings->at[copy->mapping], trailer);
	}
	for (size_t i = 0; i < n; i++) {
		int32_t tid = hlg_rewrite_id(copy->offset, threads[i].tid);

		if (tid != pid)
			add_record(copy, record,
				   hlg_writer_comm(record, pid, tid, name, trailer));
	}
	free(name);
	return 0;
}

static int add_processes(struct hlg_copy *copy, const struct hlg_perfdata *pd,
			 struct hlg_err *err)
{
	const struct hlg_scan_thread *guests = copy->scan->guests;
	size_t trailer = hlg_writer_trailer(pd);
	int rc = 0;

	for (size_t i = 0, j; rc == 0 && i < copy->scan->n_guests; i = j) {
		for (j = i; j < copy->scan->n_guests && guests[j].pid == guests[i].pid;
		     j++)
			;
		rc = add_process(copy, guests + i, j - i, trailer, err);
	}
	return rc;
}

static bool is_dropped(const struct hlg_copy *copy, const uint8_t *record,
		       const struct hlg_perfdata_layout *layout)
{
	struct hlg_place place;

	if (copy->gaps != HLG_GAPS_DROP || !layout->ip)
		return false;
	hlg_space_lookup(copy->space, hlg_perfdata_u64(record + layout->ip), &place);
	return place.kind == HLG_GAP;
}

static void copy_guest(struct hlg_copy *copy, const uint8_t *record, uint16_t size,
		       const struct hlg_perfdata_layout *layout)
{
	copy->counts.guest++;
	if (!is_dropped(copy, record, layout)) {
		copy->counts.rewritten++;
		hlg_writer_put(copy->writer, copy->room,
			       hlg_rewrite_sample(copy->room, record, size, layout,
						  copy->offset));
	} else if (layout->read) {
		/*
		 * perf takes the next sample's values less this one's. As a guest's it
		 * is read, but not shown.
		 */
		copy->counts.kept++;
		hlg_writer_put(copy->writer, record, size);
	} else {
		copy->counts.dropped++;
	}
}

static int on_record(void *ctx, const uint8_t *record, uint16_t size,
		     const struct hlg_perfdata_layout *layout, struct hlg_err *err)
{
	struct hlg_copy *copy = ctx;
	uint32_t type = hlg_perfdata_u32(record);

	(void)err;
	if (layout && hlg_sample_is_guest(hlg_perfdata_u32(record + 4) &
					  PERF_RECORD_MISC_CPUMODE_MASK)) {
		copy_guest(copy, record, size, layout);
		return 0;
	}
	*(layout ? &copy->counts.host : &copy->counts.other) += 1;
	if (type == HLG_RECORD_FINISHED_ROUND && copy->directory) {
		copy->counts.rounds++;
		return 0;
	}
	if (type == HLG_RECORD_AUXTRACE && size >= 16) {
		copy->payload_at = copy->writer->at;
		copy->payload_size = hlg_perfdata_u64(record + 8);
		copy->payload_done = 0;
	}
	hlg_writer_put(copy->writer, record, size);
	return 0;
}

static int on_payload(void *ctx, const uint8_t *bytes, size_t n, struct hlg_err *err)
{
	struct hlg_copy *copy = ctx;

	(void)err;
	hlg_writer_put(copy->writer, bytes, n);
	copy->payload_done += n;
	return 0;
}

static int on_progress(void *ctx, uint64_t bytes, uint64_t samples, struct hlg_err *err)
{
	const struct hlg_copy *copy = ctx;

	(void)bytes;
	(void)samples;
	/* A full disk need not be written to for hours. */
	if (ferror(copy->writer->f))
		return hlg_err_set(err, HLG_ESYSTEM,
				   "%s: cannot be written (make room, or write "
				   "elsewhere)",
				   copy->writer->path);
	return hlg_files_check_signals(err);
}

/* The loop has no plain samples: on_record() gets them. */
static inline __attribute__((always_inline)) void on_sample(void *ctx,
							    struct hlg_perfdata_raw *raw)
{
	(void)ctx;
	(void)raw;
}

int hlg_copy_records(struct hlg_copy *copy, struct hlg_perfdata *pd,
		     struct hlg_writer *writer, struct hlg_err *err)
{
	static const struct hlg_perfdata_sink sink = {
		.record = on_record, .payload = on_payload, .progress = on_progress};
	const struct hlg_perfdata_counts *counts = hlg_perfdata_counts(pd);
	int rc;

	copy->writer = writer;
	copy->mapping = 0;
	copy->directory = hlg_perfdata_host(pd)->directory;
	rc = add_processes(copy, pd, err);
	if (rc == 0)
		rc = hlg_perfdata_read(pd, on_sample, &sink, copy, err);
	copy->counts.left_bytes = hlg_perfdata_n_left(counts);
	if (rc == 0 && copy->payload_done < copy->payload_size) {
		copy->counts.other--;
		rc = hlg_writer_rewind(writer, copy->payload_at, err);
	}
	return rc;
}
