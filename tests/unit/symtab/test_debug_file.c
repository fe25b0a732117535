// SPDX-License-Identifier: GPL-2.0-only
/* Which file is an ELF's debug file (symtab/elf/debug-file.h), and what an image has of
 * it. */
#include <check.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "symtab/elf/debug-file.h"
#include "symtab/image/image.h"
#include "tests/kit/scratch.h"
#include "tests/kit/tap.h"

enum {
	VADDR = 0x1000,
	NOBODY = 65534
};

static const uint8_t code[64] = {0xc3};
static const uint8_t id[] = {0xab, 0xcd, 0xef, 0x01},
		     other_id[] = {0xab, 0xcd, 0xef, 0x02},
		     third_id[] = {0xab, 0xcd, 0xef, 0x03};
static const struct mkelf_sym syms[] = {
	MKELF_SYM("hot", VADDR, 0x20, STB_GLOBAL, STT_FUNC, MKELF_SEC(0)),
	MKELF_SYM("cold", VADDR + 0x20, 0x10, STB_LOCAL, STT_FUNC, MKELF_SEC(0)),
};
static size_t id_size = sizeof(id);
static struct hlg_debug_file file;
static struct hlg_err err;
static char folder[512]; /* of all files */

static void setup(void)
{
	strcpy(folder, scratch_path(""));
	folder[strlen(folder) - 1] = '\0';
	setenv(HLG_DEBUG_FILE_ENV, folder, 1);
}

/* Folders, too, which scratch_end() has not heard of. */
static void teardown(void)
{
	char words[1200];

	/* The leak checker looks at no process that changed its user. */
	ck_assert_int_eq(seteuid(getuid()), 0);
	ck_assert_int_eq(prctl(PR_SET_DUMPABLE, 1), 0);
	snprintf(words, sizeof(words), "rm -rf '%s'/* '%s'/.[a-z]*", folder, folder);
	ck_assert_int_eq(system(words), 0);
}

/* Not root, who looks at nothing beside an ELF. */
static void be_user(void)
{
	ck_assert_int_eq(chmod(folder, 0777), 0);
	setenv(HLG_DEBUG_FILE_ENV, "/nonexistent", 1);
	if (geteuid() == 0)
		ck_assert_int_eq(seteuid(NOBODY), 0);
}

static void make_folder(const char *name)
{
	ck_assert_int_eq(mkdir(scratch_path(name), 0777), 0);
}

struct link {
	const char *name;
	size_t size; /* of the name and the zeros behind it */
	uint32_t crc;
};

/* An ELF with or without symbols, a build id and a link. */
static const char *make(const char *name, size_t n_syms, const uint8_t *build_id,
			const struct link *link)
{
	static struct mkelf_simple s;
	static struct mkelf_section sec[2];
	char bytes[8192] = "";

	mkelf_simple_init(&s, VADDR, code, sizeof(code), syms, n_syms);
	s.elf.tables = n_syms ? MKELF_SYMTAB : 0;
	s.elf.build_id = build_id;
	s.elf.build_id_size = build_id ? id_size : 0;
	sec[0] = s.text;
	if (link) {
		memcpy(bytes, link->name, strlen(link->name));
		memcpy(bytes + link->size, &link->crc, sizeof(link->crc));
		sec[1] = (struct mkelf_section){.name = ".gnu_debuglink",
						.type = SHT_PROGBITS,
						.size = link->size + sizeof(link->crc),
						.data = bytes,
						.align = 4};
	}
	s.elf.sections = sec;
	s.elf.n_sections = link ? 2 : 1;
	return scratch_elf(name, &s.elf);
}

/* The same that Python's zlib.crc32 has of it. */
static uint32_t crc_of(const char *path)
{
	uint32_t crc = UINT32_MAX;
	FILE *f = fopen(path, "rb");
	int c;

	ck_assert_ptr_nonnull(f);
	while ((c = fgetc(f)) != EOF) {
		crc ^= (uint32_t)c;
		for (int bit = 0; bit < 8; bit++)
			crc = crc & 1 ? crc >> 1 ^ 0xedb88320 : crc >> 1;
	}
	fclose(f);
	return ~crc;
}

