// SPDX-License-Identifier: GPL-2.0-only
#include "tools/source/shrunk.h"

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "symtab/err.h"

/* What libdw is reading. */
static const struct hlg_shrunk *watched;

/* Only what signal-safety(7) allows. */
static void on_sigbus(int sig)
{
	(void)sig;
	if (watched && write(STDERR_FILENO, watched->line, strlen(watched->line)) < 0)
		_exit(1);
	_exit(1);
}

void hlg_shrunk_init(struct hlg_shrunk *shrunk, const char *path)
{
	struct hlg_err err;

	hlg_err_set(&err, 0,
		    "%s: became shorter while it was read, or its debug file did (start "
		    "again when nobody writes it)",
		    path);
	snprintf(shrunk->line, sizeof(shrunk->line), "hlguest: %s\n", err.msg);
}

void hlg_shrunk_watch(const struct hlg_shrunk *shrunk)
{
	static bool handled;
	const struct sigaction action = {.sa_handler = on_sigbus,
					 .sa_flags = (int)SA_RESETHAND};

	watched = shrunk;
	if (handled)
		return;
	handled = true;
	sigaction(SIGBUS, &action, NULL);
}
