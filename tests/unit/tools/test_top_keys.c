// SPDX-License-Identifier: GPL-2.0-only
/* What each key does, and where the cursor goes. */
#include <string.h>

#include "tests/kit/tap.h"
#include "tools/top/keys.h"

static const struct {
	int key;
	enum hlg_top_action action;
} actions[] = {
	{' ', HLG_TOP_DRAW},      {'z', HLG_TOP_ZERO},
	{'s', HLG_TOP_DRAW},      {'/', HLG_TOP_DRAW},
	{'c', HLG_TOP_CALLERS},   {HLG_TOP_KEY_ENTER, HLG_TOP_ANNOTATE},
	{'w', HLG_TOP_SAVE},      {'h', HLG_TOP_HELP},
	{'?', HLG_TOP_HELP},      {'q', HLG_TOP_QUIT},
	{'x', HLG_TOP_NOTHING},   {0, HLG_TOP_NOTHING},
	{0x1ff, HLG_TOP_NOTHING},
};

START_TEST(in_the_table)
{
	struct hlg_top_keys keys = {.n = 3, .room = 10};

	ck_assert_int_eq(hlg_top_keys_press(&keys, actions[_i].key), actions[_i].action);
	ck_assert_int_eq(keys.paused, actions[_i].key == ' ');
	ck_assert_int_eq(keys.sort, actions[_i].key == 's');
	ck_assert_int_eq(keys.mode,
			 actions[_i].key == '/' ? HLG_TOP_FILTER : HLG_TOP_TABLE);
}
END_TEST

/* Of no row nothing can be shown. */
START_TEST(without_rows)
{
	struct hlg_top_keys keys = {.room = 10};

	ck_assert_int_eq(hlg_top_keys_press(&keys, HLG_TOP_KEY_ENTER), HLG_TOP_NOTHING);
	ck_assert_int_eq(hlg_top_keys_press(&keys, 'c'), HLG_TOP_NOTHING);
	hlg_top_keys_press(&keys, HLG_TOP_KEY_DOWN);
	hlg_top_keys_press(&keys, HLG_TOP_KEY_END);
	ck_assert_uint_eq(keys.cursor, 0);
	ck_assert_uint_eq(keys.first, 0);
}
END_TEST

START_TEST(sorts_in_turn)
{
	struct hlg_top_keys keys = {.n = 1, .room = 1};

	for (int i = 1; i <= 2 * HLG_TOP_SORTS; i++) {
		hlg_top_keys_press(&keys, 's');
		ck_assert_int_eq(keys.sort, i % HLG_TOP_SORTS);
	}
}
END_TEST

static void type(struct hlg_top_keys *keys, const char *text)
{
	for (; *text; text++)
		ck_assert_int_eq(hlg_top_keys_press(keys, (unsigned char)*text),
				 HLG_TOP_DRAW);
}

/* Keys are letters then; Enter takes the filter, Escape the one before. */
START_TEST(filters)
{
	struct hlg_top_keys keys = {.n = 9, .room = 5, .cursor = 7, .first = 4};

	type(&keys, "/qzs");
	ck_assert_str_eq(keys.filter, "qzs");
	ck_assert_uint_eq(keys.cursor, 0);
	ck_assert_uint_eq(keys.first, 0);
	hlg_top_keys_press(&keys, HLG_TOP_KEY_BACKSPACE);
	hlg_top_keys_press(&keys, HLG_TOP_KEY_ENTER);
	ck_assert_str_eq(keys.filter, "qz");
	ck_assert_int_eq(keys.mode, HLG_TOP_TABLE);
	type(&keys, "/x");
	hlg_top_keys_press(&keys, HLG_TOP_KEY_ESCAPE);
	ck_assert_str_eq(keys.filter, "qz");
	hlg_top_keys_press(&keys, HLG_TOP_KEY_ESCAPE);
	ck_assert_str_eq(keys.filter, "");
	/* A character of two bytes goes as one; what has no room is left out. */
	type(&keys, "/a\xc3\xbc");
	hlg_top_keys_press(&keys, HLG_TOP_KEY_BACKSPACE);
	ck_assert_str_eq(keys.filter, "a");
	for (int i = 0; i < 2 * HLG_TOP_FILTER_MAX; i++)
		hlg_top_keys_press(&keys, 'b');
	ck_assert_uint_eq(strlen(keys.filter), HLG_TOP_FILTER_MAX - 1);
	for (int i = 0; i < 2 * HLG_TOP_FILTER_MAX; i++)
		hlg_top_keys_press(&keys, HLG_TOP_KEY_BACKSPACE);
	ck_assert_str_eq(keys.filter, "");
	ck_assert_int_eq(hlg_top_keys_press(&keys, HLG_TOP_KEY_UP), HLG_TOP_NOTHING);
	ck_assert_int_eq(hlg_top_keys_press(&keys, 7), HLG_TOP_NOTHING);
}
END_TEST

