// SPDX-License-Identifier: GPL-2.0-only
/*
 * Streams that nobody should have: numbers, names, stacks and text are bounded, what is
 * no such stream is refused by name. Every truncation and every single flipped bit of a
 * stream with all kinds of records is read to the end or refused, and loses no sample it
 * counted.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/kit/tap.h"
#include "tests/unit/tools/stream.h"

static void refuse(struct stream *stream, const char *said)
{
	struct hlg_sysprof s;
	struct hlg_err err;

	ck_assert_int_lt(stream_read(&s, stream->at, stream->n, &err), 0);
	ck_assert_msg(strstr(err.msg, said), "%s", err.msg);
	hlg_sysprof_finish(&s);
	free(stream->at);
}

/* Ten bytes hold 64 bits, whatever they begin with; one bit more makes no sense. */
START_TEST(bounds_numbers)
{
	static const unsigned last[] = {0x01, 0x02, 0x81, 0x7f};
	struct hlg_sysprof read;
	struct stream s;

	stream_begin(&s);
	stream_put(&s, HLG_SYSPROF_GC);
	for (int i = 0; i < 9; i++)
		stream_put(&s, 0xff);
	stream_put(&s, last[_i]);
	if (_i) {
		refuse(&s, "a number of more than 64 bits");
		return;
	}
	stream_uleb(&s, 0);
	stream_read_good(&read, &s);
	ck_assert_uint_eq(read.samples, 1);
	ck_assert(!read.ended);
	ck_assert_uint_eq(read.frames[0].addr, UINT64_MAX);
	hlg_sysprof_finish(&read);
}
END_TEST

/* A length is no promise: memory is taken for what is there. */
START_TEST(bounds_names)
{
	struct hlg_sysprof read;
	struct stream s;

	stream_begin(&s);
	stream_put(&s, 11);
	stream_uleb(&s, WORK);
	stream_uleb(&s, ((uint64_t)16 << 20) + (uint64_t)_i);
	stream_put(&s, 'x');
	if (_i) {
		refuse(&s, "a name of more than 16 MiB");
		return;
	}
	stream_read_good(&read, &s);
	ck_assert_uint_eq(read.left, 9);
	hlg_sysprof_finish(&read);
}
END_TEST

START_TEST(bounds_stacks)
{
	struct hlg_sysprof read;
	struct stream s;
	char *made;

	stream_begin(&s);
	stream_put(&s, HLG_SYSPROF_LFUNC);
	for (uint32_t i = 0; i < HLG_SYSPROF_MAX_FRAMES + (_i == 1); i++) {
		stream_put(&s, HLG_FRAME_C);
		stream_uleb(&s, WORK);
	}
	stream_put(&s, 0x80);
	for (uint32_t i = 0; i < HLG_SYSPROF_MAX_FRAMES + (_i == 2); i++)
		stream_uleb(&s, PCALL);
	stream_uleb(&s, 0);
	if (_i) {
		refuse(&s, _i == 1 ? "a Lua stack without an end"
				   : "a host stack without an end");
		return;
	}
	stream_read_good(&read, &s);
	made = stream_folded(&read, HLG_SYSPROF_CALLGRAPH);
	ck_assert_uint_eq(strlen(made),
			  HLG_SYSPROF_MAX_FRAMES * strlen("work;lua_pcall;") +
				  strlen(" 1\n") - 1);
	free(made);
	hlg_sysprof_finish(&read);
}
END_TEST