/* To be finished. */
static void find(const char *path)
{
	struct hlg_elf64 elf;

	hlg_elf64_read(&elf, path, &err);
	ck_assert_msg(hlg_debug_file_find(&file, path, &elf, &err) == 0, "%s", err.msg);
	hlg_elf64_finish(&elf);
}

static void ck_found(const char *path)
{
	ck_assert_msg(file.path != NULL, "none: %s", file.refused.msg);
	ck_assert_str_eq(file.path, path);
	ck_assert_uint_eq(file.elf.n_syms, 3);
	hlg_debug_file_finish(&file);
}

static void ck_refused(const char *why)
{
	ck_assert_ptr_null(file.path);
	if (!why)
		ck_assert_str_eq(file.refused.msg, "");
	else
		ck_assert_msg(strstr(file.refused.msg, why), "%s", file.refused.msg);
	hlg_debug_file_finish(&file);
}

START_TEST(build_id_is_looked_up_in_the_folder)
{
	make_folder(".build-id");
	make_folder(".build-id/ab");
	make(".build-id/ab/cdef01.debug", 2, id, NULL);
	find(make("id.elf", 0, id, NULL));
	ck_found(scratch_path(".build-id/ab/cdef01.debug"));
	setenv(HLG_DEBUG_FILE_ENV, "", 1);
	find(scratch_path("id.elf"));
	ck_refused(NULL);
	setenv(HLG_DEBUG_FILE_ENV, folder, 1);
	make(".build-id/ab/cdef01.debug", 2, other_id, NULL);
	find(scratch_path("id.elf"));
	ck_refused("its build id is abcdef02..., not abcdef01...");
	make(".build-id/ab/cdef01.debug", 2, NULL, NULL);
	find(scratch_path("id.elf"));
	ck_refused("nothing tells whether it is the debug file of ");
}
END_TEST

START_TEST(link_is_followed_beside_the_elf)
{
	const char *debug = make("a.debug", 2, NULL, NULL);
	struct link link = {"a.debug", 8, crc_of(debug)};

	be_user();
	find(make("beside.elf", 0, NULL, &link));
	ck_found(debug);
	make_folder("far");
	ck_assert_int_eq(symlink("../beside.elf", scratch_path("far/link.elf")), 0);
	find(scratch_path("far/link.elf"));
	ck_found(scratch_path("a.debug"));
	make_folder(".debug");
	ck_assert_int_eq(rename(scratch_path("a.debug"), scratch_path(".debug/a.debug")),
			 0);
	find(scratch_path("beside.elf"));
	ck_found(scratch_path(".debug/a.debug"));
	link.crc++;
	find(make("wrong.elf", 0, NULL, &link));
	ck_refused("its CRC is");
}
END_TEST

/* The CRC follows a zero at least, at the next word: behind as many as four. */
START_TEST(names_of_any_length)
{
	static const char *const names[] = {"5.dbg", "6.debg", "7.debug", "8..debug"};
	const char *debug = make(names[_i], 2, NULL, NULL);
	struct link link = {names[_i], _i == 3 ? 12 : 8, crc_of(debug)};

	be_user();
	find(make("named.elf", 0, NULL, &link));
	ck_found(debug);
}
END_TEST

/* As root nothing beside an ELF is used: that anybody may have made. */
START_TEST(root_looks_in_the_folder_only)
{
	const char *debug = make("r.debug", 2, NULL, NULL);
	struct link link = {"r.debug", 8, crc_of(debug)};
	char made[8192];

	if (geteuid() != 0)
		return;
	setenv(HLG_DEBUG_FILE_ENV, "/nonexistent", 1);
	find(make("root.elf", 0, NULL, &link));
	ck_refused("r.debug: is not used by root");
	setenv(HLG_DEBUG_FILE_ENV, folder, 1);
	find(scratch_path("root.elf"));
	ck_found(scratch_path("r.debug"));
	snprintf(made, sizeof(made), "mkdir -p '%s/%s' && cp '%s' '%s/%s'", folder,
		 folder, debug, folder, folder);
	ck_assert_int_eq(system(made), 0);
	snprintf(made, sizeof(made), "%s%s/r.debug", folder, folder);
	find(scratch_path("root.elf"));
	ck_found(made);
}
END_TEST

