// SPDX-License-Identifier: GPL-2.0-only
/* mark start | mark stop: tells the plugin to count from here, to write what it counted.
 */
#include "tests/rig/truth/mark.h"

#include <stdio.h>
#include <string.h>

#define SAY(number) __asm__ volatile("nopl %c0(%%rax,%%rax,1)" : : "i"(number))

int main(int argc, char **argv)
{
	const char *what = argc == 2 ? argv[1] : "";
	if (strcmp(what, "start") == 0) {
		SAY(MARK_START);
	} else if (strcmp(what, "stop") == 0) {
		SAY(MARK_STOP);
	} else {
		fputs("usage: mark start | stop\n", stderr);
		return 2;
	}
	return 0;
}
