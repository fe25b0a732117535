// SPDX-License-Identifier: GPL-2.0-only
/*
 * From when to when a recording lasts: whatever CPU's samples stand where, in one run or
 * with a new address in between, with one event or with two; and what has no times. And
 * that a recording says in a mapping which kernel it was. And one that is being made:
 * what comes in pieces is counted as the whole is, and in between all that came is.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "filter/options/options.h"
#include "tests/kit/perfdata.h"
#include "tests/kit/tap.h"
#include "tools/feed/feed.h"

enum {
	N = 12,
	TRIES = 200
};

static const struct kit_event events[2] = {
	{{.type = PERF_TYPE_SOFTWARE,
	  .sample_type = KIT_PLAIN | PERF_SAMPLE_IDENTIFIER,
	  .sample_period = 9},
	 .ids = {1},
	 .name = "one"},
	{{.type = PERF_TYPE_SOFTWARE,
	  .config = 1,
	  .sample_type = KIT_PLAIN | PERF_SAMPLE_IDENTIFIER,
	  .sample_period = 9},
	 .ids = {2},
	 .name = "two"},
};

static void put_sample(struct kit *k, uint64_t id, uint64_t ip, uint64_t time)
{
	size_t start = kit_begin(k, PERF_RECORD_SAMPLE, HLG_MODE_GUEST_USER);

	kit_u64(k, id);
	kit_u64(k, ip);
	kit_u32(k, 11);
	kit_u32(k, 12);
	kit_u64(k, time);
	kit_u64(k, 1);
	kit_end(k, start);
}

static struct hlg_sample_span read_span(const struct kit_event *of, size_t n_events,
					const struct kit *records)
{
	const struct hlg_feed_how how = {.threads = 1};
	struct hlg_recording_sums sums;
	struct hlg_sample_span span;
	struct hlg_profile profile;
	struct hlg_options options;
	struct hlg_err err;
	struct kit k = {0};
	const char *path;

	kit_file(&k, of, n_events, records, 0);
	path = kit_name(k.at, k.n);
	ck_assert_int_eq(hlg_options_parse(&options, 0, NULL, &err), 0);
	ck_assert(hlg_profile_init(&profile, &options));
	ck_assert_msg(hlg_feed_read(path, &how, &profile, NULL, &sums, &err) == 0, "%s",
		      err.msg);
	ck_assert_uint_eq(profile.seen.samples, N);
	span = profile.span;
	hlg_profile_finish(&profile);
	hlg_options_finish(&options);
	kit_unname(path);
	kit_free(&k);
	return span;
}

/* events (2) */
START_TEST(any_order)
{
	srand(1);
	for (int i = 0; i < TRIES; i++) {
		uint64_t first = UINT64_MAX, last = 0;
		struct hlg_sample_span span;
		struct kit records = {0};

		for (int j = 0; j < N; j++) {
			uint64_t time = 1000 + (uint64_t)(rand() % 1000);

			put_sample(&records, 1 + (uint64_t)(rand() % (_i + 1)),
				   (uint64_t)(rand() % 3), time);
			first = time < first ? time : first;
			last = time > last ? time : last;
		}
		span = read_span(events, (size_t)_i + 1, &records);
		ck_assert_uint_eq(span.first, first);
		ck_assert_uint_eq(span.last, last);
		kit_free(&records);
	}
}
END_TEST

START_TEST(no_times)
{
	const struct kit_event event = {
		{.type = PERF_TYPE_SOFTWARE, .sample_type = PERF_SAMPLE_IP}, .name = "a"};
	struct hlg_sample_span span;
	struct kit records = {0};

	for (int i = 0; i < N; i++) {
		size_t start =
			kit_begin(&records, PERF_RECORD_SAMPLE,
				  i % 3 ? HLG_MODE_GUEST_USER : PERF_RECORD_MISC_USER);

		kit_u64(&records, 7);
		kit_end(&records, start);
	}
	span = read_span(&event, 1, &records);
	ck_assert(!hlg_sample_span_known(&span));
	kit_free(&records);
}
END_TEST

