// SPDX-License-Identifier: GPL-2.0-only
/*
 * Every sample is counted once, in the right cell, whatever its series and ip. Proved
 * against a plain list of the samples, sorted and added up, for every by= and for few
 * and many addresses; then what the table promises of its growth, and that no failed
 * allocation, wherever it strikes, loses a sample from the books.
 */
#include "../../filter/profile.h"

#include <string.h>

#include "kit.h"
#include "tap.h"

struct entry {
	struct hlg_series key; /* squares: of the period, summed */
	uint64_t ip;
	struct hlg_count count;
};

static int compare_entries(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

#define BY(field)                                                                        \
	if (x->field != y->field)                                                        \
	return x->field < y->field ? -1 : 1
	BY(key.event);
	BY(key.pid);
	BY(key.tid);
	BY(key.cpu);
	BY(ip);
#undef BY
	return 0;
}

/* Sorts entries and adds up those of one key; returns how many are left. */
static size_t add_up(struct entry *list, size_t n)
{
	size_t out = 0;

	qsort(list, n, sizeof(*list), compare_entries);
	for (size_t i = 0; i < n; i++) {
		if (out && compare_entries(&list[out - 1], &list[i]) == 0)
			hlg_count_add(&list[out - 1].count, list[i].count);
		else
			list[out++] = list[i];
	}
	return out;
}

static struct hlg_sample draw(uint64_t *random, uint64_t distinct)
{
	static const uint8_t modes[] = {1, 2, 4, 4, 5, 5, 5, 0, 3, 6, 7};
	struct hlg_sample s = kit_sample((uint32_t)kit_random(random, 3), 0);

	s.ip = kit_random(random, distinct) << kit_random(random, 2) * 12;
	s.period = kit_random(random, 1 << 20);
	s.pid = (int32_t)kit_random(random, 4) - 1;
	s.tid = (int32_t)kit_random(random, 9) - 1;
	s.cpu = (int32_t)kit_random(random, 5) - 1;
	s.cpumode = modes[kit_random(random, sizeof(modes))];
	return s;
}

/* The books of one stream, kept the plain way. */
struct books {
	struct hlg_count seen, host, deselected;
	struct entry *list;
	size_t n;
};

/* By hand: event 2 is deselected, and so are pids but 1 and 2 if some are asked for. */
static enum hlg_verdict enter(struct books *b, const struct hlg_sample *s, unsigned by,
			      bool some_pids)
{
	struct hlg_count one = {1, s->period};

	hlg_count_add(&b->seen, one);
	if (s->event == 2 || (some_pids && s->pid != 1 && s->pid != 2)) {
		hlg_count_add(&b->deselected, one);
		return HLG_DESELECTED;
	}
	if (s->cpumode != 4 && s->cpumode != 5) {
		hlg_count_add(&b->host, one);
		return HLG_HOST;
	}
	b->list[b->n++] = (struct entry){.key = {s->event, by & HLG_BY_PID ? s->pid : -1,
						 by & HLG_BY_TID ? s->tid : -1,
						 by & HLG_BY_CPU ? s->cpu : -1, 0},
					 .ip = s->ip,
					 .count = one};
	return HLG_GUEST;
}

static void same_count(struct hlg_count a, struct hlg_count b)
{
	ck_assert_uint_eq(a.samples, b.samples);
	ck_assert_uint_eq(a.period, b.period);
}

static void compare_cells(const struct hlg_profile *p, struct books *b)
{
	struct entry *cells = calloc(p->n_cells + 1, sizeof(*cells));
	size_t n = 0;

	for (size_t i = 0; i < hlg_profile_room(p); i++)
		if (p->cells[i].count.samples)
			cells[n++] = (struct entry){p->series[p->cells[i].series],
						    p->cells[i].ip, p->cells[i].count};
	ck_assert_uint_eq(n, p->n_cells);
	ck_assert_uint_eq(add_up(cells, n), n); /* no key has two cells */
	b->n = add_up(b->list, b->n);
	ck_assert_uint_eq(n, b->n);
	for (size_t i = 0; i < n; i++) {
		ck_assert_int_eq(compare_entries(&cells[i], &b->list[i]), 0);
		same_count(cells[i].count, b->list[i].count);
	}
	free(cells);
}

enum {
	STREAM = 100000
};

/* As a feed does it: the short cut first, if there is one. */
static enum hlg_verdict hand_over(struct hlg_profile *p, const struct hlg_sample *s,
				  bool short_cut)
{
	if (short_cut && hlg_profile_hit(p, s->event, s->cpumode, s->ip, s->period))
		return hlg_mode_is_guest(s->cpumode) ? HLG_GUEST : HLG_HOST;
	return hlg_profile_add(p, s);
}

