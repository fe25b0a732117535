/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a record of a recording holds. Of a sample: the fields that struct hlg_sample has,
 * read on demand (hlg_perfdata_sample), and those of variable length
 * (hlg_perfdata_decode), in the order of linux/perf_event.h (PERF_RECORD_SAMPLE). Of
 * COMM, FORK, EXIT, MMAP and MMAP2: what processes do and map (hlg_perfdata_task).
 */
#ifndef HLG_TOOLS_PERFDATA_RECORD_H
#define HLG_TOOLS_PERFDATA_RECORD_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "filter/profile/sample.h"

/* Several numbers: elements of 8 bytes, or as the field says that has them. */
struct hlg_perfdata_bytes {
	const uint8_t *at; /* NULL: not recorded */
	uint64_t n;        /* of elements */
};

/* Numbers inside a record are in this machine's byte order, and not aligned. */
static inline uint64_t hlg_perfdata_u64(const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static inline uint32_t hlg_perfdata_u32(const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

/*
 * Where the fields of an event's samples stand, in bytes from the record's start; 0: not
 * recorded. All stand before the first field of variable length.
 */
struct hlg_perfdata_layout {
	uint64_t fixed_period; /* of the attribute, where samples have none */
	uint32_t event;        /* index of the event; see struct hlg_perfdata_raw */
	uint32_t needs;        /* bytes of its smallest sample; see short_needs */
	/* needs, or UINT32_MAX where a sample is more than plain: step handles it. */
	uint32_t short_needs;
	uint16_t ip, tid, time, cpu, period, id, read;
	uint16_t
		raw; /* of its length, unless something of variable length comes before */
	/* In other records: from their end (sample_id_all). */
	uint16_t time_back, cpu_back, tid_back;
	bool known;                         /* to the sink */
	const struct perf_event_attr *attr; /* the event's */
};

/* One sample as the sink gets it. Valid during the call only. */
struct hlg_perfdata_raw {
	const uint8_t *record; /* its header and all; not aligned */
	const struct hlg_perfdata_layout *layout;
	uint64_t ip, period;
	/*
	 * Index of the event it counts for. Of counter values that is the member's; the
	 * record itself is always laid out as layout->event says.
	 */
	uint32_t event;
	uint32_t size;      /* of the record; at most UINT16_MAX */
	uint32_t misc;      /* PERF_RECORD_MISC_* */
	uint32_t before;    /* samples that hlg_perfdata_next has passed */
	const uint8_t *end; /* of the samples that may follow */
	bool alone;         /* hlg_perfdata_next is not to look for them */
};

static inline unsigned hlg_perfdata_cpumode(const struct hlg_perfdata_raw *raw)
{
	return raw->misc & PERF_RECORD_MISC_CPUMODE_MASK;
}

/* -1 if it was not recorded. */
static inline int32_t hlg_perfdata_tid(const struct hlg_perfdata_raw *raw)
{
	/* PERF_SAMPLE_TID: u32 pid, tid */
	return raw->layout->tid
		       ? (int32_t)hlg_perfdata_u32(raw->record + raw->layout->tid + 4)
		       : -1;
}

static inline int32_t hlg_perfdata_pid(const struct hlg_perfdata_raw *raw)
{
	return raw->layout->tid
		       ? (int32_t)hlg_perfdata_u32(raw->record + raw->layout->tid)
		       : -1;
}

/* ns of perf's clock, or HLG_NO_TIME */
static inline uint64_t hlg_perfdata_time(const struct hlg_perfdata_raw *raw)
{
	return raw->layout->time ? hlg_perfdata_u64(raw->record + raw->layout->time)
				 : HLG_NO_TIME;
}

/* The sample for the filter's profile; event is the reader's own index. */
static inline struct hlg_sample hlg_perfdata_sample(const struct hlg_perfdata_raw *raw)
{
	const struct hlg_perfdata_layout *l = raw->layout;
	const uint8_t *r = raw->record;

	return (struct hlg_sample){
		.ip = raw->ip,
		.period = raw->period,
		.time = hlg_perfdata_time(raw),
		.pid = l->tid ? (int32_t)hlg_perfdata_u32(r + l->tid) : -1,
		.tid = hlg_perfdata_tid(raw),
		.cpu = l->cpu ? (int32_t)hlg_perfdata_u32(r + l->cpu) : -1,
		.event = raw->event,
		.cpumode = (uint8_t)hlg_perfdata_cpumode(raw),
	};
}

/* The same where something of variable length stands before. */
bool hlg_perfdata_find_data(const struct hlg_perfdata_raw *raw,
			    struct hlg_perfdata_bytes *data);

/*
 * The raw data of a sample (PERF_SAMPLE_RAW), a tracepoint's fields; false if it has none
 * or they pass its end.
 */
static inline __attribute__((always_inline)) bool hlg_perfdata_data(
	const struct hlg_perfdata_raw *raw, struct hlg_perfdata_bytes *data)
{
	uint32_t at = raw->layout->raw, n;

	if (!at) {
		/*
		 * Copies of what it looks at: what a call could change would be kept in
		 * memory, and fields that nobody wants would be read, for all samples.
		 */
		const struct hlg_perfdata_raw here = {
			.record = raw->record, .layout = raw->layout, .size = raw->size};
		struct hlg_perfdata_bytes found;
		bool has = hlg_perfdata_find_data(&here, &found);

		if (has)
			*data = found;
		return has;
	}
	if (at + sizeof(n) > raw->size)
		return false;
	n = hlg_perfdata_u32(raw->record + at);
	*data = (struct hlg_perfdata_bytes){raw->record + at + sizeof(n), n};
	return n <= raw->size - at - sizeof(n);
}

/*
 * The values of PERF_SAMPLE_READ: of one counter, or of a group (struct read_format in
 * linux/perf_event.h). Value i is at at + i * stride, its id, if PERF_FORMAT_ID is set,
 * id bytes behind that.
 */
struct hlg_perfdata_values {
	const uint8_t *at; /* not aligned */
	uint64_t n;
	size_t stride, id;
};

/*
 * Reads values of an attribute's read_format from size bytes. Returns the bytes they
 * take, 0 if they pass the end.
 */
size_t hlg_perfdata_values(struct hlg_perfdata_values *values, uint64_t read_format,
			   const uint8_t *at, size_t size);

/* Of what has a length of its own in a sample, that which somebody asks for. */
struct hlg_perfdata_fields {
	uint64_t has; /* PERF_SAMPLE_* that were read, from PERF_SAMPLE_READ on */
	struct hlg_perfdata_bytes callchain;  /* addresses, 8 bytes each, with contexts */
	struct hlg_perfdata_bytes raw;        /* bytes */
	struct hlg_perfdata_bytes user_regs;  /* 8 bytes for each bit of the mask */
	struct hlg_perfdata_bytes user_stack; /* bytes there is room for */
};

/*
 * Reads a sample of size bytes, header included, up to the user stack. False if a field
 * passes the end of the record, or is not understood: then fields->has tells what was
 * read before it.
 */
bool hlg_perfdata_decode(struct hlg_perfdata_fields *fields,
			 const struct perf_event_attr *attr, const uint8_t *record,
			 uint16_t size);

/* Pointers are into the record: valid during the call only. */
struct hlg_perfdata_task {
	uint32_t type;      /* PERF_RECORD_COMM, _FORK, _EXIT, _MMAP, _MMAP2 */
	int32_t pid, tid;   /* -1: the kernel's own mappings */
	int32_t ppid, ptid; /* FORK, EXIT: the parent; else 0 */
	uint64_t time;      /* ns; UINT64_MAX not recorded */
	const char *name;   /* COMM: the new name; mappings: the file; else "" */
	bool exec;          /* COMM: by execve(2); FORK: shares nothing with its parent */
	uint8_t cpumode;    /* mappings: whose; PERF_RECORD_MISC_CPUMODE_MASK */
	uint64_t start, size, file_offset; /* mappings, in bytes */
	uint32_t prot, flags;              /* as of mmap(2); MMAP: PROT_EXEC or nothing */
	const uint8_t *build_id;           /* MMAP2, or NULL */
	size_t build_id_size;              /* at most 20 */
};

/*
 * Reads a record of one of these types, size bytes with its header. time_back: where the
 * time stands, from the record's end; 0: not recorded. False if it is too short, or its
 * name does not end within PATH_MAX.
 */
bool hlg_perfdata_task(struct hlg_perfdata_task *task, const uint8_t *record, size_t size,
		       unsigned time_back);

#endif
