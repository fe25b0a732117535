// SPDX-License-Identifier: GPL-2.0-only
/*
 * A guest's profile as a stream of sysprof, read again: the frames and counts are those
 * that the report itself folds, at addresses that are awkward, too. Those of a stream are
 * never 0 and never more than the stock parser can hold, which keeps 53 bits.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../tap.h"
#include "tools/sysprof/report.h"
#include "tools/sysprof/write.h"

struct samples {
	uint64_t ip, n;
};

/* With demo.elf at a base, or with a map. */
static void start(struct hlg_run *run, const char *base)
{
	const char *folder = getenv("HLG_DATA");
	char image[4096];
	char *words[] = {(char *)"--format=folded", (char *)"--weight=samples",
			 (char *)"--force=yes", image};
	struct hlg_err err;
	int rc;

	ck_assert_ptr_nonnull(folder);
	if (strncmp(base, "map:", 4) == 0)
		snprintf(image, sizeof(image), "%s", base);
	else
		snprintf(image, sizeof(image), "%s/demo.elf@%s", folder, base);
	rc = hlg_run_start(run, 4, words, &err);
	ck_assert_msg(rc == 0, "%s", rc < 0 ? err.msg : "");
}

static void add(struct hlg_run *run, const struct samples *samples, size_t n)
{
	uint32_t event = hlg_profile_event(&run->profile, "cpu-clock", 0);

	for (size_t i = 0; i < n; i++) {
		const struct hlg_sample sample = {.ip = samples[i].ip,
						  .period = 1,
						  .time = HLG_NO_TIME,
						  .pid = 1,
						  .tid = 1,
						  .cpu = -1,
						  .event = event,
						  .cpumode = HLG_MODE_GUEST_KERNEL};

		hlg_profile_add_many(&run->profile, &sample,
				     (struct hlg_count){samples[i].n, samples[i].n},
				     samples[i].n);
	}
}

static int compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Lines in an order that does not depend on who wrote them; frees text. */
static char *sorted(char *text)
{
	char *lines[64], *made, *rest = text;
	size_t n = 0, size;
	FILE *f = open_memstream(&made, &size);

	while ((lines[n] = strtok_r(n ? NULL : text, "\n", &rest))) {
		n++;
		ck_assert_uint_lt(n, 64);
	}
	qsort(lines, n, sizeof(lines[0]), compare);
	for (size_t i = 0; i < n; i++)
		fprintf(f, "%s\n", lines[i]);
	fclose(f);
	free(text);
	return made;
}

static char *folded_by_report(struct hlg_run *run)
{
	struct hlg_err err;
	char *text;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	ck_assert_int_eq(hlg_run_report(run, f, &err), 0);
	fclose(f);
	return sorted(text);
}

static char *folded_by_stream(struct hlg_run *run)
{
	const struct hlg_sysprof_style style = {.path = ""};
	const struct hlg_recording_sums sums = {0};
	struct hlg_sysprof s = {0};
	struct hlg_err err;
	int fd = memfd_create("stream", MFD_CLOEXEC);
	FILE *f = fdopen(dup(fd), "w");
	char path[32], *text;
	size_t size;

	ck_assert_int_eq(hlg_sysprof_report(run, &sums, f, &err), 0);
	fclose(f);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	ck_assert_int_eq(hlg_sysprof_read(&s, path, &err), 0);
	close(fd);
	ck_assert(s.ended);
	for (uint32_t i = 0; i < s.n_frames; i++) {
		ck_assert_uint_gt(s.frames[i].addr, 0);
		ck_assert_uint_lt(s.frames[i].addr, UINT64_C(1) << 53);
	}
	f = open_memstream(&text, &size);
	ck_assert(hlg_sysprof_folded(f, &s, &style));
	fclose(f);
	hlg_sysprof_finish(&s);
	return sorted(text);
}

static void check_same(const char *base, const struct samples *samples, size_t n)
{
	struct hlg_run run;
	char *report, *stream;

	start(&run, base);
	add(&run, samples, n);
	report = folded_by_report(&run);
	stream = folded_by_stream(&run);
	ck_assert_str_eq(stream, report);
	ck_assert_ptr_nonnull(strstr(stream, n == 1 ? "" : "hash_block"));
	free(report);
	free(stream);
	hlg_run_finish(&run);
}

