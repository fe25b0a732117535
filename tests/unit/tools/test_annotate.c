// SPDX-License-Identifier: GPL-2.0-only
/*
 * Listings of random guests. Whatever bytes and samples there are: the lines of decoded
 * code cover the place without holes, in order; instructions are where symtab/code/code.h
 * has boundaries; every sample is in one line, at its own address, and the lines sum to
 * the row. Then what a word names; what an instruction reads as; and allocations that
 * fail, each in turn: the text is whole or there is an error.
 */
#include "tools/annotate/annotate.h"

#include <stdlib.h>
#include <string.h>

#include <linux/perf_event.h>

#include "config.h"
#include "filter/report/callgraph.h"
#include "tests/kit/filter.h"
#include "tests/kit/oom.h"
#include "tests/kit/tap.h"
#include "tools/annotate/called-by.h"

enum {
	FIRST = 0x1000,
	SIZE = 0x240, /* of the guest's code */
	SAMPLES = 600
};

struct bench {
	struct hlg_run run;
	struct hlg_report report;
	struct hlg_sources sources;
	uint64_t samples[0x4000]; /* by own address */
};

/* Random bytes are what no compiler writes: prefixes, ends in the middle, no code. */
static void write_guest(uint64_t *random, bool aarch64)
{
	struct mkelf_guest g;

	mkelf_guest_init(&g, 0);
	if (aarch64) {
		g.elf.machine = EM_AARCH64;
		mkelf_guest_code(&g);
	}
	if (kit_random(random, 4))
		for (size_t i = 0; i < sizeof(g.text); i++)
			if (kit_random(random, 3) == 0)
				g.text[i] = (uint8_t)kit_random(random, 256);
	/* One function inside of another. */
	if (kit_random(random, 2)) {
		g.syms[2].value = 0x1070;
		g.syms[2].size = 0x13;
	}
	kit_write(&g, "guest.elf");
}

static void start(struct bench *b, uint64_t seed, const char *words)
{
	uint64_t random = seed;

	memset(b, 0, sizeof(*b));
	write_guest(&random, seed % 2);
	kit_start(&b->run, words);
	hlg_profile_event(&b->run.profile, "a", 0);
	for (int i = 0; i < SAMPLES; i++) {
		uint64_t addr = kit_random(&random, 8)
					? 0xff0 + kit_random(&random, SIZE + 0x20)
					: kit_random(&random, 0x3200);
		struct hlg_sample s = kit_sample(0, KIT_BASE + addr);

		s.tid = (int32_t)kit_random(&random, 3);
		s.period = 1 + kit_random(&random, 9);
		hlg_profile_add(&b->run.profile, &s);
		b->samples[addr]++;
	}
	kit_build(&b->run, &b->report);
	ck_assert(hlg_source_open_all(&b->sources, &b->run.space));
}

static void finish(struct bench *b)
{
	hlg_source_close_all(&b->sources);
	hlg_report_finish(&b->report);
	hlg_run_finish(&b->run);
}

static void check_cover(const struct hlg_listing *l)
{
	const struct hlg_place *place = &l->row->place;
	uint64_t next = place->start;
	bool any = false;

	for (size_t i = 0; i < l->n; i++) {
		const struct hlg_line *line = &l->lines[i];

		ck_assert(i == 0 || line->addr >= line[-1].addr);
		if (line->length == 0) {
			ck_assert(line->kind == HLG_LINE_INSIDE ||
				  line->kind == HLG_LINE_PLAIN);
			continue;
		}
		ck_assert_uint_eq(line->addr, next);
		next += line->length;
		any = true;
	}
	ck_assert(!any || next == place->end);
	ck_assert_int_eq(any, place->kind <= HLG_GAP &&
				      hlg_insn_available(place->image->elf.machine));
}

static void check_kinds(const struct bench *b, const struct hlg_listing *l)
{
	const struct hlg_image_test *ti =
		hlg_trust_of(&b->report.trust, l->row->place.image);
	struct hlg_place place = l->row->place;

	for (size_t i = 0; i < l->n && place.symbol && ti && ti->code; i++) {
		const struct hlg_line *line = &l->lines[i];
		enum hlg_boundary at;

		place.addr = line->addr;
		at = hlg_code_at(ti->code, &place);
		if (line->kind == HLG_LINE_INSN)
			ck_assert_int_eq(at, HLG_BOUNDARY_ON);
		if (line->kind == HLG_LINE_INSIDE)
			ck_assert_int_eq(at, HLG_BOUNDARY_OFF);
		ck_assert(!line->text || line->kind == HLG_LINE_INSN);
	}
}

