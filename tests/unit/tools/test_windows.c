// SPDX-License-Identifier: GPL-2.0-only
/*
 * Counter windows from recordings made by hand: the tutorial's figures, zero deltas,
 * marks, sums over time and over places, markers and their pairs; and the figures of a
 * spread against tables.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config.h"
#include "tests/kit/perfdata.h"
#include "tests/kit/tap.h"
#include "tools/windows/notes.h"
#include "tools/windows/pairs.h"
#include "tools/windows/rate.h"
#include "tools/windows/strip.h"

#define TYPE                                                                             \
	(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |  \
	 PERF_SAMPLE_CPU | PERF_SAMPLE_READ)
#define MAX 7

static const uint64_t six[] = {
	PERF_COUNT_HW_INSTRUCTIONS,   PERF_COUNT_HW_CPU_CYCLES,
	PERF_COUNT_HW_REF_CPU_CYCLES, PERF_COUNT_HW_BRANCH_INSTRUCTIONS,
	PERF_COUNT_HW_BRANCH_MISSES,  PERF_COUNT_HW_CACHE_REFERENCES,
	PERF_COUNT_HW_CACHE_MISSES};

/* A recording in the making: a group of n hardware counters, ids from 10 and 20. */
struct made {
	struct kit_event events[MAX];
	size_t n;
	unsigned cpu; /* added to the set's */
	unsigned pid; /* added to 1 */
	struct kit records, file;
	const uint8_t *order; /* of values: which event each is of; NULL: their own */
};

static void begin(struct made *m, size_t n)
{
	static const char *const names[] = {
		"instructions",  "cycles",           "ref-cycles",  "branches",
		"branch-misses", "cache-references", "cache-misses"};

	*m = (struct made){.n = n};
	for (size_t i = 0; i < n; i++)
		m->events[i] = (struct kit_event){
			{.type = PERF_TYPE_HARDWARE,
			 .config = six[i],
			 .sample_period = i ? 0 : 512000,
			 .sample_type = TYPE,
			 .read_format = PERF_FORMAT_ID | PERF_FORMAT_GROUP},
			{10 + i, 20 + i},
			names[i]};
}

/* A sample of counter set 1 or 2, at its thread's address; values are running totals. */
static void add(struct made *m, unsigned set, uint32_t tid, uint64_t time, uint16_t misc,
		const uint64_t *values)
{
	size_t start = kit_begin(&m->records, PERF_RECORD_SAMPLE, misc);

	kit_u64(&m->records, 10 * set);
	kit_u64(&m->records, 0x4000);
	kit_u32(&m->records, 1 + m->pid);
	kit_u32(&m->records, tid);
	kit_u64(&m->records, time);
	kit_u64(&m->records, set - 1 + m->cpu);
	kit_u64(&m->records, m->n);
	for (size_t i = 0; i < m->n; i++) {
		kit_u64(&m->records, values[i]);
		kit_u64(&m->records, 10 * set + (m->order ? m->order[i] : i));
	}
	kit_end(&m->records, start);
}

struct got {
	struct hlg_windows w;
	struct hlg_profile profile;
	struct hlg_options options;
	struct hlg_err err;
	int rc;
};

/* between: instead of the marker, where that is NULL; or NULL, too. */
static void read_marked(struct got *g, struct made *m,
			const struct hlg_windows_marker *marker,
			const struct hlg_between *between)
{
	const char *path;

	memset(g, 0, sizeof(*g));
	ck_assert_int_eq(hlg_options_parse(&g->options, 0, NULL, &g->err), 0);
	g->options.mode = HLG_SHOW_ALL;
	ck_assert(hlg_profile_init(&g->profile, &g->options));
	kit_file(&m->file, m->events, m->n, &m->records, 0);
	path = kit_name(m->file.at, m->file.n);
	g->rc = between ? hlg_between_read(&g->w, path, &g->profile, between, &g->err)
			: hlg_windows_read(&g->w, path, &g->profile, marker, &g->err);
	kit_unname(path);
	kit_free(&m->file);
	kit_free(&m->records);
}

static void read_made(struct got *g, struct made *m,
		      const struct hlg_windows_marker *marker)
{
	read_marked(g, m, marker, NULL);
}

static void finish(struct got *g)
{
	hlg_windows_read_finish(&g->w);
	hlg_profile_finish(&g->profile);
	hlg_options_finish(&g->options);
}

static int write_csv(FILE *f, const struct hlg_windows *w,
		     const struct hlg_windows_style *style, struct hlg_err *err)
{
	struct hlg_records to = {f, hlg_format_find(hlg_format_filter, "csv"), NULL};

	return hlg_windows_records(&to, w, style, err);
}

/* What a writer makes of it, without its notes; to be freed. */
static char *text_of(const struct hlg_windows *w, struct hlg_windows_style style,
		     int (*write)(FILE *, const struct hlg_windows *,
				  const struct hlg_windows_style *, struct hlg_err *))
{
	char *text, *at;
	size_t size;
	FILE *f = open_memstream(&text, &size);
	struct hlg_err err;

	ck_assert_int_eq(write(f, w, &style, &err), 0);
	ck_assert_int_eq(fclose(f), 0);
	while ((at = strstr(text, "\nnote,")))
		memmove(at, strchr(at + 1, '\n'), strlen(strchr(at + 1, '\n')) + 1);
	return text;
}

/* HPCTool's tutorials 1 and 2: an IPC of 0.7816, and of 0.883. */
START_TEST(tutorial)
{
	static const uint64_t a[] = {7348872, 9402846, 9000000},
			      b[] = {7348872 + 9233128, 9402846 + 10451837,
				     9000000 + 9527850};
	struct made m;
	struct got g;
	char *text;

	begin(&m, 3);
	add(&m, 1, 7, 1000000000, 2, a);
	add(&m, 1, 7, 2500000001, 2, b);
	read_made(&g, &m, NULL);
	ck_assert_int_eq(g.rc, 0);
	text = text_of(&g.w, (struct hlg_windows_style){.rates = true}, write_csv);
	ck_assert_str_eq(
		text, "record,name,time,pid,tid,cpu,instructions,cycles,ref-cycles,"
		      "ipc,mark\n"
		      "window,,1.000000000,1,7,0,7348872,9402846,9000000,0.7816,first\n"
		      "window,,2.500000001,1,7,0,9233128,10451837,9527850,0.8834,last\n");
	free(text);
	text = text_of(&g.w, (struct hlg_windows_style){.hpctool = true}, write_csv);
	ck_assert_str_eq(text, "ins,l_cycle,ref_cycle\n7348872,9402846,9000000\n"
			       "9233128,10451837,9527850\n");
	free(text);
	finish(&g);
}
END_TEST

