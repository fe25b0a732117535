// SPDX-License-Identifier: GPL-2.0-only
/*
 * perf finds with our table what hlguest finds without it. A model of perf's reader (a
 * symbol ends where the next begins; of one address the last line counts) is asked about
 * every address in and around the images, and must name the owner that the space names,
 * or __gap__ where there is none: on the small guest, on hundreds of random symbol
 * tables, on two images that touch, on a map, and at the end of the address space.
 */
#include "tools/kallsyms/kallsyms.h"

#include <inttypes.h>
#include <string.h>

#include "tests/kit/mkelf-guest.h"
#include "tests/kit/scratch.h"
#include "tests/kit/tap.h"

struct row {
	uint64_t ip;
	const char *name;
};

struct table {
	char *text;
	struct row *rows;
	size_t n;
};

static bool reserved(const char *name)
{
	return name[0] == '$' || strncmp(name, ".L", 2) == 0 ||
	       strncmp(name, "L0", 2) == 0 || strcmp(name, "_etext") == 0 ||
	       strcmp(name, "_edata") == 0;
}

/* What must hold of any line, whatever the symbols are called. */
static void check_line(const struct table *t, size_t i)
{
	const char *name = t->rows[i].name;

	ck_assert_uint_ge(strlen(name), 1);
	ck_assert_uint_le(strlen(name), 255);
	for (const char *c = name; *c; c++)
		ck_assert_msg(*c > ' ' && *c < 0x7f && *c != '[', "%s", name);
	ck_assert_msg(!reserved(name), "%s", name);
	if (i)
		ck_assert_uint_le(t->rows[i - 1].ip, t->rows[i].ip);
}

static void read_table(struct table *t)
{
	char *save, *line = strtok_r(t->text, "\n", &save);

	for (; line; line = strtok_r(NULL, "\n", &save)) {
		char *end;

		t->rows = realloc(t->rows, (t->n + 1) * sizeof(*t->rows));
		ck_assert_ptr_nonnull(t->rows);
		t->rows[t->n].ip = strtoull(line, &end, 16);
		ck_assert_int_eq(end - line, 16);
		ck_assert_int_eq(strncmp(end, " T ", 3), 0);
		t->rows[t->n].name = end + 3;
		check_line(t, t->n++);
	}
}

static void make_table(struct table *t, const struct hlg_space *space)
{
	struct hlg_err err;
	size_t size;
	FILE *f;

	memset(t, 0, sizeof(*t));
	f = open_memstream(&t->text, &size);
	ck_assert_ptr_nonnull(f);
	ck_assert_int_eq(hlg_kallsyms_write(f, space, &err), 0);
	ck_assert_int_eq(fclose(f), 0);
	read_table(t);
	ck_assert_uint_ge(t->n, 3);
	ck_assert_str_eq(t->rows[0].name, "_text");
	ck_assert_str_eq(t->rows[1].name, "_stext");
	ck_assert_uint_eq(t->rows[0].ip, t->rows[1].ip);
	ck_assert_uint_eq(t->rows[0].ip, t->rows[2].ip);
}

static void finish_table(struct table *t)
{
	free(t->rows);
	free(t->text);
}

/* As perf: the last line at or before ip, NULL before the first. */
static const char *perf_says(const struct table *t, uint64_t ip)
{
	const char *name = NULL;

	for (size_t i = 0; i < t->n && t->rows[i].ip <= ip; i++)
		name = t->rows[i].name;
	return name;
}

static void check_ip(const struct table *t, const struct hlg_space *space, uint64_t ip)
{
	const char *name = perf_says(t, ip);
	struct hlg_place place;

	hlg_space_lookup(space, ip, &place);
	if (place.symbol) {
		ck_assert_ptr_nonnull(name);
		ck_assert_msg(strcmp(name, hlg_image_name(place.image, place.symbol)) ==
				      0,
			      "0x%" PRIx64 ": perf says %s, we say %s", ip, name,
			      hlg_image_name(place.image, place.symbol));
	} else {
		ck_assert_msg(!name || strcmp(name, "__gap__") == 0,
			      "0x%" PRIx64 " is nobody's, perf says %s", ip, name);
		ck_assert(name || place.kind != HLG_GAP);
	}
}

