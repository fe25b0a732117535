// SPDX-License-Identifier: GPL-2.0-only
/*
 * Every field of a sample is read where linux/perf_event.h puts it, in whatever company:
 * samples are written field by field in the order of the comment above
 * PERF_RECORD_SAMPLE, with each field alone, with all, and with 20,000 sets drawn by a
 * fixed generator. Cut at any byte, a sample is refused and nothing behind the cut is
 * touched (the copy is as long as the cut, for the sanitizers to watch).
 */
#include "tools/perfdata/record.h"

#include <stdlib.h>
#include <string.h>

#include "tests/kit/perfdata.h"
#include "tests/kit/tap.h"

#define FIELDS 25 /* PERF_SAMPLE_IP .. PERF_SAMPLE_WEIGHT_STRUCT */

static uint64_t state;

static uint64_t draw(void)
{
	/* Knuth's MMIX generator, the upper half being the better one. */
	state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return state >> 33;
}

static uint64_t draw_word(void)
{
	return draw() << 32 ^ draw();
}

struct expected {
	struct perf_event_attr attr;
	struct kit record;
	struct hlg_perfdata_fields f; /* .at of bytes: offset in the record + 1 */
};

static uint64_t put_word(struct expected *e)
{
	uint64_t v = draw_word();

	kit_u64(&e->record, v);
	return v;
}

/* n elements of some bytes; where they begin. */
static struct hlg_perfdata_bytes put_some(struct expected *e, uint64_t n, size_t each)
{
	struct hlg_perfdata_bytes b = {(const uint8_t *)(uintptr_t)(e->record.n + 1), n};

	for (size_t i = 0; i < n * each; i++) {
		uint8_t byte = (uint8_t)draw();

		kit_bytes(&e->record, &byte, 1);
	}
	return b;
}

static void put_leading(struct expected *e, uint64_t type)
{
	struct hlg_perfdata_fields *f = &e->f;
	uint64_t v;

	if (type & PERF_SAMPLE_IDENTIFIER)
		f->identifier = put_word(e);
	if (type & PERF_SAMPLE_IP)
		f->ip = put_word(e);
	if (type & PERF_SAMPLE_TID) {
		v = put_word(e);
		f->pid = (int32_t)(v & UINT32_MAX);
		f->tid = (int32_t)(v >> 32);
	}
	if (type & PERF_SAMPLE_TIME)
		f->time = put_word(e);
	if (type & PERF_SAMPLE_ADDR)
		f->addr = put_word(e);
	if (type & PERF_SAMPLE_ID)
		f->id = put_word(e);
	if (type & PERF_SAMPLE_STREAM_ID)
		f->stream_id = put_word(e);
	if (type & PERF_SAMPLE_CPU)
		f->cpu = (int32_t)(put_word(e) & UINT32_MAX);
	if (type & PERF_SAMPLE_PERIOD)
		f->period = put_word(e);
}

/* id and lost; where they stand, from the value at start. */
static void put_value_tail(struct expected *e, size_t start)
{
	struct hlg_perfdata_values *r = &e->f.read;

	if (e->attr.read_format & PERF_FORMAT_ID) {
		r->id = e->record.n - start;
		put_word(e);
	}
	if (e->attr.read_format & 1 << 4) { /* PERF_FORMAT_LOST */
		r->lost = e->record.n - start;
		put_word(e);
	}
	r->stride = e->record.n - start;
}

static void put_read(struct expected *e)
{
	bool group = e->attr.read_format & PERF_FORMAT_GROUP;
	struct hlg_perfdata_values *r = &e->f.read;
	size_t start = e->record.n;

	r->n = group ? draw() % 5 : 1;
	kit_u64(&e->record, r->n);
	if (e->attr.read_format & PERF_FORMAT_TOTAL_TIME_ENABLED)
		r->time_enabled = put_word(e);
	if (e->attr.read_format & PERF_FORMAT_TOTAL_TIME_RUNNING)
		r->time_running = put_word(e);
	if (!group)
		put_value_tail(e, start);
	else
		start = e->record.n;
	r->at = (const uint8_t *)(uintptr_t)(start + 1);
	for (uint64_t i = 0; group && i < r->n; i++) {
		start = e->record.n;
		put_word(e);
		put_value_tail(e, start);
	}
}

static void put_branches(struct expected *e)
{
	uint64_t n = draw() % 6;

	kit_u64(&e->record, n);
	if (e->attr.branch_sample_type & 1 << 17)
		e->f.branch_hw_index = put_word(e);
	e->f.branches = put_some(e, n, 24);
	if (e->attr.branch_sample_type & 1 << 19)
		e->f.branch_counters = put_some(e, n, 8);
}