START_TEST(all_columns)
{
	static const uint64_t a[] = {1000, 2000, 1500, 200, 10, 40, 8},
			      b[] = {2000, 2000, 1500, 200, 10, 40, 8};
	struct made m;
	struct got g;
	char *text;

	begin(&m, 7);
	add(&m, 1, 7, 1000000000, 2, a);
	add(&m, 1, 7, 2000000000, 2, b); /* the others have not moved */
	read_made(&g, &m, NULL);
	text = text_of(&g.w, (struct hlg_windows_style){.hpctool = true}, write_csv);
	ck_assert_str_eq(text, "ins,l_cycle,ref_cycle,event1,event2,event3,event4\n"
			       "1000,2000,1500,200,10,40,8\n1000,0,0,0,0,0,0\n");
	free(text);
	text = text_of(&g.w, (struct hlg_windows_style){.rates = true}, write_csv);
	ck_assert_ptr_nonnull(strstr(text, "40,8,0.5000,5.000,20.000,first\n"));
	ck_assert_ptr_nonnull(strstr(text, ",0,0,0,0,0,0,,,,last\n"));
	free(text);
	ck_assert(hlg_windows_rate_are_hpctool(&g.w));
	for (size_t i = 0; i < 3; i++) {
		const enum hlg_counter right = g.w.columns[i].counter;

		for (int counter = 0; counter <= HLG_COUNTER_TIME; counter++) {
			g.w.columns[i].counter = (enum hlg_counter)counter;
			ck_assert_int_eq(hlg_windows_rate_are_hpctool(&g.w),
					 (enum hlg_counter)counter == right);
		}
		g.w.columns[i].counter = right;
	}
	finish(&g);
}
END_TEST

/* Two counters' windows in the order of time, and in intervals of a second. */
START_TEST(sets_and_intervals)
{
	struct hlg_select_window window;
	static const uint64_t v[][1] = {{100}, {250}, {70}, {400}, {90}};
	struct made m;
	struct got g;
	char *text;

	begin(&m, 1);
	add(&m, 1, 7, 1000000000, 2, v[0]);
	add(&m, 1, 7, 1900000000, 5, v[1]);
	add(&m, 1, 7, 3100000000, 2, v[3]);
	add(&m, 2, 8, 1500000000, 2, v[2]);
	add(&m, 2, 7, 1999999999, 2, v[4]);
	read_made(&g, &m, NULL);
	text = text_of(&g.w, (struct hlg_windows_style){0}, write_csv);
	ck_assert_str_eq(text, "record,name,time,pid,tid,cpu,instructions,mark\n"
			       "window,,1.000000000,1,7,0,100,first\n"
			       "window,,1.500000000,1,8,1,70,first\n"
			       "window,,1.900000000,1,7,0,150,\n"
			       "window,,1.999999999,1,7,1,20,last\n"
			       "window,,3.100000000,1,7,0,150,last\n");
	free(text);
	ck_assert(hlg_windows_rows_bin(&g.w, 1000000000));
	text = text_of(&g.w, (struct hlg_windows_style){0}, write_csv);
	ck_assert_str_eq(text, "record,name,time,pid,tid,cpu,instructions,windows,mark\n"
			       "window,,2.000000000,1,7,,270,3,first;last\n"
			       "window,,2.000000000,1,8,1,70,1,first\n"
			       "window,,4.000000000,1,7,0,150,1,last\n");
	free(text);
	window = hlg_select_window(&g.options);
	g.options.mode = HLG_SHOW_GUEST;
	hlg_windows_rows_select(&g.w, &g.options, &window);
	ck_assert_uint_eq(g.w.n_rows, 0);
	finish(&g);
}
END_TEST

/* Sums of sums; of what a thread's, not its process's, number asks for. */
START_TEST(sums_of_sums)
{
	struct hlg_select_window window;
	uint64_t total = 0;
	struct made m;
	struct got g;

	begin(&m, 1);
	for (uint64_t i = 0; i < 20; i++) {
		total += 10 + i;
		add(&m, 1, i % 2 ? 7 : 8, 1000000000 + i * 500000000, 2, &total);
	}
	read_made(&g, &m, NULL);
	ck_assert(hlg_windows_rows_bin(&g.w, 1000000000));
	ck_assert_uint_eq(g.w.n_rows, 20);
	for (size_t i = 0; i < 20; i++)
		ck_assert_uint_eq(g.w.rows[i].time, (2 + i / 2) * UINT64_C(1000000000));
	ck_assert(hlg_windows_rows_bin(&g.w, 4000000000));
	ck_assert(hlg_windows_rows_bin(&g.w, 100000000000));
	ck_assert_uint_eq(g.w.n_rows, 2);
	ck_assert_uint_eq(g.w.rows[0].windows, 10);
	ck_assert_uint_eq(g.w.rows[1].windows, 10);
	ck_assert_uint_eq(hlg_windows_counts(&g.w, 0)[0] +
				  hlg_windows_counts(&g.w, 1)[0],
			  total);
	hlg_options_finish(&g.options);
	ck_assert_int_eq(hlg_options_parse(&g.options, 1,
					   (char *[]){(char[]){"tid=8"}}, &g.err),
			 0);
	g.options.mode = HLG_SHOW_ALL;
	window = hlg_select_window(&g.options);
	hlg_windows_rows_select(&g.w, &g.options, &window);
	ck_assert_uint_eq(g.w.n_rows, 1);
	ck_assert_int_eq(g.w.rows[0].tid, 8);
	ck_assert_int_eq(g.w.rows[0].pid, 1);
	finish(&g);
}
END_TEST