/* perf takes the begin of the guest's code from the first line. */
static uint64_t first_code(const struct hlg_space *space)
{
	uint64_t first = UINT64_MAX;

	for (size_t i = 0; i < space->n_images; i++) {
		const struct hlg_image *image = space->images[i];

		for (size_t j = 0; j < image->n_areas; j++)
			if (image->areas[j].code &&
			    image->areas[j].start + image->bias < first)
				first = image->areas[j].start + image->bias;
	}
	return first;
}

/* All addresses from some before to some behind the images. */
static void check_space(struct hlg_space *space)
{
	struct hlg_err err;
	struct table t;

	ck_assert_msg(hlg_space_settle(space, &err) == 0, "%s", err.msg);
	make_table(&t, space);
	ck_assert_uint_eq(t.rows[0].ip, first_code(space));
	for (size_t i = 0; i < space->n_ranges; i++) {
		uint64_t first = space->ranges[i].first, last = space->ranges[i].last;

		first -= first > 32 ? 32 : first;
		last += last < UINT64_MAX - 32 ? 32 : UINT64_MAX - last;
		for (uint64_t ip = first;; ip++) {
			check_ip(&t, space, ip);
			if (ip == last)
				break;
		}
	}
	finish_table(&t);
}

static void add_elf(struct hlg_space *space, const char *path)
{
	struct hlg_image *image;
	struct hlg_err err;

	ck_assert_msg(hlg_image_open_elf(&image, path, &err) == 0, "%s", err.msg);
	ck_assert_int_eq(hlg_space_add(space, image, &err), 0);
}

static void place(struct hlg_space *space, size_t i, uint64_t base)
{
	struct hlg_err err;

	ck_assert_msg(hlg_image_set_base(space->images[i], base, HLG_BASE_STATED, &err) ==
			      0,
		      "%s", err.msg);
}

static const char *write_guest(const char *name)
{
	static struct mkelf_guest g;

	mkelf_guest_init(&g, 0);
	return scratch_elf(name, &g.elf);
}

START_TEST(small_guest)
{
	struct hlg_space space = {0};

	add_elf(&space, write_guest("guest.elf"));
	check_space(&space);
	hlg_space_finish(&space);
}
END_TEST

static uint64_t next_random(uint64_t *state)
{
	*state = *state * UINT64_C(6364136223846793005) + 1442695040888963407u;
	return *state >> 33;
}

START_TEST(random_symbols)
{
	enum {
		SIZE = 0x200,
		N = 24
	};
	static const uint8_t types[] = {STT_FUNC, STT_FUNC, STT_NOTYPE, STT_GNU_IFUNC};
	uint64_t random = (uint64_t)_i;
	struct hlg_space space = {0};
	struct mkelf_sym syms[N];
	static unsigned char text[SIZE];
	struct mkelf_image img;
	char names[N][16];

	for (unsigned i = 0; i < N; i++) {
		uint64_t at = 0x1000 + next_random(&random) % SIZE;
		uint64_t size = next_random(&random) % 3 ? next_random(&random) % 64 : 0;

		snprintf(names[i], sizeof(names[i]), "s%u", i);
		syms[i] = (struct mkelf_sym)MKELF_SYM(names[i], at, size, STB_GLOBAL,
						      types[next_random(&random) % 4],
						      MKELF_SEC(0));
	}
	ck_assert_int_eq(mkelf_simple(&img, 0x1000, text, SIZE, syms, N), 0);
	add_elf(&space, scratch_image("random.elf", &img));
	check_space(&space);
	hlg_space_finish(&space);
	mkelf_finish(&img);
}
END_TEST

/* The second one begins with the byte behind the last of the first. */
START_TEST(images_that_touch)
{
	static const unsigned char text[0x40];
	static const struct mkelf_sym syms[] = {
		MKELF_SYM("all", 0x1000, 0x40, STB_GLOBAL, STT_FUNC, MKELF_SEC(0)),
	};
	struct hlg_space space = {0};
	struct mkelf_image img;

	ck_assert_int_eq(mkelf_simple(&img, 0x1000, text, sizeof(text), syms, 1), 0);
	for (unsigned i = 0; i < 3; i++) {
		add_elf(&space, scratch_image("touch.elf", &img));
		place(&space, i, 0x8000 - i * 0x40);
	}
	check_space(&space);
	hlg_space_finish(&space);
	mkelf_finish(&img);
}
END_TEST

