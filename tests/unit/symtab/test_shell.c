// SPDX-License-Identifier: GPL-2.0-only
/* A shell is asked what words it makes of those that are told. */
#include "symtab/shell.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/kit/tap.h"

static const char *const words[] = {
	"",          "plain",      "a/b-c_d.elf@0x4000:tid=7,9",
	"two words", "it's",       "'",
	"''",        "$HOME",      "`true`",
	"\\",        "a\nb",       "~",
	"*",         "\"quoted\"", "#",
	"!!",        ";",          "\xc3\xa4 \xff",
	"a=b",       "--",         NULL,
};

/* What the shell takes a line for, word by word, each ended by NUL, to room. */
static size_t ask(const char *line, char *room, size_t size)
{
	char *command = NULL;
	FILE *shell;
	size_t n;

	ck_assert_int_ge(asprintf(&command, "printf '%%s\\0'%s", line), 0);
	shell = popen(command, "r");
	ck_assert_ptr_nonnull(shell);
	n = fread(room, 1, size, shell);
	ck_assert_int_eq(pclose(shell), 0);
	free(command);
	return n;
}

START_TEST(lines)
{
	char *line = hlg_shell_words(words), room[4096];
	const char *at = room;
	size_t n;

	ck_assert_ptr_nonnull(line);
	n = ask(line, room, sizeof(room));
	for (size_t i = 0; words[i]; i++) {
		ck_assert_uint_lt((size_t)(at - room), n);
		ck_assert_str_eq(at, words[i]);
		at += strlen(at) + 1;
	}
	ck_assert_uint_eq((size_t)(at - room), n);
	free(line);
}
END_TEST

/* A word alone is what it is in a line. */
START_TEST(alone)
{
	const char *const one[] = {words[_i], NULL};
	char *line = hlg_shell_words(one), *word = hlg_shell_quote(words[_i]);

	ck_assert_str_eq(line + 1, word);
	free(line);
	free(word);
}
END_TEST

START_TEST(messages)
{
	char room[32], few[6];

	ck_assert_str_eq(hlg_shell_put(room, sizeof(room), "a/b.elf@0x4000"),
			 "a/b.elf@0x4000");
	ck_assert_str_eq(hlg_shell_put(room, sizeof(room), "a b.elf"), "'a b.elf'");
	ck_assert_str_eq(hlg_shell_put(room, sizeof(room), "a\x1b"), "'a\\x1b'");
	ck_assert_str_eq(hlg_shell_put(few, sizeof(few), "a b.elf"), "'a b.");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("shell");
	TCase *tc = tap_case(suite, "shell");

	tcase_add_test(tc, lines);
	tcase_add_loop_test(tc, alone, 0, sizeof(words) / sizeof(words[0]) - 1);
	tcase_add_test(tc, messages);
	return tap_main(suite);
}
