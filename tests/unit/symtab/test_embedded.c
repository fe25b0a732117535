// SPDX-License-Identifier: GPL-2.0-only
/*
 * Proves that guests inside a host are found wherever they lie, with all their bytes and
 * no more; that what only begins like an ELF is none; and that an image takes the one
 * guest of a host with Hyperlight's note, or says why it does not.
 */
#include "symtab/elf/embedded.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "symtab/image/image.h"
#include "tests/kit/mkelf-guest.h"
#include "tests/kit/scratch.h"
#include "tests/kit/tap.h"

enum {
	CHUNK = 1 << 20 /* of embedded.c */
};

static struct mkelf_guest guest;
static struct hlg_embedded_list list;
static struct hlg_image *image;
static struct hlg_err err;

static void setup(void)
{
	mkelf_guest_init(&guest, 0);
	ck_assert_int_eq(mkelf_build(&guest.elf, &guest.img), 0);
}

static void teardown(void)
{
	mkelf_finish(&guest.img);
	hlg_embedded_finish(&list);
	hlg_image_destroy(image);
	image = NULL;
}

/* A file of size bytes with the guest at each of n offsets. */
static const char *put(size_t size, const size_t *offsets, size_t n)
{
	uint8_t *bytes = calloc(1, size);
	const char *path;

	ck_assert_ptr_nonnull(bytes);
	for (size_t i = 0; i < n; i++) {
		ck_assert_uint_le(offsets[i] + guest.img.size, size);
		memcpy(bytes + offsets[i], guest.img.bytes, guest.img.size);
	}
	path = scratch_write("host", bytes, size);
	free(bytes);
	return path;
}

static void expect_none(const char *path)
{
	ck_assert_int_eq(hlg_embedded_find(&list, path, &err), 0);
	ck_assert_uint_eq(list.n, 0);
	hlg_embedded_finish(&list);
}

static void expect_bytes(int fd)
{
	uint8_t *bytes = malloc(guest.img.size);

	ck_assert_int_ge(fd, 0);
	ck_assert_ptr_nonnull(bytes);
	ck_assert_int_eq(lseek(fd, 0, SEEK_END), (off_t)guest.img.size);
	ck_assert_int_eq(hlg_file_read(fd, bytes, guest.img.size, 0), 0);
	ck_assert_int_eq(memcmp(bytes, guest.img.bytes, guest.img.size), 0);
	free(bytes);
	close(fd);
}

static const size_t offsets[] = {1, 7, 4093, CHUNK - 6, CHUNK, CHUNK + 1, 2 * CHUNK - 3};

START_TEST(a_guest_is_found_anywhere)
{
	const char *path = put(offsets[_i] + guest.img.size + 9, &offsets[_i], 1);
	struct hlg_file_id id;
	FILE *copy = tmpfile();
	int fd = hlg_file_open(path, &id, &err);

	ck_assert_int_eq(hlg_embedded_find(&list, path, &err), 0);
	ck_assert_uint_eq(list.n, 1);
	ck_assert_uint_eq(list.at[0].offset, offsets[_i]);
	ck_assert_uint_eq(list.at[0].size, guest.img.size);
	ck_assert_str_eq(list.at[0].elf.hyperlight, "0.17.0");
	expect_bytes(hlg_embedded_open(&list.at[0], fd, path, &err));
	ck_assert_int_eq(hlg_embedded_copy(&list.at[0], path, copy, &err), 0);
	ck_assert_int_eq(fflush(copy), 0);
	expect_bytes(dup(fileno(copy)));
	ck_assert_int_eq(fclose(copy), 0);
	close(fd);
}
END_TEST

START_TEST(each_of_several_is_found)
{
	const size_t at[] = {100, 100 + guest.img.size, 300 + 2 * guest.img.size};
	const char *path = put(301 + 3 * guest.img.size, at, 3);

	ck_assert_int_eq(hlg_embedded_find(&list, path, &err), 0);
	ck_assert_uint_eq(list.n, 3);
	for (size_t i = 0; i < 3; i++)
		ck_assert_uint_eq(list.at[i].offset, at[i]);
}
END_TEST

