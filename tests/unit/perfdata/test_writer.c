// SPDX-License-Identifier: GPL-2.0-only
/*
 * A recording copied through the writer is read as the old one was, and its parts are the
 * old ones: events and ids, records as they stand, facts, but for what a file that was
 * cut off does not tell of its CPUs. In pipe mode it is the same bytes. Records that are
 * made up say to the reader what was asked for, and to the byte what linux/perf_event.h
 * says.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/kit/perfdata.h"
#include "tests/kit/tap.h"
#include "tools/perfdata/writer.h"

static const struct kit_event two[] = {
	{{.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TIME,
	  .sample_id_all = 1},
	 {5, 7},
	 "one"},
	{{.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TIME,
	  .sample_id_all = 1},
	 {6},
	 "two"},
};

static int put_record(void *ctx, const uint8_t *record, uint16_t size,
		      const struct hlg_perfdata_layout *layout, struct hlg_err *err)
{
	(void)err;
	if (hlg_perfdata_u32(record) == HLG_RECORD_CPU_MAP)
		hlg_writer_cpus(ctx, record, size);
	ck_assert((layout != NULL) == (hlg_perfdata_u32(record) == PERF_RECORD_SAMPLE));
	hlg_writer_put(ctx, record, size);
	return 0;
}

static int put_payload(void *ctx, const uint8_t *bytes, size_t n, struct hlg_err *err)
{
	(void)err;
	hlg_writer_put(ctx, bytes, n);
	return 0;
}

static void no_sample(void *ctx, struct hlg_perfdata_raw *raw)
{
	(void)ctx;
	ck_abort_msg("a sample of %u bytes went another way", raw->size);
}

/* The bytes of k, copied; to be freed. extra: for the build-id feature. */
static char *copy(const struct kit *k, size_t *size, const uint8_t *extra, size_t n)
{
	static const struct hlg_perfdata_sink sink = {.record = put_record,
						      .payload = put_payload};
	const char *path = kit_name(k->at, k->n);
	struct hlg_perfdata *pd;
	struct hlg_writer w;
	struct hlg_err err;
	char *bytes = NULL;
	FILE *f = tmpfile();

	ck_assert_ptr_nonnull(f);
	ck_assert_msg(hlg_perfdata_open(&pd, path, &err) == 0, "%s", err.msg);
	ck_assert_msg(hlg_writer_begin(&w, f, "new", pd, &err) == 0, "%s", err.msg);
	w.build_ids = extra;
	w.build_ids_size = n;
	ck_assert_msg(hlg_perfdata_read(pd, no_sample, &sink, &w, &err) == 0, "%s",
		      err.msg);
	ck_assert_msg(hlg_writer_finish(&w, &err) == 0, "%s", err.msg);
	fseek(f, 0, SEEK_END);
	*size = (size_t)ftell(f);
	bytes = malloc(*size);
	rewind(f);
	ck_assert_uint_eq(fread(bytes, 1, *size, f), *size);
	fclose(f);
	hlg_perfdata_close(pd);
	kit_unname(path);
	return bytes;
}

static void put_samples(struct kit *k, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++) {
		size_t start = kit_begin(k, PERF_RECORD_SAMPLE, 2);

		kit_u64(k, 5 + i % 3);
		kit_u64(k, i);
		kit_u64(k, 1000 + i);
		kit_end(k, start);
	}
}

static void check_same(const struct kit *k, const char *bytes, size_t size)
{
	struct kit_seen before, after;

	kit_read_bytes(&before, k->at, k->n);
	kit_read_bytes(&after, bytes, size);
	ck_assert_msg(after.rc == 0, "%s", after.err.msg);
	ck_assert_uint_eq(after.n, before.n);
	for (size_t i = 0; i < before.n; i++) {
		ck_assert_uint_eq(after.samples[i].ip, before.samples[i].ip);
		ck_assert_uint_eq(after.samples[i].time, before.samples[i].time);
		ck_assert_uint_eq(after.samples[i].event, before.samples[i].event);
	}
	ck_assert_str_eq(after.names, before.names);
	ck_assert_mem_eq(after.counts.types, before.counts.types,
			 sizeof(before.counts.types));
	ck_assert(!after.counts.unfinished && !after.counts.left &&
		  !after.counts.missing);
	kit_finish(&before);
	kit_finish(&after);
}

