// SPDX-License-Identifier: GPL-2.0-only
/*
 * Proves that no header of an ELF is believed: for each field that can lie (counts,
 * offsets, sizes, entry sizes, links, types) a table says what becomes of the file, by
 * the whole message or by success where the field does not matter. Then a file cut at
 * every byte, and files with random bytes in their headers and tables, end in success or
 * in one clear line, and never in a crash. (The sanitizers watch over what is read.)
 */
#include "symtab/image/image.h"

#include <string.h>
#include <unistd.h>

#include "tests/kit/mkelf-guest.h"
#include "tests/kit/scratch.h"
#include "tests/kit/tap.h"

#define AGAIN " (the ELF is damaged; build or copy it again)"
#define STRIPPED                                                                         \
	"has no symbols, it was stripped (name it as it was built, or keep them: "       \
	"`strip --strip-debug`, for Rust `strip = \"debuginfo\"`)"
#define NO_CODE_NAMED                                                                    \
	"has no symbol that names code (it was stripped: `strip --strip-debug` is "      \
	"safe, `strip -s` and, for Rust, `strip = \"symbols\"` are not)"
#define NO_PHDRS   "has no readable program headers" AGAIN
#define NO_LOAD    "has nothing to load" AGAIN
#define MALFORMED  "has a malformed symbol table" AGAIN
#define TABLE_PAST "has a symbol table that ends past the file" AGAIN
#define SHDRS_PAST                                                                       \
	"is truncated: its section headers end past its %zu bytes (copy it again)"
#define PHDRS_PAST                                                                       \
	"is truncated: its program headers end past its %zu bytes (copy it again)"
#define SEG_PAST   "is truncated: a segment ends past its %zu bytes (copy it again)"
#define SEG_MEMORY "has a segment that passes the end of memory" AGAIN
#define COMPRESSED "has a compressed symbol table (build it without)"
#define SIZES      "has headers of an unknown size" AGAIN
#define FINE       NULL

#define HUGE UINT64_MAX

/* What a field belongs to. */
enum header {
	EHDR,
	PHDR_TEXT,
	SHDR_NULL,
	SHDR_TEXT,
	SHDR_SYMTAB,
	SHDR_STRTAB,
	SHDR_NOTE,
	SHDR_NAMES,
};

#define FIELD(type, f) offsetof(type, f), sizeof(((type *)0)->f)
#define E(f)           EHDR, FIELD(Elf64_Ehdr, f)
#define FOREIGN                                                                          \
	", and only ELFs of x86-64 and AArch64 are read (of others give the functions "  \
	"as a perf map: map:FILE)"
#define P(f)        PHDR_TEXT, FIELD(Elf64_Phdr, f)
#define S(which, f) SHDR_##which, FIELD(Elf64_Shdr, f)

