// SPDX-License-Identifier: GPL-2.0-only
/*
 * Files that get their name when they are whole, where the file system has files without
 * names and, as if it had not, with names of their own. Nothing is left however it ends;
 * or, where the program was killed, the next that writes the same name removes it, and
 * nothing else: no file that somebody still writes, of another name, or not made so.
 */
#include "filter/output/temp-file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/kit/filter.h"
#include "tests/kit/tap.h"

static bool named;  /* as on a file system that has no files without names */
static bool dies;   /* as if killed before it takes the name */
static int signals; /* if 1: each second write is interrupted, the others are short */

int __real_openat64(int folder, const char *path, int flags, ...);
int __wrap_openat64(int folder, const char *path, int flags, ...);
int __real_renameat(int a, const char *from, int b, const char *to);
int __wrap_renameat(int a, const char *from, int b, const char *to);
ssize_t __real_write(int fd, const void *bytes, size_t n);
ssize_t __wrap_write(int fd, const void *bytes, size_t n);

int __wrap_openat64(int folder, const char *path, int flags, ...)
{
	va_list ap;
	mode_t mode;

	if (named && (flags & O_TMPFILE) == O_TMPFILE) {
		errno = EOPNOTSUPP;
		return -1;
	}
	va_start(ap, flags);
	mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(ap, mode_t) : 0;
	va_end(ap);
	return __real_openat64(folder, path, flags, mode);
}

int __wrap_renameat(int a, const char *from, int b, const char *to)
{
	if (dies)
		_exit(9);
	return __real_renameat(a, from, b, to);
}

ssize_t __wrap_write(int fd, const void *bytes, size_t n)
{
	if (!signals)
		return __real_write(fd, bytes, n);
	if (signals++ % 2 == 0)
		return __real_write(fd, bytes, (n + 1) / 2);
	errno = EINTR;
	return -1;
}

/* In some file systems there is one way only. */
static bool has_unnamed(void)
{
	int fd = __real_openat64(AT_FDCWD, ".", O_TMPFILE | O_WRONLY, 0600);

	close(fd);
	return fd >= 0;
}

static int begin(struct hlg_temp_file *temp, const char *path)
{
	int fd = hlg_temp_file_open(temp, path, NULL);

	ck_assert_msg(fd >= 0, "%s: %s", path, strerror(errno));
	ck_assert_int_eq(write(fd, "text", 4), 4);
	return fd;
}

static void put(const char *path)
{
	FILE *f = fopen(path, "w");

	ck_assert_ptr_nonnull(f);
	ck_assert_int_eq(fclose(f), 0);
}

/* With a name there, and without; to the end, and not. */
START_TEST(nothing_is_left)
{
	struct hlg_temp_file temp;
	bool old = _i & 1, commit = _i & 4;
	char *text;
	int fd;

	named = _i & 2;
	if (old)
		put("report");
	fd = begin(&temp, "report");
	if (has_unnamed())
		ck_assert_uint_eq(kit_count_files(), (unsigned)old + named);
	if (commit)
		ck_assert_int_eq(hlg_temp_file_commit(&temp, fd), 0);
	else
		hlg_temp_file_abort(&temp);
	hlg_temp_file_abort(&temp); /* does nothing */
	close(fd);
	ck_assert_uint_eq(kit_count_files(), old || commit);
	text = kit_read("report");
	ck_assert_str_eq(text ? text : "none", commit ? "text" : old ? "" : "none");
	free(text);
}
END_TEST

/* Begins in a child, which dies; how is told by _i. */
static void die_writing(const char *path, bool in_rename)
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		struct hlg_temp_file temp;
		int fd = hlg_temp_file_open(&temp, path, NULL);

		dies = in_rename;
		if (in_rename)
			hlg_temp_file_commit(&temp, fd);
		_exit(9);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(WEXITSTATUS(status), 9);
}

START_TEST(killed)
{
	bool in_rename = _i & 1;
	struct hlg_temp_file temp;
	int fd;

	named = _i & 2;
	put("report");
	die_writing("report", in_rename);
	if (has_unnamed())
		ck_assert_uint_eq(kit_count_files(), 1U + (named || in_rename));
	if (named)
		die_writing("other", false);
	fd = begin(&temp, "report"); /* removes what is of the same name */
	hlg_temp_file_abort(&temp);
	close(fd);
	ck_assert_uint_eq(kit_count_files(), 1U + named);
}
END_TEST

START_TEST(others_are_not_touched)
{
	struct hlg_temp_file temp, again;
	int fd, other;

	named = true;
	put(".report.hlguest-0123456789abcde");
	put(".report.hlguest-0123456789abcdefa");
	put(".report.hlguest-0123456789abcdeF");
	put(".other.hlguest-0123456789abcdef");
	put("report.hlguest-0123456789abcdef");
	ck_assert_int_eq(symlink("report", ".report.hlguest-1111111111111111"), 0);
	ck_assert_int_eq(mkfifo(".report.hlguest-2222222222222222", 0600), 0);
	ck_assert_int_eq(mkdir(".report.hlguest-3333333333333333", 0700), 0);
	put(".report.hlguest-0123456789abcdef"); /* this one is */
	fd = begin(&temp, "report");
	ck_assert_uint_eq(kit_count_files(), 9);
	other = begin(&again, "report"); /* and what we write ourselves is not */
	ck_assert_uint_eq(kit_count_files(), 10);
	ck_assert_int_eq(hlg_temp_file_commit(&temp, fd), 0);
	ck_assert_int_eq(hlg_temp_file_commit(&again, other), 0);
	ck_assert_uint_eq(kit_count_files(), 9);
	close(fd);
	close(other);
}
END_TEST