START_TEST(file_mode)
{
	static const size_t attr_sizes[] = {0, 64, 72, 200};
	uint8_t id[HLG_WRITER_RECORD_MAX];
	size_t n = hlg_writer_build_id(id, "/guest.elf", (const uint8_t *)"12345", 5);
	struct kit records = {0};

	put_samples(&records, 5000);
	for (size_t i = 0; i < sizeof(attr_sizes) / sizeof(attr_sizes[0]); i++) {
		struct kit k = {0};
		size_t size;
		char *bytes;

		kit_file(&k, two, 2, &records, attr_sizes[i]);
		bytes = copy(&k, &size, NULL, 0);
		check_same(&k, bytes, size);
		free(bytes);
		bytes = copy(&k, &size, id, n);
		check_same(&k, bytes, size);
		ck_assert_ptr_nonnull(memmem(bytes, size, id, n));
		free(bytes);
		kit_free(&k);
	}
	kit_free(&records);
}
END_TEST

/* "MODE SIZE PATH;" of each. */
static bool put_build_id(void *f, const struct hlg_perfdata_build_id *b)
{
	ck_assert_mem_eq(b->id, "12345", 5);
	return fprintf(f, "%u %u %s;", b->cpumode, b->size, b->path) > 0;
}

/* Those without a size, as older perfs write them, have 20 bytes. */
START_TEST(build_ids)
{
	uint8_t ids[2 * HLG_WRITER_RECORD_MAX];
	size_t n = hlg_writer_build_id(ids, "/guest.elf", (const uint8_t *)"12345", 5);
	size_t both =
		n + hlg_writer_build_id(ids + n, "[kernel]", (const uint8_t *)"12345", 5);
	const uint16_t of_kernel = PERF_RECORD_MISC_KERNEL;
	struct kit records = {0}, k = {0};
	struct hlg_perfdata *pd;
	char *bytes, *text;
	struct hlg_err err;
	const char *path;
	size_t size, length;
	FILE *f = open_memstream(&text, &length);

	memcpy(ids + n + 4, &of_kernel, sizeof(of_kernel)); /* misc */
	put_samples(&records, 1);
	kit_file(&k, two, 2, &records, 0);
	bytes = copy(&k, &size, ids, both);
	path = kit_name(bytes, size);
	ck_assert_int_eq(hlg_perfdata_open(&pd, path, &err), 0);
	ck_assert_int_eq(hlg_perfdata_build_ids(pd, put_build_id, f, &err), 0);
	fclose(f);
	ck_assert_str_eq(text, "2 5 /guest.elf;1 20 [kernel];");
	hlg_perfdata_close(pd);
	kit_unname(path);
	free(text);
	free(bytes);
	kit_free(&records);
	kit_free(&k);
}
END_TEST

START_TEST(pipe_mode)
{
	struct kit records = {0}, k = {0};
	size_t size, start;
	char *bytes;

	put_samples(&records, 3000);
	/* What follows a record without being in it. */
	start = kit_begin(&records, 71, 0); /* AUXTRACE */
	kit_u64(&records, 40000);
	kit_end(&records, start);
	for (uint64_t i = 0; i < 5000; i++)
		kit_u64(&records, i);
	put_samples(&records, 3);
	kit_pipe(&k, two, 2, &records);
	bytes = copy(&k, &size, NULL, 0);
	ck_assert_uint_eq(size, k.n);
	ck_assert_mem_eq(bytes, k.at, size);
	free(bytes);
	kit_free(&records);
	kit_free(&k);
}
END_TEST

