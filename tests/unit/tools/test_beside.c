// SPDX-License-Identifier: GPL-2.0-only
/*
 * What record notes beside a recording, read again, also what nobody would have noted:
 * no JSON, other JSON, numbers out of range, files with no end, and each text cut off
 * anywhere.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/kit/scratch.h"
#include "tests/kit/tap.h"
#include "tools/beside/beside.h"

static char recording[PATH_MAX], place[PATH_MAX];
static struct hlg_beside b;
static struct hlg_err err;

static void copy(const char *from, const char *to, mode_t mode)
{
	char buf[65536];
	FILE *in = fopen(from, "r"), *out = fopen(to, "w");
	size_t n;

	ck_assert(in && out);
	while ((n = fread(buf, 1, sizeof(buf), in)) > 0)
		ck_assert_uint_eq(fwrite(buf, 1, n, out), n);
	fclose(in);
	ck_assert_int_eq(fclose(out), 0);
	ck_assert_int_eq(chmod(to, mode), 0);
}

static void put(const char *text, size_t size)
{
	FILE *f = fopen(place, "w");

	ck_assert_ptr_nonnull(f);
	ck_assert_uint_eq(fwrite(text, 1, size, f), size);
	ck_assert_int_eq(fclose(f), 0);
}

static int read_again(void)
{
	hlg_beside_finish(&b);
	err.msg[0] = '\0';
	return hlg_beside_read(&b, recording, &err);
}

static void enter(void)
{
	scratch_begin();
	strcpy(recording, scratch_path("a.data"));
	ck_assert(hlg_beside_place(place, recording));
	copy(DATA "/demo-user.data", recording, 0644);
	copy(DATA "/demo.elf", scratch_path("guest.elf"), 0644);
}

static void leave(void)
{
	hlg_beside_finish(&b);
	scratch_end();
}

/* The name that it has is its file's. */
static int check(size_t i)
{
	char *name;
	int rc = hlg_beside_check(&b.guests[i], recording, &name, &err);

	if (rc == 0)
		ck_assert_str_eq(name, b.guests[i].file);
	else
		ck_assert_ptr_null(name);
	free(name);
	return rc;
}

static int write_note(void)
{
	const char *guest = scratch_path("guest.elf");

	return hlg_beside_write(recording, &guest, 1, NULL, 0, &err);
}

static void note(void)
{
	ck_assert_int_eq(write_note(), 0);
}

START_TEST(is_read_again)
{
	note();
	ck_assert_int_eq(read_again(), 0);
	ck_assert_uint_eq(b.n_guests, 1);
	ck_assert_str_eq(b.guests[0].file, scratch_path("guest.elf"));
	ck_assert_uint_eq(b.guests[0].inside, 0);
	ck_assert_int_eq(check(0), 0);
	/* Nothing to note: what is there goes. */
	ck_assert_int_eq(hlg_beside_write(recording, NULL, 0, NULL, 0, &err), 0);
	ck_assert_int_eq(access(place, F_OK), -1);
	ck_assert_int_eq(read_again(), 1);
}
END_TEST

/* It is believed only if others may not write it, so it is made like that. */
START_TEST(is_written_by_nobody_else)
{
	const mode_t before = umask(0);
	struct stat st;

	note();
	umask(before);
	ck_assert_int_eq(stat(place, &st), 0);
	ck_assert_uint_eq(st.st_mode & 0777, 0644);
	ck_assert_int_eq(read_again(), 0);
	ck_assert_int_eq(chmod(place, 0646), 0);
	ck_assert_int_eq(read_again(), HLG_EINPUT);
	ck_assert_ptr_nonnull(strstr(err.msg, "others may write it"));
}
END_TEST

