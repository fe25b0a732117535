// SPDX-License-Identifier: GPL-2.0-only
/*
 * Each sample of a guest gets the stack of its own interrupt or none, and a recording
 * keeps everything else.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/kit/perfdata.h"
#include "tests/kit/scratch.h"
#include "tests/kit/tap.h"
#include "tools/callers/bare.h"
#include "tools/callers/rewrite.h"

enum {
	PID = 11,
	TID = 12
};

static struct hlg_join join;

static void add(int32_t tid, uint64_t time, bool exact, uint64_t ip, uint64_t caller)
{
	struct hlg_callers_stack stack = {.time = time,
					  .exact = exact,
					  .ip = ip,
					  .pid = PID,
					  .tid = tid,
					  .n = 2,
					  .callers = {caller, 0x9000}};

	ck_assert(hlg_join_add(&join, &stack));
}

/* The caller that a sample gets; 0: it has no stack. */
static uint64_t take(int32_t tid, uint64_t time, uint64_t ip)
{
	const struct hlg_join_stack *stack = hlg_join_take(&join, tid, time, ip);
	size_t n;
	const uint64_t *callers;

	if (!stack)
		return 0;
	callers = hlg_chains_get(&join.chains, stack->chain, &n);
	ck_assert_uint_eq(n, 2);
	ck_assert_uint_eq(callers[1], 0x9000);
	ck_assert_uint_eq(stack->sandbox, 1);
	return callers[0];
}

START_TEST(nothing)
{
	ck_assert_uint_eq(take(TID, 100, 1), 0);
	hlg_join_finish(&join);
}
END_TEST

START_TEST(exact_times)
{
	add(TID, 300, true, 7, 0x300);
	add(TID, 100, true, 7, 0x100);
	add(TID + 1, 100, true, 7, 0x101);
	ck_assert_uint_eq(take(TID, 99, 7), 0);
	ck_assert_uint_eq(take(TID, 101, 7), 0);
	ck_assert_uint_eq(take(TID, 300, 7), 0x300);
	ck_assert_uint_eq(take(TID, 100, 7), 0x100);
	ck_assert_uint_eq(take(TID, 100, 7), 0); /* once */
	ck_assert_uint_eq(take(TID + 1, 100, 7), 0x101);
	ck_assert_uint_eq(take(TID + 2, 100, 7), 0);
	/* Others come when some were taken, as of a recording that goes on. */
	add(TID, 200, true, 7, 0x200);
	add(TID, 50, true, 7, 0x50);
	ck_assert_uint_eq(take(TID, 200, 7), 0x200);
	ck_assert_uint_eq(take(TID, 50, 7), 0x50);
	hlg_join_finish(&join);
}
END_TEST

START_TEST(times_before)
{
	add(TID, 100, false, 7, 0x100);
	add(TID, 200, false, 8, 0x200); /* its sample was lost */
	add(TID, 300, false, 0, 0x300); /* VMX */
	ck_assert_uint_eq(take(TID, 99, 7), 0);
	ck_assert_uint_eq(take(TID, 105, 7), 0x100);
	ck_assert_uint_eq(take(TID, 106, 7), 0);
	ck_assert_uint_eq(take(TID, 250, 9), 0); /* has lost its own stack */
	ck_assert_uint_eq(take(TID, 305, 10), 0x300);
	hlg_join_finish(&join);
}
END_TEST

START_TEST(many)
{
	for (uint64_t i = 0; i < 5000; i++)
		add(TID, 10000 - i, true, i, i % 7 + 1);
	for (uint64_t i = 0; i < 5000; i++)
		ck_assert_uint_eq(take(TID, 10000 - i, i), i % 7 + 1);
	ck_assert_uint_eq(join.chains.n, 7);
	hlg_join_finish(&join);
}
END_TEST

/* IP, TID, TIME, CALLCHAIN, and something behind. */
static const struct perf_event_attr attr = {
	.type = PERF_TYPE_SOFTWARE,
	.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
		       PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_RAW,
	.sample_period = 9,
	.sample_id_all = 1};
static const struct hlg_perfdata_layout layout = {
	.ip = 8, .tid = 16, .time = 24, .needs = 32, .attr = &attr};

