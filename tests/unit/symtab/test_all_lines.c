// SPDX-License-Identifier: GPL-2.0-only
/*
 * The straight lines of random words of AArch64, against what the header says of them,
 * word by word: where a line begins and ends, where it leads, whom it calls and who leads
 * to it.
 */
#include "symtab/code/all-lines.h"

#include "tests/kit/sampling.h"
#include "tests/kit/scratch.h"
#include "tests/kit/tap.h"
#include "tests/unit/symtab/test_code_kit.h"

enum {
	WORDS = 24,
	SYMBOLS = 3,
	OUTSIDE = 5 /* words behind the last, and before the first, that a branch leads to
		     */
};

/* What a word is. */
static const struct kind {
	uint32_t word;
	unsigned shift, bits; /* of its target */
	bool call, branch, ends, none;
} kinds[] = {
	{0xd503201f, 0, 0, false, false, false, false}, /* nop */
	{0x14000000, 0, 26, false, true, true, false},  /* b */
	{0x94000000, 0, 26, true, false, false, false}, /* bl */
	{0x54000000, 5, 19, false, true, false, false}, /* b.eq */
	{0xb4000000, 5, 19, false, true, false, false}, /* cbz */
	{0x36000000, 5, 14, false, true, false, false}, /* tbz */
	{0xd65f03c0, 0, 0, false, true, true, false},   /* ret */
	{0xd61f0020, 0, 0, false, true, true, false},   /* br */
	{0xd63f0020, 0, 0, true, false, false, false},  /* blr */
	{0x00000007, 0, 0, false, false, false, true},  /* udf */
};

static const struct kind *is[WORDS];
static int to[WORDS]; /* a word, or none of these */
static bool begins[WORDS];
static struct hlg_all_lines lines;

static bool is_word(int i)
{
	return i >= 0 && i < WORDS;
}

static void make(uint64_t random)
{
	struct mkelf_sym syms[1 + SYMBOLS] = {FUNC("all", 0, 4 * WORDS)};
	uint32_t text[WORDS];

	memset(begins, 0, sizeof(begins));
	for (int i = 0; i < WORDS; i++) {
		const struct kind *kind = &kinds[sampling_random(
			&random, sizeof(kinds) / sizeof(kinds[0]))];
		const int target =
			(int)sampling_random(&random, WORDS + 2 * OUTSIDE) - OUTSIDE;

		is[i] = kind;
		to[i] = kind->bits ? target : -1;
		text[i] = kind->word |
			  ((uint32_t)(target - i) & ((UINT32_C(1) << kind->bits) - 1))
				  << kind->shift;
	}
	for (int i = 0; i < SYMBOLS; i++) {
		const uint64_t at = sampling_random(&random, WORDS);

		begins[at] = true;
		syms[1 + i] = (struct mkelf_sym)LABEL(i ? "b" : "a", 4 * at);
	}
	begins[0] = true;
	for (int i = 0; i < WORDS; i++) {
		if (is_word(to[i]))
			begins[to[i]] = true;
		if (is[i]->branch && i + 1 < WORDS)
			begins[i + 1] = true;
	}
	code_load_text(text, sizeof(text), EM_AARCH64, syms, 1 + SYMBOLS);
}

static int32_t line_of(int i)
{
	return is_word(i) ? hlg_all_lines_find(&lines, TEXT + 4 * (uint64_t)i)
			  : HLG_NO_LINE;
}

/* How often one is in a part of a list. */
static unsigned count(const int32_t *list, uint32_t from, uint32_t end, int32_t line)
{
	unsigned n = 0;

	for (uint32_t i = from; i < end; i++)
		n += list[i] == line;
	return n;
}

/* How often a line leads to another: by a call, or by its branch. */
static unsigned leads(const struct hlg_run_line *line, int32_t other, bool call)
{
	unsigned n = 0;

	for (uint32_t i = line->start; i < line->start + line->length; i++)
		n += line_of(to[i]) == other && is[i]->call == call;
	return n;
}

/* Of two lines. */
static void check_pair(int32_t a, int32_t b)
{
	const struct hlg_run_line *line = &lines.at[a], *other = &lines.at[b];
	const unsigned calls = leads(line, b, true), branches = leads(line, b, false);

	ck_assert_uint_eq(count(lines.calls, line->calls, line->calls_end, b), calls);
	ck_assert_int_eq(line->target == b, branches);
	ck_assert_uint_eq(count(lines.callers, other->callers, other->callers_end, a),
			  calls + branches);
}

START_TEST(as_the_header_says)
{
	int32_t last = HLG_NO_LINE;

	make((uint64_t)_i + 1);
	ck_assert(hlg_all_lines_applies(code_image));
	ck_assert(hlg_all_lines_read(&lines, code_image));
	ck_assert_uint_eq(lines.n_words, WORDS);
	for (int i = 0; i < WORDS; i++) {
		const bool first = begins[i] || i == 0 || is[i - 1]->none;

		ck_assert_int_eq(line_of(i), is[i]->none ? HLG_NO_LINE
					     : first     ? ++last
							 : last);
	}
	ck_assert_uint_eq(lines.n, last + 1);
	for (int32_t a = 0; a <= last; a++) {
		const struct hlg_run_line *line = &lines.at[a];
		const int behind = (int)(line->start + line->length);

		for (int i = (int)line->start; i < behind; i++)
			ck_assert_int_eq(line_of(i), a);
		ck_assert_int_ne(line_of(behind), a);
		ck_assert_int_eq(line->next,
				 is[behind - 1]->ends ? HLG_NO_LINE : line_of(behind));
		for (int32_t b = 0; b <= last; b++)
			check_pair(a, b);
	}
	hlg_all_lines_finish(&lines);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("all lines");
	TCase *tc = tap_case(suite, "all lines");

	tcase_add_unchecked_fixture(tc, scratch_begin, scratch_end);
	tcase_add_checked_fixture(tc, NULL, code_close_all);
	tcase_add_loop_test(tc, as_the_header_says, 0, 100);
	return tap_main(suite);
}
