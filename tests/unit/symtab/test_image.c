// SPDX-License-Identifier: GPL-2.0-only
/*
 * Proves what an image says about its own addresses, on the one guest that has one of
 * everything: the place of each address with its extents, aliases, the neighbours by
 * which a gap is named, and the bytes read back from the file, which must never come
 * from a file that has been replaced. Then section numbers that do not fit their field,
 * and where in the guest's address space an image can lie.
 */
#include "symtab/image/image.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/kit/mkelf-guest.h"
#include "tests/kit/scratch.h"
#include "tests/kit/tap.h"

static struct mkelf_guest guest;
static struct hlg_image *image;

/* What is in the file already. */
static void load_again(void)
{
	struct hlg_err err;
	int rc;

	hlg_image_destroy(image);
	rc = hlg_image_open_elf(&image, scratch_path("guest.elf"), &err);
	ck_assert_msg(rc == 0, "%s", err.msg);
}

static void load(void)
{
	scratch_elf("guest.elf", &guest.elf);
	load_again();
}

static void setup(void)
{
	image = NULL;
	mkelf_guest_init(&guest, 0);
	load();
}

static void teardown(void)
{
	hlg_image_destroy(image);
	mkelf_finish(&guest.img);
}

/* Stretches of the guest, all of it. */
static const struct {
	uint64_t start, end;
	enum hlg_kind kind;
	const char *name;
} stretches[] = {
	{0x0, 0x100, HLG_DATA, NULL},
	{0x1000, 0x1020, HLG_FUNCTION, "entrypoint"},
	{0x1020, 0x1054, HLG_FUNCTION, "dispatch"},
	{0x1054, 0x1060, HLG_GAP, NULL},
	{0x1060, 0x10e0, HLG_FUNCTION, "compute"},
	{0x10e0, 0x1120, HLG_GAP, NULL},
	{0x1120, 0x1180, HLG_LABEL, "handler"},
	{0x1180, 0x11c0, HLG_FUNCTION, "cold"},
	{0x11c0, 0x11e0, HLG_FUNCTION, "last"},
	{0x11e0, 0x1200, HLG_GAP, NULL},
	{0x1200, 0x1220, HLG_FUNCTION, "copy"},
	{0x1220, 0x1240, HLG_GAP, NULL},
	{0x3000, 0x3008, HLG_DATA, NULL},
	{0x3008, 0x3010, HLG_DATA, NULL},
	{0x3010, 0x3110, HLG_DATA, NULL},
};

#define N_STRETCHES ((int)(sizeof(stretches) / sizeof(stretches[0])))

START_TEST(every_address_has_its_place)
{
	const void *owner = NULL;

	for (uint64_t a = stretches[_i].start; a < stretches[_i].end; a++) {
		struct hlg_place p;

		hlg_image_lookup(image, a, &p);
		ck_assert_ptr_eq(p.image, image);
		ck_assert_int_eq(p.kind, stretches[_i].kind);
		ck_assert_uint_eq(p.addr, a);
		ck_assert_uint_eq(p.start, stretches[_i].start);
		ck_assert_uint_eq(p.end, stretches[_i].end);
		ck_assert_pstr_eq(p.symbol ? hlg_image_name(image, p.symbol) : NULL,
				  stretches[_i].name);
		ck_assert((p.area != NULL) == (p.symbol == NULL));
		ck_assert_ptr_nonnull(p.owner);
		ck_assert(!owner || p.owner == owner);
		owner = p.owner;
	}
}
END_TEST

START_TEST(the_rest_is_outside)
{
	static const uint64_t outside[] = {0x200,  0xfff,  0x1240,         0x2fff,
					   0x3110, 0x4000, UINT64_MAX - 1, UINT64_MAX};

	for (size_t i = 0; i < sizeof(outside) / sizeof(outside[0]); i++) {
		struct hlg_place p;

		hlg_image_lookup(image, outside[i], &p);
		ck_assert_int_eq(p.kind, HLG_OUTSIDE);
		ck_assert_uint_eq(p.addr, outside[i]);
		ck_assert_ptr_null(p.image);
		ck_assert_ptr_null(p.symbol);
		ck_assert_ptr_null(p.area);
	}
}
END_TEST

