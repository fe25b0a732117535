// SPDX-License-Identifier: GPL-2.0-only
/*
 * Rows of the live view: since the start they are the report's, name by name and sample
 * by sample, whatever was recent; the sums of both hold; the filter and each order choose
 * from the same rows. And screens of every size: as many lines as there are, none too
 * wide.
 */
#include <stdlib.h>
#include <string.h>

#include "filter/write/table.h"
#include "tests/kit/filter.h"
#include "tests/kit/tap.h"
#include "tools/top/frame.h"
#include "tools/top/view.h"

static char guest[] = "guest.elf";

/* A recording that goes on, of the small guest. */
struct live {
	struct hlg_options options;
	struct hlg_profile profile;
	struct hlg_host host;
	struct hlg_top_window window;
	struct hlg_batch_given given;
	uint32_t event;
	uint64_t now, samples;
};

static void begin(struct live *live)
{
	*live = (struct live){.now = 0};
	kit_guest(guest);
	kit_options(&live->options, guest);
	ck_assert(hlg_profile_init(&live->profile, &live->options));
	live->event = hlg_profile_event(&live->profile, "cpu-clock", 0);
	hlg_profile_describe(&live->profile, live->event, HLG_EVENT_TIMER, false);
	ck_assert(hlg_top_window_begin(&live->window, 2, 0));
	live->given =
		(struct hlg_batch_given){.profile = &live->profile, .host = &live->host};
}

static void finish(struct live *live)
{
	hlg_top_window_finish(&live->window);
	hlg_profile_finish(&live->profile);
	hlg_options_finish(&live->options);
}

/* Addresses where the guest's instructions begin, and some where nothing is. */
static const uint64_t places[] = {0x1000, 0x1020, 0x1060, 0x1061, 0x1062, 0x1063,
				  0x1120, 0x1180, 0x1181, 0x1182, 0x1183, 0x1184,
				  0x1185, 0x11c0, 0x10e0, 0x1200, 0x9000};

/* Samples of phases: some in a row are of one place, so they are worth less. */
static void add(struct live *live, unsigned n)
{
	uint64_t place = places[0];

	for (unsigned i = 0; i < n; i++) {
		struct hlg_sample s;

		if (i % 6 == 0)
			place = places[(size_t)rand() %
				       (sizeof(places) / sizeof(places[0]))];
		s = kit_sample(live->event, KIT_BASE + place);
		if (rand() % 5 == 0)
			s.cpumode = 1; /* PERF_RECORD_MISC_KERNEL */
		s.period = 1000;
		s.time = 1000000 * ++live->samples;
		hlg_profile_add(&live->profile, &s);
		live->given.sums.samples++;
		live->given.sums.guest += hlg_sample_is_guest(s.cpumode);
		live->given.sums.host += !hlg_sample_is_guest(s.cpumode);
	}
	live->now += 1000000000;
	ck_assert(hlg_top_window_close(&live->window, &live->profile, 0, live->now));
}

/* Of a place that has no other. */
static void add_one(struct live *live, uint64_t place)
{
	struct hlg_sample s = kit_sample(live->event, KIT_BASE + place);

	s.period = 1000;
	s.time = 1000000 * ++live->samples;
	hlg_profile_add(&live->profile, &s);
	live->given.sums.samples++;
	live->given.sums.guest++;
}

static struct hlg_top_judged *judge(const struct live *live)
{
	char *words[] = {guest, (char *)"--force=yes"};
	struct hlg_err err = {0};
	struct hlg_top_judged *judged;

	ck_assert_msg(hlg_top_judge(&judged, 2, words, "live", &live->given,
				    HLG_TOP_JUDGE_TABLE, &err) == 0,
		      "%s", err.msg);
	return judged;
}

