// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where a run puts its images: what the user states, what the file states, where the
 * samples fit, and the last resort, in this order, over the small AArch64 guest; @auto
 * passes over the file. Several guests, and several images, of which one may have
 * claimed addresses. No failed allocation decides a base.
 */
#include "config.h"
#include "filter/trust/addresses.h"
#include "filter/trust/guest-bases.h"
#include "filter/trust/per-file.h"

#include <string.h>

#include "tests/kit/filter-trust.h"
#include "tests/kit/oom.h"
#include "tests/kit/tap.h"

static void write_guest(const char *path, const char *version, uint16_t type)
{
	struct mkelf_guest g;

	mkelf_guest_init(&g, 0);
	g.elf.version = version;
	g.elf.type = type;
	mkelf_guest_words(&g, HLG_HAVE_ZYDIS);
	kit_write(&g, path);
}

/* n of the guest's boundaries; 32 is all of one function, and enough. */
static void feed(struct hlg_run *run, uint64_t base, uint64_t n, unsigned samples)
{
	hlg_profile_event(&run->profile, "a", 0);
	for (uint64_t i = 0; i < n; i++)
		kit_add(run, 0, base + 0x1060 + 4 * i, 1, samples);
}

static void settle(struct hlg_run *run)
{
	struct hlg_err err = {0};
	int rc = hlg_run_settle(run, &err);

	ck_assert_msg(rc == 0, "%s", err.msg);
}

static void expect(const struct hlg_image *image, uint64_t base, enum hlg_base_from from)
{
	ck_assert_uint_eq(image->base, base);
	ck_assert_int_eq(image->from, from);
	ck_assert_uint_eq(hlg_image_n_bases(image), 1);
}

static const struct {
	const char *words, *version;
	uint16_t type;
	uint64_t at, n; /* the samples */
	uint64_t base;
	enum hlg_base_from from;
} orders[] = {
	{"guest.elf@0x9000", NULL, ET_DYN, 0x70000, 32, 0x9000, HLG_BASE_STATED},
	{"guest.elf@0x9000", "0.17.0", ET_EXEC, 0x70000, 32, 0x9000, HLG_BASE_STATED},
	/* What the file states stands, unless the samples fit another base wholly. */
	{"guest.elf", "0.17.0", ET_DYN, 0x4000, 32, 0x4000, HLG_BASE_NOTE},
	{"guest.elf", "0.17.0", ET_DYN, 0x70000, 32, 0x70000, HLG_BASE_FOUND},
	{"guest.elf", "0.17.0", ET_DYN, 0x70000, 7, 0x4000, HLG_BASE_NOTE},
	{"guest.elf", "0.17.0", ET_DYN, 0x70001, 32, 0x4000, HLG_BASE_NOTE},
	{"guest.elf", NULL, ET_EXEC, 0, 32, 0, HLG_BASE_EXEC},
	{"guest.elf", NULL, ET_EXEC, 0x70000, 32, 0x70000, HLG_BASE_FOUND},
	{"guest.elf", NULL, ET_EXEC, 0x70000, 7, 0, HLG_BASE_EXEC},
	{"guest.elf strict-base=yes", "0.17.0", ET_DYN, 0x70000, 32, 0x4000,
	 HLG_BASE_NOTE},
	{"guest.elf strict-base=yes", NULL, ET_EXEC, 0x70000, 32, 0, HLG_BASE_EXEC},
	{"guest.elf emit=pass", "0.17.0", ET_DYN, 0x70000, 32, 0x4000, HLG_BASE_NOTE},
	{"guest.elf", NULL, ET_DYN, 0x70000, 32, 0x70000, HLG_BASE_FOUND},
	{"guest.elf", "0.1.0", ET_DYN, 0x70000, 32, 0x70000, HLG_BASE_FOUND},
	{"guest.elf", NULL, ET_DYN, 0, 32, 0, HLG_BASE_FOUND},
	{"guest.elf", NULL, ET_DYN, 0x70000, 7, 0x1000, HLG_BASE_DEFAULT},
	{"guest.elf", NULL, ET_DYN, 0x70000, 0, 0x1000, HLG_BASE_DEFAULT},
	{"guest.elf", NULL, ET_DYN, 0x70001, 32, 0x1000, HLG_BASE_DEFAULT},
	{"guest.elf@auto", "0.17.0", ET_DYN, 0x70000, 32, 0x70000, HLG_BASE_FOUND},
	{"guest.elf@auto", NULL, ET_EXEC, 0x70000, 32, 0x70000, HLG_BASE_FOUND},
	{"guest.elf@auto", "0.17.0", ET_DYN, 0x70000, 7, 0x4000, HLG_BASE_NOTE},
	{"guest.elf@auto", NULL, ET_EXEC, 0x70000, 7, 0, HLG_BASE_EXEC},
	{"guest.elf@auto", NULL, ET_DYN, 0x70000, 7, 0x1000, HLG_BASE_DEFAULT},
	/* Samples that are handed on need a place before there are any. */
	{"guest.elf emit=lines", NULL, ET_DYN, 0x70000, 32, 0x1000, HLG_BASE_DEFAULT},
	{"guest.elf@auto emit=lines", "0.17.0", ET_DYN, 0x70000, 32, 0x4000,
	 HLG_BASE_NOTE},
};

