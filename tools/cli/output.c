// SPDX-License-Identifier: GPL-2.0-only
#include "tools/cli/output.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "filter/output/out.h"
#include "filter/output/screen.h"
#include "filter/write/text-line.h"
#include "symtab/escape.h"

static int failure; /* errno of the first write that failed */

static bool failure_told; /* something is known to have failed */

static const char *called_path, *called_name;

void hlg_output_call(const char *path, const char *name)
{
	called_path = path;
	called_name = name;
}

void hlg_output_line(FILE *f, const char *line)
{
	char *copy = called_path ? strdup(line) : NULL, *rest = copy, *at;

	while (copy && (at = strstr(rest, called_path))) {
		*at = '\0';
		hlg_escape_print(f, rest);
		hlg_escape_print(f, called_name);
		rest = at + strlen(called_path);
	}
	hlg_escape_print(f, copy ? rest : line);
	fputc('\n', f);
	free(copy);
}

int hlg_output_error(const struct hlg_err *err)
{
	failure_told = true;
	fputs("hlguest: ", stderr);
	hlg_output_line(stderr, err->msg);
	return err->code == HLG_EWORDS ? 2 : 1;
}

void hlg_output_notes(const char *subject, const struct hlg_note_list *notes,
		      enum hlg_output_told told)
{
	static const enum hlg_output_told least[] = {
		[HLG_NOTE_WARNING] = HLG_OUTPUT_WARNINGS,
		[HLG_NOTE_PLAIN] = HLG_OUTPUT_NOTES,
		[HLG_NOTE_DETAIL] = HLG_OUTPUT_DETAILS};

	for (size_t i = 0; i < notes->n; i++) {
		const char *of = notes->level[i] == HLG_NOTE_WARNING ? "warning" : "note";

		if (least[notes->level[i]] > told)
			continue;
		fputs("hlguest: ", stderr);
		hlg_escape_print(stderr, subject ? subject : of);
		fputs(": ", stderr);
		hlg_output_line(stderr, notes->line[i]);
	}
}

void hlg_output_fold(FILE *f, size_t column, size_t indent, const char *text)
{
	const struct hlg_screen screen = hlg_screen_of(f);
	char *escaped = hlg_escape_dup(text), behind[64];

	snprintf(behind, sizeof(behind), "%*s", (int)indent, "");
	if (!escaped) /* without memory */
		hlg_escape_print(f, text);
	hlg_text_line_fold(f, &screen, column, behind, escaped ? escaped : "");
	free(escaped);
}

bool hlg_output_failed(void)
{
	if (!failure && ferror(stdout))
		failure = errno ? errno : EIO;
	return failure != 0;
}

bool hlg_output_flush(void)
{
	errno = 0;
	if (!failure && fflush(stdout) != 0)
		failure = errno ? errno : EIO;
	return !hlg_output_failed();
}

int hlg_output_end(int status)
{
	struct hlg_err err;

	if (hlg_output_flush())
		return status;
	hlg_out_fail("standard output", "written", failure, &err);
	return hlg_output_error(&err);
}

void hlg_output_exit(void)
{
	if (!failure_told && hlg_output_end(0) != 0)
		_exit(1);
}