/* Each number stands in its own note, and a note in no other's place. */
START_TEST(all_notes)
{
	char name[] = "it", other[] = "that";
	struct hlg_windows_column column = {name, 0, HLG_COUNTER_OTHER};
	struct hlg_windows w = {.columns = &column, .n_columns = 1, .read = 11};
	static const char *const told[] = {"11 windows were recorded, sampled by it",
					   ("12 windows of other groups are not here "
					    "(--event=that shows some)"),
					   "13 samples belong to no group",
					   "14 counts are shown as 0",
					   "15 counts are of events"};
	struct hlg_note_list notes = {0};

	hlg_windows_notes(&notes, &w);
	ck_assert_uint_eq(notes.n, 3);
	hlg_note_list_finish(&notes);
	w.other_groups = 12;
	w.other = other;
	w.plain = 13;
	w.back = 14;
	w.strangers = 15;
	hlg_windows_notes(&notes, &w);
	ck_assert_uint_eq(notes.n, 7);
	for (size_t i = 0; i < 5; i++)
		ck_assert_msg(strncmp(notes.line[i ? i + 2 : 0], told[i],
				      strlen(told[i])) == 0,
			      "%s", notes.line[i ? i + 2 : 0]);
	hlg_note_list_finish(&notes);
}
END_TEST

/* A column is as wide as its largest count; a share is of all windows, also of sums. */
START_TEST(widths_and_shares)
{
	char name[] = "it", f[] = "f", g[] = "g";
	struct hlg_windows_column column = {name, 0, HLG_COUNTER_CYCLES};
	struct hlg_windows_place places[] = {{.name = f}, {.name = g}};
	struct hlg_windows_row rows[] = {{.at = 0, .windows = 9, .place = 1},
					 {.at = 1, .windows = 3, .place = 0},
					 {.at = 2, .windows = 5, .place = HLG_NO_PLACE}};
	uint64_t counts[] = {5, 123456789012, 7};
	struct hlg_windows w = {.columns = &column,
				.n_columns = 1,
				.rows = rows,
				.n_rows = 3,
				.counts = counts,
				.places = places,
				.n_places = 2};
	struct hlg_windows_columns c;
	struct hlg_strip strip;
	char *text, *rest;
	size_t size;
	FILE *out;

	ck_assert(hlg_windows_columns_make(&c, &w, NULL, 0, NULL, 0, true));
	ck_assert_uint_eq(c.n, 1); /* a rate has both its counters, or is none */
	ck_assert_int_eq(c.column[0].width, 12);
	hlg_windows_columns_finish(&c);
	column.counter = HLG_COUNTER_INSTRUCTIONS;
	ck_assert(!hlg_windows_rate_known(&w, &hlg_rates[0]));
	out = open_memstream(&text, &size);
	ck_assert(hlg_windows_sums(out, &w, &(struct hlg_screen){0}, 1, &hlg_table_text));
	ck_assert_int_eq(fclose(out), 0);
	rest = strstr(text, "  (2 more, ");
	ck_assert_ptr_nonnull(rest); /* than the first, which has nearly all */
	ck_assert_ptr_null(strstr(rest, "100"));
	free(text);
	memset(counts, 0, sizeof(counts)); /* a share of nothing is none */
	out = open_memstream(&text, &size);
	ck_assert(hlg_windows_sums(out, &w, &(struct hlg_screen){0}, 3, &hlg_table_text));
	ck_assert_int_eq(fclose(out), 0);
	ck_assert_ptr_nonnull(strstr(text, "\n   0.00 "));
	ck_assert_ptr_null(strstr(text, "nan"));
	/* Places that have as much stand in their order. */
	ck_assert_ptr_nonnull(strstr(text, "  f\n"));
	ck_assert_ptr_nonnull(strstr(strstr(text, "  f\n"), "  g\n"));
	free(text);
	ck_assert(hlg_strip_make(&strip, &w));
	ck_assert_uint_eq(strip.all, 12);
	ck_assert_uint_eq(strip.n, 2);
	ck_assert_uint_eq(strip.places[0], 1);
	ck_assert_uint_eq(strip.windows[0], 9);
	ck_assert_uint_eq(strip.windows[1], 3);
	/* Two names are a row of the legend; of three one has a row of its own. */
	for (strip.n = 1; strip.n <= 4; strip.n++)
		ck_assert_uint_eq(hlg_strip_height(&strip),
				  14 + 8 + (strip.n <= 2 ? 18 : 36));
}
END_TEST

/* Counters that go back count nothing; a sum past 2^64, wherever it passes that, and a time
 * past the last are told. */
START_TEST(impossible_counts)
{
	static const uint64_t v[][1] = {{0}, {INT64_MAX}, {0},
					{INT64_MAX}, {1}, {INT64_MAX},
					{INT64_MAX + UINT64_C(5)}};
	struct made m;
	struct got g;
	struct hlg_note_list notes = {0};

	begin(&m, 1);
	for (uint64_t i = 0; i < 7; i++)
		add(&m, 1, 7, UINT64_MAX - 7 + i, 2, v[i]);
	read_made(&g, &m, NULL);
	ck_assert_int_eq(g.rc, 0);
	ck_assert_uint_eq(g.w.back, 2);
	ck_assert(g.w.overflow);
	hlg_windows_notes(&notes, &g.w);
	ck_assert(!notes.lost);
	ck_assert_uint_eq(notes.n, 5);
	ck_assert_ptr_nonnull(strstr(notes.line[3], "2 counts are shown as 0"));
	ck_assert_ptr_nonnull(strstr(notes.line[4], "COUNTS ADD UP TO MORE THAN 2^64"));
	hlg_note_list_finish(&notes);
	ck_assert(hlg_windows_rows_bin(&g.w, 1000000000));
	ck_assert_uint_eq(g.w.n_rows, 1);
	ck_assert_uint_eq(g.w.rows[0].time, UINT64_MAX);
	finish(&g);
}
END_TEST

/* A member that the first window lacks is left out and told; a frequency is no period;
 * counters that are inherited are not of one thread; samples that were lost are told. */
