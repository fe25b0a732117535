// SPDX-License-Identifier: GPL-2.0-only
/*
 * Samples that do not fit name nothing: in no format, split or not, does the report of a
 * mismatch hold a symbol, but every sample is there by its address, and the sums are
 * those of the report that force=yes names. A run tells whether it was one. Then the
 * remarks of the trust block: each where it is so, and not where it is not.
 */
#include <string.h>

#include "config.h"
#include "tests/kit/filter-trust.h"
#include "tests/kit/tap.h"

enum {
	N_FORMATS = HLG_HAVE_JANSSON ? 4 : 3
};

static const char *const formats[] = {"text", "csv", "folded", "json"};
static const char *const splits[] = {"",
				     "by=tid",
				     "gaps=drop",
				     "gaps=stretch",
				     "aliases=yes skid=3",
				     "region=64 weight=samples"};

/* Names that no prose has. */
static void write_guest(const char *path)
{
	static char names[MKELF_N_SYMS][32];
	struct mkelf_guest g;

	mkelf_guest_init(&g, 0);
	mkelf_guest_words(&g, HLG_HAVE_ZYDIS);
	for (int i = 0; i < MKELF_N_SYMS; i++) {
		if (!g.syms[i].name)
			continue;
		snprintf(names[i], sizeof(names[i]), "zz_%.20s", g.syms[i].name);
		g.syms[i].name = names[i];
	}
	kit_write(&g, path);
}

/* Addresses between instructions, one in ten on one; some in gaps, data and outside. */
static void feed(struct hlg_run *run)
{
	hlg_profile_event(&run->profile, "a", 0);
	for (uint64_t i = 0; i < 400; i++) {
		struct hlg_sample s = kit_sample(0, KIT_BASE + 0x1000 + i);

		s.tid = (int32_t)(i % 3);
		s.period = 1 + i % 7;
		if (i % 4 || i % 40 == 0)
			hlg_profile_add(&run->profile, &s);
	}
	kit_add(run, 0, KIT_BASE + 0x3004, 1, 3);
	kit_add(run, 0, 0x900000, 1, 4);
	kit_add(run, 0, 0, 1, 5);
}

static unsigned count(const char *text, const char *what)
{
	unsigned n = 0;

	for (; (text = strstr(text, what)); text++)
		n++;
	return n;
}

/* The numbers at the ends of folded lines. */
static uint64_t folded_sum(const char *text)
{
	uint64_t sum = 0;

	for (const char *line = text; *line; line = strchr(line, '\n') + 1) {
		size_t n = strcspn(line, "\n");

		while (line[n - 1] != ' ')
			n--;
		sum += strtoull(line + n, NULL, 10);
	}
	return sum;
}

static void check_withheld(const char *text, int format)
{
	ck_assert_ptr_null(strstr(text, "zz_"));
	ck_assert_ptr_null(strstr(text, "__gap__"));
	ck_assert_ptr_null(strstr(text, "[data]"));
	ck_assert_ptr_null(strstr(text, "[outside]"));
	ck_assert_ptr_nonnull(strstr(text, "0x5001")); /* the address itself */
	switch (format) {
	case 0:
		ck_assert_int_eq(strncmp(text, "!! ", 3), 0);
		ck_assert_uint_ge(count(text, "guest address\n"), 1);
		break;
	case 1:
		ck_assert_uint_eq(count(text, "\nfunction,"), 0);
		ck_assert_uint_ge(count(text, ",address,\"0x"), 250);
		break;
	case 3:
		ck_assert_ptr_nonnull(strstr(text, "\"functions\": []"));
		ck_assert_ptr_nonnull(strstr(text, "\"addresses\": ["));
	}
}

/* formats x splits */
START_TEST(names_are_withheld)
{
	int format = _i % N_FORMATS;
	struct hlg_run run;
	char words[128], *text, *forced;

	write_guest("guest.elf");
	snprintf(words, sizeof(words), "guest.elf mode=guest top=0 format=%s %s",
		 formats[format], splits[_i / N_FORMATS]);
	kit_start(&run, words);
	feed(&run);
	run.options.force = 0;
	text = kit_report(&run);
	ck_assert(run.refused);
	check_withheld(text, format);
	run.options.force = 1;
	forced = kit_report(&run);
	ck_assert(run.refused);
	ck_assert_ptr_nonnull(strstr(forced, "zz_compute"));
	if (format == 0)
		ck_assert_int_eq(strncmp(forced, "!! ", 3), 0);
	if (format == 2)
		ck_assert_uint_eq(folded_sum(text), folded_sum(forced));
	free(text);
	free(forced);
	hlg_run_finish(&run);
}
END_TEST

