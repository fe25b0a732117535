// SPDX-License-Identifier: GPL-2.0-only
/*
 * Events that a recording does not name get the names perf gives them. The expected ones
 * were told by perf 6.1 (perf evlist) for the same attributes, and by perf 7.3, which has
 * other rules, where attributes have the size of perf 7's; perf_diff.py asks perf again.
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
	const char *name, *newer;
} cases[] = {
	{HW(.config = 1, .exclude_kernel = 1, .exclude_hv = 1), "instructions:u",
	 "instructions:u"},
	{HW(.exclude_user = 1, .exclude_guest = 1), "cycles:khH", "cycles:khH"},
	{HW(.exclude_host = 1), "cycles:G", "cycles:G"},
	{HW(.exclude_guest = 1), "cycles", "cycles:H"},
	{HW(.config = 0), "cycles:HG", "cycles"},
	{HW(.precise_ip = 2, .exclude_guest = 1), "cycles:ppH", "cycles:ppH"},
	{HW(.precise_ip = 1), "cycles:p", "cycles:p"},
	{HW(.config = 77, .exclude_guest = 1), "unknown-hardware", "unknown-hardware:H"},
	{SW(.config = 2, .exclude_guest = 1), "page-faults", "page-faults:H"},
	{SW(.config = 9), "dummy:HG", "dummy"},
	{SW(.config = 10, .exclude_guest = 1), "unknown-software", "unknown-software:H"},
	{SW(.config = UINT64_MAX, .exclude_guest = 1), "unknown-software",
	 "unknown-software:H"},
	{CACHE(.config = 0x10000, .exclude_guest = 1), "L1-dcache-load-misses",
	 "L1-dcache-load-misses:H"},
	{CACHE(.config = 0x103, .exclude_guest = 1), "dTLB-stores", "dTLB-stores:H"},
	{CACHE(.config = 0x205, .exclude_guest = 1), "invalid-cache", "invalid-cache:H"},
	{CACHE(.config = 0x20000), "unknown-ext-hardware-cache-result:HG",
	 "unknown-ext-hardware-cache-result"},
	{CACHE(.config = 0x300), "unknown-ext-hardware-cache-op:HG",
	 "unknown-ext-hardware-cache-op"},
	{CACHE(.config = 0xff), "unknown-ext-hardware-cache-type:HG",
	 "unknown-ext-hardware-cache-type"},
	{{.type = PERF_TYPE_RAW, .config = 0x1c2, .exclude_guest = 1},
	 "raw 0x1c2",
	 "raw 0x1c2:H"},
	{{.type = PERF_TYPE_TRACEPOINT}, "unknown tracepoint", "unknown tracepoint"},
	{{.type = PERF_TYPE_BREAKPOINT, .bp_type = 3, .bp_addr = 16, .exclude_guest = 1},
	 "mem:0x10:rw",
	 "mem:0x10:rw:H"},
	{{.type = 99}, "unknown attr type: 99", "unknown attr type: 99"},
};

/* Attributes of 128 bytes, of 144 */
START_TEST(as_perf_has_them)
{
	const size_t attr_size = _i ? 144 : 128;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct kit_event event = {.attr = cases[i].attr};
		struct kit file = {0}, none = {0};
		struct hlg_perfdata *pd;
		struct hlg_err err;
		const char *path;

		kit_file(&file, &event, 1, &none, attr_size);
		path = kit_name(file.at, file.n);
		ck_assert_msg(hlg_perfdata_open(&pd, path, &err) == 0, "%s", err.msg);
		ck_assert_str_eq(hlg_perfdata_event(pd, 0)->name,
				 _i ? cases[i].newer : cases[i].name);
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

	tcase_add_loop_test(tc, as_perf_has_them, 0, 2);
	return tap_main(suite);
}