static void compare_views(const struct hlg_view *is, const struct hlg_view *expected)
{
	ck_assert_uint_eq(is->n_rows, expected->n_rows);
	ck_assert_uint_eq(is->n_borders, expected->n_borders);
	for (size_t i = 0; i < is->n_rows + is->n_borders; i++) {
		const struct hlg_row *a = hlg_view_row(is, i);
		const struct hlg_row *b = hlg_view_row(expected, i);

		ck_assert_str_eq(a->name, b->name);
		ck_assert_uint_eq(a->count.samples, b->count.samples);
		ck_assert_double_eq(a->share.share, b->share.share);
		ck_assert_double_eq(a->share.low, b->share.low);
		ck_assert_double_eq(a->share.high, b->share.high);
	}
}

static uint64_t sum_of(const struct hlg_top_rows *rows, bool recent)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < rows->n_all; i++) {
		const struct hlg_row *row =
			recent ? rows->all[i].recent : rows->all[i].since;

		sum += row ? row->count.samples : 0;
	}
	return sum;
}

START_TEST(same_as_report)
{
	struct live live;
	struct hlg_top_rows rows;
	struct hlg_err err;
	bool phases = false, few = false;

	srand((unsigned)_i);
	begin(&live);
	add_one(&live, 0x1055);
	for (int slice = 0; slice < 4; slice++) {
		struct hlg_top_judged *judged;
		struct hlg_count recent;

		add(&live, 90);
		judged = judge(&live);
		ck_assert_int_eq(hlg_top_rows_build(&rows, judged, &live.window, &err),
				 0);
		compare_views(&rows.since, &judged->report.all);
		phases |= judged->report.all.design > 1;
		for (size_t i = 0; i < rows.since.n_rows; i++)
			few |= rows.since.rows[i].few;
		ck_assert_uint_eq(sum_of(&rows, false), live.given.sums.guest);
		recent = hlg_top_window_guest(&rows.sums[HLG_TOP_RECENT]);
		ck_assert_uint_eq(sum_of(&rows, true), recent.samples);
		if (slice >= 2)
			ck_assert_uint_lt(recent.samples, live.given.sums.guest);
		hlg_top_rows_finish(&rows);
		hlg_top_judge_finish(judged);
	}
	ck_assert(phases && few);
	finish(&live);
}
END_TEST

START_TEST(chosen)
{
	struct live live;
	struct hlg_top_judged *judged;
	struct hlg_top_rows rows;
	struct hlg_err err;
	size_t with = 0;

	begin(&live);
	add(&live, 300);
	judged = judge(&live);
	ck_assert_int_eq(hlg_top_rows_build(&rows, judged, &live.window, &err), 0);
	for (int sort = 0; sort < HLG_TOP_SORTS; sort++) {
		hlg_top_rows_choose(&rows, (enum hlg_top_sort)sort, "");
		ck_assert_uint_eq(rows.n, rows.n_all);
		for (size_t i = 1; i < rows.n; i++) {
			const struct hlg_row *a = rows.rows[i - 1].since;
			const struct hlg_row *b = rows.rows[i].since;

			if (a->border == b->border && sort == HLG_TOP_BY_NAME)
				ck_assert_int_le(strcasecmp(a->name, b->name), 0);
			else if (a->border == b->border)
				ck_assert_double_ge(a->share.share, b->share.share);
			ck_assert(a->border <= b->border);
		}
	}
	hlg_top_rows_choose(&rows, HLG_TOP_BY_SINCE, "COMP");
	for (size_t i = 0; i < rows.n_all; i++)
		with += strstr(rows.all[i].since->name, "comp") != NULL;
	ck_assert_uint_gt(with, 0);
	ck_assert_uint_eq(rows.n, with);
	for (size_t i = 0; i < rows.n; i++)
		ck_assert_ptr_nonnull(strstr(rows.rows[i].since->name, "comp"));
	hlg_top_rows_choose(&rows, HLG_TOP_BY_SINCE, "nowhere");
	ck_assert_uint_eq(rows.n, 0);
	hlg_top_rows_finish(&rows);
	hlg_top_judge_finish(judged);
	finish(&live);
}
END_TEST

