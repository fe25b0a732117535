// SPDX-License-Identifier: GPL-2.0-only
/*
 * Every sample is counted once, in the right cell, whatever its series and ip. Proved
 * against a plain list of the samples, sorted and added up, for every by= and for few
 * and many addresses; then what the table promises of its growth, and that no failed
 * allocation, wherever it strikes, loses a sample from the books.
 */
#include "filter/profile/checked.h"
#include "filter/profile/profile.h"
#include "filter/profile/sandboxes.h"

#include <string.h>

#include "tests/kit/filter.h"
#include "tests/kit/tap.h"

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
	uint64_t hosts[3]; /* by event */
	struct entry *list;
	size_t n;
};

/* By hand: event 2 is deselected, and so are pids but 1 and 2 if some are asked for. */
static enum hlg_disposition enter(struct books *b, const struct hlg_sample *s,
				  unsigned by, bool some_pids)
{
	struct hlg_count one = {1, s->period};

	hlg_count_add(&b->seen, one);
	if (s->event == 2 || (some_pids && s->pid != 1 && s->pid != 2)) {
		hlg_count_add(&b->deselected, one);
		return HLG_DESELECTED;
	}
	if (s->cpumode != 4 && s->cpumode != 5) {
		hlg_count_add(&b->host, one);
		b->hosts[s->event]++;
		return HLG_HOST;
	}
	b->list[b->n++] = (struct entry){.key = {s->event, by & HLG_BY_PID ? s->pid : -1,
						 by & HLG_BY_TID ? s->tid : -1,
						 by & HLG_BY_CPU ? s->cpu : -1, -1, 0, 0},
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
	STREAM = 20000
};

/* How samples are handed over: one by one, the short cut first, or in runs of hits. */
struct way {
	enum {
		SINGLY,
		SHORT_CUT,
		HITS
	} kind;
	struct hlg_hits hits;
	uint32_t event; /* of the hits */
	uint64_t n;     /* hits so far */
	bool open;
};

static void end_hits(struct way *way, struct hlg_profile *p)
{
	if (way->open)
		hlg_profile_hits_end(&way->hits, p, way->event, way->n);
	way->open = false;
}

static bool hit(struct way *way, struct hlg_profile *p, const struct hlg_sample *s)
{
	if (way->kind == SHORT_CUT)
		return hlg_profile_hit(p, s->event, s->cpumode, s->ip, s->tid, s->period,
				       s->time);
	if (way->event != s->event)
		end_hits(way, p);
	if (!way->open) {
		hlg_profile_hits_begin(&way->hits, p, s->event, true);
		way->event = s->event;
		way->n = 0;
		way->open = true;
	}
	if (hlg_profile_hits_add(&way->hits, s->cpumode, s->ip, s->tid, s->period,
				 s->time)) {
		way->n++;
		return true;
	}
	end_hits(way, p);
	return false;
}

/* As a feed does it. */
static enum hlg_disposition hand_over(struct way *way, struct hlg_profile *p,
				      const struct hlg_sample *s)
{
	if (way->kind != SINGLY && hit(way, p, s))
		return hlg_sample_is_guest(s->cpumode) ? HLG_GUEST : HLG_HOST;
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

/* words (8) x distinct (4) x ways (3) */
START_TEST(differential)
{
	struct books b = {.list = malloc(STREAM * sizeof(struct entry))};
	uint64_t random = (uint64_t)_i;
	struct way way = {.kind = _i / 32};
	struct hlg_profile p;
	struct hlg_options o;

	kit_options(&o, words[_i / 4 % 8]);
	ck_assert(hlg_profile_init(&p, &o));
	ck_assert_uint_eq(hlg_profile_event(&p, "a", 0), 0);
	ck_assert_uint_eq(hlg_profile_event(&p, "b", 0), 1);
	ck_assert_uint_eq(hlg_profile_event(&p, "c", 0), 2);
	for (int i = 0; i < STREAM; i++) {
		struct hlg_sample s = draw(&random, distinct[_i % 4]);
		enum hlg_disposition disposition = enter(&b, &s, o.by, o.pid.n != 0);

		ck_assert_int_eq(hand_over(&way, &p, &s), disposition);
	}
	end_hits(&way, &p);
	same_count(p.seen, b.seen);
	same_count(p.host, b.host);
	same_count(p.deselected, b.deselected);
	for (size_t i = 0; i < 3; i++)
		ck_assert_uint_eq(p.events[i].host.samples, b.hosts[i]);
	ck_assert_uint_eq(p.unrecorded, 0);
	ck_assert(!p.overflow);
	compare_cells(&p, &b);
	hlg_profile_finish(&p);
	hlg_options_finish(&o);
	free(b.list);
}
END_TEST

/* Two of one recording that differ only in how often they are sampled stay two, whichever
 * comes first; one that is alone has its plain name. */
START_TEST(events_by_rate)
{
	static const struct {
		const char *recorded[5], *words, *called[5];
	} c[] = {
		{{"clock/freq=97/", "clock/freq=997/"},
		 "",
		 {"clock/freq=97/", "clock/freq=997/"}},
		{{"clock:u", "clock/freq=997/u"}, "", {"clock//u", "clock/freq=997/u"}},
		{{"clock//u", "clock:u"}, "", {"clock//u", "clock////u"}},
		{{"kvm:kvm_exit", "kvm:kvm_exit//"},
		 "",
		 {"kvm:kvm_exit////", "kvm:kvm_exit//"}},
		{{"clock/freq=97/H", "clock/freq=997/", "cycles/freq=9/"},
		 "",
		 {"clock:H", "clock", "cycles"}},
		{{"clock/freq=97/", "clock/freq=97/"}, "", {"clock", "clock"}},
		{{"clock/freq=97/", "cycles"}, "event=c*", {"clock", "cycles"}},
		{{"clock/freq=97/", "cycles", "kvm:kvm_exit", "kvm:pp:u"},
		 "event=clock/freq=97/",
		 {"clock/freq=97/", "cycles//", "kvm:kvm_exit", "kvm:pp:u"}},
	};

	for (size_t i = 0; i < sizeof(c) / sizeof(c[0]); i++)
		for (int back = 0; back < 2; back++) {
			struct hlg_event_names names = {0};
			struct hlg_profile p;
			struct hlg_options o;
			size_t n = 0;

			kit_options(&o, c[i].words);
			ck_assert(hlg_profile_init(&p, &o));
			while (c[i].recorded[n])
				n++;
			for (size_t k = 0; k < n; k++)
				ck_assert(hlg_event_names_add(
					&names, c[i].recorded[back ? n - 1 - k : k]));
			for (size_t k = 0; k < n; k++) {
				char *called = hlg_event_names_called(
					&names, c[i].recorded[k], &o);

				ck_assert_str_eq(called, c[i].called[k]);
				free(called);
				/* What a filter has until it knows all. */
				hlg_profile_event(&p, c[i].recorded[k], 0);
				hlg_profile_event(&p, c[i].recorded[k], 2);
			}
			ck_assert(hlg_profile_call_events(&p, &names));
			for (uint32_t k = 0; k < p.n_events; k++) {
				ck_assert_str_eq(p.events[k].name, c[i].called[k / 2]);
				ck_assert_uint_eq(hlg_profile_event(&p,
								    c[i].called[k / 2],
								    k % 2 ? 2 : 0),
						  k);
			}
			hlg_event_names_finish(&names);
			hlg_profile_finish(&p);
			hlg_options_finish(&o);
		}
}
END_TEST

/* The squares that the intervals stand on, added up by hand. */
START_TEST(squares)
{
	struct way way = {.kind = _i};
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
		hand_over(&way, &p, &s);
		if (i % 2)
			sum += (hlg_u128)s.period * s.period;
	}
	end_hits(&way, &p);
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

static void add_at(struct hlg_profile *p, uint64_t time, unsigned cpumode)
{
	const struct hlg_sample s = {.time = time,
				     .period = 1,
				     .pid = -1,
				     .tid = -1,
				     .cpu = -1,
				     .cpumode = (uint8_t)cpumode};

	hlg_profile_add(p, &s);
}

/* Of all that was seen, in any order; what has no time, or nothing, does not count. */
START_TEST(span)
{
	struct hlg_profile p, other;
	struct hlg_options o;

	kit_options(&o, "time=,0.000000008");
	ck_assert(hlg_profile_init(&p, &o) && hlg_profile_init(&other, &o));
	hlg_profile_event(&p, "a", 0);
	hlg_profile_event(&other, "a", 0);
	add_at(&p, HLG_NO_TIME, HLG_MODE_GUEST_USER);
	ck_assert(!hlg_sample_span_known(&p.span));
	add_at(&p, 7, HLG_MODE_GUEST_USER);
	ck_assert(hlg_sample_span_known(&p.span));
	hlg_profile_merge(&p, &other);
	ck_assert_uint_eq(p.span.first, 7);
	ck_assert_uint_eq(p.span.last, 7);
	add_at(&other, 9, HLG_MODE_GUEST_USER); /* which is not selected */
	add_at(&other, 0, 2);
	add_at(&other, 5, HLG_MODE_GUEST_USER);
	hlg_profile_merge(&p, &other);
	ck_assert_uint_eq(p.span.first, 0);
	ck_assert_uint_eq(p.span.last, 9);
	ck_assert_uint_eq(p.events[0].host.samples, 1);
	hlg_profile_finish(&other);
	hlg_profile_finish(&p);
	hlg_options_finish(&o);
}
END_TEST

/* The window begins behind the first sample whose time is known. */
START_TEST(window_of_the_first_time)
{
	static const uint64_t times[] = {HLG_NO_TIME, 1000, 1001, 1002, 1003};
	struct hlg_profile p;
	struct hlg_options o;
	uint64_t kept = 0;

	kit_options(&o, "time=+1ns,+3ns");
	ck_assert(hlg_profile_init(&p, &o));
	hlg_profile_event(&p, "a", 0);
	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
		struct hlg_sample s = kit_sample(0, 0x1000);

		s.time = times[i];
		kept += hlg_profile_add(&p, &s) == HLG_GUEST;
	}
	ck_assert_uint_eq(kept, 2);
	hlg_profile_finish(&p);
	hlg_options_finish(&o);
}
END_TEST

/* Of several sandboxes samples are theirs; of one alone they are its threads'. */
START_TEST(threads_of_one_sandbox)
{
	const size_t n = (size_t)_i;
	struct hlg_sample s = kit_sample(0, 0x1000);
	struct hlg_profile p;
	struct hlg_options o;

	kit_options(&o, "");
	ck_assert(hlg_profile_init(&p, &o));
	hlg_profile_event(&p, "a", 0);
	for (size_t i = 0; i < n; i++)
		ck_assert(hlg_sandboxes_add(&p.sandboxes, 7, 5 + (int32_t)i));
	s.tid = 8;
	s.sandbox = 1;
	hlg_profile_add(&p, &s);
	for (size_t i = 0; i < hlg_profile_room(&p); i++)
		if (p.cells[i].count.samples)
			ck_assert_int_eq(p.cells[i].tid,
					 n > 1 ? hlg_profile_tid_of(1) : 8);
	hlg_profile_finish(&p);
	hlg_options_finish(&o);
}
END_TEST

/* The ids of guest samples that were left out: the lowest, whatever comes first. */
START_TEST(passed)
{
	static const int32_t ids[] = {9, 3, 8, 3, -1, 7, 5, 9};
	struct hlg_few few = {0};
	struct hlg_profile p[2];
	struct hlg_options o;
	char text[128];

	kit_options(&o, "tid=100 sandbox=7 event=a");
	for (size_t i = 0; i < 2; i++) {
		ck_assert(hlg_profile_init(&p[i], &o));
		hlg_profile_event(&p[i], "a", 0);
		hlg_profile_event(&p[i], "b", 0);
	}
	for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
		struct hlg_sample s = {.tid = ids[i], .cpumode = HLG_MODE_GUEST_USER};

		hlg_profile_add(&p[i % 2], &s);
		s = (struct hlg_sample){.tid = 1, .cpumode = 1}; /* of the host */
		hlg_profile_add(&p[i % 2], &s);
		s = (struct hlg_sample){.tid = 2, .event = 1, .cpumode = 5};
		hlg_profile_add(&p[i % 2], &s);
	}
	hlg_profile_merge(&p[0], &p[1]);
	ck_assert_str_eq(hlg_few_text(text, sizeof(text), &p[0].passed[HLG_ID_TID]),
			 "3, 5, 7, 8, 9");
	ck_assert_uint_eq(p[0].passed[HLG_ID_PID].n, 0);     /* which was not asked for */
	ck_assert_uint_eq(p[0].passed[HLG_ID_SANDBOX].n, 0); /* which none of them has */
	for (int32_t tid = 4; tid < 100; tid += 50)
		hlg_profile_add(&p[1], &(struct hlg_sample){.tid = tid, .cpumode = 5});
	hlg_profile_merge(&p[0], &p[1]);
	ck_assert_str_eq(hlg_few_text(text, sizeof(text), &p[0].passed[HLG_ID_TID]),
			 "3, 4, 5, 7, 8, ...");
	/* One that is lower takes the place of the highest. */
	for (int32_t id = 9; id >= 4; id--)
		hlg_few_add(&few, id);
	ck_assert_str_eq(hlg_few_text(text, sizeof(text), &few), "4, 5, 6, 7, 8, ...");
	hlg_profile_finish(&p[0]);
	hlg_profile_finish(&p[1]);
	hlg_options_finish(&o);
}
END_TEST