static void check_counts(struct bench *b, const struct hlg_listing *l)
{
	struct hlg_count sum = {0, 0}, on = {0, 0}, inside = {0, 0};
	uint64_t hottest = 0;

	for (size_t i = 0; i < l->n; i++) {
		const struct hlg_line *line = &l->lines[i];
		uint64_t addr = l->row->place.image ? line->addr : line->addr - KIT_BASE;

		hlg_count_add(&sum, line->count);
		if (line->kind == HLG_LINE_INSN)
			hlg_count_add(&on, line->count);
		else if (line->kind == HLG_LINE_INSIDE)
			hlg_count_add(&inside, line->count);
		if (line->count.samples)
			ck_assert_double_eq_tol(
				line->share,
				(double)hlg_count_weigh(b->report.all.weight,
							line->count) /
					(double)hlg_count_weigh(b->report.all.weight,
								l->row->count),
				1e-12);
		if (line->count.period > hottest)
			hottest = line->count.period;
		if (line->count.samples == 0)
			continue;
		ck_assert_uint_eq(line->count.samples, b->samples[addr]);
		b->samples[addr] = 0;
	}
	ck_assert_uint_eq(sum.samples, l->row->count.samples);
	ck_assert_uint_eq(sum.period, l->row->count.period);
	ck_assert_uint_eq(l->on.samples, on.samples);
	ck_assert_uint_eq(l->on.period, on.period);
	ck_assert_uint_eq(l->inside.samples, inside.samples);
	ck_assert_uint_eq(l->inside.period, inside.period);
	ck_assert_uint_eq(l->plain.samples, sum.samples - on.samples - inside.samples);
	ck_assert_uint_eq(l->plain.period, sum.period - on.period - inside.period);
	for (size_t i = 0; i < l->n_hot; i++) {
		ck_assert_uint_le(l->lines[l->hot[i]].count.period, hottest);
		hottest = l->lines[l->hot[i]].count.period;
		ck_assert_int_eq(l->lines[l->hot[i]].hottest, i == 0);
	}
}

START_TEST(every_sample_has_its_line)
{
	static struct bench b;
	struct hlg_err err;

	start(&b, (uint64_t)_i, "guest.elf skid=2");
	for (size_t i = 0; i < b.report.all.n_rows; i++) {
		const struct hlg_listings a = {.report = &b.report,
					       .sources = &b.sources,
					       .syntax = _i % 3 ? HLG_SYNTAX_ATT
								: HLG_SYNTAX_INTEL};
		struct hlg_listing l;

		ck_assert_int_eq(hlg_listing_build(&l, &a, &b.report.all,
						   &b.report.all.rows[i], &err),
				 0);
		check_cover(&l);
		check_kinds(&b, &l);
		check_counts(&b, &l);
		hlg_listing_finish(&l);
	}
	for (size_t i = 0; i < sizeof(b.samples) / sizeof(b.samples[0]); i++)
		ck_assert_uint_eq(b.samples[i], 0); /* none is left */
	finish(&b);
}
END_TEST

#define SEVERAL UINT64_MAX

static const struct {
	const char *word;
	uint64_t start; /* 0: there is none; SEVERAL: names have it in them */
} words[] = {
	{"compute", 0x1060},
	{"compute_alias", 0x1060},
	{"handler", 0x1120},
	{"entrypoint", 0x1000},
	{"__gap__ after compute", 0x10e0},
	{"__gap__ after dispatch", 0x1054},
	{"[data] .data", 0x3000},
	{"comp", SEVERAL},
	{"compute ", 0},
	{"Compute", 0},
	{"", 0},
	{"__gap__", SEVERAL},
	{"counter", 0},
	{"\033[31m", 0},
};