/* Below its first byte there is nothing to find, not even a span. */
START_TEST(addresses_below_are_outside)
{
	struct hlg_place p;

	mkelf_guest_init(&guest, 0x400000);
	load();
	hlg_image_lookup(image, 0, &p);
	ck_assert_int_eq(p.kind, HLG_OUTSIDE);
	hlg_image_lookup(image, 0x3fffff, &p);
	ck_assert_int_eq(p.kind, HLG_OUTSIDE);
	ck_assert_ptr_null(p.image);
	hlg_image_lookup(image, 0x401000, &p);
	ck_assert_int_eq(p.kind, HLG_FUNCTION);
}
END_TEST

START_TEST(aliases_are_all_there)
{
	struct hlg_place p;
	const struct hlg_symbol *all;
	size_t n;

	hlg_image_lookup(image, 0x1070, &p);
	all = hlg_image_aliases(image, p.symbol, &n);
	ck_assert_uint_eq(n, 2);
	ck_assert_str_eq(hlg_image_name(image, &all[0]), "compute");
	ck_assert_str_eq(hlg_image_name(image, &all[1]), "compute_alias");
	ck_assert_ptr_eq(hlg_image_aliases(image, &all[1], &n), all);
	ck_assert_uint_eq(n, 2);
	hlg_image_lookup(image, 0x1000, &p);
	ck_assert_ptr_eq(hlg_image_aliases(image, p.symbol, &n), p.symbol);
	ck_assert_uint_eq(n, 1);
	hlg_image_lookup(image, 0x1200, &p); /* the last one of the table */
	ck_assert_ptr_eq(hlg_image_aliases(image, p.symbol, &n), p.symbol);
	ck_assert_uint_eq(n, 1);
}
END_TEST

static void expect_neighbours(uint64_t addr, const char *before, const char *behind)
{
	const struct hlg_symbol *symbol;
	struct hlg_place p;

	hlg_image_lookup(image, addr, &p);
	ck_assert_int_eq(p.kind, HLG_GAP);
	symbol = hlg_image_neighbour(image, &p, -1);
	ck_assert_pstr_eq(symbol ? hlg_image_name(image, symbol) : NULL, before);
	symbol = hlg_image_neighbour(image, &p, 1);
	ck_assert_pstr_eq(symbol ? hlg_image_name(image, symbol) : NULL, behind);
}

START_TEST(gaps_know_their_neighbours)
{
	expect_neighbours(0x1054, "dispatch", "compute");
	expect_neighbours(0x105f, "dispatch", "compute");
	expect_neighbours(0x1100, "compute", "handler");
	expect_neighbours(0x11ff, "last", "copy");
	expect_neighbours(0x1230, "copy", NULL);
}
END_TEST

/* .text is cut in two at 0x10a0: what touches a gap there is of another section. */
START_TEST(neighbours_are_of_the_same_section)
{
	struct mkelf_section sec[MKELF_N_SEC + 1];
	struct mkelf_sym syms[] = {
		MKELF_SYM("first", 0x1000, 0xa0, STB_GLOBAL, STT_FUNC, MKELF_SEC(0)),
		MKELF_SYM("second", 0x10c0, 0x10, STB_GLOBAL, STT_FUNC,
			  MKELF_SEC(MKELF_N_SEC)),
	};

	memcpy(sec, guest.sec, sizeof(guest.sec));
	sec[0].size = 0xa0;
	sec[MKELF_N_SEC] = guest.sec[0];
	sec[MKELF_N_SEC].name = ".text.more";
	sec[MKELF_N_SEC].addr = 0x10a0;
	sec[MKELF_N_SEC].size = 0x40;
	sec[MKELF_N_SEC].data = guest.text + 0xa0;
	guest.elf.sections = sec;
	guest.elf.n_sections = MKELF_N_SEC + 1;
	guest.elf.syms = syms;
	guest.elf.n_syms = 2;
	load();
	expect_neighbours(0x10b0, NULL, "second");
	expect_neighbours(0x10d0, "second", NULL);
	expect_neighbours(0x10e0, NULL, NULL); /* of no section */
	guest.elf.syms = &syms[1];
	guest.elf.n_syms = 1;
	syms[1].value = 0x10a0;
	load();
	expect_neighbours(0x1000, NULL, NULL);
}
END_TEST