START_TEST(odd_groups)
{
	static const uint64_t a[] = {100, 7}, b[] = {250, 9}, c[] = {255, 12};
	struct hlg_note_list notes = {0};
	char sampled[HLG_WINDOWS_SAMPLED];
	struct made m;
	struct got g;
	size_t start;

	begin(&m, 2);
	m.events[0].attr.freq = 1;
	m.events[0].attr.enable_on_exec = m.events[0].attr.inherit = 1;
	m.n = 1;
	add(&m, 1, 7, 10, 2, a);
	m.n = 2;
	add(&m, 1, 7, 20, 2, b);
	add(&m, 1, 7, 30, 2, c);
	start = kit_begin(&m.records, PERF_RECORD_LOST_SAMPLES, 0);
	kit_u64(&m.records, 3);
	kit_end(&m.records, start);
	read_made(&g, &m, NULL);
	ck_assert_int_eq(g.rc, 0);
	ck_assert_uint_eq(g.w.lacks.lost, 3);
	ck_assert_uint_eq(g.w.n_columns, 1);
	ck_assert_uint_eq(hlg_windows_counts(&g.w, 1)[0], 150);
	ck_assert_uint_eq(g.w.strangers, 2);
	ck_assert(!g.w.one_thread);
	ck_assert_str_eq(hlg_windows_notes_sampled(sampled, &g.w),
			 "sampled by instructions");
	hlg_windows_notes(&notes, &g.w);
	ck_assert_ptr_nonnull(strstr(notes.line[notes.n - 1], "2 counts are of events"));
	hlg_note_list_finish(&notes);
	finish(&g);
}
END_TEST

/* A member counts in its column, wherever it stands in a group. */
START_TEST(behind_a_stranger)
{
	static const uint64_t v[][3] = {{100, 7}, {250, 40, 9}, {255, 50, 12}};
	static const uint8_t order[] = {0, 2, 1};
	struct made m;
	struct got g;

	begin(&m, 3);
	m.n = 2;
	add(&m, 1, 7, 10, 2, v[0]);
	m.n = 3;
	m.order = order;
	add(&m, 1, 7, 20, 2, v[1]);
	add(&m, 1, 7, 30, 2, v[2]);
	read_made(&g, &m, NULL);
	ck_assert_int_eq(g.rc, 0);
	ck_assert_uint_eq(g.w.n_columns, 2);
	ck_assert_uint_eq(g.w.strangers, 2);
	for (size_t i = 1; i < 3; i++) {
		ck_assert_uint_eq(hlg_windows_counts(&g.w, i)[0], v[i][0] - v[i - 1][0]);
		ck_assert_uint_eq(hlg_windows_counts(&g.w, i)[1], i + 1);
	}
	finish(&g);
}
END_TEST

/* A group of another leader is none of these windows, though nothing says which are asked
 * for, and the first group has its leader, too. */
START_TEST(second_group)
{
	static const uint64_t v[][2] = {{100, 7}, {250, 9}};
	struct made m;
	struct got g;
	size_t start;

	begin(&m, 2);
	add(&m, 1, 7, 10, 2, v[0]);
	start = kit_begin(&m.records, PERF_RECORD_SAMPLE, 2);
	kit_u64(&m.records, 11);
	kit_u64(&m.records, 0x4000);
	kit_u32(&m.records, 1);
	kit_u32(&m.records, 7);
	kit_u64(&m.records, 15);
	kit_u64(&m.records, 0);
	kit_u64(&m.records, 1);
	kit_u64(&m.records, 8);
	kit_u64(&m.records, 11);
	kit_end(&m.records, start);
	add(&m, 1, 7, 20, 2, v[1]);
	read_made(&g, &m, NULL);
	ck_assert_int_eq(g.rc, 0);
	ck_assert_uint_eq(g.w.n_rows, 2);
	ck_assert_uint_eq(hlg_windows_counts(&g.w, 1)[0], 150);
	ck_assert_uint_eq(g.w.other_groups, 1);
	ck_assert_str_eq(g.w.other, "cycles");
	finish(&g);
}
END_TEST

/* A time is told in the largest unit of which it is a whole number. */
START_TEST(periods)
{
	static const struct {
		uint64_t period;
		enum hlg_counter counter;
		const char *told;
	} all[] = {
		{0, HLG_COUNTER_TIME, "sampled by it"},
		{1, HLG_COUNTER_TIME, "sampled at every it"},
		{1500, HLG_COUNTER_TIME, "sampled every 1500 ns of it"},
		{2000, HLG_COUNTER_TIME, "sampled every 2 us of it"},
		{30000000, HLG_COUNTER_TIME, "sampled every 30 ms of it"},
		{UINT64_C(4000000000000), HLG_COUNTER_TIME, "sampled every 4000 s of it"},
		{2000, HLG_COUNTER_CYCLES, "sampled every 2000 of it"},
	};
	char name[] = "it", sampled[HLG_WINDOWS_SAMPLED];
	struct hlg_windows_column column = {.name = name, .counter = all[_i].counter};
	const struct hlg_windows w = {
		.columns = &column, .n_columns = 1, .period = all[_i].period};

	ck_assert_str_eq(hlg_windows_notes_sampled(sampled, &w), all[_i].told);
}
END_TEST

START_TEST(no_groups)
{
	struct made m;
	struct got g;

	begin(&m, 1);
	read_made(&g, &m, NULL);
	ck_assert_int_lt(g.rc, 0);
	ck_assert_ptr_nonnull(strstr(g.err.msg, "holds no samples of counter groups"));
	finish(&g);
}
END_TEST

/* Marks samples by the last digit of their time: 0 begins, 1 ends, 2 does both. */
static int can_mark(void *ctx, const struct hlg_perfdata *pd,
		    const struct hlg_perfdata_event *event, bool *is, struct hlg_err *err)
{
	(void)ctx;
	(void)pd;
	(void)err;
	*is = event->index == 0;
	return 0;
}

