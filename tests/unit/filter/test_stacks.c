// SPDX-License-Identifier: GPL-2.0-only
/*
 * Each guest sample stands on the callchain of its thread's last KVM_RUN, and the stacks
 * of a report sum to its rows: also after a merge, and whatever memory was missing, which
 * the report then tells. What is seen of chains twice is named once.
 */
#include "filter/report/callgraph.h"

#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "filter/report/frames.h"
#include "filter/trust/proof.h"
#include "filter/write/folded.h"
#include "filter/write/text-children.h"
#include "tests/kit/filter.h"
#include "tests/kit/oom.h"
#include "tests/kit/tap.h"

#define USER (uint64_t) PERF_CONTEXT_USER

START_TEST(chains)
{
	struct hlg_chains c = {0};
	unsigned char bytes[3 * 8 + 1] = {0};
	uint32_t numbers[500] = {0};
	size_t n;

	ck_assert_uint_eq(hlg_chains_add(&c, NULL, 0), HLG_NO_CHAIN);
	for (int round = 0; round < 2; round++) {
		for (uint64_t i = 0; i < 500; i++) {
			uint64_t words[3] = {USER, i / 2, i};
			uint32_t number;

			memcpy(bytes + 1, words, sizeof(words));
			number = hlg_chains_add(&c, bytes + 1, i % 3 + 1);
			ck_assert(round == 0 || number == numbers[i]);
			numbers[i] = number;
			ck_assert_mem_eq(hlg_chains_get(&c, number, &n), words,
					 8 * (i % 3 + 1));
			ck_assert_uint_eq(n, i % 3 + 1);
		}
	}
	ck_assert_uint_eq(numbers[0], numbers[3]);
	ck_assert_uint_eq(c.n, 1 + 167 + 166);
	ck_assert_ptr_null(hlg_chains_get(&c, HLG_LOST_CHAIN, &n));
	ck_assert_uint_eq(n, 0);
	hlg_chains_finish(&c);
}
END_TEST

START_TEST(too_long)
{
	static uint64_t words[HLG_CHAIN_MAX + 5];
	struct hlg_chains c = {0};
	size_t n;

	hlg_chains_get(&c, hlg_chains_add(&c, words, HLG_CHAIN_MAX + 5), &n);
	ck_assert_uint_eq(n, HLG_CHAIN_MAX);
	hlg_chains_finish(&c);
}
END_TEST

/* What perf_event.h calls the markers; (uint64_t)-1 is none of them. */
START_TEST(markers)
{
	uint64_t words[] = {1,    (uint64_t)PERF_CONTEXT_KERNEL,
			    2,    (uint64_t)PERF_CONTEXT_HV,
			    3,    4,
			    USER, 5};
	static const uint8_t expected[] = {2, 0, 1, 0, 3, 3, 0, 2};
	uint8_t modes[8];

	ck_assert_uint_eq(hlg_chains_modes(words, 8, modes), 8);
	ck_assert_mem_eq(modes, expected, 8);
	words[6] = UINT64_MAX; /* perf throws such a chain away */
	ck_assert_uint_eq(hlg_chains_modes(words, 8, modes), 0);
	words[6] = (uint64_t)PERF_CONTEXT_MAX - 1; /* an address */
	ck_assert_uint_eq(hlg_chains_modes(words, 8, modes), 8);
	ck_assert_uint_eq(modes[6], 3);
}
END_TEST

/* perf record --call-graph fp,defer: a marker, and a cookie until the rest is there. */
START_TEST(deferred)
{
	uint64_t words[] = {(uint64_t)PERF_CONTEXT_KERNEL, 1, (uint64_t)-640,
			    UINT64_C(7) << 32 | 3, 5};
	static const uint8_t expected[] = {0, 1, 0, 2, 2};
	uint64_t cookie;
	uint8_t modes[5];

	ck_assert(hlg_chains_is_deferred(words, 4, &cookie));
	ck_assert_uint_eq(cookie, UINT64_C(7) << 32 | 3);
	ck_assert(!hlg_chains_is_deferred(words, 5, &cookie));
	ck_assert(!hlg_chains_is_deferred(words + 3, 1, &cookie));
	ck_assert(!hlg_chains_is_deferred(words, 0, &cookie));
	for (int i = 0; i < 4; i++) { /* addresses */
		static const uint64_t no[] = {UINT64_C(6) << 32 | 3, UINT64_C(7) << 32,
					      UINT64_C(7) << 32 | 65537, 0x401000};

		words[3] = no[i];
		ck_assert(!hlg_chains_is_deferred(words, 4, &cookie));
	}
	ck_assert_uint_eq(hlg_chains_modes(words, 5, modes), 5);
	ck_assert_mem_eq(modes, expected, 5);
}
END_TEST

