// SPDX-License-Identifier: GPL-2.0-only
/*
 * Numbers of new processes are above all that are in use. A sample changes in its mode,
 * its process and its callchain, and a record that is as long as records can be is never
 * longer than that. Whatever the record holds, no byte behind it is read: each stands at
 * the end of its memory, for the sanitizers.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/kit/tap.h"
#include "tools/inject/copy.h"

static uint8_t room[HLG_COPY_MAX];

START_TEST(offsets)
{
	ck_assert_int_eq(hlg_copy_offset(0), 10000000);
	ck_assert_int_eq(hlg_copy_offset(4194304), 10000000);
	ck_assert_int_eq(hlg_copy_offset(9999998), 10000000);
	/* Its number is the one of who is not known. */
	ck_assert_int_eq(hlg_copy_offset(9999999), 100000000);
	ck_assert_int_eq(hlg_copy_offset(10016290), 100000000);
	ck_assert_int_eq(hlg_copy_offset(999999998), 1000000000);
	ck_assert_int_eq(hlg_copy_offset(999999999), 0);
	ck_assert_int_eq(hlg_copy_offset(INT32_MAX), 0);
	ck_assert_int_eq(hlg_copy_id(1000000000, -1), 1999999999);
	ck_assert_int_eq(hlg_copy_id(10000000, 0), 10000000);
}
END_TEST

static const struct perf_event_attr chained = {
	.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_CALLCHAIN};
static const struct hlg_perfdata_layout layout = {
	.ip = 8, .tid = 16, .needs = 24, .attr = &chained};

/* A record of n words behind pid and tid, in memory that ends with it; to be freed. */
static uint8_t *make(const uint64_t *words, size_t n, uint16_t *size)
{
	struct perf_event_header header = {PERF_RECORD_SAMPLE, 5 | 1 << 14, 0};
	uint64_t ip = 0x5000, ids = 9ull << 32 | 8;
	uint8_t *record;

	*size = header.size = (uint16_t)(24 + 8 * n);
	record = malloc(*size);
	memcpy(record, &header, 8);
	memcpy(record + 8, &ip, 8);
	memcpy(record + 16, &ids, 8);
	if (n)
		memcpy(record + 24, words, 8 * n);
	return record;
}

START_TEST(fields)
{
	static const uint64_t markers[] = {1, (uint64_t)PERF_CONTEXT_KERNEL};
	static const uint64_t expected[] = {2, (uint64_t)PERF_CONTEXT_USER, 0x5000};
	uint16_t size, misc;
	uint8_t *record = make(markers, 2, &size);

	ck_assert_uint_eq(hlg_copy_sample(room, record, size, &layout, 10000000, NULL),
			  48);
	ck_assert_mem_eq(room + 24, expected, sizeof(expected));
	memcpy(&misc, room + 4, 2);
	ck_assert_uint_eq(misc, 2 | 1 << 14);
	memcpy(&size, room + 6, 2);
	ck_assert_uint_eq(size, 48);
	ck_assert_uint_eq(hlg_perfdata_u32(room + 16), 10000008);
	ck_assert_uint_eq(hlg_perfdata_u32(room + 20), 10000009);
	ck_assert_uint_eq(hlg_perfdata_u64(room + 8), 0x5000);
	free(record);
}
END_TEST

/* Registers and stack are the host's; what stands behind them stays. */
START_TEST(registers_and_stack)
{
	static const struct perf_event_attr attr = {
		.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_REGS_USER |
			       PERF_SAMPLE_STACK_USER | PERF_SAMPLE_TRANSACTION,
		.sample_regs_user = 3};
	static const struct hlg_perfdata_layout whole = {
		.ip = 8, .tid = 16, .needs = 24, .attr = &attr};
	static const uint64_t words[] = {PERF_SAMPLE_REGS_ABI_64, 1, 2, 16, 3, 4, 8, 0x77};
	static const uint64_t expected[] = {PERF_SAMPLE_REGS_ABI_NONE, 0, 0x77};
	uint16_t size;
	uint8_t *record = make(words, sizeof(words) / sizeof(*words), &size);

	ck_assert_uint_eq(hlg_copy_sample(room, record, size, &whole, 10000000, NULL),
			  24 + sizeof(expected));
	ck_assert_mem_eq(room + 24, expected, sizeof(expected));
	free(record);
}
END_TEST

