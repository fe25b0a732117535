// SPDX-License-Identifier: GPL-2.0-only
/*
 * How many samples of each row lie at an edge, against a count by hand. The functions of
 * the small AArch64 guest are filled with random calls, branches, returns and nops whose
 * targets are known as they are written; samples fall anywhere, also between
 * instructions, in gaps and outside, at two bases and in several series.
 */
#include "filter/trust/trust.h"

#include <string.h>

#include "tests/kit/filter-trust.h"
#include "tests/kit/tap.h"

static const struct {
	uint64_t start, end;
} functions[] = {{0x1000, 0x1020}, {0x1020, 0x1054}, {0x1060, 0x10e0}, {0x1120, 0x1180},
		 {0x1180, 0x11c0}, {0x11c0, 0x11e0}, {0x1200, 0x1220}};

enum {
	N = sizeof(functions) / sizeof(functions[0])
};

static bool in[KIT_TRUST_SIZE]; /* control comes in here */

static void put(struct mkelf_guest *g, uint64_t addr, uint32_t word)
{
	for (int i = 0; i < 4; i++)
		g->text[addr - 0x1000 + (uint64_t)i] = (uint8_t)(word >> 8 * i);
}

/* One instruction, and what it lets in; a branch may leave the function. */
static void draw(struct mkelf_guest *g, int f, uint64_t addr, uint64_t *random)
{
	uint64_t start = functions[f].start, end = functions[f].end;
	uint64_t target = 0x1000 + 4 * kit_random(random, 0x220 / 4);
	uint32_t off;
	bool returns = false;

	if (kit_random(random, 2))
		target = start + 4 * kit_random(random, (end - start) / 4);
	off = (uint32_t)((int64_t)(target - addr) / 4);
	switch (kit_random(random, 8)) {
	case 0: /* bl */
		put(g, addr, 0x94000000 | (off & 0x3ffffff));
		returns = true;
		break;
	case 1: /* blr x3 */
		put(g, addr, 0xd63f0060);
		returns = true;
		break;
	case 2: /* cbz x1 */
		put(g, addr, 0xb4000001 | (off & 0x7ffff) << 5);
		in[target] |= target >= start && target < end;
		break;
	case 3: /* br x3 */
		put(g, addr, 0xd61f0060);
		break;
	default:
		put(g, addr, 0xd503201f);
	}
	if (returns && addr + 4 < end)
		in[addr + 4] = true;
}

static void write_guest(uint64_t *random)
{
	struct mkelf_guest g;

	memset(in, 0, sizeof(in));
	mkelf_guest_init(&g, 0);
	g.elf.machine = EM_AARCH64;
	mkelf_guest_code(&g);
	for (int f = 0; f < N; f++) {
		in[functions[f].start] = true;
		for (uint64_t a = functions[f].start; a < functions[f].end; a += 4)
			draw(&g, f, a, random);
	}
	kit_write(&g, "guest.elf");
}

/* Is one of the reach instructions up to addr, in its function, one of those? */
static bool at_edge(uint64_t start, uint64_t addr, uint64_t reach)
{
	if (addr % 4)
		return false;
	for (uint64_t k = 0; k < reach && addr - 4 * k >= start; k++)
		if (in[addr - 4 * k])
			return true;
	return false;
}

static void check_row(const struct hlg_row *row, const uint64_t *samples, uint64_t reach)
{
	uint64_t edge = 0;

	ck_assert_int_eq(row->edge_known, reach && row->place.symbol);
	for (uint64_t a = row->place.start; row->place.symbol && a < row->place.end; a++)
		edge += at_edge(row->place.start, a, reach) ? samples[a] : 0;
	ck_assert_uint_eq(row->edge, edge);
}

START_TEST(edges_are_counted)
{
	uint64_t random = (uint64_t)_i, reach = (uint64_t)_i % 6;
	uint64_t samples[KIT_TRUST_SIZE] = {0}, found = 0, all[N + 16] = {0};
	struct hlg_report r;
	struct hlg_run run;
	struct hlg_err err;
	char words[64];

	write_guest(&random);
	snprintf(words, sizeof(words), "guest.elf@0x4000 by=tid skid=%ju",
		 (uintmax_t)reach);
	kit_start(&run, words);
	ck_assert_int_eq(hlg_image_add_base(run.space.images[0], 0x700000, &err), 0);
	hlg_profile_event(&run.profile, "a", 0);
	for (int i = 0; i < 2000; i++) {
		uint64_t addr = 0xff0 + kit_random(&random, 0x260);
		struct hlg_sample s = kit_sample(
			0, addr + (kit_random(&random, 2) ? 0x4000 : 0x700000));

		s.tid = (int32_t)kit_random(&random, 3);
		hlg_profile_add(&run.profile, &s);
		samples[addr]++;
	}
	kit_build(&run, &r);
	for (size_t i = 0; i < r.all.n_rows; i++) {
		check_row(&r.all.rows[i], samples, reach);
		found += r.all.rows[i].edge;
		all[i] = r.all.rows[i].edge;
	}
	ck_assert_int_eq(found > 0, reach > 0);
	/* The groups' rows add up to the whole's. */
	for (uint32_t g = 0; g < r.n_groups; g++)
		for (size_t i = 0; i < r.groups[g].view.n_rows; i++) {
			const struct hlg_row *row = &r.groups[g].view.rows[i];

			for (size_t k = 0; k < r.all.n_rows; k++)
				if (strcmp(r.all.rows[k].name, row->name) == 0)
					all[k] -= row->edge;
		}
	for (size_t i = 0; i < r.all.n_rows; i++)
		ck_assert_uint_eq(all[i], 0);
	hlg_report_finish(&r);
	/* Addresses have no edges. */
	run.options.force = 0;
	kit_build(&run, &r);
	ck_assert(r.suppressed);
	for (size_t i = 0; i < r.all.n_rows; i++)
		ck_assert(!r.all.rows[i].edge_known && r.all.rows[i].edge == 0);
	hlg_report_finish(&r);
	hlg_run_finish(&run);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("trust-skid");
	TCase *tc = tap_case(suite, "trust-skid");

	tcase_add_checked_fixture(tc, kit_enter, kit_leave);
	tcase_add_loop_test(tc, edges_are_counted, 0, 60);
	return tap_main(suite);
}
