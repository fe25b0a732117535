/* SPDX-License-Identifier: GPL-2.0-only */
/* What the command line of a VMM names. */
#ifndef HLG_TOOLS_RECORD_COMMAND_H
#define HLG_TOOLS_RECORD_COMMAND_H

#include "symtab/err.h"

/*
 * Is there a program called name, where execvp(3) looks for it? 0; else what a shell's
 * status would be, with err: 127 if it is not there, 126 if it may not be run.
 */
int hlg_record_command_check(const char *name, struct hlg_err *err);

#endif
