// SPDX-License-Identifier: GPL-2.0-only
/*
 * Recordings that were cut, damaged or made up. Cut at any byte, a recording is refused
 * with a message or read to its last whole record, with what is left told to the byte.
 * With any number of the header replaced by an extreme, and with 30,000 random changes,
 * it is refused or read: no crash, no error of the system (which would be memory). The
 * sanitizers watch the rest.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tests/kit/perfdata.h"
#include "tests/kit/tap.h"

#define N_SAMPLES 20
#define SAMPLE    40 /* bytes of one of kit_plain's */

static const struct kit_event plain = {{.sample_type = KIT_PLAIN}, .name = "clock"};

static void make_file(struct kit *k)
{
	struct kit records = {0};

	for (uint64_t i = 0; i < N_SAMPLES; i++)
		kit_plain(&records, i, 1);
	kit_file(k, &plain, 1, &records, 0);
	kit_free(&records);
}

static uint64_t word_at(const struct kit *k, size_t at)
{
	uint64_t v;

	memcpy(&v, k->at + at, sizeof(v));
	return v;
}

static void set_word(struct kit *k, size_t at, uint64_t v)
{
	memcpy(k->at + at, &v, sizeof(v));
}

START_TEST(cut_file)
{
	struct kit k = {0};
	struct kit_seen seen;
	uint64_t data, end;

	make_file(&k);
	data = word_at(&k, 40);
	end = data + word_at(&k, 48);
	for (size_t n = 0; n <= k.n; n++) {
		kit_read_bytes(&seen, k.at, n);
		ck_assert_int_eq(seen.rc, n < data ? HLG_EINPUT : 0);
		if (seen.rc == 0) {
			uint64_t there = n < end ? n - data : end - data;

			ck_assert_uint_eq(seen.n, there / SAMPLE);
			ck_assert_uint_eq(seen.counts.left, there % SAMPLE);
			ck_assert_uint_eq(seen.counts.missing, end - data - there);
			ck_assert(n < k.n || !seen.counts.facts_cut);
			ck_assert(n < end || n == k.n || seen.counts.facts_cut);
		}
		kit_finish(&seen);
	}
	kit_free(&k);
}
END_TEST

START_TEST(unfinished_file)
{
	struct kit k = {0};
	struct kit_seen seen;

	make_file(&k);
	k.n = word_at(&k, 40) + 3 * SAMPLE + 17;
	set_word(&k, 48, 0);
	kit_read_bytes(&seen, k.at, k.n);
	ck_assert_int_eq(seen.rc, 0);
	ck_assert_uint_eq(seen.n, 3);
	ck_assert_uint_eq(seen.counts.left, 17);
	ck_assert(seen.counts.unfinished && !seen.counts.corrupt);
	kit_finish(&seen);
	/* What a full disk or a crash leaves: zeros. */
	memset(k.at + k.n - 17, 0, 17);
	kit_read_bytes(&seen, k.at, k.n);
	ck_assert_uint_eq(seen.n, 3);
	ck_assert_uint_eq(seen.counts.left, 17);
	ck_assert(seen.counts.corrupt);
	kit_finish(&seen);
	kit_free(&k);
}
END_TEST

START_TEST(cut_pipe)
{
	struct kit records = {0}, k = {0};
	struct kit_seen seen;
	size_t data;

	for (uint64_t i = 0; i < N_SAMPLES; i++)
		kit_plain(&records, i, 1);
	kit_pipe(&k, &plain, 1, &records);
	data = k.n - records.n;
	for (size_t n = 0; n <= k.n; n++) {
		kit_read_piped(&seen, k.at, n, 4096);
		if (n < 16)
			ck_assert_int_eq(seen.rc, HLG_EINPUT);
		if (n >= data) {
			ck_assert_int_eq(seen.rc, 0);
			ck_assert_uint_eq(seen.n, (n - data) / SAMPLE);
			ck_assert_uint_eq(seen.counts.left, (n - data) % SAMPLE);
		}
		kit_finish(&seen);
	}
	kit_free(&records);
	kit_free(&k);
}
END_TEST

static int shorten(void *ctx, uint64_t bytes, uint64_t samples, struct hlg_err *err)
{
	(void)err;
	(void)bytes;
	(void)samples;
	return truncate(ctx, 400000);
}