/* Before there are enough samples it says so. */
START_TEST(too_few)
{
	struct live live;
	struct hlg_top_judged *judged;
	struct hlg_top_shown shown = {.window = 10, .screen = {.columns = 80}};
	char *text = NULL;
	size_t size;
	FILE *f;

	begin(&live);
	for (int i = 0; i < 3; i++) {
		struct hlg_sample s = kit_sample(live.event, KIT_BASE + places[0]);

		hlg_profile_add(&live.profile, &s);
	}
	live.given.sums.samples = live.given.sums.guest = 3;
	judged = judge(&live);
	shown.judged = judged;
	f = open_memstream(&text, &size);
	hlg_top_text_head(f, &shown);
	fclose(f);
	ck_assert_msg(strstr(text, "check     cannot tell") ||
			      strstr(text, "check     not checked"),
		      "%s", text);
	free(text);
	hlg_top_judge_finish(judged);
	finish(&live);
}
END_TEST

START_TEST(every_size)
{
	static char *const lines[] = {(char *)"one", (char *)"two"};
	const struct hlg_top_pane pane = {"a text", lines, 2};
	static const enum hlg_top_mode modes[] = {HLG_TOP_TABLE, HLG_TOP_FILTER,
						  HLG_TOP_TEXT};
	char message[1000];
	struct live live;
	struct hlg_top_judged *judged;
	struct hlg_top_rows rows;
	struct hlg_err err;

	for (size_t i = 0; i < sizeof(message); i++)
		message[i] = i + 1 == sizeof(message) ? '\0' : i % 8 == 7 ? ' ' : 'w';
	begin(&live);
	add(&live, 300);
	judged = judge(&live);
	ck_assert_int_eq(hlg_top_rows_build(&rows, judged, &live.window, &err), 0);
	hlg_top_rows_choose(&rows, HLG_TOP_BY_RECENT, "");
	for (unsigned columns = 1; columns < 130; columns += columns < 12 ? 1 : 7)
		for (unsigned n = 1; n < 45; n += n < 8 ? 1 : 5) {
			struct hlg_top_shown shown = {
				.judged = _i ? judged : NULL,
				.rows = _i ? &rows : NULL,
				.event = "cpu-clock",
				.window = 10,
				.screen = {.columns = columns, .lines = n}};
			struct hlg_top_keys keys = {.mode = modes[n % 3], .filter = "x"};
			struct hlg_top_frame frame;
			size_t told =
				0; /* lines of it: a quarter of the screen, or six */

			hlg_top_frame_build(&frame, &shown, &keys, &pane,
					    n % 2 ? NULL : message);
			ck_assert(!frame.lost);
			ck_assert_uint_eq(frame.n, n);
			for (size_t i = 0; i < frame.n; i++) {
				ck_assert_int_le(hlg_table_cells(frame.lines[i].text),
						 (long)columns);
				told += frame.lines[i].look == HLG_TOP_KEYS;
			}
			ck_assert_uint_le(told, n < 8 ? 1 : n < 24 ? n / 4 : 6);
			hlg_top_frame_finish(&frame);
		}
	hlg_top_rows_finish(&rows);
	hlg_top_judge_finish(judged);
	finish(&live);
}
END_TEST

/* A guest that came later and does not go with the others is left out after a while, if
 * more may come; what was shown before stays. */
