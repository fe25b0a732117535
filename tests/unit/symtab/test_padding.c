// SPDX-License-Identifier: GPL-2.0-only
/*
 * Proves that filler is told from code by its bytes: every form that assemblers and
 * linkers are known to write counts as filler on either end of a gap, the instructions
 * that look like it do not, and what is measured never depends on, or reads, a byte
 * outside the gap (each input is an allocation of its exact size, for the sanitizer).
 */
#include "symtab/code/padding.h"

#include <elf.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "tests/kit/tap.h"

#define MAX_BYTES 32

struct bytes {
	const char *what;
	size_t size;
	unsigned char b[MAX_BYTES];
};

#define B(what_, ...)                                                                    \
	{                                                                                \
		.what = (what_), .size = sizeof((unsigned char[]){__VA_ARGS__}),         \
		.b = { __VA_ARGS__ }                                                     \
	}

/* SDM volume 2, NOP, table 4-12, then what GNU as, LLVM and lld make of it. */
static const struct bytes x86_fillers[] = {
	B("nop", 0x90),
	B("xchg %ax,%ax", 0x66, 0x90),
	B("nopl (%rax)", 0x0f, 0x1f, 0x00),
	B("nopl 0(%rax)", 0x0f, 0x1f, 0x40, 0x00),
	B("nopl 0(%rax,%rax)", 0x0f, 0x1f, 0x44, 0x00, 0x00),
	B("nopw 0(%rax,%rax)", 0x66, 0x0f, 0x1f, 0x44, 0x00, 0x00),
	B("nopl 0L(%rax)", 0x0f, 0x1f, 0x80, 0, 0, 0, 0),
	B("nopl 0L(%rax,%rax)", 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0),
	B("nopw 0L(%rax,%rax)", 0x66, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0),
	B("nopw %cs: of 10", 0x66, 0x2e, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0),
	B("nopw %cs: of 11", 0x66, 0x66, 0x2e, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0),
	B("nopw %cs: of 15", 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x2e, 0x0f, 0x1f, 0x84,
	  0, 0, 0, 0, 0),
	B("nop with displacement", 0x0f, 0x1f, 0x84, 0x90, 0x11, 0x22, 0x33, 0x44),
	B("nop (%rip)", 0x0f, 0x1f, 0x05, 0x11, 0x22, 0x33, 0x44),
	B("nop (,%rax)", 0x0f, 0x1f, 0x04, 0x05, 0x11, 0x22, 0x33, 0x44),
	B("nop (%rax,%rax)", 0x0f, 0x1f, 0x04, 0x00),
	B("nop 0x11(%rbp)", 0x0f, 0x1f, 0x45, 0x11),
	B("nop 0x11(%rbp,%rax)", 0x0f, 0x1f, 0x44, 0x05, 0x11),
	B("nop 0x44332211(%rbp)", 0x0f, 0x1f, 0x85, 0x11, 0x22, 0x33, 0x44),
	B("nop 0x44332211(%rbp,%rax)", 0x0f, 0x1f, 0x84, 0x05, 0x11, 0x22, 0x33, 0x44),
	B("int3", 0xcc),
	B("three int3", 0xcc, 0xcc, 0xcc),
	B("zero", 0x00),
	B("mixed", 0x90, 0xcc, 0x00, 0x66, 0x90, 0x0f, 0x1f, 0x00, 0xcc),
};

static const struct bytes x86_code[] = {
	B("ret", 0xc3),
	B("repz nop, which is pause", 0xf3, 0x90),
	B("0f 1f of a register", 0x0f, 0x1f, 0xc0),
	B("0f 1f /1", 0x0f, 0x1f, 0x48, 0x11),
	B("0f 1e, endbr64's neighbour", 0x0f, 0x1e, 0x40, 0x11),
	B("endbr64", 0xf3, 0x0f, 0x1e, 0xfa),
	B("xchg %r8,%rax", 0x49, 0x90),
	B("ud2", 0x0f, 0x0b),
	B("prefix", 0x66),
	B("prefixes", 0x66, 0x66, 0x2e),
};

/* Their last bytes are not there. */
static const struct bytes x86_cut[] = {
	B("prefix", 0x66),
	B("prefixes", 0x66, 0x66, 0x2e),
	B("escape", 0x0f),
	B("half a nop", 0x0f, 0x1f),
	B("nop without its displacement", 0x0f, 0x1f, 0x80, 0x11, 0x22, 0x33),
	B("nop without its index byte", 0x0f, 0x1f, 0x44),
	B("nop (%rip) cut short", 0x0f, 0x1f, 0x05, 0x11, 0x22, 0x33),
};

static const struct bytes a64_fillers[] = {
	B("nop", 0x1f, 0x20, 0x03, 0xd5),
	B("udf #0", 0, 0, 0, 0),
	B("udf #0xbeef", 0xef, 0xbe, 0, 0),
	B("nop, udf", 0x1f, 0x20, 0x03, 0xd5, 1, 0, 0, 0),
};