static uint8_t mark(void *ctx, const struct hlg_perfdata_raw *raw)
{
	uint64_t time = hlg_perfdata_sample(raw).time;

	(void)ctx;
	return (time % 10 % 2 == 0 && time % 10 <= 2 ? HLG_WINDOW_FROM : 0) |
	       (time % 10 == 1 || time % 10 == 2 ? HLG_WINDOW_TO : 0);
}

static const struct hlg_windows_marker marker = {can_mark, mark, "it", NULL};

/* "start-end tid:count ..." of the pairs; with a "?" where there is no CPU. */
static void check_pairs(struct made *m, const char *want, uint64_t alone, uint64_t moved)
{
	struct hlg_pairs pairs = {0};
	char got[512] = "";
	struct got g;

	read_made(&g, m, &marker);
	ck_assert_int_eq(g.rc, 0);
	ck_assert(hlg_pairs_make(&pairs, &g.w));
	ck_assert(hlg_pairs_measure(&pairs));
	for (size_t i = 0; i < pairs.table.n_rows; i++) {
		const uint64_t *counts = hlg_windows_counts(&pairs.table, i);
		const struct hlg_windows_row *row = &pairs.table.rows[i];

		sprintf(got + strlen(got), "%ju-%ju %d:%ju%s ",
			(uintmax_t)(row->time - counts[0]), (uintmax_t)row->time,
			row->tid, (uintmax_t)counts[1], row->cpu < 0 ? "?" : "");
	}
	ck_assert_str_eq(got, want);
	ck_assert_uint_eq(pairs.alone, alone);
	ck_assert_uint_eq(pairs.moved, moved);
	hlg_pairs_finish(&pairs);
	finish(&g);
}

START_TEST(pairs)
{
	static const uint64_t v[][1] = {{5}, {12}, {20}, {40}, {70}, {71}, {90}};
	struct made m;

	/* What is between counts, whoever had the samples: of a CPU's counter. */
	begin(&m, 1);
	add(&m, 1, 7, 10, 2, v[0]);
	add(&m, 1, 8, 15, 2, v[1]);
	add(&m, 1, 7, 21, 2, v[2]);
	add(&m, 1, 7, 31, 2, v[3]); /* an end without a begin */
	add(&m, 1, 7, 40, 2, v[4]); /* begun twice: the second counts */
	add(&m, 1, 7, 50, 2, v[5]);
	add(&m, 1, 7, 61, 2, v[6]);
	check_pairs(&m, "10-21 7:15 50-61 7:19 ", 2, 0);

	/* Two threads, one in the other; and begins that never end. */
	begin(&m, 1);
	add(&m, 1, 7, 10, 2, v[0]);
	add(&m, 1, 8, 20, 2, v[1]);
	add(&m, 1, 7, 31, 2, v[2]);
	add(&m, 1, 8, 41, 2, v[3]);
	add(&m, 1, 7, 50, 2, v[4]);
	add(&m, 1, 8, 60, 2, v[5]);
	check_pairs(&m, "10-31 7:15 20-41 8:28 ", 2, 0);

	/* Begun on one CPU's counter, ended on the other's. */
	begin(&m, 1);
	add(&m, 1, 7, 10, 2, v[0]);
	add(&m, 2, 7, 21, 2, v[1]);
	add(&m, 2, 7, 30, 2, v[2]);
	add(&m, 2, 7, 41, 2, v[3]);
	check_pairs(&m, "30-41 7:20 ", 0, 1);

	/* Begun by a sample that stands behind a later one of the counter: what it had
	 * counted by then is not known; and so at the end. */
	begin(&m, 1);
	add(&m, 1, 8, 15, 2, v[1]);
	add(&m, 1, 7, 10, 2, v[0]);
	add(&m, 1, 7, 21, 2, v[2]);
	check_pairs(&m, "", 0, 1);
	begin(&m, 1);
	add(&m, 1, 7, 10, 2, v[0]);
	add(&m, 1, 8, 25, 2, v[2]);
	add(&m, 1, 7, 21, 2, v[1]);
	check_pairs(&m, "", 0, 1);
	/* The same where the counter went on, though the clock went back. */
	begin(&m, 1);
	add(&m, 1, 7, 21, 2, v[0]);
	add(&m, 1, 7, 10, 2, v[1]);
	check_pairs(&m, "", 0, 1);

	/* Markers alike: each ends one pair and begins the next, in each thread. */
	begin(&m, 1);
	add(&m, 1, 7, 12, 2, v[0]);
	add(&m, 1, 8, 22, 2, v[1]);
	add(&m, 1, 7, 32, 2, v[2]);
	add(&m, 1, 8, 42, 2, v[3]);
	add(&m, 1, 9, 52, 2, v[4]); /* its only one */
	check_pairs(&m, "12-32 7:15 22-42 8:28 ", 1, 0);

	/* A begin behind one that has ended a pair. */
	begin(&m, 1);
	add(&m, 1, 7, 12, 2, v[0]);
	add(&m, 1, 7, 22, 2, v[1]);
	add(&m, 1, 7, 30, 2, v[2]);
	add(&m, 1, 7, 41, 2, v[3]);
	check_pairs(&m, "12-22 7:7 30-41 7:20 ", 0, 0);

	/* The counter went with the thread. */
	begin(&m, 1);
	add(&m, 1, 7, 10, 2, v[0]);
	m.cpu = 3;
	add(&m, 1, 7, 21, 2, v[2]);
	check_pairs(&m, "10-21 7:15? ", 0, 0);

	/* Threads of two processes (of two machines' recordings, say) with one number. */
	begin(&m, 1);
	add(&m, 1, 7, 10, 2, v[0]);
	m.pid = 1;
	add(&m, 1, 7, 21, 2, v[1]);
	check_pairs(&m, "", 2, 0);

	/* Pairs are in the order of their ends, not of their threads. */
	begin(&m, 1);
	add(&m, 1, 8, 10, 2, v[0]);
	add(&m, 1, 8, 21, 2, v[1]);
	add(&m, 1, 7, 30, 2, v[2]);
	add(&m, 1, 7, 41, 2, v[3]);
	check_pairs(&m, "10-21 8:7 30-41 7:20 ", 0, 0);
}
END_TEST