START_TEST(left_out)
{
	static const struct hlg_top_request request = {.window = 10, .every = 1};
	struct hlg_top_guests guests = {.comes = _i == 0};
	struct hlg_top_view view = {.request = &request, .guests = &guests};
	struct hlg_err err;
	struct live live;

	begin(&live);
	add(&live, 300);
	view.given = &live.given;
	ck_assert(hlg_top_view_begin(&view, 0));
	ck_assert_int_eq(hlg_top_guests_option(&guests, guest, &err), 0);
	guests.n_images = 1;
	hlg_top_view_refresh(&view, live.now);
	ck_assert_ptr_nonnull(view.judged);
	ck_assert_int_eq(hlg_top_guests_option(&guests, "nowhere.elf", &err), 0);
	guests.n_images = 2;
	hlg_top_view_refresh(&view, live.now += 1000000000);
	ck_assert_str_eq(view.message, "nowhere.elf: no such file (check the path)");
	ck_assert_uint_eq(guests.n_images, 2);
	add(&live, 300);
	hlg_top_view_refresh(&view, live.now += 10000000000);
	ck_assert_uint_eq(guests.n_images, _i == 0 ? 1 : 2);
	hlg_top_view_refresh(&view, live.now += 10000000000);
	ck_assert_ptr_nonnull(view.judged);
	ck_assert(!view.failed);
	ck_assert_uint_eq(view.misjudged_at == 0, _i == 0);
	if (_i == 0)
		ck_assert_str_eq(view.message, "nowhere.elf is left out: nowhere.elf: no "
					       "such file (check the path)");
	ck_assert_ptr_null(_i == 0 ? hlg_top_guests_leave(&guests) : NULL);
	hlg_top_view_finish(&view);
	hlg_top_guests_finish(&guests);
	finish(&live);
}
END_TEST

/* A view of these guests, on a recording with samples; words end with NULL. */
static void begin_guests(struct hlg_top_view *view, struct live *live,
			 const char *const *words)
{
	static const struct hlg_top_request request = {.window = 10, .every = 1};
	struct hlg_err err;

	begin(live);
	add(live, 300);
	view->request = &request;
	view->given = &live->given;
	ck_assert(hlg_top_view_begin(view, 0));
	for (; *words; words++, view->guests->n_images++)
		ck_assert_int_eq(hlg_top_guests_option(view->guests, *words, &err), 0);
}

static void finish_guests(struct hlg_top_view *view, struct live *live)
{
	hlg_top_view_finish(view);
	hlg_top_guests_finish(view->guests);
	finish(live);
}

/* Each that came later and does not fit has its own five seconds; what is noted beside a
 * recording are those that stay. */
START_TEST(one_by_one)
{
	static const char *const words[] = {guest, "nowhere.elf", "neither.elf", NULL};
	static const unsigned seconds[] = {1, 2, 7, 8, 11, 13, 14, 30};
	static const size_t left[] = {3, 3, 2, 2, 2, 1, 1, 1};
	const char *paths[HLG_BESIDE_GUESTS];
	struct hlg_top_guests guests = {.comes = true};
	struct hlg_top_view view = {.guests = &guests};
	struct live live;

	begin_guests(&view, &live, words);
	for (size_t i = 0; i < sizeof(left) / sizeof(left[0]); i++) {
		hlg_top_view_refresh(&view, seconds[i] * UINT64_C(1000000000));
		ck_assert_uint_eq(guests.n_images, left[i]);
		ck_assert_uint_eq(hlg_top_guests_paths(&guests, &live.options, paths),
				  left[i]);
		for (size_t k = 0; k < left[i]; k++)
			ck_assert_str_eq(paths[k], words[k]);
	}
	ck_assert_ptr_nonnull(view.judged);
	finish_guests(&view, &live);
}
END_TEST

/* Guests that were there together stay, whatever fails later, with what is known. */
START_TEST(stay)
{
	static const char *const words[] = {guest, "other.elf@0x40000000", NULL};
	struct hlg_top_guests guests = {.comes = true};
	struct hlg_top_view view = {.guests = &guests};
	struct hlg_top_judged *judged;
	struct live live;

	kit_guest("other.elf");
	begin_guests(&view, &live, words);
	hlg_top_view_refresh(&view, live.now);
	judged = view.judged;
	ck_assert_ptr_nonnull(judged);
	ck_assert_int_eq(remove(guest), 0);
	for (int i = 0; i < 3; i++) {
		add(&live, 300);
		hlg_top_view_refresh(&view, live.now += 10000000000);
		ck_assert_uint_ne(view.misjudged_at, 0);
		ck_assert_uint_eq(guests.n_images, 2);
		ck_assert_ptr_eq(view.judged, judged);
	}
	ck_assert_ptr_null(hlg_top_guests_leave(&guests));
	finish_guests(&view, &live);
}
END_TEST

