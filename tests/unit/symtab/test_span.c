// SPDX-License-Identifier: GPL-2.0-only
/*
 * Proves the rule of span.h on small pictures: one character per address says who owns
 * it. Upper-case letters are functions, lower-case letters labels, '.' is a gap, '-'
 * data and ' ' outside. Each picture shows one thing the rule decides: the innermost
 * function, functions before sized labels before bare ones, how far a bare label
 * reaches, cuts at the end of an area, and the order of perf maps.
 */
#include "symtab/image/span.h"

#include <stdio.h>
#include <string.h>

#include "tests/kit/tap.h"

#define BASE 0x1000 /* of the picture's first character */
#define MAX  8

struct sym {
	char name;
	uint64_t start, end; /* from BASE on */
	enum hlg_symbol_class class;
	unsigned line; /* of a perf map, counted from 1; else 0 */
};

struct picture {
	const char *what;
	const char *owners;
	struct sym syms[MAX]; /* until one has no name; sorted by the test */
	struct hlg_area areas[MAX];
};

#define FN(name, a, b)                                                                   \
	{                                                                                \
		name, a, b, HLG_SYM_FUNCTION, 0                                          \
	}
#define SIZED(name, a, b)                                                                \
	{                                                                                \
		name, a, b, HLG_SYM_SIZED_LABEL, 0                                       \
	}
#define BARE(name, a)                                                                    \
	{                                                                                \
		name, a, a, HLG_SYM_BARE_LABEL, 0                                        \
	}
#define CODE(a, b, s)                                                                    \
	{                                                                                \
		.start = BASE + (a), .end = BASE + (b), .section = s, .code = true       \
	}
#define DATA(a, b, s)                                                                    \
	{                                                                                \
		.start = BASE + (a), .end = BASE + (b), .section = s                     \
	}

