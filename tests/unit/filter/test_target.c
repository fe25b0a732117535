// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a name that is to be written stands for: files and links to them are replaced,
 * what is no file and what is open already is written, and nobody else's trap is. What a
 * run reads is no output of it, by whatever name.
 */
#include "filter/output/target.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
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

static const struct {
	const char *path;
	enum hlg_target target;
} kinds[] = {
	{"file", HLG_TARGET_FILE},       {"none", HLG_TARGET_FILE},
	{"none/x", HLG_TARGET_FILE},     {"file/x", HLG_TARGET_FILE},
	{"", HLG_TARGET_FILE},           {"to-file", HLG_TARGET_FILE},
	{"to-none", HLG_TARGET_FILE},    {"to-itself", HLG_TARGET_FILE},
	{"folder", HLG_TARGET_FOLDER},   {"to-folder", HLG_TARGET_FOLDER},
	{"/", HLG_TARGET_FOLDER},        {"fifo", HLG_TARGET_DEVICE},
	{"to-fifo", HLG_TARGET_DEVICE},  {"/dev/null", HLG_TARGET_DEVICE},
	{"to-null", HLG_TARGET_DEVICE},  {"/proc/self/fd/70", HLG_TARGET_OPEN},
	{"/dev/fd/70", HLG_TARGET_OPEN}, {"to-open", HLG_TARGET_OPEN},
	{"to-to-open", HLG_TARGET_OPEN},
};

START_TEST(kind)
{
	int fd;

	put("file", "");
	ck_assert_int_eq(mkdir("folder", 0777), 0);
	ck_assert_int_eq(mkfifo("fifo", 0600), 0);
	ck_assert_int_eq(symlink("file", "to-file"), 0);
	ck_assert_int_eq(symlink("nowhere", "to-none"), 0);
	ck_assert_int_eq(symlink("to-itself", "to-itself"), 0);
	ck_assert_int_eq(symlink("folder", "to-folder"), 0);
	ck_assert_int_eq(symlink("fifo", "to-fifo"), 0);
	ck_assert_int_eq(symlink("/dev/null", "to-null"), 0);
	ck_assert_int_eq(symlink("/proc/self/fd/70", "to-open"), 0);
	ck_assert_int_eq(symlink("../to-open", "folder/to-open"), 0);
	ck_assert_int_eq(symlink("folder/to-open", "to-to-open"), 0);
	fd = open("file", O_WRONLY);
	ck_assert_int_eq(dup2(fd, 70), 70);
	ck_assert_msg(hlg_target_look(kinds[_i].path) == kinds[_i].target, "%s",
		      kinds[_i].path);
	close(fd);
	close(70);
}
END_TEST

/* In a folder as /tmp is, what others put there is not for us to write into, and a link
 * nowhere. */
START_TEST(planted)
{
	static const char *const names[] = {"shared/fifo", "shared/to-null",
					    "shared/to-open"};
	static const struct {
		mode_t mode;
		uid_t folder, link; /* 0 is us */
		bool fifo, planted; /* the FIFO; the links */
	} c[] = {
		{01777, 0, 0, false, false},        {01777, 0, 12345, true, true},
		{01777, 12345, 12345, false, true}, {0755, 0, 12345, false, true},
		{0777, 0, 12345, false, true},      {01755, 0, 12345, false, true},
		{01777, 23456, 12345, true, true},  {01777, 12345, 0, false, false},
	};
	if (geteuid() != 0)
		return;
	ck_assert_int_eq(mkdir("shared", 0777), 0);
	ck_assert_int_eq(mkfifo(names[0], 0666), 0);
	ck_assert_int_eq(symlink("/dev/null", names[1]), 0);
	ck_assert_int_eq(symlink("/proc/self/fd/1", names[2]), 0);
	ck_assert_int_eq(chown("shared", c[_i].folder, (gid_t)-1), 0);
	ck_assert_int_eq(chmod("shared", c[_i].mode), 0);
	for (int i = 0; i < 3; i++) {
		ck_assert_int_eq(lchown(names[i], c[_i].link, (gid_t)-1), 0);
		ck_assert_msg((hlg_target_look(names[i]) == HLG_TARGET_FILE) ==
				      (i ? c[_i].planted : c[_i].fifo),
			      "%s", names[i]);
	}
}
END_TEST

/* What is open gets more; what was there and where others are in it stays. */
START_TEST(open_file_is_appended_to)
{
	char name[32], *text;
	int fd, own;

	put("file", "before ");
	fd = open("file", O_WRONLY);
	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	own = hlg_target_open(name, HLG_TARGET_OPEN);
	ck_assert_int_ge(own, 0);
	ck_assert_int_eq(write(own, "text", 4), 4);
	close(own);
	close(fd);
	text = kit_read("file");
	ck_assert_str_eq(text, "before text");
	free(text);
}
END_TEST

