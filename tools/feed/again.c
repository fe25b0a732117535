// SPDX-License-Identifier: GPL-2.0-only
#include "tools/feed/again.h"

#include <stdlib.h>
#include <string.h>

#include "symtab/escape.h"
#include "symtab/shell.h"
#include "tools/perfdata/perfdata.h"

#define RECORD "hlguest record --sandboxes"

enum {
	LONGEST = 500 /* bytes of a command; an error's text has room for 1024 */
};

/* The command itself: record --guest-stacks runs it behind a gate (tools/record/gate.h).
 */
static char *const *behind_gate(char *const *words)
{
	if (words[0] && words[1] &&
	    strncmp(words[1], "--behind-gate=", strlen("--behind-gate=")) == 0)
		return words + 2;
	return words;
}

/* Can it be told as it is, to be copied from a terminal? */
static bool is_plain(const char *line)
{
	char *shown = hlg_escape_dup(line);
	bool plain = shown && strcmp(shown, line) == 0;

	free(shown);
	return plain && strlen(line) <= LONGEST;
}

static char *of_command(char *const *words)
{
	char *line = hlg_shell_words((const char *const *)words), *again = NULL;

	if (line &&
	    asprintf(&again, RECORD " --%s", is_plain(line) ? line : " COMMAND") < 0)
		again = NULL;
	free(line);
	return again;
}

char *hlg_feed_again_recorded(const void *of)
{
	const struct hlg_feed_recorded *recorded = of;
	char *again;

	if (recorded->everything)
		return strdup(RECORD " -a");
	if (!recorded->pid)
		return recorded->command ? of_command(recorded->command)
					 : strdup(RECORD " -- COMMAND");
	return asprintf(&again, RECORD " -p %s", recorded->pid) < 0 ? NULL : again;
}

char *hlg_feed_again(const char *recording)
{
	const struct hlg_perfdata_host *host;
	struct hlg_perfdata *pd;
	struct hlg_err err;
	char *again;

	if (!hlg_perfdata_is_kept(recording) ||
	    hlg_perfdata_open(&pd, recording, &err) < 0)
		return strdup(RECORD " -- COMMAND");
	host = hlg_perfdata_host(pd);
	if (host->attached)
		again = strdup(RECORD " -p PID");
	else if (host->command && host->command[0])
		again = of_command(behind_gate(host->command));
	else
		again = strdup(RECORD " -- COMMAND");
	hlg_perfdata_close(pd);
	return again;
}