static const uint64_t distinct[] = {1, 40, 3000, UINT64_C(1) << 40};
static const char *const words[] = {
	"event=[ab]*",
	"event=[ab]* by=event",
	"event=[ab]* by=pid",
	"event=[ab]* by=event,pid,tid,cpu",
	"event=[ab]* pid=1-2",
	"event=[ab]* pid=1-2 by=tid",
	"event=[ab]* pid=1-2 by=cpu",
	"event=[ab]* pid=1-2 by=pid,tid",
};

/* words (8) x distinct (4) x with and without the short cut */
START_TEST(differential)
{
	struct books b = {.list = malloc(STREAM * sizeof(struct entry))};
	uint64_t random = (uint64_t)_i;
	struct hlg_profile p;
	struct hlg_options o;

	kit_options(&o, words[_i / 4 % 8]);
	ck_assert(hlg_profile_init(&p, &o));
	ck_assert_uint_eq(hlg_profile_event(&p, "a", 0), 0);
	ck_assert_uint_eq(hlg_profile_event(&p, "b", 0), 1);
	ck_assert_uint_eq(hlg_profile_event(&p, "c", 0), 2);
	for (int i = 0; i < STREAM; i++) {
		struct hlg_sample s = draw(&random, distinct[_i % 4]);
		enum hlg_verdict verdict = enter(&b, &s, o.by, o.pid.n != 0);

		ck_assert_int_eq(hand_over(&p, &s, _i / 32), verdict);
	}
	same_count(p.seen, b.seen);
	same_count(p.host, b.host);
	same_count(p.deselected, b.deselected);
	ck_assert_uint_eq(p.unrecorded, 0);
	ck_assert(!p.overflow);
	compare_cells(&p, &b);
	hlg_profile_finish(&p);
	hlg_options_finish(&o);
	free(b.list);
}
END_TEST

/* Host samples that get rows of their own are never taken by the short cut. */
START_TEST(short_cut_leaves_host_rows)
{
	struct hlg_profile p;
	struct hlg_options o;

	kit_options(&o, _i ? "mode=all" : "mode=host");
	ck_assert(hlg_profile_init(&p, &o));
	hlg_profile_event(&p, "a", 0);
	ck_assert(!hlg_profile_hit(&p, 0, 2, 7, 1));
	ck_assert_uint_eq(p.seen.samples, 0);
	hlg_profile_finish(&p);
	hlg_options_finish(&o);
}
END_TEST

/* The short cut is taken when it may be, and never when more than the event decides. */
START_TEST(short_cut)
{
	static const struct {
		const char *words;
		bool taken;
	} c[] = {{"", true},          {"by=event", true}, {"event=a", true},
		 {"gaps=drop", true}, {"event=b", false}, {"by=pid", false},
		 {"by=tid", false},   {"by=cpu", false},  {"pid=1", false},
		 {"cpu=0", false},    {"time=1,", false}};

	for (size_t i = 0; i < sizeof(c) / sizeof(c[0]); i++) {
		struct hlg_sample s = kit_sample(0, 7);
		struct hlg_profile p;
		struct hlg_options o;

		kit_options(&o, c[i].words);
		ck_assert(hlg_profile_init(&p, &o));
		hlg_profile_event(&p, "a", 0);
		s.pid = 1;
		s.cpu = 0;
		s.time = 2000000000;
		ck_assert(!hlg_profile_hit(&p, 0, 5, 7, 1)); /* not met yet */
		hlg_profile_add(&p, &s);
		ck_assert_int_eq(hlg_profile_hit(&p, 0, 5, 7, 1), c[i].taken);
		ck_assert(!hlg_profile_hit(&p, 0, 5, 8, 1));
		/* The host's are taken where all else is plain, and nobody wants rows. */
		ck_assert_int_eq(hlg_profile_hit(&p, 0, 2, 7, 1), c[i].taken);
		ck_assert_uint_eq(p.host.samples, c[i].taken);
		ck_assert_uint_eq(p.seen.samples, 1u + 2u * c[i].taken);
		hlg_profile_finish(&p);
		hlg_options_finish(&o);
	}
}
END_TEST

/* An ip at or above x whose first slot of series 0 is this one. */
static uint64_t ip_of_slot(const struct hlg_profile *p, uint64_t x, size_t slot)
{
	while (hlg_profile_slot(p, x, 0) != slot)
		x++;
	return x;
}

/*
 * Where one series looks first, the other's cell of the same ip may have been pushed to:
 * the short cut must not take it.
 */
