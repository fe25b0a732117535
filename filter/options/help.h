/* SPDX-License-Identifier: GPL-2.0-only */
/* Help for the options of the table (options.h), under headings. */
#ifndef HLG_FILTER_OPTIONS_HELP_H
#define HLG_FILTER_OPTIONS_HELP_H

#include <stddef.h>
#include <stdio.h>

/*
 * Under which heading of a help text an option belongs, by its place from 0 on; name may
 * be one that only the command has. An option that has none of its own is of the rows.
 */
size_t hlg_options_help_heading(const char *name);
/* "Rows:"; NULL behind the last. */
const char *hlg_options_help_heading_text(size_t heading);

/* Help for all options, under their headings: lines of at most 78 columns, '\n' behind
 * each. formats are the words of format=, "a|b|c". */
void hlg_options_help(FILE *f, const char *formats);

#endif