START_TEST(bases_are_decided_in_order)
{
	struct hlg_run run;

	write_guest("guest.elf", orders[_i].version, orders[_i].type);
	kit_start(&run, orders[_i].words);
	feed(&run, orders[_i].at, orders[_i].n, 1);
	settle(&run);
	expect(run.space.images[0], orders[_i].base, orders[_i].from);
	settle(&run); /* once for all */
	expect(run.space.images[0], orders[_i].base, orders[_i].from);
	hlg_run_finish(&run);
}
END_TEST

/* All guests of one image, the largest first; each with its own samples. */
START_TEST(several_guests)
{
	struct hlg_run run;
	char *text;

	write_guest("guest.elf", NULL, ET_DYN);
	kit_start(&run, "guest.elf verbose=yes");
	feed(&run, 0x70000, 32, 1);
	feed(&run, 0x4000, 30, 2);
	feed(&run, 0x7f0000000000, 20, 10);
	feed(&run, 0x900000, 5, 100); /* too few */
	text = kit_report(&run);
	ck_assert_uint_eq(hlg_image_n_bases(run.space.images[0]), 3);
	ck_assert_uint_eq(hlg_image_base(run.space.images[0], 0).base, 0x7f0000000000);
	ck_assert_uint_eq(hlg_image_base(run.space.images[0], 1).base, 0x4000);
	ck_assert_uint_eq(hlg_image_base(run.space.images[0], 2).base, 0x70000);
	ck_assert_ptr_nonnull(strstr(
		text, "\n          build id b01d1dead0beef000102030405060708090a0b0c\n"
		      "            0x7f0000000000              200 "
		      "samples\n"
		      "            0x4000                       60 "
		      "samples\n"
		      "            0x70000                      32 "
		      "samples\n"));
	free(text);
	hlg_run_finish(&run);
}
END_TEST

static void write_text(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	ck_assert_ptr_nonnull(f);
	fputs(text, f);
	ck_assert_int_eq(fclose(f), 0);
}

static const struct {
	const char *words;
	uint64_t at, n, off; /* samples elsewhere, and one of them off boundaries */
	size_t also;
} others[] = {
	{"guest.elf", 0x70000, 32, 0, 1},
	{"guest.elf", 0x70000, 7, 0, 0},
	{"guest.elf", 0x70000, 30, 0x71061, 0}, /* fits, but not wholly */
	{"guest.elf", 0x70001, 32, 0, 0},
	{"guest.elf@0x4000", 0x70000, 32, 0, 0},
	{"guest.elf strict-base=yes", 0x70000, 32, 0, 0},
	{"guest.elf emit=pass", 0x70000, 32, 0, 0},
	{"guest.elf b.elf@0x72000", 0x70000, 32, 0, 0}, /* another is in the way, */
	{"guest.elf b.elf@0x6f000", 0x70000, 32, 0, 0}, /* or begins before */
	{"guest.elf b.elf@0x73000", 0x70000, 32, 0, 0}, /* or at the last page */
	{"guest.elf b.elf@0x80000", 0x70000, 32, 0, 1},
	{"guest.elf map:in.map", 0x70000, 32, 0, 0},
	{"guest.elf map:around.map", 0x70000, 32, 0, 1},
};

