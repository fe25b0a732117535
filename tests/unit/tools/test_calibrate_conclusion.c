// SPDX-License-Identifier: GPL-2.0-only
/* What a calibration comes to: each wording, of measurements made up. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/kit/tap.h"
#include "tools/calibrate/conclusion.h"

static struct hlg_calibration c;

/* 100 samples of each guest: half of them late by `late`, the rest right. */
static void land(size_t event, uint64_t late, uint64_t window)
{
	struct hlg_landed *landed = &c.landings.events[event];

	*landed = (struct hlg_landed){.window = window, .why = "too few samples"};
	for (size_t i = 0; i < HLG_LANDING_GUESTS; i++) {
		landed->guests[i].guest = landed->guests[i].right = 100;
		landed->guests[i].distance[0] = 40;
		landed->guests[i].distance[late] += 60;
	}
}

/* A machine with clocks and without counters. */
static void enter(void)
{
	memset(&c, 0, sizeof(c));
	c.kvm = true;
	for (size_t i = 2; i < HLG_SAMPLINGS; i++)
		strcpy(c.landings.events[i].reason, HLG_PMU_NO_COUNTER);
	land(0, 1, 1);
	land(1, 5, 5);
	c.crossings.hz = 2e9;
	c.crossings.clock.width = 4; /* of a core alone */
	c.crossings.rows[HLG_CROSS_OUT].state = HLG_CROSS_MEASURED;
	c.crossings.rows[HLG_CROSS_OUT].ticks.p50 = 50000;
	c.crossings.rows[HLG_CROSS_OUT].ticks.p99 = 88000;
	for (size_t i = 0; i < HLG_NATIVE_ROWS; i++)
		c.crossings.batches[i].undisturbed = true;
	c.counts.operations = 1000;
	for (size_t side = 0; side < HLG_COUNT_SIDES; side++)
		for (size_t i = 0; i < HLG_PMU_EVENTS; i++)
			strcpy(c.counts.counted[side][0].reason[i], HLG_PMU_NO_COUNTER);
}

static struct hlg_conclusion conclusion;

static const char *conclude(enum hlg_calibration_part part)
{
	c.parts = part;
	hlg_calibrate_conclude(&conclusion, &c);
	ck_assert_uint_eq(conclusion.n, 1);
	return conclusion.sentence[0];
}

/* The figure of a part whose sentence was asked for. */
static const char *figure(enum hlg_calibration_part part)
{
	conclude(part);
	return conclusion.figure[0];
}

START_TEST(precision)
{
	ck_assert_str_eq(conclude(HLG_CALIBRATE_LANDING),
			 "Samples of cpu-clock land one instruction late (95 % within 1 "
			 "instruction), never in a wrong function.");
	land(0, 0, 0);
	ck_assert_str_eq(conclude(HLG_CALIBRATE_LANDING),
			 "Samples of cpu-clock land on the right instruction, never in a "
			 "wrong function.");
	land(0, 3, 14);
	ck_assert_str_eq(conclude(HLG_CALIBRATE_LANDING),
			 "Samples of cpu-clock land 3 instructions late (95 % "
			 "within 14 instructions), never in a wrong function.");
	c.landings.events[0].guests[0].right = 97;
	c.landings.events[0].guests[0].wrong = 2;
	c.landings.events[0].guests[0].gap = 1;
	ck_assert_str_eq(conclude(HLG_CALIBRATE_LANDING),
			 "Samples of cpu-clock land 3 instructions late (95 % "
			 "within 14 instructions), 0.50 % of them in a wrong function or "
			 "in none.");
}
END_TEST

/* Where samples of guests land that spend their time in no one place says nothing. */
START_TEST(precision_of_hot_guests)
{
	const char *said;

	for (size_t i = 0; i < HLG_LANDING_GUESTS; i++) {
		struct hlg_land *guest = &c.landings.events[0].guests[i];

		memset(guest->distance, 0, sizeof(guest->distance));
		guest->distance[hlg_landing_hot(i) ? 1 : 9] = guest->guest;
	}
	said = conclude(HLG_CALIBRATE_LANDING);
	ck_assert_ptr_nonnull(strstr(said, "land one instruction late"));
}
END_TEST