/* Of build ids each byte counts, also those that no message has. */
START_TEST(last_byte_of_a_build_id)
{
	static const uint8_t ids[][20] = {{0xab, [19] = 1}, {0xab, [19] = 2}};
	struct link link = {"i.debug", 8, 1};

	be_user();
	id_size = sizeof(ids[0]);
	make("i.debug", 2, ids[0], NULL);
	find(make("i.elf", 0, ids[0], &link));
	ck_found(scratch_path("i.debug"));
	find(make("i.elf", 0, ids[1], &link));
	ck_refused("its build id is ab00000000000000..., not ab00000000000000...");
	id_size = sizeof(id);
}
END_TEST

/* A build id that both have decides, whatever the CRC is. */
START_TEST(build_id_goes_before_crc)
{
	struct link link = {"b.debug", 8, 1};
	const char *debug;

	be_user();
	debug = make("b.debug", 2, id, NULL);
	find(make("b.elf", 0, id, &link));
	ck_found(debug);
	find(make("other.elf", 0, other_id, &link));
	ck_refused("its build id is");
	make_folder(".debug"); /* of several the first is told */
	make(".debug/b.debug", 2, third_id, NULL);
	find(scratch_path("other.elf"));
	ck_refused("its build id is abcdef01..., not abcdef02...");
	link.crc = crc_of(debug);
	find(make("none.elf", 0, NULL, &link));
	ck_found(debug);
}
END_TEST

START_TEST(odd_links_lead_nowhere)
{
	const struct link up = {"../c.debug", 12, 0}, slash = {"/etc/passwd", 12, 0},
			  self = {"self.elf", 12, 0}, fifo = {"fifo", 8, 0},
			  loop = {"loop", 8, 0}, open_ended = {"12345678", 8, 0x41414141},
			  none = {"", 4, 0}, dir = {"dir", 4, 0}, text = {"text", 8, 0};
	struct link large = {"c.debug", 5000, 0};

	be_user();
	make("c.debug", 2, NULL, NULL);
	large.crc = crc_of(scratch_path("c.debug"));
	find(make("up.elf", 0, NULL, &up));
	ck_refused("names a path, which is not followed: ../c.debug");
	find(make("slash.elf", 0, NULL, &slash));
	ck_refused("names a path");
	find(make("self.elf", 0, id, &self));
	ck_refused(NULL);
	ck_assert_int_eq(mkfifo(scratch_path("fifo"), 0666), 0);
	find(make("f.elf", 0, id, &fifo));
	ck_refused("fifo: is not a regular file");
	ck_assert_int_eq(symlink("loop", scratch_path("loop")), 0);
	find(make("l.elf", 0, id, &loop));
	ck_refused(NULL);
	find(make("o.elf", 0, NULL, &open_ended));
	ck_refused(NULL);
	find(make("n.elf", 0, NULL, &none));
	ck_refused(NULL);
	find(make("large.elf", 0, NULL, &large));
	ck_refused(NULL);
	make_folder("dir");
	find(make("d.elf", 0, id, &dir));
	ck_refused("dir: is a directory");
	scratch_write("text", "text", 4);
	find(make("t.elf", 0, id, &text));
	ck_refused("text: is not an ELF file");
}
END_TEST

/* One that may not be read is not used, and no failure; a wrong one says more. */
START_TEST(closed_file_is_as_good_as_none)
{
	struct link link = {"k.debug", 8, 1};
	struct hlg_image *image;

	make("k.debug", 2, id, NULL);
	ck_assert_int_eq(chmod(scratch_path("k.debug"), 0), 0);
	be_user();
	find(make("k.elf", 0, id, &link));
	ck_assert(file.denied);
	ck_refused("k.elf: permission denied (chmod makes it readable)");
	ck_assert_int_eq(hlg_image_open_elf(&image, make("has.elf", 1, id, &link), &err),
			 0);
	ck_assert_ptr_null(image->debug_refused);
	hlg_image_destroy(image);
	make_folder(".debug");
	make(".debug/k.debug", 2, other_id, NULL);
	find(scratch_path("k.elf"));
	ck_assert(!file.denied);
	ck_refused("its build id is");
}
END_TEST