/* One field of the guest's header or tables is wrong. */
static const struct {
	const char *what;
	size_t at; /* behind the guest's beginning, or in its first header of a table */
	unsigned width;
	uint64_t value;
	bool segment, section;
} spoilt[] = {
	{"type", offsetof(Elf64_Ehdr, e_type), 2, ET_REL, false, false},
	{"machine", offsetof(Elf64_Ehdr, e_machine), 2, EM_386, false, false},
	{"no segments", offsetof(Elf64_Ehdr, e_phnum), 2, 0, false, false},
	{"size of program headers", offsetof(Elf64_Ehdr, e_phentsize), 2, 55, false,
	 false},
	{"place of program headers", offsetof(Elf64_Ehdr, e_phoff), 8, UINT64_MAX - 8,
	 false, false},
	{"size of section headers", offsetof(Elf64_Ehdr, e_shentsize), 2, 63, false,
	 false},
	{"place of section headers", offsetof(Elf64_Ehdr, e_shoff), 8, 1 << 30, false,
	 false},
	{"segment's place", offsetof(Elf64_Phdr, p_offset), 8, UINT64_MAX, true, false},
	{"segment's size", offsetof(Elf64_Phdr, p_filesz), 8, 1 << 30, true, false},
	{"section's size", offsetof(Elf64_Shdr, sh_size), 8, 1 << 30, false, true},
};

enum {
	N_SPOILT = sizeof(spoilt) / sizeof(*spoilt)
};

START_TEST(what_is_not_whole_is_none)
{
	size_t at = spoilt[_i].at, one = 1;

	if (spoilt[_i].segment)
		at += mkelf_phdr(&guest.img, 0);
	if (spoilt[_i].section)
		at += mkelf_shdr(&guest.img, 1);
	mkelf_put(&guest.img, at, spoilt[_i].width, spoilt[_i].value);
	expect_none(put(guest.img.size + 1, &one, 1));
}
END_TEST

START_TEST(what_is_cut_is_none)
{
	size_t one = 1;

	put(guest.img.size + 1, &one, 1);
	ck_assert_int_eq(truncate(scratch_path("host"), (off_t)guest.img.size), 0);
	expect_none(scratch_path("host"));
	ck_assert_int_eq(truncate(scratch_path("host"), 40), 0);
	expect_none(scratch_path("host"));
	/* At 0 is the file itself. */
	one = 0;
	expect_none(put(guest.img.size, &one, 1));
}
END_TEST

START_TEST(section_headers_are_not_needed)
{
	size_t one = 1;

	mkelf_finish(&guest.img);
	guest.elf.no_section_headers = true;
	ck_assert_int_eq(mkelf_build(&guest.elf, &guest.img), 0);
	expect_none(put(guest.img.size + 1, &one, 1)); /* but symbols are */
	ck_assert_int_eq(hlg_embedded_find(&list, scratch_path("host"), &err), 0);
	ck_assert_str_ne(list.refused.msg, "");
}
END_TEST

START_TEST(files_that_cannot_be_read_are_told)
{
	const struct hlg_embedded gone = {.offset = 1, .size = 100};
	int fd;

	ck_assert_int_lt(hlg_embedded_find(&list, scratch_path("missing"), &err), 0);
	ck_assert_int_lt(hlg_embedded_copy(&gone, scratch_path("missing"), stderr, &err),
			 0);
	fd = hlg_file_open(scratch_write("short", "text", 4), &(struct hlg_file_id){0},
			   &err);
	ck_assert_int_lt(hlg_embedded_open(&gone, fd, "short", &err), 0);
	close(fd);
}
END_TEST