static void put_sample(struct kit *k, unsigned mode, uint64_t ip, uint64_t time,
		       const uint64_t *words, uint64_t n)
{
	size_t start = kit_begin(k, PERF_RECORD_SAMPLE, (uint16_t)mode);

	kit_u64(k, ip);
	kit_u32(k, PID);
	kit_u32(k, TID);
	kit_u64(k, time);
	kit_u64(k, n);
	for (uint64_t i = 0; i < n; i++)
		kit_u64(k, words[i]);
	kit_u32(k, 4);
	kit_u32(k, 0xabcd);
	kit_end(k, start);
}

static const uint64_t callers[] = {0x401000, 0x402000};
static const struct hlg_chain_tail tail = {HLG_CHAIN_END_DEEP, HLG_CHAIN_WAY_FRAMES, 3};
#define TAIL (uint64_t) PERF_CONTEXT_GUEST, UINT64_C(3) << 32 | 1 << 8 | 2
static uint8_t room[HLG_REWRITE_MAX];

static void expect(unsigned mode, uint64_t marker, const uint64_t *host, uint64_t n)
{
	const uint64_t words[] = {host ? host[0] : 0, marker,   0x5000,
				  0x401000,           0x402000, TAIL};
	struct kit k = {0}, expected = {0};

	put_sample(&k, mode, 0x5000, 77, host, n);
	put_sample(&expected, mode, 0x5000, 77, words + (n ? 0 : 1), 6 + n);
	ck_assert_uint_eq(
		hlg_rewrite_sample(room, k.at, (uint16_t)k.n, &layout, callers, 2, &tail),
		expected.n);
	ck_assert_mem_eq(room, expected.at, expected.n);
	kit_free(&k);
	kit_free(&expected);
}

START_TEST(samples)
{
	const uint64_t host[] = {(uint64_t)PERF_CONTEXT_KERNEL};

	expect(PERF_RECORD_MISC_GUEST_USER, (uint64_t)PERF_CONTEXT_GUEST_USER, NULL, 0);
	expect(PERF_RECORD_MISC_GUEST_KERNEL, (uint64_t)PERF_CONTEXT_GUEST_KERNEL, NULL,
	       0);
	expect(PERF_RECORD_MISC_GUEST_USER, (uint64_t)PERF_CONTEXT_GUEST_USER, host, 1);
}
END_TEST

/* The outermost function itself. */
START_TEST(no_callers)
{
	const uint64_t words[] = {(uint64_t)PERF_CONTEXT_GUEST_USER, 0x5000, TAIL};
	struct kit k = {0}, expected = {0};

	put_sample(&k, PERF_RECORD_MISC_GUEST_USER, 0x5000, 77, NULL, 0);
	put_sample(&expected, PERF_RECORD_MISC_GUEST_USER, 0x5000, 77, words, 4);
	ck_assert_uint_eq(
		hlg_rewrite_sample(room, k.at, (uint16_t)k.n, &layout, NULL, 0, &tail),
		expected.n);
	ck_assert_mem_eq(room, expected.at, expected.n);
	kit_free(&k);
	kit_free(&expected);
}
END_TEST

/* In memory of their own size, for the sanitizers. */
START_TEST(odd_samples)
{
	static const uint64_t counts[] = {1, 1000, UINT64_MAX, UINT64_MAX / 8};
	struct perf_event_attr flat = attr;
	struct hlg_perfdata_layout without = layout;
	struct kit k = {0};
	uint64_t *words = calloc(8192, 8);

	put_sample(&k, PERF_RECORD_MISC_GUEST_USER, 0x5000, 77, NULL, 0);
	flat.sample_type &= ~(uint64_t)PERF_SAMPLE_CALLCHAIN;
	without.attr = &flat;
	ck_assert_uint_eq(hlg_rewrite_sample(room, k.at, (uint16_t)k.n, &without, callers,
					     2, &tail),
			  0);
	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		uint8_t *record = malloc(40);

		memcpy(record, k.at, 32);
		memcpy(record + 32, &counts[i], 8);
		ck_assert_uint_eq(
			hlg_rewrite_sample(room, record, 40, &layout, callers, 2, &tail),
			0);
		free(record);
	}
	kit_free(&k);
	/* As long as records can be: there is no room for more. */
	put_sample(&k, PERF_RECORD_MISC_GUEST_USER, 0x5000, 77, words,
		   (UINT16_MAX - 48 - 24) / 8 - HLG_CHAIN_TAIL);
	ck_assert_uint_ne(
		hlg_rewrite_sample(room, k.at, (uint16_t)k.n, &layout, callers, 1, &tail),
		0);
	ck_assert_uint_eq(
		hlg_rewrite_sample(room, k.at, (uint16_t)k.n, &layout, callers, 2, &tail),
		0);
	kit_free(&k);
	free(words);
}
END_TEST