START_TEST(guests)
{
	const struct hlg_chain_tail said = {HLG_CHAIN_END_FRAME, HLG_CHAIN_WAY_CFI,
					    70000};
	uint64_t words[] = {1,
			    (uint64_t)PERF_CONTEXT_GUEST_USER,
			    2,
			    3,
			    (uint64_t)PERF_CONTEXT_GUEST_KERNEL,
			    4,
			    USER,
			    5,
			    (uint64_t)PERF_CONTEXT_GUEST_USER,
			    6,
			    (uint64_t)PERF_CONTEXT_GUEST,
			    0,
			    7};
	static const uint64_t inside[] = {2, 3, 4, 6};
	struct hlg_chain_tail tail;
	uint64_t guest[13];

	words[11] = hlg_chains_tail_word(&said);
	ck_assert_uint_eq(words[11], UINT64_C(70000) << 32 | 2 << 8 | 3);
	ck_assert_uint_eq(hlg_chains_guest(words, 13, guest, &tail), 4);
	ck_assert_mem_eq(guest, inside, sizeof(inside));
	ck_assert_int_eq(tail.end, HLG_CHAIN_END_FRAME);
	ck_assert_int_eq(tail.way, HLG_CHAIN_WAY_CFI);
	ck_assert_uint_eq(tail.sandbox, 70000);
	/* Without a tail, with half of one, and with numbers of another day. */
	ck_assert_uint_eq(hlg_chains_guest(words, 10, guest, &tail), 4);
	ck_assert(tail.end == 0 && tail.way == 0 && tail.sandbox == 0);
	ck_assert_uint_eq(hlg_chains_guest(words, 11, guest, &tail), 4);
	ck_assert(tail.end == 0 && tail.way == 0 && tail.sandbox == 0);
	words[11] = HLG_CHAIN_ENDS | HLG_CHAIN_WAYS << 8;
	ck_assert_uint_eq(hlg_chains_guest(words, 12, guest, &tail), 4);
	ck_assert(tail.end == 0 && tail.way == 0);
}
END_TEST

static unsigned named;

static void name(void *ctx, uint64_t ip, unsigned cpumode, struct hlg_host_frame *frame)
{
	snprintf(ctx, 32, "%s%ju", cpumode == PERF_RECORD_MISC_USER ? "u" : "k",
		 (uintmax_t)ip);
	frame->name = ctx;
	named++;
}

static char name_buf[32];

static struct hlg_stacks_sample of(struct hlg_stacks *s, int32_t tid,
				   const uint64_t *words, size_t n)
{
	return (struct hlg_stacks_sample){.pid = 7,
					  .tid = tid,
					  .comm = "vmm",
					  .chain = hlg_chains_add(&s->chains, words, n),
					  .name = name,
					  .ctx = name_buf};
}

static void enter(struct hlg_run *run, int32_t tid, uint64_t a, uint64_t b)
{
	uint64_t words[] = {(uint64_t)PERF_CONTEXT_KERNEL, a, USER, b, 1};
	struct hlg_stacks_sample s = of(&run->stacks, tid, words, 5);

	hlg_stacks_enter(&run->stacks, &s);
}

static void guest(struct hlg_run *run, int32_t tid, uint64_t addr)
{
	uint32_t event = hlg_profile_event(&run->profile, "cpu-clock", 0);
	struct hlg_sample sample = kit_sample(event, KIT_BASE + addr);
	struct hlg_stacks_sample s = of(&run->stacks, tid, NULL, 0);

	s.ip = sample.ip;
	s.time = addr % 20 * HLG_SLICES_NS;
	sample.tid = tid;
	if (event == HLG_NO_SERIES)
		run->profile.unrecorded++; /* as the filter does */
	else if (hlg_profile_add(&run->profile, &sample) == HLG_GUEST)
		hlg_stacks_guest(&run->stacks, &s,
				 hlg_profile_series(&run->profile, &sample), 1);
}

