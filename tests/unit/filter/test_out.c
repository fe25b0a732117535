// SPDX-License-Identifier: GPL-2.0-only
/*
 * A report is whole or absent. Proved by looking at the folder at every moment: the final
 * name changes at commit and never before, nothing else is there after commit, abort
 * and every failure; a full disk and each impossible name are one error with its reason.
 * What happens at a symbolic link, a FIFO and a device is pinned down here, too.
 */
#include "filter/output/out.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/kit/filter.h"
#include "tests/kit/tap.h"

static void put(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	ck_assert_ptr_nonnull(f);
	fputs(text, f);
	ck_assert_int_eq(fclose(f), 0);
}

static void check_file(const char *path, const char *expected)
{
	char *text = kit_read(path);

	ck_assert_ptr_nonnull(text);
	ck_assert_str_eq(text, expected);
	free(text);
}

static void open_ok(struct hlg_out *out, const char *path)
{
	struct hlg_err err = {0};

	ck_assert_msg(hlg_out_open(out, path, NULL, &err) == 0, "%s", err.msg);
}

static void commit_ok(struct hlg_out *out)
{
	struct hlg_err err = {0};

	ck_assert_msg(hlg_out_commit(out, &err) == 0, "%s", err.msg);
	ck_assert_ptr_null(out->path);
	ck_assert_ptr_null(out->temp.base);
}

static mode_t mode_of(const char *path)
{
	struct stat st;

	ck_assert_int_eq(stat(path, &st), 0);
	return st.st_mode & 07777;
}

START_TEST(new_file)
{
	struct hlg_out out;

	open_ok(&out, "report");
	ck_assert_ptr_null(kit_read("report"));
	fputs("text", out.f);
	fflush(out.f);
	ck_assert_ptr_null(kit_read("report"));
	commit_ok(&out);
	check_file("report", "text");
	ck_assert_uint_eq(kit_count_files(), 1);
}
END_TEST

START_TEST(replaced_at_commit)
{
	struct hlg_out out;

	put("report", "old");
	open_ok(&out, "report");
	fputs("new", out.f);
	fflush(out.f);
	check_file("report", "old");
	commit_ok(&out);
	check_file("report", "new");
	ck_assert_uint_eq(kit_count_files(), 1);
}
END_TEST

START_TEST(aborted)
{
	struct hlg_out out;

	if (_i)
		put("report", "old");
	open_ok(&out, "report");
	fputs("new", out.f);
	hlg_out_abort(&out);
	ck_assert_uint_eq(kit_count_files(), (unsigned)_i);
	if (_i)
		check_file("report", "old");
}
END_TEST

/* A new file's mode is what open() would give it, or that of the file it replaces. */
START_TEST(mode)
{
	static const mode_t masks[] = {0, 022, 027, 077};
	struct hlg_out out;
	mode_t before;

	if (_i >= 4) {
		put("report", "old");
		ck_assert_int_eq(chmod("report", 06751), 0);
	}
	before = umask(masks[_i % 4]);
	open_ok(&out, "report");
	commit_ok(&out);
	ck_assert_uint_eq(mode_of("report"), _i >= 4 ? 0751 : 0666 & ~masks[_i]);
	ck_assert_uint_eq(umask(before), masks[_i % 4]);
}
END_TEST

/* A file that anybody may write, linked to where a secret will be. */
START_TEST(hard_link)
{
	struct hlg_out out;
	mode_t before;
	char *text;

	put("public", "old");
	ck_assert_int_eq(chmod("public", 0666), 0);
	ck_assert_int_eq(link("public", "report"), 0);
	before = umask(077);
	open_ok(&out, "report");
	fputs("new", out.f);
	commit_ok(&out);
	umask(before);
	ck_assert_uint_eq(mode_of("report"), 0600);
	ck_assert_uint_eq(mode_of("public"), 0666);
	text = kit_read("public");
	ck_assert_str_eq(text, "old");
	free(text);
}
END_TEST

/* The link is what is replaced; what it pointed to stays as it was. */
START_TEST(symbolic_link)
{
	struct hlg_out out;
	struct stat st;

	put("target", "old");
	ck_assert_int_eq(symlink(_i ? "nowhere" : "target", "report"), 0);
	open_ok(&out, "report");
	fputs("new", out.f);
	commit_ok(&out);
	check_file("report", "new");
	check_file("target", "old");
	ck_assert_int_eq(lstat("report", &st), 0);
	ck_assert(S_ISREG(st.st_mode));
	ck_assert_uint_eq(kit_count_files(), 2);
}
END_TEST

