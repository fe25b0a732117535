// SPDX-License-Identifier: GPL-2.0-only
#include "filter/options/help.h"

#include <string.h>

#include "filter/options/options.h"

/* Prints text from column 4 on, broken between words. */
static void print_wrapped(FILE *f, const char *text)
{
	size_t column = 0;

	while (*text) {
		size_t n = strcspn(text, " ");

		if (column == 0 || column + 1 + n > 78) {
			fputs(column == 0 ? "    " : "\n    ", f);
			column = 4;
		} else {
			fputc(' ', f);
			column++;
		}
		fwrite(text, 1, n, f);
		column += n;
		text += n + (text[n] == ' ');
	}
	fputc('\n', f);
}

/* Of a few words, "a b c". */
static const struct {
	const char *text, *options;
} headings[] = {
	{"Input:", "input input-list null list-digest shard jobs after calibration"},
	{"Which samples:", "event pid tid cpu sandbox time mode gaps border"},
	{"Rows:", ""},
	{"Output:", "format output out color quiet emit strict strict-base wide raw "
		    "verbose no-pager"},
};

enum {
	ROWS = 2,
	N_HEADINGS = sizeof(headings) / sizeof(headings[0])
};

size_t hlg_options_help_heading(const char *name)
{
	size_t n = strlen(name);

	for (size_t i = 0; i < N_HEADINGS; i++) {
		const char *word = headings[i].options;

		for (; *word; word += strspn(word, " ")) {
			size_t len = strcspn(word, " ");

			if (len == n && memcmp(word, name, n) == 0)
				return i;
			word += len;
		}
	}
	return ROWS;
}

const char *hlg_options_help_heading_text(size_t heading)
{
	return heading < N_HEADINGS ? headings[heading].text : NULL;
}

static void print_option(FILE *f, const struct hlg_option *opt, const char *formats)
{
	size_t n = strlen(opt->fallback);

	fprintf(f, "%s=%s", opt->name,
		strcmp(opt->name, "format") == 0 ? formats : opt->value);
	if (opt->fallback[0] == '(')
		fprintf(f, "  (default: %.*s)", (int)n - 2, opt->fallback + 1);
	else if (n)
		fprintf(f, "  (default: %s)", opt->fallback);
	fputc('\n', f);
	print_wrapped(f, opt->help);
}

void hlg_options_help(FILE *f, const char *formats)
{
	fputs("FILE[@BASE]  an image: the guest's ELF; BASE: 0x.., decimal, or auto: "
	      "found\n    from the samples; default: what the file says, else auto\n"
	      "map:FILE[@BASE]  a perf map (START SIZE NAME lines) as an image\n",
	      f);
	for (size_t group = 0; group < N_HEADINGS; group++) {
		bool begun = false;

		for (size_t i = 0; i < hlg_n_options; i++) {
			if (hlg_options_help_heading(hlg_option_table[i].name) != group)
				continue;
			if (!begun)
				fprintf(f, "\n%s\n", headings[group].text);
			begun = true;
			print_option(f, &hlg_option_table[i], formats);
		}
	}
}