/* The copy in memory takes two descriptors for a moment. */
START_TEST(too_many_open_files_are_told)
{
	const struct hlg_embedded all = {.size = 4};
	int fd = hlg_file_open(scratch_write("host", "text", 4), &(struct hlg_file_id){0},
			       &err);
	struct rlimit old, few;

	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &old), 0);
	for (rlim_t more = 1; more <= 2; more++) {
		few = (struct rlimit){(rlim_t)fd + more, old.rlim_max};
		ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &few), 0);
		ck_assert_int_eq(hlg_embedded_open(&all, fd, "host", &err), HLG_ESYSTEM);
		ck_assert_str_eq(err.msg, "host: cannot be opened: Too many open files "
					  "(close some, or raise ulimit -n)");
	}
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &old), 0);
	close(fd);
}
END_TEST

/* Images */

/* What says that a file needs Linux's loader: a program names it, a library needs others.
 */
static const char loader[] = "/lib64/ld-linux-x86-64.so.2";
static const Elf64_Dyn needed[] = {{.d_tag = DT_NEEDED}, {.d_tag = DT_NULL}};
static const Elf64_Dyn alone[] = {{.d_tag = DT_NULL}, {.d_tag = DT_NEEDED}};
static const struct mkelf_segment a_program = {
	.type = PT_INTERP, .flags = PF_R, .data = loader, .filesz = sizeof(loader)};
static const struct mkelf_segment a_library = {
	.type = PT_DYNAMIC, .flags = PF_R, .data = needed, .filesz = sizeof(needed)};
static const struct mkelf_segment a_pie = {
	.type = PT_DYNAMIC, .flags = PF_R, .data = alone, .filesz = sizeof(alone)};

/* A host with a segment that is its kind, with n guests behind it, each of another
 * version of Hyperlight; but the third is the first once more. */
static const char *put_kind(const struct mkelf_segment *kind, size_t n)
{
	static const uint8_t text[64] = {0xc3};
	const struct mkelf_sym main_is =
		MKELF_SYM("main", 0x1000, 1, STB_GLOBAL, STT_FUNC, MKELF_SEC(0));
	struct mkelf_segment segments[2];
	struct mkelf_simple host;
	struct mkelf_image img;
	uint8_t *bytes;
	const char *path;
	size_t size;

	mkelf_simple_init(&host, 0x1000, text, sizeof(text), &main_is, 1);
	segments[0] = host.segment;
	segments[1] = *kind;
	host.elf.segments = segments;
	host.elf.n_segments = 2;
	ck_assert_int_eq(mkelf_build(&host.elf, &img), 0);
	size = img.size + n * (guest.img.size + 1);
	bytes = calloc(1, size);
	ck_assert_ptr_nonnull(bytes);
	memcpy(bytes, img.bytes, img.size);
	for (size_t i = 0; i < n; i++) {
		uint8_t *at = bytes + img.size + i * (guest.img.size + 1) + 1;
		uint8_t *version;

		memcpy(at, guest.img.bytes, guest.img.size);
		version = memmem(at, guest.img.size, "0.17.0", 6);
		if (version && i % 2)
			version[5] = '1';
	}
	path = scratch_write("host", bytes, size);
	free(bytes);
	mkelf_finish(&img);
	return path;
}

static const char *put_host(size_t n)
{
	return put_kind(&a_program, n);
}

static bool has_symbol(const char *name)
{
	for (size_t i = 0; i < image->tab.n_syms; i++)
		if (strcmp(hlg_image_name(image, &image->tab.syms[i]), name) == 0)
			return true;
	return false;
}

START_TEST(an_image_is_the_guest_of_its_host)
{
	const char *path = put_host(1);

	ck_assert_int_eq(hlg_image_open_guest(&image, path, 0, &err), 0);
	ck_assert_uint_eq(image->inside_size, guest.img.size);
	ck_assert(has_symbol("compute"));
	ck_assert(!has_symbol("main"));
	ck_assert_str_eq(image->elf.hyperlight, "0.17.0");
	expect_bytes(hlg_image_reopen(image, &err));
	put_host(2);
	ck_assert_int_lt(hlg_image_reopen(image, &err), 0);
}
END_TEST