/* The views of both, in every policy: what was counted is the same. */
START_TEST(sums_are_conserved)
{
	struct hlg_report r, forced;
	struct hlg_run run;
	char words[128];

	write_guest("guest.elf");
	snprintf(words, sizeof(words), "guest.elf %s", splits[_i]);
	kit_start(&run, words);
	feed(&run);
	kit_build(&run, &forced);
	run.options.force = 0;
	kit_build(&run, &r);
	ck_assert(r.suppressed);
	ck_assert(!forced.suppressed);
	kit_check_raw_view(&r.all, run.options.region);
	ck_assert_mem_eq(r.all.kinds, forced.all.kinds, sizeof(r.all.kinds));
	ck_assert_mem_eq(&r.all.guest, &forced.all.guest, sizeof(r.all.guest));
	ck_assert_mem_eq(&r.all.kept, &forced.all.kept, sizeof(r.all.kept));
	ck_assert_mem_eq(&r.all.padding, &forced.all.padding, sizeof(r.all.padding));
	/* What is not named is not credited to another symbol either. */
	ck_assert_uint_eq(r.all.stretched.samples, 0);
	ck_assert_int_eq(forced.all.stretched.samples > 0, _i == 3);
	/* 300 and 10 addresses in .text, 9 and 50 of them in its first gaps, and 3. */
	ck_assert_uint_eq(r.all.n_rows, _i == 2 ? 313 - 59 : 313);
	ck_assert_uint_eq(r.n_groups, forced.n_groups);
	for (uint32_t i = 0; i < r.n_groups; i++)
		kit_check_raw_view(&r.groups[i].view, run.options.region);
	hlg_report_finish(&r);
	hlg_report_finish(&forced);
	hlg_run_finish(&run);
}
END_TEST

/* What fits, or is too little to tell, is named without being asked. */
START_TEST(what_fits_is_named)
{
	struct hlg_run run;
	char *text;

	write_guest("guest.elf");
	kit_start(&run, "guest.elf");
	run.options.force = 0;
	hlg_profile_event(&run.profile, "a", 0);
	for (uint64_t i = 0; i < (_i ? 30 : 3); i++)
		kit_add(&run, 0, KIT_BASE + 0x1060 + 4 * i, 1, 2);
	text = kit_report(&run);
	ck_assert(!run.refused);
	ck_assert_ptr_nonnull(
		strstr(text, _i ? "\ncheck     OK: all 60 samples lie"
				: "\ncheck     cannot tell: 3 distinct addresses, 12 are"));
	ck_assert_ptr_nonnull(strstr(text, "  zz_compute"));
	ck_assert_ptr_null(strstr(text, "!!"));
	ck_assert_ptr_null(strstr(text, "are not named"));
	free(text);
	hlg_run_finish(&run);
}
END_TEST

static void check_remarks(struct hlg_run *run, const char *const *begins)
{
	struct hlg_report r;
	size_t n = 0;

	kit_build(run, &r);
	for (; n < r.remarks.n; n++) {
		ck_assert_msg(begins[n], "too many: %s", r.remarks.line[n]);
		ck_assert_msg(strncmp(r.remarks.line[n], begins[n], strlen(begins[n])) ==
				      0,
			      "'%s' in place of '%s'", r.remarks.line[n], begins[n]);
	}
	ck_assert_msg(!begins[n], "missing: %s", begins[n]);
	hlg_report_finish(&r);
}

/* Only of events with samples; a member of a group says so. */
START_TEST(remarks_on_events)
{
	static const char *const remarks[] = {
		"guest.elf: so few addresses may fit another build of it as well: ",
		"clock is a timer of the host: ", "cycles is a hardware counter: ",
		"cycles is a member of a group: its samples are taken when the leader "
		"overflows, "
		"its period is what it counted since",
		NULL};
	struct hlg_run run;

	kit_trust_guest("guest.elf");
	kit_start(&run, "guest.elf");
	hlg_profile_event(&run.profile, "cycles", 0);
	hlg_profile_describe(&run.profile, 0, HLG_EVENT_COUNTER, true);
	hlg_profile_event(&run.profile, "clock", 0);
	hlg_profile_describe(&run.profile, 1, HLG_EVENT_TIMER, false);
	hlg_profile_event(&run.profile, "faults", 0);
	hlg_profile_describe(&run.profile, 2, HLG_EVENT_SOFTWARE, true);
	kit_add(&run, 0, KIT_BASE + 0x1060, 1, 1);
	kit_add(&run, 1, KIT_BASE + 0x1060, 1, 1);
	check_remarks(&run, remarks);
	hlg_run_finish(&run);
}
END_TEST