/* As long as a name can be; the temporary one has to fit as well. */
START_TEST(long_name)
{
	char name[NAME_MAX + 2], path[2 * NAME_MAX];
	struct hlg_temp_file temp;
	int fd;

	named = _i & 1;
	memset(name, 'n', sizeof(name));
	name[NAME_MAX] = '\0';
	snprintf(path, sizeof(path), "./%s", name);
	for (int i = 0; i < 2; i++) { /* new, then replaced */
		fd = begin(&temp, path);
		ck_assert_int_eq(hlg_temp_file_commit(&temp, fd), 0);
		close(fd);
	}
	ck_assert_uint_eq(kit_count_files(), 1);
	name[NAME_MAX] = 'n';
	name[NAME_MAX + 1] = '\0';
	fd = hlg_temp_file_open(&temp, name, NULL);
	if (fd >= 0) {
		ck_assert_int_eq(hlg_temp_file_commit(&temp, fd), -1);
		close(fd);
	}
	ck_assert_int_eq(errno, ENAMETOOLONG);
	ck_assert_uint_eq(kit_count_files(), 1);
}
END_TEST

/* It is written where it was begun. */
START_TEST(folder_moves)
{
	struct hlg_temp_file temp;
	int fd;

	named = _i & 1;
	ck_assert_int_eq(mkdir("a", 0777), 0);
	fd = begin(&temp, "a/report");
	ck_assert_int_eq(rename("a", "b"), 0);
	ck_assert_int_eq(symlink("/nowhere", "a"), 0);
	ck_assert_int_eq(hlg_temp_file_commit(&temp, fd), 0);
	close(fd);
	ck_assert_int_eq(access("b/report", F_OK), 0);
}
END_TEST

/* Who may write into a folder, but not list it, writes there. */
START_TEST(folder_of_others)
{
	struct hlg_temp_file temp;
	uid_t me = geteuid();
	int fd;

	named = _i & 1;
	ck_assert_int_eq(mkdir("a", 0777), 0);
	ck_assert_int_eq(chmod(".", 0755), 0);
	ck_assert_int_eq(chmod("a", 0333), 0);
	if (me == 0) /* who may list all */
		ck_assert_int_eq(seteuid(65534), 0);
	fd = begin(&temp, "a/report");
	ck_assert_int_eq(hlg_temp_file_commit(&temp, fd), 0);
	close(fd);
	ck_assert_int_eq(access("a/report", F_OK), 0);
	ck_assert_int_eq(seteuid(me), 0);
	ck_assert_int_eq(chmod("a", 0777), 0);
}
END_TEST

/* Mode, whatever the umask, and from the first moment nothing that it does not allow. */
START_TEST(mode)
{
	static const mode_t modes[] = {0600, 0640, 0666, 0777, 0400};
	struct hlg_temp_file temp;
	struct stat st;
	mode_t before = umask(027);
	int fd;

	named = _i & 1;
	fd = hlg_temp_file_open(&temp, "report", &modes[_i / 2]);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(hlg_temp_file_commit(&temp, fd), 0);
	ck_assert_int_eq(fstat(fd, &st), 0);
	ck_assert_uint_eq(st.st_mode & 07777, modes[_i / 2]);
	close(fd);
	umask(before);
}
END_TEST

START_TEST(name_is_taken_by_a_folder)
{
	struct hlg_temp_file temp;
	int fd;

	named = _i & 1;
	fd = begin(&temp, "report");
	ck_assert_int_eq(mkdir("report", 0777), 0);
	ck_assert_int_eq(hlg_temp_file_commit(&temp, fd), -1);
	ck_assert_int_eq(errno, EISDIR);
	close(fd);
	ck_assert_uint_eq(kit_count_files(), 1);
}
END_TEST

START_TEST(nameless)
{
	struct stat st;
	char got[4] = "";
	int fd;

	named = _i;
	fd = hlg_temp_file_nameless(".");
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(fstat(fd, &st), 0);
	ck_assert_uint_eq(st.st_nlink, 0);
	ck_assert_uint_eq(st.st_mode & 07777, 0600);
	signals = 1;
	ck_assert(hlg_temp_file_write(fd, "abc", 3));
	ck_assert_int_eq(signals, 5);
	ck_assert_int_eq(pread(fd, got, 3, 0), 3);
	ck_assert_str_eq(got, "abc");
	ck_assert_uint_eq(kit_count_files(), 0);
	close(fd);
	ck_assert_int_eq(hlg_temp_file_nameless("nowhere"), -1);
	ck_assert_int_eq(errno, ENOENT);
}
END_TEST

START_TEST(folder)
{
	unsetenv("TMPDIR");
	ck_assert_str_eq(hlg_temp_file_folder(), "/tmp");
	setenv("TMPDIR", "", 1);
	ck_assert_str_eq(hlg_temp_file_folder(), "/tmp");
	setenv("TMPDIR", "/there", 1);
	ck_assert_str_eq(hlg_temp_file_folder(), "/there");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("temp-file");
	TCase *tc = tap_case(suite, "temp-file");

	tcase_add_checked_fixture(tc, kit_enter, kit_leave);
	tcase_add_loop_test(tc, nothing_is_left, 0, 8);
	tcase_add_loop_test(tc, killed, 0, 4);
	tcase_add_test(tc, others_are_not_touched);
	tcase_add_loop_test(tc, long_name, 0, 2);
	tcase_add_loop_test(tc, folder_moves, 0, 2);
	tcase_add_loop_test(tc, folder_of_others, 0, 2);
	tcase_add_loop_test(tc, mode, 0, 10);
	tcase_add_loop_test(tc, name_is_taken_by_a_folder, 0, 2);
	tcase_add_loop_test(tc, nameless, 0, 2);
	tcase_add_test(tc, folder);
	return tap_main(suite);
}
