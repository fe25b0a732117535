// SPDX-License-Identifier: GPL-2.0-only
#include "tools/inject/rewrite.h"

#include <string.h>

#define LEAST_OFFSET 10000000 /* above PID_MAX_LIMIT */
#define MOST_OFFSET  1000000000

int32_t hlg_rewrite_offset(int32_t highest)
{
	int32_t offset = LEAST_OFFSET;

	/* One below the next offset is that of -1. */
	while (highest >= offset - 1) {
		if (offset == MOST_OFFSET)
			return 0;
		offset *= 10;
	}
	return offset;
}

/* The new record as it grows, and what of the old one is used up. */
struct edit {
	uint8_t *to;
	size_t n;
	const uint8_t *from;
	size_t used;
};

static void put_u64(struct edit *e, uint64_t value)
{
	memcpy(e->to + e->n, &value, sizeof(value));
	e->n += sizeof(value);
}

/* Takes over what stands before `at` of the old record. */
static void keep_up_to(struct edit *e, const uint8_t *at)
{
	size_t n = (size_t)(at - (e->from + e->used));

	memcpy(e->to + e->n, e->from + e->used, n);
	e->n += n;
	e->used += n;
}

static bool is_marker(uint64_t value)
{
	return value >= (uint64_t)PERF_CONTEXT_MAX;
}

static bool is_guests(uint64_t value)
{
	return value == (uint64_t)PERF_CONTEXT_GUEST ||
	       value == (uint64_t)PERF_CONTEXT_GUEST_KERNEL ||
	       value == (uint64_t)PERF_CONTEXT_GUEST_USER;
}

/* Only markers: the address itself, and as many markers as it takes to keep the size. */
static void put_address(struct edit *e, uint64_t n, uint64_t ip)
{
	put_u64(e, n < 2 ? 2 : n);
	put_u64(e, (uint64_t)PERF_CONTEXT_USER);
	put_u64(e, ip);
	for (uint64_t i = 2; i < n; i++)
		put_u64(e, (uint64_t)PERF_CONTEXT_USER);
}

static void put_frames(struct edit *e, const struct hlg_perfdata_bytes *chain)
{
	put_u64(e, chain->n);
	for (uint64_t i = 0; i < chain->n; i++) {
		uint64_t frame = hlg_perfdata_u64(chain->at + 8 * i);

		put_u64(e, is_guests(frame) ? (uint64_t)PERF_CONTEXT_USER : frame);
	}
}

static void edit_chain(struct edit *e, const struct hlg_perfdata_bytes *chain,
		       uint64_t ip, size_t room)
{
	bool only_markers = true;

	for (uint64_t i = 0; i < chain->n; i++)
		only_markers &= is_marker(hlg_perfdata_u64(chain->at + 8 * i));
	if (only_markers && chain->n < 2 && room < 16)
		return;
	keep_up_to(e, chain->at - 8);
	e->used += 8 * (1 + chain->n);
	if (only_markers)
		put_address(e, chain->n, ip);
	else
		put_frames(e, chain);
}

/* Registers are behind their ABI, of which 0 says that there are none. */
static void drop_regs(struct edit *e, const struct hlg_perfdata_bytes *regs)
{
	keep_up_to(e, regs->at - 8);
	put_u64(e, PERF_SAMPLE_REGS_ABI_NONE);
	e->used += 8 * (1 + regs->n);
}

/* The stack is behind its size, and how much of it is filled is behind the stack. */
static void drop_stack(struct edit *e, const struct hlg_perfdata_bytes *stack)
{
	uint64_t room = hlg_perfdata_u64(stack->at - 8);

	keep_up_to(e, stack->at - 8);
	put_u64(e, 0);
	e->used += 8 + room + 8;
}

static void edit_fields(struct edit *e, const struct hlg_perfdata_layout *layout,
			uint16_t size)
{
	const uint64_t unwinds = PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
	uint64_t type = layout->attr->sample_type;
	struct hlg_perfdata_fields fields;

	if (!(type & PERF_SAMPLE_CALLCHAIN) && (type & unwinds) != unwinds)
		return;
	/* What makes no sense to us, perf will not show either: it stays. */
	hlg_perfdata_decode(&fields, layout->attr, e->from, size);
	if (fields.has & PERF_SAMPLE_CALLCHAIN)
		edit_chain(e, &fields.callchain,
			   layout->ip ? hlg_perfdata_u64(e->from + layout->ip) : 0,
			   UINT16_MAX - size);
	if ((fields.has & unwinds) != unwinds)
		return;
	if (fields.user_regs.at)
		drop_regs(e, &fields.user_regs);
	if (fields.user_stack.at)
		drop_stack(e, &fields.user_stack);
}

size_t hlg_rewrite_sample(uint8_t to[static HLG_REWRITE_MAX], const uint8_t *record,
			  uint16_t size, const struct hlg_perfdata_layout *layout,
			  int32_t offset)
{
	struct edit e = {.to = to, .from = record};
	struct perf_event_header header;
	int32_t ids[2];

	edit_fields(&e, layout, size);
	keep_up_to(&e, record + size);
	memcpy(&header, to, sizeof(header));
	header.misc = (uint16_t)((header.misc & ~PERF_RECORD_MISC_CPUMODE_MASK) |
				 PERF_RECORD_MISC_USER);
	header.size = (uint16_t)e.n;
	memcpy(to, &header, sizeof(header));
	memcpy(ids, to + layout->tid, sizeof(ids));
	ids[0] = hlg_rewrite_id(offset, ids[0]);
	ids[1] = hlg_rewrite_id(offset, ids[1]);
	memcpy(to + layout->tid, ids, sizeof(ids));
	return e.n;
}