/* Guests of one image beside those where its file says. */
START_TEST(guests_beside_the_files_base)
{
	struct hlg_run run;
	const struct hlg_image *image;

	write_guest("guest.elf", "0.17.0", ET_DYN);
	write_guest("b.elf", NULL, ET_DYN);
	write_text("in.map", "71000 10 f\n");
	write_text("around.map", "60000 10 f\n90000 10 g\n");
	kit_start(&run, others[_i].words);
	feed(&run, 0x4000, 32, 3);
	feed(&run, others[_i].at, others[_i].n, 1);
	if (others[_i].off)
		kit_add(&run, 0, others[_i].off, 1, 1);
	image = run.space.images[0];
	for (int again = 0; again < 2; again++) {
		settle(&run);
		ck_assert_uint_eq(image->base, 0x4000);
		ck_assert_uint_eq(hlg_image_n_bases(image), 1 + others[_i].also);
		ck_assert_uint_eq(image->n_also_found, others[_i].also);
	}
	if (others[_i].also)
		ck_assert_uint_eq(hlg_image_base(image, 1).base, 0x70000);
	hlg_run_finish(&run);
}
END_TEST

/* They vouch for no sample where the file's base is, which few addresses bear out. */
START_TEST(few_are_not_vouched_for)
{
	struct hlg_run run;

	write_guest("guest.elf", "0.17.0", ET_DYN);
	kit_start(&run, "guest.elf");
	feed(&run, 0x4000, 2, 50);
	feed(&run, 0x70000, 32, 1);
	settle(&run);
	expect(run.space.images[0], 0x4000, HLG_BASE_NOTE);
	hlg_run_finish(&run);
}
END_TEST

/* Samples on boundaries and off them, of so many addresses each. */
struct some {
	uint64_t on, on_each, off, off_each;
};

static void feed_some(struct hlg_run *run, uint64_t base, const struct some *some)
{
	feed(run, base, some->on, (unsigned)some->on_each);
	for (uint64_t i = 0; i < some->off; i++)
		kit_add(run, 0, base + 0x1061 + 4 * i, 1, (unsigned)some->off_each);
}

static const struct {
	struct some here; /* where the file has it */
	uint64_t elsewhere;
	struct some there;
	bool moves;
} refusals[] = {
	/* What is verified stays, also where more lie across it. */
	{{12, 1, 0, 0}, 0x5000, {32, 1, 0, 0}, false},
	/* Mixed is not verified. */
	{{12, 1, 3, 1}, 0x70000, {32, 1, 0, 0}, true},
	/* More must fit there than fit here. */
	{{6, 50, 4, 10}, 0x70000, {32, 5, 0, 0}, false},
	{{6, 50, 4, 10}, 0x70000, {32, 10, 0, 0}, true},
	{{6, 50, 4, 100}, 0x70000, {32, 10, 0, 0}, true},
	/* Nearly all must, of samples and of addresses. */
	{{2, 1, 0, 0}, 0x70000, {32, 100, 1, 1}, false},
	{{2, 1, 0, 0}, 0x70000, {32, 1, 1, 100}, false},
	{{2, 1, 0, 0}, 0x70000, {32, 100, 0, 0}, true},
	/* One of several bases is the file's. */
	{{32, 3, 2, 100}, 0x70000, {32, 20, 0, 0}, false},
};

START_TEST(the_files_base_is_refused)
{
	struct hlg_run run;

	write_guest("guest.elf", "0.17.0", ET_DYN);
	kit_start(&run, "guest.elf");
	feed_some(&run, 0x4000, &refusals[_i].here);
	feed_some(&run, refusals[_i].elsewhere, &refusals[_i].there);
	settle(&run);
	ck_assert_uint_eq(run.space.images[0]->base,
			  refusals[_i].moves ? refusals[_i].elsewhere : 0x4000);
	ck_assert_int_eq(run.space.images[0]->from,
			 refusals[_i].moves ? HLG_BASE_FOUND : HLG_BASE_NOTE);
	hlg_run_finish(&run);
}
END_TEST