START_TEST(remarks_on_images)
{
	static const char *const remarks[] = {
		"a.elf: OK, 100.00 % of 90 samples",
		"b.elf: cannot tell, 50.00 % of 2 samples", "a is of an unknown kind",
		"in the hot region 0x1000 the 90 samples of 7 functions do not just "
		"follow their sizes (chi-square ",
		NULL};
	struct hlg_run run;

	kit_trust_guest("a.elf");
	kit_trust_guest("b.elf");
	kit_start(&run, "a.elf@0x100000 b.elf@0x200000 region=4096");
	hlg_profile_event(&run.profile, "a", 0);
	for (uint64_t i = 0; i < 30; i++)
		kit_add(&run, 0, 0x101060 + 4 * i, 1, 3);
	kit_add(&run, 0, 0x201060, 1, 1);
	kit_add(&run, 0, 0x201061, 1, 1);
	check_remarks(&run, remarks);
	hlg_run_finish(&run);
}
END_TEST

/* What fits another base is a remark as long as more fits here. */
START_TEST(remarks_on_other_bases)
{
	static const char *const remarks[] = {
		"guest.elf: so few addresses may fit another build of it as well: ",
		"32 samples would fit guest.elf at base 0x700000", "a is ",
		"in the hot region ", NULL};
	struct hlg_run run;

	kit_trust_guest("guest.elf");
	kit_start(&run, "guest.elf@0x4000");
	hlg_profile_event(&run.profile, "a", 0);
	for (uint64_t i = 0; i < 32; i++)
		kit_add(&run, 0, 0x701060 + 4 * i, 1, 1);
	for (uint64_t i = 0; i < 5; i++) /* too few addresses to be found themselves */
		kit_add(&run, 0, 0x5060 + 4 * i, 1, 20);
	check_remarks(&run, remarks);
	hlg_run_finish(&run);
}
END_TEST

/* In a mismatch it is the first line that tells, or that there is none. */
START_TEST(the_first_line)
{
	static const char *const few[] = {"a is ", NULL};
	static const char *const many[] = {"a is ", "in the hot region ", NULL};
	static const char *const banner[] = {
		"no sample lies in a function: wrong ELF or wrong base; base 0x700000 "
		"fits 100.00 % (use guest.elf@0x700000)",
		"0.00 % of 60 samples lie on instruction starts (25.00 % by chance): "
		"wrong ELF or wrong base; no base fits",
		"1.23 % of 81 samples lie on instruction starts (25.00 % by chance): "
		"wrong ELF or wrong base; base 0x700000 "
		"fits 100.00 %, and 1 more bases fit others (use guest.elf@auto)"};
	struct hlg_report r;
	struct hlg_run run;

	kit_trust_guest("guest.elf");
	kit_start(&run, "guest.elf@0x4000");
	hlg_profile_event(&run.profile, "a", 0);
	for (uint64_t i = 0; i < 30; i++) {
		if (_i != 0)
			kit_add(&run, 0, 0x5062 + 4 * i, 1, 2);
		if (_i != 1)
			kit_add(&run, 0, 0x701060 + 4 * i, 1, 2);
		if (_i == 2)
			kit_add(&run, 0, 0x801060 + 4 * i, 1, 1);
	}
	if (_i == 2) {
		kit_add(&run, 0, 0x5061, 1, 20);
		kit_add(&run, 0, 0x5060, 1, 1);
	}
	kit_build(&run, &r);
	ck_assert_str_eq(r.banner, banner[_i]);
	hlg_report_finish(&r);
	check_remarks(&run, _i == 0 ? few : many);
	hlg_run_finish(&run);
}
END_TEST

/* Names are withheld, and their sizes mean nothing, unless they are forced. */
START_TEST(remarks_on_a_mismatch)
{
	static const char *const withheld[] = {"a is ", "functions are not named", NULL};
	static const char *const forced[] = {"a is ", "in the hot region ", NULL};
	struct hlg_run run;

	write_guest("guest.elf");
	kit_start(&run, "guest.elf");
	feed(&run);
	check_remarks(&run, forced);
	run.options.force = 0;
	check_remarks(&run, withheld);
	hlg_run_finish(&run);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("withheld");
	TCase *tc = tap_case(suite, "withheld");

	tcase_add_checked_fixture(tc, kit_enter, kit_leave);
	tcase_add_loop_test(tc, names_are_withheld, 0, 6 * N_FORMATS);
	tcase_add_loop_test(tc, sums_are_conserved, 0, 6);
	tcase_add_test(tc, remarks_on_events);
	/* On AArch64 a base hardly stands out. */
	if (HLG_HAVE_ZYDIS) {
		tcase_add_loop_test(tc, what_fits_is_named, 0, 2);
		tcase_add_test(tc, remarks_on_images);
		tcase_add_test(tc, remarks_on_other_bases);
		tcase_add_loop_test(tc, the_first_line, 0, 3);
	}
	tcase_add_test(tc, remarks_on_a_mismatch);
	return tap_main(suite);
}