static const struct {
	enum header header;
	size_t at;
	unsigned width;
	uint64_t value;
	const char *message; /* %zu: the size of the file */
} lies[] = {
	{EHDR, EI_CLASS, 1, 0, "has an unknown ELF class" AGAIN},
	{EHDR, EI_CLASS, 1, 3, "has an unknown ELF class" AGAIN},
	{EHDR, EI_DATA, 1, 0, "has an unknown byte order" AGAIN},
	{EHDR, EI_DATA, 1, 3, "has an unknown byte order" AGAIN},
	{EHDR, EI_VERSION, 1, 9, NO_PHDRS},
	{EHDR, EI_OSABI, 1, 200, FINE},
	{E(e_machine), EM_RISCV, "is for riscv64" FOREIGN},
	{E(e_machine), 0xffff, "is for machine 65535, 64 bits, little-endian" FOREIGN},
	{E(e_type), ET_NONE,
	 "is neither an executable nor a shared object (give the little-endian ELF64 of "
	 "an "
	 "x86-64 or AArch64 guest)"},
	{E(e_type), 0xffff,
	 "is neither an executable nor a shared object (give the little-endian ELF64 of "
	 "an "
	 "x86-64 or AArch64 guest)"},
	{E(e_entry), HUGE, FINE},
	{E(e_ehsize), 1, FINE},
	{E(e_phoff), 0, NO_LOAD},
	{E(e_phoff), 1 << 20, NO_PHDRS},
	{E(e_phoff), HUGE, NO_PHDRS},
	{E(e_phnum), 0, NO_LOAD},
	{E(e_phnum), 5000, PHDRS_PAST},
	{E(e_phnum), PN_XNUM, NO_LOAD},
	{E(e_phentsize), sizeof(Elf32_Phdr), SIZES},
	{E(e_phentsize), 2 * sizeof(Elf64_Phdr), SIZES},
	{E(e_phentsize), 0, SIZES},
	{E(e_shentsize), sizeof(Elf32_Shdr), SIZES},
	{E(e_shentsize), 2 * sizeof(Elf64_Shdr), SIZES},
	{E(e_shoff), 0, STRIPPED},
	{E(e_shoff), 1 << 20, SHDRS_PAST},
	{E(e_shoff), HUGE, SHDRS_PAST},
	{E(e_shnum), 0, SHDRS_PAST},
	{E(e_shnum), 5000, SHDRS_PAST},
	{E(e_shnum), 0xffff, SHDRS_PAST},
	{E(e_shnum), 1, STRIPPED},
	{E(e_shstrndx), 77, FINE},
	{E(e_shstrndx), 0xffff, FINE},
	{P(p_memsz), HUGE, SEG_MEMORY},
	{P(p_memsz), HUGE - MKELF_TEXT, "has segments that overlap" AGAIN},
	{P(p_memsz), HUGE - MKELF_TEXT + 1, SEG_MEMORY},
	{P(p_memsz), 0, FINE}, /* an empty segment is none */
	{P(p_memsz), 1, "has a segment larger in the file than in memory" AGAIN},
	{P(p_memsz), MKELF_DATA - MKELF_TEXT + 1, "has segments that overlap" AGAIN},
	{P(p_memsz), MKELF_DATA - MKELF_TEXT, FINE},
	{P(p_filesz), HUGE, "has a segment larger in the file than in memory" AGAIN},
	{P(p_vaddr), HUGE, SEG_MEMORY},
	{P(p_vaddr), MKELF_DATA, "has segments that overlap" AGAIN},
	{P(p_offset), HUGE, SEG_PAST},
	{P(p_offset), 1 << 20, SEG_PAST},
	{P(p_type), PT_NULL, FINE},
	{S(NULL, sh_flags), SHF_ALLOC | SHF_EXECINSTR, FINE},
	{S(TEXT, sh_name), UINT32_MAX, FINE},
	{S(TEXT, sh_offset), HUGE, FINE},
	{S(TEXT, sh_size), HUGE, FINE},
	{S(TEXT, sh_size), 0, NO_CODE_NAMED},
	{S(TEXT, sh_addr), HUGE, NO_CODE_NAMED},
	{S(TEXT, sh_flags), SHF_ALLOC, NO_CODE_NAMED},
	{S(TEXT, sh_flags), SHF_EXECINSTR, NO_CODE_NAMED},
	{S(NAMES, sh_type), SHT_NULL, FINE},
	{S(NAMES, sh_offset), HUGE, FINE},
	{S(NAMES, sh_size), HUGE, FINE},
	{S(SYMTAB, sh_type), SHT_NULL, STRIPPED},
	{S(SYMTAB, sh_size), 0, STRIPPED},
	{S(SYMTAB, sh_size), sizeof(Elf64_Sym), STRIPPED},
	{S(SYMTAB, sh_size), sizeof(Elf64_Sym) + 1, NO_CODE_NAMED},
	{S(SYMTAB, sh_size), 1 << 20, TABLE_PAST},
	{S(SYMTAB, sh_size), HUGE, TABLE_PAST},
	{S(SYMTAB, sh_size), UINT64_C(1) << 63, TABLE_PAST},
	{S(SYMTAB, sh_offset), 1 << 20, TABLE_PAST},
	{S(SYMTAB, sh_offset), HUGE, TABLE_PAST},
	{S(SYMTAB, sh_entsize), 0, MALFORMED},
	{S(SYMTAB, sh_entsize), sizeof(Elf32_Sym), MALFORMED},
	{S(SYMTAB, sh_entsize), HUGE, MALFORMED},
	{S(SYMTAB, sh_link), 0, MALFORMED},
	{S(SYMTAB, sh_link), 1, MALFORMED},
	{S(SYMTAB, sh_link), 77, MALFORMED},
	{S(SYMTAB, sh_link), UINT32_MAX, MALFORMED},
	{S(SYMTAB, sh_info), UINT32_MAX, FINE},
	{S(SYMTAB, sh_flags), SHF_COMPRESSED, COMPRESSED},
	{S(STRTAB, sh_flags), SHF_STRINGS | SHF_COMPRESSED, COMPRESSED},
	{S(STRTAB, sh_type), SHT_NOBITS, MALFORMED},
	{S(STRTAB, sh_size), 0, NO_CODE_NAMED},
	{S(STRTAB, sh_size), 1 << 20, TABLE_PAST},
	{S(STRTAB, sh_size), HUGE, TABLE_PAST},
	{S(STRTAB, sh_offset), HUGE, TABLE_PAST},
	{S(NOTE, sh_size), HUGE, FINE},
	{S(NOTE, sh_size), 3, FINE},
	{S(NOTE, sh_offset), HUGE, FINE},
	{S(NOTE, sh_addralign), HUGE, FINE},
};

