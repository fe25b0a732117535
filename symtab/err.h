/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Errors: a negative code and a message fit to print.
 *
 * A function that can fail takes a caller-owned struct hlg_err, returns a negative
 * code and leaves one line `subject: problem (what to do)` in it, without a newline.
 * The message is safe for a terminal: bytes that came from files or arguments are
 * escaped as escape.h says. Callers forward the code unchanged.
 */
#ifndef HLG_SYMTAB_ERR_H
#define HLG_SYMTAB_ERR_H

enum {
	HLG_EINPUT = -1, /* what was given cannot be used: a file, a value, an option */
	/* The system refused, or has not what is asked: memory, permission, a full disk,
	 * a counter. While options are read (tools/cli/verb.h), of a file, too, that a
	 * word leads to and that cannot be used: other words would not help there.
	 * Whoever meets it gives up. */
	HLG_ESYSTEM = -2,
	HLG_EWORDS = -3, /* the command line makes no sense, whatever files there are */
};

struct hlg_err {
	char msg[1024];
	int code; /* that was returned with it */
};

/* Formats the message (cut, never overrun) and returns code, for `return hlg_err_set()`.
 */
__attribute__((format(printf, 3, 4))) int hlg_err_set(struct hlg_err *err, int code,
						      const char *fmt, ...);

/* HLG_ESYSTEM for a failed allocation on behalf of subject. */
int hlg_err_memory(struct hlg_err *err, const char *subject);

#endif