/* A long name for each of some frames is too much text. */
START_TEST(bounds_text)
{
	struct hlg_sysprof read;
	struct hlg_sysprof_output output = {.s = &read, .path = ""};
	struct hlg_err err;
	struct stream s;
	FILE *f = fopen("/dev/null", "w");
	const uint64_t size = _i ? 6 << 20 : 6 << 10;

	stream_begin(&s);
	stream_put(&s, 11);
	stream_uleb(&s, WORK);
	stream_uleb(&s, size);
	for (uint64_t i = 0; i < size; i++)
		stream_put(&s, 'x');
	SAMPLE(&s, "", WORK, WORK, WORK, WORK);
	stream_read_good(&read, &s);
	ck_assert_int_eq(hlg_sysprof_folded(&output, f, &err) == 0, _i == 0);
	if (_i)
		ck_assert_ptr_nonnull(strstr(err.msg, "too much memory as text"));
	hlg_sysprof_finish(&read);
	fclose(f);
}
END_TEST

/* clang-format off */
static const struct {
	const char *bytes;
	size_t n;
	const char *said;
} foreign[] = {
	{"", 0, "is empty"},
	{"l", 1, "was cut off before its first event"},
	{"ljs\3\0\0\0", 7, "was cut off before its first event"},
	{"ljs\3\0\0\0\x80", 8, "was cut off before its first event"},
	{"ljs\3\0\0\0\x80ljp\2\0\0", 14, "was cut off before its first event"},
	{"ljs\2\0\0\0\x80", 8, "a symbol table of version 2 (ljs), and only 3 is read"},
	{"ljs\1\0\0\0\x80", 8, "a symbol table of version 1 (ljs), and only 3 is read"},
	{"ljs\4\0\0\0\x80", 8, "a symbol table of version 4 (ljs), and only 3 is read"},
	{"ljs\3\0\0\0\x80ljp\1\0\0\0\x80", 16, "events of version 1 (ljp), and only 2 is read"},
	{"ljs\3\0\0\0\x80ljp\3\0\0\0\x80", 16, "events of version 3 (ljp), and only 2 is read"},
	{"ljs\3\0\0\0\x80ljm\2\0\0\0\x80", 16, "is of memprof"},
	{"ljs\3\0\0\0\x80ljs\3\0\0\0\x80", 16, "no events of sysprof (ljp) follow"},
	{"ljp\2\0\0\0\x80", 8, "is no stream of LuaJIT's sysprof"},
	{"PERFILE2", 8, "is perf's recording"},
	{"ljs\3\0\0\0\3", 8, "byte 7: a symbol of no known kind"},
	{"ljs\3\0\0\0\x80ljp\2\0\0\0\x0d", 16, "byte 15: an event of no known kind"},
	{"ljs\3\0\0\0\x80ljp\2\0\0\0\1\4", 17, "byte 15: a frame of no known kind"},
};
/* clang-format on */

START_TEST(refuses)
{
	struct stream s = {0};

	for (size_t i = 0; i < foreign[_i].n; i++)
		stream_put(&s, (unsigned char)foreign[_i].bytes[i]);
	if (s.n == 0)
		s.at = calloc(1, 1);
	refuse(&s, foreign[_i].said);
}
END_TEST

/* The file with all kinds of records, to be freed. */
static unsigned char *load_all_records(size_t *n)
{
	const char *folder = getenv("HLG_DATA");
	unsigned char *bytes = malloc(4096);
	char path[4096];
	FILE *f;

	ck_assert_ptr_nonnull(folder);
	snprintf(path, sizeof(path), "%s/sysprof/all-records.bin", folder);
	f = fopen(path, "rb");
	ck_assert_ptr_nonnull(f);
	*n = fread(bytes, 1, 4096, f);
	ck_assert_uint_eq(*n, 372);
	fclose(f);
	return bytes;
}

/* Reads it, or not; all writers stand what was read. Returns the samples. */
static uint64_t survive(const unsigned char *bytes, size_t n)
{
	struct hlg_sysprof s;
	struct hlg_err err;
	uint64_t samples = 0;
	FILE *f;

	if (stream_read(&s, bytes, n, &err) == 0) {
		stream_check(&s);
		samples = s.samples;
		f = fopen("/dev/null", "w");
		for (int mode = 0; mode <= HLG_SYSPROF_COUNTERS; mode++) {
			struct hlg_sysprof_output output = {
				.s = &s, .mode = mode, .path = ""};

			ck_assert_int_eq(hlg_sysprof_folded(&output, f, &err), 0);
			ck_assert_int_eq(hlg_sysprof_text(&output, f, &err), 0);
		}
		fclose(f);
	}
	hlg_sysprof_finish(&s);
	return samples;
}