#define N_LIES ((int)(sizeof(lies) / sizeof(lies[0])))

static struct mkelf_guest guest;

static void setup(void)
{
	mkelf_guest_init(&guest, 0);
	ck_assert_int_eq(mkelf_build(&guest.elf, &guest.img), 0);
}

static void teardown(void)
{
	mkelf_finish(&guest.img);
}

static size_t find_header(enum header header)
{
	const struct mkelf_image *img = &guest.img;

	switch (header) {
	case EHDR:
		return 0;
	case PHDR_TEXT:
		return mkelf_phdr(img, MKELF_SEG_TEXT);
	case SHDR_NULL:
		return mkelf_shdr(img, 0);
	case SHDR_TEXT:
		return mkelf_shdr(img, MKELF_SEC(MKELF_SEC_TEXT));
	case SHDR_SYMTAB:
		return mkelf_shdr(img, img->symtab);
	case SHDR_STRTAB:
		return mkelf_shdr(img, img->strtab);
	case SHDR_NOTE:
		return mkelf_shdr(img, img->version);
	default:
		return mkelf_shdr(img, img->shstrtab);
	}
}

static int next_descriptor(void)
{
	int fd = dup(STDIN_FILENO);

	close(fd);
	return fd;
}

/* Opens what is in guest.img, looks everywhere if it can be, and lets it go. */
static int try_image(struct hlg_err *err)
{
	struct hlg_image *image;
	struct hlg_place place;
	int fd = next_descriptor(), rc;

	err->msg[0] = '\0';
	rc = hlg_image_open_elf(&image, scratch_image("guest.elf", &guest.img), err);
	ck_assert((rc < 0) == (image == NULL));
	ck_assert_int_eq(next_descriptor(), fd); /* the file is closed */
	for (uint64_t addr = 0; image && addr < 0x4000; addr += 4)
		hlg_image_lookup(image, addr, &place);
	hlg_image_destroy(image);
	return rc;
}

/* A message is "PATH: something", one line. */
static void check_line(const struct hlg_err *err)
{
	const char *path = scratch_path("guest.elf");
	size_t len = strlen(path);

	ck_assert_int_eq(strncmp(err->msg, path, len), 0);
	ck_assert_int_eq(strncmp(err->msg + len, ": ", 2), 0);
	ck_assert_uint_gt(strlen(err->msg), len + 10);
	ck_assert_ptr_null(strchr(err->msg, '\n'));
}

static void expect(int lie, const struct hlg_err *err)
{
	const char *size = lies[lie].message ? strstr(lies[lie].message, "%zu") : NULL;
	const char *path = scratch_path("guest.elf");
	struct hlg_err want = {0};

	if (size)
		hlg_err_set(&want, 0, "%s: %.*s%zu%s", path,
			    (int)(size - lies[lie].message), lies[lie].message,
			    guest.img.size, size + 3);
	else if (lies[lie].message)
		hlg_err_set(&want, 0, "%s: %s", path, lies[lie].message);
	ck_assert_msg(!strcmp(err->msg, want.msg),
		      "lie %d (header %d, offset %zu, value %#lx):\n# got      %s\n"
		      "# expected %s",
		      lie, lies[lie].header, lies[lie].at, (unsigned long)lies[lie].value,
		      err->msg, want.msg);
}