/* A counter that threads inherit has a first and a last window of each. */
START_TEST(windows_of_threads)
{
	static const uint64_t v[][1] = {{5}, {12}, {20}, {40}};
	static const uint8_t marks[] = {HLG_WINDOW_FIRST, HLG_WINDOW_FIRST,
					HLG_WINDOW_LAST, HLG_WINDOW_LAST};
	struct made m;
	struct got g;

	begin(&m, 1);
	m.events[0].attr.enable_on_exec = m.events[0].attr.inherit = 1;
	for (uint32_t i = 0; i < 4; i++)
		add(&m, 1, 7 + i % 2, 10 + i, 2, v[i]);
	read_made(&g, &m, NULL);
	ck_assert_uint_eq(g.w.n_rows, 4);
	for (size_t i = 0; i < 4; i++)
		ck_assert_uint_eq(g.w.rows[i].marks, marks[i]);
	finish(&g);
}
END_TEST

/* A window that stands behind a later one of its counter. */
START_TEST(late_window)
{
	static const uint64_t v[][1] = {{5}, {12}};
	struct made m;
	struct got g;
	char *text;

	begin(&m, 1);
	add(&m, 1, 7, 2000000000, 2, v[1]);
	add(&m, 1, 7, 1000000000, 2, v[0]);
	read_made(&g, &m, NULL);
	text = text_of(&g.w, (struct hlg_windows_style){0}, write_csv);
	ck_assert_ptr_nonnull(strstr(text, "late\n"));
	free(text);
	finish(&g);
}
END_TEST

/* A pair is where its end is: in the guest here. */
START_TEST(pair_of_its_end)
{
	static const uint64_t v[][1] = {{5}, {12}};
	struct hlg_pairs of = {0};
	struct made m;
	struct got g;

	begin(&m, 1);
	add(&m, 1, 7, 10, 2, v[0]);
	add(&m, 1, 7, 21, 5, v[1]);
	read_made(&g, &m, &marker);
	ck_assert(hlg_pairs_make(&of, &g.w));
	ck_assert_uint_eq(of.table.n_rows, 1);
	ck_assert(of.table.rows[0].guest);
	ck_assert(!(of.table.rows[0].marks & HLG_WINDOW_FIRST));
	hlg_pairs_finish(&of);
	finish(&g);
}
END_TEST

/* Twenty outliers are listed, the others counted; what was left out has its own number. */
START_TEST(outliers_listed)
{
	char ns[] = "ns", n[] = "n";
	struct hlg_windows_column columns[] = {{ns, 0, HLG_COUNTER_TIME},
					       {n, 0, HLG_COUNTER_OTHER}};
	struct hlg_windows_row rows[30] = {0};
	uint64_t counts[30][2];
	struct hlg_spread spreads[] = {{.n = 30, .from = 0, .to = 100, .median = 10.5},
				       {.n = 30,
					.from = 5,
					.to = 7,
					.median = 150.25,
					.median_low = 99999.5,
					.median_high = 123456.75,
					.mean = 8}};
	struct hlg_pairs made = {.table = {.columns = columns,
					   .n_columns = 2,
					   .rows = rows,
					   .n_rows = 30,
					   .counts = counts[0]},
				 .alone = 3,
				 .spreads = spreads};
#if HLG_HAVE_JANSSON
	const struct hlg_windows read = {.columns = columns + 1, .n_columns = 1};
#endif
	const struct hlg_windows_style style = {0};
	struct hlg_note_list notes = {0};
	struct hlg_err err;
	char *text, *at = NULL;
	size_t size, listed = 0;
	FILE *f = open_memstream(&text, &size);

	for (size_t i = 0; i < 30; i++) {
		rows[i] = (struct hlg_windows_row){.time = i + 200, .at = i, .tid = 7};
		counts[i][0] = 10;
		counts[i][1] = i < 23 ? 9 : 6;
	}
	ck_assert_int_eq(hlg_pairs_write_text(f, &made, &made.table, &style, &err), 0);
	ck_assert_int_eq(fclose(f), 0);
	for (at = text; (at = strstr(at, "  tid 7  n 9\n")); at++)
		listed++;
	ck_assert_uint_eq(listed, 20);
	ck_assert_ptr_nonnull(strstr(text, "\n    11 ns ")); /* the median, rounded */
	/* Two digits behind the point, up to 100,000 and where there are any. */
	ck_assert_msg(strstr(text, " 150.25  99999.50    123457 "), "%s", text);
	ck_assert_msg(strstr(text, "123457         0         8         0 "), "%s", text);
	ck_assert_ptr_nonnull(strstr(text, "  and 3 more "));
	free(text);
	hlg_pairs_write_notes(&notes, &made, &made.table);
	ck_assert_ptr_nonnull(strstr(notes.line[3], "30 pairs; 3 markers without"));
	ck_assert_int_eq(notes.level[3], HLG_NOTE_PLAIN);
	hlg_note_list_finish(&notes);
	made.alone = 0;
	made.moved = 4;
	hlg_pairs_write_notes(&notes, &made, &made.table);
	ck_assert_ptr_nonnull(strstr(notes.line[3], "0 markers"));
	ck_assert_ptr_nonnull(strstr(notes.line[3], "; 4 pairs left out"));
	ck_assert_int_eq(notes.level[3], HLG_NOTE_PLAIN);
	hlg_note_list_finish(&notes);
#if HLG_HAVE_JANSSON
	made.alone = 3;
	f = open_memstream(&text, &size);
	ck_assert_int_eq(hlg_pairs_write_json(f, &made, &read, &style, &err), 0);
	ck_assert_int_eq(fclose(f), 0);
	ck_assert_ptr_nonnull(strstr(text, "\"events\": [\n  \"ns\",\n  \"n\"\n ]"));
	ck_assert_ptr_nonnull(strstr(text, "\"alone\": 3,"));
	ck_assert_ptr_nonnull(strstr(text, "\"moved\": 4,"));
	free(text);
#endif
}
END_TEST

/* On either side. */
START_TEST(outliers)
{
	struct hlg_spread spread = {.from = 8.75, .to = 14.75};
	const struct hlg_pairs of = {.spreads = &spread};

	for (uint64_t n = 0; n < 20; n++)
		ck_assert_int_eq(hlg_pairs_is_outlier(&of, 0, n), n < 9 || n > 14);
}
END_TEST