/* What attributes a copy has: bytes of each, and what the first says of its own. */
static void attrs_of(const struct kit *k, size_t sizes[2])
{
	size_t size;
	char *bytes = copy(k, &size, NULL, 0);
	const uint8_t *at = (const uint8_t *)bytes;

	check_same(k, bytes, size);
	sizes[0] = hlg_perfdata_u64(at + 16) - 16;
	sizes[1] = hlg_perfdata_u32(at + hlg_perfdata_u64(at + 24) + 4);
	free(bytes);
}

/* Attributes of a newer perf become those of Linux 5.13, if nothing is lost by that. */
START_TEST(older_attributes)
{
	struct kit records = {0}, k = {0};
	size_t sizes[2], second;

	put_samples(&records, 3);
	kit_file(&k, two, 2, &records, 144);
	second = hlg_perfdata_u64(k.at + 24) + 160;
	memset(k.at + second - 160 + 128, 0, 16);
	memset(k.at + second + 128, 0, 16);
	attrs_of(&k, sizes);
	ck_assert(sizes[0] == 128 && sizes[1] == 128);
	k.at[second - 160 + 4] = 64;
	attrs_of(&k, sizes);
	ck_assert(sizes[0] == 128 && sizes[1] == 64);
	k.at[second + 143] = 1;
	attrs_of(&k, sizes);
	ck_assert(sizes[0] == 144 && sizes[1] == 64);
	kit_free(&k);
	kit_file(&k, two, 2, &records, 400); /* by whom? */
	attrs_of(&k, sizes);
	ck_assert_uint_eq(sizes[0], 400);
	kit_free(&k);
	kit_file(&k, two, 2, &records, 120);
	attrs_of(&k, sizes);
	ck_assert_uint_eq(sizes[0], 120);
	kit_free(&k);
	kit_free(&records);
}
END_TEST

/* Where a record of a type begins behind the header of pipe mode; NULL. */
static const uint8_t *find(const char *bytes, size_t size, uint32_t type)
{
	const uint8_t *at = (const uint8_t *)bytes + 16;

	while (at < (const uint8_t *)bytes + size && hlg_perfdata_u32(at) != type)
		at += hlg_perfdata_u32(at + 4) >> 16;
	return at < (const uint8_t *)bytes + size ? at : NULL;
}

/* The same in pipe mode; and what other perfs refuse is left out. */
START_TEST(older_attributes_in_a_pipe)
{
	for (int bad = 0; bad < 2; bad++) {
		struct kit k = {0};
		const uint8_t *attr;
		size_t size, start;
		char *bytes;

		kit_bytes(&k, "PERFILE2", 8);
		kit_u64(&k, 16);
		start = kit_begin(&k, HLG_RECORD_HEADER_ATTR, 0);
		for (int i = 0; i < 18; i++)
			kit_u64(&k, i == 0    ? UINT64_C(144) << 32 | 1
				    : i == 3  ? PERF_SAMPLE_IP
				    : i == 17 ? (uint64_t)bad
					      : 0);
		kit_u64(&k, 9); /* the id */
		kit_end(&k, start);
		start = kit_begin(&k, HLG_RECORD_HEADER_FEATURE, 0);
		kit_u64(&k, 30);
		kit_end(&k, start);
		start = kit_begin(&k, HLG_RECORD_HEADER_FEATURE, 0);
		kit_u64(&k, HLG_FEATURE_E_MACHINE);
		kit_u64(&k, 62);
		kit_end(&k, start);
		start = kit_begin(&k, HLG_RECORD_TRACING_DATA, 0);
		kit_u32(&k, 16); /* in which a record of an event is no record */
		kit_end(&k, start);
		kit_u64(&k, UINT64_C(16) << 48 | HLG_RECORD_HEADER_FEATURE);
		kit_u64(&k, 0);
		start = kit_begin(&k, PERF_RECORD_SAMPLE, 5);
		kit_u64(&k, 7);
		kit_end(&k, start);
		bytes = copy(&k, &size, NULL, 0);
		ck_assert_uint_eq(size, k.n - 16 - 24 - (bad ? 0 : 16));
		attr = find(bytes, size, HLG_RECORD_HEADER_ATTR);
		ck_assert_ptr_nonnull(attr);
		ck_assert_uint_eq(attr[6], bad ? 8 + 144 + 8 : 8 + 128 + 8);
		ck_assert_uint_eq(attr[8 + 4], bad ? 144 : 128);
		ck_assert_uint_eq(hlg_perfdata_u64(attr + attr[6] - 8), 9);
		ck_assert_uint_eq(hlg_perfdata_u32(attr + attr[6]),
				  HLG_RECORD_TRACING_DATA);
		free(bytes);
		kit_free(&k);
	}
}
END_TEST