/* At the end there is no time for that: the only table is of those that fit. */
START_TEST(left_at_end)
{
	static const char *const words[] = {guest, "nowhere.elf", "neither.elf", NULL};
	struct hlg_top_guests guests = {.comes = _i == 0};
	struct hlg_top_view view = {.guests = &guests, .ended = true};
	struct live live;

	begin_guests(&view, &live, words);
	hlg_top_view_refresh(&view, live.now);
	ck_assert_uint_eq(view.judged != NULL, _i == 0);
	ck_assert_uint_eq(view.failed, _i != 0);
	ck_assert_uint_eq(guests.n_images, _i == 0 ? 1 : 3);
	finish_guests(&view, &live);
}
END_TEST

/* Ways to a function on a narrow screen, and where no sample has a caller. */
START_TEST(ways)
{
	char *words[] = {guest, (char *)"--force=yes", (char *)"--stacks=callgraph"};
	const uint64_t caller = KIT_BASE + 0x1005, ip = KIT_BASE + 0x1060;
	const struct hlg_screen screen = {.columns = 30, .lines = 24};
	struct hlg_top_panes pane = {.n = 0};
	struct hlg_stacks stacks = {0};
	struct hlg_err err = {0};
	struct live live;

	begin(&live);
	add(&live, 300);
	ck_assert(hlg_stacks_init(&stacks, &live.options));
	if (_i == 1)
		hlg_stacks_add(&stacks,
			       &(struct hlg_stack){.guest = true,
						   .ip = ip,
						   .chain = hlg_chains_add(&stacks.chains,
									   &caller, 1),
						   .count = {1, 1000}});
	live.given.stacks = &stacks;
	ck_assert_msg(hlg_top_panes_callers(&pane, 3, words, &live.given, ip, &screen,
					    &err) == 0,
		      "%s", err.msg);
	ck_assert_uint_ge(pane.n, _i ? 9 : 4);
	ck_assert_str_eq(pane.lines[_i ? pane.n - 5 : 0],
			 _i ? "65 more samples, of which no"
			    : "66 samples, of which no caller");
	ck_assert_str_eq(pane.lines[pane.n - 1],
			 _i ? "never" : "of the first moments never");
	for (size_t i = _i ? pane.n - 5 : 0; i < pane.n; i++)
		ck_assert_int_le(hlg_table_cells(pane.lines[i]), 30);
	if (_i) {
		ck_assert_str_eq(pane.lines[0], "1 sample, 1 way to it");
		/* More than the least that a name has, and no more than there is. */
		ck_assert_int_gt(hlg_table_cells(pane.lines[4]), 17 + 8);
		ck_assert_int_le(hlg_table_cells(pane.lines[4]), 30);
	}
	hlg_top_panes_finish(&pane);
	hlg_stacks_finish(&stacks);
	finish(&live);
}
END_TEST

/* A guest that keeps no frame pointers has no callers, however long one waits. */
START_TEST(frameless)
{
	char *words[] = {(char *)DATA "/demo.elf", (char *)"--stacks=callgraph"};
	const uint64_t caller = 0x5290, ip = 0x52db;
	const struct hlg_screen screen = {.columns = 60, .lines = 24};
	struct hlg_top_panes pane = {.n = 0};
	struct hlg_stacks stacks = {0};
	struct hlg_err err = {.code = 0};
	struct live live;

	begin(&live);
	add_one(&live, ip - KIT_BASE);
	ck_assert(hlg_stacks_init(&stacks, &live.options));
	hlg_stacks_add(&stacks, &(struct hlg_stack){.guest = true,
						    .ip = ip,
						    .chain = hlg_chains_add(
							    &stacks.chains, &caller, 1),
						    .count = {1, 1000}});
	live.given.stacks = &stacks;
	ck_assert_msg(hlg_top_panes_callers(&pane, 2, words, &live.given, ip, &screen,
					    &err) == 0,
		      "%s", err.msg);
	ck_assert_uint_gt(pane.n, 1);
	ck_assert_str_eq(pane.lines[0],
			 "1 sample, whose callers are left out, because they would be");
	hlg_top_panes_finish(&pane);
	hlg_stacks_finish(&stacks);
	finish(&live);
}
END_TEST