START_TEST(spread)
{
	uint64_t values[] = {12, 10, 11, 13, 100, 12, 11}, one[] = {5};
	struct hlg_spread s;

	hlg_spread_of(&s, values, 7);
	ck_assert_uint_eq(s.min, 10);
	ck_assert_uint_eq(s.max, 100);
	ck_assert_double_eq_tol(s.mean, 24.142857, 1e-6);
	ck_assert_double_eq_tol(s.deviation, 33.463555, 1e-6);
	ck_assert_double_eq_tol(s.variation, 138.606441, 1e-4);
	/* t(0.975, 6) = 2.446912 */
	ck_assert_double_eq_tol(s.high - s.mean, 30.948626, 1e-4);
	/* Seven fair coins show no head in 1/128, at most one in 1/16: the outermost. */
	ck_assert_double_eq_tol(s.median_low, 10, 1e-9);
	ck_assert_double_eq_tol(s.median_high, 100, 1e-9);
	/* A time is never below 0, though the mean less t would be. */
	ck_assert_double_eq_tol(s.low, 0, 1e-9);
	ck_assert_double_eq_tol(s.median, 12, 1e-9);
	/* Quartiles 11 and 12.5. */
	ck_assert_double_eq_tol(s.from, 8.75, 1e-9);
	ck_assert_double_eq_tol(s.to, 14.75, 1e-9);
	ck_assert_uint_eq(s.outliers, 1);
	hlg_spread_of(&s, one, 1);
	ck_assert(isnan(s.deviation) && isnan(s.low) && s.mean == 5 && s.outliers == 0);
	ck_assert(isnan(s.median_low) && isnan(s.median_high) && s.median == 5);
	hlg_spread_of(&s, one, 0);
	ck_assert(isnan(s.mean) && s.n == 0);
}
END_TEST

/* The ranks of tables: Conover, Practical Nonparametric Statistics. */
START_TEST(median_ranks)
{
	static const struct {
		size_t n, low; /* 1 is the least value */
	} known[] = {{6, 1},   {8, 1},    {9, 2},      {20, 6},
		     {50, 18}, {100, 40}, {1000, 469}, {1001, 469}};
	static uint64_t values[1001];
	struct hlg_spread s;

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		for (size_t k = 0; k < known[i].n; k++)
			values[k] = k + 1;
		hlg_spread_of(&s, values, known[i].n);
		ck_assert_double_eq(s.median_low, (double)known[i].low);
		ck_assert_double_eq(s.median_high,
				    (double)(known[i].n + 1 - known[i].low));
	}
}
END_TEST

START_TEST(markers)
{
	static const char *const bad[] = {"port:1",
					  "port:1..",
					  "..port:1",
					  "port:x..port:1",
					  "port:1..kvm:kvm_exit:reason=1",
					  "a=1..b=1",
					  "kvm:kvm_pio:..port:1",
					  "kvm:=1..kvm:=1",
					  "kvm:x:=1..kvm:x:=2",
					  "kvm:x:y=1..kvm:x:y=",
					  "a:b:..a:b:",
					  "a:b..a:c",
					  "kvm:x=1..kvm:x=1"};
	struct hlg_between between;
	struct hlg_err err;

	ck_assert_int_eq(hlg_between_parse(&between, "port:101..port:0x6c", &err), 0);
	ck_assert_str_eq(between.from.event, "kvm:kvm_pio");
	ck_assert_str_eq(between.to.field, "port");
	ck_assert_uint_eq(between.from.value, 101);
	ck_assert_uint_eq(between.to.value, 108);
	hlg_between_finish(&between);
	ck_assert_int_eq(hlg_between_parse(&between, "a:b..a:b:c=7", &err), 0);
	ck_assert_ptr_null(between.from.field);
	ck_assert_uint_eq(between.to.value, 7);
	hlg_between_finish(&between);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		ck_assert_msg(hlg_between_parse(&between, bad[i], &err) < 0, "%s",
			      bad[i]);
		hlg_between_finish(&between);
	}
}
END_TEST

/* Where not each tracepoint has a sample, some that would have begun or ended a pair are
 * missing. */
START_TEST(each_marker)
{
	static const uint64_t v[][1] = {{1}, {2}, {3}};
	struct hlg_between between;
	struct hlg_err err;
	struct made m;
	struct got g;

	ck_assert_int_eq(hlg_between_parse(&between, "a:b..a:b", &err), 0);
	for (uint64_t period = 1; period <= 2; period++) {
		begin(&m, 1);
		m.events[0].attr.type = PERF_TYPE_TRACEPOINT;
		m.events[0].attr.sample_period = period;
		m.events[0].name = "a:b";
		for (uint64_t i = 0; i < 3; i++)
			add(&m, 1, 7, 10 + i, 2, v[i]);
		read_marked(&g, &m, NULL, &between);
		ck_assert_int_eq(g.rc < 0, period == 2);
		if (period == 2)
			ck_assert_ptr_nonnull(
				strstr(g.err.msg, "not each a:b has a sample"));
		finish(&g);
	}
	hlg_between_finish(&between);
}
END_TEST