/* Between the look and the opening. */
START_TEST(became_a_file)
{
	char *text;

	put("report", "old");
	ck_assert_int_eq(hlg_target_open("report", HLG_TARGET_DEVICE), -1);
	ck_assert_int_eq(errno, EBUSY);
	text = kit_read("report");
	ck_assert_str_eq(text, "old");
	free(text);
	ck_assert_int_eq(hlg_target_open("none", HLG_TARGET_DEVICE), -1);
	ck_assert_int_eq(errno, ENOENT);
	ck_assert_uint_eq(kit_count_files(), 1);
}
END_TEST

#define IS_READ " (name another file)"

static const struct {
	const char *out, *in, *message; /* NULL: fine */
} inputs[] = {
	{"file", "file", "file: is an input of this run" IS_READ},
	{"./file", "file", "./file: is an input of this run" IS_READ},
	{"link", "file", "link: is an input of this run" IS_READ},
	{"file", "link", "file: is an input of this run" IS_READ},
	{"second", "file", "second: is an input of this run" IS_READ},
	{"other", "file", NULL},
	{"new", "file", NULL},
	{"new", "missing", NULL},
	{"folder/new", "folder",
	 "folder/new: is in a folder that is an input of this run" IS_READ},
	{"folder/other", "./folder/",
	 "folder/other: is in a folder that is an input of this run" IS_READ},
	{"folder/below/new", "folder", NULL},
	{"fifo", "fifo", NULL},
	{"/dev/null", "/dev/null", NULL},
	{"-", "file", NULL},
	{NULL, "file", NULL},
	{"fifo", "-", NULL},
};

START_TEST(input)
{
	struct hlg_err err = {0};
	int rc;

	put("file", "old");
	put("other", "old");
	ck_assert_int_eq(symlink("file", "link"), 0);
	ck_assert_int_eq(link("file", "second"), 0);
	ck_assert_int_eq(mkdir("folder", 0777), 0);
	ck_assert_int_eq(mkdir("folder/below", 0777), 0);
	put("folder/other", "old");
	ck_assert_int_eq(mkfifo("fifo", 0666), 0);
	rc = hlg_target_check_input(inputs[_i].out, inputs[_i].in, &err);
	ck_assert_int_eq(rc, inputs[_i].message ? HLG_EWORDS : 0);
	ck_assert_str_eq(err.msg, inputs[_i].message ? inputs[_i].message : "");
}
END_TEST

START_TEST(standard_input)
{
	struct hlg_err err = {0};
	int fd;

	put("file", "old");
	put("-", "a file of this name is no input");
	fd = open("file", O_RDONLY);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(dup2(fd, STDIN_FILENO), STDIN_FILENO);
	close(fd);
	ck_assert_int_eq(hlg_target_check_input("file", "-", &err), HLG_EWORDS);
	ck_assert_int_eq(err.code, HLG_EWORDS);
	ck_assert_int_eq(hlg_target_check_input("./-", "-", &err), 0);
}
END_TEST

/* As of `>> file`; a pipe may be read and written. */
START_TEST(standard_output)
{
	struct hlg_err err = {0};
	int fd, own = dup(STDOUT_FILENO), ends[2], file, another, piped;

	put("file", "old");
	put("other", "old");
	fd = open("file", O_WRONLY | O_APPEND);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(pipe(ends), 0);
	fflush(stdout);
	dup2(fd, STDOUT_FILENO);
	file = hlg_target_check_input("-", "file", &err);
	another = hlg_target_check_input(NULL, "other", &err);
	dup2(ends[1], STDOUT_FILENO);
	piped = hlg_target_check_input(NULL, "file", &err);
	dup2(own, STDOUT_FILENO);
	ck_assert_int_eq(file, HLG_EWORDS);
	ck_assert_str_eq(err.msg, "standard output: is an input of this run" IS_READ);
	ck_assert_int_eq(another, 0);
	ck_assert_int_eq(piped, 0);
	close(own);
	close(fd);
	close(ends[0]);
	close(ends[1]);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("target");
	TCase *tc = tap_case(suite, "target");

	tcase_add_checked_fixture(tc, kit_enter, kit_leave);
	tcase_add_loop_test(tc, kind, 0, sizeof(kinds) / sizeof(kinds[0]));
	tcase_add_loop_test(tc, planted, 0, 8);
	tcase_add_test(tc, open_file_is_appended_to);
	tcase_add_test(tc, became_a_file);
	tcase_add_loop_test(tc, input, 0, sizeof(inputs) / sizeof(inputs[0]));
	tcase_add_test(tc, standard_input);
	tcase_add_test(tc, standard_output);
	return tap_main(suite);
}