/* Of four samples two get stacks, one of them of a precise event; the host's and what is
 * no sample stays. */
START_TEST(files)
{
	struct kit_event event = {.attr = attr, .ids = {1}, .name = "cpu-clock"};
	struct kit records = {0}, file = {0};
	struct hlg_rewrite_counts counts;
	struct kit_seen before, after;
	struct hlg_err err;
	const char *path;
	size_t start;

	put_sample(&records, PERF_RECORD_MISC_USER, 0x5000, 50, NULL, 0);
	put_sample(&records, PERF_RECORD_MISC_GUEST_USER, 0x5000, 100, NULL, 0);
	start = kit_begin(&records, PERF_RECORD_LOST, 0);
	kit_u64(&records, 1);
	kit_u64(&records, 3);
	kit_u64(&records, PID);
	kit_u64(&records, 150);
	kit_end(&records, start);
	put_sample(&records, PERF_RECORD_MISC_GUEST_KERNEL | PERF_RECORD_MISC_EXACT_IP,
		   0x6000, 200, NULL, 0);
	put_sample(&records, PERF_RECORD_MISC_GUEST_USER, 0x7000, 300, NULL, 0);
	kit_file(&file, &event, 1, &records, 0);
	path = scratch_write("x.data", file.at, file.n);
	kit_read(&before, path);
	add(TID, 100, true, 0x5000, 0x401000);
	add(TID, 190, false, 0x6000, 0x402000);
	ck_assert_msg(hlg_rewrite_file(path, &join, &counts, &err) == 0, "%s", err.msg);
	ck_assert_uint_eq(counts.guest, 3);
	ck_assert_uint_eq(counts.ends[HLG_WALK_WHOLE], 2);
	ck_assert_uint_eq(counts.alone, 1);
	kit_read(&after, path);
	ck_assert_int_eq(after.rc, 0);
	ck_assert_uint_eq(after.n, 4);
	ck_assert_mem_eq(after.samples, before.samples, 4 * sizeof(after.samples[0]));
	ck_assert_uint_eq(after.counts.lost, 3);
	ck_assert_uint_eq(after.counts.bad_sample, 0);
	ck_assert_uint_eq(after.tell, before.tell + 2 * 8 * (4 + HLG_CHAIN_TAIL));
	kit_finish(&before);
	kit_finish(&after);
	kit_free(&records);
	kit_free(&file);
	hlg_join_finish(&join);
}
END_TEST

/* A recording that is being made, a few bytes at a time. */
struct pieces {
	const struct kit *all;
	size_t at, step;
};

static ssize_t read_piece(void *ctx, void *to, size_t n)
{
	struct pieces *p = ctx;
	size_t left = p->all->n - p->at;

	n = n < p->step ? n : p->step;
	n = n < left ? n : left;
	memcpy(to, p->all->at + p->at, n);
	p->at += n;
	return (ssize_t)n;
}

static void add_all(void)
{
	add(TID, 100, true, 0x5000, 0x401000);
	add(TID, 190, false, 0x6000, 0x402000);
}

/* It gets what a file gets, byte by byte, whatever the steps are. */
START_TEST(being_made)
{
	static const size_t steps[] = {1, 13, 200, 1 << 20};
	struct kit_event event = {.attr = attr, .ids = {1}, .name = "cpu-clock"};
	struct kit records = {0}, pipe = {0};
	struct pieces pieces = {.all = &pipe, .step = steps[_i]};
	const struct hlg_perfdata_stream stream = {read_piece, &pieces};
	struct hlg_rewrite_counts counts, same;
	struct hlg_err err;
	const char *path;
	char *out = NULL, *file;
	size_t size;
	FILE *f;

	put_sample(&records, PERF_RECORD_MISC_USER, 0x5000, 50, NULL, 0);
	put_sample(&records, PERF_RECORD_MISC_GUEST_USER, 0x5000, 100, NULL, 0);
	put_sample(&records, PERF_RECORD_MISC_GUEST_KERNEL, 0x6000, 200, NULL, 0);
	put_sample(&records, PERF_RECORD_MISC_GUEST_USER, 0x7000, 300, NULL, 0);
	kit_pipe(&pipe, &event, 1, &records);
	path = scratch_write("x.data", pipe.at, pipe.n);
	add_all();
	ck_assert_msg(hlg_rewrite_file(path, &join, &counts, &err) == 0, "%s", err.msg);
	hlg_join_finish(&join);
	add_all();
	f = open_memstream(&out, &size);
	ck_assert_msg(hlg_rewrite_stream("x", &stream, f, &join, &same, &err) == 0, "%s",
		      err.msg);
	fclose(f);
	ck_assert_mem_eq(&counts, &same, sizeof(same));
	ck_assert_uint_eq(counts.ends[HLG_WALK_WHOLE], 2);
	f = fopen(path, "rb");
	ck_assert_ptr_nonnull(f);
	file = malloc(size + 1);
	ck_assert_uint_eq(fread(file, 1, size + 1, f), size);
	ck_assert_mem_eq(file, out, size);
	fclose(f);
	free(file);
	free(out);
	kit_free(&records);
	kit_free(&pipe);
	hlg_join_finish(&join);
}
END_TEST