/* tools/lib/perf/include/perf/event.h, struct perf_record_cpu_map. */
static const struct {
	uint8_t bytes[40];
	uint32_t cpus;
} cpu_maps[] = {
	{{0, 0, 3, 0, 5, 0, 1, 1, 2, 0}, 258},
	{{0, 0, 2, 0, 255, 255, 7, 0}, 8}, /* -1: any CPU */
	{{0, 0, 1, 0, 255, 255}, 0},
	{{0, 0, 2, 0, 1, 0, 3, 0, 9, 0}, 4},      /* the third is behind them */
	{{0, 0, 255, 255, 1, 0, 3, 0, 9, 0}, 10}, /* as many as there are */
	{{1, 0, 2, 0, 4, 0, 1, 0, 0, 0, 4, 0, 0, 0}, 35},
	{{1, 0, 1, 0, 4, 0, 0, 0, 0, 128, 4, 0, 0, 0}, 32},
	{{1, 0, 1, 0, 4, 0, 0, 0, 0, 0, 4}, 0},
	{{1, 0, 1, 0, 8, 0, 9, 9, 9, 9, 1, 0, 0, 0, 0, 2, 0, 0}, 42},
	{{1, 0, 255, 255, 255, 255, 1}, 1},
	{{2, 0, 1, 0, 4, 0, 9, 0}, 10},
	{{3, 0, 1, 0, 4, 0, 9, 0}, 0},
};

/* Of HEADER_NRCPUS in a file; 0 if it has none. The first feature in any of these. */
static uint32_t told_cpus(const char *bytes)
{
	const uint8_t *file = (const uint8_t *)bytes;
	uint64_t table = hlg_perfdata_u64(file + 40) + hlg_perfdata_u64(file + 48);
	uint64_t at = hlg_perfdata_u64(file + table);

	if (!(file[72] & 1 << 7))
		return 0;
	ck_assert_uint_eq(file[72], 1 << 7);
	ck_assert_uint_eq(hlg_perfdata_u64(file + table + 8), 8);
	ck_assert_uint_eq(hlg_perfdata_u32(file + at), hlg_perfdata_u32(file + at + 4));
	return hlg_perfdata_u32(file + at);
}

/* A file that does not tell how many CPUs there are gets what its records say. */
START_TEST(cpus)
{
	struct kit records = {0}, k = {0};
	size_t size, start;
	char *bytes;

	start = kit_begin(&records, HLG_RECORD_CPU_MAP, 0);
	kit_bytes(&records, cpu_maps[_i].bytes, sizeof(cpu_maps[_i].bytes));
	kit_end(&records, start);
	put_samples(&records, 3);
	kit_file(&k, two, 2, &records, 0);
	bytes = copy(&k, &size, NULL, 0);
	ck_assert_uint_eq(told_cpus(bytes), cpu_maps[_i].cpus);
	check_same(&k, bytes, size);
	free(bytes);
	kit_free(&k);
	kit_free(&records);
}
END_TEST