static void put_regs(struct expected *e, uint64_t mask, uint64_t *abi,
		     struct hlg_perfdata_bytes *regs)
{
	uint64_t n = 0;

	*abi = draw() % 3;
	kit_u64(&e->record, *abi);
	for (; mask; mask &= mask - 1)
		n++;
	if (*abi)
		*regs = put_some(e, n, 8);
}

static void put_stack(struct expected *e)
{
	uint64_t room = draw() % 4 * 8, used = room ? draw() % (room + 1) : 0;

	kit_u64(&e->record, room);
	if (room == 0)
		return;
	e->f.user_stack = put_some(e, room, 1);
	e->f.user_stack.n = used;
	kit_u64(&e->record, used);
}

static void put_variable(struct expected *e, uint64_t type)
{
	uint64_t n;

	if (type & PERF_SAMPLE_READ)
		put_read(e);
	if (type & PERF_SAMPLE_CALLCHAIN) {
		n = draw() % 9;
		kit_u64(&e->record, n);
		e->f.callchain = put_some(e, n, 8);
	}
	if (type & PERF_SAMPLE_RAW) {
		/* The kernel makes size and data together a multiple of 8. */
		n = draw() % 5 * 8 + 4;
		kit_u32(&e->record, (uint32_t)n);
		e->f.raw = put_some(e, n, 1);
	}
	if (type & PERF_SAMPLE_BRANCH_STACK)
		put_branches(e);
	if (type & PERF_SAMPLE_REGS_USER)
		put_regs(e, e->attr.sample_regs_user, &e->f.user_abi, &e->f.user_regs);
	if (type & PERF_SAMPLE_STACK_USER)
		put_stack(e);
}

static void put_trailing(struct expected *e, uint64_t type)
{
	uint64_t n;

	if (type & (PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT))
		e->f.weight = put_word(e);
	if (type & PERF_SAMPLE_DATA_SRC)
		e->f.data_src = put_word(e);
	if (type & PERF_SAMPLE_TRANSACTION)
		e->f.transaction = put_word(e);
	if (type & PERF_SAMPLE_REGS_INTR)
		put_regs(e, e->attr.sample_regs_intr, &e->f.intr_abi, &e->f.intr_regs);
	if (type & PERF_SAMPLE_PHYS_ADDR)
		e->f.phys_addr = put_word(e);
	if (type & PERF_SAMPLE_CGROUP)
		e->f.cgroup = put_word(e);
	if (type & PERF_SAMPLE_DATA_PAGE_SIZE)
		e->f.data_page_size = put_word(e);
	if (type & PERF_SAMPLE_CODE_PAGE_SIZE)
		e->f.code_page_size = put_word(e);
	if (type & PERF_SAMPLE_AUX) {
		n = draw() % 3 * 8;
		kit_u64(&e->record, n);
		e->f.aux = put_some(e, n, 1);
	}
}

static void make(struct expected *e, uint64_t type)
{
	size_t start;

	*e = (struct expected){0};
	e->attr.sample_type = type;
	e->attr.sample_period = 4711;
	e->attr.read_format = draw() % 32;
	e->attr.branch_sample_type = draw() % 2 << 17 | draw() % 2 << 19;
	e->attr.sample_regs_user = draw() & 0xff0f;
	e->attr.sample_regs_intr = draw() & 0xf0f1;
	e->f.time = e->f.id = e->f.stream_id = e->f.branch_hw_index = UINT64_MAX;
	e->f.pid = e->f.tid = e->f.cpu = -1;
	e->f.period = 4711;
	start = kit_begin(&e->record, PERF_RECORD_SAMPLE, 2);
	put_leading(e, type);
	put_variable(e, type);
	put_trailing(e, type);
	kit_end(&e->record, start);
}

static void same_bytes(const struct expected *e, struct hlg_perfdata_bytes got,
		       struct hlg_perfdata_bytes want)
{
	ck_assert_uint_eq(got.n, want.n);
	ck_assert_ptr_eq(got.at, want.at ? e->record.at + (uintptr_t)want.at - 1 : NULL);
}