/* What a sample has, and what is too old, goes; the rest can still be had. */
START_TEST(forgotten)
{
	for (uint64_t time = 100; time <= 1000; time += 100)
		add(TID, time, true, 7, time);
	ck_assert_uint_eq(take(TID, 900, 7), 900);
	hlg_join_forget(&join, 300);
	ck_assert_uint_eq(join.n, 3);
	ck_assert_uint_eq(take(TID, 600, 7), 0);
	ck_assert_uint_eq(take(TID, 900, 7), 0);
	ck_assert_uint_eq(take(TID, 700, 7), 700);
	add(TID, 1100, true, 7, 1100);
	ck_assert_uint_eq(take(TID, 800, 7), 800);
	ck_assert_uint_eq(take(TID, 1100, 7), 1100);
	hlg_join_forget(&join, UINT64_MAX);
	ck_assert_uint_eq(join.n, 1);
	ck_assert_uint_eq(take(TID, 1000, 7), 1000);
	hlg_join_finish(&join);
}
END_TEST

/*
 * A return address that a callchain takes for a mark ends the stack: what the guest wrote
 * behind it cannot say of which sandbox the sample is. Such a stack, and one of no
 * callers at all, is not counted as one that has some.
 */
START_TEST(marks)
{
	const uint64_t guest[] = {(uint64_t)PERF_CONTEXT_GUEST, 0x1234};
	struct kit_event event = {.attr = attr, .ids = {1}, .name = "cpu-clock"};
	struct hlg_callers_stack stack = {.exact = true, .pid = PID, .tid = TID, .n = 3};
	struct kit records = {0}, file = {0};
	struct hlg_rewrite_counts counts;
	struct kit_seen before, after;
	struct hlg_err err;
	const char *path;

	for (uint64_t i = 1; i <= 4; i++)
		put_sample(&records, PERF_RECORD_MISC_GUEST_USER, 0x5000, 100 * i, NULL,
			   0);
	kit_file(&file, &event, 1, &records, 0);
	path = scratch_write("x.data", file.at, file.n);
	kit_read(&before, path);
	stack.ip = 0x5000;
	stack.time = 100; /* a caller, and then the mark */
	stack.callers[0] = 0x401000;
	memcpy(stack.callers + 1, guest, sizeof(guest));
	ck_assert(hlg_join_add(&join, &stack));
	stack.time = 200; /* the mark alone */
	memcpy(stack.callers, guest, sizeof(guest));
	stack.n = 2;
	ck_assert(hlg_join_add(&join, &stack));
	stack.time = 300; /* as of a guest without paging */
	stack.n = 0;
	stack.end = HLG_WALK_MODE;
	ck_assert(hlg_join_add(&join, &stack));
	stack.time = 400; /* the outermost function itself */
	stack.end = HLG_WALK_WHOLE;
	ck_assert(hlg_join_add(&join, &stack));
	ck_assert_msg(hlg_rewrite_file(path, &join, &counts, &err) == 0, "%s", err.msg);
	ck_assert_uint_eq(counts.guest, 4);
	ck_assert_uint_eq(counts.alone, 0);
	ck_assert_uint_eq(counts.ends[HLG_WALK_ADDRESS], 2);
	ck_assert_uint_eq(counts.ends[HLG_WALK_MODE], 1);
	ck_assert_uint_eq(counts.ends[HLG_WALK_WHOLE], 1);
	ck_assert_uint_eq(counts.with_callers, 2);
	kit_read(&after, path);
	ck_assert_int_eq(after.rc, 0);
	ck_assert_uint_eq(after.tell, before.tell + 8 * (4 * (2 + HLG_CHAIN_TAIL) + 1));
	kit_finish(&before);
	kit_finish(&after);
	kit_free(&records);
	kit_free(&file);
	hlg_join_finish(&join);
}
END_TEST