/* The cursor is always in what there is, and always seen. */
START_TEST(moves)
{
	static const int all[] = {
		HLG_TOP_KEY_DOWN, HLG_TOP_KEY_DOWN,    HLG_TOP_KEY_PAGE_DOWN,
		HLG_TOP_KEY_UP,   HLG_TOP_KEY_PAGE_UP, HLG_TOP_KEY_END,
		HLG_TOP_KEY_HOME, HLG_TOP_KEY_END,     HLG_TOP_KEY_PAGE_UP};
	struct hlg_top_keys keys = {.n = 30, .room = 10};

	for (int i = 0; i < 10000; i++) {
		size_t n = keys.n, room = keys.room;

		if (i % 7 == 0)
			n = (size_t)i * 31 % 40;
		if (i % 11 == 0)
			room = (size_t)i * 17 % 12;
		hlg_top_keys_fit(&keys, n, room);
		hlg_top_keys_press(&keys, all[(size_t)i * 13 % 9]);
		ck_assert(keys.cursor < keys.n || (keys.n == 0 && keys.cursor == 0));
		ck_assert_uint_le(keys.first, keys.cursor);
		ck_assert(keys.room == 0 || keys.cursor < keys.first + keys.room);
	}
	hlg_top_keys_fit(&keys, 30, 10);
	hlg_top_keys_press(&keys, HLG_TOP_KEY_HOME);
	ck_assert_uint_eq(keys.cursor, 0);
	hlg_top_keys_press(&keys, HLG_TOP_KEY_PAGE_DOWN);
	ck_assert_uint_eq(keys.cursor, 9);
	hlg_top_keys_press(&keys, HLG_TOP_KEY_END);
	ck_assert_uint_eq(keys.cursor, 29);
	ck_assert_uint_eq(keys.first, 20);
}
END_TEST

/* A text is left by q, Escape, Enter; the table is as it was. */
START_TEST(texts)
{
	static const int out[] = {'q', HLG_TOP_KEY_ESCAPE, HLG_TOP_KEY_ENTER};
	struct hlg_top_keys keys = {.mode = HLG_TOP_TEXT, .n = 5, .cursor = 3, .room = 5};

	hlg_top_keys_fit_text(&keys, 100, 20);
	hlg_top_keys_press(&keys, ' ');
	ck_assert_uint_eq(keys.line, 19);
	hlg_top_keys_press(&keys, HLG_TOP_KEY_END);
	ck_assert_uint_eq(keys.line, 80);
	hlg_top_keys_press(&keys, HLG_TOP_KEY_UP);
	ck_assert_uint_eq(keys.line, 79);
	ck_assert_int_eq(hlg_top_keys_press(&keys, 'z'), HLG_TOP_NOTHING);
	ck_assert_int_eq(keys.paused, false);
	ck_assert_int_eq(hlg_top_keys_press(&keys, out[_i]), HLG_TOP_DRAW);
	ck_assert_int_eq(keys.mode, HLG_TOP_TABLE);
	ck_assert_uint_eq(keys.cursor, 3);
	hlg_top_keys_fit_text(&keys, 3, 20);
	ck_assert_uint_eq(keys.line, 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("top keys");
	TCase *tc = tap_case(suite, "keys");

	tcase_add_loop_test(tc, in_the_table, 0, sizeof(actions) / sizeof(actions[0]));
	tcase_add_test(tc, without_rows);
	tcase_add_test(tc, sorts_in_turn);
	tcase_add_test(tc, filters);
	tcase_add_test(tc, moves);
	tcase_add_loop_test(tc, texts, 0, 3);
	return tap_main(suite);
}
