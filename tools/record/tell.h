/* SPDX-License-Identifier: GPL-2.0-only */
/* What there is to say of a recording that was just made. */
#ifndef HLG_TOOLS_RECORD_TELL_H
#define HLG_TOOLS_RECORD_TELL_H

#include <stdbool.h>

struct hlg_recorded {
	const char *path;
	const char *event; /* as perf was given it */
	const char *verb;  /* of hlguest's that reads it: report, windows, exits */
	bool of_command;   /* and of nothing but one */
};

/*
 * Tells on standard error, in a line, what is in the file; what it may lack; and what to
 * type next. Returns 0, or 1 when the file cannot be read.
 */
int hlg_record_tell(const struct hlg_recorded *recorded);

#endif
