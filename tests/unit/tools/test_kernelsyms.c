// SPDX-License-Identifier: GPL-2.0-only
/*
 * The kernel's symbols are believed only if it is the recorded one at the recorded place
 * and shows its addresses; what is in the file beside symbols is passed over. Of names of
 * one address the file's last counts, as in perf.
 */
#include "tools/feed/hostsyms.h"

#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/kit/tap.h"

#define TEXT 0xffffffff81000000

/* perf pads them with zeros. */
static const struct hlg_buildid id = {{1, 2, 3, 4}, 20};
static const struct hlg_buildid other_id = {{2, 3, 4}, 20}, short_id = {{1, 2, 3}, 3};

static const uint8_t notes[] = {
	4, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 'X', 'e', 'n', 0, 9, 9, 0, 0, /* another's */
	4, 0, 0, 0, 4, 0, 0, 0, 3, 0, 0, 0, 'G', 'N', 'U', 0, 1, 2, 3, 4};

static struct hlg_hostsyms from(const char *text, const void *note, size_t size)
{
	char symbols[] = "/tmp/kernelsyms-XXXXXX", other[] = "/tmp/kernelsyms-XXXXXX";
	int fd = mkstemp(symbols), fd2 = mkstemp(other);
	struct hlg_hostsyms k;

	ck_assert(fd >= 0 && fd2 >= 0);
	ck_assert_int_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	ck_assert_int_eq(write(fd2, note, size), (ssize_t)size);
	hlg_hostsyms_init(&k, false);
	k.kernel = hlg_hostsyms_kernel_read(symbols, other);
	ck_assert_ptr_nonnull(k.kernel);
	close(fd);
	close(fd2);
	unlink(symbols);
	unlink(other);
	return k;
}

START_TEST(symbols)
{
	struct hlg_hostsyms k = from("ffffffff81000100 t second\n"
				     "ffffffff81000000 T _text\n"
				     "ffffffff81000000 T _stext\n"
				     "nonsense\n\n"
				     "ffffffff81000180 r constant\n"
				     "ffffffff81000200 T memcpy\n"
				     "ffffffff81000200 W __memcpy\n"
				     "ffffffffc0000000 t enter\t[kvm]\n",
				     notes, sizeof(notes));

	ck_assert(!k.kernel_is_other);
	ck_assert_ptr_null(hlg_hostsyms_kernel(&k, &other_id, TEXT, TEXT));
	ck_assert(k.kernel_is_other);
	ck_assert_ptr_null(hlg_hostsyms_kernel(&k, &short_id, TEXT, TEXT));
	ck_assert_ptr_null(hlg_hostsyms_kernel(&k, &id, 0xffffffff82000000, TEXT));
	ck_assert_ptr_null(hlg_hostsyms_kernel(&k, &id, 0, TEXT));
	ck_assert_ptr_null(hlg_hostsyms_kernel(&k, &id, TEXT, 0xffffffff80ffffff));
	ck_assert_str_eq(hlg_hostsyms_kernel(&k, &id, TEXT, 0xffffffff81000000),
			 "_stext");
	ck_assert_str_eq(hlg_hostsyms_kernel(&k, &id, TEXT, 0xffffffff810001ff),
			 "second");
	ck_assert_str_eq(hlg_hostsyms_kernel(&k, &id, TEXT, 0xffffffff81000208),
			 "__memcpy");
	ck_assert_str_eq(hlg_hostsyms_kernel(&k, &id, TEXT, UINT64_MAX), "enter");
	hlg_hostsyms_finish(&k);
}
END_TEST