/* Of a file with holes no CRC is computed for days. */
START_TEST(huge_file_without_a_build_id_is_refused)
{
	struct link link = {"huge", 8, 1};

	be_user();
	make("huge", 2, NULL, NULL);
	if (truncate(scratch_path("huge"), ((off_t)1 << 32) + 1) != 0)
		return;
	find(make("h.elf", 0, NULL, &link));
	ck_refused("is larger than 4 GiB");
	ck_assert_int_eq(unlink(scratch_path("huge")), 0);
}
END_TEST

START_TEST(code_has_to_lie_where_the_elf_has_it)
{
	static struct mkelf_simple s;
	static struct mkelf_section sec[2];
	struct link link = {"moved", 8, 1};

	be_user();
	mkelf_simple_init(&s, VADDR + 0x1000, code, sizeof(code), syms, 2);
	s.elf.build_id = id;
	s.elf.build_id_size = sizeof(id);
	scratch_elf("moved", &s.elf);
	find(make("m.elf", 0, id, &link));
	ck_refused("its code lies elsewhere");

	/* Or more code, behind the ELF's. */
	mkelf_simple_init(&s, VADDR, code, sizeof(code), syms, 2);
	s.elf.build_id = id;
	s.elf.build_id_size = sizeof(id);
	sec[0] = sec[1] = s.text;
	sec[1].name = ".more";
	sec[1].addr += sizeof(code);
	s.elf.sections = sec;
	s.elf.n_sections = 2;
	ck_assert_ptr_nonnull(scratch_elf("moved", &s.elf));
	find(scratch_path("m.elf"));
	ck_refused("its code lies elsewhere");

	/* Or less of it; a section without room counts for nothing. */
	sec[1].size = 0;
	ck_assert_ptr_nonnull(scratch_elf("moved", &s.elf));
	find(scratch_path("m.elf"));
	ck_found(scratch_path("moved"));
	sec[0].size /= 2;
	ck_assert_ptr_nonnull(scratch_elf("moved", &s.elf));
	find(scratch_path("m.elf"));
	ck_refused("its code lies elsewhere");
}
END_TEST

/* eu-strip leaves the headers of segments whose bytes are gone. */
START_TEST(segments_need_no_bytes_in_a_debug_file)
{
	struct link link = {"cut", 4, 1};
	struct mkelf_image img;
	struct mkelf_simple s;
	const char *debug;

	be_user();
	mkelf_simple_init(&s, VADDR, code, sizeof(code), syms, 2);
	s.elf.build_id = id;
	s.elf.build_id_size = sizeof(id);
	ck_assert_int_eq(mkelf_build(&s.elf, &img), 0);
	mkelf_put(&img, mkelf_phdr(&img, 0) + offsetof(Elf64_Phdr, p_offset), 8, 1 << 30);
	debug = scratch_image("cut", &img);
	mkelf_finish(&img);
	find(make("cut.elf", 0, id, &link));
	ck_found(debug);
}
END_TEST

/* As Unikraft leaves the program that it stripped: no build id, no link. */
START_TEST(unstripped_program_is_known_by_its_code)
{
	const char *whole = make("k.dbg", 2, NULL, NULL);
	struct mkelf_simple s;
	struct mkelf_image img;

	be_user();
	find(make("k", 0, NULL, NULL));
	ck_found(whole);
	ck_assert_int_eq(unlink(whole), 0);
	find(scratch_path("k"));
	ck_refused(NULL);
	make_folder(".build");
	whole = make(".build/k.dbg", 2, NULL, NULL);
	find(scratch_path("k"));
	ck_found(whole);
	/* A byte of another build; code of another kind, elsewhere, or none. */
	for (int i = 0; i < 4; i++) {
		uint8_t changed[sizeof(code)] = {0xc3, i == 0};

		mkelf_simple_init(&s, VADDR + 0x1000 * (i == 1), changed, sizeof(changed),
				  syms, 2);
		s.segment.flags = i == 2 ? PF_R : PF_R | PF_X;
		s.elf.machine = i == 3 ? EM_AARCH64 : EM_X86_64;
		ck_assert_int_eq(mkelf_build(&s.elf, &img), 0);
		scratch_image(".build/k.dbg", &img);
		mkelf_finish(&img);
		find(scratch_path("k"));
		ck_refused(i == 3   ? "its code lies elsewhere"
			   : i == 1 ? "its segments are others"
				    : "its code is another");
	}
	/* Two build ids that differ are enough. */
	make(".build/k.dbg", 2, other_id, NULL);
	find(make("k", 0, id, NULL));
	ck_refused("its build id is");
}
END_TEST