START_TEST(words_name_places)
{
	struct hlg_found_places places = {0};
	struct hlg_run run;
	struct hlg_err err;
	int rc;

	kit_guest("guest.elf");
	kit_start(&run, "guest.elf");
	rc = hlg_places_find(&places, &run.space, words[_i].word, &err);
	if (words[_i].start && words[_i].start != SEVERAL) {
		ck_assert_int_eq(rc, 0);
		ck_assert_uint_eq(places.n, 1);
		ck_assert_uint_eq(places.place[0].start, words[_i].start);
		/* Once more it is the same. */
		rc = hlg_places_find(&places, &run.space, words[_i].word, &err);
		ck_assert_int_eq(rc, 0);
		ck_assert_uint_eq(places.n, 1);
	} else {
		ck_assert_int_eq(rc, HLG_EINPUT);
		ck_assert_ptr_nonnull(strstr(
			err.msg, words[_i].start == SEVERAL
					 ? ": several functions have that in their names"
					 : ": no such function"));
		ck_assert_ptr_null(strchr(err.msg, '\033'));
	}
	hlg_places_finish(&places);
	hlg_run_finish(&run);
}
END_TEST

START_TEST(addresses_are_guests)
{
	struct hlg_found_places places = {0};
	struct hlg_run run;
	struct hlg_err err;
	uint64_t ip;

	ck_assert(hlg_places_is_address("0x5060", &ip));
	ck_assert_uint_eq(ip, 0x5060);
	ck_assert(!hlg_places_is_address("5060", &ip));
	ck_assert(!hlg_places_is_address("0xyz", &ip));
	ck_assert(!hlg_places_is_address("0x", &ip));
	kit_guest("guest.elf");
	kit_start(&run, "guest.elf");
	ck_assert_int_eq(hlg_run_settle(&run, &err), 0);
	ck_assert_int_eq(hlg_places_find_ip(&places, &run.space, 0x5061, &err), 0);
	ck_assert_int_eq(hlg_places_find_ip(&places, &run.space, 0x10, &err), 0);
	ck_assert_uint_eq(places.n, 2);
	ck_assert_uint_eq(places.place[0].start, 0x1060);
	ck_assert_int_eq(places.place[1].kind, HLG_OUTSIDE);
	hlg_places_finish(&places);
	hlg_run_finish(&run);
}
END_TEST

/* Of Intel's SDM, volume 2: encodings and what they are. */
static const struct {
	unsigned char bytes[15];
	size_t n;
	const char *att, *intel; /* NULL: no instruction */
	uint64_t memory;         /* 0: none */
} insns[] = {
	{{0xc3}, 1, "ret", "ret", 0},
	{{0x48, 0x8b, 0x05, 0x10, 0, 0, 0},
	 7,
	 "mov 0x10(%rip),%rax",
	 "mov rax, [rip+0x10]",
	 0x1017},
	{{0x75, 0xfe}, 2, "jne 1000", "jnz 0x1000", 0},
	{{0xe8, 0xfb, 0xff, 0xff, 0xff}, 5, "call 1000", "call 0x1000", 0},
	{{0x48, 0x83, 0xc7, 0x08}, 4, "add $0x8,%rdi", "add rdi, 0x8", 0},
	{{0x48, 0x8b}, 2, NULL, NULL, 0},
	{{0x06}, 1, NULL, NULL, 0},
};

START_TEST(instructions_read_so)
{
	for (int syntax = HLG_SYNTAX_ATT; syntax <= HLG_SYNTAX_INTEL; syntax++) {
		const char *right =
			syntax == HLG_SYNTAX_ATT ? insns[_i].att : insns[_i].intel;
		char text[128];
		uint64_t memory = 0;
		bool has;
		bool ok = hlg_disasm(EM_X86_64, (enum hlg_syntax)syntax, insns[_i].bytes,
				     insns[_i].n, 0x1000, text, sizeof(text), &memory,
				     &has);

		ck_assert_int_eq(ok, right && HLG_HAVE_ZYDIS);
		if (!ok)
			continue;
		ck_assert_str_eq(text, right);
		ck_assert_int_eq(has, insns[_i].memory != 0);
		ck_assert_uint_eq(memory, insns[_i].memory);
	}
}
END_TEST