START_TEST(goes_with_the_one_before)
{
	char old[PATH_MAX];
	struct stat st;

	note();
	strcpy(old, scratch_path("a.data.old"));
	ck_assert_int_eq(rename(recording, old), 0);
	copy(DATA "/demo-host.data", recording, 0644);
	ck_assert_int_eq(read_again(), HLG_EINPUT);
	ck_assert_ptr_nonnull(strstr(err.msg, "of another recording"));
	note();
	ck_assert_int_eq(read_again(), 0);
	hlg_beside_finish(&b);
	ck_assert_int_eq(hlg_beside_read(&b, old, &err), 0);
	/* Another one that is as long: nothing is behind the end of what it has. */
	ck_assert_int_eq(rename(old, recording), 0);
	note();
	ck_assert_int_eq(stat(recording, &st), 0);
	copy(DATA "/demo-host.data", recording, 0644);
	ck_assert_int_eq(truncate(recording, st.st_size), 0);
	ck_assert_int_eq(read_again(), HLG_EINPUT);
	ck_assert_ptr_nonnull(strstr(err.msg, "of another recording"));
	/* One that begins with the same sample, and is longer. */
	note();
	ck_assert_int_eq(read_again(), 0);
	ck_assert_int_eq(truncate(recording, st.st_size + 1), 0);
	ck_assert_int_eq(read_again(), HLG_EINPUT);
	ck_assert_ptr_nonnull(strstr(err.msg, "of another recording"));
}
END_TEST

/* One is a guest, and behind it another may have been. */
static void check_other(const char *guest, const char *other)
{
	ck_assert_int_eq(read_again(), 0);
	ck_assert_uint_eq(b.n_guests, 2);
	ck_assert_str_eq(b.guests[0].file, guest);
	ck_assert(!b.guests[0].other);
	ck_assert_str_eq(b.guests[1].file, other);
	ck_assert(b.guests[1].other);
}

/* What else may have run stands behind, once, and nothing that cannot be read; and so
 * does what was noted of the same recording before. */
START_TEST(others_may_have_run)
{
	char guest[PATH_MAX], other[PATH_MAX], bad[PATH_MAX];
	const char *const others[] = {other, guest, bad, other};
	const char *const second[] = {other};

	strcpy(guest, scratch_path("guest.elf"));
	strcpy(other, scratch_path("other.elf"));
	strcpy(bad, scratch_path("bad.elf"));
	copy(DATA "/rusty.elf", other, 0644);
	copy("/proc/self/status", bad, 0644);
	ck_assert_int_eq(
		hlg_beside_write(recording, &(const char *){guest}, 1, others, 4, &err),
		0);
	check_other(guest, other);
	ck_assert(hlg_beside_is(&b.guests[1], other, 0));
	ck_assert_int_eq(hlg_beside_write(recording, second, 1, NULL, 0, &err), 0);
	check_other(other, guest);
	/* Of another one nothing is taken over. */
	copy(DATA "/demo-host.data", recording, 0644);
	note();
	ck_assert_int_eq(read_again(), 0);
	ck_assert_uint_eq(b.n_guests, 1);
}
END_TEST

START_TEST(what_is_no_note_stays)
{
	put("mine", 4);
	ck_assert_int_eq(write_note(), HLG_EINPUT);
	ck_assert_ptr_nonnull(strstr(err.msg, "left as it is"));
	ck_assert_int_eq(read_again(), HLG_EINPUT);
}
END_TEST

START_TEST(another_elf)
{
	FILE *f;

	note();
	ck_assert_int_eq(read_again(), 0);
	f = fopen(scratch_path("guest.elf"), "a");
	fputc('\n', f);
	fclose(f);
	ck_assert_int_eq(check(0), HLG_EINPUT);
	ck_assert_ptr_nonnull(strstr(err.msg, "not the ELF any more"));
	unlink(scratch_path("guest.elf"));
	ck_assert_int_eq(check(0), HLG_EINPUT);
	ck_assert_ptr_nonnull(strstr(err.msg, "is not here"));
	copy(DATA "/rusty.elf", scratch_path("guest.elf"), 0644);
	ck_assert_int_eq(check(0), HLG_EINPUT);
	/* As root only what nobody else can write. */
	copy(DATA "/demo.elf", scratch_path("guest.elf"), 0666);
	ck_assert_int_eq(check(0), geteuid() == 0 ? HLG_EINPUT : 0);
	copy(DATA "/demo.elf", scratch_path("guest.elf"), 0644);
	ck_assert_int_eq(check(0), 0);
	if (geteuid() != 0)
		return;
	ck_assert_int_eq(chown(scratch_path("guest.elf"), 65534, 65534), 0);
	ck_assert_int_eq(check(0), HLG_EINPUT);
	ck_assert_int_eq(chown(place, 65534, 65534), 0);
	ck_assert_int_eq(read_again(), HLG_EINPUT);
	ck_assert_ptr_nonnull(strstr(err.msg, "another user's"));
}
END_TEST

