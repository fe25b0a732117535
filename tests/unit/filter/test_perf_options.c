// SPDX-License-Identifier: GPL-2.0-only
/*
 * perf's own selection options are found in a command line, in every way they can be
 * written, and nothing else is: not values of other options, not options that only begin
 * alike, not the program's own name. A command line cut in the middle of a word is read
 * no further than its end.
 */
#include "filter/dlfilter/perf-options.h"

#include <stdio.h>
#include <string.h>

#include "tests/kit/tap.h"

static char told[512];

static void tell(void *ctx, const char *option, const char *instead)
{
	size_t len = strlen(told);

	ck_assert_ptr_eq(ctx, told);
	snprintf(told + len, sizeof(told) - len, "%s%s>%s", len ? " " : "", option,
		 instead ? instead : "");
}

/* words apart by blanks; '' is an empty word */
static void find(const char *words, const char *expected)
{
	size_t size = strlen(words) + 1;
	char *line = malloc(size), *end = line;

	for (const char *w = words; *w;) {
		size_t n = strcspn(w, " ");

		if (strncmp(w, "''", 2) != 0) {
			memcpy(end, w, n);
			end += n;
		}
		*end++ = '\0';
		w += n + (w[n] == ' ');
	}
	told[0] = '\0';
	hlg_perf_options_find(line, (size_t)(end - line), tell, told);
	ck_assert_str_eq(told, expected);
	free(line);
}

START_TEST(each_form)
{
	find("perf script --time 1,2", "--time>time=START,STOP");
	find("perf script --time=1,2", "--time>time=START,STOP");
	find("perf script --cpu 0", "--cpu>cpu=LIST");
	find("perf script --cpu=0-3", "--cpu>cpu=LIST");
	find("perf script -C 0", "-C>cpu=LIST");
	find("perf script -C0,1", "-C>cpu=LIST");
	find("perf script --pid=1", "--pid>pid=LIST");
	find("perf script --tid 1", "--tid>tid=LIST");
	find("perf script --comms=qemu", "--comms>");
	find("perf script -c qemu", "-c>");
	find("perf script -cqemu", "-c>");
	find("perf script --symbols=main", "--symbols>");
	find("perf script -S main", "-S>");
	find("perf script -Smain", "-S>");
	find("perf script --dsos vmlinux", "--dsos>");
}
END_TEST

START_TEST(several)
{
	find("perf script -C 0 -i perf.data --time 1, --pid 7",
	     "-C>cpu=LIST --time>time=START,STOP --pid>pid=LIST");
	find("perf script '' -C 0 '' --dsos x", "-C>cpu=LIST --dsos>");
}
END_TEST

START_TEST(nothing_else)
{
	find("", "");
	find("perf", "");
	find("--time", "");
	find("perf script -i perf.data --dlfilter hlguest.so --dlarg guest.elf", "");
	find("perf script --time-quantum 1s --cpus --pids --comm x --symbol y --dso z",
	     "");
	find("perf script --dlarg time=1,2 --dlarg pid=3 --dlarg cpu=0", "");
	find("perf script time cpu pid C S c - --", "");
}
END_TEST

/* In a value anything may stand. */
START_TEST(values)
{
	find("perf script -i --time --dlarg -C --dlfilter -S --input --pid", "");
	find("perf script --dlarg --dlarg -C 0", "-C>cpu=LIST");
	find("perf script -i -i --time 1,2", "--time>time=START,STOP");
	find("perf script --input=x --time 1,2", "--time>time=START,STOP");
}
END_TEST

/* As large as the buffer it was read into, the last word without its NUL. */
START_TEST(cut)
{
	static const char whole[] = "perf\0script\0--time\0001,2\0--dlarg\0--pid";

	for (size_t n = 0; n < sizeof(whole); n++) {
		char *line =
			malloc(n ? n : 1); /* exact, for the tools that watch memory */

		memcpy(line, whole, n);
		told[0] = '\0';
		hlg_perf_options_find(line, n, tell, told);
		ck_assert_str_eq(told, n >= sizeof("perf\0script\0--time")
					       ? "--time>time=START,STOP"
					       : "");
		free(line);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("perf-options");
	TCase *tc = tap_case(suite, "perf-options");

	tcase_add_test(tc, each_form);
	tcase_add_test(tc, several);
	tcase_add_test(tc, nothing_else);
	tcase_add_test(tc, values);
	tcase_add_test(tc, cut);
	return tap_main(suite);
}
