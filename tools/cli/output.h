/* SPDX-License-Identifier: GPL-2.0-only */
/* What verbs that print line by line do with standard output and standard error. */
#ifndef HLG_TOOLS_CLI_OUTPUT_H
#define HLG_TOOLS_CLI_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>

#include "filter/output/note-list.h"
#include "symtab/err.h"

/* Prints err's message as the command's; returns the status, for `return
 * hlg_output_error()`: 2 for a command line that makes no sense (HLG_EWORDS), else 1. No
 * one else says which it is, but argp-run.h. */
int hlg_output_error(const struct hlg_err *err);

/* Prints a line, escaped, and its newline. What is escaped already stays as it is. */
void hlg_output_line(FILE *f, const char *line);

/* From now on lines, errors and notes have name, as the user gave it, where they would
 * have path: what he named is read from another place. Neither is copied; NULL ends it.
 */
void hlg_output_call(const char *path, const char *name);

/* Which notes are told: each has those of the one before. */
enum hlg_output_told {
	HLG_OUTPUT_WARNINGS,
	HLG_OUTPUT_NOTES,
	HLG_OUTPUT_DETAILS
};

/* As -q and -v ask for. */
static inline enum hlg_output_told hlg_output_told(bool quiet, bool verbose)
{
	return verbose ? HLG_OUTPUT_DETAILS
	       : quiet ? HLG_OUTPUT_WARNINGS
		       : HLG_OUTPUT_NOTES;
}

/* Tells notes on standard error, where the output has no room for them. subject is what
 * they are of; NULL: they say it. */
void hlg_output_notes(const char *subject, const struct hlg_note_list *notes,
		      enum hlg_output_told told);

/* Has a write to standard output failed? Asked right after writing, it keeps why. */
bool hlg_output_failed(void);

/* Text, escaped, that begins in this column of f, and the end of the line. On a terminal it
 * goes on below, behind so many blanks, before a word that does not fit (text-line.h). */
void hlg_output_fold(FILE *f, size_t column, size_t indent, const char *text);

/* Brings out what was printed so far. False if it cannot be written, now or before: then
 * hlg_output_end() says why. */
bool hlg_output_flush(void);

/*
 * The last word on standard output: flushes it and tells, once, when anything could not
 * be written. Returns status, or 1 after a failure.
 */
int hlg_output_end(int status);

/* For atexit(): the same where nobody else has the last word, as behind argp's help. */
void hlg_output_exit(void);

#endif