/* As GNU as assembles them, behind nops. */
START_TEST(calls)
{
	static const struct {
		uint8_t code[HLG_CALLERS_BARE_CALL];
		bool call;
	} known[] = {
		{{0x90, 0x90, 0xe8, 1, 2, 3, 4}, true},             /* call 0x4030201 */
		{{0x90, 0x90, 0x90, 0x90, 0x90, 0xff, 0xd0}, true}, /* *%rax */
		{{0x90, 0x90, 0x90, 0x90, 0x90, 0xff, 0x10}, true}, /* *(%rax) */
		{{0x90, 0x90, 0x90, 0x90, 0xff, 0x14, 0x24}, true}, /* *(%rsp) */
		{{0x90, 0x90, 0x90, 0x90, 0xff, 0x14, 0xc3}, true}, /* *(%rbx,%rax,8) */
		{{0xff, 0x14, 0xc5, 0, 0x10, 0x40, 0}, true},    /* *0x401000(,%rax,8) */
		{{0x90, 0xff, 0x15, 0, 0x10, 0, 0}, true},       /* *0x1000(%rip) */
		{{0x90, 0x90, 0x90, 0x90, 0xff, 0x50, 8}, true}, /* *8(%rax) */
		{{0x90, 0x90, 0x90, 0xff, 0x54, 0x24, 8}, true}, /* *8(%rsp) */
		{{0x90, 0xff, 0x90, 0, 0x10, 0, 0}, true},       /* *0x1000(%rax) */
		{{0xff, 0x94, 0x24, 0, 0x10, 0, 0}, true},       /* *0x1000(%rsp) */
		{{0x90, 0x90, 0x90, 0x90, 0x90, 0xff, 0xe0}, false}, /* jmp *%rax */
		{{0x90, 0x90, 0x90, 0x90, 0xff, 0x14, 0xc5}, false}, /* cut short */
		{{0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90}, false},
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		ck_assert_msg(hlg_callers_bare_is_call(known[i].code) == known[i].call,
			      "%zu", i);
}
END_TEST

/* One that was cut off is left as it is. */
START_TEST(cut_off)
{
	struct kit_event event = {.attr = attr, .ids = {1}, .name = "cpu-clock"};
	struct kit records = {0}, file = {0};
	struct hlg_rewrite_counts counts;
	struct kit_seen after;
	struct hlg_err err;
	const char *path;

	put_sample(&records, PERF_RECORD_MISC_GUEST_USER, 0x5000, 100, NULL, 0);
	put_sample(&records, PERF_RECORD_MISC_GUEST_USER, 0x5000, 200, NULL, 0);
	records.n -= 8;
	kit_file(&file, &event, 1, &records, 0);
	path = scratch_write("x.data", file.at, file.n);
	ck_assert_int_lt(hlg_rewrite_file(path, &join, &counts, &err), 0);
	ck_assert_ptr_nonnull(strstr(err.msg, "cut off"));
	kit_read(&after, path);
	ck_assert_uint_eq(after.n, 1);
	kit_finish(&after);
	kit_free(&records);
	kit_free(&file);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("callers join");
	TCase *tc = tap_case(suite, "join");

	tcase_add_test(tc, nothing);
	tcase_add_test(tc, exact_times);
	tcase_add_test(tc, times_before);
	tcase_add_test(tc, many);
	tcase_add_test(tc, forgotten);
	tc = tap_case(suite, "rewrite");
	tcase_add_unchecked_fixture(tc, scratch_begin, scratch_end);
	tcase_add_test(tc, samples);
	tcase_add_test(tc, no_callers);
	tcase_add_test(tc, odd_samples);
	tcase_add_test(tc, files);
	tcase_add_loop_test(tc, being_made, 0, 4);
	tcase_add_test(tc, marks);
	tcase_add_test(tc, cut_off);
	tcase_add_test(tap_case(suite, "return addresses"), calls);
	return tap_main(suite);
}