/* Where the file's base is among those that the samples fit, it stays, whatever more lie
 * elsewhere and however many here fit none. */
START_TEST(a_base_that_some_fit_stays)
{
	struct hlg_run run;

	write_guest("guest.elf", "0.17.0", ET_DYN);
	kit_start(&run, "guest.elf");
	feed(&run, 0x4000, 32, 3);
	feed(&run, 0x70000, 32, 20);
	for (int i = 0; i < _i; i++)
		kit_add(&run, 0, 0x4000 + 0x1061 + 4 * (uint64_t)i, 1, 1);
	settle(&run);
	ck_assert_uint_eq(run.space.images[0]->base, 0x4000);
	ck_assert_int_eq(run.space.images[0]->from, HLG_BASE_NOTE);
	hlg_run_finish(&run);
}
END_TEST

/* A guest of a recording that is searched one by one: so many boundaries from 0x1060 on,
 * and an address more, in a stretch. */
static void add_guest(struct hlg_run *run, uint32_t sandbox, uint32_t stretch,
		      uint64_t base, uint64_t n, uint64_t more)
{
	for (uint64_t i = 0; i <= n; i++) {
		struct hlg_sample s =
			kit_sample(0, base + (i < n ? 0x1060 + 4 * i : more));

		s.sandbox = sandbox;
		s.stretch = stretch;
		if (i < n || more)
			hlg_profile_add(&run->profile, &s);
	}
}

/* A guest of few addresses lies where another was found if all of it fits, or is where
 * nothing tells, as in a gap; else it is told with all samples that it has. */
START_TEST(few_are_matched)
{
	static const uint64_t more[] = {0, 0x10e0, 0x1061};
	struct hlg_guest_bases_finder finder;
	struct hlg_guest_bases_found found;
	struct hlg_guest_bases bases = {0};
	const bool fits = _i < 2;
	struct hlg_run run;

	write_guest("guest.elf", NULL, ET_DYN);
	kit_start(&run, "guest.elf");
	hlg_profile_event(&run.profile, "a", 0);
	hlg_profile_keep_apart(&run.profile);
	for (int i = 0; i < 3; i++)
		ck_assert(hlg_sandboxes_add(&run.profile.sandboxes, 1, 5 + i));
	add_guest(&run, 1, 0, 0x70000, 32, 0);
	add_guest(&run, 2, 0, 0x70000, 5, more[_i]);
	add_guest(&run, 3, 0, 0x900001, 4, 0);
	add_guest(&run, 3, 1, 0x900001, 7, 0);
	ck_assert(hlg_guest_bases_find_begin(&finder, &run.space));
	ck_assert(hlg_guest_bases_find(&finder, &run.profile, &found));
	ck_assert_uint_eq(found.n, fits ? 2 : 1);
	ck_assert_uint_eq(found.at[0].samples, 32);
	if (fits)
		ck_assert_uint_eq(found.at[1].samples, 5 + (_i > 0));
	ck_assert(hlg_guest_bases_settle(&bases, &run.space,
					 &(struct hlg_runners_recording){.path = "x"},
					 false, &found));
	ck_assert_uint_eq(bases.n, 1);
	ck_assert_uint_eq(bases.at[0].base, 0x70000);
	ck_assert_uint_eq(bases.untold, fits ? 1 : 2);
	ck_assert_uint_eq(bases.notes.n, bases.untold);
	ck_assert_str_eq(bases.notes.line[bases.notes.n - 1],
			 "x: sandbox 3 has 11 samples, of which no base was found: "
			 "outside here");
	hlg_guest_bases_find_finish(&found);
	hlg_guest_bases_finish(&bases);
	hlg_guest_bases_find_end(&finder);
	hlg_run_finish(&run);
}
END_TEST

