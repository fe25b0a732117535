// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the doctor makes of the last calibration: its windows and its verdict on ring 0
 * where it is of this machine; a warning with a remedy where it is of another, where its
 * truths did not hold and where it could not be read.
 */
#include <string.h>

#include "tests/kit/tap.h"
#include "tools/doctor/doctor.h"

static struct hlg_probes probes(void)
{
	return (struct hlg_probes){
		.machine = {.cpu = "A", .kernel = "6.18"},
		.calibration = true,
		.calibrated =
			{
				.cpu = "A",
				.kernel = "6.18",
				.date = "2026-11-22",
				.holds = true,
				.events = {{"cpu-clock", true, 1},
					   {"cycles:G", false, 0}},
				.n_events = 2,
			},
	};
}

static void expect(const struct hlg_probes *p, enum hlg_level level, const char *text,
		   const char *remedy)
{
	static struct hlg_findings f;

	f.n = 0;
	hlg_doctor_judge_calibration(&f, p);
	ck_assert_uint_eq(f.n, 1);
	ck_assert_str_eq(f.finding[0].topic, "calibration");
	ck_assert_int_eq(f.finding[0].level, level);
	ck_assert_msg(strstr(f.finding[0].text, text), "%s", f.finding[0].text);
	ck_assert_msg(strstr(f.finding[0].remedy, remedy), "%s", f.finding[0].remedy);
	ck_assert(level == HLG_LEVEL_OK || f.finding[0].remedy[0]);
}

START_TEST(of_this_machine)
{
	struct hlg_probes p = probes();

	expect(&p, HLG_LEVEL_OK,
	       "2026-11-22: how late samples land: cpu-clock 95 % within 1 instruction; "
	       "ring 0 runs on the processor",
	       "");
	p.calibrated.emulated = 1;
	expect(&p, HLG_LEVEL_OK, "ring 0 is emulated", "");
	p.calibrated.n_events = 0;
	expect(&p, HLG_LEVEL_OK, "how late samples land: not known;", "");
	p.calibration = false;
	expect(&p, HLG_LEVEL_INFO, "none is saved", "--save=FILE");
}
END_TEST

START_TEST(of_no_use)
{
	struct hlg_probes p = probes();

	strcpy(p.machine.kernel, "6.19");
	expect(&p, HLG_LEVEL_WARN, "cpu-clock 95 %", "another processor or kernel");
	p.calibrated.holds = false;
	expect(&p, HLG_LEVEL_WARN, "were measured wrongly", "hlguest calibrate");
	p.calibration = false;
	strcpy(p.calibration_problem, "x: is no calibration");
	expect(&p, HLG_LEVEL_WARN, "x: is no calibration", "--save=FILE");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("doctor calibration");
	TCase *tc = tap_case(suite, "judge");

	tcase_add_test(tc, of_this_machine);
	tcase_add_test(tc, of_no_use);
	return tap_main(suite);
}
