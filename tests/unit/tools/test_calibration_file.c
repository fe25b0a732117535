// SPDX-License-Identifier: GPL-2.0-only
/*
 * Saved calibrations read again, also what nobody would have saved: no JSON, other JSON,
 * numbers out of range, texts without end, too many events; and each file cut off
 * anywhere. Events are found by the names that recordings have for them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "config.h"
#include "tests/kit/tap.h"
#include "tools/machine/calibration-file.h"

static char path[] = "/tmp/calibrated-XXXXXX";
static struct hlg_calibration_file c;
static struct hlg_err err;

static const char good[] =
	"{\"hlguest_calibration\": 1, \"machine\": {\"cpu\": \"A\", \"date\": \"D\"},"
	" \"holds\": true, \"crossings\": {\"ring0_emulated\": false, \"noise\": 0.05},"
	" \"landing\": {\"events\": [{\"event\": \"cpu-clock\", \"window\": 1},"
	" {\"event\": \"cycles:Gp\", \"window\": 0},"
	" {\"event\": \"cycles:G\", \"window\": null}]}}";

static int read_text(const char *text, size_t size)
{
	FILE *f = fopen(path, "w");

	ck_assert_ptr_nonnull(f);
	ck_assert_uint_eq(fwrite(text, 1, size, f), size);
	ck_assert_int_eq(fclose(f), 0);
	return hlg_calibration_file_read(&c, path, &err);
}

static void enter(void)
{
	int fd;

	strcpy(path, "/tmp/calibrated-XXXXXX");
	fd = mkstemp(path);
	ck_assert_int_ge(fd, 0);
	close(fd);
}

static void leave(void)
{
	unlink(path);
}

START_TEST(reads)
{
	if (!HLG_HAVE_JANSSON) {
		ck_assert_int_lt(read_text(good, strlen(good)), 0);
		ck_assert_ptr_nonnull(strstr(err.msg, "not in this build"));
		return;
	}
	ck_assert_int_eq(read_text(good, strlen(good)), 0);
	ck_assert_str_eq(c.cpu, "A");
	ck_assert_str_eq(c.kernel, "");
	ck_assert(c.holds);
	ck_assert_int_eq(c.emulated, 0);
	ck_assert_uint_eq(c.n_events, 3);
	ck_assert_uint_eq(hlg_calibration_file_find(&c, "cpu-clock", 0)->window, 1);
	ck_assert_uint_eq(hlg_calibration_file_find(&c, "cpu-clock:GH", 0)->window, 1);
	ck_assert(hlg_calibration_file_find(&c, "cycles:Gpp", 2)->known);
	ck_assert(!hlg_calibration_file_find(&c, "cycles:G", 0)->known);
	ck_assert_ptr_null(hlg_calibration_file_find(&c, "cpu", 0));
	ck_assert_ptr_null(hlg_calibration_file_find(&c, "cpu-clock", 1));
	ck_assert_ptr_null(hlg_calibration_file_find(&c, "", 0));
}
END_TEST

/* What it does not say is not known; the largest window is one. */
START_TEST(says_little)
{
	static const char little[] =
		"{\"hlguest_calibration\": 1, \"machine\": {}, \"crossings\": "
		"{\"ring0_emulated\": null}, \"landing\": {\"events\": "
		"[{\"event\": \"x\", \"window\": 1000}]}}";

	if (!HLG_HAVE_JANSSON)
		return;
	ck_assert_int_eq(read_text(little, strlen(little)), 0);
	ck_assert_int_eq(c.emulated, -1);
	ck_assert(!c.holds);
	ck_assert_uint_eq(c.events[0].window, HLG_CALIBRATION_FILE_WINDOW);
}
END_TEST

START_TEST(cut_off)
{
	for (size_t n = 0; n < strlen(good); n++)
		ck_assert_int_lt(read_text(good, n), 0);
}
END_TEST