/* A recording of both is judged at both; one of the others alone, where these are. */
START_TEST(a_recording_is_judged_at_all_bases)
{
	struct hlg_per_file_verdict fit;
	struct hlg_per_file judge;
	struct hlg_run run;

	write_guest("guest.elf", "0.17.0", ET_DYN);
	kit_start(&run, "guest.elf");
	ck_assert(hlg_per_file_begin(&judge, &run.space, run.options.gaps));
	if (_i == 0)
		feed(&run, 0x4000, 32, 3);
	feed(&run, 0x70000, 32, 1);
	ck_assert(hlg_per_file_judge(&judge, &run.profile, &fit));
	ck_assert_uint_eq(fit.base, _i == 0 ? 0x4000 : 0x70000);
	ck_assert_uint_eq(fit.n_bases, _i == 0 ? 2 : 1);
	ck_assert_int_eq(fit.verdict, HLG_TRUST_VERIFIED);
	hlg_per_file_finish(&judge);
	hlg_run_finish(&run);
}
END_TEST

/* And what is said of them. */
START_TEST(guests_beside_the_files_base_are_told)
{
	struct hlg_run run;
	char *text;

	write_guest("guest.elf", "0.17.0", ET_DYN);
	kit_start(&run, "guest.elf");
	feed(&run, 0x4000, 32, 3);
	feed(&run, 0x70000, 32, 1);
	feed(&run, 0x90000, 32, 2);
	text = kit_report(&run);
	ck_assert_ptr_nonnull(strstr(
		text, "3 bases (Hyperlight note 0.17.0; others from the samples)"));
	ck_assert_ptr_nonnull(strstr(
		text, "warning:  guest.elf: some samples fit base 0x4000 (from the "
		      "Hyperlight note, version 0.17.0), others 0x90000 and 1 more "
		      "base; all are used (guest.elf@0x4000 keeps to the first)\n"));
	free(text);
	hlg_run_finish(&run);
}
END_TEST

/* Addresses that lie in an image with a base say nothing of another's. */
START_TEST(claimed_addresses_are_not_asked)
{
	struct hlg_run run;

	write_guest("a.elf", NULL, ET_DYN);
	write_guest("b.elf", NULL, ET_DYN);
	kit_start(&run, "a.elf b.elf@0x70000");
	feed(&run, 0x70000, 32, 5);
	feed(&run, 0x4000, 32, 1);
	settle(&run);
	expect(run.space.images[0], 0x4000, HLG_BASE_FOUND);
	expect(run.space.images[1], 0x70000, HLG_BASE_STATED);
	hlg_run_finish(&run);
}
END_TEST

/* ELFs that nothing states, or whose base is to be found, with boundaries at a base:
 * where the first is, and the second, in whatever order they are named. */
static const struct {
	const char *words[2], *version; /* of the first */
	uint64_t at, n;
	enum hlg_base_from from[2];
	uint64_t base[2];
} several[] = {
	/* One takes all that fit; nothing is left for the other. */
	{{"a.elf", "b.elf@auto"}, NULL, 0x70000, 32, {HLG_BASE_FOUND}, {0x70000}},
	/* No sample fits where the file has it, or where it would be assumed to be. */
	{{"a.elf@auto", "b.elf@auto"}, "0.17.0", 0x70001, 32, {HLG_BASE_NONE}, {0}},
	{{"a.elf@auto", "b.elf@auto"}, "0.17.0", 0x70000, 0, {HLG_BASE_NONE}, {0}},
	{{"a.elf", "b.elf"}, NULL, 0x70000, 7, {HLG_BASE_NONE}, {0}},
	{{"a.elf@0x90000", "b.elf"}, NULL, 0x70000, 7, {HLG_BASE_STATED}, {0x90000}},
	/* All do, though they are too few to find it. */
	{{"a.elf@auto", "b.elf"}, "0.17.0", 0x4000, 7, {HLG_BASE_NOTE}, {0x4000}},
	{{"a.elf@0x90000", "b.elf"},
	 NULL,
	 0x1000,
	 7,
	 {HLG_BASE_STATED, HLG_BASE_DEFAULT},
	 {0x90000, 0x1000}},
	/* Of either: neither goes before the other. */
	{{"a.elf", "b.elf"}, NULL, 0x1000, 7, {HLG_BASE_NONE}, {0}},
};

