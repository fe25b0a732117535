// SPDX-License-Identifier: GPL-2.0-only
/*
 * Proves that whatever a path names is opened or refused without waiting and with one
 * line that says why: FIFOs (which would block), directories, devices, sockets, missing
 * and forbidden files. And that a read is whole or an error, also past the end.
 */
#include "symtab/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/kit/scratch.h"
#include "tests/kit/tap.h"

static void expect_error(const char *path, int code, const char *message)
{
	struct hlg_err err, full;
	struct hlg_file_id id;

	hlg_err_set(&full, code, "%s: %s", path[0] ? path : "''", message);
	ck_assert_int_eq(hlg_file_open(path, &id, &err), code);
	ck_assert_str_eq(err.msg, full.msg);
}

START_TEST(regular_files_are_opened)
{
	const char *path = scratch_write("file", "text", 4);
	struct hlg_file_id id;
	struct hlg_err err;
	struct stat st;
	int fd = hlg_file_open(path, &id, &err);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(fstat(fd, &st), 0);
	ck_assert_int_ne(fcntl(fd, F_GETFD) & FD_CLOEXEC, 0);
	ck_assert_uint_eq(id.dev, st.st_dev);
	ck_assert_uint_eq(id.ino, st.st_ino);
	ck_assert_int_eq(id.size, 4);
	ck_assert_int_eq(id.mtime.tv_sec, st.st_mtim.tv_sec);
	ck_assert_int_eq(id.mtime.tv_nsec, st.st_mtim.tv_nsec);
	close(fd);
}
END_TEST

/* It is not the path's fault, nor want of memory. */
START_TEST(too_many_open_files_are_told)
{
	const char *path = scratch_write("file", "text", 4);
	struct rlimit old, none;
	int next = dup(STDERR_FILENO);

	close(next);
	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &old), 0);
	none = (struct rlimit){(rlim_t)next, old.rlim_max};
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &none), 0);
	expect_error(path, HLG_ESYSTEM,
		     "cannot be opened: Too many open files (close some, or raise "
		     "ulimit -n)");
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &old), 0);
}
END_TEST

START_TEST(symbolic_links_are_followed)
{
	struct hlg_file_id id;
	struct hlg_err err;
	int fd;

	scratch_write("file", "text", 4);
	ck_assert_int_eq(symlink("file", scratch_path("link")), 0);
	fd = hlg_file_open(scratch_path("link"), &id, &err);
	ck_assert_int_ge(fd, 0);
	close(fd);
	ck_assert_int_eq(symlink("nowhere", scratch_path("dangling")), 0);
	expect_error(scratch_path("dangling"), HLG_EINPUT,
		     "no such file (check the path)");
	ck_assert_int_eq(symlink("loop", scratch_path("loop")), 0);
	expect_error(
		scratch_path("loop"), HLG_EINPUT,
		"cannot be opened: Too many levels of symbolic links (check the path)");
}
END_TEST

START_TEST(other_things_are_refused)
{
	const char *fifo = scratch_path("fifo");
	const char *dir = scratch_path("dir");

	ck_assert_int_eq(mkfifo(fifo, 0600), 0);
	expect_error(fifo, HLG_EINPUT, "is not a regular file (give a file on disk)");
	ck_assert_int_eq(mkdir(dir, 0700), 0);
	expect_error(dir, HLG_EINPUT, "is a directory (name the file itself)");
	expect_error("/dev/null", HLG_EINPUT,
		     "is not a regular file (give a file on disk)");
	expect_error(scratch_path("missing"), HLG_EINPUT,
		     "no such file (check the path)");
	scratch_write("file", "", 0);
	expect_error(scratch_path("file/inside"), HLG_EINPUT,
		     "cannot be opened: Not a directory (check the path)");
}
END_TEST

