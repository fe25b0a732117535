/* SPDX-License-Identifier: GPL-2.0-only */
/* Commands of engines: as execv has them, and as a shell does. */
#ifndef HLG_TOOLS_FLEET_COMMAND_H
#define HLG_TOOLS_FLEET_COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Ends with NULL. Sticky: failed without memory. */
struct hlg_fleet_command {
	char **words;
	size_t n;
	bool failed;
};

/* Adds a word. */
__attribute__((format(printf, 2, 3))) void hlg_fleet_command_add(
	struct hlg_fleet_command *c, const char *fmt, ...);

/* Prints it between begin and end, for a shell. */
void hlg_fleet_command_print(struct hlg_fleet_command *c, const char *begin,
			     const char *end);

void hlg_fleet_command_finish(struct hlg_fleet_command *c);

/* Waits for a child that runs one. Its exit status; 128 + N if signal N ended it. */
int hlg_fleet_command_wait(pid_t pid);

/* This program, by its path: quoted for a shell, to be freed. NULL without memory. */
char *hlg_fleet_command_self(void);

#endif