START_TEST(a_host_without_a_guest_is_itself)
{
	ck_assert_int_eq(hlg_image_open_guest(&image, put_host(0), 0, &err), 0);
	ck_assert_uint_eq(image->inside_size, 0);
	ck_assert(has_symbol("main"));
	hlg_image_destroy(image);
	image = NULL;
	/* Guests of others are not looked for: without the note they may be anything. */
	mkelf_finish(&guest.img);
	guest.elf.version = NULL;
	ck_assert_int_eq(mkelf_build(&guest.elf, &guest.img), 0);
	ck_assert_int_eq(hlg_image_open_guest(&image, put_host(1), 0, &err), 0);
	ck_assert_uint_eq(image->inside_size, 0);
}
END_TEST

/* As a package for Python is. */
START_TEST(a_host_can_be_a_library)
{
	const char *path = put_kind(&a_library, 1);

	ck_assert_int_eq(hlg_image_open_guest(&image, path, 0, &err), 0);
	ck_assert(has_symbol("compute"));
	hlg_image_destroy(image);
	image = NULL;
	path = put_kind(&a_pie, 1); /* needs none: may be a guest */
	ck_assert_int_eq(hlg_image_open_guest(&image, path, 0, &err), 0);
	ck_assert(has_symbol("main"));
}
END_TEST

START_TEST(each_guest_of_a_host_can_be_opened)
{
	const char *path = put_host(3);
	char name[256];

	ck_assert_int_eq(hlg_image_open_guest(&image, path, 0, &err), 0);
	snprintf(name, sizeof(name), "%s@guest=1", path);
	ck_assert_str_eq(image->path, name);
	ck_assert_str_eq(hlg_image_file(image), path);
	ck_assert_str_eq(image->elf.hyperlight, "0.17.0");
	ck_assert_uint_eq(image->guest, 1);
	ck_assert_uint_eq(image->next_guest, 2);
	expect_bytes(hlg_image_reopen(image, &err));
	hlg_image_destroy(image);
	ck_assert_int_eq(hlg_image_open_guest(&image, path, 2, &err), 0);
	ck_assert_str_eq(image->elf.hyperlight, "0.17.1");
	ck_assert_uint_eq(image->next_guest, 0);
	hlg_image_destroy(image);
	/* The third is the first again. */
	for (size_t no = 3; no < 5; no++) {
		ck_assert_int_lt(hlg_image_open_guest(&image, path, no, &err), 0);
		ck_assert_ptr_nonnull(strstr(err.msg, "has no guest"));
	}
	/* The host itself, whoever is inside. */
	ck_assert_int_eq(hlg_image_open_elf(&image, path, &err), 0);
	ck_assert_uint_eq(image->inside_size, 0);
	ck_assert(has_symbol("main"));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("embedded");
	TCase *tc = tap_case(suite, "embedded");

	tcase_add_unchecked_fixture(tc, scratch_begin, scratch_end);
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_loop_test(tc, a_guest_is_found_anywhere, 0, 7);
	tcase_add_test(tc, each_of_several_is_found);
	tcase_add_loop_test(tc, what_is_not_whole_is_none, 0, N_SPOILT);
	tcase_add_test(tc, what_is_cut_is_none);
	tcase_add_test(tc, section_headers_are_not_needed);
	tcase_add_test(tc, files_that_cannot_be_read_are_told);
	tcase_add_test(tc, too_many_open_files_are_told);
	tcase_add_test(tc, an_image_is_the_guest_of_its_host);
	tcase_add_test(tc, a_host_without_a_guest_is_itself);
	tcase_add_test(tc, a_host_can_be_a_library);
	tcase_add_test(tc, each_guest_of_a_host_can_be_opened);
	return tap_main(suite);
}