START_TEST(the_order_of_elfs_does_not_count)
{
	for (int order = 0; order < 2; order++) {
		struct hlg_run run;
		char words[64];

		write_guest("a.elf", several[_i].version, ET_DYN);
		write_guest("b.elf", NULL, ET_DYN);
		snprintf(words, sizeof(words), "%s %s", several[_i].words[order],
			 several[_i].words[!order]);
		kit_start(&run, words);
		feed(&run, several[_i].at, several[_i].n, 5);
		settle(&run);
		for (int i = 0; i < 2; i++) {
			const struct hlg_image *image = run.space.images[i ^ order];

			ck_assert_int_eq(image->from, several[_i].from[i]);
			ck_assert_uint_eq(image->base, several[_i].base[i]);
		}
		hlg_run_finish(&run);
	}
}
END_TEST

/* A guest with instructions of one function elsewhere than in others. */
static void write_other(const char *path, uint64_t addr, size_t function, size_t size,
			uint64_t longer)
{
	static const uint8_t nop[] = {0x66, 0x90};
	struct mkelf_guest g;

	mkelf_guest_init(&g, addr);
	g.elf.version = NULL;
	g.elf.type = addr ? ET_EXEC : ET_DYN;
	g.seg[MKELF_SEG_DATA].memsz += longer;
	mkelf_guest_words(&g, true);
	memmove(&g.text[function + sizeof(nop)], &g.text[function], size - sizeof(nop));
	memcpy(&g.text[function], nop, sizeof(nop));
	kit_write(&g, path);
}

/* Of two builds that fit the same samples that is there which more do; the other where it
 * is found in what is left, though the samples of the first stood in its way there. */
START_TEST(what_more_samples_fit_goes_first)
{
	static const char *const words[] = {"a.elf z.elf", "z.elf a.elf"};
	const int order = _i % 2;
	const struct hlg_image *a, *z;
	struct hlg_run run;

	write_other("a.elf", 0, 0x180, 0x40, 0x6000);
	write_guest("z.elf", NULL, ET_DYN);
	kit_start(&run, words[order]);
	feed(&run, 0x20000, 32, 1);
	for (uint64_t i = 0; i < 24; i++) {
		kit_add(&run, 0, 0x20000 + 0x1120 + 4 * i, 1, 1);
		if (i < 13)
			kit_add(&run, 0, 0x20000 + 0x1020 + 4 * i, 1, 1);
		if (i < 4)
			kit_add(&run, 0, 0x20000 + 0x1180 + 4 * i, 1, 1);
		if (i < 14 && _i > 1)
			kit_add(&run, 0, 0x24000 + 0x1182 + 4 * i, 1, 1);
	}
	settle(&run);
	a = run.space.images[order];
	z = run.space.images[!order];
	expect(z, 0x20000, HLG_BASE_FOUND);
	if (_i > 1)
		expect(a, 0x24000, HLG_BASE_FOUND);
	else
		ck_assert_int_eq(a->from, HLG_BASE_NONE);
	hlg_run_finish(&run);
}
END_TEST

/* What is refused and lies where another belongs makes room for that. */
START_TEST(one_that_moves_makes_room)
{
	static const char *const words[] = {"a.elf z.elf", "z.elf a.elf"};
	struct hlg_run run;

	write_guest("a.elf", "0.17.0", ET_DYN);
	write_other("z.elf", 0x20000, 0x60, 0x80, 0);
	kit_start(&run, words[_i]);
	feed(&run, 0x20000, 32, 5);
	feed(&run, 0x90002, 30, 3);
	settle(&run);
	expect(run.space.images[_i], 0x20000, HLG_BASE_FOUND);
	expect(run.space.images[!_i], 0x90000, HLG_BASE_FOUND);
	hlg_run_finish(&run);
}
END_TEST

/* Of bases those are left that have a sample: at the first byte of the image, or the
 * last; all of an image of which none has any. */