static char *fold(struct hlg_run *run, uint64_t *total)
{
	struct hlg_report report;
	struct hlg_tree tree = {0};
	struct hlg_err err;
	char *text;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	kit_build(run, &report);
	report.stacks = &run->stacks;
	ck_assert_int_eq(hlg_callgraph_judge(&report, &err), 0);
	ck_assert_int_eq(hlg_frames_build(&tree, &report, &err), 0);
	ck_assert_int_eq(hlg_folded_write(f, &tree, HLG_WEIGHT_SAMPLES, &err), 0);
	*total = tree.nodes[0].total.samples;
	ck_assert_int_eq(fclose(f), 0);
	hlg_tree_finish(&tree);
	hlg_report_finish(&report);
	return text;
}

#define WORDS "guest.elf@0x4000 stacks=callgraph format=folded demangle=no"

START_TEST(last_mark_counts)
{
	struct hlg_run run;
	uint64_t total;
	char *text;

	kit_guest("guest.elf");
	kit_start(&run, WORDS);
	guest(&run, 1, 0x1000);
	enter(&run, 1, 5, 6);
	enter(&run, 2, 5, 7);
	guest(&run, 1, 0x1000);
	guest(&run, 2, 0x1000);
	named = 0;
	enter(&run, 2, 5, 6); /* known, of the same process */
	ck_assert_uint_eq(named, 0);
	guest(&run, 2, 0x1000);
	text = fold(&run, &total);
	ck_assert_uint_eq(total, 4);
	ck_assert_str_eq(text, "vmm;u1;u6;k5;[guest];entrypoint 2\n"
			       "vmm;u1;u7;k5;[guest];entrypoint 1\n"
			       "vmm;[no KVM_RUN stack];[guest];entrypoint 1\n");
	free(text);
	hlg_run_finish(&run);
}
END_TEST

/* Behind a KVM_RUN the kvm_entries of its thread, which say no more, count nothing. */
START_TEST(entries_behind_runs)
{
	struct hlg_stacks_sample mark;
	struct hlg_run run;
	uint64_t total;
	char *text;

	kit_guest("guest.elf");
	kit_start(&run, WORDS);
	mark = of(&run.stacks, 1, NULL, 0);
	mark.entry = true;
	hlg_stacks_enter(&run.stacks, &mark);
	guest(&run, 1, 0x1000);
	enter(&run, 1, 2, 3);
	hlg_stacks_enter(&run.stacks, &mark);
	guest(&run, 1, 0x1000);
	ck_assert_uint_eq(run.stacks.marks, 2);
	ck_assert_int_eq(hlg_stacks_event("kvm:kvm_exit", HLG_EVENT_UNKNOWN),
			 HLG_MARK_OTHER);
	ck_assert_int_eq(hlg_stacks_event("sched:sched_switch", HLG_EVENT_TRACEPOINT),
			 HLG_MARK_OTHER);
	ck_assert_int_eq(hlg_stacks_event("cpu-clock", HLG_EVENT_TIMER), HLG_MARK_NONE);
	ck_assert(!hlg_stacks_is_run(HLG_MARK_OTHER, NULL, 0));
	text = fold(&run, &total);
	ck_assert_str_eq(text, "vmm;[no callchain];[guest];entrypoint 1\n"
			       "vmm;u1;u3;k2;[guest];entrypoint 1\n");
	free(text);
	hlg_run_finish(&run);
}
END_TEST

/* A chain that was not kept is no chain: neither an orphan's nor anybody else's. */
START_TEST(lost_chains)
{
	struct hlg_stacks_sample mark;
	struct hlg_run run;
	uint64_t total;
	char *text;

	kit_guest("guest.elf");
	kit_start(&run, WORDS " mode=all");
	mark = of(&run.stacks, 1, NULL, 0);
	mark.chain = HLG_LOST_CHAIN;
	hlg_stacks_enter(&run.stacks, &mark);
	ck_assert(hlg_stacks_knows(&run.stacks, 7, 1));
	guest(&run, 1, 0x1000);
	hlg_stacks_host(&run.stacks, &mark, 0, 1);
	ck_assert_uint_eq(run.stacks.n_stacks, 0);
	text = fold(&run, &total);
	ck_assert_str_eq(text, "[stack not kept] 1\n"
			       "[stack not kept];[guest];entrypoint 1\n");
	ck_assert_uint_eq(total, 2);
	free(text);
	hlg_run_finish(&run);
}
END_TEST