/* perf 7.2 on says the kernel's build id there only, and not in HEADER_BUILD_ID. */
static void put_kernel(struct kit *k, bool with_id)
{
	static const uint8_t id[20] = {7};
	/* PERF_RECORD_MISC_MMAP_BUILD_ID */
	size_t start =
		kit_begin(k, PERF_RECORD_MMAP2,
			  (uint16_t)(PERF_RECORD_MISC_KERNEL | (with_id ? 1 << 14 : 0)));

	kit_u64(k, (uint64_t)-1);       /* pid 0xffffffff, tid the same */
	kit_u64(k, 0xffffffff81000000); /* start */
	kit_u64(k, 0x1000000);          /* size */
	kit_u64(k, 0xffffffff81000000); /* file offset */
	kit_u32(k, sizeof(id));         /* its size, and reserved bytes */
	kit_bytes(k, id, sizeof(id));
	kit_u64(k, 0); /* protection, flags */
	kit_text(k, "[kernel.kallsyms]_text");
	kit_end(k, start);
	start = kit_begin(k, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_KERNEL);
	kit_u64(k, 0xffffffff81000010);
	kit_u32(k, 11);
	kit_u32(k, 12);
	kit_u64(k, 1000);
	kit_u64(k, 1);
	kit_end(k, start);
}

/* 0: it is not said which kernel it was; 1: it is, and it is another than runs here */
START_TEST(kernel_of_a_mapping)
{
	const struct kit_event event = {
		{.type = PERF_TYPE_SOFTWARE, .sample_type = KIT_PLAIN}, .name = "a"};
	struct hlg_recording_sums sums;
	struct hlg_hostsyms syms;
	struct hlg_stacks stacks = {0};
	struct hlg_feed_how how = {.threads = 1, .stacks = &stacks, .syms = &syms};
	struct hlg_profile profile;
	struct hlg_options options;
	struct hlg_host host = {0};
	struct kit records = {0}, k = {0};
	struct hlg_err err;
	const char *path;

	put_kernel(&records, _i);
	kit_file(&k, &event, 1, &records, 0);
	path = kit_name(k.at, k.n);
	ck_assert_int_eq(hlg_options_parse(&options, 0, NULL, &err), 0);
	options.mode = HLG_SHOW_ALL;
	ck_assert(hlg_profile_init(&profile, &options));
	ck_assert(hlg_stacks_init(&stacks, &options));
	hlg_hostsyms_init(&syms, false);
	ck_assert_msg(hlg_feed_read(path, &how, &profile, &host, &sums, &err) == 0, "%s",
		      err.msg);
	ck_assert(syms.kernel_is_untold == (_i == 0));
	ck_assert(syms.kernel_is_other == (_i == 1));
	hlg_hostsyms_finish(&syms);
	hlg_stacks_finish(&stacks);
	hlg_host_finish(&host);
	hlg_profile_finish(&profile);
	hlg_options_finish(&options);
	kit_unname(path);
	kit_free(&records);
	kit_free(&k);
}
END_TEST

static void put_file(struct kit *k, const char *name)
{
	static const uint8_t id[20] = {0x1f};
	size_t start = kit_begin(k, PERF_RECORD_MMAP2, PERF_RECORD_MISC_USER | 1 << 14);

	kit_u32(k, 11);
	kit_u32(k, 12);
	kit_u64(k, 0x400000); /* start, size, file offset */
	kit_u64(k, 0x1000);
	kit_u64(k, 0);
	kit_u32(k, sizeof(id));
	kit_bytes(k, id, sizeof(id));
	kit_u64(k, 0);
	kit_text(k, name);
	kit_end(k, start);
}

/* What a VMM maps that is called as an image is tells which build ran, in any folder. */
START_TEST(builds_of_mappings)
{
	static const char *const images[] = {"guest.elf", "some/guest.elf", "guest",
					     "some/t.elf"};
	const struct kit_event event = {
		{.type = PERF_TYPE_SOFTWARE, .sample_type = KIT_PLAIN}, .name = "a"};
	const struct hlg_feed_how how = {.threads = 1};
	struct kit records = {0}, k = {0};
	struct hlg_recording_sums sums;
	struct hlg_profile profile;
	struct hlg_options options;
	struct hlg_err err;
	char word[32], *words[] = {word};
	const char *path;

	put_file(&records, "/opt/vmm");
	put_file(&records, "/opt/guest.elf");
	kit_file(&k, &event, 1, &records, 0);
	path = kit_name(k.at, k.n);
	strcpy(word, images[_i]);
	ck_assert_int_eq(hlg_options_parse(&options, 1, words, &err), 0);
	ck_assert(hlg_profile_init(&profile, &options));
	ck_assert_int_eq(hlg_feed_read(path, &how, &profile, NULL, &sums, &err), 0);
	ck_assert_uint_eq(profile.builds.n, _i < 2);
	if (_i < 2)
		ck_assert_int_eq(strncmp(profile.builds.at[0].print.build_id, "1f00", 4),
				 0);
	hlg_profile_finish(&profile);
	hlg_options_finish(&options);
	kit_unname(path);
	kit_free(&records);
	kit_free(&k);
}
END_TEST