/* Before there are samples enough for anything, it waits; at the end it fails. */
START_TEST(waits)
{
	static const struct hlg_top_request request = {.window = 10, .every = 1};
	struct hlg_top_guests guests = {.n = 0};
	struct hlg_top_view view = {.request = &request, .guests = &guests};
	struct hlg_err err;
	struct live live;

	begin(&live);
	add(&live, 300);
	view.given = &live.given;
	ck_assert(hlg_top_view_begin(&view, 0));
	ck_assert_int_eq(hlg_top_guests_option(&guests, "nowhere.elf", &err), 0);
	guests.n_images = 1;
	hlg_top_view_refresh(&view, live.now);
	ck_assert(!view.failed);
	view.ended = true;
	hlg_top_view_refresh(&view, live.now + 1);
	ck_assert(view.failed);
	ck_assert_str_eq(view.err.msg, "nowhere.elf: no such file (check the path)");
	hlg_top_view_finish(&view);
	hlg_top_guests_finish(&guests);
	finish(&live);
}
END_TEST

/* Keys that are typed at once: each finds the rows that the last one left. */
START_TEST(keys_at_once)
{
	static const struct hlg_top_request request = {.window = 10, .every = 1};
	struct hlg_top_guests guests = {.n_images = 1};
	struct live live;
	struct hlg_top_view view = {.request = &request, .guests = &guests};

	begin(&live);
	add(&live, 300);
	view.given = &live.given;
	ck_assert(hlg_top_view_begin(&view, 0));
	ck_assert(hlg_top_window_close(&view.window, &live.profile, 0, live.now));
	view.judged = judge(&live);
	ck_assert_int_eq(
		hlg_top_rows_build(&view.rows, view.judged, &view.window, &view.err), 0);
	hlg_top_keys_fit(&view.keys, view.rows.n, 10);
	hlg_top_view_press(&view, HLG_TOP_KEY_END);
	ck_assert_uint_gt(view.keys.cursor, 0);
	if (_i == 0) {
		hlg_top_view_press(&view, 'z');
	} else {
		for (const char *key = "/nowhere"; *key; key++)
			hlg_top_view_press(&view, *key);
		hlg_top_view_press(&view, HLG_TOP_KEY_ENTER);
	}
	ck_assert_uint_eq(view.rows.n, 0);
	ck_assert_uint_eq(view.keys.n, 0);
	ck_assert_uint_eq(view.keys.cursor, 0);
	hlg_top_view_press(&view, HLG_TOP_KEY_ENTER);
	ck_assert_int_eq(view.keys.mode, HLG_TOP_TABLE);
	ck_assert_str_eq(view.message, "");
	hlg_top_view_finish(&view);
	finish(&live);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("top rows");
	TCase *tc = tap_case(suite, "rows");

	tcase_add_checked_fixture(tc, kit_enter, kit_leave);
	tcase_add_loop_test(tc, same_as_report, 1, 6);
	tcase_add_test(tc, chosen);
	tcase_add_test(tc, too_few);
	tcase_add_loop_test(tc, every_size, 0, 2);
	tcase_add_loop_test(tc, left_out, 0, 2);
	tcase_add_test(tc, one_by_one);
	tcase_add_test(tc, stay);
	tcase_add_loop_test(tc, left_at_end, 0, 2);
	tcase_add_loop_test(tc, ways, 0, 2);
	tcase_add_test(tc, frameless);
	tcase_add_test(tc, waits);
	tcase_add_loop_test(tc, keys_at_once, 0, 2);
	return tap_main(suite);
}