static const struct bytes a64_code[] = {
	B("ret", 0xc0, 0x03, 0x5f, 0xd6),
	B("yield", 0x3f, 0x20, 0x03, 0xd5),
	B("bti c", 0x5f, 0x24, 0x03, 0xd5),
	B("brk #0", 0x00, 0x00, 0x20, 0xd4),
	B("smallest word that is no udf", 0x00, 0x00, 0x01, 0x00),
};

#define N(table) ((int)(sizeof(table) / sizeof((table)[0])))

/* Bytes put together, in an allocation that ends where they end. */
struct gap {
	unsigned char *b;
	size_t size;
};

static void add(struct gap *gap, const unsigned char *b, size_t size)
{
	unsigned char *all = malloc(gap->size + size + !(gap->size + size));

	if (gap->size)
		memcpy(all, gap->b, gap->size);
	if (size)
		memcpy(all + gap->size, b, size);
	free(gap->b);
	gap->b = all;
	gap->size += size;
}

static void expect(unsigned machine, struct gap *gap, uint64_t lead, uint64_t trail,
		   const char *what)
{
	struct hlg_padding pad = hlg_padding_find(machine, gap->b, gap->size);

	ck_assert_msg(pad.lead == lead && pad.trail == trail,
		      "%s: filler of %lu and %lu, expected %lu and %lu", what,
		      (unsigned long)pad.lead, (unsigned long)pad.trail,
		      (unsigned long)lead, (unsigned long)trail);
	free(gap->b);
	*gap = (struct gap){0};
}

/* Alone, in front of code, behind code, on both ends. */
static void check_filler(unsigned machine, const struct bytes *filler,
			 const struct bytes *code)
{
	struct gap gap = {0};
	size_t n = filler->size;

	add(&gap, filler->b, n);
	expect(machine, &gap, n, 0, filler->what);
	add(&gap, filler->b, n);
	add(&gap, code->b, code->size);
	expect(machine, &gap, n, 0, filler->what);
	add(&gap, code->b, code->size);
	add(&gap, filler->b, n);
	expect(machine, &gap, 0, n, filler->what);
	add(&gap, filler->b, n);
	add(&gap, filler->b, n);
	add(&gap, code->b, code->size);
	add(&gap, filler->b, n);
	add(&gap, code->b, code->size);
	add(&gap, filler->b, n);
	expect(machine, &gap, 2 * n, n, filler->what);
}

START_TEST(x86_fillers_are_known)
{
	check_filler(EM_X86_64, &x86_fillers[_i], &x86_code[0]);
}
END_TEST

START_TEST(a64_fillers_are_known)
{
	for (int i = 0; i < N(a64_code); i++)
		check_filler(EM_AARCH64, &a64_fillers[_i], &a64_code[i]);
}
END_TEST

START_TEST(x86_code_is_not_filler)
{
	struct gap gap = {0};
	static const unsigned char ret = 0xc3;

	/* Alone its last bytes could be filler; with a return behind them they are not.
	 */
	add(&gap, x86_code[_i].b, x86_code[_i].size);
	ck_assert_uint_eq(hlg_padding_find(EM_X86_64, gap.b, gap.size).lead, 0);
	add(&gap, &ret, 1);
	expect(EM_X86_64, &gap, 0, 0, x86_code[_i].what);
}
END_TEST

START_TEST(x86_filler_cut_short_is_not)
{
	struct gap gap = {0};

	add(&gap, x86_cut[_i].b, x86_cut[_i].size);
	expect(EM_X86_64, &gap, 0, 0, x86_cut[_i].what);
}
END_TEST

START_TEST(a64_code_is_not_filler)
{
	struct gap gap = {0};

	add(&gap, a64_code[_i].b, a64_code[_i].size);
	expect(EM_AARCH64, &gap, 0, 0, a64_code[_i].what);
}
END_TEST

START_TEST(nothing_is_nothing)
{
	struct gap gap = {0};

	add(&gap, NULL, 0);
	expect(EM_X86_64, &gap, 0, 0, "no bytes");
	add(&gap, NULL, 0);
	expect(EM_AARCH64, &gap, 0, 0, "no bytes");
	add(&gap, x86_fillers[0].b, 1);
	expect(EM_RISCV, &gap, 0, 0, "another machine");
	add(&gap, a64_fillers[1].b, 4);
	expect(EM_NONE, &gap, 0, 0, "no machine");
}
END_TEST

/* A word that is cut short cannot be executed, so it is not known to be filler. */
START_TEST(a64_half_words_are_code)
{
	for (size_t size = 1; size < 4; size++) {
		struct gap gap = {0};

		add(&gap, a64_fillers[1].b, size);
		expect(EM_AARCH64, &gap, 0, 0, "part of a word");
	}
}
END_TEST