START_TEST(survives_truncation)
{
	size_t n;
	unsigned char *bytes = load_all_records(&n);
	uint64_t before = 0, samples;

	for (size_t i = 0; i <= n; i++) {
		samples = survive(bytes, i);
		ck_assert_uint_ge(samples, before);
		ck_assert_uint_le(samples, before + 1);
		before = samples;
	}
	ck_assert_uint_eq(before, 13);
	free(bytes);
}
END_TEST

START_TEST(survives_flipped_bits)
{
	size_t n;
	unsigned char *bytes = load_all_records(&n);
	/* Without processes of their own, under valgrind, all bits take minutes. */
	size_t step = getenv("CK_FORK") ? 61 : 1;

	for (size_t i = 0; i < 8 * n; i += step) {
		bytes[i / 8] ^= (unsigned char)(1 << i % 8);
		survive(bytes, n);
		bytes[i / 8] ^= (unsigned char)(1 << i % 8);
	}
	free(bytes);
}
END_TEST

/* An address has the name of the last function at or below it; one of the same address
 * takes an earlier one's place. */
START_TEST(finds_floors)
{
	uint64_t keys[200], random = 1;
	size_t n = _i == 0 ? 1 : _i == 1 ? 50 : 200;
	struct hlg_sysprof read;
	struct stream s = {0};
	char name[24];

	stream_header(&s, "ljs", 3);
	for (size_t i = 0; i < n; i++) {
		random = random * UINT64_C(6364136223846793005) + 1442695040888963407u;
		keys[i] = random >> 55; /* some are alike */
		snprintf(name, sizeof(name), "%zu", i);
		stream_c(&s, 1, keys[i], name);
	}
	stream_put(&s, 0x80);
	stream_header(&s, "ljp", 2);
	for (uint64_t addr = 1; addr < 520; addr++) {
		stream_put(&s, HLG_SYSPROF_GC);
		stream_uleb(&s, addr);
		stream_uleb(&s, 0);
	}
	stream_read_good(&read, &s);
	ck_assert_uint_eq(read.n_frames, 519);
	for (uint32_t f = 0; f < read.n_frames; f++) {
		const struct hlg_sysprof_frame *frame = &read.frames[f];
		size_t best = SIZE_MAX;

		for (size_t k = 0; k < n; k++)
			if (keys[k] <= frame->addr &&
			    (best == SIZE_MAX || keys[k] >= keys[best]))
				best = k;
		ck_assert_int_eq(frame->name == HLG_NO_STRING, best == SIZE_MAX);
		if (best == SIZE_MAX)
			continue;
		snprintf(name, sizeof(name), "%zu", best);
		ck_assert_str_eq(hlg_strings_get(&read.names, frame->name), name);
		ck_assert_uint_eq(frame->start, keys[best]);
	}
	hlg_sysprof_finish(&read);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("sysprof hostile");
	TCase *tc = tap_case(suite, "bounds");

	tcase_add_loop_test(tc, bounds_numbers, 0, 4);
	tcase_add_loop_test(tc, bounds_names, 0, 2);
	tcase_add_loop_test(tc, bounds_stacks, 0, 3);
	tcase_add_loop_test(tc, bounds_text, 0, 2);
	tcase_add_loop_test(tc, refuses, 0, sizeof(foreign) / sizeof(foreign[0]));
	tc = tap_case(suite, "damage");
	tcase_add_test(tc, survives_truncation);
	tcase_add_test(tc, survives_flipped_bits);
	tc = tap_case(suite, "symbols");
	tcase_add_loop_test(tc, finds_floors, 0, 3);
	return tap_main(suite);
}