/* The distance is that of half of the samples, in the guest where it is greatest. */
START_TEST(precision_of_most)
{
	for (size_t i = 0; i < HLG_LANDING_GUESTS; i++) {
		struct hlg_land *guest = &c.landings.events[0].guests[i];

		memset(guest->distance, 0, sizeof(guest->distance));
		guest->distance[2] = guest->guest / 2;
		guest->distance[7] = guest->guest - guest->guest / 2;
	}
	ck_assert_ptr_nonnull(
		strstr(conclude(HLG_CALIBRATE_LANDING), "land 2 instructions late"));
	for (size_t i = 0; i < HLG_LANDING_GUESTS; i++) {
		struct hlg_land *guest = &c.landings.events[0].guests[i];

		guest->distance[2]--;
		guest->distance[7]++;
	}
	ck_assert_ptr_nonnull(
		strstr(conclude(HLG_CALIBRATE_LANDING), "land 7 instructions late"));
}
END_TEST

START_TEST(precision_unknown)
{
	land(0, 1, HLG_WINDOW_UNKNOWN);
	ck_assert_str_eq(
		conclude(HLG_CALIBRATE_LANDING),
		"Where samples of cpu-clock land is not known: too few samples.");
	for (size_t i = 0; i < HLG_SAMPLINGS; i++)
		strcpy(c.landings.events[i].reason, "perf_event_paranoid forbids it");
	ck_assert_str_eq(conclude(HLG_CALIBRATE_LANDING),
			 "Where samples land is not known: perf_event_paranoid forbids "
			 "it.");
	strcpy(c.landings.reason, "no guest can run");
	ck_assert_str_eq(conclude(HLG_CALIBRATE_LANDING),
			 "Where samples land is not known: no guest can run.");
}
END_TEST

/* A counter is spoken of where there is one; the precise one only where it is alone. */
START_TEST(precision_of_counters)
{
	land(3, 0, 0);
	ck_assert_ptr_nonnull(strstr(conclude(HLG_CALIBRATE_LANDING), "cycles:Gp land"));
	land(2, 2, 2);
	ck_assert_ptr_nonnull(
		strstr(conclude(HLG_CALIBRATE_LANDING), "cycles:G land 2 "));
}
END_TEST

START_TEST(exit_cost)
{
	ck_assert_str_eq(conclude(HLG_CALIBRATE_CROSSING),
			 "An exit to the VMM costs 25 us (p99 44 us).");
	c.crossings.rows[HLG_CROSS_OUT].ticks.p50 = 1000;
	ck_assert_str_eq(conclude(HLG_CALIBRATE_CROSSING),
			 "An exit to the VMM costs 500 ns (p99 44 us).");
	c.crossings.rows[HLG_CROSS_OUT].ticks.p50 = 2000;
	ck_assert_str_eq(figure(HLG_CALIBRATE_CROSSING), "1 us");
	c.crossings.rows[HLG_CROSS_OUT].ticks.p50 = 1000;
	c.crossings.hz = 0;
	ck_assert_str_eq(conclude(HLG_CALIBRATE_CROSSING),
			 "An exit to the VMM costs 1000 ticks (p99 88000 ticks).");
	c.crossings.rows[HLG_CROSS_OUT].state = HLG_CROSS_SKIPPED;
	strcpy(c.crossings.rows[HLG_CROSS_OUT].reason, "no guest can run");
	ck_assert_str_eq(conclude(HLG_CALIBRATE_CROSSING),
			 "What an exit to the VMM costs is not known: no guest can run.");
}
END_TEST

START_TEST(exit_cost_of_a_busy_machine)
{
	struct hlg_crossing *row = &c.crossings.rows[HLG_CROSS_GETPPID];

	row->state = HLG_CROSS_MEASURED;
	row->ticks.drift = 0.5;
	c.crossings.batches[1] = (struct hlg_batches){.n = 100};
	ck_assert_ptr_nonnull(strstr(hlg_crossing_verdict(&c.crossings), "again"));
	ck_assert_str_eq(
		conclude(HLG_CALIBRATE_CROSSING),
		"An exit to the VMM costs 25 us (p99 44 us); the machine was not "
		"idle: measure again.");
}
END_TEST

