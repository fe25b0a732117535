// SPDX-License-Identifier: GPL-2.0-only
#include "tools/page/words.h"

#include <stdlib.h>
#include <string.h>

#include "filter/output/memstream.h"
#include "tools/svg/xml.h"

enum {
	BAR = 100 /* width of one, of the largest share's upper end */
};

/* Warnings stand in front of the facts. */
static bool is_warning(const char *line)
{
	return strncmp(line, "!! ", 3) == 0 || strncmp(line, "warning:", 8) == 0;
}

static void write_warning(FILE *f, const char *line)
{
	fputs("<p class=\"warning\">", f);
	hlg_xml_text(f, line + (line[0] == '!' ? 3 : 0));
	fputs("</p>\n", f);
}

/* A line of the head, as text has it: "check     OK: ...", a label in ten cells. */
static void write_fact(FILE *f, const char *line, const char *marked, const char *mark)
{
	enum {
		LABEL = 10
	};
	char label[LABEL + 1];
	size_t n = LABEL;

	if (strlen(line) <= LABEL)
		return;
	memcpy(label, line, LABEL);
	while (n && (label[n - 1] == ' ' || label[n - 1] == ':'))
		n--;
	label[n] = '\0';
	fprintf(f, "<div class=\"%s\"><dt>",
		marked && strcmp(label, marked) == 0 ? mark : "fact");
	hlg_xml_text(f, label);
	fputs("</dt><dd>", f);
	hlg_xml_text(f, line + LABEL);
	fputs("</dd></div>\n", f);
}

/* Ends each line by '\0' instead; where the last one ends. */
static const char *part(char *lines)
{
	char *c;

	for (c = lines; *c; c++)
		*c = *c == '\n' ? '\0' : *c;
	return c;
}

void hlg_page_words_facts(FILE *f, char *lines, const char *marked, const char *mark)
{
	const char *end = part(lines);

	for (const char *line = lines; line < end; line += strlen(line) + 1)
		if (is_warning(line))
			write_warning(f, line);
	fputs("<dl>\n", f);
	for (const char *line = lines; line < end; line += strlen(line) + 1)
		if (!is_warning(line))
			write_fact(f, line, marked, mark);
	fputs("</dl>\n", f);
}

const char *hlg_page_words_verdict(const struct hlg_report *r)
{
	switch (r->trust.all.verdict) {
	case HLG_TRUST_VERIFIED:
		return "good";
	case HLG_TRUST_MISMATCH:
		return "bad";
	default:
		return "unsure";
	}
}

void hlg_page_words_names(FILE *f, const struct hlg_space *space)
{
	for (size_t i = 0; i < space->n_images; i++) {
		fputs(i ? ", " : "", f);
		hlg_xml_text(f, hlg_image_short_name(space->images[i]));
	}
}

void hlg_page_words_aside(FILE *f, const char *word, const struct hlg_image *image)
{
	if (word[0])
		fprintf(f, " <small>%s</small>", word);
	if (!image)
		return;
	fputs(" <small class=\"owner\">", f);
	hlg_xml_text(f, hlg_image_short_name(image));
	fputs("</small>", f);
}

int hlg_page_words_write(char **text,
			 int (*write)(void *data, FILE *f, struct hlg_err *err),
			 void *data, struct hlg_err *err)
{
	struct hlg_memstream m;
	FILE *f = hlg_memstream_open(&m);
	int rc = f ? write(data, f, err) : hlg_err_memory(err, "page");

	*text = hlg_memstream_close(&m);
	if (!*text && rc == 0)
		rc = hlg_err_memory(err, "page");
	if (rc == 0)
		return 0;
	free(*text);
	*text = NULL;
	return rc;
}

char *hlg_page_words_of(int (*write)(void *data, FILE *f, struct hlg_err *err),
			void *data)
{
	struct hlg_err err;
	char *text;

	return hlg_page_words_write(&text, write, data, &err) == 0 ? text : NULL;
}

void hlg_page_words_folded(FILE *f, const char *summary, char *lines)
{
	const char *end = part(lines);

	fprintf(f, "<details><summary>%s</summary><pre tabindex=\"0\">", summary);
	for (const char *line = lines; line < end; line += strlen(line) + 1) {
		hlg_xml_text(f, line);
		fputc('\n', f);
	}
	fputs("</pre></details>\n", f);
}

void hlg_page_words_bar(FILE *f, const struct hlg_share *share, double most)
{
	char x[3][16];
	double scale = most > 0 ? 1 / most : 0;

	/* Percent of BAR, with two decimals. */
	hlg_interval_percent(x[0], share->share * scale * BAR / 100);
	hlg_interval_percent(x[1], share->low * scale * BAR / 100);
	hlg_interval_percent(x[2], share->high * scale * BAR / 100);
	fprintf(f,
		"<svg class=\"bar\" width=\"%d\" height=\"12\" aria-hidden=\"true\">"
		"<rect y=\"2\" width=\"%s\" height=\"8\"/>"
		"<path d=\"M%s 6H%sM%s 3V9M%s 3V9\"/></svg>",
		BAR, x[0], x[1], x[2], x[1], x[2]);
}