static void same(const struct expected *e, struct hlg_perfdata_fields got)
{
	struct hlg_perfdata_fields want = e->f;

	same_bytes(e, got.callchain, want.callchain);
	same_bytes(e, got.raw, want.raw);
	same_bytes(e, got.branches, want.branches);
	same_bytes(e, got.branch_counters, want.branch_counters);
	same_bytes(e, got.user_regs, want.user_regs);
	same_bytes(e, got.intr_regs, want.intr_regs);
	same_bytes(e, got.user_stack, want.user_stack);
	same_bytes(e, got.aux, want.aux);
	same_bytes(e, (struct hlg_perfdata_bytes){got.read.at, got.read.n},
		   (struct hlg_perfdata_bytes){want.read.at, want.read.n});
	ck_assert_uint_eq(got.read.time_enabled, want.read.time_enabled);
	ck_assert_uint_eq(got.read.time_running, want.read.time_running);
	if (want.read.n) {
		ck_assert_uint_eq(got.read.id, want.read.id);
		ck_assert_uint_eq(got.read.lost, want.read.lost);
	}
	if (want.read.n > 1)
		ck_assert_uint_eq(got.read.stride, want.read.stride);
	ck_assert_uint_eq(got.identifier, want.identifier);
	ck_assert_uint_eq(got.ip, want.ip);
	ck_assert_uint_eq(got.time, want.time);
	ck_assert_uint_eq(got.addr, want.addr);
	ck_assert_uint_eq(got.id, want.id);
	ck_assert_uint_eq(got.stream_id, want.stream_id);
	ck_assert_uint_eq(got.period, want.period);
	ck_assert_int_eq(got.pid, want.pid);
	ck_assert_int_eq(got.tid, want.tid);
	ck_assert_int_eq(got.cpu, want.cpu);
	ck_assert_uint_eq(got.branch_hw_index, want.branch_hw_index);
	ck_assert_uint_eq(got.user_abi, want.user_abi);
	ck_assert_uint_eq(got.intr_abi, want.intr_abi);
	ck_assert_uint_eq(got.weight, want.weight);
	ck_assert_uint_eq(got.data_src, want.data_src);
	ck_assert_uint_eq(got.transaction, want.transaction);
	ck_assert_uint_eq(got.phys_addr, want.phys_addr);
	ck_assert_uint_eq(got.cgroup, want.cgroup);
	ck_assert_uint_eq(got.data_page_size, want.data_page_size);
	ck_assert_uint_eq(got.code_page_size, want.code_page_size);
}

static void check_type(uint64_t type, bool cut)
{
	struct hlg_perfdata_fields got;
	struct expected e;

	/* WEIGHT and WEIGHT_STRUCT are two readings of one word. */
	if (type & PERF_SAMPLE_WEIGHT)
		type &= ~(uint64_t)PERF_SAMPLE_WEIGHT_STRUCT;
	make(&e, type);
	ck_assert_msg(
		hlg_perfdata_decode(&got, &e.attr, e.record.at, (uint16_t)e.record.n),
		"sample_type 0x%jx", (uintmax_t)type);
	ck_assert_uint_eq(got.has, type);
	same(&e, got);
	for (size_t n = 0; cut && n < e.record.n; n++) {
		uint8_t *copy = malloc(n + !n);

		memcpy(copy, e.record.at, n);
		ck_assert(!hlg_perfdata_decode(&got, &e.attr, copy, (uint16_t)n));
		free(copy);
	}
	kit_free(&e.record);
}

START_TEST(one_field)
{
	for (unsigned bit = 0; bit < FIELDS; bit++)
		for (unsigned i = 0; i < 100; i++)
			check_type(UINT64_C(1) << bit, true);
}
END_TEST

START_TEST(sets_of_fields)
{
	for (unsigned i = 0; i < 20000; i++)
		check_type(draw_word() % (UINT64_C(1) << FIELDS), i % 20 == 0);
	for (unsigned i = 0; i < 1000; i++)
		check_type((UINT64_C(1) << FIELDS) - 1, i % 20 == 0);
}
END_TEST

/* Registers of an ABI that is not known may be of any size. */
START_TEST(unknown_registers)
{
	struct perf_event_attr attr = {.sample_type =
					       PERF_SAMPLE_IP | PERF_SAMPLE_REGS_USER};
	struct hlg_perfdata_fields got;
	struct kit k = {0};
	size_t start = kit_begin(&k, PERF_RECORD_SAMPLE, 0);

	for (uint64_t v = 77; v < 90; v++)
		kit_u64(&k, v);
	kit_end(&k, start);
	ck_assert(!hlg_perfdata_decode(&got, &attr, k.at, (uint16_t)k.n));
	ck_assert_uint_eq(got.has, PERF_SAMPLE_IP);
	ck_assert_uint_eq(got.ip, 77);
	kit_free(&k);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("perfdata decode");
	TCase *tc = tap_case(suite, "fields");

	tcase_add_test(tc, one_field);
	tcase_add_test(tc, sets_of_fields);
	tcase_add_test(tc, unknown_registers);
	return tap_main(suite);
}