/* Words of AArch64 at 0x400000, as objdump of binutils 2.40 writes them. */
static const struct {
	uint32_t word;
	const char *text;
	uint64_t memory; /* 0: none */
} arm_words[] = {
	{0xd503201f, "nop", 0},
	{0xd503245f, "bti c", 0},
	{0xd50320ff, "xpaclri", 0},
	{0xd503233f, "paciasp", 0},
	{0xd5032fff, "hint #0x7f", 0},
	{0xf9460000, "ldr x0, [x0, #3072]", 0},
	{0xa9b37bfd, "stp x29, x30, [sp, #-208]!", 0},
	{0x4cdf7040, "ld1 {v0.16b}, [x2], #16", 0},
	{0x4c400c10, "ld4 {v16.2d-v19.2d}, [x0]", 0},
	{0x0dc7a7df, "ld3 {v31.d, v0.d, v1.d}[0], [x30], x7", 0},
	{0x4d831fdd, "st1 {v29.b}[15], [x30], x3", 0},
	{0x14000003, "b 40000c", 0},
	{0x97ffffff, "bl 3ffffc", 0},
	{0x54000163, "b.cc 40002c", 0},
	{0x54001002, "b.cs 400200", 0},
	{0x37f80782, "tbnz w2, #31, 4000f0", 0},
	{0x34000060, "cbz w0, 40000c", 0},
	{0xf00004e0, "adrp x0, 49f000", 0},
	{0x10000061, "adr x1, 40000c", 0x40000c},
	{0x30000061, "adr x1, 40000d", 0x40000d},
	{0x70ffffe1, "adr x1, 3fffff", 0x3fffff},
	{0x58000040, "ldr x0, 400008", 0x400008},
	{0x98ffffe1, "ldrsw x1, 3ffffc", 0x3ffffc},
	{0x5c000040, "ldr d0, 400008", 0x400008},
	{0xd2800002, "mov x2, #0x0", 0},
	{0xd2a00000, "movz x0, #0x0, lsl #16", 0},
	{0xd2a00020, "mov x0, #0x10000", 0},
	{0x92800003, "mov x3, #0xffffffffffffffff", 0},
	{0x12800003, "mov w3, #0xffffffff", 0},
	{0x129fffe0, "movn w0, #0xffff", 0},
	{0xf2a24680, "movk x0, #0x1234, lsl #16", 0},
	{0xb200f3e0, "mov x0, #0x5555555555555555", 0},
	{0xb200f3ff, "mov sp, #0x5555555555555555", 0},
	{0x3200f3ff, "mov wsp, #0x55555555", 0},
	{0x5280003f, "mov wzr, #0x1", 0},
	{0xb24003e0, "orr x0, xzr, #0x1", 0},
	{0x321d0261, "orr w1, w19, #0x8", 0},
	{0xaa0103e0, "mov x0, x1", 0},
	{0x11000400, "add w0, w0, #0x1", 0},
	{0x9140041f, "add sp, x0, #0x1, lsl #12", 0},
	{0x8b214c00, "add x0, x0, w1, uxtw #3", 0},
	{0xfa4e2120, "ccmp x9, x14, #0x0, cs", 0},
	{0x9a8b328b, "csel x11, x20, x11, cc", 0},
	{0x530e0040, "ubfiz w0, w2, #18, #1", 0},
	{0xd37ffc22, "lsr x2, x1, #63", 0},
	{0x93c2818c, "extr x12, x12, x2, #32", 0},
	{0x6e037840, "ext v0.16b, v2.16b, v3.16b, #15", 0},
	{0x1e609001, "fmov d1, #2.500000000000000000e+00", 0},
	{0x1e602008, "fcmp d0, #0.0", 0},
	{0x6f00e400, "movi v0.2d, #0x0", 0},
	{0x4e209801, "cmeq v1.16b, v0.16b, #0", 0},
	{0x2f08a4c6, "uxtl v6.8h, v6.8b", 0},
	{0x6f10a401, "uxtl2 v1.4s, v0.8h", 0},
	{0x4e081d00, "mov v0.d[0], x8", 0},
	{0xd4000001, "svc #0x0", 0},
	{0xd53bd040, "mrs x0, tpidr_el0", 0},
	{0x320003e0, "orr w0, wzr, #0x1", 0},
	{0x00000000, "udf #0", 0},
	{0x00001234, "udf #4660", 0},
	{0xffffffff, ".inst 0xffffffff", 0},
};