static const struct picture pictures[] = {
	{"no symbols",
	 "  ....----  ..",
	 {{0}},
	 {CODE(2, 6, 1), DATA(6, 10, 2), CODE(12, 14, 1)}},
	{"no areas", "    ", {FN('A', 0, 4)}, {{0}}},
	{"functions and gaps",
	 "..AAA.BB..",
	 {FN('A', 2, 5), FN('B', 6, 8)},
	 {CODE(0, 10, 1)}},
	{"functions that touch",
	 "AAABBBB",
	 {FN('A', 0, 3), FN('B', 3, 7)},
	 {CODE(0, 7, 1)}},
	{"a function in a function",
	 "AABBBAA",
	 {FN('A', 0, 7), FN('B', 2, 5)},
	 {CODE(0, 7, 1)}},
	{"three deep",
	 "AABCCBAA.",
	 {FN('A', 0, 8), FN('B', 2, 6), FN('C', 3, 5)},
	 {CODE(0, 9, 1)}},
	{"inner ones that end together",
	 "AABBCCAA",
	 {FN('A', 0, 8), FN('B', 2, 6), FN('C', 4, 6)},
	 {CODE(0, 8, 1)}},
	{"an overlap: the later beginning wins",
	 "AAABBBB",
	 {FN('A', 0, 5), FN('B', 3, 7)},
	 {CODE(0, 7, 1)}},
	{"an overlap of three, the middle one ends last",
	 "AABBCCBB.",
	 {FN('A', 0, 5), FN('B', 2, 8), FN('C', 4, 6)},
	 {CODE(0, 9, 1)}},
	{"the same beginning: the shorter wins while it lasts",
	 "BBBAAA",
	 {FN('A', 0, 6), FN('B', 0, 3)},
	 {CODE(0, 6, 1)}},
	{"a function covers a sized label",
	 "AAAAAAxx",
	 {FN('A', 0, 6), SIZED('x', 2, 8)},
	 {CODE(0, 8, 1)}},
	{"a sized label begins first, and goes on behind",
	 "xxAAAxx.",
	 {SIZED('x', 0, 7), FN('A', 2, 5)},
	 {CODE(0, 8, 1)}},
	{"sized labels nest as functions do",
	 "xxyyxx",
	 {SIZED('x', 0, 6), SIZED('y', 2, 4)},
	 {CODE(0, 6, 1)}},
	{"a bare label up to the end of the section",
	 "..xxxx--",
	 {BARE('x', 2)},
	 {CODE(0, 6, 1), DATA(6, 8, 2)}},
	{"a bare label up to the next symbol",
	 "xxxAAyyyz",
	 {BARE('x', 0), FN('A', 3, 5), BARE('y', 5), BARE('z', 8)},
	 {CODE(0, 9, 1)}},
	{"behind a function nobody takes the label up again",
	 "xxxAA....",
	 {BARE('x', 0), FN('A', 3, 5)},
	 {CODE(0, 9, 1)}},
	{"a bare label in a function is nothing",
	 "AAAAA....",
	 {FN('A', 0, 5), BARE('x', 3)},
	 {CODE(0, 9, 1)}},
	{"a bare label in a sized label is nothing",
	 "xxxxx....",
	 {SIZED('x', 0, 5), BARE('y', 3)},
	 {CODE(0, 9, 1)}},
	{"a bare label where a function begins is nothing",
	 "AAA...",
	 {FN('A', 0, 3), BARE('x', 0)},
	 {CODE(0, 6, 1)}},
	{"a bare label where a function has ended",
	 "AAAxxx",
	 {FN('A', 0, 3), BARE('x', 3)},
	 {CODE(0, 6, 1)}},
	{"two bare labels at one address: the first",
	 ".xxx",
	 {BARE('x', 1), BARE('y', 1)},
	 {CODE(0, 4, 1)}},
	{"a covered bare label still ends the one before",
	 "xxAAA...",
	 {BARE('x', 0), FN('A', 2, 5), BARE('y', 4)},
	 {CODE(0, 8, 1)}},
	{"a symbol ends with its area",
	 "..AA  ....",
	 {FN('A', 2, 8)},
	 {CODE(0, 4, 1), CODE(6, 10, 1)}},
	{"a bare label ends with its area",
	 "..xx  ....",
	 {BARE('x', 2)},
	 {CODE(0, 4, 1), CODE(6, 10, 1)}},
	{"a symbol that begins in a hole owns nothing",
	 "....  .BB.",
	 {FN('A', 5, 9), FN('B', 7, 9)},
	 {CODE(0, 4, 1), CODE(6, 10, 1)}},
	{"a symbol that begins in a hole ends no label",
	 "..xx  ....",
	 {BARE('x', 2), BARE('y', 5)},
	 {CODE(0, 4, 1), CODE(6, 10, 1)}},
	{"a symbol ends with its section",
	 "AAAA..BB",
	 {FN('A', 0, 6), FN('B', 6, 8)},
	 {CODE(0, 4, 1), CODE(4, 8, 2)}},
	{"bytes of no section have no symbols",
	 "AAA..bb",
	 {FN('A', 0, 3), BARE('b', 5)},
	 {CODE(0, 3, 1), CODE(3, 5, 0), CODE(5, 7, 2)}},
	{"of a perf map the later line wins, wherever it begins",
	 "AABBBAA",
	 {{'A', 0, 7, HLG_SYM_FUNCTION, 1}, {'B', 2, 5, HLG_SYM_FUNCTION, 2}},
	 {CODE(0, 7, 0)}},
	{"a later line that covers an earlier one",
	 "AAAAAAA",
	 {{'A', 0, 7, HLG_SYM_FUNCTION, 2}, {'B', 2, 5, HLG_SYM_FUNCTION, 1}},
	 {CODE(0, 7, 0)}},
	{"a later line of the same beginning, though longer",
	 "AAAAAA",
	 {{'A', 0, 6, HLG_SYM_FUNCTION, 2}, {'B', 0, 3, HLG_SYM_FUNCTION, 1}},
	 {CODE(0, 6, 0)}},
	{"lines in three layers",
	 "AACCCBB",
	 {{'A', 0, 4, HLG_SYM_FUNCTION, 2},
	  {'B', 2, 7, HLG_SYM_FUNCTION, 1},
	  {'C', 2, 5, HLG_SYM_FUNCTION, 3}},
	 {CODE(0, 7, 0)}},
};

#define N_PICTURES ((int)(sizeof(pictures) / sizeof(pictures[0])))

