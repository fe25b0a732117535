// SPDX-License-Identifier: GPL-2.0-only
#include "tools/perfdata/record.h"

#include <linux/perf_event.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>

#include "tools/perfdata/format.h"

#define BRANCH_ENTRY 24 /* struct perf_branch_entry */

/*
 * One pass over the record, a field at a time, in the order that the comment above
 * PERF_RECORD_SAMPLE in linux/perf_event.h gives. Each step either fits or ends the pass.
 */
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
	if (c->rest < 8)
		return false;
	*v = hlg_perfdata_u64(c->at);
	c->at += 8;
	c->rest -= 8;
	return true;
}

static bool take_pair(struct cursor *c, int32_t *first, int32_t *second)
{
	uint64_t v;

	if (!take_u64(c, &v))
		return false;
	*first = (int32_t)(uint32_t)v;
	*second = (int32_t)(uint32_t)(v >> 32);
	return true;
}

size_t hlg_perfdata_values(struct hlg_perfdata_values *values, uint64_t read_format,
			   const uint8_t *at, size_t size)
{
	bool group = read_format & PERF_FORMAT_GROUP, id = read_format & PERF_FORMAT_ID;
	bool lost = read_format & HLG_FORMAT_LOST;
	struct cursor c = {at, size};
	struct hlg_perfdata_bytes rest;
	uint64_t first = 0;

	*values = (struct hlg_perfdata_values){.n = 1};
	/* Of a group its size, else the value: then times, then whatever else there is.
	 */
	if (!take_u64(&c, &first) ||
	    (read_format & PERF_FORMAT_TOTAL_TIME_ENABLED &&
	     !take_u64(&c, &values->time_enabled)) ||
	    (read_format & PERF_FORMAT_TOTAL_TIME_RUNNING &&
	     !take_u64(&c, &values->time_running)))
		return 0;
	values->at = group ? c.at : at;
	values->stride = 8 * (1 + (size_t)id + lost);
	if (group) {
		values->n = first;
		values->id = id ? 8 : 0;
	} else {
		values->id = id ? (size_t)(c.at - at) : 0;
	}
	if (lost)
		values->lost = id ? values->id + 8 : group ? 8 : (size_t)(c.at - at);
	/* The value itself was taken above if there is but one. */
	if (group ? !take(&c, &rest, values->n, values->stride)
		  : !take(&c, &rest, values->stride - 8, 1))
		return 0;
	return size - c.rest;
}

static bool take_read(struct cursor *c, struct hlg_perfdata_values *values,
		      uint64_t format)
{
	size_t used = hlg_perfdata_values(values, format, c->at, c->rest);

	c->at += used;
	c->rest -= used;
	return used != 0;
}

static bool take_raw(struct cursor *c, struct hlg_perfdata_bytes *raw)
{
	uint32_t n;

	if (c->rest < sizeof(n))
		return false;
	n = hlg_perfdata_u32(c->at);
	c->at += sizeof(n);
	c->rest -= sizeof(n);
	return take(c, raw, n, 1);
}

static bool take_branches(struct cursor *c, struct hlg_perfdata_fields *f, uint64_t type)
{
	uint64_t n;

	return take_u64(c, &n) &&
	       (!(type & HLG_BRANCH_HW_INDEX) || take_u64(c, &f->branch_hw_index)) &&
	       take(c, &f->branches, n, BRANCH_ENTRY) &&
	       (!(type & HLG_BRANCH_COUNTERS) || take(c, &f->branch_counters, n, 8));
}

static bool take_regs(struct cursor *c, uint64_t *abi, struct hlg_perfdata_bytes *regs,
		      uint64_t mask)
{
	if (!take_u64(c, abi))
		return false;
	if (*abi == PERF_SAMPLE_REGS_ABI_NONE)
		return true;
	return *abi <= PERF_SAMPLE_REGS_ABI_64 &&
	       take(c, regs, (uint64_t)__builtin_popcountll(mask), 8);
}

static bool take_stack(struct cursor *c, struct hlg_perfdata_bytes *stack)
{
	uint64_t room, used;

	if (!take_u64(c, &room))
		return false;
	if (room == 0)
		return true;
	if (!take(c, stack, room, 1) || !take_u64(c, &used) || used > room)
		return false;
	stack->n = used;
	return true;
}

static bool take_counted(struct cursor *c, struct hlg_perfdata_bytes *bytes, size_t each)
{
	uint64_t n;

	return take_u64(c, &n) && take(c, bytes, n, each);
}

