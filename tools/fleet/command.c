// SPDX-License-Identifier: GPL-2.0-only
#include "tools/fleet/command.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "symtab/escape.h"
#include "symtab/grow.h"
#include "symtab/shell.h"

void hlg_fleet_command_add(struct hlg_fleet_command *c, const char *fmt, ...)
{
	va_list ap;
	char *word;

	va_start(ap, fmt);
	if (vasprintf(&word, fmt, ap) < 0)
		word = NULL;
	va_end(ap);
	if (c->failed || !word || !HLG_GROW(c->words, c->n + 1)) {
		c->failed = true;
		free(word);
		return;
	}
	c->words[c->n++] = word;
	c->words[c->n] = NULL;
}

void hlg_fleet_command_finish(struct hlg_fleet_command *c)
{
	for (size_t i = 0; i < c->n; i++)
		free(c->words[i]);
	free(c->words);
	*c = (struct hlg_fleet_command){0};
}

char *hlg_fleet_command_self(void)
{
	char path[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);

	if (n <= 0)
		return NULL;
	path[n] = '\0';
	return hlg_shell_quote(path);
}

void hlg_fleet_command_print(struct hlg_fleet_command *c, const char *begin,
			     const char *end)
{
	fputs(begin, stdout);
	for (size_t i = 0; i < c->n; i++) {
		char *word = hlg_shell_quote(c->words[i]);

		c->failed |= !word;
		if (i)
			putchar(' ');
		if (word)
			hlg_escape_print(stdout, word);
		free(word);
	}
	fputs(end, stdout);
}

int hlg_fleet_command_wait(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return 1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