START_TEST(stream_is_not_ours)
{
	struct hlg_out out;
	struct hlg_err err = {0};
	FILE *f = fopen("stream", "w");

	ck_assert_int_eq(hlg_out_open(&out, NULL, f, &err), 0);
	ck_assert_ptr_eq(out.f, f);
	fputs("a", out.f);
	commit_ok(&out);
	check_file("stream", "a"); /* flushed */
	ck_assert_int_eq(hlg_out_open(&out, NULL, f, &err), 0);
	hlg_out_abort(&out);
	fputs("b", f); /* and still open */
	ck_assert_int_eq(fclose(f), 0);
	check_file("stream", "ab");
}
END_TEST

/* Written directly. The reader has to be there first, as for any writer. */
START_TEST(dash)
{
	struct hlg_err err = {0};
	struct hlg_out out;

	put("-", "old");
	ck_assert_int_eq(hlg_out_open(&out, "-", stderr, &err), 0);
	ck_assert_ptr_eq(out.f, stdout);
	commit_ok(&out);
	check_file("-", "old");
	open_ok(&out, "./-");
	fputs("new", out.f);
	commit_ok(&out);
	check_file("-", "new");
}
END_TEST

START_TEST(fifo)
{
	struct hlg_out out;
	char text[8] = "";
	int fd;

	ck_assert_int_eq(mkfifo("report", 0600), 0);
	fd = open("report", O_RDONLY | O_NONBLOCK);
	open_ok(&out, "report");
	ck_assert_ptr_null(out.temp.base);
	fputs("text", out.f);
	commit_ok(&out);
	ck_assert_int_eq(read(fd, text, sizeof(text)), 4);
	ck_assert_str_eq(text, "text");
	close(fd);
	ck_assert_uint_eq(kit_count_files(), 1);
}
END_TEST

static void check_failure(struct hlg_out *out, const char *message)
{
	struct hlg_err err = {0};

	ck_assert_int_eq(hlg_out_commit(out, &err), HLG_ESYSTEM);
	ck_assert_str_eq(err.msg, message);
}

/* The reason is the disk's, also when the write that failed was long ago. */
START_TEST(full_device)
{
	struct hlg_out out;

	open_ok(&out, "/dev/full");
	for (int i = 0; i < (_i ? 100000 : 1); i++)
		fputs("text", out.f);
	errno = EPERM; /* whatever was called since */
	check_failure(
		&out,
		"/dev/full: cannot be written: No space left on device (make room, or "
		"write elsewhere)");
}
END_TEST

START_TEST(full_stream)
{
	struct hlg_out out;
	struct hlg_err err = {0};
	FILE *f = fopen("/dev/full", "w");

	ck_assert_int_eq(hlg_out_open(&out, NULL, f, &err), 0);
	for (int i = 0; i < (_i ? 100000 : 1); i++)
		fputs("text", out.f);
	errno = EPERM;
	check_failure(&out, "standard output: cannot be written: No space left on device "
			    "(make room, or "
			    "write elsewhere)");
	fclose(f);
}
END_TEST

/* The last moment: the name has become a folder. */
START_TEST(rename_fails)
{
	struct hlg_out out;

	open_ok(&out, "report");
	fputs("text", out.f);
	ck_assert_int_eq(mkdir("report", 0777), 0);
	check_failure(&out,
		      "report: cannot be written: Is a directory (write elsewhere)");
	ck_assert_uint_eq(kit_count_files(), 1);
}
END_TEST

START_TEST(cannot_be_opened)
{
	static const struct {
		const char *path, *message;
	} c[] = {
		{"none/report", "none/report: cannot be created: No such file or "
				"directory (write elsewhere)"},
		{"file/report",
		 "file/report: cannot be created: Not a directory (write elsewhere)"},
		{"folder", "folder: cannot be created: Is a directory (write elsewhere)"},
		{"",
		 "'': cannot be created: No such file or directory (write elsewhere)"},
		{"e\x1bvil/x", "e\\x1bvil/x: cannot be created: No such file or "
			       "directory (write elsewhere)"},
	};
	struct hlg_out out;
	struct hlg_err err = {0};

	put("file", "");
	ck_assert_int_eq(mkdir("folder", 0777), 0);
	ck_assert_int_eq(hlg_out_open(&out, c[_i].path, stdout, &err), HLG_ESYSTEM);
	ck_assert_str_eq(err.msg, c[_i].message);
	ck_assert_uint_eq(kit_count_files(), 2);
}
END_TEST

