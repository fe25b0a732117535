// SPDX-License-Identifier: GPL-2.0-only
/*
 * The same samples in every shape of a recording: through a pipe in pieces of any size,
 * as a file of what went through a pipe, in compressed records of both kinds whose
 * borders fall anywhere in the records within, and as a directory whose parts are each a
 * stream of their own. What may come at any time in a pipe (an event, a name) counts from
 * there on.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#if HLG_HAVE_ZSTD
#include <zstd.h>
#endif

#include "tests/kit/perfdata.h"
#include "tests/kit/tap.h"
#include "tools/perfdata/format.h"

static const struct kit_event two[] = {
	{{.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP}, {5}, "one"},
	{{.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP}, {6}, "two"},
};

/* n samples, of the two events in turn. */
static void put_samples(struct kit *k, uint64_t from, uint64_t n)
{
	for (uint64_t i = from; i < from + n; i++)
		kit_with_id(k, 5 + i % 2, i);
}

static void check_seen(struct kit_seen *seen, size_t n)
{
	ck_assert_msg(seen->rc == 0, "%s", seen->err.msg);
	ck_assert_uint_eq(seen->n, n);
	for (size_t i = 0; i < n; i++) {
		ck_assert_uint_eq(seen->samples[i].ip, i);
		ck_assert_uint_eq(seen->samples[i].event, i % 2);
	}
	ck_assert_str_eq(seen->names, "one;two;");
	ck_assert_uint_eq(seen->counts.left, 0);
	ck_assert_uint_eq(seen->counts.missing, 0);
	kit_finish(seen);
}

START_TEST(pipe_mode)
{
	static const size_t steps[] = {1, 7, 8, 23, 4096, 65536};
	struct kit records = {0}, k = {0};
	struct kit_seen seen;

	put_samples(&records, 0, 2000);
	kit_pipe(&k, two, 2, &records);
	kit_read_bytes(&seen, k.at, k.n);
	check_seen(&seen, 2000);
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		kit_read_piped(&seen, k.at, k.n, steps[i]);
		check_seen(&seen, 2000);
	}
	kit_free(&records);
	kit_free(&k);
}
END_TEST

START_TEST(late_events)
{
	struct kit records = {0}, k = {0}, first = {0}, later = {0};
	struct kit_seen seen;
	size_t start;

	put_samples(&first, 0, 1);
	kit_pipe(&k, two, 1, &first);
	kit_pipe(&later, two + 1, 1, &records);
	kit_bytes(&k, later.at + 16, later.n - 16);
	/* Its feature said that event 0 is "two": names go by place. Mended by id. */
	start = kit_begin(&k, 78, 0); /* PERF_RECORD_EVENT_UPDATE */
	kit_u64(&k, 2);               /* PERF_EVENT_UPDATE__NAME */
	kit_u64(&k, 6);
	kit_text(&k, "two");
	kit_end(&k, start);
	put_samples(&k, 1, 300);
	kit_read_piped(&seen, k.at, k.n, 4096);
	check_seen(&seen, 301);
	kit_free(&k);
	kit_free(&first);
	kit_free(&later);
}
END_TEST

/* Sizes and modes that change between samples, and after runs of the same. */
START_TEST(sizes_and_modes)
{
	const struct kit_event event = {.attr = {.sample_type = KIT_PLAIN}};
	struct kit records = {0}, k = {0};
	struct kit_seen seen;

	for (uint64_t i = 0; i < 40000; i++) {
		size_t at =
			kit_begin(&records, PERF_RECORD_SAMPLE, (uint16_t)(i / 3 % 6));

		for (uint64_t n = 0; n < 4 + i / 5 % 4 * (i % 1000 < 500); n++)
			kit_u64(&records, i + n);
		kit_end(&records, at);
		if (i % 700 == 0)
			kit_end(&records, kit_begin(&records, PERF_RECORD_COMM, 0));
	}
	kit_file(&k, &event, 1, &records, 0);
	kit_read_bytes(&seen, k.at, k.n);
	ck_assert_int_eq(seen.rc, 0);
	ck_assert_uint_eq(seen.n, 40000);
	for (uint64_t i = 0; i < seen.n; i++)
		ck_assert(seen.samples[i].ip == i && seen.samples[i].period == i + 3 &&
			  seen.samples[i].cpumode == i / 3 % 6);
	ck_assert_uint_eq(seen.counts.samples, 40000);
	kit_free(&records);
	kit_free(&k);
	kit_finish(&seen);
}
END_TEST

static void put_tracing(struct kit *k, const char *formats)
{
	size_t start = kit_begin(k, 66, 0); /* PERF_RECORD_HEADER_TRACING_DATA */

	kit_u32(k, (uint32_t)(strlen(formats) / 8 + 1) * 8);
	kit_end(k, start);
	kit_text(k, formats);
}