/* However short such a record is, nothing behind it is read (valgrind, sanitizers). */
START_TEST(short_cpus)
{
	static struct hlg_writer w;

	for (size_t i = 0; i < sizeof(cpu_maps) / sizeof(cpu_maps[0]); i++)
		for (size_t size = 8; size < 8 + sizeof(cpu_maps[i].bytes); size++) {
			uint8_t *record = calloc(1, size);

			memcpy(record + 8, cpu_maps[i].bytes, size - 8);
			w.cpus = 0;
			hlg_writer_cpus(&w, record, size);
			ck_assert_uint_le(w.cpus, cpu_maps[i].cpus);
			free(record);
		}
}
END_TEST

START_TEST(rewind_)
{
	static struct hlg_writer w;
	struct hlg_err err;

	w.f = tmpfile();
	w.path = "new";
	ck_assert_ptr_nonnull(w.f);
	hlg_writer_put(&w, "onetwo", 6);
	ck_assert_int_eq(hlg_writer_rewind(&w, 3, &err), 0);
	hlg_writer_put(&w, "X", 1);
	hlg_writer_flush(&w);
	fseek(w.f, 0, SEEK_END);
	ck_assert_int_eq(ftell(w.f), 4);
	ck_assert_uint_eq(w.at, 4);
	fclose(w.f);
}
END_TEST

/* Cut anywhere, or with any word of its header changed, a file is refused or copied. */
START_TEST(hostile)
{
	struct kit records = {0}, k = {0};
	struct hlg_perfdata *pd;
	struct hlg_err err;

	put_samples(&records, 20);
	kit_file(&k, two, 2, &records, 0);
	for (size_t at = 8; at + 8 <= 400; at += 8) {
		static const uint64_t values[] = {0, 1, 64, UINT64_MAX, UINT64_MAX - 99};

		for (size_t v = 0; v < 5; v++) {
			uint64_t was = hlg_perfdata_u64(k.at + at);
			const char *path;

			memcpy(k.at + at, &values[v], 8);
			path = kit_name(k.at, k.n);
			if (hlg_perfdata_open(&pd, path, &err) == 0) {
				struct hlg_writer w;
				FILE *f = fopen("/dev/null", "w");

				if (hlg_writer_begin(&w, f, "new", pd, &err) == 0)
					hlg_writer_finish(&w, &err);
				fclose(f);
				hlg_perfdata_close(pd);
			}
			kit_unname(path);
			memcpy(k.at + at, &was, 8);
		}
	}
	kit_free(&records);
	kit_free(&k);
}
END_TEST

static ssize_t fail_once(void *ctx, const char *bytes, size_t n)
{
	bool *failed = ctx;

	(void)bytes;
	if (*failed)
		return (ssize_t)n;
	*failed = true;
	errno = ENOSPC;
	return 0;
}

/* There was no room for the first of it, and there is for the rest: it is told why. */
START_TEST(room_comes_back)
{
	static const struct hlg_perfdata_sink sink = {.record = put_record};
	bool failed = false;
	FILE *f = fopencookie(&failed, "w", (cookie_io_functions_t){.write = fail_once});
	struct kit records = {0}, k = {0};
	struct hlg_perfdata *pd;
	struct hlg_writer w;
	struct hlg_err err;
	const char *path;

	put_samples(&records, 10000);
	kit_pipe(&k, two, 2, &records);
	path = kit_name(k.at, k.n);
	ck_assert_int_eq(hlg_perfdata_open(&pd, path, &err), 0);
	ck_assert_int_eq(hlg_writer_begin(&w, f, "new", pd, &err), 0);
	ck_assert_int_eq(hlg_perfdata_read(pd, no_sample, &sink, &w, &err), 0);
	ck_assert(failed);
	errno = 0;
	ck_assert_int_eq(hlg_writer_finish(&w, &err), HLG_ESYSTEM);
	ck_assert_str_eq(err.msg, "new: cannot be written: No space left on device (make "
				  "room, or write elsewhere)");
	fclose(f);
	hlg_perfdata_close(pd);
	kit_unname(path);
	kit_free(&records);
	kit_free(&k);
}
END_TEST