/* Nor is a guest's, whose callers are lost with it: that is told. */
START_TEST(lost_callers)
{
	struct hlg_stacks_sample sample;
	struct hlg_run run;

	kit_guest("guest.elf");
	kit_start(&run, WORDS);
	sample = of(&run.stacks, 1, NULL, 0);
	hlg_stacks_guest(&run.stacks, &sample, 0, 1);
	ck_assert(!run.stacks.lacks);
	sample.chain = HLG_LOST_CHAIN;
	hlg_stacks_guest(&run.stacks, &sample, 0, 1);
	ck_assert(run.stacks.lacks);
	hlg_run_finish(&run);
}
END_TEST

/* Half of the feed each, or all. */
static void feed(struct hlg_run *run, unsigned from, unsigned to)
{
	for (unsigned i = from; i < to; i++) {
		int32_t tid = (int32_t)(i / 40 % 5);

		if (i % 40 == 0)
			enter(run, tid, i % 7, i % 11);
		guest(run, tid, 0x1000 + i * 7 % 0x100);
	}
}

/* Each stack has its count in the slices of time, too. */
static void check_slices(const struct hlg_stacks *s)
{
	struct hlg_count *counts = calloc(s->n_stacks, sizeof(*counts));

	for (uint32_t i = 0; i < s->slices.n; i++)
		hlg_count_add(&counts[s->slices.entries[i].series],
			      s->slices.entries[i].count);
	for (uint32_t i = 0; i < s->n_stacks; i++)
		ck_assert_uint_eq(counts[i].samples, s->stacks[i].count.samples);
	free(counts);
}

START_TEST(merged)
{
	struct hlg_run all, one, two;
	uint64_t n[2];
	char *text[2];

	kit_guest("guest.elf");
	kit_start(&all, WORDS);
	kit_start(&one, WORDS);
	kit_start(&two, WORDS);
	ck_assert(!all.stacks.timed);
	one.stacks.timed = two.stacks.timed = true;
	feed(&all, 0, 4000);
	ck_assert_uint_eq(all.stacks.slices.n, 0);
	feed(&one, 2000, 4000);
	feed(&two, 0, 2000);
	one.stacks.aside = (struct hlg_count){3, 30};
	two.stacks.aside = (struct hlg_count){4, 40};
	hlg_stacks_merge(&one.stacks, &two.stacks, &one.profile, &two.profile);
	hlg_profile_merge(&one.profile, &two.profile);
	check_slices(&one.stacks);
	ck_assert_uint_eq(one.stacks.slices.total, 1 + 19);
	text[0] = fold(&all, &n[0]);
	text[1] = fold(&one, &n[1]);
	ck_assert_uint_eq(n[0], 4000);
	ck_assert_str_eq(text[0], text[1]);
	ck_assert_uint_eq(one.stacks.marks, all.stacks.marks);
	ck_assert_uint_eq(one.stacks.aside.samples, 7);
	ck_assert_uint_eq((uint64_t)one.stacks.aside.period, 70);
	free(text[0]);
	free(text[1]);
	hlg_run_finish(&all);
	hlg_run_finish(&one);
	hlg_run_finish(&two);
}
END_TEST

/* Where a guest of the other lay elsewhere, its stacks move with its samples. */
START_TEST(merged_and_moved)
{
	struct hlg_run to, from;
	uint64_t total;
	char *text;

	kit_guest("guest.elf");
	kit_start(&to, WORDS);
	kit_start(&from, WORDS);
	guest(&to, 1, 0x1060);
	guest(&from, 1, 0x1000);
	from.profile.moves = calloc(from.profile.n_series, sizeof(*from.profile.moves));
	ck_assert_ptr_nonnull(from.profile.moves);
	from.profile.moves[0] = 0x60;
	hlg_stacks_merge(&to.stacks, &from.stacks, &to.profile, &from.profile);
	hlg_profile_merge(&to.profile, &from.profile);
	text = fold(&to, &total);
	ck_assert_uint_eq(total, 2);
	ck_assert_str_eq(text, "vmm;[guest];compute 2\n");
	free(text);
	hlg_run_finish(&to);
	hlg_run_finish(&from);
}
END_TEST

