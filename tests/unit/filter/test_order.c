// SPDX-License-Identifier: GPL-2.0-only
/*
 * The same samples give the same bytes, in whatever order they come. Proved by feeding
 * one random set of guest and host samples forwards, backwards and shuffled, which also
 * changes the numbers of events and series and the layout of every table, and comparing
 * the written reports, in every format and split, named and withheld; and that a change
 * of one sample shows.
 */
#include <locale.h>
#include <string.h>

#include "config.h"
#include "tests/kit/filter.h"
#include "tests/kit/tap.h"

enum {
	N = 1500
};

static const struct fed {
	const char *event;
	unsigned precise;
} events[] = {{"cycles", 0}, {"cycles", 2}, {"cpu-clock", 0}, {"branches", 1}};

struct draft {
	struct hlg_sample s;
	int event, symbol;
};

static void draw(struct draft *list, unsigned n_events)
{
	static const uint64_t base[] = {0x100000, 0x200000};
	uint64_t random = n_events;

	for (int i = 0; i < N; i++) {
		struct draft *d = &list[i];

		d->s = kit_sample(0, base[kit_random(&random, 2)]);
		d->s.ip += 0xf80 + kit_random(&random, 0x300);
		d->s.period =
			1000 + kit_random(&random, 2); /* many rows weigh the same */
		d->s.pid = (int32_t)kit_random(&random, 3) - 1;
		d->s.tid = (int32_t)kit_random(&random, 4);
		d->s.cpumode = kit_random(&random, 5) ? 4 : 2;
		d->event = (int)kit_random(&random, n_events);
		d->symbol = (int)kit_random(&random, 30);
	}
}

/* 0 as it is, 1 backwards, else at random */
static void shuffle(struct draft *list, uint64_t how)
{
	uint64_t random = how;

	for (size_t i = 0; i < N; i++) {
		size_t k = how == 0 ? i : how == 1 ? N - 1 - i : kit_random(&random, N);
		struct draft d = list[i];

		if (how == 1 && k <= i)
			break;
		list[i] = list[k];
		list[k] = d;
	}
}

static char *report_of(const char *words, const struct draft *list, int force)
{
	struct hlg_run run;
	char *report;

	kit_start(&run, words);
	run.options.force = force;
	for (int i = 0; i < N; i++) {
		const struct fed *event = &events[list[i].event];
		struct hlg_sample s = list[i].s;
		char symbol[16];

		s.event = hlg_profile_event(&run.profile, event->event, event->precise);
		snprintf(symbol, sizeof(symbol), "host%d", list[i].symbol);
		if (hlg_profile_add(&run.profile, &s) == HLG_HOST)
			hlg_host_add(&run.host, hlg_profile_series(&run.profile, &s),
				     list[i].symbol % 2 ? "vmlinux" : "kvm.ko", symbol,
				     s.period);
	}
	report = kit_report(&run);
	hlg_run_finish(&run);
	return report;
}

static const char *const formats[] = {"text", "csv", "folded", "json"};
static const char *const splits[] = {"", "by=tid", "by=event,pid,tid,cpu",
				     "weight=samples gaps=stretch"};

START_TEST(shuffled)
{
	static struct draft list[N];
	unsigned n_events = _i / 16 % 2 ? 4 : 1;
	int force = _i / 32;
	char *first, *next, words[128];

	kit_guest("one.elf");
	kit_guest("two.elf");
	snprintf(words, sizeof(words),
		 "one.elf@0x100000 two.elf@0x200000 mode=all top=0 format=%s %s",
		 formats[_i / 4 % 4], splits[_i % 4]);
	draw(list, n_events);
	first = report_of(words, list, force);
	ck_assert_uint_gt(strlen(first), 500);
	for (uint64_t how = 0; how < 6; how++) {
		shuffle(list, how);
		setlocale(LC_ALL, how % 2 ? "fr_FR.UTF-8" : "C");
		next = report_of(words, list, force);
		ck_assert_msg(strcmp(first, next) == 0, "order %ju shows",
			      (uintmax_t)how);
		free(next);
	}
	list[N / 2].s.cpumode ^= 6; /* guest to host, or back */
	next = report_of(words, list, force);
	ck_assert_msg(strcmp(first, next) != 0, "a sample does not show");
	free(next);
	free(first);
}
END_TEST

/* Two symbols begin where entrypoint does: dispatch owns what lies behind it. */
static void guest_with_nested_symbols(const char *path)
{
	struct mkelf_guest g;

	mkelf_guest_init(&g, 0);
	for (int i = 0; i < MKELF_N_SYMS; i++)
		if (g.syms[i].name && strcmp(g.syms[i].name, "dispatch") == 0) {
			g.syms[i].value = 0x1000;
			g.syms[i].size = 0x54;
		}
	kit_write(&g, path);
}

/* Rows of one weight: by own address, path, base, and then as the symbols are. */
START_TEST(ties)
{
	static const struct {
		uint64_t base;
		const char *path;
	} at[] = {{0x200000, "a.elf"}, {0x300000, "a.elf"}, {0x100000, "b.elf"}};
	static const uint64_t addrs[] = {0x1008, 0x1030, 0x1060};
	struct hlg_report report;
	struct hlg_run run;

	guest_with_nested_symbols("a.elf");
	guest_with_nested_symbols("b.elf");
	kit_start(&run, "b.elf@0x100000 a.elf@0x300000 a.elf@0x200000 demangle=no");
	hlg_profile_event(&run.profile, "a", 0);
	for (int i = 0; i < 9; i++) { /* _i: from another of them on */
		int k = (i + _i) % 9;

		kit_add(&run, 0, at[k / 3].base + addrs[k % 3], 7, 1);
	}
	kit_build(&run, &report);
	kit_check_view(&report.all, run.options.region);
	ck_assert_uint_eq(report.all.n_rows, 9);
	for (int i = 0; i < 9; i++) {
		const struct hlg_row *row = &report.all.rows[i];
		int image = i < 6 ? i / 2 : i - 6;

		ck_assert_uint_eq(row->place.start, i < 6 ? 0x1000 : 0x1060);
		ck_assert_str_eq(row->place.image->path, at[image].path);
		ck_assert_uint_eq(row->place.image->base, at[image].base);
		ck_assert_str_eq(row->name, i >= 6  ? "compute"
					    : i % 2 ? "dispatch"
						    : "entrypoint");
	}
	hlg_report_finish(&report);
	hlg_run_finish(&run);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("order");
	TCase *tc = tap_case(suite, "order");

	tcase_add_checked_fixture(tc, kit_enter, kit_leave);
	tcase_add_loop_test(tc, ties, 0, 9);
	for (int several = 0; several < 4; several++) /* json comes last of the formats */
		tcase_add_loop_test(tc, shuffled, 16 * several,
				    16 * several + (HLG_HAVE_JANSSON ? 16 : 12));
	return tap_main(suite);
}