/* Is the guest to be named by its file? */
static bool names(void)
{
	char *name = hlg_beside_name(&b.guests[0], recording);
	bool is = name && strcmp(name, b.guests[0].file) == 0;

	free(name);
	return is;
}

/* Who is only told its name does not have it opened: as root the size has to do of what
 * others may write. */
START_TEST(what_to_name)
{
	const char *elf = scratch_path("guest.elf");
	FILE *f;

	note();
	ck_assert_int_eq(read_again(), 0);
	ck_assert(names());
	ck_assert(hlg_beside_is(&b.guests[0], elf, 0));
	copy(DATA "/demo.elf", elf, 0666);
	ck_assert(names());
	f = fopen(elf, "r+");
	ck_assert_int_eq(fseek(f, -1, SEEK_END), 0);
	ck_assert_int_eq(fputc(0xa5, f), 0xa5);
	ck_assert_int_eq(fclose(f), 0);
	/* It has other symbols, say. */
	ck_assert(names() == (geteuid() == 0));
	ck_assert(hlg_beside_is(&b.guests[0], elf, 0));
	b.guests[0].print.code ^= 1;
	ck_assert(!hlg_beside_is(&b.guests[0], elf, 0));
	b.guests[0].print.code ^= 1;
	b.guests[0].inside = 4096;
	ck_assert(!names());
	b.guests[0].inside = 0;
	copy(DATA "/rusty.elf", elf, 0666);
	ck_assert(!names());
	unlink(elf);
	ck_assert(!names());
	/* The same bytes elsewhere, or what has its build id. */
	ck_assert(hlg_beside_is(&b.guests[0], DATA "/demo.elf", 0));
	ck_assert(!hlg_beside_is(&b.guests[0], DATA "/rusty.elf", 0));
	ck_assert(!hlg_beside_is(&b.guests[0], elf, 0));
}
END_TEST

/* One byte, or any of what is noted of it, is another. */
START_TEST(nearly_the_same_elf)
{
	struct hlg_beside_guest was;
	FILE *f;

	note();
	ck_assert_int_eq(read_again(), 0);
	was = b.guests[0];
	for (int i = 0; i < 4; i++) {
		b.guests[0] = was;
		b.guests[0].print.size += i == 0;
		b.guests[0].print.crc ^= i == 1;
		if (i == 2)
			strcpy(b.guests[0].print.build_id, "00");
		ck_assert_int_eq(check(0), i < 3 ? HLG_EINPUT : 0);
		if (i < 3)
			ck_assert_ptr_nonnull(strstr(err.msg, "not the ELF any more"));
	}
	f = fopen(scratch_path("guest.elf"), "r+");
	ck_assert_int_eq(fseek(f, -1, SEEK_END), 0);
	ck_assert_int_eq(fputc(0xa5, f), 0xa5);
	ck_assert_int_eq(fclose(f), 0);
	ck_assert_int_eq(check(0), HLG_EINPUT);
	ck_assert_ptr_nonnull(strstr(err.msg, "not the ELF any more"));
}
END_TEST

START_TEST(cut_off)
{
	static char text[65536];
	size_t size;
	FILE *f;

	note();
	f = fopen(place, "r");
	size = fread(text, 1, sizeof(text), f);
	fclose(f);
	for (size_t n = 0; n + 2 < size; n++) {
		put(text, n);
		ck_assert_int_eq(read_again(), HLG_EINPUT);
		ck_assert_ptr_nonnull(strstr(err.msg, place));
	}
}
END_TEST