START_TEST(end_of_memory)
{
	struct hlg_space space = {0};
	uint64_t size;

	add_elf(&space, write_guest("guest.elf"));
	size = space.images[0]->end - space.images[0]->first;
	place(&space, 0, -size);
	check_space(&space);
	hlg_space_finish(&space);
}
END_TEST

/* Code up to the very last byte leaves no address for a mark. */
START_TEST(code_at_the_end_of_memory)
{
	static const unsigned char text[0x40];
	static const struct mkelf_sym syms[] = {
		MKELF_SYM("all", 0x1000, 0x40, STB_GLOBAL, STT_FUNC, MKELF_SEC(0)),
	};
	struct hlg_space space = {0};
	struct mkelf_image img;

	ck_assert_int_eq(mkelf_simple(&img, 0x1000, text, sizeof(text), syms, 1), 0);
	add_elf(&space, scratch_image("end.elf", &img));
	place(&space, 0, -sizeof(text));
	check_space(&space);
	hlg_space_finish(&space);
	mkelf_finish(&img);
}
END_TEST

START_TEST(map_and_elf)
{
	static const char map[] = "9000 20 jit_a\n9010 20 jit_b\n9100 1 jit_c\n";
	struct hlg_space space = {0};
	struct hlg_image *image;
	struct hlg_err err;

	add_elf(&space, write_guest("guest.elf"));
	ck_assert_int_eq(
		hlg_image_open_map(&image, scratch_write("map", map, strlen(map)), &err),
		0);
	ck_assert_int_eq(hlg_space_add(&space, image, &err), 0);
	check_space(&space);
	hlg_space_finish(&space);
}
END_TEST

/* Names that perf's reader would drop, cut or take for something else. */
START_TEST(hostile_names)
{
	static const char *const bad[] = {
		"$s4main",  ".Lx",       "L0_one",
		"_etext",   "_edata",    "[x]",
		"a[1]",     "two words", "a\tb",
		"a\nb",     "\xc3\xa9",  "\x80",
		"\033[31m", "\x7f",      "__entry_SYSCALL_64_trampoline",
	};
	enum {
		N = sizeof(bad) / sizeof(bad[0]),
		LONG = 3000
	};
	static unsigned char text[16 * (N + 2)];
	struct mkelf_sym syms[N + 2];
	char one[LONG], two[LONG];
	struct hlg_space space = {0};
	struct mkelf_image img;
	struct hlg_err err;
	struct table t;

	memset(one, 'x', LONG);
	memset(two, '\x01', LONG);
	one[LONG - 1] = two[LONG - 1] = '\0';
	for (unsigned i = 0; i < N + 2; i++)
		syms[i] = (struct mkelf_sym)MKELF_SYM(i < N    ? bad[i]
						      : i == N ? one
							       : two,
						      0x1000 + 16 * i, 16, STB_GLOBAL,
						      STT_FUNC, MKELF_SEC(0));
	ck_assert_int_eq(mkelf_simple(&img, 0x1000, text, sizeof(text), syms, N + 2), 0);
	add_elf(&space, scratch_image("hostile.elf", &img));
	ck_assert_int_eq(hlg_space_settle(&space, &err), 0);
	make_table(&t, &space);
	/* .L is local to the assembler: its bytes are a gap. */
	ck_assert_uint_eq(t.n, 2 + N + 2 + 1);
	ck_assert_str_eq(t.rows[2].name, "\\x24s4main");
	ck_assert_str_eq(t.rows[3].name, "__gap__");
	ck_assert_str_eq(t.rows[4].name, "\\x4c0_one");
	ck_assert_str_eq(t.rows[5].name, "\\x5fetext");
	ck_assert_str_eq(t.rows[7].name, "\\x5bx]");
	ck_assert_str_eq(t.rows[9].name, "two\\x20words");
	finish_table(&t);
	hlg_space_finish(&space);
	mkelf_finish(&img);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("kallsyms");
	TCase *tc = tap_case(suite, "kallsyms");

	tcase_add_unchecked_fixture(tc, scratch_begin, scratch_end);
	tcase_add_test(tc, small_guest);
	tcase_add_loop_test(tc, random_symbols, 0, 200);
	tcase_add_test(tc, images_that_touch);
	tcase_add_test(tc, end_of_memory);
	tcase_add_test(tc, code_at_the_end_of_memory);
	tcase_add_test(tc, map_and_elf);
	tcase_add_test(tc, hostile_names);
	return tap_main(suite);
}
