// SPDX-License-Identifier: GPL-2.0-only
/* Notes in their order, copied to another list; one without memory is lost, and is told.
 */
#include "filter/output/note-list.h"

#include "tests/kit/oom.h"
#include "tests/kit/tap.h"

START_TEST(order)
{
	struct hlg_note_list a = {0}, b = {0};

	hlg_note_list_add(&a, "%d of %s", 1, "x");
	hlg_note_list_warn(&a, "second");
	hlg_note_list_detail(&b, "zeroth");
	hlg_note_list_append(&b, &a);
	ck_assert_uint_eq(b.n, 3);
	ck_assert_str_eq(b.line[0], "zeroth");
	ck_assert_str_eq(b.line[1], "1 of x");
	ck_assert_str_eq(b.line[2], "second");
	ck_assert_int_eq(b.level[0], HLG_NOTE_DETAIL);
	ck_assert_int_eq(b.level[1], HLG_NOTE_PLAIN);
	ck_assert_int_eq(b.level[2], HLG_NOTE_WARNING);
	ck_assert(hlg_note_list_has(&b, "second"));
	ck_assert(!hlg_note_list_has(&b, "secon"));
	ck_assert(!a.lost && !b.lost);
	hlg_note_list_finish(&a);
	ck_assert_uint_eq(a.n, 0);
	ck_assert_ptr_null(a.line);
	ck_assert_str_eq(b.line[1], "1 of x");
	hlg_note_list_finish(&b);
	hlg_note_list_finish(&b);
}
END_TEST

/* Copies as details, whatever they were, and no more than asked for. */
START_TEST(details)
{
	struct hlg_note_list a = {0}, b = {0};

	hlg_note_list_warn(&a, "first");
	hlg_note_list_detail(&a, "second");
	hlg_note_list_add(&a, "third");
	ck_assert_uint_eq(hlg_note_list_append_details(&b, &a, 2), 2);
	ck_assert_uint_eq(hlg_note_list_append_details(&b, &a, 0), 0);
	ck_assert_uint_eq(hlg_note_list_append_details(&b, &a, 9), 3);
	ck_assert_uint_eq(b.n, 5);
	ck_assert_uint_eq(hlg_note_list_told(&b), 0);
	ck_assert_str_eq(b.line[1], "second");
	ck_assert_str_eq(b.line[4], "third");
	a.lost = true;
	hlg_note_list_append_details(&b, &a, 0);
	ck_assert(b.lost);
	hlg_note_list_finish(&a);
	hlg_note_list_finish(&b);
}
END_TEST

/* Of a crowd five are warned of, as many as 256 are told, and the rest is counted. */
START_TEST(crowd)
{
	static const struct {
		size_t n, warned, noted;
		const char *rest;
	} known[] = {
		{0, 0, 0, NULL},
		{5, 5, 5, NULL},
		{6, 6, 7, "1 more has samples elsewhere (hlguest report -v lists it)"},
		{256, 6, 257, "251 more have samples elsewhere (hlguest report -v lists them)"},
		{300, 6, 257,
		 "295 more have samples elsewhere (hlguest report -v lists 251 of them)"}};

	for (size_t k = 0; k < sizeof(known) / sizeof(known[0]); k++) {
		struct hlg_note_list list = {0};

		for (size_t i = 0; i < known[k].n; i++) {
			hlg_note_list_adder *add = hlg_note_list_crowd_adder(i);

			if (add)
				add(&list, "guest %zu", i);
		}
		hlg_note_list_crowd_rest(&list, known[k].n, "samples elsewhere");
		ck_assert_uint_eq(hlg_note_list_told(&list), known[k].warned);
		ck_assert_uint_eq(list.n, known[k].noted);
		if (known[k].rest)
			ck_assert_str_eq(list.line[list.n - 1], known[k].rest);
		hlg_note_list_finish(&list);
	}
}
END_TEST

/* Each allocation in turn: the note is in the list, or the list says that one is lost. */
START_TEST(lost)
{
	bool struck = true;

	for (unsigned n = 1; struck; n++) {
		struct hlg_note_list a = {0}, b = {0};

		oom_arm(n, false);
		hlg_note_list_add(&a, "first");
		hlg_note_list_add(&a, "second");
		hlg_note_list_append(&b, &a);
		struck = oom_disarm();
		ck_assert_int_eq(b.lost, struck);
		ck_assert_int_eq(b.n == 2, !struck);
		hlg_note_list_finish(&a);
		hlg_note_list_finish(&b);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("note-list");
	TCase *tc = tap_case(suite, "note-list");

	tcase_add_test(tc, order);
	tcase_add_test(tc, details);
	tcase_add_test(tc, crowd);
	tcase_add_test(tc, lost);
	return tap_main(suite);
}
