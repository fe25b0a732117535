// SPDX-License-Identifier: GPL-2.0-only
/* A guest's sample is of the sandbox that its callchain names, where nothing else does.
 */
#include "filter/options/options.h"
#include "filter/stacks/chains.h"
#include "tests/kit/perfdata.h"
#include "tests/kit/tap.h"
#include "tools/feed/feed.h"

enum {
	PID = 11,
	TID = 12
};

static struct kit_event events[2] = {
	{{.type = PERF_TYPE_SOFTWARE,
	  .sample_type = KIT_PLAIN | PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_IDENTIFIER,
	  .sample_period = 9},
	 .ids = {1},
	 .name = "cpu-clock"},
	{{.type = PERF_TYPE_TRACEPOINT,
	  .config = 77,
	  .sample_type = KIT_PLAIN | PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_RAW,
	  .sample_period = 1},
	 .ids = {2},
	 .name = "syscalls:sys_enter_ioctl"},
};

static void put(struct kit *k, unsigned mode, uint64_t ip, const uint64_t *words,
		uint64_t n)
{
	size_t start = kit_begin(k, PERF_RECORD_SAMPLE, (uint16_t)mode);

	kit_u64(k, 1);
	kit_u64(k, ip);
	kit_u32(k, PID);
	kit_u32(k, TID);
	kit_u64(k, 1000 + k->n);
	kit_u64(k, 1);
	kit_u64(k, n);
	for (uint64_t i = 0; i < n; i++)
		kit_u64(k, words[i]);
	kit_end(k, start);
}

/* One with a caller, of a sandbox as the recording numbers them. */
static void put_of(struct kit *k, unsigned mode, uint64_t ip, uint32_t sandbox)
{
	const struct hlg_chain_tail tail = {.sandbox = sandbox};
	const uint64_t words[] = {(uint64_t)PERF_CONTEXT_GUEST_USER, ip, 0x9000,
				  (uint64_t)PERF_CONTEXT_GUEST,
				  hlg_chains_tail_word(&tail)};

	put(k, mode, ip, words, 5);
}

static void put_run(struct kit *k, uint64_t fd)
{
	size_t start = kit_begin(k, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_KERNEL);

	kit_u64(k, 2);
	kit_u64(k, 1);
	kit_u32(k, PID);
	kit_u32(k, TID);
	kit_u64(k, 900 + k->n);
	kit_u64(k, 1);
	kit_u32(k, 36);
	kit_u64(k, 77);
	kit_u64(k, 16);
	kit_u64(k, fd);
	kit_u64(k, 0xae80);
	kit_u32(k, 0);
	kit_end(k, start);
}

/* The report of these records by sandbox, or of what argv says. */
static int feed(struct hlg_profile *profile, struct hlg_options *options,
		const struct kit *records, size_t n_events, const char *word,
		struct hlg_err *err)
{
	static const struct hlg_feed_how how = {.threads = 1};
	const char *argv[] = {word};
	struct hlg_recording_sums sums;
	struct kit k = {0};
	const char *path;
	int rc;

	kit_file(&k, events, n_events, records, 0);
	path = kit_name(k.at, k.n);
	kit_free(&k);
	ck_assert_int_eq(hlg_options_parse(options, 1, (char **)argv, err), 0);
	ck_assert(hlg_profile_init(profile, options));
	rc = hlg_feed_read(path, &how, profile, NULL, &sums, err);
	kit_unname(path);
	return rc;
}

static void finish(struct hlg_profile *profile, struct hlg_options *options,
		   struct kit *records)
{
	hlg_profile_finish(profile);
	hlg_options_finish(options);
	kit_free(records);
}

/* Each address is 0x4000 and the number that its sandbox gets; 0: -1. */
static void check_cells(const struct hlg_profile *profile, size_t n)
{
	ck_assert_uint_eq(profile->n_cells, n);
	for (size_t i = 0; i < hlg_profile_room(profile); i++) {
		const struct hlg_cell *cell = &profile->cells[i];
		int32_t expected = (int32_t)cell->ip - 0x4000;

		if (cell->count.samples)
			ck_assert_int_eq(profile->series[cell->series].sandbox,
					 expected ? expected : -1);
	}
}

