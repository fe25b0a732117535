// SPDX-License-Identifier: GPL-2.0-only
/*
 * Proves how sure a base must be, as symtab/code/base-find.h has it: a slow search looks
 * at every page, counts those that any address makes a candidate, and says whether the
 * best of them pays for their number and beats what overlaps it. Around the limit, with
 * so few addresses that some sets pass and some do not, both must agree.
 */
#include "symtab/code/base-find.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>

#include "config.h"
#include "tests/kit/mkelf-guest.h"
#include "tests/kit/scratch.h"
#include "tests/kit/tap.h"
#include "tests/unit/symtab/finding.h"

enum {
	PAGE = 4096,
	LEAST = 8
};

struct slow {
	struct hlg_fit best, rival;
	size_t candidates;
};

/* Does any address of the set lie on a boundary of code if the image is at base? */
static bool is_candidate(uint64_t base)
{
	const struct hlg_image *image = finding_guest.image;

	for (size_t i = 0; i < finding_set.n; i++) {
		uint64_t off = finding_set.at[i].ip - base;

		if (finding_set.at[i].ip >= base && off < image->end - image->first &&
		    hlg_code_test(finding_guest.code, image->first + off) ==
			    HLG_BOUNDARY_ON)
			return true;
	}
	return false;
}

/* How the set lies at a base: the formula of base-find.h, address by address. */
static struct hlg_fit slow_fit(uint64_t base)
{
	const struct hlg_image *image = finding_guest.image;
	const struct hlg_density all = hlg_code_total(finding_guest.code);
	const double chance = (double)all.starts / (double)all.bytes;
	struct hlg_fit fit = {.base = base};

	for (size_t i = 0; i < finding_set.n; i++) {
		const uint64_t off = finding_set.at[i].ip - base;
		struct hlg_place place;

		if (finding_set.at[i].ip < base || off >= image->end - image->first)
			continue;
		hlg_image_lookup(image, image->first + off, &place);
		switch (hlg_code_test(finding_guest.code, place.addr)) {
		case HLG_BOUNDARY_ON:
			fit.score += log(0.95 / chance);
			break;
		case HLG_BOUNDARY_OFF:
			fit.score += log(0.05 / (1 - chance));
			break;
		default:
			if (place.kind == HLG_DATA)
				fit.score += log(0.05 / (1 - chance));
		}
	}
	return fit;
}

/* Of the bases from first on that are candidates: the best, or the best near it. */
static struct hlg_fit best_of(uint64_t first, uint64_t last, uint64_t size,
			      const struct hlg_fit *near)
{
	struct hlg_fit best = {.score = -INFINITY}, fit;

	for (uint64_t base = first; base <= last; base += PAGE) {
		if (!is_candidate(base) ||
		    (near && (base == near->base ||
			      (base - near->base >= size && near->base - base >= size))))
			continue;
		fit = slow_fit(base);
		if (fit.score > best.score)
			best = fit;
	}
	return best;
}

static struct slow search(void)
{
	uint64_t size = finding_guest.image->end - finding_guest.image->first;
	uint64_t last = finding_set.at[finding_set.n - 1].ip / PAGE * PAGE;
	uint64_t first = finding_set.at[0].ip / PAGE * PAGE - (size / PAGE + 1) * PAGE;
	struct slow slow = {.best = best_of(first, last, size, NULL)};

	slow.rival = best_of(first, last, size, &slow.best);
	for (uint64_t base = first; base <= last; base += PAGE)
		slow.candidates += is_candidate(base);
	return slow;
}

START_TEST(clear_enough)
{
	uint64_t random = (uint64_t)_i;
	unsigned found = 0, refused = 0;

	if (!sampling_guest(&finding_guest, 0))
		return;
	for (int i = 0; i < 30; i++) {
		struct slow slow;
		bool clear;

		sampled_finish(&finding_set);
		finding_draw((size_t)_i, 0x40000000, &random);
		for (int k = 0; k < i % 3; k++) /* some that are of nothing */
			sampled_add(&finding_set,
				    0x40000000 + sampling_random(&random, SAMPLING_CODE),
				    1);
		finding_run();
		slow = search();
		ck_assert_uint_lt(slow.candidates, 48); /* all of them are looked at */
		clear = finding_set.n >= LEAST &&
			slow.best.score > log(10000.0 * (double)(slow.candidates + 1)) &&
			slow.best.score - slow.rival.score > log(1000);
		ck_assert_uint_eq(finding_found.n, clear);
		if (clear)
			ck_assert_uint_eq(finding_found.fits[0].base, slow.best.base);
		found += clear;
		refused += !clear;
	}
	ck_assert_uint_ge(found, _i > 16 ? 20 : 0);
	ck_assert_uint_ge(refused, _i < 10 ? 10 : 0);
}
END_TEST

