// SPDX-License-Identifier: GPL-2.0-only
#include "tools/perfdata/record.h"

#include <limits.h>
#include <linux/perf_event.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>

#include "tools/perfdata/format.h"

#define BRANCH_ENTRY 24 /* struct perf_branch_entry */

/* 8 bytes each, before all that has a length of its own. */
#define LEADING                                                                          \
	(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |  \
	 PERF_SAMPLE_ADDR | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU |   \
	 PERF_SAMPLE_PERIOD)

/* What is left of a record. Each step either fits or ends the pass. */
struct cursor {
	const uint8_t *at;
	size_t rest;
};

static bool take(struct cursor *c, struct hlg_perfdata_bytes *bytes, uint64_t n,
		 size_t each)
{
	if (n > c->rest / each)
		return false;
	*bytes = (struct hlg_perfdata_bytes){c->at, n};
	c->at += n * each;
	c->rest -= n * each;
	return true;
}

static bool take_u64(struct cursor *c, uint64_t *v)
{
	struct hlg_perfdata_bytes bytes;

	if (!take(c, &bytes, 8, 1))
		return false;
	*v = hlg_perfdata_u64(bytes.at);
	return true;
}

size_t hlg_perfdata_values(struct hlg_perfdata_values *values, uint64_t read_format,
			   const uint8_t *at, size_t size)
{
	bool id = read_format & PERF_FORMAT_ID, lost = read_format & HLG_FORMAT_LOST;
	size_t head = 8, tail = 8 * ((size_t)id + lost);

	if (read_format & PERF_FORMAT_TOTAL_TIME_ENABLED)
		head += 8;
	if (read_format & PERF_FORMAT_TOTAL_TIME_RUNNING)
		head += 8;
	if (size < head)
		return 0;
	if (!(read_format & PERF_FORMAT_GROUP)) { /* the value, times, its tail */
		*values = (struct hlg_perfdata_values){at, 1, head + tail, head};
		return size - head < tail ? 0 : head + tail;
	}
	/* How many there are, times, values with their tails. */
	*values = (struct hlg_perfdata_values){at + head, hlg_perfdata_u64(at), 8 + tail,
					       8};
	return values->n > (size - head) / values->stride
		       ? 0
		       : head + values->n * values->stride;
}

static bool take_read(struct cursor *c, uint64_t format)
{
	struct hlg_perfdata_values values;
	size_t used = hlg_perfdata_values(&values, format, c->at, c->rest);

	c->at += used;
	c->rest -= used;
	return used != 0;
}

static bool take_chain(struct cursor *c, struct hlg_perfdata_bytes *chain)
{
	uint64_t n;

	return take_u64(c, &n) && take(c, chain, n, 8);
}

static bool take_raw(struct cursor *c, struct hlg_perfdata_bytes *raw)
{
	struct hlg_perfdata_bytes size;

	return take(c, &size, 4, 1) && take(c, raw, hlg_perfdata_u32(size.at), 1);
}

static bool take_branches(struct cursor *c, uint64_t type)
{
	struct hlg_perfdata_bytes branches;
	uint64_t n, hw_index;

	return take_u64(c, &n) &&
	       (!(type & HLG_BRANCH_HW_INDEX) || take_u64(c, &hw_index)) &&
	       take(c, &branches, n, BRANCH_ENTRY) &&
	       (!(type & HLG_BRANCH_COUNTERS) || take(c, &branches, n, 8));
}

static bool take_regs(struct cursor *c, struct hlg_perfdata_bytes *regs, uint64_t mask)
{
	uint64_t abi;

	if (!take_u64(c, &abi))
		return false;
	if (abi == PERF_SAMPLE_REGS_ABI_NONE)
		return true;
	/* Those of an ABI that is not known may be of any size. */
	return abi <= PERF_SAMPLE_REGS_ABI_64 &&
	       take(c, regs, (uint64_t)__builtin_popcountll(mask), 8);
}

static bool take_stack(struct cursor *c, struct hlg_perfdata_bytes *stack)
{
	uint64_t room, used;

	if (!take_u64(c, &room))
		return false;
	if (room == 0)
		return true;
	return take(c, stack, room, 1) && take_u64(c, &used) && used <= room;
}

static bool take_field(struct cursor *c, struct hlg_perfdata_fields *f,
		       const struct perf_event_attr *attr, uint64_t field)
{
	switch (field) {
	case PERF_SAMPLE_READ:
		return take_read(c, attr->read_format);
	case PERF_SAMPLE_CALLCHAIN:
		return take_chain(c, &f->callchain);
	case PERF_SAMPLE_RAW:
		return take_raw(c, &f->raw);
	case PERF_SAMPLE_BRANCH_STACK:
		return take_branches(c, attr->branch_sample_type);
	case PERF_SAMPLE_REGS_USER:
		return take_regs(c, &f->user_regs, attr->sample_regs_user);
	default:
		return take_stack(c, &f->user_stack);
	}
}