/* A long gap with code at its very beginning: found, and found in linear time. */
START_TEST(long_gaps_are_measured)
{
	const size_t size = 4 << 20;
	struct gap gap = {calloc(1, size), size};

	gap.b[0] = 0xc3;
	expect(EM_X86_64, &gap, 0, size - 1, "zeroes behind a return");
	gap = (struct gap){malloc(size), size};
	memset(gap.b, 0x66, size);
	expect(EM_X86_64, &gap, 0, 0, "nothing but prefixes");
	gap = (struct gap){calloc(1, size), size};
	gap.b[size - 1] = 0xc3;
	expect(EM_X86_64, &gap, size - 1, 0, "zeroes before a return");
}
END_TEST

/* Fillers in a row at any offset behind code, longest form: the trail is all of them. */
START_TEST(trail_is_the_longest)
{
	const struct bytes *nop15 = &x86_fillers[11];

	for (int n = 1; n < 40; n++) {
		struct gap gap = {0};

		add(&gap, x86_code[0].b, 1);
		for (int i = 0; i < n; i++)
			add(&gap, nop15->b, nop15->size);
		expect(EM_X86_64, &gap, 0, (uint64_t)n * nop15->size, "row of nops");
	}
}
END_TEST

/*
 * Is [from, size) filler to its end? By trying every way to cut it: the table's forms
 * only, so a subset of what the code knows.
 */
static bool reads_as_filler(const struct gap *gap, size_t from)
{
	if (from == gap->size)
		return true;
	for (int i = 0; i < N(x86_fillers) - 1; i++) {
		const struct bytes *f = &x86_fillers[i];

		if (f->size <= gap->size - from &&
		    !memcmp(gap->b + from, f->b, f->size) &&
		    reads_as_filler(gap, from + f->size))
			return true;
	}
	return false;
}

START_TEST(random_bytes_stay_inside)
{
	static const unsigned char likely[] = {0x66, 0x2e, 0x0f, 0x1f, 0x84, 0x44,
					       0x40, 0x80, 0x00, 0x90, 0xcc, 0xc3,
					       0x05, 0x04, 0xd5, 0x03, 0x20};
	unsigned seed = 1;

	for (int round = 0; round < 20000; round++) {
		size_t size = (size_t)rand_r(&seed) % 40;
		unsigned machine = rand_r(&seed) % 4 ? EM_X86_64 : EM_AARCH64;
		struct gap gap = {malloc(size + !size), size};
		struct hlg_padding pad;

		for (size_t i = 0; i < size; i++)
			gap.b[i] = likely[(size_t)rand_r(&seed) % sizeof(likely)];
		pad = hlg_padding_find(machine, gap.b, size);
		ck_assert_uint_le(pad.lead, size);
		ck_assert_uint_le(pad.trail, size - pad.lead);
		for (size_t i = pad.lead; machine == EM_X86_64 && i + pad.trail < size;
		     i++)
			ck_assert(!reads_as_filler(&gap, i));
		free(gap.b);
	}
}
END_TEST

/* What cannot be had cannot make a gap look like code. */
START_TEST(no_memory_is_needed)
{
	const size_t size = 64 << 20; /* more than a heap has left over */
	unsigned char *bytes = malloc(size);
	struct rlimit before, none;
	struct hlg_padding pad;

	ck_assert_ptr_nonnull(bytes);
	memset(bytes, 0x90, size);
	bytes[size / 2] = 0xc3;
	ck_assert_int_eq(getrlimit(RLIMIT_AS, &before), 0);
	none = (struct rlimit){0, before.rlim_max};
	ck_assert_int_eq(setrlimit(RLIMIT_AS, &none), 0);
	pad = hlg_padding_find(EM_X86_64, bytes, size);
	ck_assert_int_eq(setrlimit(RLIMIT_AS, &before), 0);
	ck_assert_uint_eq(pad.lead, size / 2);
	ck_assert_uint_eq(pad.trail, size / 2 - 1);
	free(bytes);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("padding");
	TCase *tc = tap_case(suite, "padding");

	tcase_add_test(tc, no_memory_is_needed);
	tcase_add_loop_test(tc, x86_fillers_are_known, 0, N(x86_fillers));
	tcase_add_loop_test(tc, a64_fillers_are_known, 0, N(a64_fillers));
	tcase_add_loop_test(tc, x86_code_is_not_filler, 0, N(x86_code));
	tcase_add_loop_test(tc, x86_filler_cut_short_is_not, 0, N(x86_cut));
	tcase_add_loop_test(tc, a64_code_is_not_filler, 0, N(a64_code));
	tcase_add_test(tc, nothing_is_nothing);
	tcase_add_test(tc, a64_half_words_are_code);
	tcase_add_test(tc, long_gaps_are_measured);
	tcase_add_test(tc, trail_is_the_longest);
	tcase_add_test(tc, random_bytes_stay_inside);
	return tap_main(suite);
}
