/* SPDX-License-Identifier: GPL-2.0-only */
/* How to make a recording anew, where it lacks what tells its guests apart. */
#ifndef HLG_TOOLS_FEED_AGAIN_H
#define HLG_TOOLS_FEED_AGAIN_H

/*
 * The command that records the same with its sandboxes: "hlguest record --sandboxes --
 * ./vmm a.elf b.elf", by what perf noted of its own command line. PID and COMMAND stand
 * for what that does not tell, and for a command too long for a line of text or not to be
 * shown as it is. To be freed; NULL without memory.
 */
char *hlg_feed_again(const char *recording);

#endif