/* A name can be as hostile as what is in the file. */
START_TEST(paths_are_escaped)
{
	struct hlg_file_id id;
	struct hlg_err err;

	ck_assert_int_eq(hlg_file_open("", &id, &err), HLG_EINPUT);
	ck_assert_str_eq(err.msg, "'': no such file (check the path)");
	ck_assert_int_eq(hlg_file_open("no\033[2J\nfile", &id, &err), HLG_EINPUT);
	ck_assert_str_eq(err.msg, "no\\x1b[2J\\x0afile: no such file (check the path)");
}
END_TEST

/* As somebody who may not read it: root may read everything. */
static int try_as_nobody(const char *path)
{
	struct hlg_file_id id;
	struct hlg_err err, full;

	if (geteuid() == 0 && (setgid(65534) || setuid(65534)))
		return 77;
	hlg_err_set(&full, 0, "%s: permission denied (try sudo, or chmod)", path);
	return hlg_file_open(path, &id, &err) == HLG_EINPUT && !strcmp(err.msg, full.msg)
		       ? 0
		       : 1;
}

START_TEST(unreadable_files_are_refused)
{
	const char *path = scratch_write("secret", "text", 4);
	int status;
	pid_t pid;

	ck_assert_int_eq(chmod(path, 0), 0);
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0)
		_exit(try_as_nobody(path));
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFEXITED(status));
	if (WEXITSTATUS(status) == 77)
		puts("# skipped: cannot become nobody");
	else
		ck_assert_int_eq(WEXITSTATUS(status), 0);
}
END_TEST

static int open_own(const char *path)
{
	struct hlg_file_id id;
	struct hlg_err err;
	int rc = hlg_file_open_own(path, &id, "make another", &err);

	if (rc < 0)
		ck_assert_ptr_nonnull(strstr(
			err.msg,
			"others may write it, and is not believed (make another)"));
	return rc;
}

START_TEST(what_others_may_write_is_not_believed)
{
	const char *path = scratch_write("file", "text", 4);
	const bool root = geteuid() == 0;
	int fd;

	for (mode_t mode = 0600; mode <= 0666; mode++) {
		const bool others = mode & (root ? 022 : 02);

		ck_assert_int_eq(chmod(path, mode), 0);
		fd = open_own(path);
		ck_assert_int_eq(fd < 0, others);
		if (fd >= 0)
			close(fd);
	}
	ck_assert_int_eq(chmod(path, 0600), 0);
	if (root) {
		ck_assert_int_eq(chown(path, 65534, 65534), 0);
		ck_assert_int_eq(open_own(path), HLG_EINPUT);
	}
}
END_TEST

/* Until it is killed: a name is now that of one file, now of the other's. */
static void exchange(const char *name)
{
	char next[PATH_MAX];

	snprintf(next, sizeof(next), "%s", scratch_path("next"));
	for (unsigned i = 0;; i++) {
		link(scratch_path(i % 2 ? "own" : "others"), next);
		rename(next, name);
		unlink(next);
	}
}

/* Whatever the name is when it is looked at. */
START_TEST(the_file_that_is_read_is_asked)
{
	char name[PATH_MAX];
	int opened = 0;
	pid_t pid;

	scratch_write("own", "own", 3);
	scratch_write("others", "others", 6);
	ck_assert_int_eq(chmod(scratch_path("own"), 0600), 0);
	ck_assert_int_eq(chmod(scratch_path("others"), 0666), 0);
	snprintf(name, sizeof(name), "%s", scratch_path("name"));
	ck_assert_int_eq(link(scratch_path("own"), name), 0);
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0)
		exchange(name);
	for (int i = 0; i < 20000; i++) {
		struct stat st;
		int fd = open_own(name);

		if (fd < 0)
			continue;
		opened++;
		ck_assert_int_eq(fstat(fd, &st), 0);
		ck_assert_uint_eq(st.st_mode & 02, 0);
		close(fd);
	}
	ck_assert_int_eq(kill(pid, SIGKILL), 0);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	ck_assert_int_gt(opened, 0);
}
END_TEST