static const char *const wrong[] = {
	"",
	"[]",
	"{}",
	"1",
	"{\"hlguest_calibration\": 2, \"machine\": {}}",
	"{\"hlguest_calibration\": 1}",
	"{\"hlguest_calibration\": 1, \"machine\": []}",
	"{\"hlguest_calibration\": 1, \"hlguest_calibration\": 1, \"machine\": {}}",
	"{\"hlguest_calibration\": 1, \"machine\": {}, \"landing\": {\"events\": [{}]}}",
	"{\"hlguest_calibration\": 1, \"machine\": {}, \"landing\": {\"events\": "
	"[{\"event\": \"x\", \"window\": -1}]}}",
	"{\"hlguest_calibration\": 1, \"machine\": {}, \"landing\": {\"events\": "
	"[{\"event\": \"x\", \"window\": 1001}]}}",
	"{\"hlguest_calibration\": 1, \"machine\": {}, \"landing\": {\"events\": "
	"[{\"event\": \"x\", \"window\": 1e3}]}}",
	"{\"hlguest_calibration\": 1, \"machine\": {}, \"landing\": {\"events\": "
	"[{\"event\": \"x\"}]}}",
};

START_TEST(refuses)
{
	ck_assert_int_lt(read_text(wrong[_i], strlen(wrong[_i])), 0);
	ck_assert_ptr_nonnull(strstr(err.msg, path));
}
END_TEST

/* Texts are cut; more events than there is room for are refused. */
START_TEST(large)
{
	static char text[100000], name[5000];
	size_t n;

	memset(name, 'x', sizeof(name) - 1);
	n = (size_t)snprintf(
		text, sizeof(text),
		"{\"hlguest_calibration\": 1, \"machine\": {\"cpu\": \"%s\"},"
		" \"landing\": {\"events\": [{\"event\": \"%s\", \"window\": 1}"
		"]}}",
		name, name);
	if (HLG_HAVE_JANSSON)
		ck_assert_int_eq(read_text(text, n), 0);
	n = (size_t)sprintf(text, "{\"hlguest_calibration\": 1, \"machine\": {}, "
				  "\"landing\": {\"events\": [");
	for (int i = 0; i <= HLG_CALIBRATION_FILE_EVENTS; i++)
		n += (size_t)sprintf(text + n, "%s{\"event\": \"e%d\", \"window\": 1}",
				     i ? "," : "", i);
	n += (size_t)sprintf(text + n, "]}}");
	ck_assert_int_lt(read_text(text, n), 0);
}
END_TEST

START_TEST(no_file)
{
	ck_assert_int_lt(hlg_calibration_file_read(&c, "/nonexistent", &err), 0);
	ck_assert_int_lt(hlg_calibration_file_read(&c, "/tmp", &err), 0);
	ck_assert_int_lt(hlg_calibration_file_read(&c, "/dev/zero", &err), 0);
}
END_TEST

START_TEST(said)
{
	char within[48];

	ck_assert_str_eq(hlg_calibration_file_within(within, 0),
			 "95 % on the right instruction");
	ck_assert_str_eq(hlg_calibration_file_within(within, 1),
			 "95 % within 1 instruction");
	ck_assert_str_eq(hlg_calibration_file_within(within, UINT64_MAX),
			 "95 % within 18446744073709551615 instructions");
}
END_TEST

START_TEST(places)
{
	char place[PATH_MAX];

	setenv("HOME", "/usr", 1); /* it is there */
	setenv("XDG_STATE_HOME", "/s", 1);
	hlg_calibration_file_place(place);
	ck_assert_str_eq(place, "/s/hlguest/calibration.json");
	setenv("XDG_STATE_HOME", "relative", 1);
	hlg_calibration_file_place(place);
	ck_assert_str_eq(place, "/usr/.local/state/hlguest/calibration.json");
	setenv("HOME", "/nonexistent", 1);
	hlg_calibration_file_place(place);
	ck_assert_str_eq(place, "");
	unsetenv("XDG_STATE_HOME");
	unsetenv("HOME");
	hlg_calibration_file_place(place);
	ck_assert_str_eq(place, "");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("calibrated");
	TCase *tc = tap_case(suite, "read");

	tcase_add_checked_fixture(tc, enter, leave);
	tcase_add_test(tc, reads);
	tcase_add_test(tc, says_little);
	tcase_add_test(tc, cut_off);
	tcase_add_loop_test(tc, refuses, 0, sizeof(wrong) / sizeof(wrong[0]));
	tcase_add_test(tc, large);
	tcase_add_test(tc, no_file);
	tcase_add_test(tc, said);
	tcase_add_test(tc, places);
	return tap_main(suite);
}
