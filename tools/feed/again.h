/* SPDX-License-Identifier: GPL-2.0-only */
/* How to make a recording anew, where it lacks what tells its guests apart. */
#ifndef HLG_TOOLS_FEED_AGAIN_H
#define HLG_TOOLS_FEED_AGAIN_H

#include <stdbool.h>

/*
 * The command that records the same with its sandboxes: "hlguest record --sandboxes --
 * ./vmm a.elf b.elf", by what perf noted of its own command line. PID and COMMAND stand
 * for what that does not tell, and for a command too long for a line of text or not to be
 * shown as it is. To be freed; NULL without memory.
 */
char *hlg_feed_again(const char *recording);

/* What is recorded, as who records it knows: all processes, some, or a command. */
struct hlg_feed_recorded {
	bool everything;
	const char *pid;
	char *const *command;
};

/* The same of what a struct hlg_feed_recorded says, for who asks for it as of something
 * (hlg_options.again, hlg_runners_recording.again). */
char *hlg_feed_again_recorded(const void *recorded);

#endif