#define HEAD "{\"hlguest\": \"1\", \"format\": 1, \"recording\": "
#define GUEST                                                                            \
	HEAD "{\"size\": 1, \"first_sample\": 1}, \"guests\": [{\"file\": \"/x\", "      \
	     "\"inside\": \"0x1\", \"size\": 1, \"crc32\": \"0x1\", \"build_id\": "

static const char *const wrong[] = {
	"[]",
	"{}",
	"1",
	"{\"hlguest\": \"1\", \"format\": 2}",
	HEAD "{}, \"guests\": []}",
	HEAD "{\"size\": -1, \"first_sample\": 1}, \"guests\": []}",
	HEAD "{\"size\": 1, \"first_sample\": 1e3}, \"guests\": []}",
	HEAD "{\"size\": 1, \"first_sample\": 1}, \"guests\": {}}",
	HEAD "{\"size\": 1, \"first_sample\": 1}, \"guests\": [1]}",
	HEAD "{\"size\": 1, \"first_sample\": 1}, \"guests\": [{\"file\": \"x\"}]}",
	HEAD "{\"size\": 1, \"first_sample\": 1}, \"guests\": [], \"guests\": []}",
	HEAD "{\"size\": 1, \"first_sample\": 1}, \"guests\": [], \"others\": 1}",
	HEAD "{\"size\": 1, \"first_sample\": 1}, \"guests\": [], \"others\": [1]}",
	GUEST "1}]}",
	GUEST "\"0123456789012345678901234567890123456789012345678901234567890123456789"
	      "01234567890123456789012345678901234567890123456789012345678901234567890\""
	      "}]}",
	GUEST "\"\"}]}",
	GUEST "\"3\"}]}",
	GUEST "\"zz\"}]}",
	GUEST "\"00AB\"}]}",
	GUEST "\"00 1\"}]}",
	GUEST "null, \"inside\": \"x\"}]}",
};

START_TEST(refuses)
{
	put(wrong[_i], strlen(wrong[_i]));
	ck_assert_int_eq(read_again(), HLG_EINPUT);
	ck_assert_ptr_nonnull(strstr(err.msg, "not what hlguest record notes"));
}
END_TEST

/* What lay inside a host is a file of its own now, or lies elsewhere in it. */
START_TEST(inside_no_more)
{
	note();
	ck_assert_int_eq(read_again(), 0);
	b.guests[0].inside = 0x40;
	ck_assert_int_eq(check(0), HLG_EINPUT);
	ck_assert_ptr_nonnull(strstr(err.msg, "has inside not the ELF any more"));
}
END_TEST

START_TEST(no_file)
{
	int fd;

	ck_assert_int_eq(mkfifo(place, 0600), 0);
	ck_assert_int_eq(read_again(), HLG_EINPUT);
	ck_assert_ptr_nonnull(strstr(err.msg, "not a regular file"));
	unlink(place);
	fd = open(place, O_CREAT | O_WRONLY, 0600);
	ck_assert_int_eq(ftruncate(fd, (off_t)1 << 30), 0);
	close(fd);
	ck_assert_int_eq(read_again(), HLG_EINPUT);
	ck_assert_ptr_nonnull(strstr(err.msg, "too large"));
	ck_assert_int_eq(hlg_beside_read(&b, "-", &err), 1);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("beside");
	const TTest *const tests[] = {
		is_read_again,
		is_written_by_nobody_else,
		goes_with_the_one_before,
		others_may_have_run,
		what_is_no_note_stays,
		another_elf,
		what_to_name,
		nearly_the_same_elf,
		cut_off,
		inside_no_more,
		no_file,
	};
	TCase *tc;

	for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++) {
		tc = tap_case(suite, tests[i]->name);
		tcase_add_unchecked_fixture(tc, enter, leave);
		tcase_add_test(tc, tests[i]);
	}
	tc = tap_case(suite, "refuses");
	tcase_add_unchecked_fixture(tc, enter, leave);
	tcase_add_loop_test(tc, refuses, 0, sizeof(wrong) / sizeof(wrong[0]));
	return tap_main(suite);
}