START_TEST(of_their_own_word)
{
	static const uint64_t odd[] = {(uint64_t)PERF_CONTEXT_GUEST_USER, 0x4000,
				       (uint64_t)PERF_CONTEXT_GUEST};
	const unsigned guest = PERF_RECORD_MISC_GUEST_USER;
	struct hlg_profile profile;
	struct hlg_options options;
	struct kit records = {0};
	struct hlg_err err;

	put_of(&records, guest, 0x4003, UINT32_MAX);
	put_of(&records, guest, 0x4002, 7);
	put_of(&records, PERF_RECORD_MISC_GUEST_KERNEL, 0x4001, 2);
	put_of(&records, guest, 0x4002, 7);
	put_of(&records, guest, 0x4000, 0);
	put_of(&records, PERF_RECORD_MISC_USER, 0x4001, 2);
	put(&records, guest, 0x4000, odd, 3);
	put(&records, guest, 0x4000, odd, 0);
	ck_assert_msg(feed(&profile, &options, &records, 1, "by=sandbox", &err) == 0,
		      "%s", err.msg);
	ck_assert_uint_eq(profile.sandboxes.n, 3);
	ck_assert_uint_eq(profile.sandboxes.at[0].count.samples, 1);
	ck_assert_uint_eq(profile.sandboxes.at[1].count.samples, 2);
	ck_assert_uint_eq(profile.sandboxes.at[2].count.samples, 1);
	ck_assert_int_eq(profile.sandboxes.at[1].pid, PID);
	ck_assert_int_eq(profile.sandboxes.at[1].fd, -1);
	check_cells(&profile, 4);
	finish(&profile, &options, &records);
}
END_TEST

START_TEST(of_many)
{
	struct hlg_profile profile;
	struct hlg_options options;
	struct kit records = {0};
	struct hlg_err err;

	for (uint32_t i = 3000; i > 0; i--)
		put_of(&records, PERF_RECORD_MISC_GUEST_USER, 0x4000 + i, 2 * i);
	ck_assert_msg(feed(&profile, &options, &records, 1, "by=sandbox", &err) == 0,
		      "%s", err.msg);
	ck_assert_uint_eq(profile.sandboxes.n, 3000);
	check_cells(&profile, 3000);
	finish(&profile, &options, &records);
}
END_TEST

/* One alone is told, too: other recordings may have more. */
START_TEST(of_one)
{
	struct hlg_profile profile;
	struct hlg_options options;
	struct kit records = {0};
	struct hlg_err err;

	put_of(&records, PERF_RECORD_MISC_GUEST_USER, 0x4001, 1);
	put_of(&records, PERF_RECORD_MISC_GUEST_USER, 0x4000, 0);
	ck_assert_int_eq(feed(&profile, &options, &records, 1, "sandbox=1", &err), 0);
	ck_assert_uint_eq(profile.sandboxes.n, 1);
	ck_assert_uint_eq(profile.sandboxes.at[0].count.samples, 1);
	ck_assert_uint_eq(profile.n_cells, 1);
	ck_assert_uint_eq(profile.deselected.samples, 1);
	finish(&profile, &options, &records);
}
END_TEST

/* KVM_RUN knows it of all samples. */
START_TEST(of_threads_first)
{
	struct hlg_profile profile;
	struct hlg_options options;
	struct kit records = {0};
	struct hlg_err err;

	put_run(&records, 6);
	put_of(&records, PERF_RECORD_MISC_GUEST_USER, 0x4001, 5);
	put_of(&records, PERF_RECORD_MISC_GUEST_USER, 0x4001, 4);
	ck_assert_int_eq(feed(&profile, &options, &records, 2, "by=sandbox", &err), 0);
	check_cells(&profile, 1);
	finish(&profile, &options, &records);
}
END_TEST

START_TEST(of_nobody)
{
	struct hlg_profile profile;
	struct hlg_options options;
	struct kit records = {0};
	struct hlg_err err;

	put_of(&records, PERF_RECORD_MISC_GUEST_USER, 0x4000, 0);
	ck_assert_int_lt(feed(&profile, &options, &records, 1, "by=sandbox", &err), 0);
	ck_assert_ptr_nonnull(strstr(err.msg, "--guest-stacks"));
	finish(&profile, &options, &records);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("tails");
	TCase *tc = tap_case(suite, "sandboxes");

	tcase_add_test(tc, of_their_own_word);
	tcase_add_test(tc, of_many);
	tcase_add_test(tc, of_one);
	tcase_add_test(tc, of_threads_first);
	tcase_add_test(tc, of_nobody);
	return tap_main(suite);
}
