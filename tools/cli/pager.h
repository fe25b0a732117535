/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Text on a terminal is shown by a pager, as perf and git do: PAGER, a program in an
 * absolute folder of PATH with its words, or less. No shell is started for it, and as
 * root no pager. Where it cannot be started, the text goes to the terminal itself.
 */
#ifndef HLG_TOOLS_CLI_PAGER_H
#define HLG_TOOLS_CLI_PAGER_H

#include <stdio.h>

#include "filter/write/format.h"

/*
 * Standard output, for a result that is ready to be written: with a pager behind it if it
 * is text that goes to a terminal (out is hlg_target_is_stream()) and unwanted is not
 * set. The command ends when the reader has left the pager.
 */
FILE *hlg_pager_stream(bool unwanted, const struct hlg_format *format, const char *out);

#endif
