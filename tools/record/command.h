/* SPDX-License-Identifier: GPL-2.0-only */
/* What the command line of a VMM names: its program, the guest that it runs,
 * and a module that the guest runs. */
#ifndef HLG_TOOLS_RECORD_COMMAND_H
#define HLG_TOOLS_RECORD_COMMAND_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include "symtab/err.h"

/*
 * Is there a program called name, where execvp(3) looks for it? 0; else what a shell's
 * status would be, with err: 127 if it is not there, 126 if it may not be run. The same,
 * and its path in found, not to be used after an error.
 */
int hlg_record_command_check(const char *name, struct hlg_err *err);
int hlg_record_command_find(const char *name, char found[static PATH_MAX],
			    struct hlg_err *err);

/*
 * The guests' ELFs: words behind the first one, or what follows the = of one
 * (--kernel=guest.elf), each file once: ELFs for x86-64 or AArch64 without an
 * interpreter, so no program of this machine as a VMM behind sudo(8) is, and not the file
 * of the first word. If there is none, the first word, a path, where that program has its
 * guest inside it. Returns how many are in found, at most `most`, which is 1 at least; 0:
 * there are none. They point into command, which ends with NULL.
 */
size_t hlg_record_command_guests(char *const *command, const char **found, size_t most);

/* What else may be one: words that have no symbols, as a VMM behind the first may have
 * none; and the program, if it has a guest inside it, whatever is named. */
size_t hlg_record_command_others(char *const *command, const char **found, size_t most);

/* What to say of a command where there are none, behind its name and a colon. */
#define HLG_RECORD_COMMAND_LACKS                                                         \
	"no guest ELF is named by its arguments, or lies inside it"

/* Are these two paths of one file? */
bool hlg_record_command_same(const char *a, const char *b);

/* The module of WebAssembly that the guest runs, which is such a word, too. */
const char *hlg_record_command_module(char *const *command);

#endif