START_TEST(bases_are_narrowed)
{
	static const struct hlg_guest_base at[] = {
		{0, 0x100000, 1, 0}, {0, 0x200000, 1, 0}, {0, 0x300000, 1, 0},
		{0, 0x400000, 1, 0}, {0, 0x400000, 1, 1}, {1, 0x500000, 1, 0}};
	struct hlg_guest_bases bases = {0};
	struct hlg_run run;
	uint64_t size;

	write_guest("a.elf", NULL, ET_DYN);
	write_guest("b.elf", NULL, ET_DYN);
	kit_start(&run, "a.elf@auto b.elf@auto");
	size = run.space.images[0]->end - run.space.images[0]->first;
	hlg_profile_event(&run.profile, "a", 0);
	kit_add(&run, 0, at[0].base, 1, 1);
	kit_add(&run, 0, at[1].base + size - 1, 1, 1);
	kit_add(&run, 0, at[2].base - 1, 1, 1);
	kit_add(&run, 0, at[2].base + size, 1, 1);
	kit_add(&run, 0, at[4].base + hlg_lane_move(1), 1, 1);
	bases.n = sizeof(at) / sizeof(*at);
	bases.at = malloc(sizeof(at));
	ck_assert_ptr_nonnull(bases.at);
	memcpy(bases.at, at, sizeof(at));
	ck_assert(hlg_guest_bases_narrow(&bases, &run.space, &run.profile));
	ck_assert_uint_eq(bases.n, 4);
	ck_assert_mem_eq(&bases.at[0], &at[0], 2 * sizeof(*at));
	ck_assert_mem_eq(&bases.at[2], &at[4], 2 * sizeof(*at));
	hlg_guest_bases_finish(&bases);
	hlg_run_finish(&run);
}
END_TEST

/* One address of several series is one; those of the host and deselected are none. */
START_TEST(addresses_are_collected)
{
	struct hlg_addresses addrs;
	struct hlg_run run;
	struct hlg_sample s;

	write_guest("guest.elf", NULL, ET_DYN);
	kit_start(&run, "guest.elf by=tid pid=1");
	s = kit_sample(hlg_profile_event(&run.profile, "a", 0), 0);
	for (uint64_t i = 0; i < 300; i++) {
		s.ip = (i * 7 % 100) << 40;
		s.tid = (int32_t)(i % 7);
		s.pid = i % 100 == 99 ? 2 : 1;
		s.cpumode = i % 100 == 98 ? 2 : 5;
		hlg_profile_add(&run.profile, &s);
	}
	ck_assert(hlg_addresses_collect(&addrs, &run.profile));
	ck_assert_uint_eq(addrs.n, 98);
	for (size_t i = 0; i < addrs.n; i++) {
		ck_assert_uint_eq(addrs.at[i].samples, 3);
		ck_assert(i == 0 || addrs.at[i - 1].ip < addrs.at[i].ip);
	}
	hlg_addresses_finish(&addrs);
	hlg_addresses_finish(&addrs);
	hlg_run_finish(&run);
}
END_TEST

static void expect_picked(const struct hlg_run *run, const struct hlg_addresses *all,
			  const struct hlg_image *image, const uint64_t *ips, size_t n)
{
	struct hlg_addresses some;

	ck_assert(hlg_addresses_pick(&some, all, &run->space, image));
	ck_assert_uint_eq(some.n, n);
	for (size_t i = 0; i < n; i++) {
		ck_assert_uint_eq(some.at[i].ip, ips[i]);
		ck_assert_uint_eq(some.at[i].samples, ips[i] % 4 + 1);
	}
	hlg_addresses_finish(&some);
}