/* Any row that drifts will do. */
START_TEST(exit_cost_of_a_machine_that_drifts)
{
	const char *verdict;

	for (size_t i = HLG_NATIVE_GETPPID; i < HLG_NATIVE_ROWS; i++) {
		double *drift = &c.crossings.rows[HLG_CROSS_PAIR_HOST + i].ticks.drift;

		ck_assert_str_eq(hlg_crossing_verdict(&c.crossings), "");
		*drift = 0.5;
		verdict = hlg_crossing_verdict(&c.crossings);
		ck_assert_str_eq(verdict, "not idle: measure again");
		*drift = 0;
		c.crossings.batches[i].raw = 0.5;
		ck_assert_str_eq(hlg_crossing_verdict(&c.crossings), "not idle");
		c.crossings.batches[i].raw = 0;
	}
}
END_TEST

START_TEST(accuracy)
{
	struct hlg_pmu_counted *guest = c.counts.counted[HLG_COUNT_GUEST];

	ck_assert_str_eq(conclude(HLG_CALIBRATE_COUNTING),
			 "There are no hardware counters here.");
	/* There are some, but guests have none. */
	c.counts.counted[HLG_COUNT_NATIVE][0].reason[HLG_PMU_INSTRUCTIONS][0] = '\0';
	ck_assert_ptr_nonnull(strstr(conclude(HLG_CALIBRATE_COUNTING),
				     "cannot be counted here: " HLG_PMU_NO_COUNTER "."));
	strcpy(guest[0].reason[HLG_PMU_INSTRUCTIONS], "perf_event_paranoid forbids it");
	ck_assert_str_eq(conclude(HLG_CALIBRATE_COUNTING),
			 "Guest instructions cannot be counted here: "
			 "perf_event_paranoid forbids it.");
	guest[0].reason[HLG_PMU_INSTRUCTIONS][0] = '\0';
	ck_assert_str_eq(conclude(HLG_CALIBRATE_COUNTING),
			 "Guest instructions cannot be counted here: no guest ran.");
	for (size_t i = 0; i < HLG_COUNT_PROGRAMS; i++) {
		guest[i].runs = 1;
		guest[i].values[HLG_PMU_INSTRUCTIONS][0] =
			hlg_calibrate_retired(&hlg_count_laws[i], 1000);
	}
	ck_assert_str_eq(conclude(HLG_CALIBRATE_COUNTING),
			 "The instruction counter is exact in guests.");
	guest[3].values[HLG_PMU_INSTRUCTIONS][0] += 2;
	guest[5].values[HLG_PMU_INSTRUCTIONS][0] -= 7;
	ck_assert_str_eq(conclude(HLG_CALIBRATE_COUNTING),
			 "The instruction counter is off by up to 7 in guests of known "
			 "length.");
	/* What was not counted is off by nothing. */
	strcpy(guest[5].reason[HLG_PMU_INSTRUCTIONS], "the counter was shared");
	guest[5].values[HLG_PMU_INSTRUCTIONS][0] = 0;
	ck_assert_str_eq(conclude(HLG_CALIBRATE_COUNTING),
			 "The instruction counter is off by up to 2 in guests of known "
			 "length.");
}
END_TEST