/* demo.elf: tick 0x12a0, hash_block 0x12b0 to 0x12ef, a gap behind it, see lookup */
#define SAMPLES(base)                                                                    \
	{(base) + 0x12a0, 3}, {(base) + 0x12b0, 5}, {(base) + 0x12ee, 7},                \
		{(base) + 0x1398, 11},                                                   \
	{                                                                                \
		(base) + 0x52b0 + 0x1000000, 2                                           \
	}

START_TEST(keeps_places)
{
	const struct samples samples[] = {SAMPLES(0x4000)};

	check_same("0x4000", samples, 5);
}
END_TEST

START_TEST(keeps_upper_half)
{
	const struct samples samples[] = {SAMPLES(UINT64_C(0xffffffff80000000))};

	check_same("0xffffffff80000000", samples, 5);
}
END_TEST

START_TEST(keeps_address_zero)
{
	const struct samples samples[] = {{0, 4}, {1, 1}, SAMPLES(0x4000)};

	check_same("0x4000", samples, 7);
}
END_TEST

/* A symbol within another: what lies behind it is the outer one's again. */
START_TEST(keeps_nested)
{
	static const char map[] = "1000 100 outer\n1040 10 inner\n";
	const struct samples samples[] = {{0x1020, 1}, {0x1048, 2}, {0x1080, 4}};
	int fd = memfd_create("map", 0);
	struct hlg_run run;
	char path[48], *report, *stream;

	ck_assert_int_eq(write(fd, map, strlen(map)), (ssize_t)strlen(map));
	snprintf(path, sizeof(path), "map:/proc/self/fd/%d", fd);
	start(&run, path);
	add(&run, samples, 3);
	report = folded_by_report(&run);
	stream = folded_by_stream(&run);
	ck_assert_str_eq(stream, report);
	ck_assert_ptr_nonnull(strstr(stream, ";outer 5\n"));
	free(report);
	free(stream);
	hlg_run_finish(&run);
	close(fd);
}
END_TEST

/* The top of both halves, which meet in 53 bits; all of it is outside. */
START_TEST(keeps_ends)
{
	const struct samples samples[] = {
		{UINT64_MAX, 4}, {UINT64_C(0xffff800000000000), 2}, SAMPLES(0x4000)};

	check_same("0x4000", samples, 7);
}
END_TEST

/* Code at address 0: what is at 0 moves up by one, and what is at 1 stays. */
START_TEST(keeps_image_at_zero)
{
	const struct samples samples[] = {{0, 4}, {1, 1}, SAMPLES(0)};

	check_same("0", samples, 7);
}
END_TEST

START_TEST(holds_nothing)
{
	struct hlg_run run;
	char *stream;

	start(&run, "0x4000");
	stream = folded_by_stream(&run);
	ck_assert_str_eq(stream, "");
	free(stream);
	hlg_run_finish(&run);
}
END_TEST

START_TEST(refuses_too_many)
{
	const struct samples samples = {0x52b0, HLG_SYSPROF_MAX_SAMPLES + 1};
	const struct hlg_recording_sums sums = {0};
	struct hlg_run run;
	struct hlg_err err;
	FILE *f = fopen("/dev/null", "w");

	start(&run, "0x4000");
	add(&run, &samples, 1);
	ck_assert_int_lt(hlg_sysprof_report(&run, &sums, f, &err), 0);
	ck_assert_msg(strstr(err.msg, "100000001 samples (at most 100000000"), "%s",
		      err.msg);
	fclose(f);
	hlg_run_finish(&run);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("sysprof report");
	TCase *tc = tap_case(suite, "there and back");

	tcase_add_test(tc, keeps_places);
	tcase_add_test(tc, keeps_upper_half);
	tcase_add_test(tc, keeps_address_zero);
	tcase_add_test(tc, keeps_nested);
	tcase_add_test(tc, keeps_ends);
	tcase_add_test(tc, keeps_image_at_zero);
	tcase_add_test(tc, holds_nothing);
	tcase_add_test(tc, refuses_too_many);
	return tap_main(suite);
}