static void ignore(void *ctx, struct hlg_perfdata_raw *raw)
{
	(void)ctx;
	(void)raw;
}

static int add_up(void *ctx, uint64_t bytes, uint64_t samples, struct hlg_err *err)
{
	uint64_t *told = ctx;

	(void)err;
	told[0] += bytes;
	told[1] += samples;
	return 0;
}

/* What progress tells adds up; the samples of the last window are not among it. */
START_TEST(progress_adds_up)
{
	const struct hlg_perfdata_sink sink = {.progress = add_up};
	struct kit records = {0}, k = {0};
	struct hlg_perfdata *pd;
	uint64_t told[2] = {0}, size;
	struct hlg_err err;
	char path[64];

	for (uint64_t i = 0; i < 100000; i++)
		kit_plain(&records, i, 1);
	kit_file(&k, &plain, 1, &records, 0);
	size = word_at(&k, 48);
	snprintf(path, sizeof(path), "%s", kit_name(k.at, k.n));
	ck_assert_int_eq(hlg_perfdata_open(&pd, path, &err), 0);
	ck_assert_int_eq(hlg_perfdata_read(pd, ignore, &sink, told, &err), 0);
	ck_assert_uint_eq(hlg_perfdata_counts(pd)->samples, 100000);
	ck_assert_uint_gt(told[0], size / 2);
	ck_assert_uint_le(told[0], size);
	ck_assert_uint_gt(told[1], 50000);
	ck_assert_uint_le(told[1], 100000);
	hlg_perfdata_close(pd);
	kit_unname(path);
	kit_free(&records);
	kit_free(&k);
}
END_TEST

/* A file that is cut while it is read ends there. */
START_TEST(shrinking_file)
{
	const struct hlg_perfdata_sink sink = {.progress = shorten};
	const struct hlg_perfdata_counts *counts;
	struct kit records = {0}, k = {0};
	struct hlg_perfdata *pd;
	struct hlg_err err;
	uint64_t data, end;
	char path[64];

	for (uint64_t i = 0; i < 100000; i++)
		kit_plain(&records, i, 1);
	kit_file(&k, &plain, 1, &records, 0);
	data = word_at(&k, 40);
	end = data + word_at(&k, 48);
	snprintf(path, sizeof(path), "%s", kit_name(k.at, k.n));
	ck_assert_int_eq(hlg_perfdata_open(&pd, path, &err), 0);
	ck_assert_int_eq(hlg_perfdata_read(pd, ignore, &sink, path, &err), 0);
	counts = hlg_perfdata_counts(pd);
	ck_assert_uint_eq(counts->samples, (400000 - data) / SAMPLE);
	ck_assert_uint_eq(counts->left, (400000 - data) % SAMPLE);
	ck_assert_uint_eq(counts->missing, end - 400000);
	hlg_perfdata_close(pd);
	kit_unname(path);
	kit_free(&records);
	kit_free(&k);
}
END_TEST

static void check_refused(const void *bytes, size_t n, const char *said)
{
	struct kit_seen seen;

	kit_read_bytes(&seen, bytes, n);
	ck_assert_int_eq(seen.rc, HLG_EINPUT);
	ck_assert_msg(strstr(seen.err.msg, said) != NULL, "%s", seen.err.msg);
	kit_finish(&seen);
	kit_read_piped(&seen, bytes, n, 4096);
	ck_assert_int_eq(seen.rc, HLG_EINPUT);
	kit_finish(&seen);
}

START_TEST(not_recordings)
{
	struct kit k = {0};
	struct kit_seen seen;

	check_refused("", 0, "is empty");
	check_refused("PERFILE2", 8, "too short");
	check_refused("#!/bin/sh\nexit 0\n", 17, "no recording");
	check_refused("2ELIFREP\0\0\0\0\0\0\0\x68", 16, "byte order");
	check_refused("PERFFILE\x68\0\0\0\0\0\0\0", 16, "2012");
	check_refused("PERFILE2\x10\0\0\0\0\0\0\0", 16, "no events");
	check_refused("PERFILE2\x11\0\0\0\0\0\0\0", 16, "header");
	make_file(&k);
	kit_read_piped(&seen, k.at, k.n, 4096);
	ck_assert_int_eq(seen.rc, HLG_EINPUT);
	ck_assert_ptr_nonnull(strstr(seen.err.msg, "pipe"));
	kit_free(&k);
	kit_read(&seen, "/nonexistent/perf.data");
	ck_assert_int_eq(seen.rc, HLG_EINPUT);
	kit_read(&seen, "/dev/null");
	ck_assert_int_eq(seen.rc, HLG_EINPUT);
}
END_TEST

