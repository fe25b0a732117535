// SPDX-License-Identifier: GPL-2.0-only
/*
 * A tracepoint's raw data behind a field of variable length: found by walking the sample,
 * the same bytes as where the place is known beforehand; and refused, with no byte behind
 * the record touched (the copy is as long as the record), where anything passes the end.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/kit/perfdata.h"
#include "tests/kit/tap.h"
#include "tools/perfdata/walk.h"

#define BEFORE (PERF_SAMPLE_IP | PERF_SAMPLE_TID)
#define CHAIN  3

static const char text[] = "raw data here"; /* with its NUL 14 bytes, not aligned */

/* IP, TID, a callchain if the type has one, raw data of claimed bytes, and padding. */
static struct kit make(uint64_t type, uint32_t claimed)
{
	struct kit k = {0};
	size_t start = kit_begin(&k, PERF_RECORD_SAMPLE, 0);

	kit_u64(&k, 0x4000);
	kit_u64(&k, 1);
	if (type & PERF_SAMPLE_CALLCHAIN) {
		kit_u64(&k, CHAIN);
		for (uint64_t i = 0; i < CHAIN; i++)
			kit_u64(&k, i);
	}
	kit_u32(&k, claimed);
	kit_bytes(&k, text, sizeof(text));
	kit_bytes(&k, "\0\0\0\0\0\0", 6);
	kit_end(&k, start);
	return k;
}

/* Looks in the first size bytes of a record. */
static bool look(const struct kit *k, uint64_t type, uint16_t known, size_t size,
		 char found[static sizeof(text)])
{
	const struct perf_event_attr attr = {.type = PERF_TYPE_TRACEPOINT,
					     .sample_type = type};
	const struct hlg_perfdata_layout layout = {.raw = known, .attr = &attr};
	uint8_t *copy = malloc(size);
	const struct hlg_perfdata_raw raw = {
		.record = copy, .layout = &layout, .size = (uint32_t)size};
	struct hlg_perfdata_bytes data = {0};
	bool has;

	ck_assert_ptr_nonnull(copy);
	memcpy(copy, k->at, size);
	has = hlg_perfdata_data(&raw, &data);
	if (has) {
		ck_assert(data.at >= copy);
		ck_assert_uint_le(data.n, size - (size_t)(data.at - copy));
		memcpy(found, data.at, data.n < sizeof(text) ? data.n : sizeof(text));
	}
	free(copy);
	return has;
}

START_TEST(both_ways_find_it)
{
	static const struct {
		uint64_t type;
		uint16_t known;
	} ways[] = {{BEFORE | PERF_SAMPLE_RAW, 24},
		    {BEFORE | PERF_SAMPLE_RAW, 0},
		    {BEFORE | PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_RAW, 0}};

	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		struct kit k = make(ways[i].type, sizeof(text));
		char found[sizeof(text)] = "";

		ck_assert(look(&k, ways[i].type, ways[i].known, k.n, found));
		ck_assert_str_eq(found, text);
		kit_free(&k);
	}
}
END_TEST

/* No raw data in the samples, or a sample that ends before they do. */
START_TEST(what_passes_the_end_is_refused)
{
	for (int known = 0; known < 2; known++) {
		uint64_t type = BEFORE | PERF_SAMPLE_RAW |
				(known ? 0 : (uint64_t)PERF_SAMPLE_CALLCHAIN);
		struct kit k = make(type, sizeof(text));
		size_t end = k.n - 6;
		char found[sizeof(text)];

		for (size_t size = 8; size < k.n; size++)
			ck_assert_msg(look(&k, type, known ? 24 : 0, size, found) ==
					      (size >= end),
				      "cut to %zu of %zu", size, k.n);
		kit_free(&k);
		k = make(type, UINT32_MAX);
		ck_assert(!look(&k, type, known ? 24 : 0, k.n, found));
		kit_free(&k);
	}
}
END_TEST

START_TEST(a_chain_without_end)
{
	uint64_t type = BEFORE | PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_RAW;
	struct kit k = make(type, sizeof(text));
	char found[sizeof(text)];

	memset(k.at + 24, 0xff, 8); /* its length, past any end */
	ck_assert(!look(&k, type, 0, k.n, found));
	memset(k.at + 24, 0, 8); /* then its first address is the raw data's length: 0 */
	ck_assert(look(&k, type, 0, k.n, found));
	ck_assert(!look(&k, BEFORE, 0, k.n, found));
	kit_free(&k);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("perfdata raw");
	TCase *tc = tap_case(suite, "raw");

	tcase_add_test(tc, both_ways_find_it);
	tcase_add_test(tc, what_passes_the_end_is_refused);
	tcase_add_test(tc, a_chain_without_end);
	return tap_main(suite);
}