START_TEST(counters)
{
	static const struct {
		const char *name;
		enum hlg_counter counter;
	} raw[] = {
		{"inst_retired.any", HLG_COUNTER_INSTRUCTIONS},
		{"cpu-cycles", HLG_COUNTER_CYCLES},
		{"cpu_clk_unhalted.thread:u", HLG_COUNTER_CYCLES},
		{"cpu/ref-cycles/", HLG_COUNTER_REF_CYCLES},
		{"cpu/cycles,u/", HLG_COUNTER_CYCLES},
		{"cpu_clk_unhalted.ref_tsc", HLG_COUNTER_REF_CYCLES},
		{"branches", HLG_COUNTER_BRANCHES},
		{"branch-instructions", HLG_COUNTER_BRANCHES},
		{"br_inst_retired.all_branches", HLG_COUNTER_BRANCHES},
		{"branch-misses", HLG_COUNTER_BRANCH_MISSES},
		{"br_misp_retired.all_branches", HLG_COUNTER_BRANCH_MISSES},
		{"cache-references", HLG_COUNTER_LLC},
		{"cache-misses", HLG_COUNTER_LLC_MISSES},
		{"cycle", HLG_COUNTER_OTHER},
		{"cycles2", HLG_COUNTER_OTHER},
	};

	ck_assert_int_eq(hlg_counter_of(PERF_TYPE_RAW, 0xc0, "cpu_core/instructions/u"),
			 HLG_COUNTER_INSTRUCTIONS);
	ck_assert_int_eq(hlg_counter_of(PERF_TYPE_RAW, 0x3c, "cycles:G"),
			 HLG_COUNTER_CYCLES);
	ck_assert_int_eq(hlg_counter_of(PERF_TYPE_HARDWARE, 4ull << 32, "x"),
			 HLG_COUNTER_CYCLES);
	ck_assert_int_eq(hlg_counter_of(PERF_TYPE_HW_CACHE, 0x10002, "LLC-load-misses"),
			 HLG_COUNTER_LLC_MISSES);
	ck_assert_int_eq(hlg_counter_of(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK, ""),
			 HLG_COUNTER_TIME);
	ck_assert_int_eq(hlg_counter_of(PERF_TYPE_TRACEPOINT, 3, "x:cycles"),
			 HLG_COUNTER_OTHER);
	ck_assert_int_eq(hlg_counter_of(PERF_TYPE_HARDWARE, UINT32_MAX, "x"),
			 HLG_COUNTER_OTHER);
	ck_assert_int_eq(hlg_counter_of(PERF_TYPE_BREAKPOINT, 3, "cycles"),
			 HLG_COUNTER_OTHER);
	ck_assert_int_eq(hlg_counter_of(PERF_TYPE_HW_CACHE, PERF_COUNT_HW_CACHE_LL, "x"),
			 HLG_COUNTER_LLC);
	ck_assert_int_eq(hlg_counter_of(PERF_TYPE_HW_CACHE, PERF_COUNT_HW_CACHE_L1D, "x"),
			 HLG_COUNTER_OTHER);
	for (size_t i = 0; i < sizeof(raw) / sizeof(raw[0]); i++)
		ck_assert_msg(hlg_counter_of(PERF_TYPE_RAW, 1, raw[i].name) ==
				      raw[i].counter,
			      "%s", raw[i].name);
}
END_TEST

#if HLG_HAVE_JANSSON
#define JSON hlg_windows_json
#else
#define JSON NULL
#endif

/* Names that are somebody else's, in every format. */
START_TEST(hostile_names)
{
	static const uint64_t v[][1] = {{100}, {250}};
	static int (*const writers[])(
		FILE *, const struct hlg_windows *, const struct hlg_windows_style *,
		struct hlg_err *) = {write_csv, hlg_windows_text, JSON, hlg_windows_svg};
	const struct hlg_space space = {0};
	struct made m;
	struct got g;

	begin(&m, 1);
	m.events[0].name = "=a\033[31m\"<b>&\\,\n'";
	add(&m, 1, 7, 10, 2, v[0]);
	add(&m, 1, 7, UINT64_MAX, 2, v[1]);
	read_made(&g, &m, NULL);
	ck_assert(hlg_windows_places_locate(&g.w, &space, true));
	for (size_t i = 0; i < 4; i++) {
		char *text;

		if (!writers[i])
			continue;
		text = text_of(&g.w, (struct hlg_windows_style){.rates = true},
			       writers[i]);
		ck_assert_ptr_null(strchr(text, '\033'));
		ck_assert(i != 0 || strstr(text, "\"'=a\\x1b[31m\"\"<b>&\\,\\x0a'\""));
		ck_assert(i != 2 || strstr(text, "=a\\\\x1b[31m\\\"<b>&\\\\,\\\\x0a'"));
		ck_assert(i != 3 || strstr(text, "&lt;b&gt;&amp;"));
		free(text);
	}
	finish(&g);
}
END_TEST

/* A picture has 64 panels at most, and as many as there are else. */
START_TEST(panels_of_columns)
{
	static const struct {
		size_t columns, panels;
	} of[] = {{1, 1}, {63, 63}, {64, 64}, {65, 64}};
	char name[] = "cycles";
	struct hlg_windows_column columns[65];
	const struct hlg_windows w = {.columns = columns, .n_columns = of[_i].columns};
	size_t n = 0;
	char *text;

	for (size_t i = 0; i < 65; i++)
		columns[i] = (struct hlg_windows_column){.name = name};
	text = text_of(&w, (struct hlg_windows_style){0}, hlg_windows_svg);
	for (const char *at = text; (at = strstr(at, "<g>")); at++)
		n++;
	ck_assert_uint_eq(n, of[_i].panels);
	free(text);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("windows");
	TCase *tc = tap_case(suite, "windows");

	tcase_add_test(tc, tutorial);
	tcase_add_test(tc, all_columns);
	tcase_add_loop_test(tc, panels_of_columns, 0, 4);
	tcase_add_test(tc, sets_and_intervals);
	tcase_add_test(tc, sums_of_sums);
	tcase_add_test(tc, all_notes);
	tcase_add_test(tc, widths_and_shares);
	tcase_add_test(tc, impossible_counts);
	tcase_add_test(tc, odd_groups);
	tcase_add_test(tc, behind_a_stranger);
	tcase_add_test(tc, second_group);
	tcase_add_loop_test(tc, periods, 0, 7);
	tcase_add_test(tc, no_groups);
	tcase_add_test(tc, pairs);
	tcase_add_test(tc, pair_of_its_end);
	tcase_add_test(tc, windows_of_threads);
	tcase_add_test(tc, late_window);
	tcase_add_test(tc, outliers_listed);
	tcase_add_test(tc, outliers);
	tcase_add_test(tc, spread);
	tcase_add_test(tc, median_ranks);
	tcase_add_test(tc, markers);
	tcase_add_test(tc, each_marker);
	tcase_add_test(tc, counters);
	tcase_add_test(tc, hostile_names);
	return tap_main(suite);
}