/* Host samples without a chain, of one address: of the kernel, of the process, and both
 * again. */
START_TEST(bare_host_samples)
{
	static const uint8_t modes[] = {PERF_RECORD_MISC_USER, PERF_RECORD_MISC_KERNEL};
	struct hlg_options options = {.roots = HLG_ROOT_COMM};
	struct hlg_stacks s = {0};
	struct hlg_stacks_sample sample;

	ck_assert(hlg_stacks_init(&s, &options));
	sample = of(&s, 1, NULL, 0);
	sample.ip = 5;
	named = 0;
	for (int i = 0; i < 4; i++) {
		sample.cpumode = modes[i % 2];
		hlg_stacks_host(&s, &sample, 0, 1);
	}
	ck_assert_uint_eq(named, 2);
	ck_assert_uint_eq(s.n_stacks, 2);
	ck_assert_uint_eq(s.stacks[0].count.samples, 2);
	ck_assert_uint_eq(s.stacks[1].count.samples, 2);
	hlg_stacks_finish(&s);
}
END_TEST

/* A chain is named once for as long as it means the same: not behind other mappings, of
 * another process, or of a thread that has another name now. */
START_TEST(what_chains_mean)
{
	static const struct {
		uint32_t mappings;
		int32_t pid;
		const char *comm;
		unsigned named;
	} samples[] = {
		{0, 7, "vmm", 1}, {0, 7, "vmm", 1}, {1, 7, "vmm", 2},
		{1, 7, "vmm", 2}, {1, 8, "vmm", 3}, {1, 8, "cpu", 4},
		{1, 8, "cpu", 4}, {1, 8, "vmm", 4}, {0, 7, "vmm", 4},
	};
	const uint64_t words[] = {USER, 7};
	struct hlg_options options = {.roots = HLG_ROOT_COMM};
	struct hlg_stacks s = {0};

	ck_assert(hlg_stacks_init(&s, &options));
	named = 0;
	for (size_t i = 0; i < sizeof(samples) / sizeof(samples[0]); i++) {
		struct hlg_stacks_sample sample = of(&s, 1, words, 2);

		sample.mappings = samples[i].mappings;
		sample.pid = samples[i].pid;
		sample.comm = samples[i].comm;
		hlg_stacks_host(&s, &sample, 0, 1);
		ck_assert_msg(named == samples[i].named, "%zu: named %u times", i, named);
	}
	ck_assert_uint_eq(s.n_stacks, 2);
	ck_assert_uint_eq(s.stacks[0].count.samples, 7);
	ck_assert_uint_eq(s.stacks[1].count.samples, 2);
	hlg_stacks_finish(&s);
}
END_TEST

/* Nor are guests without a mark those of the thread's old name. */
START_TEST(orphans_of_a_renamed_thread)
{
	struct hlg_options options = {.roots = HLG_ROOT_COMM};
	struct hlg_stacks s = {0};

	ck_assert(hlg_stacks_init(&s, &options));
	for (int i = 0; i < 4; i++) {
		struct hlg_stacks_sample sample = of(&s, 1, NULL, 0);

		sample.comm = i % 2 ? "cpu" : "vmm";
		hlg_stacks_guest(&s, &sample, 0, 1);
	}
	ck_assert_uint_eq(s.n_stacks, 2);
	ck_assert_uint_eq(s.stacks[0].count.samples, 2);
	hlg_stacks_finish(&s);
}
END_TEST