START_TEST(bytes_are_read_back)
{
	uint8_t buf[MKELF_TEXT_SIZE + 1];

	ck_assert_uint_eq(hlg_image_read(image, MKELF_TEXT, buf, MKELF_TEXT_SIZE),
			  MKELF_TEXT_SIZE);
	ck_assert_int_eq(memcmp(buf, guest.text, MKELF_TEXT_SIZE), 0);
	ck_assert_uint_eq(hlg_image_read(image, 0x1200, buf, sizeof(buf)), 0x40);
	ck_assert_int_eq(memcmp(buf, guest.text + 0x200, 0x40), 0);
	ck_assert_uint_eq(hlg_image_read(image, 0x123f, buf, 1), 1);
	ck_assert_uint_eq(hlg_image_read(image, 0x1000, buf, 0), 0);
	ck_assert_uint_eq(hlg_image_read(image, 0x1240, buf, 1), 0);
	ck_assert_uint_eq(hlg_image_read(image, 0xfff, buf, 1), 0);
	ck_assert_uint_eq(hlg_image_read(image, UINT64_MAX, buf, 1), 0);
	/* .data is in the file, .bss is not */
	ck_assert_uint_eq(hlg_image_read(image, MKELF_DATA, buf, 64), 8);
	ck_assert_uint_eq(buf[7], 1);
	ck_assert_uint_eq(hlg_image_read(image, MKELF_DATA + 8, buf, 1), 0);
	ck_assert_uint_eq(hlg_image_read(image, MKELF_DATA + 0x20, buf, 4), 0);
}
END_TEST

/* Gives the file this time of change; everything else stays. */
static void touch(struct timespec mtime)
{
	struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}, mtime};

	ck_assert_int_eq(utimensat(AT_FDCWD, scratch_path("guest.elf"), times, 0), 0);
}

static size_t read_some(void)
{
	uint8_t buf[4];

	return hlg_image_read(image, MKELF_TEXT, buf, sizeof(buf));
}

START_TEST(another_file_is_not_read)
{
	const char *path;
	struct timespec then = {.tv_sec = 1000, .tv_nsec = 1000};

	touch(then);
	load_again();
	path = image->path;
	ck_assert_uint_eq(read_some(), 4);
	touch((struct timespec){.tv_sec = 1001, .tv_nsec = 1000});
	ck_assert_uint_eq(read_some(), 0);
	touch((struct timespec){.tv_sec = 1000, .tv_nsec = 1001});
	ck_assert_uint_eq(read_some(), 0);
	touch(then);
	ck_assert_uint_eq(read_some(), 4);
	/* longer or shorter than it was */
	ck_assert_int_eq(truncate(path, image->elf.id.size + 1), 0);
	touch(then);
	ck_assert_uint_eq(read_some(), 0);
	ck_assert_int_eq(truncate(path, image->elf.id.size), 0);
	touch(then);
	ck_assert_uint_eq(read_some(), 4);
	/* replaced by its twin, of the same size and time */
	ck_assert_int_eq(rename(scratch_elf("twin.elf", &guest.elf), path), 0);
	touch(then);
	ck_assert_uint_eq(read_some(), 0);
	/* gone; something else altogether */
	ck_assert_int_eq(unlink(path), 0);
	ck_assert_uint_eq(read_some(), 0);
	ck_assert_int_eq(mkfifo(path, 0600), 0);
	ck_assert_uint_eq(read_some(), 0);
	ck_assert_int_eq(unlink(path), 0);
}
END_TEST

