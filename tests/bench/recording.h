/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A perf.data file as the benchmarks need it: where its records are, in time order, and
 * where the leading fields of a sample stand. Layouts: linux/perf_event.h for records,
 * tools/perf/Documentation/perf.data-file-format.txt of the kernel for the file.
 *
 * A small reader of its own, so that a fault of the reader under test cannot hide in the
 * recording it is measured with. Little-endian files in file mode only.
 */
#ifndef BENCH_RECORDING_H
#define BENCH_RECORDING_H

#include <linux/perf_event.h>
#include <stddef.h>
#include <stdint.h>

/* Records of perf itself, not of the kernel: types from 64 on. */
enum {
	PERF_USER_FIRST = 64,
	PERF_USER_FINISHED_ROUND = 68,
	PERF_USER_AUXTRACE_INFO = 70,
	PERF_USER_AUXTRACE_ERROR = 72,
	PERF_USER_COMPRESSED = 81,
	PERF_USER_COMPRESSED2 = 83,
};

/* Bits of the header's feature bitmap. */
enum {
	FEAT_AUXTRACE = 18,
	FEAT_SAMPLE_TIME = 21,
	FEAT_DIR_FORMAT = 24,
	FEAT_COMPRESSED = 27,
	FEAT_BITS = 256,
};

struct file_section {
	uint64_t offset;
	uint64_t size;
};

struct file_header {
	char magic[8];
	uint64_t size;
	uint64_t attr_size;
	struct file_section attrs;
	struct file_section data;
	struct file_section event_types;
	uint64_t features[FEAT_BITS / 64];
};

/* The fields a sample begins with, 8 bytes each, in this order where present. */
enum field {
	FIELD_IDENTIFIER,
	FIELD_IP,
	FIELD_TID,
	FIELD_TIME,
	FIELD_ADDR,
	FIELD_ID,
	FIELD_STREAM_ID,
	FIELD_CPU,
	FIELD_PERIOD,
	FIELD_COUNT,
};

struct layout {
	struct perf_event_attr attr;
	uint16_t at[FIELD_COUNT]; /* from the record's start; 0: not recorded */
	uint16_t time_back;       /* of TIME, from the end of other records; 0: none */
	uint64_t n_ids;
	const uint8_t *ids; /* in the map, not aligned */
};

/* One record; its bytes are at map + offset and lie wholly inside the map. */
struct record {
	uint64_t time; /* 0 where the record has none: before everything */
	uint64_t offset;
	uint32_t layout;
	uint16_t size;
	uint16_t type;
};

struct records {
	struct record *at;
	uint64_t n;
	uint64_t room;
};

struct recording {
	const uint8_t *map;
	uint64_t map_size;
	struct file_header header;
	struct layout *layouts;
	uint32_t n_layouts;
	struct records samples; /* in time order */
	struct records others;  /* in time order, without FINISHED_ROUND */
};

/*
 * Opens @path. Returns NULL, or what is wrong with the file, fit to print after its name.
 * Either way recording_close() is to be called.
 */
const char *recording_open(struct recording *r, const char *path);
void recording_close(struct recording *r);

/* Sorts by time; equal times keep their order in the file. */
void records_sort(struct records *list);

/* The 8 bytes of @field in the sample @rec, or @absent. */
uint64_t recording_field(const struct recording *r, const struct record *rec,
			 enum field field, uint64_t absent);

#endif