START_TEST(extreme_headers)
{
	static const uint64_t extremes[] = {0,
					    1,
					    7,
					    8,
					    15,
					    16,
					    72,
					    79,
					    80,
					    104,
					    1000,
					    0x7fffffff,
					    0xffffffff,
					    INT64_MAX,
					    UINT64_MAX - 103,
					    UINT64_MAX - 7,
					    UINT64_MAX};
	struct kit k = {0};

	make_file(&k);
	/* Every word: header, attribute, records, features. */
	for (size_t at = 8; at + 8 <= k.n; at += 8) {
		for (size_t i = 0; i < sizeof(extremes) / sizeof(extremes[0]); i++) {
			uint64_t was = word_at(&k, at);
			struct kit_seen seen;

			set_word(&k, at, extremes[i]);
			kit_read_bytes(&seen, k.at, k.n);
			ck_assert_msg(seen.rc == 0 || seen.rc == HLG_EINPUT, "%s",
				      seen.err.msg);
			ck_assert_uint_le(seen.n, k.n / 8);
			kit_finish(&seen);
			set_word(&k, at, was);
		}
	}
	kit_free(&k);
}
END_TEST

/* One of perf's notes is past the end of the file, those behind it are there. */
START_TEST(section_past_the_end)
{
	struct kit whole = {0}, k = {0};
	struct kit_seen seen;
	uint64_t end;

	make_file(&whole);
	end = word_at(&whole, 40) + word_at(&whole, 48);
	kit_bytes(&k, whole.at, end);
	kit_u64(&k, whole.n + 1000);
	kit_u64(&k, 16);
	kit_bytes(&k, whole.at + end, whole.n - end);
	set_word(&k, 72, word_at(&k, 72) | 1 << 2); /* HEADER_BUILD_ID */
	set_word(&k, end + 16, word_at(&k, end + 16) + 16);
	kit_read_bytes(&seen, k.at, k.n);
	ck_assert_int_eq(seen.rc, 0);
	ck_assert_uint_eq(seen.n, N_SAMPLES);
	ck_assert(seen.counts.facts_cut);
	ck_assert_str_eq(seen.names, "clock;");
	kit_finish(&seen);
	kit_free(&whole);
	kit_free(&k);
}
END_TEST

START_TEST(payload_past_the_end)
{
	static const uint64_t sizes[] = {1, 1000, INT64_MAX, UINT64_MAX};

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct kit records = {0}, k = {0};
		struct kit_seen seen;
		size_t start;

		kit_plain(&records, 1, 1);
		start = kit_begin(&records, 71, 0); /* PERF_RECORD_AUXTRACE */
		kit_u64(&records, sizes[i]);
		kit_end(&records, start);
		kit_file(&k, &plain, 1, &records, 0);
		kit_read_bytes(&seen, k.at, k.n);
		ck_assert_int_eq(seen.rc, 0);
		ck_assert_uint_eq(seen.n, 1);
		ck_assert_uint_eq(seen.counts.left, 16);
		ck_assert_uint_eq(seen.counts.missing, sizes[i]);
		kit_finish(&seen);
		kit_free(&k);
		if (i) { /* a part of it is there */
			kit_bytes(&records, "12345678", 8);
			kit_file(&k, &plain, 1, &records, 0);
			kit_read_bytes(&seen, k.at, k.n);
			ck_assert_uint_eq(seen.counts.left, 16 + 8);
			ck_assert_uint_eq(seen.counts.missing, sizes[i] - 8);
			kit_finish(&seen);
			kit_free(&k);
		}
		if (sizes[i] == 1000) { /* the header promises 100 bytes of it, too */
			size_t behind;

			kit_file(&k, &plain, 1, &records, 0);
			behind = k.n - word_at(&k, 40) - word_at(&k, 48);
			set_word(&k, 48, word_at(&k, 48) + behind + 100);
			kit_read_bytes(&seen, k.at, k.n);
			ck_assert_uint_eq(seen.counts.missing, 1000 - 8 - behind);
			kit_finish(&seen);
			kit_free(&k);
		}
		kit_pipe(&k, &plain, 1, &records);
		kit_read_piped(&seen, k.at, k.n, 4096);
		ck_assert_int_eq(seen.rc, 0);
		ck_assert_uint_eq(seen.n, 1);
		kit_finish(&seen);
		kit_free(&k);
		kit_free(&records);
	}
}
END_TEST