START_TEST(reads_are_whole_or_fail)
{
	struct hlg_file_id id;
	struct hlg_err err;
	char buf[8] = "";
	int fd = hlg_file_open(scratch_write("file", "abcdef", 6), &id, &err);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(hlg_file_read(fd, buf, 6, 0), 0);
	ck_assert_str_eq(buf, "abcdef");
	ck_assert_int_eq(hlg_file_read(fd, buf, 2, 4), 0);
	ck_assert_str_eq(buf, "efcdef");
	ck_assert_int_eq(hlg_file_read(fd, buf, 0, 99), 0);
	errno = EIO;
	ck_assert_int_eq(hlg_file_read(fd, buf, 3, 4), -1);
	ck_assert_int_eq(errno, 0);
	ck_assert_int_eq(hlg_file_read(fd, buf, 1, 1 << 20), -1);
	ck_assert_int_eq(errno, 0);
	ck_assert_int_eq(hlg_file_read(fd, buf, 1, UINT64_MAX), -1);
	ck_assert_int_eq(errno, EINVAL);
	close(fd);
	ck_assert_int_eq(hlg_file_read(fd, buf, 1, 0), -1);
	ck_assert_int_eq(errno, EBADF);
}
END_TEST

/* To open a device can do something, and the kernel tells who looks. */
START_TEST(what_is_refused_is_not_opened)
{
	int watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	struct inotify_event event;
	struct hlg_file_id id;
	struct hlg_err err;

	ck_assert_int_eq(mkfifo(scratch_path("never"), 0600), 0);
	ck_assert_int_ge(inotify_add_watch(watch, scratch_path("never"), IN_OPEN), 0);
	ck_assert_int_eq(hlg_file_open(scratch_path("never"), &id, &err), HLG_EINPUT);
	ck_assert_int_eq(read(watch, &event, sizeof(event)), -1);
	ck_assert_int_eq(errno, EAGAIN);
	close(watch);
}
END_TEST

/* The message itself: never longer than its room, never with a control character. */
START_TEST(messages_fit)
{
	struct hlg_err err;
	char path[3000];

	memset(path, 'p', sizeof(path));
	path[sizeof(path) - 1] = '\0';
	ck_assert_int_eq(hlg_err_set(&err, HLG_ESYSTEM, "%s: too long", path),
			 HLG_ESYSTEM);
	ck_assert_uint_eq(strlen(err.msg), sizeof(err.msg) - 1);
	memset(path, '\n', sizeof(path) - 1);
	ck_assert_int_eq(hlg_err_set(&err, HLG_EINPUT, "%s: broken", path), HLG_EINPUT);
	ck_assert_uint_lt(strlen(err.msg), sizeof(err.msg));
	ck_assert_ptr_null(strchr(err.msg, '\n'));
	ck_assert_int_eq(hlg_err_memory(&err, "guest.elf"), HLG_ESYSTEM);
	ck_assert_str_eq(err.msg, "guest.elf: out of memory");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("file");
	TCase *tc = tap_case(suite, "file");

	tcase_add_unchecked_fixture(tc, scratch_begin, scratch_end);
	tcase_add_test(tc, regular_files_are_opened);
	tcase_add_test(tc, too_many_open_files_are_told);
	tcase_add_test(tc, symbolic_links_are_followed);
	tcase_add_test(tc, other_things_are_refused);
	tcase_add_test(tc, paths_are_escaped);
	tcase_add_test(tc, unreadable_files_are_refused);
	tcase_add_test(tc, what_others_may_write_is_not_believed);
	tcase_add_test(tc, the_file_that_is_read_is_asked);
	tcase_add_test(tc, reads_are_whole_or_fail);
	tcase_add_test(tc, what_is_refused_is_not_opened);
	tcase_add_test(tc, messages_fit);
	return tap_main(suite);
}