/* Each image is asked for what is its own and what is nobody's, by address. */
START_TEST(addresses_are_picked_by_image)
{
	static const uint64_t ips[] = {0x70001, 0x9003, 0x30002, 0x70100,
				       0x30010, 0x10,   0xf000};
	struct hlg_addresses all;
	struct hlg_run run;

	write_guest("a.elf", NULL, ET_DYN);
	write_guest("b.elf", NULL, ET_DYN);
	write_guest("c.elf", NULL, ET_DYN);
	kit_start(&run, "a.elf@0x70000 b.elf@0x30000 c.elf@0x50000");
	hlg_profile_event(&run.profile, "a", 0);
	for (size_t i = 0; i < sizeof(ips) / sizeof(*ips); i++)
		kit_add(&run, 0, ips[i], 1, (unsigned)(ips[i] % 4 + 1));
	ck_assert_uint_eq(run.space.images[2]->number, 2);
	ck_assert(hlg_space_has(&run.space, run.space.images[2]));
	ck_assert(!hlg_space_has(&run.space, NULL));
	ck_assert(hlg_addresses_collect(&all, &run.profile));
	expect_picked(&run, &all, run.space.images[0],
		      (uint64_t[]){0x10, 0x9003, 0xf000, 0x70001, 0x70100}, 5);
	expect_picked(&run, &all, run.space.images[1],
		      (uint64_t[]){0x10, 0x9003, 0xf000, 0x30002, 0x30010}, 5);
	expect_picked(&run, &all, run.space.images[2], (uint64_t[]){0x10, 0x9003, 0xf000},
		      3);
	expect_picked(&run, &all, NULL, (uint64_t[]){0x10, 0x9003, 0xf000}, 3);
	hlg_addresses_finish(&all);
	hlg_run_finish(&run);
}
END_TEST

/* Each allocation fails in turn: an error, or the base that is right. */
START_TEST(no_memory_decides_nothing)
{
	bool struck = true;
	unsigned n;

	write_guest("guest.elf", NULL, ET_DYN);
	for (n = 1; struck; n++) {
		struct hlg_err err = {0};
		struct hlg_run run;
		int rc;

		kit_start(&run, "guest.elf");
		feed(&run, 0x70000, 32, 1);
		feed(&run, 0x4000, 20, 1);
		oom_arm(n, _i);
		rc = hlg_run_settle(&run, &err);
		struck = oom_disarm();
		ck_assert_int_eq(rc, struck ? HLG_ESYSTEM : 0);
		if (struck)
			ck_assert_ptr_nonnull(strstr(err.msg, "out of memory"));
		else
			ck_assert_uint_eq(hlg_image_n_bases(run.space.images[0]), 2);
		hlg_run_finish(&run);
	}
	ck_assert_uint_gt(n, 8);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("base-search");
	TCase *tc = tap_case(suite, "base-search");

	tcase_add_checked_fixture(tc, kit_enter, kit_leave);
	tcase_add_test(tc, bases_are_narrowed);
	tcase_add_test(tc, addresses_are_collected);
	tcase_add_test(tc, addresses_are_picked_by_image);
	/* On AArch64 a base hardly stands out. */
	if (HLG_HAVE_ZYDIS) {
		tcase_add_loop_test(tc, bases_are_decided_in_order, 0,
				    sizeof(orders) / sizeof(orders[0]));
		tcase_add_test(tc, several_guests);
		tcase_add_loop_test(tc, guests_beside_the_files_base, 0,
				    sizeof(others) / sizeof(others[0]));
		tcase_add_test(tc, few_are_not_vouched_for);
		tcase_add_loop_test(tc, the_files_base_is_refused, 0,
				    sizeof(refusals) / sizeof(refusals[0]));
		tcase_add_loop_test(tc, a_base_that_some_fit_stays, 0, 4);
		tcase_add_loop_test(tc, few_are_matched, 0, 3);
		tcase_add_loop_test(tc, a_recording_is_judged_at_all_bases, 0, 2);
		tcase_add_test(tc, guests_beside_the_files_base_are_told);
		tcase_add_test(tc, claimed_addresses_are_not_asked);
		tcase_add_loop_test(tc, the_order_of_elfs_does_not_count, 0,
				    sizeof(several) / sizeof(several[0]));
		tcase_add_loop_test(tc, what_more_samples_fit_goes_first, 0, 4);
		tcase_add_loop_test(tc, one_that_moves_makes_room, 0, 2);
		tcase_add_loop_test(tc, no_memory_decides_nothing, 0, 2);
	}
	return tap_main(suite);
}