bool hlg_perfdata_decode(struct hlg_perfdata_fields *fields,
			 const struct perf_event_attr *attr, const uint8_t *record,
			 uint16_t size)
{
	/* The order in the record, before others that nobody asks for. */
	static const uint64_t order[] = {
		PERF_SAMPLE_READ,         PERF_SAMPLE_CALLCHAIN, PERF_SAMPLE_RAW,
		PERF_SAMPLE_BRANCH_STACK, PERF_SAMPLE_REGS_USER, PERF_SAMPLE_STACK_USER,
	};
	uint64_t type = attr->sample_type;
	size_t leading = 8 * (size_t)__builtin_popcountll(type & LEADING);
	struct cursor c = {record, size};
	struct hlg_perfdata_bytes passed;

	*fields = (struct hlg_perfdata_fields){0};
	if (!take(&c, &passed, HLG_HEADER_SIZE + leading, 1))
		return false;
	for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++) {
		if (!(type & order[i]))
			continue;
		if (!take_field(&c, fields, attr, order[i]))
			return false;
		fields->has |= order[i];
	}
	return true;
}

bool hlg_perfdata_find_data(const struct hlg_perfdata_raw *raw,
			    struct hlg_perfdata_bytes *data)
{
	struct hlg_perfdata_fields fields;

	if (!(raw->layout->attr->sample_type & PERF_SAMPLE_RAW))
		return false;
	/* What comes behind may make no sense. */
	hlg_perfdata_decode(&fields, raw->layout->attr, raw->record, (uint16_t)raw->size);
	*data = fields.raw;
	return fields.has & PERF_SAMPLE_RAW;
}

/* PERF_RECORD_FORK: made up by perf for a process that had run before. */
#define MISC_FORK_EXEC (1 << 13)

/* Bytes before the name, by enum perf_event_type; of FORK and EXIT all. */
static size_t fixed_size(uint32_t type)
{
	switch (type) {
	case PERF_RECORD_COMM:
		return 16;
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		return 32;
	case PERF_RECORD_MMAP:
		return 40;
	case PERF_RECORD_MMAP2:
		return 72;
	default:
		return SIZE_MAX;
	}
}

static void read_mapping(struct hlg_perfdata_task *task, const uint8_t *r, unsigned misc)
{
	task->start = hlg_perfdata_u64(r + 16);
	task->size = hlg_perfdata_u64(r + 24);
	task->file_offset = hlg_perfdata_u64(r + 32);
	if (task->type != PERF_RECORD_MMAP2) {
		/* It was the only kind for long: executable but for this flag. */
		task->prot = misc & PERF_RECORD_MISC_MMAP_DATA ? 0 : PROT_EXEC;
		return;
	}
	if (misc & HLG_MISC_MMAP_BUILD_ID) {
		task->build_id_size = r[40] <= 20 ? r[40] : 20;
		task->build_id = r + 44;
	}
	task->prot = hlg_perfdata_u32(r + 64);
	task->flags = hlg_perfdata_u32(r + 68);
}

bool hlg_perfdata_task(struct hlg_perfdata_task *task, const uint8_t *record, size_t size,
		       unsigned time_back)
{
	unsigned misc = hlg_perfdata_u32(record + 4) & UINT16_MAX;
	uint32_t type = hlg_perfdata_u32(record);
	size_t fixed = fixed_size(type), room;

	*task = (struct hlg_perfdata_task){.type = type, .name = "", .time = UINT64_MAX};
	if (size < fixed || size - fixed < time_back)
		return false;
	if (time_back)
		task->time = hlg_perfdata_u64(record + size - time_back);
	task->cpumode = misc & PERF_RECORD_MISC_CPUMODE_MASK;
	task->pid = (int32_t)hlg_perfdata_u32(record + 8);
	task->tid = (int32_t)hlg_perfdata_u32(record + 12);
	if (type == PERF_RECORD_FORK || type == PERF_RECORD_EXIT) {
		/*
		 * pid, ppid, tid, ptid, and a time, which is not the trailer's to the
		 * nanosecond: the trailer's is what perf sorts by.
		 */
		task->ppid = task->tid;
		task->tid = (int32_t)hlg_perfdata_u32(record + 16);
		task->ptid = (int32_t)hlg_perfdata_u32(record + 20);
		task->exec = misc & MISC_FORK_EXEC;
		return true;
	}
	/* Rows repeat it; no kernel writes a longer one. */
	room = size - fixed < PATH_MAX ? size - fixed : PATH_MAX;
	if (!memchr(record + fixed, '\0', room))
		return false;
	task->name = (const char *)record + fixed;
	if (type == PERF_RECORD_COMM)
		task->exec = misc & PERF_RECORD_MISC_COMM_EXEC;
	else
		read_mapping(task, record, misc);
	return true;
}