/* The last byte of much code, too; and as much code in fewer bytes. */
START_TEST(all_code_is_compared)
{
	static uint8_t much[100000] = {0xc3};
	struct mkelf_simple s;

	be_user();
	for (int i = 0; i < 3; i++) {
		much[sizeof(much) - 1] = i == 1;
		mkelf_simple_init(&s, VADDR, much, sizeof(much) - (i == 2), syms, 2);
		s.segment.memsz = sizeof(much);
		ck_assert_ptr_nonnull(scratch_elf("l.dbg", &s.elf));
		much[sizeof(much) - 1] = 0;
		mkelf_simple_init(&s, VADDR, much, sizeof(much), syms, 0);
		s.elf.tables = 0;
		find(scratch_elf("l", &s.elf));
		if (i == 0)
			ck_found(scratch_path("l.dbg"));
		else
			ck_refused(i == 1 ? "its code is another"
					  : "its segments are others");
	}
}
END_TEST

/* A program of the same code, whose data lie elsewhere, have another size in the file or
 * in memory, or are none: symbols of data would name the wrong. */
START_TEST(all_segments_are_compared)
{
	static const uint8_t data[64];
	struct mkelf_segment both[2] = {0};
	struct mkelf_simple s;

	be_user();
	for (int i = -1; i < 5; i++) {
		const bool other = i >= 0;

		mkelf_simple_init(&s, VADDR, code, sizeof(code), syms, other ? 2 : 0);
		s.elf.tables = other ? MKELF_SYMTAB : 0;
		both[0] = s.segment;
		both[1] = (struct mkelf_segment){.type = PT_LOAD,
						 .flags = PF_R | PF_W,
						 .vaddr = 0x3000 + 0x100 * (i == 1),
						 .memsz = 128 + (i == 2),
						 .filesz = 32 + (i == 3),
						 .data = data};
		s.elf.segments = both;
		s.elf.n_segments = 2 - (i == 4);
		ck_assert_ptr_nonnull(scratch_elf(other ? "d.dbg" : "d", &s.elf));
		find(scratch_path("d"));
		if (i == 0)
			ck_found(scratch_path("d.dbg"));
		else
			ck_refused(other ? "its segments are others" : NULL);
	}
}
END_TEST

static uint32_t code_crc(const uint8_t bytes[static 200], const struct hlg_load *load)
{
	struct hlg_elf64 elf = {
		.loads = (struct hlg_load *)load, .n_loads = 1, .headers = 64};
	const char *path = scratch_write("code", bytes, 200);
	int fd = open(path, O_RDONLY);
	uint32_t crc;

	ck_assert_int_eq(hlg_debug_file_code_crc(fd, path, &elf, &crc, &err), 0);
	close(fd);
	return crc;
}

/* Strip changes the file's headers, wherever they are loaded. */
START_TEST(code_without_its_headers)
{
	struct hlg_load load = {0x1000, 0x1100, 0, 100, true};
	uint8_t bytes[200] = {0};
	const uint32_t crc = code_crc(bytes, &load);

	ck_assert_uint_ne(crc, 0);
	for (size_t i = 0; i < sizeof(bytes); i++) {
		bytes[i] ^= 1;
		ck_assert_int_eq(code_crc(bytes, &load) == crc, i < 64 || i >= 100);
		bytes[i] ^= 1;
	}
	load.addr = 0x1010;
	ck_assert_uint_ne(code_crc(bytes, &load), crc);
	load = (struct hlg_load){0x1000, 0x1100, 0, 64, true};
	ck_assert_uint_eq(code_crc(bytes, &load), 0);
	load = (struct hlg_load){0x1000, 0x1100, 0, 100, false};
	ck_assert_uint_eq(code_crc(bytes, &load), 0);
	/* As much as nobody waits for. */
	load = (struct hlg_load){0, UINT64_C(5) << 30, 0, UINT64_C(5) << 30, true};
	ck_assert_uint_eq(code_crc(bytes, &load), 0);
}
END_TEST