START_TEST(tracing_data)
{
	struct kit records = {0}, k = {0};
	struct hlg_perfdata *pd;
	struct kit_seen seen;
	struct hlg_err err;
	const char *path;
	size_t size;
	void *data;

	/* Its record has 12 bytes: all behind it is no longer aligned. */
	put_tracing(&records, "format of everything");
	put_samples(&records, 0, 100);
	kit_pipe(&k, two, 2, &records);
	kit_read_piped(&seen, k.at, k.n, 11);
	check_seen(&seen, 100);
	path = kit_name(k.at, k.n);
	ck_assert_int_eq(hlg_perfdata_open(&pd, path, &err), 0);
	ck_assert_int_eq(hlg_perfdata_tracing(pd, &data, &size, &err), 0);
	ck_assert_uint_eq(size, 24);
	ck_assert_str_eq(data, "format of everything");
	free(data);
	hlg_perfdata_close(pd);
	kit_unname(path);
	kit_free(&records);
	kit_free(&k);
}
END_TEST

#if HLG_HAVE_ZSTD
/* One stream; each piece of the input is flushed into a compressed record. */
static void compress(struct kit *to, const struct kit *from, size_t piece, bool second)
{
	ZSTD_CCtx *c = ZSTD_createCCtx();

	for (size_t at = 0; at < from->n; at += piece) {
		size_t n = from->n - at < piece ? from->n - at : piece;
		ZSTD_inBuffer in = {from->at + at, n, 0};
		uint8_t room[65000];
		ZSTD_outBuffer out = {room, sizeof(room), 0};
		size_t start = kit_begin(to, second ? 83 : 81, 0);

		ck_assert_uint_eq(ZSTD_compressStream2(c, &out, &in, ZSTD_e_flush), 0);
		if (second)
			kit_u64(to, out.pos);
		kit_bytes(to, room, out.pos);
		while (second && (to->n - start) % 8)
			kit_bytes(to, "\xff", 1);
		kit_end(to, start);
	}
	ZSTD_freeCCtx(c);
}

START_TEST(compressed)
{
	static const size_t pieces[] = {1, 5, 24, 25, 1000, 60000};

	for (size_t i = 0; i < 2 * sizeof(pieces) / sizeof(pieces[0]); i++) {
		struct kit inner = {0}, records = {0}, k = {0};
		uint64_t n = pieces[i / 2] < 24 ? 100 : 20000;
		struct kit_seen seen;

		put_samples(&inner, 0, n);
		compress(&records, &inner, pieces[i / 2], i % 2);
		put_samples(&records, n, 10); /* perf's own are not compressed */
		kit_file(&k, two, 2, &records, 0);
		kit_read_bytes(&seen, k.at, k.n);
		check_seen(&seen, n + 10);
		kit_free(&k);
		kit_pipe(&k, two, 2, &records);
		kit_read_piped(&seen, k.at, k.n, 100);
		check_seen(&seen, n + 10);
		kit_free(&inner);
		kit_free(&records);
		kit_free(&k);
	}
}
END_TEST

/* 64 MB of zeros inside 6 KB must not become 64 MB of memory, nor records. */
START_TEST(compressed_zeros)
{
	struct kit inner = {.n = 64 << 20, .at = calloc(1, 64 << 20)};
	struct kit records = {0}, k = {0};
	struct kit_seen seen;

	compress(&records, &inner, inner.n, false);
	kit_file(&k, two, 2, &records, 0);
	kit_read_bytes(&seen, k.at, k.n);
	ck_assert_int_eq(seen.rc, 0);
	ck_assert(seen.counts.corrupt);
	ck_assert_uint_gt(seen.counts.left, 0);
	kit_finish(&seen);
	kit_free(&inner);
	kit_free(&records);
	kit_free(&k);
}
END_TEST

START_TEST(compressed_damaged)
{
	struct kit inner = {0}, records = {0}, k = {0};
	struct kit_seen seen;

	put_samples(&inner, 0, 1000);
	compress(&records, &inner, 5000, false);
	memset(records.at + 8, 0x55, 4);
	kit_file(&k, two, 2, &records, 0);
	kit_read_bytes(&seen, k.at, k.n);
	ck_assert_int_eq(seen.rc, HLG_EINPUT);
	kit_finish(&seen);
	kit_free(&k);
	/* Compressed within compressed. */
	kit_free(&records);
	compress(&records, &inner, 5000, false);
	kit_free(&inner);
	compress(&inner, &records, 5000, false);
	kit_file(&k, two, 2, &inner, 0);
	kit_read_bytes(&seen, k.at, k.n);
	ck_assert_int_eq(seen.rc, HLG_EINPUT);
	kit_finish(&seen);
	kit_free(&inner);
	kit_free(&records);
	kit_free(&k);
}
END_TEST
#endif