/* A recording that comes a few bytes at a time. */
struct pieces {
	const struct kit *all;
	size_t at, step;
	const struct hlg_profile *profile;
	uint64_t samples, whole; /* when it was asked last */
};

static ssize_t read_piece(void *ctx, void *to, size_t n,
			  const struct hlg_recording_sums *sums, uint64_t whole)
{
	struct pieces *p = ctx;
	size_t left = p->all->n - p->at;

	ck_assert_uint_ge(sums->samples, p->samples);
	ck_assert_uint_ge(whole, p->whole);
	ck_assert_uint_le(whole, p->at);
	ck_assert_uint_eq(sums->samples, p->profile->seen.samples);
	ck_assert_uint_eq(sums->guest, p->profile->seen.samples);
	/* All that is there is counted, but for a record that is not whole. */
	if (whole)
		ck_assert_uint_lt(p->at - whole, 64);
	p->samples = sums->samples;
	p->whole = whole;
	n = n < p->step ? n : p->step;
	n = n < left ? n : left;
	memcpy(to, p->all->at + p->at, n);
	p->at += n;
	return (ssize_t)n;
}

/* As many bytes at a time as one, a record and a bit, and all. */
START_TEST(being_made)
{
	static const size_t steps[] = {1, 7, 50, 1 << 20};
	struct pieces pieces = {.step = steps[_i]};
	const struct hlg_feed_live live = {read_piece, &pieces};
	const struct hlg_feed_how how = {.live = &live, .threads = 1};
	struct hlg_recording_sums sums;
	struct hlg_profile profile;
	struct hlg_options options;
	struct hlg_err err;
	struct kit records = {0}, k = {0};

	for (uint64_t j = 0; j < N; j++)
		put_sample(&records, 1 + j % 2, j % 3, 1000 + j);
	kit_pipe(&k, events, 2, &records);
	pieces.all = &k;
	pieces.profile = &profile;
	ck_assert_int_eq(hlg_options_parse(&options, 0, NULL, &err), 0);
	ck_assert(hlg_profile_init(&profile, &options));
	ck_assert_msg(hlg_feed_read("live", &how, &profile, NULL, &sums, &err) == 0, "%s",
		      err.msg);
	ck_assert_uint_eq(profile.seen.samples, N);
	ck_assert_uint_eq(sums.samples, N);
	ck_assert_uint_eq(sums.guest, N);
	ck_assert_uint_eq(sums.left, 0);
	ck_assert_uint_eq(pieces.whole, k.n);
	hlg_profile_finish(&profile);
	hlg_options_finish(&options);
	kit_free(&records);
	kit_free(&k);
}
END_TEST

static ssize_t break_off(void *ctx, void *to, size_t n,
			 const struct hlg_recording_sums *sums, uint64_t whole)
{
	(void)ctx, (void)to, (void)n, (void)sums, (void)whole;
	errno = EIO;
	return -1;
}

START_TEST(broken_off)
{
	const struct hlg_feed_live live = {break_off, NULL};
	const struct hlg_feed_how how = {.live = &live, .threads = 1};
	struct hlg_recording_sums sums;
	struct hlg_profile profile;
	struct hlg_options options;
	struct hlg_err err;

	ck_assert_int_eq(hlg_options_parse(&options, 0, NULL, &err), 0);
	ck_assert(hlg_profile_init(&profile, &options));
	ck_assert_int_lt(hlg_feed_read("live", &how, &profile, NULL, &sums, &err), 0);
	ck_assert_ptr_nonnull(strstr(err.msg, "live: cannot be read: Input/output"));
	hlg_profile_finish(&profile);
	hlg_options_finish(&options);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("feed");
	TCase *tc = tap_case(suite, "span");

	tcase_add_loop_test(tc, any_order, 0, 2);
	tcase_add_test(tc, no_times);
	tcase_add_loop_test(tc, kernel_of_a_mapping, 0, 2);
	tcase_add_loop_test(tc, builds_of_mappings, 0, 4);
	tcase_add_loop_test(tc, being_made, 0, 4);
	tcase_add_test(tc, broken_off);
	return tap_main(suite);
}
