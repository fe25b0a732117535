// SPDX-License-Identifier: GPL-2.0-only
/*
 * Proves that the flattened tables of symtab/ say of every address of an image what the
 * rules say of it: thousands of random ELF images and perf maps are built, loaded and
 * asked about every address in and around them, and the answers (kind, symbol, extents,
 * area, aliases in their order, neighbours of gaps) are compared with those of a slow
 * and literal reading of the rules (oracle-rule.c). Images that the rules refuse must be
 * refused.
 *
 *	oracle [SEED [IMAGES]]
 *
 * or HLG_ORACLE_SEED and HLG_ORACLE_IMAGES. A failure names the seed of its image: give
 * it with IMAGES 1 to see that one alone.
 */
#include "tests/unit/symtab/oracle.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "symtab/image/image.h"
#include "tests/kit/scratch.h"
#include "tests/kit/tap.h"

#define DEFAULT_SEED   1
#define DEFAULT_IMAGES 5000

static uint64_t first_seed = DEFAULT_SEED, n_images = DEFAULT_IMAGES;

static struct oracle_case c;
static uint64_t seed;
static struct hlg_image *image;

#define agree(cond, addr, ...)                                                           \
	do {                                                                             \
		if (!(cond))                                                             \
			differ(#cond, addr, __VA_ARGS__);                                \
	} while (0)

__attribute__((format(printf, 3, 4))) static _Noreturn void differ(const char *what,
								   uint64_t addr,
								   const char *fmt, ...)
{
	char text[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	ck_abort_msg("seed %lu, address %#lx: not so: %s (%s)", (unsigned long)seed,
		     (unsigned long)addr, what, text);
}

static const char *expected_name(int symbol)
{
	return symbol < 0 ? "none" : c.taken[symbol].name;
}

static bool same_symbol(const struct hlg_symbol *got, int symbol)
{
	const struct oracle_taken *t = &c.taken[symbol < 0 ? 0 : symbol];

	if (!got || symbol < 0)
		return !got && symbol < 0;
	return got->addr == t->start && got->class == t->class &&
	       got->end == (t->class == HLG_SYM_BARE_LABEL ? t->start : t->end) &&
	       !strcmp(hlg_image_name(image, got), t->name);
}

static void compare_aliases(uint64_t addr, const struct hlg_place *got, int symbol)
{
	int list[ORACLE_MAX_SYMBOLS], n = oracle_aliases(&c, symbol, list);
	size_t n_got;
	const struct hlg_symbol *all = hlg_image_aliases(image, got->symbol, &n_got);

	agree(n_got == (size_t)n, addr, "%zu aliases, expected %d", n_got, n);
	for (int i = 0; i < n; i++)
		agree(same_symbol(&all[i], list[i]), addr, "alias %d is %s, expected %s",
		      i, hlg_image_name(image, &all[i]), expected_name(list[i]));
}

static void compare_gap(uint64_t addr, const struct hlg_place *got,
			const struct oracle_place *want)
{
	for (int dir = -1; dir <= 1; dir += 2) {
		const struct hlg_symbol *near = hlg_image_neighbour(image, got, dir);
		int symbol = oracle_neighbour(&c, want, dir);

		agree(same_symbol(near, symbol), addr, "neighbour %d is %s, expected %s",
		      dir, near ? hlg_image_name(image, near) : "none",
		      expected_name(symbol));
	}
}

static void compare_area(uint64_t addr, const struct hlg_place *got,
			 const struct oracle_place *want)
{
	const struct hlg_area *area = got->area;

	agree(area != NULL, addr, "kind %d", want->kind);
	agree(area->code == (want->kind == HLG_GAP), addr, "kind %d", want->kind);
	if (want->kind == HLG_DATA && c.data_overlaps)
		return;
	agree(area->start == want->area_start && area->end == want->area_end, addr,
	      "[%#lx, %#lx), expected [%#lx, %#lx)", (unsigned long)area->start,
	      (unsigned long)area->end, (unsigned long)want->area_start,
	      (unsigned long)want->area_end);
	agree(area->section == want->section, addr, "%u, expected %u", area->section,
	      want->section);
}

/* The place of one address. */
static void compare(uint64_t addr, const struct hlg_place *got,
		    const struct oracle_place *want)
{
	bool vague = want->kind == HLG_DATA && c.data_overlaps;

	agree(got->kind == want->kind, addr, "kind %d, expected %d (%s)", got->kind,
	      want->kind, expected_name(want->symbol));
	agree(got->addr == addr, addr, "%#lx", (unsigned long)got->addr);
	agree(got->image == (want->kind == HLG_OUTSIDE ? NULL : image), addr, "kind %d",
	      want->kind);
	agree(same_symbol(got->symbol, want->symbol), addr, "%s, expected %s",
	      got->symbol ? hlg_image_name(image, got->symbol) : "none",
	      expected_name(want->symbol));
	agree(vague || (got->start == want->start && got->end == want->end), addr,
	      "[%#lx, %#lx), expected [%#lx, %#lx)", (unsigned long)got->start,
	      (unsigned long)got->end, (unsigned long)want->start,
	      (unsigned long)want->end);
	if (got->symbol)
		compare_aliases(addr, got, want->symbol);
	if (want->kind == HLG_GAP || want->kind == HLG_DATA)
		compare_area(addr, got, want);
	else
		agree(got->area == NULL, addr, "kind %d", want->kind);
	if (want->kind == HLG_GAP)
		compare_gap(addr, got, want);
}

/* "The same for two addresses if they are of one place." */
static void compare_owners(uint64_t addr, const struct hlg_place *a,
			   const struct oracle_place *want_a, const struct hlg_place *b,
			   const struct oracle_place *want_b)
{
	bool same = want_a->kind == want_b->kind && want_a->symbol == want_b->symbol &&
		    want_a->start == want_b->start && want_a->end == want_b->end;

	if (want_b->kind == HLG_OUTSIDE || (want_b->kind == HLG_DATA && c.data_overlaps))
		return;
	agree((a->owner == b->owner) == same, addr, "kinds %d and %d, %s and %s",
	      want_a->kind, want_b->kind, expected_name(want_a->symbol),
	      expected_name(want_b->symbol));
}

static void compare_everywhere(void)
{
	static const uint64_t ends[] = {0, 1, UINT64_MAX - 1, UINT64_MAX};
	struct oracle_place want, before = {.kind = HLG_OUTSIDE, .symbol = -1};
	struct hlg_place got, got_before = {.kind = HLG_OUTSIDE};

	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		want = oracle_place(&c, ends[i]);
		hlg_image_lookup(image, ends[i], &got);
		compare(ends[i], &got, &want);
	}
	for (uint64_t i = 0; i < ORACLE_REGION + 8; i++) {
		uint64_t addr = c.low - 4 + i;

		want = oracle_place(&c, addr);
		hlg_image_lookup(image, addr, &got);
		compare(addr, &got, &want);
		compare_owners(addr, &got_before, &before, &got, &want);
		before = want;
		got_before = got;
	}
}

static void start_case(uint64_t i)
{
	memset(&c, 0, sizeof(c));
	seed = first_seed + i;
	image = NULL;
}

static unsigned long n_refused;

static void check_refusal(const char *message)
{
	const char *symbols = "has no symbol",
		   *overlap = "executable sections that overlap";

	agree((c.n_taken == 0 && strstr(message, symbols)) ||
		      (c.code_overlaps && strstr(message, overlap)),
	      0, "%s", message);
	n_refused++;
}

START_TEST(random_elfs)
{
	struct hlg_err err;

	for (uint64_t i = 0; i < n_images; i++) {
		start_case(i);
		oracle_make_elf(&c, seed);
		oracle_conclude(&c);
		if (hlg_image_open_elf(&image, scratch_elf("random.elf", &c.elf), &err) <
		    0) {
			check_refusal(err.msg);
			continue;
		}
		agree(c.n_taken && !c.code_overlaps, 0, "%d symbols", c.n_taken);
		agree(image->tab.n_syms == (size_t)c.n_taken, 0, "%zu and %d symbols",
		      image->tab.n_syms, c.n_taken);
		agree(image->elf.dynsym == (c.elf.tables == MKELF_DYNSYM), 0, "dynsym");
		compare_everywhere();
		hlg_image_destroy(image);
	}
	printf("# of %lu images %lu were refused\n", (unsigned long)n_images, n_refused);
	fflush(stdout);
	agree(n_images < 1000 || n_refused < n_images / 4, 0, "%lu refused", n_refused);
}
END_TEST

START_TEST(random_maps)
{
	struct hlg_err err;

	for (uint64_t i = 0; i < n_images; i++) {
		const char *path;

		start_case(i);
		oracle_make_map(&c, seed);
		oracle_conclude(&c);
		path = scratch_write("random.map", c.text, strlen(c.text));
		if (hlg_image_open_map(&image, path, &err) < 0)
			differ("opens", 0, "%s", err.msg);
		agree(image->skipped == c.n_bad_lines, 0,
		      "%zu lines skipped, expected %zu", image->skipped, c.n_bad_lines);
		compare_everywhere();
		hlg_image_destroy(image);
	}
}
END_TEST

static uint64_t number(const char *arg, const char *variable, uint64_t otherwise)
{
	const char *text = arg ? arg : getenv(variable);
	char *end;
	uint64_t value;

	if (!text || !*text)
		return otherwise;
	errno = 0;
	value = strtoull(text, &end, 0);
	if (errno || *end) {
		fprintf(stderr, "oracle: %s: not a number\n", text);
		exit(2);
	}
	return value;
}

int main(int argc, char **argv)
{
	Suite *suite = suite_create("oracle");
	TCase *tc = tap_case(suite, "oracle");

	first_seed = number(argc > 1 ? argv[1] : NULL, "HLG_ORACLE_SEED", DEFAULT_SEED);
	n_images = number(argc > 2 ? argv[2] : NULL, "HLG_ORACLE_IMAGES", DEFAULT_IMAGES);
	printf("# seed %lu, %lu images\n", (unsigned long)first_seed,
	       (unsigned long)n_images);
	fflush(stdout);
	tcase_set_timeout(tc, 3600);
	tcase_add_unchecked_fixture(tc, scratch_begin, scratch_end);
	tcase_add_test(tc, random_elfs);
	tcase_add_test(tc, random_maps);
	return tap_main(suite);
}
