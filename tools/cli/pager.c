// SPDX-License-Identifier: GPL-2.0-only
#include "tools/cli/pager.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "filter/output/screen.h"
#include "filter/output/target.h"
#include "tools/cli/perf-find.h"

enum {
	WORDS = 16
};

static pid_t pager;

static void wait_for_pager(void)
{
	fflush(stdout);
	close(STDOUT_FILENO);
	while (waitpid(pager, NULL, 0) < 0 && errno == EINTR)
		;
}

/* Parts text into words at blanks; false if it has none, or more than there is room for.
 */
static bool part(char *text, char *words[static WORDS + 1])
{
	size_t n = 0;
	char *rest;

	for (char *word = strtok_r(text, " \t", &rest); word;
	     word = strtok_r(NULL, " \t", &rest)) {
		if (n == WORDS)
			return false;
		words[n++] = word;
	}
	words[n] = NULL;
	return n && strcmp(words[0], "cat") != 0;
}

/* What less should do unless it is told: show colours, end if all fits, leave it there. A
 * program that cannot be started says so through failed.
 */
static _Noreturn void become(const char *path, char *const words[], int in, int failed)
{
	signal(SIGINT, SIG_DFL);
	if (dup2(in, STDIN_FILENO) >= 0 && setenv("LESS", "FRX", 0) == 0)
		execv(path, words);
	while (write(failed, "", 1) < 0 && errno == EINTR)
		;
	_exit(127);
}

/* What is written is fitted to the terminal, which standard output is no more. */
static void keep_size(void)
{
	struct hlg_screen screen = hlg_screen_of(stdout);
	char text[16];

	snprintf(text, sizeof(text), "%u", screen.columns);
	setenv("COLUMNS", text, 1);
	snprintf(text, sizeof(text), "%u", screen.lines);
	setenv("LINES", text, 1);
	setenv(HLG_SCREEN_PAGER, "1", 1);
}

/* Runs the pager with its standard input from in. False if it did not start: execv()
 * closes the pipe that it would have told it by, so nothing comes from there.
 */
static bool run(const char *path, char *const words[], int in)
{
	int ends[2];
	char byte;
	ssize_t got;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return false;
	pager = fork();
	if (pager == 0)
		become(path, words, in, ends[1]);
	close(ends[1]);
	do
		got = read(ends[0], &byte, 1);
	while (got < 0 && errno == EINTR);
	close(ends[0]);
	if (pager > 0 && got == 0)
		return true;
	while (pager > 0 && waitpid(pager, NULL, 0) < 0 && errno == EINTR)
		;
	return false;
}

static void start(const char *path, char *const words[])
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) < 0)
		return;
	/* Else one of these is closed: no terminal to read at. */
	if (ends[0] > STDERR_FILENO && run(path, words, ends[0])) {
		keep_size();
		if (dup2(ends[1], STDOUT_FILENO) >= 0) {
			signal(SIGINT, SIG_IGN); /* it is the pager's */
			atexit(wait_for_pager);
		}
	}
	close(ends[0]);
	close(ends[1]);
}

FILE *hlg_pager_stream(bool unwanted, const struct hlg_format *format, const char *out)
{
	const char *named = getenv("PAGER");
	char text[PATH_MAX], path[PATH_MAX], *words[WORDS + 1];

	if (unwanted || strcmp(format->name, "text") != 0 || !hlg_target_is_stream(out) ||
	    !isatty(STDOUT_FILENO) || geteuid() == 0 || pager)
		return stdout;
	if (snprintf(text, sizeof(text), "%s", named ? named : "less") <
		    (int)sizeof(text) &&
	    part(text, words) && hlg_perf_find_program(path, words[0]))
		start(path, words);
	return stdout;
}