static bool take_field(struct cursor *c, struct hlg_perfdata_fields *f,
		       const struct perf_event_attr *attr, uint64_t field)
{
	int32_t reserved;

	switch (field) {
	case PERF_SAMPLE_IDENTIFIER:
		return take_u64(c, &f->identifier);
	case PERF_SAMPLE_IP:
		return take_u64(c, &f->ip);
	case PERF_SAMPLE_TID:
		return take_pair(c, &f->pid, &f->tid);
	case PERF_SAMPLE_TIME:
		return take_u64(c, &f->time);
	case PERF_SAMPLE_ADDR:
		return take_u64(c, &f->addr);
	case PERF_SAMPLE_ID:
		return take_u64(c, &f->id);
	case PERF_SAMPLE_STREAM_ID:
		return take_u64(c, &f->stream_id);
	case PERF_SAMPLE_CPU:
		return take_pair(c, &f->cpu, &reserved);
	case PERF_SAMPLE_PERIOD:
		return take_u64(c, &f->period);
	case PERF_SAMPLE_READ:
		return take_read(c, &f->read, attr->read_format);
	case PERF_SAMPLE_CALLCHAIN:
		return take_counted(c, &f->callchain, 8);
	case PERF_SAMPLE_RAW:
		return take_raw(c, &f->raw);
	case PERF_SAMPLE_BRANCH_STACK:
		return take_branches(c, f, attr->branch_sample_type);
	case PERF_SAMPLE_REGS_USER:
		return take_regs(c, &f->user_abi, &f->user_regs, attr->sample_regs_user);
	case PERF_SAMPLE_STACK_USER:
		return take_stack(c, &f->user_stack);
	case PERF_SAMPLE_WEIGHT:
	case PERF_SAMPLE_WEIGHT_STRUCT:
		return take_u64(c, &f->weight);
	case PERF_SAMPLE_DATA_SRC:
		return take_u64(c, &f->data_src);
	case PERF_SAMPLE_TRANSACTION:
		return take_u64(c, &f->transaction);
	case PERF_SAMPLE_REGS_INTR:
		return take_regs(c, &f->intr_abi, &f->intr_regs, attr->sample_regs_intr);
	case PERF_SAMPLE_PHYS_ADDR:
		return take_u64(c, &f->phys_addr);
	case PERF_SAMPLE_CGROUP:
		return take_u64(c, &f->cgroup);
	case PERF_SAMPLE_DATA_PAGE_SIZE:
		return take_u64(c, &f->data_page_size);
	case PERF_SAMPLE_CODE_PAGE_SIZE:
		return take_u64(c, &f->code_page_size);
	case PERF_SAMPLE_AUX:
		return take_counted(c, &f->aux, 1);
	default:
		return false;
	}
}

/* The order in the record; that of the bits but for these. */
static const uint64_t order[] = {
	PERF_SAMPLE_IDENTIFIER,
	PERF_SAMPLE_IP,
	PERF_SAMPLE_TID,
	PERF_SAMPLE_TIME,
	PERF_SAMPLE_ADDR,
	PERF_SAMPLE_ID,
	PERF_SAMPLE_STREAM_ID,
	PERF_SAMPLE_CPU,
	PERF_SAMPLE_PERIOD,
	PERF_SAMPLE_READ,
	PERF_SAMPLE_CALLCHAIN,
	PERF_SAMPLE_RAW,
	PERF_SAMPLE_BRANCH_STACK,
	PERF_SAMPLE_REGS_USER,
	PERF_SAMPLE_STACK_USER,
	PERF_SAMPLE_WEIGHT,
	PERF_SAMPLE_WEIGHT_STRUCT,
	PERF_SAMPLE_DATA_SRC,
	PERF_SAMPLE_TRANSACTION,
	PERF_SAMPLE_REGS_INTR,
	PERF_SAMPLE_PHYS_ADDR,
	PERF_SAMPLE_CGROUP,
	PERF_SAMPLE_DATA_PAGE_SIZE,
	PERF_SAMPLE_CODE_PAGE_SIZE,
	PERF_SAMPLE_AUX,
};

bool hlg_perfdata_decode(struct hlg_perfdata_fields *fields,
			 const struct perf_event_attr *attr, const uint8_t *record,
			 uint16_t size)
{
	struct cursor c = {record + HLG_HEADER_SIZE, size};

	*fields = (struct hlg_perfdata_fields){
		.time = UINT64_MAX,
		.id = UINT64_MAX,
		.stream_id = UINT64_MAX,
		.pid = -1,
		.tid = -1,
		.cpu = -1,
		.period = attr->sample_period,
		.branch_hw_index = UINT64_MAX,
	};
	if (size < HLG_HEADER_SIZE)
		return false;
	c.rest -= HLG_HEADER_SIZE;
	for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++) {
		if (!(attr->sample_type & order[i]))
			continue;
		/* One word for both kinds of weight. */
		if (order[i] == PERF_SAMPLE_WEIGHT_STRUCT &&
		    attr->sample_type & PERF_SAMPLE_WEIGHT)
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

/* PERF_RECORD_MMAP2: with this bit a build id stands where the device would. */
#define MISC_MMAP_BUILD_ID (1 << 14)
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
	if (misc & MISC_MMAP_BUILD_ID) {
		task->build_id_size = r[40] <= 20 ? r[40] : 20;
		task->build_id = r + 44;
	} else {
		task->major = hlg_perfdata_u32(r + 40);
		task->minor = hlg_perfdata_u32(r + 44);
		task->inode = hlg_perfdata_u64(r + 48);
	}
	task->prot = hlg_perfdata_u32(r + 64);
	task->flags = hlg_perfdata_u32(r + 68);
}

bool hlg_perfdata_task(struct hlg_perfdata_task *task, const uint8_t *record, size_t size,
		       unsigned time_back)
{
	unsigned misc = hlg_perfdata_u32(record + 4) & UINT16_MAX;
	uint32_t type = hlg_perfdata_u32(record);
	size_t fixed = fixed_size(type);

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
	if (!memchr(record + fixed, '\0', size - fixed))
		return false;
	task->name = (const char *)record + fixed;
	if (type == PERF_RECORD_COMM)
		task->exec = misc & PERF_RECORD_MISC_COMM_EXEC;
	else
		read_mapping(task, record, misc);
	return true;
}