static void write_file(const char *dir, const char *name, const struct kit *k)
{
	char path[300];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	ck_assert_int_ge(fd, 0);
	ck_assert(write(fd, k->at, k->n) == (ssize_t)k->n);
	close(fd);
}

static void remove_all(const char *dir, const char *const *names, size_t n)
{
	char path[300];

	for (size_t i = 0; i < n; i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, names[i]);
		unlink(path);
	}
	rmdir(dir);
}

/* Of a recording in parts, which a feature says that it is, the first is not all. */
START_TEST(one_part)
{
	static const char *const names[] = {"data", "data.0"};
	const char *tmp = getenv("TMPDIR");
	struct kit records = {0}, k = {0};
	struct kit_seen seen;
	char dir[256], path[300];

	snprintf(dir, sizeof(dir), "%s/hlguest-XXXXXX", tmp && *tmp ? tmp : "/tmp");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/data", dir);
	put_samples(&records, 0, 100);
	kit_file(&k, two, 2, &records, 0);
	write_file(dir, "data", &k);
	write_file(dir, "data.0", &records);
	kit_read(&seen, path);
	check_seen(&seen, 100);
	k.at[72 + 24 / 8] |= 1 << 24 % 8; /* HEADER_DIR_FORMAT */
	write_file(dir, "data", &k);
	kit_read(&seen, path);
	ck_assert_int_eq(seen.rc, HLG_EINPUT);
	ck_assert_ptr_nonnull(strstr(seen.err.msg, "/data: is one part of a recording"));
	kit_read(&seen, dir);
	ck_assert_int_eq(seen.rc, 0);
	ck_assert_uint_eq(seen.n, 200);
	kit_finish(&seen);
	remove_all(dir, names + 1, 1);
	write_file(dir, "data", &k);
	kit_read(&seen, path);
	ck_assert_int_eq(seen.rc, 0);
	ck_assert_uint_eq(seen.n, 100);
	kit_finish(&seen);
	remove_all(dir, names, 2);
	kit_free(&records);
	kit_free(&k);
}
END_TEST

START_TEST(directory)
{
	static const char *const names[] = {"data",  "data.0",  "data.2",  "data.10",
					    "data.", "data.1x", "data.old"};
	const char *tmp = getenv("TMPDIR");
	struct kit records = {0}, k = {0};
	struct kit_seen seen;
	char dir[256];

	snprintf(dir, sizeof(dir), "%s/hlguest-XXXXXX", tmp && *tmp ? tmp : "/tmp");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	kit_read(&seen, dir);
	ck_assert_int_eq(seen.rc, HLG_EINPUT);
	put_samples(&records, 0, 100);
	kit_end(&records, kit_begin(&records, HLG_RECORD_FINISHED_ROUND, 0));
	kit_file(&k, two, 2, &records, 0);
	kit_read_bytes(&seen, k.at, k.n);
	ck_assert_uint_eq(seen.rounds, 1);
	check_seen(&seen, 100);
	write_file(dir, "data", &k);
	for (size_t i = 1; i < sizeof(names) / sizeof(names[0]); i++) {
		struct kit part = {0};

		put_samples(&records, 100 * i, 100);
#if HLG_HAVE_ZSTD
		compress(&part, &(struct kit){.at = records.at + 2400 * i + 8, .n = 2400},
			 777, i % 2);
#else
		put_samples(&part, 100 * i, 100);
#endif
		/* The names that are no parts hold what would be noticed. */
		write_file(dir, names[i], i < 4 ? &part : &k);
		kit_free(&part);
	}
	kit_read(&seen, dir);
	/* A round of one of several files ends nothing. */
	ck_assert_uint_eq(seen.rounds, 0);
	check_seen(&seen, 400);
	for (size_t i = 1; i < 3; i++) {
		struct kit part = {0};

		put_samples(&part, 100 * i, 100);
		part.n -= i; /* the last record is cut off, and 24 - i bytes of it are
				left */
		write_file(dir, names[i], &part);
		kit_free(&part);
	}
	kit_read(&seen, dir);
	ck_assert_int_eq(seen.rc, 0);
	ck_assert_uint_eq(seen.n, 398);
	ck_assert_uint_eq(seen.counts.left, 23 + 22);
	kit_finish(&seen);
	remove_all(dir, names, sizeof(names) / sizeof(names[0]));
	kit_free(&records);
	kit_free(&k);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("perfdata shapes");
	TCase *tc = tap_case(suite, "shapes");

	tcase_add_test(tc, sizes_and_modes);
	tcase_add_test(tc, pipe_mode);
	tcase_add_test(tc, late_events);
	tcase_add_test(tc, tracing_data);
#if HLG_HAVE_ZSTD
	tcase_add_test(tc, compressed);
	tcase_add_test(tc, compressed_zeros);
	tcase_add_test(tc, compressed_damaged);
#endif
	tcase_add_test(tc, directory);
	tcase_add_test(tc, one_part);
	return tap_main(suite);
}