/* Right is 95 % on boundaries; by chance as many are as the code has boundaries. */
START_TEST(scores)
{
	uint64_t random = 1;

	if (!sampling_guest(&finding_guest, _i))
		return;
	finding_draw(300, 0x40000000, &random);
	for (int k = 0; k < 10; k++) /* some that are of nothing */
		sampled_add(&finding_set,
			    0x40000000 + sampling_random(&random, SAMPLING_CODE), 1);
	finding_run();
	ck_assert_uint_eq(finding_found.n, 1);
	ck_assert_double_eq_tol(finding_found.fits[0].score, slow_fit(0x40000000).score,
				1e-9);
	if (finding_found.rival.on) /* not of a small guest */
		ck_assert_double_eq_tol(finding_found.rival.score,
					slow_fit(finding_found.rival.base).score, 1e-9);
}
END_TEST

/* Any byte is a boundary of code that is nops only: being on one says next to nothing. */
START_TEST(one_byte_instructions)
{
	struct mkelf_guest g;

	if (!HLG_HAVE_ZYDIS)
		return;
	mkelf_guest_init(&g, 0);
	memset(g.text, 0x90, sizeof(g.text));
	ck_assert(sampling_open(&finding_guest, scratch_elf("nops.elf", &g.elf)));
	mkelf_finish(&g.img);
	for (uint64_t i = 0; i < LEAST; i++)
		sampled_add(&finding_set, 0x40001070 + i, 1);
	finding_run();
	ck_assert_uint_eq(finding_found.n, 0);
	ck_assert_uint_eq(finding_found.best.on, LEAST);
	ck_assert_double_eq_tol(finding_found.best.score, LEAST * log(0.95 / 0.9495),
				1e-9);
}
END_TEST

/* Has the segment, and its section if that is asked for, reach to the last address. */
static void stretch(const char *path, uint64_t vaddr, bool section)
{
	uint64_t size = UINT64_MAX - vaddr;
	FILE *f = fopen(path, "r+b");
	Elf64_Ehdr head;

	ck_assert_ptr_nonnull(f);
	ck_assert_uint_eq(fread(&head, sizeof(head), 1, f), 1);
	fseek(f, (long)(head.e_phoff + offsetof(Elf64_Phdr, p_memsz)), SEEK_SET);
	ck_assert_uint_eq(fwrite(&size, sizeof(size), 1, f), 1);
	fseek(f,
	      (long)(head.e_shoff + sizeof(Elf64_Shdr) + offsetof(Elf64_Shdr, sh_size)),
	      SEEK_SET);
	if (section)
		ck_assert_uint_eq(fwrite(&size, sizeof(size), 1, f), 1);
	ck_assert_int_eq(fclose(f), 0);
}

/* Where a segment's memory ends changes nothing, and takes no time. */
START_TEST(memory_without_file)
{
	static const uint64_t at[] = {0x400000, UINT64_C(0xfffffffffffd0000)};
	const uint64_t vaddr = at[_i & 1], base = at[_i >> 1 & 1];
	const char *path = sampling_write("far.elf", EM_X86_64, vaddr, SAMPLING_CODE, 0);
	struct hlg_image *image;
	struct hlg_code *code;
	struct hlg_err err;
	uint64_t random = 1;

	if (!sampling_open(&finding_guest, path))
		return;
	finding_draw(100, base, &random);
	stretch(path, vaddr, _i & 4);
	ck_assert_int_eq(hlg_image_open_elf(&image, path, &err), 0);
	ck_assert_uint_eq(image->end, UINT64_MAX);
	ck_assert_int_eq(hlg_code_open(&code, image, &err), 0);
	sampled_sort(&finding_set);
	ck_assert(hlg_base_find_all(code, image, finding_set.at, finding_set.n,
				    &finding_found));
	ck_assert_uint_eq(finding_found.n, 1);
	ck_assert_uint_eq(finding_found.fits[0].base, base);
	ck_assert_uint_eq(finding_found.fits[0].on, 100);
	hlg_code_close(code);
	hlg_image_destroy(image);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("base-find-limit");
	TCase *tc = tap_case(suite, "base-find-limit");

	tcase_add_unchecked_fixture(tc, scratch_begin, scratch_end);
	tcase_add_checked_fixture(tc, finding_setup, finding_teardown);
	tcase_add_loop_test(tc, clear_enough, 5, 20);
	tcase_add_loop_test(tc, scores, 0, 3);
	tcase_add_test(tc, one_byte_instructions);
	tcase_add_loop_test(tc, memory_without_file, 0, 8);
	return tap_main(suite);
}
