// SPDX-License-Identifier: GPL-2.0-only
/*
 * Events that a recording does not name get the names perf gives them. The expected ones
 * were told by perf 6.1 (perf evlist) for the same attributes; perf_diff.py asks it
 * again.
 */
#include <stdlib.h>

#include "tests/kit/perfdata.h"
#include "tests/kit/tap.h"

#define HW(...)                                                                          \
	{                                                                                \
		.type = PERF_TYPE_HARDWARE, __VA_ARGS__                                  \
	}
#define SW(...)                                                                          \
	{                                                                                \
		.type = PERF_TYPE_SOFTWARE, __VA_ARGS__                                  \
	}
#define CACHE(...)                                                                       \
	{                                                                                \
		.type = PERF_TYPE_HW_CACHE, __VA_ARGS__                                  \
	}

static const struct {
	struct perf_event_attr attr;
	const char *name;
} cases[] = {
	{HW(.config = 1, .exclude_kernel = 1, .exclude_hv = 1), "instructions:u"},
	{HW(.exclude_user = 1, .exclude_guest = 1), "cycles:khH"},
	{HW(.exclude_host = 1), "cycles:G"},
	{HW(.exclude_guest = 1), "cycles"},
	{HW(.config = 0), "cycles:HG"},
	{HW(.precise_ip = 2, .exclude_guest = 1), "cycles:ppH"},
	{HW(.config = 77, .exclude_guest = 1), "unknown-hardware"},
	{SW(.config = 2, .exclude_guest = 1), "page-faults"},
	{SW(.config = 9), "dummy:HG"},
	{SW(.config = 10, .exclude_guest = 1), "unknown-software"},
	{SW(.config = UINT64_MAX, .exclude_guest = 1), "unknown-software"},
	{CACHE(.config = 0x10000, .exclude_guest = 1), "L1-dcache-load-misses"},
	{CACHE(.config = 0x103, .exclude_guest = 1), "dTLB-stores"},
	{CACHE(.config = 0x205, .exclude_guest = 1), "invalid-cache"},
	{CACHE(.config = 0xff), "unknown-ext-hardware-cache-type:HG"},
	{{.type = PERF_TYPE_RAW, .config = 0x1c2, .exclude_guest = 1}, "raw 0x1c2"},
	{{.type = PERF_TYPE_TRACEPOINT}, "unknown tracepoint"},
	{{.type = PERF_TYPE_BREAKPOINT, .bp_type = 3, .bp_addr = 16, .exclude_guest = 1},
	 "mem:0x10:rw"},
	{{.type = 99}, "unknown attr type: 99"},
};

START_TEST(as_perf_has_them)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct kit_event event = {.attr = cases[i].attr};
		struct kit file = {0}, none = {0};
		struct hlg_perfdata *pd;
		struct hlg_err err;
		const char *path;

		kit_file(&file, &event, 1, &none, 0);
		path = kit_name(file.at, file.n);
		ck_assert_msg(hlg_perfdata_open(&pd, path, &err) == 0, "%s", err.msg);
		ck_assert_str_eq(hlg_perfdata_event(pd, 0)->name, cases[i].name);
		hlg_perfdata_close(pd);
		kit_unname(path);
		kit_free(&file);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("perfdata name");
	TCase *tc = tap_case(suite, "names");

	tcase_add_test(tc, as_perf_has_them);
	return tap_main(suite);
}