START_TEST(overflow_is_flagged)
{
	struct way way = {.kind = _i % 3};
	struct hlg_profile p;
	struct hlg_options o;
	struct hlg_sample s = kit_sample(0, UINT64_MAX);

	kit_options(&o, "");
	ck_assert(hlg_profile_init(&p, &o));
	hlg_profile_event(&p, "a", 0);
	s.period = UINT64_MAX - 1;
	hand_over(&way, &p, &s);
	s.period = 1;
	hand_over(&way, &p, &s);
	end_hits(&way, &p);
	ck_assert(!p.overflow);
	ck_assert_uint_eq(p.seen.period, UINT64_MAX);
	s.cpumode = _i % 2 ? 5 : 2;
	hand_over(&way, &p, &s);
	ck_assert(p.overflow);
	s.period = 0;
	hand_over(&way, &p, &s);
	end_hits(&way, &p);
	ck_assert(p.overflow);
	ck_assert_uint_eq(p.seen.samples, 4);
	hlg_profile_finish(&p);
	hlg_options_finish(&o);
}
END_TEST

/* Of several saved profiles the worst is told, in whatever order; and of one that names
 * no functions all hear. */
START_TEST(checks_of_several)
{
	static const struct {
		enum hlg_checked_word word;
		bool suppressed;
		const char *said;
	} of[] = {{HLG_CHECKED_VERIFIED, false, "a"},
		  {HLG_CHECKED_MISMATCH, true, "c"},
		  {HLG_CHECKED_MIXED, false, NULL},
		  {HLG_CHECKED_MISMATCH, false, "b"},
		  {HLG_CHECKED_VERIFIED, false, NULL}};
	const int n = sizeof(of) / sizeof(of[0]);
	struct hlg_checked sum = {0}, one = {0};

	for (int i = 0; i < n; i++) {
		const int k = (_i + i) % n;

		ck_assert(
			hlg_checked_add(&one, of[k].word, of[k].suppressed, of[k].said));
		ck_assert(hlg_checked_merge(&sum, &one));
		hlg_checked_finish(&one);
	}
	ck_assert_int_eq(sum.word, HLG_CHECKED_MISMATCH);
	ck_assert(sum.suppressed);
	ck_assert_str_eq(sum.said, "b");
	hlg_checked_finish(&sum);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("profile");
	TCase *tc = tap_case(suite, "profile");

	tcase_add_loop_test(tc, differential, 0, 96);
	tcase_add_test(tc, events_by_rate);
	tcase_add_loop_test(tc, squares, 0, 3);
	tcase_add_test(tc, growth);
	tcase_add_test(tc, span);
	tcase_add_test(tc, passed);
	tcase_add_test(tc, window_of_the_first_time);
	tcase_add_loop_test(tc, threads_of_one_sandbox, 1, 3);
	tcase_add_loop_test(tc, checks_of_several, 0, 5);
	tcase_add_loop_test(tc, overflow_is_flagged, 0, 6);
	return tap_main(suite);
}