#define NO_FOLDER ": its folder cannot be written: "

static const struct {
	const char *path, *message; /* NULL: fine */
} checks[] = {
	{"report", NULL},
	{"./report", NULL},
	{"folder/report", NULL},
	{"file", NULL},
	{"link", NULL},
	{"dangling", NULL},
	{"/dev/null", NULL},
	{"/dev/full", NULL},
	{"-", NULL},
	{"folder", "folder: is a directory (name a file)"},
	{"folder/", "folder/: is a directory (name a file)"},
	{"/", "/: is a directory (name a file)"},
	{"folderlink", "folderlink: is a directory (name a file)"},
	{"none/report",
	 "none/report" NO_FOLDER "No such file or directory (name another)"},
	{"new/", "new/" NO_FOLDER "No such file or directory (name another)"},
	{"file/report", "file/report" NO_FOLDER "Not a directory (name another)"},
};

/* First bytes, and what they are. */
static const struct {
	const char *magic, *kind; /* NULL: fine */
	enum hlg_magic is;
} magics[] = {
	{"PERFILE2", "a recording", HLG_MAGIC_RECORDING},
	{"2ELIFREP", "a recording", HLG_MAGIC_RECORDING},
	{"\177ELF\2\1\1", "an ELF", HLG_MAGIC_ELF},
	{"PERFIL", NULL, HLG_MAGIC_NONE},
	{"\177EL", NULL, HLG_MAGIC_NONE},
	{"", NULL, HLG_MAGIC_NONE},
};

START_TEST(magic)
{
	enum hlg_magic is = magics[_i].is;
	struct hlg_err err = {0};
	char message[128] = "";

	put("file", magics[_i].magic);
	ck_assert_int_eq(symlink("file", "link"), 0);
	ck_assert_int_eq(hlg_target_magic("link"), is);
	if (magics[_i].kind)
		snprintf(message, sizeof(message),
			 "link: is %s (name another file, or remove it)",
			 magics[_i].kind);
	ck_assert_int_eq(hlg_out_check("link", HLG_MAGIC_NONE, &err),
			 message[0] ? HLG_EWORDS : 0);
	ck_assert_str_eq(err.msg, message);
	ck_assert_int_eq(hlg_out_check("file", is, &err), 0);
	if (is == HLG_MAGIC_ELF)
		ck_assert_int_eq(hlg_out_check("file", HLG_MAGIC_RECORDING, &err),
				 HLG_EWORDS);
	check_file("file", magics[_i].magic);
	ck_assert_int_eq(hlg_target_magic("."), HLG_MAGIC_NONE);
	ck_assert_int_eq(hlg_target_magic("missing"), HLG_MAGIC_NONE);
}
END_TEST

START_TEST(check)
{
	const char *message = checks[_i].message;
	struct hlg_err err = {0};
	int rc;

	put("file", "old");
	ck_assert_int_eq(mkdir("folder", 0777), 0);
	ck_assert_int_eq(symlink("file", "link"), 0);
	ck_assert_int_eq(symlink("nowhere", "dangling"), 0);
	ck_assert_int_eq(symlink("folder", "folderlink"), 0);
	rc = hlg_out_check(checks[_i].path, HLG_MAGIC_NONE, &err);
	ck_assert_int_eq(rc, !message                     ? 0
			     : strstr(message, NO_FOLDER) ? HLG_ESYSTEM
							  : HLG_EINPUT);
	ck_assert_str_eq(err.msg, message ? message : "");
	ck_assert_uint_eq(kit_count_files(), 5);
	check_file("file", "old");
}
END_TEST