/* Threads of one process with one callchain have a root each, if roots are threads. */
START_TEST(roots_are_threads)
{
	static const unsigned roots[] = {HLG_ROOT_COMM, HLG_ROOT_TID};
	const uint64_t words[] = {USER, 7};
	struct hlg_options options = {.roots = roots[_i]};
	struct hlg_stacks s = {0};

	ck_assert(hlg_stacks_init(&s, &options));
	for (int32_t tid = 1; tid <= 2; tid++) {
		struct hlg_stacks_sample sample = of(&s, tid, words, 2);

		sample.pid = 1;
		hlg_stacks_host(&s, &sample, 0, 1);
	}
	ck_assert_uint_eq(s.n_stacks, (size_t)_i + 1);
	hlg_stacks_finish(&s);
}
END_TEST

/* A guest sample of cold with these callers, n times; 0: none more. */
static void called(struct hlg_run *run, const uint64_t callers[static 3], unsigned n)
{
	struct hlg_sample sample = kit_sample(0, KIT_BASE + 0x1180);
	uint64_t words[4] = {(uint64_t)PERF_CONTEXT_GUEST_KERNEL};
	struct hlg_stacks_sample s;
	size_t k = 1;

	for (; k < 4 && callers[k - 1]; k++)
		words[k] = KIT_BASE + callers[k - 1] + 1;
	s = of(&run->stacks, 1, words, k);
	s.ip = sample.ip;
	for (unsigned i = 0; i < n; i++) {
		hlg_profile_add(&run->profile, &sample);
		hlg_stacks_guest(&run->stacks, &s,
				 hlg_profile_series(&run->profile, &sample), 1);
	}
}

/* Of callers those are drawn that weigh as much as the 24th, if that makes 48 at most. */
START_TEST(lines_of_a_tree)
{
	static const uint64_t at[] = {0x1000, 0x1020, 0x1060, 0x1120,
				      0x11c0, 0x1200, 0x10e0};
	struct hlg_report report;
	struct hlg_run run;
	struct hlg_err err;
	char *text;
	size_t size, lines = 0;
	FILE *f = open_memstream(&text, &size);

	kit_guest("guest.elf");
	kit_start(&run, "guest.elf@0x4000 stacks=callgraph");
	hlg_profile_event(&run.profile, "cpu-clock", 0);
	for (size_t i = 0; i < 6; i++)
		for (size_t k = 0; k < 7; k++)
			called(&run, (uint64_t[]){at[i], at[k], 0}, 2);
	/* 6 and 42 that weigh 2 or more, and some of 1: in one of these, or beside them
	 */
	called(&run, (uint64_t[]){at[0], at[1], at[2]}, 1);
	if (_i)
		called(&run, (uint64_t[]){at[6], at[0], 0}, 2);
	kit_build(&run, &report);
	report.stacks = &run.stacks;
	report.proof = hlg_proof_open(&run.stacks, &run.space, NULL, &run.options);
	ck_assert(hlg_by_series_make(&report.by_series, &run.stacks));
	run.options.call_graph = HLG_CALL_GRAPH_CALLEE;
	ck_assert_int_eq(hlg_text_children_write(f, &report, &report.all, 1, &err), 0);
	ck_assert_int_eq(fclose(f), 0);
	for (const char *line = text; (line = strstr(line, "<- ")); line += 3)
		lines++;
	ck_assert_msg(lines == (_i ? 7 : 48), "%zu lines:\n%s", lines, text);
	ck_assert_msg(strstr(text, _i ? "(44 more, each below 3.45 %"
				      : "(1 more, each below 2.35 %"),
		      "%s", text);
	free(text);
	hlg_report_finish(&report);
	hlg_run_finish(&run);
}
END_TEST