START_TEST(too_many_events)
{
	static struct kit_event events[65537];
	struct kit records = {0}, k = {0};
	struct kit_seen seen;

	kit_plain(&records, 1, 1);
	for (size_t i = 0; i < 65537; i++)
		events[i].attr.sample_type = PERF_SAMPLE_IDENTIFIER;
	kit_file(&k, events, 65537, &records, 0);
	kit_read_bytes(&seen, k.at, k.n);
	ck_assert_int_eq(seen.rc, HLG_EINPUT);
	ck_assert_ptr_nonnull(strstr(seen.err.msg, "65536"));
	kit_free(&records);
	kit_free(&k);
}
END_TEST

/* A file and a pipe with all that has a length of its own. */
static void make_rich(struct kit *k, bool pipe)
{
	const struct perf_event_attr attr = {
		.size = sizeof(attr),
		.sample_type =
			PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID | PERF_SAMPLE_READ,
		.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_ID,
		.sample_id_all = 1,
		.inherit = 1,
	};
	const struct kit_event events[] = {{attr, {5}, "a"}, {attr, {6, 7}, "b"}};
	struct kit records = {0};

	for (uint64_t i = 0; i < 6; i++) {
		size_t start = kit_begin(&records, PERF_RECORD_SAMPLE, 5);

		kit_u64(&records, 5 + i % 3);
		kit_u64(&records, i);
		kit_u64(&records, 2);
		for (uint64_t j = 0; j < 4; j++)
			kit_u64(&records, 5 + j % 2);
		kit_end(&records, start);
		start = kit_begin(&records, PERF_RECORD_COMM, 0);
		kit_u64(&records, i);
		kit_text(&records, "name");
		kit_u64(&records, i);
		kit_u64(&records, 5);
		kit_end(&records, start);
		start = kit_begin(&records, i % 2 ? 71 : 66, 0);
		kit_u64(&records, 8);
		kit_end(&records, start);
		kit_u64(&records, UINT64_MAX);
	}
	if (pipe)
		kit_pipe(k, events, 2, &records);
	else
		kit_file(k, events, 2, &records, 0);
	kit_free(&records);
}

START_TEST(random_changes)
{
	uint64_t state = 1;

	for (unsigned i = 0; i < 30000; i++) {
		struct kit k = {0};
		struct kit_seen seen;

		make_rich(&k, i % 2);
		for (unsigned n = 0; n < 1 + i % 4; n++) {
			state = state * UINT64_C(6364136223846793005) +
				UINT64_C(1442695040888963407);
			k.at[(state >> 33) % k.n] ^= (uint8_t)(1 << (state >> 20) % 8);
		}
		kit_read_bytes(&seen, k.at, k.n);
		ck_assert_msg(seen.rc == 0 || seen.rc == HLG_EINPUT, "%s", seen.err.msg);
		kit_finish(&seen);
		kit_free(&k);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("perfdata hostile");
	TCase *tc = tap_case(suite, "cut and damaged");

	tcase_add_test(tc, cut_file);
	tcase_add_test(tc, unfinished_file);
	tcase_add_test(tc, cut_pipe);
	tcase_add_test(tc, progress_adds_up);
	tcase_add_test(tc, shrinking_file);
	tcase_add_test(tc, not_recordings);
	tcase_add_test(tc, extreme_headers);
	tcase_add_test(tc, section_past_the_end);
	tcase_add_test(tc, payload_past_the_end);
	tcase_add_test(tc, too_many_events);
	tcase_add_test(tc, random_changes);
	return tap_main(suite);
}
