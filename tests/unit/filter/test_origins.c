// SPDX-License-Identifier: GPL-2.0-only
/* Sums of origins are the same in any order and grouping; of what could not be read only
 * the first are named, and all are counted. */
#include "filter/report/origin-notes.h"

#include <stdio.h>

#include "tests/kit/tap.h"

static void fill(struct hlg_origins *o, unsigned from, unsigned to)
{
	for (unsigned i = from; i < to; i++) {
		char text[32];

		snprintf(text, sizeof(text), "host %u", i % 7);
		hlg_origins_add(o, HLG_ORIGIN_HOST, text, text, 1);
		snprintf(text, sizeof(text), "path %u", 99 - i);
		hlg_origins_add(o, HLG_ORIGIN_IMAGE, "a build", text, 1);
		snprintf(text, sizeof(text), "file %02u: is bad", i * 37 % 64);
		hlg_origins_add_unread(o, i % 3 == 0, text);
	}
}

static void same(const struct hlg_origins *a, const struct hlg_origins *b)
{
	ck_assert(!a->lost && !b->lost);
	ck_assert_uint_eq(a->n, b->n);
	ck_assert_uint_eq(a->unread, b->unread);
	ck_assert_uint_eq(a->unread_profiles, b->unread_profiles);
	for (size_t i = 0; i < a->n; i++) {
		ck_assert_int_eq(a->at[i].kind, b->at[i].kind);
		ck_assert_str_eq(a->at[i].key, b->at[i].key);
		ck_assert_str_eq(a->at[i].name, b->at[i].name);
		ck_assert_uint_eq(a->at[i].n, b->at[i].n);
	}
}

START_TEST(any_order)
{
	struct hlg_origins all = {0}, parts[4] = {{0}}, left = {0}, right = {0};
	size_t first;

	fill(&all, 0, 96);
	for (unsigned i = 0; i < 4; i++)
		fill(&parts[i], 24 * i, 24 * (i + 1));
	for (unsigned i = 0; i < 4; i++)
		hlg_origins_merge(&left, &parts[i]);
	hlg_origins_merge(&parts[3], &parts[1]);
	hlg_origins_merge(&parts[2], &parts[0]);
	hlg_origins_merge(&right, &parts[3]);
	hlg_origins_merge(&right, &parts[2]);
	same(&left, &all);
	same(&right, &all);
	ck_assert_uint_eq(all.unread, 64);
	ck_assert_uint_eq(all.unread_profiles, 32);
	ck_assert_uint_eq(hlg_origins_of(&all, HLG_ORIGIN_HOST, &first), 7);
	ck_assert_uint_eq(hlg_origins_of(&all, HLG_ORIGIN_UNREAD, &first),
			  HLG_ORIGINS_UNREAD);
	ck_assert_str_eq(all.at[first].key, "file 00: is bad");
	ck_assert_uint_eq(hlg_origins_of(&all, HLG_ORIGIN_IMAGE, &first), 1);
	ck_assert_str_eq(all.at[first].name, "path 10");
	hlg_origins_finish(&all);
	hlg_origins_finish(&left);
	hlg_origins_finish(&right);
	for (unsigned i = 0; i < 4; i++)
		hlg_origins_finish(&parts[i]);
}
END_TEST

/* Of none there is nothing, and too many stay very many. */
START_TEST(ends)
{
	struct hlg_origins o = {0}, none = {0};
	size_t first;

	ck_assert_uint_eq(hlg_origins_of(&o, HLG_ORIGIN_HOST, &first), 0);
	hlg_origins_merge(&o, &none);
	ck_assert_uint_eq(o.n, 0);
	hlg_origins_add(&o, HLG_ORIGIN_HOST, "", "", UINT64_MAX);
	hlg_origins_add(&o, HLG_ORIGIN_HOST, "", "", 1);
	ck_assert_uint_eq(o.at[0].n, UINT64_MAX);
	hlg_origins_finish(&o);
}
END_TEST

/* One that two sums could not read is two of those that are told. */
START_TEST(notes)
{
	static const char *const lines[] = {
		("8 of 17 recordings left out: f0: is bad; f1: is bad; f2: is bad; "
		 "f3: is bad; f4: is bad; and 2 more"),
		"1 saved profile could not be read, of how many recordings is not known: "
		"p",
		"recordings by host: n2 6, n1 2, [not told] 1",
		"recordings that may have samples of an image: i3 9, i5 5, i6 3, i1 2, "
		"i2 2, "
		"and 2 more",
	};
	static const uint64_t of_images[] = {1, 2, 2, 9, 1, 5, 3};
	struct hlg_profile profile = {0};
	struct hlg_origins *o = &profile.origins;
	struct hlg_report report = {.profile = &profile, .recordings = 9};
	char why[] = "f0: is bad";

	hlg_origins_add_unread(o, false, why);
	for (int c = '0'; c < '7'; c++) {
		why[1] = (char)c;
		hlg_origins_add_unread(o, false, why);
	}
	hlg_origins_add_unread(o, true, "p");
	hlg_origins_add(o, HLG_ORIGIN_HOST, "n1", "n1", 2);
	hlg_origins_add(o, HLG_ORIGIN_HOST, "n2", "n2", 6);
	hlg_origins_add(o, HLG_ORIGIN_HOST, "", "", 1);
	for (size_t i = 0; i < sizeof(of_images) / sizeof(*of_images); i++) {
		const char name[] = {'i', (char)('0' + i), '\0'};

		hlg_origins_add(o, HLG_ORIGIN_IMAGE, name, name, of_images[i]);
	}
	hlg_origin_notes_add(&report);
	ck_assert_uint_eq(report.notes.n, 4);
	for (size_t i = 0; i < 4; i++)
		ck_assert_str_eq(report.notes.line[i], lines[i]);
	hlg_note_list_finish(&report.notes);
	hlg_origins_finish(o);
}
END_TEST

/* As many as are shown: nothing is said of more. */
START_TEST(no_more)
{
	struct hlg_profile profile = {0};
	struct hlg_report report = {.profile = &profile, .recordings = 15};

	for (unsigned i = 0; i < 5; i++)
		hlg_origins_add(&profile.origins, HLG_ORIGIN_HOST,
				(const char[]){'h', (char)('0' + i), '\0'},
				(const char[]){'h', (char)('0' + i), '\0'}, 5 - i);
	hlg_origin_notes_add(&report);
	ck_assert_uint_eq(report.notes.n, 1);
	ck_assert_str_eq(report.notes.line[0],
			 "recordings by host: h0 5, h1 4, h2 3, h3 2, h4 1");
	hlg_note_list_finish(&report.notes);
	hlg_origins_finish(&profile.origins);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("origins");
	TCase *tc = tap_case(suite, "origins");

	tcase_add_test(tc, any_order);
	tcase_add_test(tc, ends);
	tcase_add_test(tc, notes);
	tcase_add_test(tc, no_more);
	return tap_main(suite);
}