START_TEST(short_cut_between_series)
{
	struct hlg_sample s = kit_sample(0, 0);
	struct hlg_profile p;
	struct hlg_options o;
	uint64_t x = 0x1000, y;
	uint32_t other = 1;
	size_t slot;

	kit_options(&o, "");
	ck_assert(hlg_profile_init(&p, &o));
	while (hlg_profile_slot(&p, x, other) != hlg_profile_slot(&p, x, 0) + 1)
		other = other < 1000 ? other + 1 : (x++, 1);
	slot = hlg_profile_slot(&p, x, 0);
	y = ip_of_slot(&p, x + 1, slot);
	/* In slot, and then behind it; nothing else lies near. */
	hlg_profile_event(&p, "e", 0);
	s.ip = y;
	hlg_profile_add(&p, &s);
	s.ip = x;
	hlg_profile_add(&p, &s);
	for (uint32_t i = 1; i <= other; i++) {
		char name[16];

		snprintf(name, sizeof(name), "e%u", i);
		s.event = hlg_profile_event(&p, name, 0);
		s.ip = x ^ UINT64_C(1) << 40;
		hlg_profile_add(&p, &s);
	}
	ck_assert_uint_eq(p.cells[slot + 1].ip, x);
	ck_assert_uint_eq(p.cells[slot + 1].series, 0);
	ck_assert(hlg_profile_hit(&p, 0, 5, y, 1));
	ck_assert(!hlg_profile_hit(&p, other, 5, x, 1));
	hlg_profile_finish(&p);
	hlg_options_finish(&o);
}
END_TEST

/* The squares that the intervals stand on, added up by hand. */
START_TEST(squares)
{
	struct hlg_profile p;
	struct hlg_options o;
	hlg_u128 sum = 0;

	kit_options(&o, "");
	ck_assert(hlg_profile_init(&p, &o));
	hlg_profile_event(&p, "a", 0);
	for (uint64_t i = 0; i < 1000; i++) {
		struct hlg_sample s = kit_sample(0, i % 7);

		s.period = i << 40;
		s.cpumode = i % 2 ? 5 : 2;
		hand_over(&p, &s, _i);
		if (i % 2)
			sum += (hlg_u128)s.period * s.period;
	}
	ck_assert_uint_eq(p.n_series, 1);
	ck_assert(p.series[0].squares == sum);
	hlg_profile_finish(&p);
	hlg_options_finish(&o);
}
END_TEST

/* Memory follows distinct addresses, not samples; the table is at most half full. */
START_TEST(growth)
{
	struct hlg_profile p;
	struct hlg_options o;
	size_t room;

	kit_options(&o, "");
	ck_assert(hlg_profile_init(&p, &o));
	hlg_profile_event(&p, "a", 0);
	room = hlg_profile_room(&p);
	for (uint64_t i = 0; i < 1000000; i++)
		hlg_profile_add(&p, &(struct hlg_sample){
					    .ip = i % 100, .cpumode = 4, .period = 1});
	ck_assert_uint_eq(hlg_profile_room(&p), room);
	ck_assert_uint_eq(p.n_cells, 100);
	for (uint64_t i = 0; i < 300000; i++) {
		hlg_profile_add(&p, &(struct hlg_sample){
					    .ip = i << 20, .cpumode = 4, .period = 1});
		ck_assert_uint_le(2 * p.n_cells, hlg_profile_room(&p));
	}
	ck_assert_uint_eq(p.n_cells, 300000 + 99); /* 0 was there */
	ck_assert_uint_lt(hlg_profile_room(&p), 4 * p.n_cells);
	hlg_profile_finish(&p);
	hlg_options_finish(&o);
}
END_TEST

START_TEST(overflow_is_flagged)
{
	struct hlg_profile p;
	struct hlg_options o;
	struct hlg_sample s = kit_sample(0, UINT64_MAX);

	kit_options(&o, "");
	ck_assert(hlg_profile_init(&p, &o));
	hlg_profile_event(&p, "a", 0);
	s.period = UINT64_MAX - 1;
	hand_over(&p, &s, _i);
	s.period = 1;
	hand_over(&p, &s, _i);
	ck_assert(!p.overflow);
	ck_assert_uint_eq(p.seen.period, UINT64_MAX);
	s.cpumode = _i % 2 ? 5 : 2;
	hand_over(&p, &s, _i);
	ck_assert(p.overflow);
	s.period = 0;
	hand_over(&p, &s, _i);
	ck_assert(p.overflow);
	ck_assert_uint_eq(p.seen.samples, 4);
	hlg_profile_finish(&p);
	hlg_options_finish(&o);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("profile");
	TCase *tc = tap_case(suite, "profile");

	tcase_add_loop_test(tc, differential, 0, 64);
	tcase_add_test(tc, short_cut);
	tcase_add_loop_test(tc, short_cut_leaves_host_rows, 0, 2);
	tcase_add_test(tc, short_cut_between_series);
	tcase_add_loop_test(tc, squares, 0, 2);
	tcase_add_test(tc, growth);
	tcase_add_loop_test(tc, overflow_is_flagged, 0, 2);
	return tap_main(suite);
}