/* A file that has changed is told, and nothing stays open of it. */
START_TEST(another_file_is_told)
{
	struct hlg_err err;
	char want[512];
	int before = dup(0);

	close(before);
	for (int i = 0; i < 2; i++) {
		if (i == 1)
			touch((struct timespec){.tv_sec = 1001});
		else
			ck_assert_int_eq(truncate(image->path, 100), 0);
		snprintf(want, sizeof(want),
			 "%s: has changed since it was opened (start again)",
			 image->path);
		ck_assert_int_eq(hlg_image_reopen(image, &err), HLG_EINPUT);
		ck_assert_str_eq(err.msg, want);
		ck_assert_int_eq(dup(0), before);
		close(before);
	}
	ck_assert(hlg_image_unread(image));
	snprintf(want, sizeof(want),
		 "%s: cannot be read again: it has changed, or the disk fails "
		 "(start again)",
		 image->path);
	ck_assert_int_eq(hlg_image_fail_unread(image, &err), HLG_EINPUT);
	ck_assert_str_eq(err.msg, want);
}
END_TEST

/* gABI, "Symbol Table": st_shndx SHN_XINDEX, the number in SHT_SYMTAB_SHNDX. */
START_TEST(wide_section_numbers_are_followed)
{
	uint32_t numbers[MKELF_N_SYMS + 1] = {0};
	struct mkelf_section sec[MKELF_N_SEC + 1];
	struct mkelf_section *wide = &sec[MKELF_N_SEC];
	struct hlg_image *broken;
	struct hlg_place p;
	struct hlg_err err;

	memcpy(sec, guest.sec, sizeof(guest.sec));
	*wide = (struct mkelf_section){.name = ".symtab_shndx",
				       .type = SHT_SYMTAB_SHNDX,
				       .size = sizeof(numbers),
				       .data = numbers,
				       .align = 4,
				       .entsize = 4};
	guest.syms[3].shndx = SHN_XINDEX; /* entrypoint */
	guest.syms[7].shndx = SHN_XINDEX; /* cold, whose number is 0 */
	numbers[3 + 1] = MKELF_SEC(MKELF_SEC_TEXT);
	guest.elf.sections = sec;
	guest.elf.n_sections = MKELF_N_SEC + 1;
	ck_assert_int_eq(mkelf_build(&guest.elf, &guest.img), 0);
	wide->link = guest.img.symtab;
	load();
	hlg_image_lookup(image, 0x1000, &p);
	ck_assert_int_eq(p.kind, HLG_FUNCTION);
	hlg_image_lookup(image, 0x1180, &p);
	ck_assert_str_eq(hlg_image_name(image, p.symbol), "handler"); /* goes on */
	wide->link = 1; /* of another table */
	load();
	hlg_image_lookup(image, 0x1000, &p);
	ck_assert_int_eq(p.kind, HLG_GAP);
	wide->link = guest.img.symtab;
	wide->size -= 4;
	ck_assert_int_eq(
		hlg_image_open_elf(&broken, scratch_elf("b.elf", &guest.elf), &err),
		HLG_EINPUT);
	ck_assert_ptr_nonnull(strstr(err.msg,
				     "b.elf: has a short section index table (the "
				     "ELF is damaged; build or copy it again)"));
}
END_TEST

START_TEST(images_lie_where_they_are_put)
{
	struct hlg_err err;
	char want[512];

	ck_assert_int_eq(image->from, HLG_BASE_NONE);
	ck_assert_uint_eq(image->first, 0);
	ck_assert_uint_eq(image->end, 0x3110);
	ck_assert_int_eq(hlg_image_set_base(image, 0x7000, HLG_BASE_STATED, &err), 0);
	ck_assert_uint_eq(image->bias, 0x7000);
	/* the last byte is the last there is */
	ck_assert_int_eq(
		hlg_image_set_base(image, -UINT64_C(0x3110), HLG_BASE_STATED, &err), 0);
	ck_assert_int_eq(
		hlg_image_set_base(image, -UINT64_C(0x310f), HLG_BASE_STATED, &err),
		HLG_EINPUT);
	snprintf(want, sizeof(want),
		 "%s: its 12560 bytes at base 0xffffffffffffcef1 pass the end of memory "
		 "(give a lower base)",
		 image->path);
	ck_assert_str_eq(err.msg, want);
	ck_assert_uint_eq(image->base, -UINT64_C(0x3110)); /* as before */
	mkelf_guest_init(&guest, 0x400000);
	load();
	ck_assert_int_eq(hlg_image_set_base(image, 0x1000, HLG_BASE_STATED, &err), 0);
	ck_assert_uint_eq(image->bias, UINT64_C(0x1000) - 0x400000);
}
END_TEST

