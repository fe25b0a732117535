/* SPDX-License-Identifier: GPL-2.0-only */
/* Other programs, and code that may not come back, run beside us for a bounded time,
 * and end with the thread that started them. */
#ifndef HLG_TOOLS_CLI_CHILD_H
#define HLG_TOOLS_CLI_CHILD_H

#include <stddef.h>

enum hlg_child_end {
	HLG_CHILD_EXITED,  /* by itself: status is its exit status */
	HLG_CHILD_KILLED,  /* by a signal: status is its number */
	HLG_CHILD_TIMEOUT, /* did not end in time, and was killed with all it started */
	HLG_CHILD_FAILED,  /* was never started: status is errno */
};

struct hlg_child {
	enum hlg_child_end end;
	int status;
	char text[512]; /* what it wrote first, to standard output and error */
	char last[512]; /* what it wrote last, to either: the same where that is all */
};

/* Runs the program argv[0] (a path: nothing is searched, no shell); no standard input. */
void hlg_child_run(struct hlg_child *child, char *const argv[], unsigned milliseconds);

/* Calls f in a child; what it returns is the exit status, what it prints is the text. */
void hlg_child_call(struct hlg_child *child, int (*f)(void *arg), void *arg,
		    unsigned milliseconds);

#endif