/* perf records where the kernel has _text, or else _stext. */
START_TEST(either_place)
{
	struct hlg_hostsyms k = from("ffffffff81000000 T _text\n"
				     "ffffffff81000200 T _stext\n",
				     notes, sizeof(notes));

	ck_assert_str_eq(hlg_hostsyms_kernel(&k, &id, TEXT, TEXT + 1), "_text");
	ck_assert_str_eq(hlg_hostsyms_kernel(&k, &id, TEXT + 0x200, TEXT + 1), "_text");
	ck_assert_ptr_null(hlg_hostsyms_kernel(&k, &id, TEXT + 0x100, TEXT + 1));
	hlg_hostsyms_finish(&k);
}
END_TEST

START_TEST(hidden)
{
	struct hlg_hostsyms k = from("0000000000000000 T _text\n", notes, sizeof(notes));

	ck_assert_ptr_null(hlg_hostsyms_kernel(&k, &id, 0, TEXT));
	ck_assert_ptr_null(hlg_hostsyms_kernel(&k, &id, TEXT, TEXT));
	hlg_hostsyms_finish(&k);
}
END_TEST

/* Notes cut anywhere tell no build id. */
START_TEST(cut_notes)
{
	for (size_t n = 0; n < sizeof(notes); n++) {
		struct hlg_hostsyms k = from("ffffffff81000000 T _text\n", notes, n);

		ck_assert_ptr_null(hlg_hostsyms_kernel(&k, &id, TEXT, TEXT));
		hlg_hostsyms_finish(&k);
	}
}
END_TEST

void names_of(void);
void names_of_one(void) __attribute__((alias("names_of")));
void underscored(void) __asm__("_names_of_one_place") __attribute__((alias("names_of")));

void names_of(void)
{
}

/* What is at an address of this program: where that lies in its file. */
static int find_offset(struct dl_phdr_info *info, size_t size, void *offset)
{
	const uint64_t addr = (uint64_t)(uintptr_t)names_of - info->dlpi_addr;

	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *load = &info->dlpi_phdr[i];

		if (load->p_type == PT_LOAD && addr - load->p_vaddr < load->p_filesz)
			*(uint64_t *)offset = addr - load->p_vaddr + load->p_offset;
	}
	return 1; /* the first is the program */
}

/* Of several names that which perf takes: fewest underscores, then the longest. */
START_TEST(aliases)
{
	struct hlg_hostsyms syms;
	char path[PATH_MAX] = "";
	uint64_t offset = 0;

	ck_assert_int_gt(readlink("/proc/self/exe", path, sizeof(path) - 1), 0);
	dl_iterate_phdr(find_offset, &offset);
	hlg_hostsyms_init(&syms, false);
	ck_assert_str_eq(hlg_hostsyms_user(&syms, path, NULL, offset), "names_of_one");
	hlg_hostsyms_finish(&syms);
}
END_TEST

/* A function stands in this file 0x1000 below its address, as its segment does. */
START_TEST(places_in_files)
{
	struct hlg_hostsyms syms;
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/demo.elf", getenv("HLG_DATA"));
	hlg_hostsyms_init(&syms, false);
	ck_assert_str_eq(hlg_hostsyms_user(&syms, path, NULL, 0x480), "collatz_steps");
	ck_assert_str_eq(hlg_hostsyms_user(&syms, path, NULL, 0x4aa), "collatz_steps");
	ck_assert_str_eq(hlg_hostsyms_user(&syms, path, NULL, 0x4b0), "take_exceptions");
	/* In front of the code, and in data. */
	ck_assert_ptr_null(hlg_hostsyms_user(&syms, path, NULL, 0x27f));
	ck_assert_ptr_null(hlg_hostsyms_user(&syms, path, NULL, 0x1135));
	hlg_hostsyms_finish(&syms);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("kernelsyms");
	TCase *tc = tap_case(suite, "kernelsyms");

	tcase_add_test(tc, symbols);
	tcase_add_test(tc, either_place);
	tcase_add_test(tc, hidden);
	tcase_add_test(tc, cut_notes);
	tcase_add_test(tc, aliases);
	tcase_add_test(tc, places_in_files);
	return tap_main(suite);
}