START_TEST(lies_are_found_out)
{
	struct hlg_err err;
	int rc;

	mkelf_put(&guest.img, find_header(lies[_i].header) + lies[_i].at, lies[_i].width,
		  lies[_i].value);
	rc = try_image(&err);
	ck_assert_int_eq(rc, lies[_i].message ? HLG_EINPUT : 0);
	expect(_i, &err);
}
END_TEST

/* The counts that do not fit their fields are in section header 0 (gABI, "ELF header").
 */
START_TEST(extended_counts_are_followed)
{
	const size_t null = find_header(SHDR_NULL);
	struct hlg_err err;

	mkelf_put(&guest.img, offsetof(Elf64_Ehdr, e_shnum), 2, 0);
	mkelf_put(&guest.img, null + offsetof(Elf64_Shdr, sh_size), 8, guest.img.shnum);
	mkelf_put(&guest.img, offsetof(Elf64_Ehdr, e_shstrndx), 2, SHN_XINDEX);
	mkelf_put(&guest.img, null + offsetof(Elf64_Shdr, sh_link), 4,
		  guest.img.shstrtab);
	mkelf_put(&guest.img, offsetof(Elf64_Ehdr, e_phnum), 2, PN_XNUM);
	mkelf_put(&guest.img, null + offsetof(Elf64_Shdr, sh_info), 4, guest.img.phnum);
	ck_assert_msg(try_image(&err) == 0, "%s", err.msg);
	mkelf_put(&guest.img, null + offsetof(Elf64_Shdr, sh_size), 8, HUGE);
	ck_assert_int_eq(try_image(&err), HLG_EINPUT);
	check_line(&err);
}
END_TEST

/* Every byte of everything but the zeroes between the segments, one by one. */
START_TEST(files_are_cut_everywhere)
{
	const size_t whole = guest.img.size;
	struct hlg_err err;

	for (size_t size = 0; size < whole; size++) {
		if (size > 0x400 && size < 0x2f00 && size % 61)
			continue;
		guest.img.size = size;
		ck_assert_msg(try_image(&err) == HLG_EINPUT, "%zu of %zu bytes", size,
			      whole);
		check_line(&err);
	}
	guest.img.size = whole;
	ck_assert_msg(try_image(&err) == 0, "%s", err.msg);
}
END_TEST

/* Numbers of every magnitude, and those at which arithmetic turns over. */
static uint64_t any_number(unsigned *seed)
{
	uint64_t r = (uint64_t)rand_r(seed) << 40 ^ (uint64_t)rand_r(seed) << 20 ^
		     (uint64_t)rand_r(seed);

	switch (rand_r(seed) % 4) {
	case 0:
		return r % 64;
	case 1:
		return UINT64_MAX - r % 64;
	case 2:
		return r % 0x4000;
	default:
		return r;
	}
}

/* Where there are headers and tables, not code. */
static size_t any_place(unsigned *seed, const struct mkelf_image *whole)
{
	size_t front = mkelf_phdr(whole, whole->phnum);
	size_t back = whole->size - mkelf_bytes(whole, whole->symtab);
	size_t at = (size_t)rand_r(seed) % (front + back);

	return at < front ? at : whole->size - back + (at - front);
}

START_TEST(random_headers_are_survived)
{
	unsigned seed = 1 + (unsigned)_i;
	struct mkelf_image whole = guest.img;

	for (int round = 0; round < 1500; round++) {
		struct hlg_err err;

		guest.img = whole;
		guest.img.bytes = malloc(whole.size);
		memcpy(guest.img.bytes, whole.bytes, whole.size);
		for (int n = 1 + rand_r(&seed) % 4; n; n--) {
			static const unsigned widths[] = {1, 2, 4, 8};
			unsigned width = widths[rand_r(&seed) % 4];
			size_t at = any_place(&seed, &whole) & ~(size_t)(width - 1);

			mkelf_put(&guest.img, at, width, any_number(&seed));
		}
		if (try_image(&err) < 0)
			check_line(&err);
		mkelf_finish(&guest.img);
	}
	guest.img = whole;
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("elf64-hostile");
	TCase *tc = tap_case(suite, "hostile");

	tcase_add_unchecked_fixture(tc, scratch_begin, scratch_end);
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_loop_test(tc, lies_are_found_out, 0, N_LIES);
	tcase_add_test(tc, extended_counts_are_followed);
	tcase_add_test(tc, files_are_cut_everywhere);
	tcase_add_loop_test(tc, random_headers_are_survived, 0, 4);
	return tap_main(suite);
}