/* Three times the threads that the first tables have room for, in two processes. */
START_TEST(many_threads)
{
	enum {
		N = 400
	};
	uint64_t words[2] = {USER};
	struct hlg_stacks s = {0};
	struct hlg_options options = {.roots = HLG_ROOT_COMM};
	uint32_t node[N];

	ck_assert(hlg_stacks_init(&s, &options));
	for (int round = 0; round < 2; round++) {
		named = 0;
		for (int32_t i = 0; i < N; i++) {
			struct hlg_stacks_sample mark;

			words[1] = (uint64_t)(i % 300);
			mark = of(&s, i / 2, words, 2);
			mark.pid = i % 2;
			ck_assert(hlg_stacks_knows(&s, i % 2, i / 2) == (round == 1));
			hlg_stacks_enter(&s, &mark);
			hlg_stacks_guest(&s, &mark, 0, 1);
		}
		/* 300 is even: a chain always comes from the same process. */
		ck_assert_uint_eq(named, round ? 0 : 300);
	}
	ck_assert_uint_eq(s.marks, 2 * N);
	ck_assert_uint_eq(s.n_threads, N);
	ck_assert_uint_eq(s.n_memos, 300);
	ck_assert_uint_eq(s.n_stacks, 300);
	memset(node, 0, sizeof(node));
	for (size_t i = 0; i < s.n_stacks; i++) {
		const struct hlg_stack *stack = &s.stacks[i];
		uint64_t addr;

		addr = strtoull(hlg_tree_name(&s.tree, &s.tree.nodes[stack->node]) + 1,
				NULL, 10);
		ck_assert_uint_lt(addr, 300);
		ck_assert_uint_eq(node[addr]++, 0);
		ck_assert_uint_eq(stack->count.samples, addr < 100 ? 4 : 2);
	}
	ck_assert(!hlg_stacks_knows(&s, 2, 0));
	ck_assert(!hlg_stacks_knows(&s, 0, N));
	hlg_stacks_finish(&s);
}
END_TEST

/* The sum of the numbers at the ends of lines. */
static uint64_t sum_of(char *text)
{
	uint64_t sum = 0;

	for (char *line; (line = strsep(&text, "\n"));)
		if (strrchr(line, ' '))
			sum += strtoull(strrchr(line, ' '), NULL, 10);
	return sum;
}

/* A run with an allocation that fails. Returns whether it was reached. */
static bool run_once(unsigned n, bool all_behind)
{
	char *argv[] = {(char[]){"guest.elf@0x4000"}, (char[]){"stacks=callgraph"},
			(char[]){"format=folded"},    (char[]){"out=report"},
			(char[]){"demangle=no"},      (char[]){"weight=samples"},
			(char[]){"force=yes"}};
	struct hlg_err err = {0};
	uint64_t counted = 0, unrecorded = 0;
	struct hlg_run run;
	bool struck;
	char *text;
	int rc;

	oom_arm(n, all_behind);
	rc = hlg_run_start(&run, 7, argv, &err);
	if (rc == 0) {
		feed(&run, 0, 400);
		counted = run.profile.seen.samples;
		unrecorded = run.profile.unrecorded;
		rc = hlg_run_report(&run, NULL, &err);
	}
	struck = oom_disarm();
	ck_assert(rc < 0 || counted + unrecorded == 400);
	hlg_run_finish(&run);
	text = kit_read("report");
	ck_assert(rc == 0 || strstr(err.msg, "emory"));
	ck_assert(!text == (rc < 0));
	if (!struck)
		ck_assert(!strstr(text, HLG_STACKS_LOST));
	if (text)
		ck_assert_uint_eq(sum_of(text), counted);
	free(text);
	unlink("report");
	return struck;
}

START_TEST(out_of_memory)
{
	unsigned n = 1;

	kit_guest("guest.elf");
	while (run_once(n, _i == 1))
		n++;
	ck_assert_uint_gt(n, 50);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("stacks");
	TCase *tc = tap_case(suite, "stacks");

	tcase_add_checked_fixture(tc, kit_enter, kit_leave);
	tcase_add_test(tc, chains);
	tcase_add_test(tc, too_long);
	tcase_add_test(tc, markers);
	tcase_add_test(tc, deferred);
	tcase_add_test(tc, guests);
	tcase_add_test(tc, last_mark_counts);
	tcase_add_test(tc, lost_chains);
	tcase_add_test(tc, lost_callers);
	tcase_add_test(tc, entries_behind_runs);
	tcase_add_test(tc, bare_host_samples);
	tcase_add_test(tc, what_chains_mean);
	tcase_add_test(tc, orphans_of_a_renamed_thread);
	tcase_add_loop_test(tc, lines_of_a_tree, 0, 2);
	tcase_add_loop_test(tc, roots_are_threads, 0, 2);
	tcase_add_test(tc, many_threads);
	tcase_add_test(tc, merged);
	tcase_add_test(tc, merged_and_moved);
	tcase_add_loop_test(tc, out_of_memory, 0, 2);
	return tap_main(suite);
}