START_TEST(words_of_aarch64)
{
	uint32_t word = arm_words[_i].word;
	const unsigned char bytes[] = {(unsigned char)word, (unsigned char)(word >> 8),
				       (unsigned char)(word >> 16),
				       (unsigned char)(word >> 24)};
	uint64_t memory = 0;
	char text[64], plain[32];
	bool has;

	snprintf(plain, sizeof(plain), ".inst 0x%08x", word);
	ck_assert(hlg_disasm(EM_AARCH64, HLG_SYNTAX_ATT, bytes, 4, 0x400000, text,
			     sizeof(text), &memory, &has));
	ck_assert_str_eq(text, HLG_HAVE_CAPSTONE ? arm_words[_i].text : plain);
	ck_assert_uint_eq(memory, HLG_HAVE_CAPSTONE ? arm_words[_i].memory : 0);
	ck_assert_int_eq(has, memory != 0);
	ck_assert(!hlg_disasm(EM_AARCH64, HLG_SYNTAX_ATT, bytes, 3, 0x400000, text,
			      sizeof(text), &memory, &has));
}
END_TEST

/* Everything as text, or as JSON; NULL, and *failed, without memory. */
static char *write_all(struct bench *b, bool json, unsigned nth, bool all, bool *failed)
{
	struct hlg_found_places none = {0};
	struct hlg_listings a = {&b->report, &none, &b->sources, HLG_SYNTAX_ATT};
	struct hlg_err err;
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);
	int rc;

	ck_assert_ptr_nonnull(f);
	if (nth)
		oom_arm(nth, all);
#if HLG_HAVE_JANSSON
	rc = json ? hlg_annotate_json(&a, f, &err) : hlg_annotate_text(&a, f, &err);
#else
	rc = json ? HLG_EINPUT : hlg_annotate_text(&a, f, &err);
#endif
	*failed = nth ? oom_disarm() : false;
	fclose(f);
	if (rc == 0)
		return text;
	ck_assert_int_eq(rc, HLG_ESYSTEM);
	ck_assert_ptr_nonnull(strstr(err.msg, "out of memory"));
	free(text);
	return NULL;
}

/* Capstone does not look at what its own strdup returns (AArch64_printInst). */
#if HLG_HAVE_CAPSTONE
#define CAPSTONE_FAILS true
#else
#define CAPSTONE_FAILS false
#endif

START_TEST(no_failed_allocation_is_silent)
{
	static struct bench b;
	bool json = _i % 2, all = _i / 2, failed = true;
	char *whole;

	if (json && !HLG_HAVE_JANSSON)
		return;
	if (_i / 2 && CAPSTONE_FAILS)
		return;
	start(&b, 4 + (uint64_t)_i / 2, "guest.elf skid=2 by=tid top=3");
	whole = write_all(&b, json, 0, false, &failed);
	ck_assert_ptr_nonnull(whole);
	for (unsigned n = 1;; n += 1 + n / 50) {
		char *text = write_all(&b, json, n, all, &failed);

		ck_assert(!text || strcmp(text, whole) == 0);
		free(text);
		if (!failed)
			break;
	}
	free(whole);
	finish(&b);
}
END_TEST

/* push %rbp; mov %rsp,%rbp; then nop or a call of the first; pop %rbp; ret */
#define SLOT   0x10
#define FRAMED 0x55, 0x48, 0x89, 0xe5
#define CALLS(n)                                                                         \
	{                                                                                \
		FRAMED, 0xe8, 0xf7 - (n)*SLOT, 0xff, 0xff, 0xff, 0x5d, 0xc3              \
	}

static const unsigned char callers[][SLOT] = {
	{FRAMED, 0x90, 0x5d, 0xc3}, CALLS(1), CALLS(2), CALLS(3), CALLS(4), CALLS(5)};
static const char *const caller_names[] = {"called", "e", "d", "c", "b", "a"};

/* A sample of the first, which the nth called. */
static void call(struct hlg_run *run, size_t nth)
{
	const uint64_t ip = KIT_BASE + FIRST + 5;
	const struct hlg_chain_tail tail = {HLG_CHAIN_END_WHOLE, HLG_CHAIN_WAY_FRAMES, 0};
	const uint64_t chain[] = {
		(uint64_t)PERF_CONTEXT_GUEST_USER, ip, KIT_BASE + FIRST + nth * SLOT + 9,
		(uint64_t)PERF_CONTEXT_GUEST, hlg_chains_tail_word(&tail)};
	struct hlg_sample sample = kit_sample(0, ip);
	struct hlg_stacks_sample s = {.pid = 7, .tid = 7, .ip = ip};

	s.chain = hlg_chains_add(&run->stacks.chains, chain, 5);
	ck_assert_int_eq(hlg_profile_add(&run->profile, &sample), HLG_GUEST);
	hlg_stacks_guest(&run->stacks, &s, hlg_profile_series(&run->profile, &sample), 1);
}

