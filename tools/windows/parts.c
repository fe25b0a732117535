// SPDX-License-Identifier: GPL-2.0-only
/* What the formats share. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "filter/write/write.h"
#include "symtab/escape.h"
#include "tools/windows/write.h"

static void note_reading(FILE *f, const struct hlg_windows *w)
{
	fprintf(f, "%" PRIu64 " windows were recorded, led by ", w->read);
	hlg_escape_print(f, w->columns[0].name);
	if (w->period)
		fprintf(f, " (a window each %" PRIu64 ")", w->period);
	fputs("\ncounts are as read, never extrapolated; group reads hold no times, so "
	      "whether the kernel took turns (multiplexing) cannot be seen\n"
	      "first: counted since the counters were enabled; last: what was counted "
	      "after it is in no window\n",
	      f);
}

char *hlg_windows_notes(const struct hlg_windows *w)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	if (!f)
		return NULL;
	note_reading(f, w);
	if (w->every)
		fputs("a window counts in the interval that it ends in; time is the "
		      "interval's end\n",
		      f);
	if (w->one_thread)
		fputs("the counters were those of the command's first thread: threads it "
		      "made later are in no window (perf before 6.13; record with -p or "
		      "-a once they run)\n",
		      f);
	if (w->lost)
		fprintf(f,
			"%" PRIu64 " events were lost while recording: a window after a "
			"loss holds several\n",
			w->lost);
	if (w->other_groups) {
		fprintf(f, "%" PRIu64 " windows of other groups are not here (--event=",
			w->other_groups);
		hlg_escape_print(f, w->other ? w->other : "?");
		fputs(" shows some)\n", f);
	}
	if (w->plain)
		fprintf(f, "%" PRIu64 " samples belong to no group and are no windows\n",
			w->plain);
	if (w->back)
		fprintf(f,
			"%" PRIu64 " counts are of counters that went back, which none "
			"can: 0 here\n",
			w->back);
	if (w->overflow)
		fputs("COUNTS ADD UP TO MORE THAN 2^64: sums of them are wrong\n", f);
	if (w->strangers)
		fprintf(f,
			"%" PRIu64 " counts are of events that the first window lacks: "
			"left out\n",
			w->strangers);
	if (fclose(f) != 0) {
		free(text);
		return NULL;
	}
	return text;
}

void hlg_windows_put_lines(FILE *f, const char *lines, const char *prefix)
{
	while (*lines) {
		size_t n = strcspn(lines, "\n");

		fprintf(f, "%s%.*s\n", prefix, (int)n, lines);
		lines += n + (lines[n] != '\0');
	}
}

void hlg_windows_put_cell(FILE *f, const char *text)
{
	if (hlg_write_is_formula(text) || text[strcspn(text, "\",\n\r\t ")])
		hlg_write_cell(f, text);
	else
		hlg_escape_print(f, text);
}

/*
 * To what reads all lines as CSV, a comment is a row as well: a quote would begin a cell
 * that ends somewhere below, and what follows a comma may be a formula.
 */
void hlg_windows_put_comment(FILE *f, const char *text)
{
	for (; *text; text++) {
		size_t plain = hlg_escape_plain(text);

		if (!plain || *text == '"' ||
		    (*text == ',' && hlg_write_is_formula(text + 1)))
			fprintf(f, "\\x%02x", (unsigned)(unsigned char)*text);
		else
			fwrite(text, 1, plain, f);
		text += plain ? plain - 1 : 0;
	}
}

bool hlg_windows_put_comments(FILE *f, char *lines)
{
	char *rest, *line = lines ? strtok_r(lines, "\n", &rest) : NULL;

	for (; line; line = strtok_r(NULL, "\n", &rest)) {
		fputs("# ", f);
		hlg_windows_put_comment(f, line);
		fputc('\n', f);
	}
	free(lines);
	return lines != NULL;
}

void hlg_windows_put_strings(FILE *f, const char *lines)
{
	const char *comma = "";

	fputc('[', f);
	while (*lines) {
		size_t n = strcspn(lines, "\n");
		char *line = strndup(lines, n);

		fputs(comma, f);
		hlg_write_string(f, line ? line : "");
		free(line);
		comma = ", ";
		lines += n + (lines[n] != '\0');
	}
	fputc(']', f);
}

void hlg_windows_put_time(FILE *f, uint64_t time, const char *none)
{
	if (time == HLG_NO_TIME)
		fputs(none, f);
	else
		fprintf(f, "%" PRIu64 ".%09" PRIu64, time / 1000000000,
			time % 1000000000);
}

void hlg_windows_put_marks(FILE *f, uint8_t marks)
{
	static const char *const words[] = {"first", "last", "late"};
	const char *between = "";

	for (unsigned i = 0; i < 3; i++)
		if (marks & 1u << i) {
			fprintf(f, "%s%s", between, words[i]);
			between = ";";
		}
}
