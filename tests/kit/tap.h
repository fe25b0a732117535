/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The end of every unit test: run one suite, tell the result as TAP on standard output.
 *
 *	int main(void)
 *	{
 *		Suite *suite = suite_create("escape");
 *		TCase *tc = tap_case(suite, "plain");
 *
 *		tcase_add_test(tc, refuses_controls);
 *		return tap_main(suite);
 *	}
 *
 * Each test runs in a process of its own, so that a crash is one failed test; with
 * CK_FORK=no all run in this one, for valgrind and debuggers.
 */
#ifndef HLG_TESTS_TAP_H
#define HLG_TESTS_TAP_H

#include <check.h>
#include <stdlib.h>

/* Seconds for one test; sanitizers are slow. CK_TIMEOUT_MULTIPLIER makes it longer. */
#define TAP_TIMEOUT 60

/* A test case of the suite, which owns it. */
static inline TCase *tap_case(Suite *suite, const char *name)
{
	TCase *tc = tcase_create(name);

	tcase_set_timeout(tc, TAP_TIMEOUT);
	suite_add_tcase(suite, tc);
	return tc;
}

/* Runs the suite and gives it back. Returns the exit status for main(). */
static inline int tap_main(Suite *suite)
{
	SRunner *runner = srunner_create(suite);
	int failed;

	srunner_set_fork_status(runner, CK_FORK_GETENV);
	srunner_set_tap(runner, "-");
	srunner_run_all(runner, CK_SILENT);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

#endif
