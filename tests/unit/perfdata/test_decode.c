// SPDX-License-Identifier: GPL-2.0-only
/*
 * Every field that is read of a sample is read where linux/perf_event.h puts it, in
 * whatever company: samples are written field by field in the order of the comment above
 * PERF_RECORD_SAMPLE, with each field alone, with all, and with 20,000 sets drawn by a
 * fixed generator. Cut at any byte of what is read, a sample is refused and nothing
 * behind the cut is touched (the copy is as long as the cut, for the sanitizers to
 * watch).
 */
#include "tools/perfdata/record.h"

#include <stdlib.h>
#include <string.h>

#include "tests/kit/perfdata.h"
#include "tests/kit/tap.h"

#define FIELDS 25 /* PERF_SAMPLE_IP .. PERF_SAMPLE_WEIGHT_STRUCT */
#define LEADING                                                                          \
	(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |  \
	 PERF_SAMPLE_ADDR | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU |   \
	 PERF_SAMPLE_PERIOD)
/* What is read, of any length. */
#define READ                                                                             \
	(PERF_SAMPLE_READ | PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_RAW |                    \
	 PERF_SAMPLE_BRANCH_STACK | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER)

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
	struct hlg_perfdata_fields f;    /* .at of bytes: offset in the record + 1 */
	struct hlg_perfdata_values read; /* the same */
	size_t read_at, needs;           /* where PERF_SAMPLE_READ and what is read end */
};

static void put_word(struct expected *e)
{
	kit_u64(&e->record, draw_word());
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
	static const uint64_t leading[] = {
		PERF_SAMPLE_IDENTIFIER, PERF_SAMPLE_IP,   PERF_SAMPLE_TID,
		PERF_SAMPLE_TIME,       PERF_SAMPLE_ADDR, PERF_SAMPLE_ID,
		PERF_SAMPLE_STREAM_ID,  PERF_SAMPLE_CPU,  PERF_SAMPLE_PERIOD,
	};

	for (size_t i = 0; i < sizeof(leading) / sizeof(leading[0]); i++)
		if (type & leading[i])
			put_word(e);
}

/* id and lost; where they stand, from the value at start. */
static void put_value_tail(struct expected *e, size_t start)
{
	e->read.id = e->record.n - start;
	if (e->attr.read_format & PERF_FORMAT_ID)
		put_word(e);
	if (e->attr.read_format & 1 << 4) /* PERF_FORMAT_LOST */
		put_word(e);
	e->read.stride = e->record.n - start;
}

static void put_read(struct expected *e)
{
	bool group = e->attr.read_format & PERF_FORMAT_GROUP;
	struct hlg_perfdata_values *r = &e->read;
	size_t start = e->record.n;

	e->read_at = start;
	r->n = group ? draw() % 5 : 1;
	kit_u64(&e->record, r->n);
	if (e->attr.read_format & PERF_FORMAT_TOTAL_TIME_ENABLED)
		put_word(e);
	if (e->attr.read_format & PERF_FORMAT_TOTAL_TIME_RUNNING)
		put_word(e);
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
		put_word(e);
	put_some(e, n, 24);
	if (e->attr.branch_sample_type & 1 << 19)
		put_some(e, n, 8);
}

static void put_regs(struct expected *e, uint64_t mask, struct hlg_perfdata_bytes *regs)
{
	uint64_t n = 0, abi = draw() % 3;

	kit_u64(&e->record, abi);
	for (; mask; mask &= mask - 1)
		n++;
	if (abi)
		*regs = put_some(e, n, 8);
}

static void put_stack(struct expected *e)
{
	uint64_t room = draw() % 4 * 8, used = room ? draw() % (room + 1) : 0;

	kit_u64(&e->record, room);
	if (room == 0)
		return;
	e->f.user_stack = put_some(e, room, 1);
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
		put_regs(e, e->attr.sample_regs_user, &e->f.user_regs);
	if (type & PERF_SAMPLE_STACK_USER)
		put_stack(e);
	e->needs = e->record.n;
}

/* What nobody reads. */
static void put_trailing(struct expected *e, uint64_t type)
{
	for (; type; type &= type - 1)
		put_some(e, draw() % 9, 8);
}

static void make(struct expected *e, uint64_t type)
{
	size_t start;

	*e = (struct expected){0};
	e->attr.sample_type = type;
	e->attr.sample_period = 4711;
	e->attr.read_format = draw() % 32;
	e->attr.branch_sample_type = draw() % 2 << 17 | draw() % 2 << 19;
	e->attr.sample_regs_user = draw_word() & UINT64_C(0x800000030000ff0f);
	start = kit_begin(&e->record, PERF_RECORD_SAMPLE, 2);
	put_leading(e, type);
	put_variable(e, type);
	put_trailing(e, type & ~(LEADING | READ));
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
	same_bytes(e, got.user_regs, want.user_regs);
	same_bytes(e, got.user_stack, want.user_stack);
}

static void same_values(const struct expected *e)
{
	const struct hlg_perfdata_values *want = &e->read;
	struct hlg_perfdata_values got;

	ck_assert(hlg_perfdata_values(&got, e->attr.read_format,
				      e->record.at + e->read_at,
				      e->record.n - e->read_at));
	same_bytes(e, (struct hlg_perfdata_bytes){got.at, got.n},
		   (struct hlg_perfdata_bytes){want->at, want->n});
	if (want->n && e->attr.read_format & PERF_FORMAT_ID)
		ck_assert_uint_eq(got.id, want->id);
	if (want->n > 1)
		ck_assert_uint_eq(got.stride, want->stride);
}

static void check_type(uint64_t type, bool cut)
{
	struct hlg_perfdata_fields got;
	struct expected e;

	make(&e, type);
	ck_assert_msg(
		hlg_perfdata_decode(&got, &e.attr, e.record.at, (uint16_t)e.record.n),
		"sample_type 0x%jx", (uintmax_t)type);
	ck_assert_uint_eq(got.has, type & READ);
	same(&e, got);
	if (type & PERF_SAMPLE_READ)
		same_values(&e);
	for (size_t n = 0; cut && n < e.record.n; n++) {
		uint8_t *copy = malloc(n + !n);

		memcpy(copy, e.record.at, n);
		ck_assert(hlg_perfdata_decode(&got, &e.attr, copy, (uint16_t)n) ==
			  (n >= e.needs));
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
	ck_assert_uint_eq(got.has, 0);
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
