// SPDX-License-Identifier: GPL-2.0-only
#include "tools/cli/help.h"

#include <string.h>

#include "filter/write/format.h"

enum {
	WIDTH = 79,
	COLUMN = 29 /* of what an option does */
};

/* Text where a line of it stands at column, from there on: broken between words, and
 * indented behind the first line. Returns the column behind it. */
static int wrap(FILE *f, const char *text, size_t n, int column, int indent)
{
	bool begins = true;

	for (size_t i = 0; i < n;) {
		int len = (int)strcspn(text + i, " ");

		if (len > (int)(n - i))
			len = (int)(n - i);
		if (!begins && column + 1 + len > WIDTH) {
			fprintf(f, "\n%*s", indent, "");
			column = indent;
		} else if (!begins) {
			fputc(' ', f);
			column++;
		}
		fwrite(text + i, 1, (size_t)len, f);
		column += len;
		begins = false;
		i += (size_t)len;
		i += i < n;
	}
	return column;
}

/* Lines of text, n bytes; one that begins with a blank is as it is to be. */
static void print_text(FILE *f, const char *text, size_t n)
{
	for (const char *end = text + n; text < end;) {
		size_t len = strcspn(text, "\n");

		if (len > (size_t)(end - text))
			len = (size_t)(end - text);
		if (text[0] == ' ')
			fwrite(text, 1, len, f);
		else
			wrap(f, text, len, 0, 0);
		fputc('\n', f);
		text += len;
		text += text < end;
	}
}

/* "Usage: hlguest VERB ...", a line for each way. */
static void print_usage(FILE *f, const struct hlg_verb *verb)
{
	const char *way = verb->usage ? verb->usage : "";

	for (int i = 0;; i++) {
		size_t n = strcspn(way, "\n");

		fprintf(f, "%s hlguest %s [OPTION...]%s%.*s\n",
			i ? "  or: " : "Usage:", verb->name, n ? " " : "", (int)n, way);
		if (way[n] == '\0')
			return;
		way += n + 1;
	}
}

static void print_option(FILE *f, const struct hlg_verb *verb,
			 const struct hlg_verb_option *o, const char *formats)
{
	const char *value = o->kind == HLG_VERB_FORMAT ? formats : o->value;
	const char *fallback = o->kind == HLG_VERB_FORMAT
				       ? hlg_format_find(verb->formats, NULL)->name
				       : o->fallback;
	int column = fprintf(f, o->letter ? "  -%c, --%s" : "  %c   --%s",
			     o->letter ? o->letter : ' ', o->name);

	if (value)
		column += fprintf(f, o->optional ? "[=%s]" : "=%s", value);
	if (column < COLUMN - 1)
		fprintf(f, "%*s", COLUMN - column, "");
	else
		fprintf(f, "\n%*s", COLUMN, "");
	column = wrap(f, o->help, strlen(o->help), COLUMN, COLUMN);
	if (fallback) {
		size_t skip = fallback[0] == '(';
		char text[160];
		int n = snprintf(text, sizeof(text), "(default: %s%s", fallback + skip,
				 skip ? "" : ")");

		if (column + 1 + n > WIDTH) {
			fprintf(f, "\n%*s", COLUMN, "");
			column = COLUMN;
		} else {
			fputc(' ', f);
		}
		wrap(f, text, strlen(text), column, COLUMN + 1);
	}
	fputc('\n', f);
}

static bool is_end(const struct hlg_verb_option *option)
{
	return !option->name && !option->kind;
}

static bool is_same(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

/* Those with a heading, or without; false if there are none. */
static bool print_group(FILE *f, const struct hlg_verb *verb,
			const struct hlg_verb_option *options, const char *heading,
			const char *formats)
{
	bool begun = false;

	for (const struct hlg_verb_option *o = options; !is_end(o); o++) {
		if (!o->name || o->hidden || !is_same(o->heading, heading))
			continue;
		if (!begun)
			fprintf(f, "\n%s%s", heading ? heading : "", heading ? "\n" : "");
		begun = true;
		print_option(f, verb, o, formats);
	}
	return begun;
}

/* Has no option before this one its heading? */
static bool is_first(const struct hlg_verb_option *options,
		     const struct hlg_verb_option *option)
{
	while (!options->name || !is_same(options->heading, option->heading))
		options++;
	return options == option;
}

static void print_examples(FILE *f, const char *line)
{
	fputs("\nExamples:\n", f);
	while (*line) {
		size_t n = strcspn(line, "\t"), rest = strcspn(line, "\n");

		fprintf(f, "  %.*s\n      %.*s\n", (int)n, line, (int)(rest - n - 1),
			line + n + 1);
		line += rest + (line[rest] == '\n');
	}
}

void hlg_help_print(FILE *f, const struct hlg_verb *verb,
		    const struct hlg_verb_option *options, const char *formats)
{
	const char *doc = verb->doc ? verb->doc : verb->help;
	size_t n = strcspn(doc, "\v");

	print_usage(f, verb);
	print_text(f, doc, n);
	print_group(f, verb, options, NULL, formats);
	for (const struct hlg_verb_option *o = options; !is_end(o); o++)
		if (o->name && o->heading && is_first(options, o))
			print_group(f, verb, options, o->heading, formats);
	fputs("\n  -?, --help                 this help\n"
	      "      --usage                the options in short\n",
	      f);
	if (doc[n]) {
		fputc('\n', f);
		print_text(f, doc + n + 1, strlen(doc + n + 1));
	}
	if (verb->examples)
		print_examples(f, verb->examples);
}