START_TEST(figures)
{
	struct hlg_pmu_counted *guest = c.counts.counted[HLG_COUNT_GUEST];

	ck_assert_str_eq(figure(HLG_CALIBRATE_LANDING), "1 instruction");
	ck_assert_str_eq(conclusion.of[0], "Samples land late by");
	land(0, 0, 0);
	ck_assert_str_eq(figure(HLG_CALIBRATE_LANDING), "0 instructions");
	land(0, 3, HLG_WINDOW_UNKNOWN);
	ck_assert_str_eq(figure(HLG_CALIBRATE_LANDING), "not known");
	ck_assert_str_eq(figure(HLG_CALIBRATE_CROSSING), "25 us");
	c.crossings.rows[HLG_CROSS_OUT].state = HLG_CROSS_SKIPPED;
	ck_assert_str_eq(figure(HLG_CALIBRATE_CROSSING), "not known");
	ck_assert_str_eq(figure(HLG_CALIBRATE_COUNTING), "none");
	guest[0].reason[HLG_PMU_INSTRUCTIONS][0] = '\0';
	ck_assert_str_eq(figure(HLG_CALIBRATE_COUNTING), "not known");
	guest[0].runs = 1;
	guest[0].values[HLG_PMU_INSTRUCTIONS][0] =
		hlg_calibrate_retired(&hlg_count_laws[0], 1000);
	ck_assert_str_eq(figure(HLG_CALIBRATE_COUNTING), "exact");
	guest[0].values[HLG_PMU_INSTRUCTIONS][0] += 2;
	ck_assert_str_eq(figure(HLG_CALIBRATE_COUNTING), "off by 2");
}
END_TEST

START_TEST(parts)
{
	c.parts = HLG_CALIBRATE_ALL;
	hlg_calibrate_conclude(&conclusion, &c);
	ck_assert_uint_eq(conclusion.n, 3);
	c.parts = 0;
	hlg_calibrate_conclude(&conclusion, &c);
	ck_assert_uint_eq(conclusion.n, 0);
}
END_TEST

/* What counts instructions tells of no time, though there is no other counter. */
START_TEST(precision_of_instructions)
{
	land(4, 3, 3);
	ck_assert_str_eq(conclude(HLG_CALIBRATE_LANDING),
			 "Samples of cpu-clock land one instruction late (95 % within 1 "
			 "instruction), never in a wrong function.");
}
END_TEST

/* Only what lacks figures for one reason shares it. */
START_TEST(reasons_differ)
{
	struct hlg_steps *steps = c.counts.steps[HLG_COUNT_GUEST];
	struct hlg_err err;
	size_t size;
	char *page, *text;
	FILE *f = open_memstream(&page, &size);

	strcpy(c.landings.events[3].reason, "not precise");
	c.parts = HLG_CALIBRATE_LANDING;
	ck_assert_int_eq(hlg_calibrate_html(&c, f, &err), 0);
	fclose(f);
	ck_assert_ptr_null(strstr(page, "cycles:G, cycles:Gp"));
	ck_assert_ptr_nonnull(strstr(page, "not precise"));
	ck_assert_ptr_nonnull(strstr(page, "instructions:G, instructions:Gp"));
	free(page);

	for (size_t i = 0; i < HLG_COUNT_PROGRAMS; i++)
		strcpy(steps[i].reason, i < 3 ? "killed" : "no memory");
	f = open_memstream(&text, &size);
	hlg_calibrate_tables(f, &c, HLG_CALIBRATE_COUNTING);
	fclose(f);
	ck_assert_ptr_nonnull(strstr(text, "guest, from rep_lodsb on: skipped: killed\n"));
	ck_assert_ptr_nonnull(
		strstr(text, "guest, from rep_scasb on: skipped: no memory\n"));
	ck_assert_ptr_null(strstr(text, "from rep_cmpsb on"));
	free(text);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("calibrate conclusion");
	TCase *tc = tap_case(suite, "conclusion");

	tcase_add_checked_fixture(tc, enter, NULL);
	tcase_add_test(tc, precision);
	tcase_add_test(tc, precision_of_hot_guests);
	tcase_add_test(tc, precision_of_most);
	tcase_add_test(tc, precision_unknown);
	tcase_add_test(tc, precision_of_counters);
	tcase_add_test(tc, exit_cost);
	tcase_add_test(tc, exit_cost_of_a_busy_machine);
	tcase_add_test(tc, exit_cost_of_a_machine_that_drifts);
	tcase_add_test(tc, accuracy);
	tcase_add_test(tc, figures);
	tcase_add_test(tc, parts);
	tcase_add_test(tc, precision_of_instructions);
	tcase_add_test(tc, reasons_differ);
	return tap_main(suite);
}