/* As somebody who may not write everywhere. */
static int check_as_nobody(const char *path, struct hlg_err *err)
{
	int fd[2], rc = 1;
	pid_t pid;

	ck_assert_int_eq(pipe(fd), 0);
	pid = fork();
	if (pid == 0) {
		if (geteuid() == 0 && setresuid(65534, 65534, 65534) != 0)
			_exit(77);
		rc = hlg_out_check(path, HLG_MAGIC_NONE, err);
		if (write(fd[1], err->msg, sizeof(err->msg)) < 0)
			_exit(78);
		_exit(-rc);
	}
	ck_assert_int_eq(read(fd[0], err->msg, sizeof(err->msg)), sizeof(err->msg));
	close(fd[0]);
	close(fd[1]);
	ck_assert_int_eq(waitpid(pid, &rc, 0), pid);
	return -WEXITSTATUS(rc);
}

/* A device is written itself, so its folder need not be writable. */
START_TEST(permission)
{
	struct hlg_err err = {0};

	ck_assert_int_eq(chmod(".", 0755), 0);
	ck_assert_int_eq(mkdir("closed", 0555), 0);
	ck_assert_int_eq(check_as_nobody("closed/report", &err), HLG_ESYSTEM);
	ck_assert_str_eq(err.msg,
			 "closed/report" NO_FOLDER "Permission denied (name another)");
	ck_assert_int_eq(check_as_nobody("/dev/null", &err), 0);
	ck_assert_int_eq(check_as_nobody("/dev/full", &err), 0);
	ck_assert_int_eq(mkfifo("pipe", 0444), 0);
	ck_assert_int_eq(chmod("pipe", 0444), 0);
	ck_assert_int_eq(check_as_nobody("pipe", &err), HLG_ESYSTEM);
	ck_assert_str_eq(err.msg,
			 "pipe: cannot be written: Permission denied (name another)");
}
END_TEST

/* Where asked for: as of some FUSE file systems, whose folders have no links. */
static bool no_links;

int __real_stat64(const char *path, struct stat *st);
int __wrap_stat64(const char *path, struct stat *st);

int __wrap_stat64(const char *path, struct stat *st)
{
	int rc = __real_stat64(path, st);

	if (rc == 0 && no_links)
		st->st_nlink = 0;
	return rc;
}

/* 0 links are those of a folder that was removed, or of one whose file system counts
 * none. */
START_TEST(folder_without_links)
{
	struct hlg_err err = {0};
	char here[PATH_MAX];

	no_links = true;
	ck_assert_int_eq(hlg_out_check("report", HLG_MAGIC_NONE, &err), 0);
	no_links = false;
	ck_assert_ptr_nonnull(getcwd(here, sizeof(here)));
	ck_assert_int_eq(mkdir("gone", 0755), 0);
	ck_assert_int_eq(chdir("gone"), 0);
	ck_assert_int_eq(rmdir("../gone"), 0);
	ck_assert_int_eq(hlg_out_check("report", HLG_MAGIC_NONE, &err), HLG_ESYSTEM);
	ck_assert_int_eq(hlg_out_check("../report", HLG_MAGIC_NONE, &err), 0);
	ck_assert_int_eq(chdir(here), 0);
	ck_assert_str_eq(err.msg,
			 "report" NO_FOLDER "No such file or directory (name another)");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("out");
	TCase *tc = tap_case(suite, "out");

	tcase_add_checked_fixture(tc, kit_enter, kit_leave);
	tcase_add_test(tc, new_file);
	tcase_add_test(tc, replaced_at_commit);
	tcase_add_loop_test(tc, aborted, 0, 2);
	tcase_add_loop_test(tc, mode, 0, 8);
	tcase_add_test(tc, hard_link);
	tcase_add_loop_test(tc, symbolic_link, 0, 2);
	tcase_add_test(tc, stream_is_not_ours);
	tcase_add_test(tc, dash);
	tcase_add_test(tc, fifo);
	tcase_add_loop_test(tc, full_device, 0, 2);
	tcase_add_loop_test(tc, full_stream, 0, 2);
	tcase_add_test(tc, rename_fails);
	tcase_add_loop_test(tc, cannot_be_opened, 0, 5);
	tcase_add_loop_test(tc, check, 0, sizeof(checks) / sizeof(checks[0]));
	tcase_add_test(tc, permission);
	tcase_add_test(tc, folder_without_links);
	tcase_add_loop_test(tc, magic, 0, sizeof(magics) / sizeof(magics[0]));
	return tap_main(suite);
}