static void fill(struct hlg_symtab *tab, const struct sym *syms)
{
	tab->syms = calloc(MAX, sizeof(*tab->syms));
	for (tab->n_syms = 0; tab->n_syms < MAX && syms[tab->n_syms].name;
	     tab->n_syms++) {
		const struct sym *s = &syms[tab->n_syms];

		tab->syms[tab->n_syms] = (struct hlg_symbol){.addr = BASE + s->start,
							     .end = BASE + s->end,
							     .name = (uint32_t)s->name,
							     .index = s->line,
							     .class = s->class};
		tab->later_wins = s->line != 0;
	}
	hlg_symbol_sort(tab);
}

static char owner(const struct hlg_spans *spans, const struct hlg_symtab *tab,
		  uint64_t addr)
{
	size_t i = hlg_span_find(spans, addr);

	if (i == SIZE_MAX)
		return ' ';
	ck_assert_uint_lt(i, spans->n);
	switch (spans->span[i].kind) {
	case HLG_FUNCTION:
	case HLG_LABEL:
		ck_assert_uint_lt(spans->span[i].index, tab->n_syms);
		return (char)tab->syms[spans->span[i].index].name;
	case HLG_GAP:
		return '.';
	case HLG_DATA:
		return '-';
	default:
		return ' ';
	}
}

START_TEST(pictures_come_out_as_drawn)
{
	const struct picture *p = &pictures[_i];
	struct hlg_symtab tab = {.syms = NULL};
	struct hlg_spans spans;
	size_t n_areas = 0, len = strlen(p->owners);
	char got[32] = "";

	fill(&tab, p->syms);
	while (n_areas < MAX && p->areas[n_areas].end)
		n_areas++;
	ck_assert(hlg_span_build(&spans, p->areas, n_areas, &tab));
	for (size_t i = 0; i < len; i++)
		got[i] = owner(&spans, &tab, BASE + i);
	ck_assert_msg(!strcmp(got, p->owners),
		      "%s:\n# got      \"%s\"\n# expected \"%s\"", p->what, got,
		      p->owners);
	ck_assert_int_eq(owner(&spans, &tab, BASE - 1), ' ');
	ck_assert_int_eq(owner(&spans, &tab, BASE + len), ' ');
	ck_assert_int_eq(owner(&spans, &tab, 0), ' ');
	ck_assert_int_eq(owner(&spans, &tab, UINT64_MAX), ' ');
	hlg_span_finish(&spans);
	hlg_symbol_finish(&tab);
}
END_TEST

/* Many symbols that all are open at once, so that the heap is deep. */
START_TEST(deep_nests_are_settled)
{
	enum {
		DEPTH = 2000
	};
	struct hlg_area area = {BASE, BASE + 2 * DEPTH + 1, 1, true};
	struct hlg_symtab tab = {.syms = calloc(DEPTH, sizeof(*tab.syms)),
				 .n_syms = DEPTH};
	struct hlg_spans spans;

	for (uint32_t i = 0; i < DEPTH; i++)
		tab.syms[i] = (struct hlg_symbol){
			.addr = BASE + i, .end = BASE + 2 * DEPTH - i, .name = i};
	hlg_symbol_sort(&tab);
	ck_assert(hlg_span_build(&spans, &area, 1, &tab));
	for (uint64_t i = 0; i < 2 * DEPTH; i++) {
		size_t at = hlg_span_find(&spans, BASE + i);
		uint64_t inner = i < DEPTH ? i : 2 * DEPTH - 1 - i;

		ck_assert_int_eq(spans.span[at].kind, HLG_FUNCTION);
		ck_assert_uint_eq(tab.syms[spans.span[at].index].name, inner);
	}
	ck_assert_int_eq(owner(&spans, &tab, BASE + 2 * DEPTH), '.');
	hlg_span_finish(&spans);
	hlg_symbol_finish(&tab);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("span");
	TCase *tc = tap_case(suite, "span");

	tcase_add_loop_test(tc, pictures_come_out_as_drawn, 0, N_PICTURES);
	tcase_add_test(tc, deep_nests_are_settled);
	return tap_main(suite);
}