/* A guest's callers become a user's; how they were found is nobody's address. */
START_TEST(tail)
{
	static const uint64_t words[] = {
		5,      (uint64_t)PERF_CONTEXT_GUEST_USER, 0x5000,
		0x6000, (uint64_t)PERF_CONTEXT_GUEST,      0x101};
	const uint64_t user = (uint64_t)PERF_CONTEXT_USER;
	const uint64_t expected[] = {5, user, 0x5000, 0x6000, user, user};
	uint16_t size;
	uint8_t *record = make(words, 6, &size);

	ck_assert_uint_eq(hlg_copy_sample(room, record, size, &layout, 10000000, NULL),
			  size);
	ck_assert_mem_eq(room + 24, expected, sizeof(expected));
	free(record);
}
END_TEST

/* Callchains that pass the record's end, or leave no room, stay as they are. */
START_TEST(odd_chains)
{
	static const uint64_t counts[] = {1, 2, 1000, UINT64_MAX, UINT64_MAX / 8};
	uint64_t *words = calloc(8192, 8);
	uint8_t *record;
	uint16_t size;

	for (size_t i = 0; i < 5; i++) {
		record = make(&counts[i], 1, &size);
		ck_assert_uint_eq(hlg_copy_sample(room, record, size, &layout, 1, NULL),
				  size);
		ck_assert_mem_eq(room + 24, record + 24, 8);
		free(record);
	}
	record = make(NULL, 0, &size);
	ck_assert_uint_eq(hlg_copy_sample(room, record, size, &layout, 1, NULL), 24);
	free(record);
	/* As large as a record can be, or a word less, where two are needed; and
	 * something behind the callchain. */
	for (size_t n = 8188; n > 8186; n--) {
		record = make(words, n, &size);
		ck_assert_uint_eq(size, 24 + 8 * n);
		ck_assert_uint_eq(hlg_copy_sample(room, record, size, &layout, 1, NULL),
				  size);
		free(record);
	}
	record = make(words, 8186, &size);
	ck_assert_uint_eq(hlg_copy_sample(room, record, size, &layout, 1, NULL), 65528);
	free(record);
	free(words);
}
END_TEST

/* Any words at all: the size that is written is the size that is told. */
START_TEST(noise)
{
	struct perf_event_attr attr = chained;
	struct hlg_perfdata_layout l = layout;

	l.attr = &attr;
	srandom(1);
	for (int round = 0; round < 20000; round++) {
		uint64_t words[24];
		size_t n = (size_t)random() % 24, got;
		uint8_t *record;
		uint16_t size, told;

		attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID |
				   ((uint64_t)random() & 0x33c00 & ~0x200u) |
				   ((uint64_t)random() & PERF_SAMPLE_CALLCHAIN);
		attr.sample_regs_user = (uint64_t)random() & 7;
		for (size_t i = 0; i < n; i++)
			words[i] = random() % 3 ? (uint64_t)random() % 9
						: (uint64_t) - (random() % 5000);
		record = make(words, n, &size);
		got = hlg_copy_sample(room, record, size, &l, 10000000, NULL);
		memcpy(&told, room + 6, 2);
		ck_assert_uint_eq(got, told);
		ck_assert_uint_le(got, (size_t)size + 16);
		free(record);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("inject rewrite");
	TCase *tc = tap_case(suite, "rewrite");

	tcase_add_test(tc, offsets);
	tcase_add_test(tc, fields);
	tcase_add_test(tc, registers_and_stack);
	tcase_add_test(tc, tail);
	tcase_add_test(tc, odd_chains);
	tcase_add_test(tc, noise);
	return tap_main(suite);
}
