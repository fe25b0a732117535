// SPDX-License-Identifier: GPL-2.0-only
/*
 * What KVM's tracepoints tell a profile: where the guest is left and entered, which ports
 * it writes to, and where it began. What is not selected tells only the last.
 */
#include "tools/feed/probe.h"

#include "tests/kit/tap.h"

/* Raw data: what is at, written, or nothing; the port; is it a write? */
struct raw {
	uint64_t rip;
	uint32_t port, out;
};

static struct hlg_profile profile;
static struct hlg_options options;

static void enter(void)
{
	struct hlg_err err;

	ck_assert_int_eq(hlg_options_parse(&options, 0, NULL, &err), 0);
	ck_assert(hlg_profile_init(&profile, &options));
}

static void leave(void)
{
	hlg_profile_finish(&profile);
	hlg_options_finish(&options);
}

static void count(enum hlg_probe_kind kind, struct raw raw, bool selected)
{
	const struct hlg_probe probe = {.kind = kind,
					.rip = {.size = 8},
					.port = {.offset = 8, .size = 4},
					.out = {.offset = 12, .size = 4}};
	const struct hlg_sample sample = {.time = 1000, .tid = 7};
	const struct hlg_perfdata_bytes bytes = {(const uint8_t *)&raw, sizeof(raw)};

	hlg_probe_count(&probe, &profile, &sample, selected, &bytes);
}

START_TEST(exits_and_entries)
{
	count(HLG_PROBE_EXIT, (struct raw){.rip = 0x5000}, true);
	count(HLG_PROBE_ENTRY, (struct raw){.rip = 0x5004}, true);
	count(HLG_PROBE_EXIT, (struct raw){.rip = 0x6000}, false);
	ck_assert(profile.transits.crossed);
	ck_assert_uint_eq(profile.transits.n, 2);
	ck_assert_uint_eq(hlg_transits_at(&profile.transits, 0x5000).exits, 1);
	ck_assert_uint_eq(hlg_transits_at(&profile.transits, 0x5000).entries, 0);
	ck_assert_uint_eq(hlg_transits_at(&profile.transits, 0x5004).exits, 0);
	ck_assert_uint_eq(hlg_transits_at(&profile.transits, 0x5004).entries, 1);
}
END_TEST

/* Of what KVM carried out for the guest no exit is known, nor an entry. */
START_TEST(emulated)
{
	count(HLG_PROBE_EMULATE, (struct raw){.rip = 0x5000}, true);
	count(HLG_PROBE_EMULATE, (struct raw){.rip = 0x5000}, true);
	ck_assert(!profile.transits.crossed);
	ck_assert_uint_eq(hlg_transits_at(&profile.transits, 0x5000).emulated, 2);
	ck_assert_uint_eq(hlg_transits_at(&profile.transits, 0x5000).exits, 0);
	ck_assert_uint_eq(profile.starts.n, 0);
}
END_TEST

/* What is written is no address that the guest was left at. */
START_TEST(ports)
{
	count(HLG_PROBE_PIO, (struct raw){0x5000, HLG_PORT_CALL, 1}, true);
	count(HLG_PROBE_PIO, (struct raw){0x5000, HLG_PORT_CALL, 0}, true); /* a read */
	count(HLG_PROBE_PIO, (struct raw){0x5000, HLG_PORT_CALL, 1}, false);
	ck_assert_uint_eq(profile.transits.n, 0);
	ck_assert_uint_eq(profile.transits.ports.calls, 1);
	ck_assert_uint_eq(profile.starts.n, 0);
}
END_TEST

/* A guest begins with its first entry, or halts with its address; selected or not. */
START_TEST(starts)
{
	count(HLG_PROBE_PIO, (struct raw){0x4567, HLG_PORT_HALT, 1}, false);
	ck_assert_uint_eq(profile.starts.n, 1);
	ck_assert_uint_eq(profile.starts.at[0].ip, 0x4567);
	ck_assert(profile.starts.at[0].halt);
	count(HLG_PROBE_ENTRY, (struct raw){.rip = 0x5000}, false);
	ck_assert_uint_eq(profile.starts.n, 2);
	ck_assert_uint_eq(profile.starts.at[1].ip, 0x5000);
	ck_assert(!profile.starts.at[1].halt);
	ck_assert_uint_eq(profile.transits.ports.halts, 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("probe");
	TCase *tc = tap_case(suite, "probe");

	tcase_add_checked_fixture(tc, enter, leave);
	tcase_add_test(tc, exits_and_entries);
	tcase_add_test(tc, emulated);
	tcase_add_test(tc, ports);
	tcase_add_test(tc, starts);
	return tap_main(suite);
}
