// SPDX-License-Identifier: GPL-2.0-only
/* An ELF that no companion can be made of is told to be malformed, also where a signal
 * came while it was read. */
#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "filter/options/options.h"
#include "tests/kit/mkelf-guest.h"
#include "tests/kit/scratch.h"
#include "tests/kit/tap.h"
#include "tools/inject/companion.h"

static bool comes; /* a signal, in the next call */

/* For all of this program, in libc's place. */
ssize_t pread(int fd, void *to, size_t n, off_t at)
{
	if (!comes)
		return syscall(SYS_pread64, fd, to, n, at);
	comes = false;
	errno = EINTR;
	return -1;
}

START_TEST(malformed)
{
	const Elf64_Half section = SHN_LORESERVE;
	struct mkelf_guest guest;
	struct mkelf_image file;
	struct hlg_image *image;
	struct hlg_build_id id;
	struct hlg_err err;
	int rc;

	mkelf_guest_init(&guest, 0x400000);
	ck_assert_int_eq(mkelf_build(&guest.elf, &file), 0);
	memcpy(file.bytes + offsetof(Elf64_Ehdr, e_shstrndx), &section, sizeof(section));
	rc = hlg_image_open_elf(&image, scratch_image("guest.elf", &file), &err);
	ck_assert_msg(rc == 0, "%s", err.msg);
	comes = true;
	ck_assert_int_eq(hlg_companion_image_id(image, &id, &err), HLG_EINPUT);
	ck_assert(!comes);
	ck_assert_ptr_nonnull(strstr(err.msg, "its section headers are malformed"));
	hlg_image_destroy(image);
	mkelf_finish(&file);
}
END_TEST

/* The id of a companion of a guest whose last function is called so. */
static struct hlg_build_id id_with(const char *name)
{
	struct hlg_build_id id = {0};
	struct mkelf_guest guest;
	struct mkelf_image file;
	struct hlg_image *image;
	struct hlg_units units;
	struct hlg_err err;
	FILE *tmp = tmpfile();

	mkelf_guest_init(&guest, 0x400000);
	guest.syms[8].name = name; /* "last" */
	ck_assert_int_eq(mkelf_build(&guest.elf, &file), 0);
	ck_assert_int_eq(
		hlg_image_open_elf(&image, scratch_image("guest.elf", &file), &err), 0);
	ck_assert(hlg_companion_units_init(&units, image, HLG_GAPS_RETAG));
	ck_assert_msg(hlg_companion_write(&units, false, tmp, "companion", &id, &err) ==
			      0,
		      "%s", err.msg);
	hlg_companion_units_finish(&units);
	hlg_image_destroy(image);
	mkelf_finish(&file);
	fclose(tmp);
	return id;
}

/* Who has kept the one by its id must not be shown the names of the other. */
START_TEST(names_tell_apart)
{
	struct hlg_build_id one = id_with("one"), two = id_with("two"),
			    again = id_with("one");

	ck_assert_uint_gt(one.size, 0);
	ck_assert_mem_eq(&one, &again, sizeof(one));
	ck_assert_mem_ne(&one, &two, sizeof(one));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("inject companion");
	TCase *tc = tap_case(suite, "companion");

	tcase_add_unchecked_fixture(tc, scratch_begin, scratch_end);
	tcase_add_test(tc, malformed);
	tcase_add_test(tc, names_tell_apart);
	return tap_main(suite);
}