START_TEST(made_up)
{
	static const char id[] = "01234567890123456789";
	uint8_t record[HLG_WRITER_RECORD_MAX];
	struct hlg_perfdata_task task;
	struct hlg_writer_map map = {.pid = 7,
				     .start = 0x4000,
				     .size = 0x1000,
				     .file_offset = 0x280,
				     .exec = true,
				     .path = "/a/guest.elf",
				     .build_id = (const uint8_t *)id,
				     .build_id_size = 20};
	size_t n = hlg_writer_comm(record, 7, 8, "guest:vmm", 24);
	char *deep = malloc(2 * PATH_MAX);

	ck_assert_uint_eq(n, 16 + 16 + 24);
	ck_assert(hlg_perfdata_task(&task, record, n, 16));
	ck_assert_str_eq(task.name, "guest:vmm");
	ck_assert(task.pid == 7 && task.tid == 8 && task.time == 0 && !task.exec);
	n = hlg_writer_mmap2(record, &map, 0);
	ck_assert_uint_eq(n, 72 + 16);
	ck_assert(hlg_perfdata_task(&task, record, n, 0));
	ck_assert_str_eq(task.name, "/a/guest.elf");
	ck_assert(task.start == 0x4000 && task.size == 0x1000);
	ck_assert(task.file_offset == 0x280 && task.prot == 5 && task.cpumode == 2);
	ck_assert_uint_eq(task.build_id_size, 20);
	ck_assert_mem_eq(task.build_id, id, 20);
	map.build_id = NULL;
	n = hlg_writer_mmap2(record, &map, 8);
	ck_assert(hlg_perfdata_task(&task, record, n, 8) && !task.build_id);
	/* A path that no system has is cut, and the record still ends. */
	memset(deep, 'x', 2 * PATH_MAX);
	deep[2 * PATH_MAX - 1] = '\0';
	map.path = deep;
	n = hlg_writer_mmap2(record, &map, 48);
	ck_assert(n <= HLG_WRITER_RECORD_MAX && hlg_perfdata_task(&task, record, n, 48));
	ck_assert_uint_eq(strlen(task.name), PATH_MAX - 1);
	free(deep);
}
END_TEST

/* A mapping as older perfs record it: of code, but for a flag. */
START_TEST(older_mappings)
{
	for (unsigned data = 0; data < 2; data++) {
		struct hlg_perfdata_task task;
		struct kit k = {0};

		kit_end(&k, kit_begin(&k, PERF_RECORD_MMAP,
				      data ? PERF_RECORD_MISC_MMAP_DATA : 0));
		k.n = 8;
		kit_u32(&k, 7);
		kit_u32(&k, 8);
		kit_u64(&k, 0x4000);
		kit_u64(&k, 0x1000);
		kit_u64(&k, 0x280);
		kit_text(&k, "/a/vmm");
		kit_u64(&k, 99);
		ck_assert(hlg_perfdata_task(&task, k.at, k.n, 8));
		ck_assert_str_eq(task.name, "/a/vmm");
		ck_assert(task.pid == 7 && task.tid == 8 && task.time == 99);
		ck_assert(task.start == 0x4000 && task.size == 0x1000);
		ck_assert(task.file_offset == 0x280 && !task.build_id);
		ck_assert_int_eq(!(task.prot & 4 /* PROT_EXEC */), data);
		kit_free(&k);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("perfdata writer");
	TCase *tc = tap_case(suite, "writer");

	tcase_add_test(tc, file_mode);
	tcase_add_test(tc, build_ids);
	tcase_add_test(tc, pipe_mode);
	tcase_add_test(tc, older_attributes);
	tcase_add_test(tc, older_attributes_in_a_pipe);
	tcase_add_loop_test(tc, cpus, 0, (int)(sizeof(cpu_maps) / sizeof(cpu_maps[0])));
	tcase_add_test(tc, short_cpus);
	tcase_add_test(tc, rewind_);
	tcase_add_test(tc, hostile);
	tcase_add_test(tc, room_comes_back);
	tcase_add_test(tc, made_up);
	tcase_add_test(tc, older_mappings);
	return tap_main(suite);
}