START_TEST(root_is_told_of_an_unstripped_program)
{
	if (geteuid() != 0)
		return;
	make_folder(".build");
	make(".build/k.dbg", 2, NULL, NULL);
	find(make("k", 0, NULL, NULL));
	ck_refused("k.dbg: is not used by root, because others may have made it (name "
		   "it in place of ");
}
END_TEST

START_TEST(unikraft_is_told_where_its_symbols_are)
{
	const char *path = make("elfloader_hyperlight-x86_64", 0, NULL, NULL);
	struct hlg_image *image;
	struct hlg_err full;

	hlg_err_set(&full, HLG_EINPUT,
		    "%s: has no symbols (hyperlight-unikraft has them in its "
		    "kernel/.build/elfloader_hyperlight-x86_64.dbg: name that)",
		    path);
	be_user();
	ck_assert_int_eq(hlg_image_open_elf(&image, path, &err), HLG_EINPUT);
	ck_assert_str_eq(err.msg, full.msg);
	make_folder(".build");
	make(".build/elfloader_hyperlight-x86_64.dbg", 2, NULL, NULL);
	ck_assert_int_eq(hlg_image_open_elf(&image, path, &err), 0);
	ck_assert_uint_eq(image->tab.n_syms, 2);
	hlg_image_destroy(image);
}
END_TEST

START_TEST(image_has_the_names_of_its_debug_file)
{
	struct link link = {"i.debug", 8, 1};
	struct hlg_image *image;
	struct hlg_place place;

	be_user();
	make("i.debug", 2, id, NULL);
	ck_assert_msg(hlg_image_open_elf(&image, make("i.elf", 0, id, &link), &err) == 0,
		      "%s", err.msg);
	hlg_image_lookup(image, VADDR + 0x1f, &place);
	ck_assert_str_eq(hlg_image_name(image, place.symbol), "hot");
	ck_assert_uint_eq(place.end, VADDR + 0x20);
	hlg_image_lookup(image, VADDR + 0x30, &place);
	ck_assert_int_eq(place.kind, HLG_GAP);
	ck_assert_str_eq(image->debug_path, scratch_path("i.debug"));
	ck_assert(!image->elf.dynsym);
	hlg_image_destroy(image);
	/* Its own symbols are enough. */
	ck_assert_int_eq(hlg_image_open_elf(&image, make("own.elf", 1, id, &link), &err),
			 0);
	ck_assert_ptr_null(image->debug_path);
	ck_assert_uint_eq(image->tab.n_syms, 1);
	hlg_image_destroy(image);
	make("i.debug", 2, other_id, NULL);
	ck_assert_int_lt(hlg_image_open_elf(&image, scratch_path("i.elf"), &err), 0);
	ck_assert_msg(strstr(err.msg, "has no symbols, and ") &&
			      strstr(err.msg, "its build id is"),
		      "%s", err.msg);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("debug-file");
	TCase *tc = tap_case(suite, "debug-file");

	tcase_add_unchecked_fixture(tc, scratch_begin, scratch_end);
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, build_id_is_looked_up_in_the_folder);
	tcase_add_test(tc, link_is_followed_beside_the_elf);
	tcase_add_loop_test(tc, names_of_any_length, 0, 4);
	tcase_add_test(tc, root_looks_in_the_folder_only);
	tcase_add_test(tc, last_byte_of_a_build_id);
	tcase_add_test(tc, build_id_goes_before_crc);
	tcase_add_test(tc, odd_links_lead_nowhere);
	tcase_add_test(tc, closed_file_is_as_good_as_none);
	tcase_add_test(tc, huge_file_without_a_build_id_is_refused);
	tcase_add_test(tc, code_has_to_lie_where_the_elf_has_it);
	tcase_add_test(tc, segments_need_no_bytes_in_a_debug_file);
	tcase_add_test(tc, unstripped_program_is_known_by_its_code);
	tcase_add_test(tc, all_code_is_compared);
	tcase_add_test(tc, all_segments_are_compared);
	tcase_add_test(tc, code_without_its_headers);
	tcase_add_test(tc, root_is_told_of_an_unstripped_program);
	tcase_add_test(tc, unikraft_is_told_where_its_symbols_are);
	tcase_add_test(tc, image_has_the_names_of_its_debug_file);
	return tap_main(suite);
}