/* Writes who called the first, where so many others did, each of them twice; but the
 * last, thrice. So many samples tell as much as one. */
static char *write_callers(size_t n, double design)
{
	struct mkelf_sym syms[6];
	struct hlg_called_by called = {0};
	struct hlg_report report;
	struct mkelf_image img;
	struct hlg_run run;
	struct hlg_err err;
	char *text;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	for (size_t i = 0; i < 6; i++)
		syms[i] = (struct mkelf_sym)MKELF_SYM(caller_names[i], FIRST + i * SLOT,
						      sizeof(callers[i]), STB_GLOBAL,
						      STT_FUNC, MKELF_SEC(0));
	ck_assert_int_eq(mkelf_simple(&img, FIRST, callers, sizeof(callers), syms, 6), 0);
	ck_assert_int_eq(mkelf_write(&img, "guest.elf"), 0);
	mkelf_finish(&img);
	kit_start(&run, "guest.elf@0x5000 stacks=callgraph");
	hlg_profile_event(&run.profile, "a", 0);
	for (size_t i = 0; i < 2 * n + 1; i++)
		call(&run, i < 2 * n ? 1 + i / 2 : n);
	kit_build(&run, &report);
	report.stacks = &run.stacks;
	ck_assert_int_eq(hlg_callgraph_judge(&report, &err), 0);
	ck_assert_uint_eq(report.all.n_rows, 1);
	report.all.rows[0].design = design;
	ck_assert(hlg_called_by_put(f, &called, &report, &report.all, report.all.rows));
	hlg_called_by_finish(&called);
	fclose(f);
	hlg_report_finish(&report);
	hlg_run_finish(&run);
	return text;
}

/* Those with most first, then by their names; the first four. */
START_TEST(who_called)
{
	static const char *const shown[] = {"", "e", "de", "cde", "bcde", "abcd"};
	const char *const right = shown[_i];
	char *text = write_callers((size_t)_i, 1), *line = text;

	for (size_t i = 0; i < strlen(right); i++) {
		char *end = strchr(line, '\n');

		ck_assert_ptr_nonnull(end);
		ck_assert_msg(end[-1] == right[i] && end[-2] == ' ', "%s", text);
		line = end + 1;
	}
	ck_assert_str_eq(line,
			 _i == 5 ? "              (1 more: hlguest report -g callee)\n"
				 : "");
	free(text);
}
END_TEST

/* Of a guest that works in phases, intervals are as wide as of fewer samples. */
START_TEST(callers_of_phases)
{
	char *text = write_callers(1, 1), *phases = write_callers(1, 3);

	/* Wilson's lower end: n / (n + 1.96^2). */
	ck_assert_str_eq(text, "  called by: 100.00 %  ±56.15  e\n");
	ck_assert_str_eq(phases, "  called by: 100.00 %  ±79.35  e\n");
	free(text);
	free(phases);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("annotate");
	TCase *tc = tap_case(suite, "annotate");

	tcase_add_checked_fixture(tc, kit_enter, kit_leave);
	tcase_add_loop_test(tc, every_sample_has_its_line, 0, 60);
	tcase_add_loop_test(tc, words_name_places, 0, sizeof(words) / sizeof(words[0]));
	tcase_add_test(tc, addresses_are_guests);
	tcase_add_loop_test(tc, instructions_read_so, 0,
			    sizeof(insns) / sizeof(insns[0]));
	tcase_add_loop_test(tc, words_of_aarch64, 0,
			    (int)(sizeof(arm_words) / sizeof(arm_words[0])));
	tcase_add_loop_test(tc, who_called, 1, 6);
	tcase_add_test(tc, callers_of_phases);
	tcase_add_loop_test(tc, no_failed_allocation_is_silent, 0, 4);
	return tap_main(suite);
}