/* vmlinux of x86-64: the data of each CPU at 0, all else high up. */
static void load_kernel(uint64_t text, uint32_t flags)
{
	static const struct mkelf_sym syms[] = {
		MKELF_SYM("cpu_number", 0x10, 8, STB_GLOBAL, STT_OBJECT, MKELF_SEC(1)),
		MKELF_SYM("start", 0, 0x20, STB_GLOBAL, STT_FUNC, MKELF_SEC(0)),
	};
	static const uint8_t bytes[64] = {0xc3};
	struct mkelf_section sections[2];
	struct mkelf_segment segments[2];
	struct mkelf_sym own[2];
	struct mkelf_simple s;

	memcpy(own, syms, sizeof(own));
	own[1].value = text;
	mkelf_simple_init(&s, text, bytes, sizeof(bytes), own, 2);
	sections[0] = s.text;
	sections[1] = (struct mkelf_section){.name = ".data..percpu",
					     .type = SHT_PROGBITS,
					     .flags = SHF_ALLOC | SHF_WRITE,
					     .size = sizeof(bytes),
					     .data = bytes};
	segments[0] = s.segment;
	segments[1] = (struct mkelf_segment){.type = PT_LOAD,
					     .flags = flags,
					     .memsz = sizeof(bytes),
					     .data = bytes,
					     .filesz = sizeof(bytes)};
	s.elf.sections = sections;
	s.elf.segments = segments;
	s.elf.n_sections = s.elf.n_segments = 2;
	scratch_elf("guest.elf", &s.elf);
	load_again();
}

START_TEST(cpu_area_of_a_kernel_is_left_out)
{
	const uint64_t text = UINT64_C(0xffffffff81000000), near = HLG_IMAGE_FAR - 1;
	struct hlg_err err;
	struct hlg_place place;

	load_kernel(text, PF_R | PF_W);
	ck_assert_uint_eq(image->first, text);
	ck_assert_int_eq(
		hlg_image_set_base(image, text - 0x1000000, HLG_BASE_STATED, &err), 0);
	hlg_image_lookup(image, text + 4, &place);
	ck_assert_str_eq(hlg_image_name(image, place.symbol), "start");
	hlg_image_lookup(image, 0x10, &place);
	ck_assert_int_eq(place.kind, HLG_OUTSIDE);
	ck_assert_uint_eq(hlg_image_stored(image, 0x10), 0);
	/* Code at 0 is the image's, and what is not far is. */
	load_kernel(text, PF_R | PF_X);
	ck_assert_uint_eq(image->first, 0);
	load_kernel(near, PF_R | PF_W);
	ck_assert_uint_eq(image->first, 0);
	load_kernel(near + 65, PF_R | PF_W);
	ck_assert_uint_eq(image->first, near + 65);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("image");
	TCase *tc = tap_case(suite, "image");

	tcase_add_unchecked_fixture(tc, scratch_begin, scratch_end);
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_loop_test(tc, every_address_has_its_place, 0, N_STRETCHES);
	tcase_add_test(tc, the_rest_is_outside);
	tcase_add_test(tc, addresses_below_are_outside);
	tcase_add_test(tc, aliases_are_all_there);
	tcase_add_test(tc, gaps_know_their_neighbours);
	tcase_add_test(tc, neighbours_are_of_the_same_section);
	tcase_add_test(tc, bytes_are_read_back);
	tcase_add_test(tc, another_file_is_not_read);
	tcase_add_test(tc, another_file_is_told);
	tcase_add_test(tc, wide_section_numbers_are_followed);
	tcase_add_test(tc, images_lie_where_they_are_put);
	tcase_add_test(tc, cpu_area_of_a_kernel_is_left_out);
	return tap_main(suite);
}
